//! Commands by name, abbreviated as people do.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::control::{self, Reach};
use crate::help;
use crate::schedule::action_text;
use crate::session::{Flow, Session};
use crate::{examine, inspect, memory, points, registers, source, view};

/// Longer lines are no commands.
const LONGEST_LINE: usize = 10_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    Back,
    Backtrace,
    Break,
    Buffers,
    Condition,
    Continue,
    Delete,
    Disassemble,
    Display,
    Down,
    Finish,
    Flush,
    Frame,
    Goto,
    Help,
    Info,
    List,
    Load,
    Memory,
    Next,
    Print,
    Quit,
    Registers,
    ReverseStepi,
    Run,
    Save,
    Schedule,
    Set,
    Step,
    Stepi,
    Thread,
    Threads,
    Undisplay,
    Up,
    View,
    Watch,
    What,
    X,
}

/// The command that a word stands for: its name, one of its abbreviations, or the beginning of one
/// name only.
pub fn find(word: &str) -> Result<Command, String> {
    let exact = help::COMMANDS.iter().find(|entry| entry.names.contains(&word));
    if let Some(entry) = exact {
        return Ok(entry.command);
    }
    let begun: Vec<_> = help::COMMANDS
        .iter()
        .filter(|entry| entry.names.iter().any(|name| name.starts_with(word)))
        .collect();
    match begun.as_slice() {
        [only] => Ok(only.command),
        [] => Err(unknown("command", word, help::COMMANDS.iter().flat_map(|entry| entry.names))),
        several => {
            let names: Vec<&str> = several.iter().map(|entry| entry.names[0]).collect();
            Err(format!("'{word}' is ambiguous: {}", names.join(", ")))
        }
    }
}

/// There is no such word; one that is like it, if there is.
pub fn unknown<'a>(what: &str, word: &str, known: impl IntoIterator<Item = &'a &'a str>) -> String {
    let shown: String = word.chars().take(40).collect();
    let near = known.into_iter().map(|name| (distance(&shown, name), *name));
    let near = near.filter(|(distance, name)| *distance <= 1 + name.len() / 4);
    match near.min_by_key(|(distance, _)| *distance) {
        Some((_, name)) => format!("there is no {what} '{shown}'; did you mean '{name}'?"),
        None => format!("there is no {what} '{shown}'; help lists them"),
    }
}

/// How many letters to change, insert, leave out or swap with the next (optimal string alignment).
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let differ = usize::from(left[i - 1] != right[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differ);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

pub fn execute(
    session: &mut Session<'_, '_>,
    line: &str,
    out: &mut String,
) -> Result<Flow, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Flow::Go);
    }
    if line.len() > LONGEST_LINE {
        return Err("the line is too long for a command".to_string());
    }
    let end = line.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let (format, argument) = match rest.strip_prefix('/') {
        Some(rest) => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        None => ("", rest),
    };
    let argument = argument.trim();
    let command = find(word)?;
    if !format.is_empty() && !matches!(command, Command::X | Command::Print | Command::Display) {
        return Err(format!("{word}: expected no '/' here"));
    }
    if command == Command::Quit {
        return Ok(Flow::Quit);
    }
    let name = help::entry(command).names[0];
    let done = carry_out(session, command, format, argument, out);
    done.map(|()| Flow::Go).map_err(|why| format!("{name}: {why}"))
}

fn carry_out(
    session: &mut Session<'_, '_>,
    command: Command,
    format: &str,
    argument: &str,
    out: &mut String,
) -> Result<(), String> {
    match command {
        Command::Back => control::back(session, argument, true, out),
        Command::ReverseStepi => control::back(session, argument, false, out),
        Command::Backtrace => nothing(argument, || inspect::backtrace(session, out)),
        Command::Break => points::add_break(session, argument, out),
        Command::Buffers => inspect::buffers(session, argument, out),
        Command::Condition => points::condition(session, argument, out),
        Command::Continue => control::run_on(session, argument, out),
        Command::Delete => points::delete(session, argument),
        Command::Disassemble => source::disassemble(session, argument, out),
        Command::Display => inspect::display(session, format, argument, out),
        Command::Down => inspect::move_frame(session, argument, false, out),
        Command::Finish => {
            nothing(argument, || ())?;
            control::step(session, "", Reach::Finish, out)
        }
        Command::Flush => control::flush(session, argument, out),
        Command::Frame => inspect::choose_frame(session, argument, out),
        Command::Goto => control::goto(session, argument, out),
        Command::Help => help::help(argument, out),
        Command::Info => info(session, argument, out),
        Command::List => source::list(session, argument, out),
        Command::Load => load(session, argument, out),
        Command::Memory => nothing(argument, || memory::memory(session, out)),
        Command::Next => control::step(session, argument, Reach::LineOfCall, out),
        Command::Print => inspect::print(session, format, argument, out),
        Command::Quit => Ok(()),
        Command::Registers => registers::info(session, argument, false, out),
        Command::Run => nothing(argument, || control::restart(session, out)),
        Command::Save => save(session, argument, out),
        Command::Schedule => nothing(argument, || schedule(session, out)),
        Command::Set => set(session, argument),
        Command::Step => control::step(session, argument, Reach::Line, out),
        Command::Stepi => control::step(session, argument, Reach::Instruction, out),
        Command::Thread => control::choose_thread(session, argument, out),
        Command::Threads => nothing(argument, || inspect::threads(session, out)),
        Command::Undisplay => inspect::undisplay(session, argument),
        Command::Up => inspect::move_frame(session, argument, true, out),
        Command::View => nothing(argument, || view::view(session, out)),
        Command::Watch => points::add_watch(session, argument, out),
        Command::What => nothing(argument, || inspect::what(session, out)),
        Command::X => examine::examine(session, format, argument, out),
    }
}

