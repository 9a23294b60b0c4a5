//! Commands that only look: threads, calls, buffers, what can happen next, values.

use std::fmt::Write;

use parallax_machine::system::{Action, Readiness};
use parallax_program::Bits;

use crate::expression::{self, Meaning};
use crate::machine::{file_name, is_own};
use crate::session::Session;
use crate::{control, memory, registers, source, story};

/// `info threads`.
pub fn threads(session: &Session<'_, '_>, out: &mut String) {
    out.push_str("  Id  Thread\n");
    for thread in session.now().threads() {
        let mark = if thread == session.thread { '*' } else { ' ' };
        let here = source::whereabouts(session, thread);
        let state = control::state_word(session, thread);
        let state = match state.as_str() {
            "ready" | "ended" => String::new(),
            state => format!("  ({state})"),
        };
        let _ = writeln!(out, "{mark} {thread:<3} {here}{state}");
    }
}

/// `backtrace`.
pub fn backtrace(session: &Session<'_, '_>, out: &mut String) {
    let Some(local) = session.now().system.thread(session.thread) else {
        return;
    };
    let code = &session.now().system.setup().code;
    let program = session.program();
    let sites: Vec<_> = local.thread.stack().collect();
    for (number, site) in sites.into_iter().rev().enumerate() {
        let name = &program.function(site.function).name;
        let span = code.span(site);
        let place = match is_own(program, span) {
            true => format!(" at {}", source::place(session, span)),
            false => {
                let file = program.source.location(span).file;
                let is_heading = session.is_machine_code() && !file.starts_with('<');
                if is_heading { String::new() } else { format!(" in {}", file_name(&file)) }
            }
        };
        let mark = if session.frame == Some(number) { "  <" } else { "" };
        let _ = writeln!(out, "#{number:<3}{name} (){place}{mark}");
    }
}

/// `frame [N]`, `up`, `down`: which call names are looked up in.
pub fn frame(
    session: &mut Session<'_, '_>,
    number: Option<usize>,
    out: &mut String,
) -> Result<(), String> {
    let now = session.now();
    let local = now.system.thread(session.thread).ok_or("the thread has ended")?;
    let sites: Vec<_> = local.thread.stack().collect();
    let last = sites.len().checked_sub(1).ok_or("the thread is in no call")?;
    let innermost = || {
        let here = now.instruction(session.thread).map(|here| here.call);
        here.map_or(0, |call| last.saturating_sub(call))
    };
    let number = number.or(session.frame).unwrap_or_else(innermost);
    let site = last.checked_sub(number).and_then(|call| sites.get(call));
    let site =
        site.ok_or_else(|| format!("there is no call #{number}; the last one is #{last}"))?;
    let program = session.program();
    let name = &program.function(site.function).name;
    let span = now.system.setup().code.span(*site);
    let place = match is_own(program, span) {
        true => format!(" at {}", source::place(session, span)),
        false => " in the library".to_string(),
    };
    let _ = writeln!(out, "#{number:<3}{name} (){place}");
    session.frame = Some(number);
    Ok(())
}

/// `frame`, with what follows it.
pub fn choose_frame(
    session: &mut Session<'_, '_>,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let wrong = || format!("expected the number of a call, found '{argument}'");
    let number = match argument {
        "" => None,
        text => Some(text.parse().map_err(|_| wrong())?),
    };
    frame(session, number, out)
}

/// `up [N]`, `down [N]`.
pub fn move_frame(
    session: &mut Session<'_, '_>,
    argument: &str,
    outwards: bool,
    out: &mut String,
) -> Result<(), String> {
    let wrong = || format!("expected a number of calls, found '{argument}'");
    let by = match argument {
        "" => 1,
        text => text.parse::<usize>().map_err(|_| wrong())?,
    };
    if session.frame.is_none() {
        frame(session, None, &mut String::new())?;
    }
    let here = session.frame.unwrap_or(0);
    let number = match outwards {
        true => here.checked_add(by),
        false => here.checked_sub(by),
    };
    let ends = if outwards { "this is the outermost call" } else { "this is the innermost call" };
    frame(session, Some(number.ok_or(ends)?), out)
}

/// `display[/F] [EXPR]`: shows it now, and after each stop.
pub fn display(
    session: &mut Session<'_, '_>,
    format: &str,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    if argument.is_empty() {
        displayed(session, out);
        return Ok(());
    }
    // A name that is nowhere may come to be; a format that is none will not.
    shown(session, Bits::zero(32), format)?;
    session.displays_made += 1;
    let number = session.displays_made;
    session.displays.push((number, format.to_string(), argument.to_string()));
    if let Some(last) = session.displays.last() {
        display_line(session, last, out);
    }
    Ok(())
}

/// `undisplay [N…]`.
pub fn undisplay(session: &mut Session<'_, '_>, argument: &str) -> Result<(), String> {
    let mut numbers = Vec::new();
    for word in argument.split_whitespace() {
        let number = word.parse::<u32>().ok();
        let known = number.filter(|number| session.displays.iter().any(|it| it.0 == *number));
        numbers.push(known.ok_or_else(|| format!("nothing displayed has the number '{word}'"))?);
    }
    session.displays.retain(|it| !numbers.is_empty() && !numbers.contains(&it.0));
    Ok(())
}

/// What is to be shown after each stop.
pub fn displayed(session: &Session<'_, '_>, out: &mut String) {
    session.displays.iter().for_each(|it| display_line(session, it, out));
}

fn display_line(
    session: &Session<'_, '_>,
    (number, format, text): &(u32, String, String),
    out: &mut String,
) {
    let value = evaluated(session, format, text);
    let value = value.unwrap_or_else(|why| format!("({why})"));
    let _ = writeln!(out, "{number}: {text} = {value}");
}

