//! Commands line by line: from a file, whose lines are repeated so that the output is a record, or
//! from a person.

use std::cell::RefCell;
use std::io::{self, BufRead, IsTerminal, Write};
use std::ops::ControlFlow;

use parallax_debugger::{Flow, Session, is_between};
use parallax_program::{Diagnostics, SourceFile, Span};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use crate::output;

const PROMPT: &str = "(parallax) ";
/// Lines that the arrow keys bring back.
const MOST_LINES: usize = 1_000;

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

/// Carries out what a person types. An empty line repeats the last command. At a terminal lines can
/// be edited, those before come back with the arrow keys, and names are completed with the tabulator.
pub fn talk(session: &mut Session<'_, '_>) {
    match io::stdin().is_terminal() {
        true => edit(session),
        false => read(session),
    }
}

/// Lines of a pipe or a file.
fn read(session: &mut Session<'_, '_>) {
    loop {
        let mut line = Vec::new();
        if !matches!(io::stdin().lock().read_until(b'\n', &mut line), Ok(1..)) {
            return;
        }
        let line = String::from_utf8_lossy(&line);
        if !line.trim().is_empty() && obey(session, &line).is_break() {
            return;
        }
    }
}

/// Lines of a person at a terminal.
fn edit(session: &mut Session<'_, '_>) {
    let settings = Config::builder().completion_type(CompletionType::List);
    let settings =
        settings.max_history_size(MOST_LINES).map(|it| it.auto_add_history(true).build());
    let editor = settings.map(|it| {
        let history = MemHistory::with_config(&it);
        Editor::with_history(it, history)
    });
    let Ok(Ok(mut editor)) = editor else {
        return read(session);
    };
    let session = RefCell::new(session);
    editor.set_helper(Some(Names { session: &session }));
    let mut last = String::new();
    loop {
        match editor.readline(PROMPT) {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => last = line,
            // Ctrl-C gives up a line, Ctrl-D the dialogue.
            Err(ReadlineError::Interrupted) => continue,
            Err(_) => return,
        }
        if obey(&mut session.borrow_mut(), &last).is_break() {
            return;
        }
    }
}

/// Carries out a command; one that is wrong is complained about, and the dialogue goes on.
fn obey(session: &mut Session<'_, '_>, line: &str) -> ControlFlow<()> {
    let mut out = String::new();
    let flow = session.execute(line, &mut out);
    output::print(&out)?;
    match flow {
        Ok(Flow::Go) => {}
        Ok(Flow::Quit) => return ControlFlow::Break(()),
        Err(wrong) => {
            output::note(&wrong);
            let _ = io::stderr().flush();
        }
    }
    ControlFlow::Continue(())
}

/// Completes names as they are where the program is. Nothing else looks at the session while a line
/// is edited.
struct Names<'a, 'b, 's, 'p> {
    session: &'a RefCell<&'b mut Session<'s, 'p>>,
}

impl Completer for Names<'_, '_, '_, '_> {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..position).unwrap_or(line);
        let start = before.rfind(is_between).map_or(0, |at| at + 1);
        let session = self.session.try_borrow();
        Ok((start, session.map_or_else(|_| Vec::new(), |it| it.completions(before))))
    }
}

impl Hinter for Names<'_, '_, '_, '_> {
    type Hint = String;
}

impl Highlighter for Names<'_, '_, '_, '_> {}
impl Validator for Names<'_, '_, '_, '_> {}
impl Helper for Names<'_, '_, '_, '_> {}
