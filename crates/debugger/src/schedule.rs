//! Schedules as text: what happened, one action a line, for people and for another time.
//!
//! ```text
//! parallax schedule 1
//! input examples/store-buffering.litmus
//! model tso
//! step 0
//! flush 0
//! ```
//!
//! Between `input` and `model` there may be lines `clang -DN=3`: the program was read with these macros,
//! folders of headers and standards. Nothing else is taken from a schedule, which may come from anywhere.
//!
//! `step THREAD [CHOICE]` is one instruction of a thread (where it may choose among several
//! values, by number); `flush THREAD [ENTRY]` lets an entry of its buffer reach memory, the oldest
//! if none is named. `#` starts a comment.

use std::fmt::Write;

use parallax_machine::system::{Action, MemoryKind};
use parallax_program::{Diagnostic, SourceFile, Span};

const FIRST_LINE: &str = "parallax schedule 1";

/// A schedule, with what it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// How the program was called.
    pub input: String,
    /// What clang was told of macros, headers and the standard.
    pub arguments: Vec<String>,
    pub memory: MemoryKind,
    /// Each with what happens, for people.
    pub actions: Vec<(Action, String)>,
}

/// `step 0`, `flush 1 2`.
pub fn action_text(action: Action) -> String {
    match action {
        Action::Step { thread, choice: 0 } => format!("step {thread}"),
        Action::Step { thread, choice } => format!("step {thread} {choice}"),
        Action::Flush { thread, index: 0 } => format!("flush {thread}"),
        Action::Flush { thread, index } => format!("flush {thread} {index}"),
    }
}

/// Whether an argument of clang does no harm, whoever has written it down, and can be written on a line.
fn is_harmless(argument: &str) -> bool {
    let starts = ["-D", "-U", "-I", "-std="];
    let has_more = |start: &&str| argument.len() > start.len() && argument.starts_with(*start);
    starts.iter().any(has_more)
        && !argument.contains(['#', '\n', '\r'])
        && argument.trim() == argument
}

fn argument_lines<'a>(arguments: impl IntoIterator<Item = &'a String>) -> String {
    let kept = arguments.into_iter().filter(|argument| is_harmless(argument));
    kept.map(|argument| format!("clang {argument}\n")).collect()
}

/// The text of a schedule, with the arguments that the program was read with.
pub fn with_arguments(text: &str, arguments: &[String]) -> String {
    match text.split_once("\nmodel ") {
        Some((head, rest)) => format!("{head}\n{}model {rest}", argument_lines(arguments)),
        None => text.to_string(),
    }
}

impl Schedule {
    pub fn text(&self) -> String {
        let input = self.input.replace(['\n', '\r'], " ");
        let memory = self.memory.name();
        let arguments = argument_lines(&self.arguments);
        let mut text = format!("{FIRST_LINE}\ninput {input}\n{arguments}model {memory}\n");
        for (action, comment) in &self.actions {
            let action = action_text(*action);
            let _ = match comment.replace(['\n', '\r'], " ") {
                comment if comment.is_empty() => writeln!(text, "{action}"),
                comment => writeln!(text, "{action:<10}  # {comment}"),
            };
        }
        text
    }

