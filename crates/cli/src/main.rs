//! The command `parallax`: arguments, batches, progress and exit codes; no logic of its own.

mod args;
mod batch;
mod check_proof;
mod debug;
mod expect;
mod fences;
mod graph;
mod interrupt;
mod litmus;
mod models;
mod one_test;
mod output;
mod panics;
mod progress;
mod shell;
mod translate;
mod validate;
mod verify;
mod voice;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use args::{Arguments, Command};
use output::Wording;
use parallax_program::Diagnostic;

/// Reading and enumerating small tests is mostly allocation.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Memory in MiB that a search may take where nobody says how much: that of the competition, and a bit less.
const MEMORY_LIMIT: &str = "14000";

/// How a run ends, for the shell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// All as expected; safe.
    Fine = 0,
    /// An expectation was missed; unsafe.
    Missed = 1,
    /// No answer to everything: a limit or Ctrl-C stopped the search.
    Unknown = 3,
    /// Bad input or usage.
    BadInput = 2,
}

impl Exit {
    /// Bad input weighs more than a search that was stopped, and that more than a miss.
    pub fn and(self, other: Exit) -> Exit {
        let weight = |exit| match exit {
            Exit::Fine => 0,
            Exit::Missed => 1,
            Exit::Unknown => 2,
            Exit::BadInput => 3,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

/// `-std=c11`, which compilers have taught everybody, is `--std=c11`. What comes after `--` stays.
fn as_compilers_take_it(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut is_own = true;
    arguments
        .map(|argument| {
            is_own &= argument != "--";
            match argument.to_str().and_then(|text| text.strip_prefix("-std=")) {
                Some(name) if is_own => format!("--std={name}").into(),
                _ => argument,
            }
        })
        .collect()
}

/// Whether what was said, which is not understood, has `--format json` in it.
fn asks_for_json(words: &[OsString]) -> bool {
    let own = words.iter().take_while(|word| *word != "--").collect::<Vec<_>>();
    let pairs = own.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    pairs || own.iter().any(|word| *word == "--format=json")
}

/// An error of usage as an object: who asks for JSON reads nothing else.
fn refused(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    let mut parts = text.trim_end().splitn(2, "\n\n");
    let message = parts.next().unwrap_or("").trim_start_matches("error: ");
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    output::refuse(&[Diagnostic::new(message)], Wording::Json(String::new()));
    ExitCode::from(Exit::BadInput as u8)
}

fn main() -> ExitCode {
    panics::install();
    let words = as_compilers_take_it(std::env::args_os());
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && asks_for_json(&words) => return refused(&error),
        Err(error) => error.exit(),
    };
    let exit = match &arguments.command {
        Command::Litmus(options) => litmus::run(options),
        Command::Verify(options) => verify::run(options),
        Command::Fences(options) => fences::run(options),
        Command::Debug(options) => debug::run(options),
        Command::Replay(options) => debug::replay(options),
        Command::Validate(options) => validate::run(options),
        Command::CheckProof(options) => check_proof::run(options),
        Command::Translate(options) => translate::run(options),
        Command::Models(options) => models::run(options),
        Command::Completions(options) => shell::completions(options),
        Command::Man(options) => shell::man(options),
    };
    ExitCode::from(exit as u8)
}
