//! The commands, and what they do.

use std::fmt::Write;

use crate::command::{self, Command};

pub struct Entry {
    pub command: Command,
    /// The first is the one that is shown.
    pub names: &'static [&'static str],
    /// What may follow.
    pub usage: &'static str,
    pub help: &'static str,
}

const fn entry_of(
    command: Command,
    names: &'static [&'static str],
    usage: &'static str,
    help: &'static str,
) -> Entry {
    Entry { command, names, usage, help }
}

/// By what they are for.
pub const COMMANDS: &[Entry] = &[
    entry_of(
        Command::Step,
        &["step", "s"],
        "[N]",
        "Run the chosen thread to another line; into functions of the program, through those of the library.",
    ),
    entry_of(
        Command::Stepi,
        &["stepi", "si"],
        "[N [CHOICE]]",
        "Run the chosen thread for one instruction, and one access to memory at most.",
    ),
    entry_of(Command::Next, &["next", "n", "nexti", "ni"], "[N]", "As step, but over calls."),
    entry_of(
        Command::Finish,
        &["finish", "fin"],
        "",
        "Run the chosen thread until its function returns.",
    ),
    entry_of(
        Command::Continue,
        &["continue", "c", "fg"],
        "[N]",
        "Run all threads in turn to a breakpoint, a watchpoint, a violation or the end; past N-1 stops. With scheduler-locking, the chosen thread alone.",
    ),
    entry_of(
        Command::Flush,
        &["flush", "f"],
        "[THREAD [ENTRY]]",
        "Let the oldest store in the buffer of a thread reach memory; under pso, any that may.",
    ),
    entry_of(Command::Run, &["run", "r", "start"], "", "Start over. Breakpoints stay."),
    entry_of(
        Command::Back,
        &["back", "reverse-step", "rs", "reverse-next", "reverse-continue", "undo"],
        "[N]",
        "Undo the last N commands that let something happen.",
    ),
    entry_of(Command::ReverseStepi, &["reverse-stepi", "rsi"], "[N]", "Undo the last N actions."),
    entry_of(Command::Goto, &["goto"], "N", "Go to a position in the history, back or forth."),
    entry_of(Command::Thread, &["thread", "t"], "[N]", "Choose a thread, by number or name."),
    entry_of(Command::Threads, &["threads"], "", "List the threads (info threads)."),
    entry_of(
        Command::What,
        &["what"],
        "",
        "What can happen next: every step and every flush, and what it would do (info actions).",
    ),
    entry_of(
        Command::View,
        &["view", "show"],
        "",
        "All threads side by side: where they are, what changed, their buffers; and memory.",
    ),
    entry_of(
        Command::Break,
        &["break", "b", "br", "tbreak"],
        "[PLACE] [if EXPR]",
        "Stop at a place: FUNCTION, FUNCTION+0xOFFSET, 0xADDRESS, FILE:LINE or LINE; with a condition only where that holds for the thread that comes there.",
    ),
    entry_of(
        Command::Watch,
        &["watch"],
        "NAME | *ADDRESS [SIZE] [if EXPR]",
        "Stop when memory changes there. A store in a buffer has not changed memory yet.",
    ),
    entry_of(
        Command::Condition,
        &["condition", "cond"],
        "N [EXPR]",
        "Let a breakpoint or watchpoint stop only where something holds, or always.",
    ),
    entry_of(
        Command::Delete,
        &["delete", "d"],
        "[N…]",
        "Delete breakpoints and watchpoints, or all.",
    ),
    entry_of(
        Command::Info,
        &["info", "i"],
        "WHAT",
        "About threads, registers, all-registers, locals, display, breakpoints, buffers, memory, actions or schedule.",
    ),
    entry_of(
        Command::Backtrace,
        &["backtrace", "bt", "where"],
        "",
        "The calls that the chosen thread is in, innermost first.",
    ),
    entry_of(
        Command::Frame,
        &["frame", "fr"],
        "[N]",
        "Choose the call whose variables are looked at, by its number in backtrace.",
    ),
    entry_of(Command::Up, &["up"], "[N]", "Choose the call that has called the chosen one."),
    entry_of(Command::Down, &["down"], "[N]", "Choose the call that the chosen one has called."),
    entry_of(
        Command::List,
        &["list", "l"],
        "[LINE | FUNCTION | FILE:LINE]",
        "Show the source, or go on showing it.",
    ),
    entry_of(
        Command::Disassemble,
        &["disassemble", "disas"],
        "[FUNCTION]",
        "Show the instructions of a function.",
    ),
    entry_of(
        Command::Registers,
        &["registers"],
        "[NAME…]",
        "Registers of machine code, or variables (info registers).",
    ),
    entry_of(
        Command::Print,
        &["print", "p", "inspect"],
        "[/FORMAT] EXPR",
        "Print a name, a register, &NAME, *ADDRESS or *ADDRESS SIZE, or what these come to with + - % == != < <= > >= && || and !, as the chosen thread sees it. Formats are x d u t o c a.",
    ),
    entry_of(
        Command::Display,
        &["display", "disp"],
        "[/FORMAT] [EXPR]",
        "Print something now, and after every command that lets something happen.",
    ),
    entry_of(Command::Undisplay, &["undisplay"], "[N…]", "Display it no longer, or nothing."),
    entry_of(
        Command::X,
        &["x"],
        "/NFU ADDRESS",
        "Look at memory: N units in format F (x d u t o c a s i) of size U (b h w g).",
    ),
    entry_of(Command::Buffers, &["buffers"], "[THREAD]", "The store buffers (info buffers)."),
    entry_of(
        Command::Memory,
        &["memory"],
        "",
        "What memory holds that is not as it was at the start (info memory).",
    ),
    entry_of(
        Command::Schedule,
        &["schedule"],
        "",
        "All that has happened, with its numbers (info schedule).",
    ),
    entry_of(Command::Save, &["save"], "FILE", "Write what has happened to a file."),
    entry_of(Command::Load, &["load"], "FILE", "Start over and let happen what a file says."),
    entry_of(
        Command::Set,
        &["set"],
        "SETTING on|off",
        "scheduler-locking: continue runs the chosen thread alone (off). stack-flush: stores of threads to their own stacks reach memory as soon as they can (on).",
    ),
    entry_of(Command::Help, &["help", "h"], "[COMMAND]", "This, or more about a command."),
    entry_of(Command::Quit, &["quit", "q", "exit"], "", "Leave."),
];

pub fn entry(command: Command) -> &'static Entry {
    let found = COMMANDS.iter().find(|entry| entry.command == command);
    found.unwrap_or(&COMMANDS[0])
}

/// `help [COMMAND]`.
pub fn help(argument: &str, out: &mut String) -> Result<(), String> {
    if argument.is_empty() {
        for entry in COMMANDS {
            let usage = format!("{} {}", entry.names[0], entry.usage);
            let first = entry.help.split(['.', ';', ':']).next().unwrap_or("");
            let _ = writeln!(out, "{usage:<36} {first}");
        }
        return Ok(());
    }
    let entry = entry(command::find(argument)?);
    let _ = writeln!(out, "{} {}", entry.names.join(", "), entry.usage);
    let _ = writeln!(out, "{}", entry.help);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let mut names: Vec<&str> = COMMANDS.iter().flat_map(|entry| entry.names).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn every_command_has_help() {
        for entry in COMMANDS {
            let mut text = String::new();
            assert_eq!(help(entry.names[0], &mut text), Ok(()));
            assert!(text.contains(entry.help));
        }
    }
}