    /// Reads a schedule; `name` is what errors call the file. The actions come with their lines.
    pub fn parse(name: &str, text: &str) -> Result<(Schedule, Vec<Span>), Diagnostic> {
        let source = SourceFile::new(name, text);
        let mut lines = meaningful_lines(text).peekable();
        let mut expect = |what: &str| {
            let end = Span::new(text.len(), text.len());
            let line = lines.next().unwrap_or((end, ""));
            let rest = line.1.strip_prefix(what);
            rest.map(|rest| (line.0, rest.trim().to_string()))
                .ok_or_else(|| source.error(line.0, format!("expected '{}'", what.trim())))
        };
        expect(FIRST_LINE)?;
        let (_, input) = expect("input ")?;
        let mut arguments = Vec::new();
        while let Some((span, line)) = lines.next_if(|(_, line)| line.starts_with("clang ")) {
            let argument = line.trim_start_matches("clang ").trim();
            if !is_harmless(argument) {
                let error = source.error(span, "this argument is not taken from a schedule");
                return Err(
                    error.with_help("schedules keep -D, -U, -I and -std=; give others behind --")
                );
            }
            arguments.push(argument.to_string());
        }
        let (span, model) = lines
            .next()
            .and_then(|(span, line)| Some((span, line.strip_prefix("model ")?.trim().to_string())))
            .ok_or_else(|| {
                let end = Span::new(text.len(), text.len());
                let second = meaningful_lines(text).nth(2 + arguments.len());
                source.error(second.map_or(end, |(span, _)| span), "expected 'model'")
            })?;
        let memory = MemoryKind::named(&model).ok_or_else(|| {
            let error = source.error(span, format!("there is no machine for '{model}'"));
            let names = MemoryKind::ALL.map(MemoryKind::name).join(", ");
            error.with_help(format!("machines are {names}"))
        })?;
        let (mut actions, mut spans) = (Vec::new(), Vec::new());
        for (span, line) in lines {
            let action = parse_action(line).ok_or_else(|| {
                let error = source.error(span, "expected an action");
                error.with_help("actions are 'step THREAD [CHOICE]' and 'flush THREAD [ENTRY]'")
            })?;
            actions.push((action, String::new()));
            spans.push(span);
        }
        Ok((Schedule { input, arguments, memory, actions }, spans))
    }
}

/// Lines without comments and blanks around them.
fn meaningful_lines(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let begin = start;
        start += line.len();
        let content = line.split('#').next().unwrap_or("");
        let skipped = content.len() - content.trim_start().len();
        let content = content.trim();
        let span = Span::new(begin + skipped, begin + skipped + content.len());
        (!content.is_empty()).then_some((span, content))
    })
}

fn parse_action(line: &str) -> Option<Action> {
    let mut words = line.split_whitespace();
    let verb = words.next()?;
    let thread = words.next()?.parse().ok()?;
    let number = words.next();
    if words.next().is_some() {
        return None;
    }
    Some(match verb {
        "step" => Action::Step { thread, choice: number.map_or(Some(0), |n| n.parse().ok())? },
        "flush" => Action::Flush { thread, index: number.map_or(Some(0), |n| n.parse().ok())? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let actions = vec![
            (Action::Step { thread: 0, choice: 0 }, "x = 1".to_string()),
            (Action::Step { thread: 1, choice: 7 }, String::new()),
            (Action::Flush { thread: 0, index: 0 }, String::new()),
            (Action::Flush { thread: 12, index: 3 }, String::new()),
        ];
        let arguments = vec!["-DN=3".to_string(), "-fplugin=x.so".to_string()];
        let (input, memory) = ("a b.c".to_string(), MemoryKind::Pso);
        let schedule = Schedule { input, arguments, memory, actions };
        let text = schedule.text();
        assert!(text.ends_with("step 0      # x = 1\nstep 1 7\nflush 0\nflush 12 3\n"), "{text}");
        let (read, spans) = Schedule::parse("s", &text).expect("a schedule");
        assert_eq!(read.text(), text.replace("    # x = 1", "").replace("step 0  ", "step 0"));
        assert_eq!(spans.len(), 4);
        assert_eq!(read.arguments, ["-DN=3"]);
    }

    #[test]
    fn errors_have_places() {
        let head = "parallax schedule 1\ninput x\nmodel tso\n";
        for (text, place) in [
            ("", "s:1:1: error: expected 'parallax schedule 1'"),
            ("parallax schedule 1\nmodel tso\n", "s:2:1: error: expected 'input'"),
            ("parallax schedule 1\ninput x\nmodel rc11\n", "s:3:1: error: there is no machine"),
            ("parallax schedule 1\ninput x\nstep 0\n", "s:3:1: error: expected 'model'"),
            ("parallax schedule 1\ninput x\nclang -fplugin=x\n", "s:3:1: error: this argument"),
            ("parallax schedule 1\ninput x\nclang -DN\n", "s:4:1: error: expected 'model'"),
            (&format!("{head}# fine\n  jump 1\n"), "s:5:3: error: expected an action"),
            (&format!("{head}step -1\n"), "s:4:1"),
            (&format!("{head}step 99999999999999999999\n"), "s:4:1"),
            (&format!("{head}step 0 0 0\n"), "s:4:1"),
        ] {
            let error = Schedule::parse("s", text).expect_err(text).to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
