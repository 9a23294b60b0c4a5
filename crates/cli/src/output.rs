//! Results on stdout, everything else on stderr. What is obeyed by terminals is spelled out, since it
//! comes from inputs; see [`visible`].

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;

use parallax_program::{Diagnostic, Diagnostics, visible};
use parallax_report::{error_json, error_sarif};

use crate::voice::Options;

/// Writes results; a reader that has gone away ends the run without a word.
pub struct Results {
    out: io::BufWriter<io::Stdout>,
}

impl Results {
    pub fn new() -> Results {
        Results { out: io::BufWriter::new(io::stdout()) }
    }

    pub fn write(&mut self, text: &str) -> ControlFlow<()> {
        self.write_exactly(&visible(text))
    }

    fn write_exactly(&mut self, text: &str) -> ControlFlow<()> {
        check(self.out.write_all(text.as_bytes()))
    }

    pub fn flush(&mut self) -> ControlFlow<()> {
        check(self.out.flush())
    }
}

fn check(result: io::Result<()>) -> ControlFlow<()> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            if error.kind() != io::ErrorKind::BrokenPipe {
                report(&Diagnostic::new(format!("cannot write the results: {error}")));
            }
            ControlFlow::Break(())
        }
    }
}

/// Prints text that is the whole answer of a command.
pub fn print(text: &str) -> ControlFlow<()> {
    let mut results = Results::new();
    results.write(text)?;
    results.flush()
}

/// Prints text that has what it should have, such as colours of our own.
pub fn print_exactly(text: &str) -> ControlFlow<()> {
    let mut results = Results::new();
    results.write_exactly(text)?;
    results.flush()
}

/// Prints text for another program, which gets it as it is; on a terminal it is only looked at.
pub fn print_for_programs(text: &str) -> ControlFlow<()> {
    if io::stdout().is_terminal() { print(text) } else { print_exactly(text) }
}

/// How a command says that there is no answer.
pub enum Wording {
    /// On stderr, for people.
    Text,
    /// On stdout, as an object about this input.
    Json(String),
    /// The same as SARIF has it.
    Sarif(String),
}

/// Says why there is no answer, in the form in which the answer would have been.
pub fn refuse(errors: &[Diagnostic], wording: Wording) {
    let worded = || -> Diagnostics { errors.iter().map(|error| error.worded(&Options)).collect() };
    let text = match wording {
        Wording::Text => return errors.iter().for_each(report),
        Wording::Json(input) => error_json(None, &input, &worded()),
        Wording::Sarif(input) => error_sarif(&input, &worded()),
    };
    let _ = print_exactly(&(text + "\n"));
}

/// Prints what is wrong.
pub fn report(diagnostic: &Diagnostic) {
    note_exactly(&render(diagnostic, error_colour()));
}

/// Prints a line on stderr.
pub fn note(text: &str) {
    note_exactly(&visible(text));
}

/// Where stderr is gone, there is nobody who reads.
fn note_exactly(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

fn error_colour() -> bool {
    io::stderr().is_terminal() && colours_are_wanted()
}

/// Whether nobody has said that they are not.
pub fn colours_are_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn render(diagnostic: &Diagnostic, colour: bool) -> String {
    let text = diagnostic.worded(&Options).to_string();
    if colour { text.replacen("error:", "\x1b[1;31merror:\x1b[0m", 1) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_red_where_colours_are_wanted() {
        let diagnostic = Diagnostic::new("no");
        assert_eq!(render(&diagnostic, false), "error: no");
        assert_eq!(render(&diagnostic, true), "\x1b[1;31merror:\x1b[0m no");
    }
}
