//! What a line may go on with: names of commands, and after them what the command is about.

use crate::command::{self, Command, INFO};
use crate::help::COMMANDS;
use crate::registers;
use crate::session::Session;

/// What the last word of a line may become, in order.
pub fn completions(session: &Session<'_, '_>, line: &str) -> Vec<String> {
    let start = line.rfind(is_between).map_or(0, |at| at + 1);
    let (before, word) = (line.get(..start).unwrap_or(""), line.get(start..).unwrap_or(""));
    let known = match before.split(is_between).find(|word| !word.is_empty()) {
        None => COMMANDS.iter().map(|entry| entry.names[0].to_string()).collect(),
        Some(first) => match command::find(first) {
            Ok(command) => about(session, command),
            Err(_) => Vec::new(),
        },
    };
    let mut fitting: Vec<String> =
        known.into_iter().filter(|name| name.starts_with(word)).collect();
    fitting.sort();
    fitting.dedup();
    fitting
}

/// What ends a word, and is one byte long.
pub fn is_between(c: char) -> bool {
    " \t*&!()=<>+-%/".contains(c)
}

fn about(session: &Session<'_, '_>, command: Command) -> Vec<String> {
    match command {
        Command::Info => INFO.iter().map(|name| name.to_string()).collect(),
        Command::Help => COMMANDS.iter().map(|entry| entry.names[0].to_string()).collect(),
        Command::Set => {
            ["scheduler-locking", "stack-flush", "on", "off"].map(str::to_string).into()
        }
        Command::Thread | Command::Flush | Command::Buffers => {
            session.now().threads().map(|thread| session.names.thread(thread)).collect()
        }
        Command::Break | Command::List | Command::Disassemble => {
            let mut names = functions(session);
            if command == Command::Break {
                names.extend(variables(session));
            }
            names
        }
        Command::Print | Command::Display | Command::Watch | Command::X | Command::Condition => {
            variables(session)
        }
        Command::Registers => {
            let all = registers::all(session, session.now(), session.thread);
            all.into_iter().map(|(name, _)| name).collect()
        }
        _ => Vec::new(),
    }
}

/// Functions of the program's own.
fn functions(session: &Session<'_, '_>) -> Vec<String> {
    let functions = session.program().functions.iter();
    functions.map(|function| function.name.clone()).filter(|name| is_plain(name)).collect()
}

/// What has a name where the chosen thread is.
fn variables(session: &Session<'_, '_>) -> Vec<String> {
    let globals = session.names.variables().map(|(_, global)| global.name.clone());
    let all = registers::all(session, session.now(), session.thread);
    let own = all.into_iter().map(|(name, _)| name);
    globals.chain(own).filter(|name| is_plain(name)).collect()
}

/// Whether people would type it.
fn is_plain(name: &str) -> bool {
    let first = name.chars().next();
    first.is_some_and(|c| c.is_alphabetic() || c == '_') && !name.starts_with("__")
}
