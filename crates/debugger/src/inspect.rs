//! Commands that only look: threads, calls, buffers, what can happen next, values.

use std::fmt::Write;

use parallax_machine::system::{Action, Readiness};
use parallax_program::Bits;

use crate::expression::{self, Meaning};
use crate::machine::{file_name, is_own};
use crate::session::Session;
use crate::{control, memory, source, story};

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
        let _ = writeln!(out, "#{number:<3}{name} (){place}");
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
    let text = match expression::evaluate(session, argument)? {
        Meaning::Value(value) => shown(session, value, format)?,
        Meaning::Memory(target) => {
            let own = memory::show(session, Some(session.thread), &target, format)?;
            let all = memory::show(session, None, &target, format)?;
            if own == all { own } else { format!("{own}  (in memory: {all})") }
        }
    };
    session.values_shown += 1;
    let _ = writeln!(out, "${} = {text}", session.values_shown);
    Ok(())
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