/// `info locals`: the variables of the call, those in memory too, by the names that the source has for
/// them.
pub fn locals(session: &Session<'_, '_>, out: &mut String) {
    let mut lines: Vec<(String, String)> = registers::all(session, session.now(), session.thread)
        .into_iter()
        .filter(|(name, _)| registers::is_usual(session, name))
        .map(|(name, value)| (name, session.names.value(value)))
        .collect();
    if let Some(function) = expression::own_function(session) {
        let own = format!("{function}::");
        let living = session.now().system.living();
        for (_, object) in living.filter(|(thread, _)| *thread == session.thread) {
            let name = session.names.base(object.address);
            let Some(name) = name.and_then(|name| name.strip_prefix(&own)) else { continue };
            let shown = evaluated(session, "", &format!("{own}{name}"));
            lines.push((name.to_string(), shown.unwrap_or_else(|why| format!("({why})"))));
        }
    }
    if lines.is_empty() {
        out.push_str("No variables here.\n");
    }
    for (name, value) in lines {
        let _ = writeln!(out, "{name} = {value}");
    }
}

/// `info buffers [THREAD]`.
pub fn buffers(session: &Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    let now = session.now();
    let only = match argument {
        "" => None,
        word => Some(control::thread_named(session, word)?),
    };
    for thread in now.threads().filter(|thread| only.is_none_or(|only| only == *thread)) {
        let name = session.names.thread(thread);
        let entries = now.system.buffer(thread);
        if entries.is_empty() {
            let _ = writeln!(out, "{name}: empty");
            continue;
        }
        let _ = writeln!(out, "{name}: {} waiting, oldest first", entries.len());
        let flushes: Vec<Action> = now.system.flushes(thread).collect();
        for (index, entry) in entries.iter().enumerate() {
            let can = flushes.contains(&Action::Flush { thread, index: index as u32 });
            let mark = if can { "" } else { "  (after older ones)" };
            let _ = writeln!(out, "  {index}  {}{mark}", story::entry(&session.names, entry));
        }
    }
    Ok(())
}

/// `what`: all that can happen next.
pub fn what(session: &Session<'_, '_>, out: &mut String) {
    let now = session.now();
    for thread in now.threads() {
        let Some(standing) = now.standing(thread) else {
            continue;
        };
        let name = session.names.thread(thread);
        let intention = story::intention(session, thread, &standing);
        match &standing.readiness {
            Readiness::Ready { choices: 1 } => {
                let here = source::instruction(session, now, thread);
                let here = here.map_or(String::new(), |here| format!("  [{here}]"));
                let _ = writeln!(out, "step {thread:<5} {name} {intention}{here}");
            }
            Readiness::Ready { choices } => {
                let last = choices.saturating_sub(1);
                let _ = writeln!(
                    out,
                    "step {thread:<5} {name} {intention} (stepi 1 CHOICE, from 0 to {})",
                    last
                );
            }
            Readiness::Blocked(waits) => {
                let waits = story::waits(&session.names, *waits);
                let _ = writeln!(out, "  --       {name} {waits}");
            }
            Readiness::Failed { wrong, .. } => {
                let _ = writeln!(out, "  --       {name}: {}", wrong.message());
            }
            Readiness::Escaped { .. }
            | Readiness::Unsupported(_)
            | Readiness::Forgotten
            | Readiness::Over => {
                let _ = writeln!(out, "  --       {name} {intention}");
            }
        }
        for action in now.system.flushes(thread) {
            let Action::Flush { index, .. } = action else {
                continue;
            };
            if let Some(entry) = now.system.buffer(thread).get(index as usize) {
                let words = match index {
                    0 => format!("flush {thread}"),
                    index => format!("flush {thread} {index}"),
                };
                let entry = story::entry(&session.names, entry);
                let _ = writeln!(out, "{words:<10} {name}: {entry} reaches memory");
            }
        }
    }
}

/// `print[/F] EXPR`.
pub fn print(
    session: &mut Session<'_, '_>,
    format: &str,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    let text = evaluated(session, format, argument)?;
    session.values_shown += 1;
    let _ = writeln!(out, "${} = {text}", session.values_shown);
    Ok(())
}

/// What an expression is worth now, for the chosen thread and, where that differs, for the others.
fn evaluated(session: &Session<'_, '_>, format: &str, text: &str) -> Result<String, String> {
    Ok(match expression::evaluate(session, text)? {
        Meaning::Value(value) => shown(session, value, format)?,
        Meaning::Memory(target) => {
            let own = memory::show(session, Some(session.thread), &target, format)?;
            let all = memory::show(session, None, &target, format)?;
            if own == all { own } else { format!("{own}  (in memory: {all})") }
        }
    })
}

/// A value in a format of GDB's.
pub fn shown(session: &Session<'_, '_>, value: Bits, format: &str) -> Result<String, String> {
    Ok(match format {
        "" => session.names.value(value),
        "x" => format!("{:#x}", value.unsigned()),
        "d" => value.to_signed().to_string(),
        "u" => value.unsigned().to_string(),
        "t" => format!("{:b}", value.unsigned()),
        "o" => format!("{:#o}", value.unsigned()),
        "c" => {
            let byte = value.unsigned() as u8;
            format!("{} '{}'", byte as i8, char::from(byte).escape_default())
        }
        "a" => match u64::try_from(value.unsigned()).ok().and_then(|at| session.names.place(at)) {
            Some(place) => format!("{:#x} <{place}>", value.unsigned()),
            None => format!("{:#x}", value.unsigned()),
        },
        other => return Err(format!("there is no format '{other}'; formats are x d u t o c a")),
    })
}
