//! Commands line by line: from a file, whose lines are repeated so that the output is a record, or
//! from a person.

use std::io::{self, BufRead, IsTerminal, Write};

use parallax_debugger::{Flow, Session};
use parallax_program::{Diagnostics, SourceFile, Span};

use crate::output;

const PROMPT: &str = "(parallax) ";

/// Carries out the commands of a file. A wrong one ends it.
pub fn script(session: &mut Session<'_, '_>, name: &str, text: &str) -> Result<(), Diagnostics> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let span = Span::new(start, start + line.trim_end().len());
        start += line.len();
        if line.trim().is_empty() {
            continue;
        }
        let mut out = format!("{PROMPT}{}\n", line.trim_end());
        let flow = session.execute(line, &mut out);
        if output::print(&out).is_break() {
            return Ok(());
        }
        match flow {
            Ok(Flow::Go) => {}
            Ok(Flow::Quit) => return Ok(()),
            Err(wrong) => return Err(vec![SourceFile::new(name, text).error(span, wrong)]),
        }
    }
    Ok(())
}

/// Carries out what a person types. An empty line repeats the last command.
pub fn talk(session: &mut Session<'_, '_>) {
    let is_person = io::stdin().is_terminal();
    let mut last = String::new();
    loop {
        if is_person && output::print(PROMPT).is_break() {
            return;
        }
        let mut line = Vec::new();
        let read = io::stdin().lock().read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            if is_person {
                let _ = output::print("\n");
            }
            return;
        }
        let line = String::from_utf8_lossy(&line).into_owned();
        match line.trim().is_empty() {
            true if is_person => {}
            true => continue,
            false => last = line,
        }
        let mut out = String::new();
        let flow = session.execute(&last, &mut out);
        if output::print(&out).is_break() {
            return;
        }
        match flow {
            Ok(Flow::Go) => {}
            Ok(Flow::Quit) => return,
            Err(wrong) => {
                output::note(&wrong);
                let _ = io::stderr().flush();
            }
        }
    }
}