/// For commands that take no argument.
fn nothing(argument: &str, work: impl FnOnce()) -> Result<(), String> {
    match argument {
        "" => {
            work();
            Ok(())
        }
        other => Err(format!("expected nothing more, found '{other}'")),
    }
}

/// What `info` knows.
pub const INFO: [&str; 11] = [
    "actions",
    "all-registers",
    "breakpoints",
    "buffers",
    "display",
    "locals",
    "memory",
    "registers",
    "schedule",
    "threads",
    "watchpoints",
];

fn info(session: &Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    let (word, rest) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let rest = rest.trim();
    if word.is_empty() {
        return Err(format!("expected one of {}", INFO.join(", ")));
    }
    let known = INFO.iter().find(|name| name.starts_with(word));
    match *known.ok_or_else(|| unknown("info", word, &INFO))? {
        "actions" => nothing(rest, || inspect::what(session, out)),
        "all-registers" => registers::info(session, rest, true, out),
        "buffers" => inspect::buffers(session, rest, out),
        "display" => nothing(rest, || inspect::displayed(session, out)),
        "memory" => nothing(rest, || memory::memory(session, out)),
        "locals" if !session.is_machine_code() => nothing(rest, || inspect::locals(session, out)),
        "registers" | "locals" => registers::info(session, rest, false, out),
        "schedule" => nothing(rest, || schedule(session, out)),
        "threads" => nothing(rest, || inspect::threads(session, out)),
        _ => nothing(rest, || points::info(session, out)),
    }
}

/// `set scheduler-locking on|off`, `set stack-flush on|off`.
fn set(session: &mut Session<'_, '_>, argument: &str) -> Result<(), String> {
    let mut words = argument.split_whitespace();
    let (name, value) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let setting = match name {
        "scheduler-locking" => &mut session.is_locked,
        "stack-flush" => &mut session.flushes_stack,
        _ => return Err("expected scheduler-locking or stack-flush, and on or off".to_string()),
    };
    *setting = match value {
        "on" => true,
        "off" => false,
        other => return Err(format!("expected on or off, found '{other}'")),
    };
    Ok(())
}

/// All that has happened, numbered; `>` is before what happens next.
fn schedule(session: &Session<'_, '_>, out: &mut String) {
    let known = session.history.actions();
    if known.is_empty() {
        out.push_str("Nothing has happened yet.\n");
    }
    let comments = session.schedule().actions;
    for (number, action) in known.iter().enumerate() {
        let mark = if number == session.history.position() { '>' } else { ' ' };
        let comment = comments.get(number).map_or("", |(_, comment)| comment);
        let line = format!("{mark}{:>4}  {:<10} {comment}", number + 1, action_text(*action));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn save(session: &Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    if argument.is_empty() {
        return Err("expected the name of a file".to_string());
    }
    let schedule = session.schedule();
    fs::write(argument, schedule.text())
        .map_err(|error| format!("cannot write '{argument}': {error}"))?;
    let _ = writeln!(out, "{} actions written to {argument}.", schedule.actions.len());
    Ok(())
}

fn load(session: &mut Session<'_, '_>, argument: &str, out: &mut String) -> Result<(), String> {
    if argument.is_empty() {
        return Err("expected the name of a file".to_string());
    }
    let bytes = parallax_files::read(Path::new(argument), parallax_files::MOST_TEXT)
        .map_err(|error| format!("cannot read '{argument}': {error}"))?;
    let text = String::from_utf8_lossy(&bytes);
    session.load(argument, &text).map_err(|error| error.to_string())?;
    out.push_str(&session.arrival());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_abbreviated_as_in_gdb() {
        for (word, command) in [
            ("s", Command::Step),
            ("si", Command::Stepi),
            ("n", Command::Next),
            ("c", Command::Continue),
            ("cont", Command::Continue),
            ("b", Command::Break),
            ("br", Command::Break),
            ("bt", Command::Backtrace),
            ("where", Command::Backtrace),
            ("p", Command::Print),
            ("i", Command::Info),
            ("l", Command::List),
            ("d", Command::Delete),
            ("disas", Command::Disassemble),
            ("fin", Command::Finish),
            ("q", Command::Quit),
            ("f", Command::Flush),
            ("fr", Command::Frame),
            ("disp", Command::Display),
            ("cond", Command::Condition),
        ] {
            assert_eq!(find(word), Ok(command), "{word}");
        }
        assert!(find("re").is_err_and(|error| error.contains("ambiguous")));
    }

    #[test]
    fn unknown_commands_suggest_the_nearest() {
        assert_eq!(find("setp").unwrap_err(), "there is no command 'setp'; did you mean 'step'?");
        assert_eq!(
            find("contnue").unwrap_err(),
            "there is no command 'contnue'; did you mean 'continue'?"
        );
        assert_eq!(find("zzz").unwrap_err(), "there is no command 'zzz'; help lists them");
    }
}
