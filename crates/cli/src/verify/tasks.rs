//! `parallax verify TASK.yml…`: each property of each task in turn, and a table where there are several.

use std::fmt::Write;
use std::path::Path;

use parallax_control::Cancel;
use parallax_program::{Diagnostic, Diagnostics};
use parallax_verify::task::{Asked, Expected, Task, is_task};
use parallax_verify::text::shown;
use parallax_verify::{Properties, Ruling};

use super::arguments::AnswerFormat;
use super::{VerifyArguments, one, request};
use crate::Exit;
use crate::output;

/// A property of a task, and what was found out.
struct Row {
    task: String,
    property: String,
    expected: Option<Expected>,
    /// None where there was an error, which was shown.
    ruling: Option<Ruling>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Right,
    Wrong,
    Unknown,
}

impl Row {
    fn mark(&self) -> Mark {
        match (&self.ruling, &self.expected) {
            (Some(Ruling::True), Some(expected)) if expected.holds => Mark::Right,
            (Some(Ruling::False(part)), Some(expected)) if !expected.holds => {
                let is_same = expected.part.as_deref().is_none_or(|other| other == *part);
                if is_same { Mark::Right } else { Mark::Wrong }
            }
            (Some(Ruling::True | Ruling::False(_)), Some(_)) => Mark::Wrong,
            _ => Mark::Unknown,
        }
    }

    fn expectation(&self) -> String {
        match &self.expected {
            None => "?".to_string(),
            Some(Expected { holds: true, .. }) => "true".to_string(),
            Some(Expected { part: Some(part), .. }) => format!("false({part})"),
            Some(_) => "false".to_string(),
        }
    }

    fn exit(&self) -> Exit {
        match &self.ruling {
            None => Exit::BadInput,
            Some(Ruling::True) => Exit::Fine,
            Some(Ruling::False(_)) => Exit::Missed,
            Some(Ruling::Unknown(_)) => Exit::Unknown,
        }
    }
}

/// Whether the inputs are task definitions.
pub fn are_asked(options: &VerifyArguments) -> bool {
    options.input.inputs.iter().any(|input| is_task(input))
}

pub fn run(options: &VerifyArguments, cancel: &Cancel) -> Exit {
    let plan = match plan(options) {
        Ok(plan) => plan,
        Err(errors) => {
            output::refuse(&errors, super::wording(options));
            return Exit::BadInput;
        }
    };
    let is_single = plan.len() == 1;
    let mut rows = Vec::new();
    for (task, asked) in plan {
        if !is_single && options.format == AnswerFormat::Text {
            let title = format!("{}: {}\n", shown(&task.path), asked.name());
            if output::print(&title).is_break() {
                return Exit::Unknown;
            }
        }
        let base = request(options);
        let ruling = match one(options, task.request(&asked, &base), cancel) {
            Ok((_, ruling)) => ruling,
            Err(_) => None,
        };
        let (task, property) = (shown(&task.path), asked.name());
        rows.push(Row { task, property, expected: asked.expected, ruling });
        if cancel.is_cancelled() {
            break;
        }
    }
    let printed = match options.format {
        AnswerFormat::Text | AnswerFormat::Svcomp if !is_single || options.expect => {
            output::print(&table(&rows, options.expect))
        }
        _ => std::ops::ControlFlow::Continue(()),
    };
    match printed.is_break() || cancel.is_cancelled() {
        true => Exit::Unknown,
        false => exit(&rows, options.expect),
    }
}

/// What is to be answered, in this order.
fn plan(options: &VerifyArguments) -> Result<Vec<(Task, Asked)>, Diagnostics> {
    let wanted: Option<&Path> = match &options.property {
        None => None,
        Some(Properties::File(path)) => Some(path),
        Some(_) => {
            let error = Diagnostic::new("tasks are asked about property files only");
            return Err(vec![error.with_help("say --property FILE.prp, or leave it out for all")]);
        }
    };
    let mut plan = Vec::new();
    for path in &options.input.inputs {
        if !is_task(path) {
            let message = format!("'{}' is no task definition, and the others are", shown(path));
            return Err(vec![Diagnostic::new(message)]);
        }
        let task = Task::load(path)?;
        plan.extend(task.asked(wanted).into_iter().map(|asked| (task.clone(), asked)));
    }
    let files = [
        (options.witness.is_some(), "--witness"),
        (options.graph.is_some(), "--graph"),
        (options.report.is_some(), "--report"),
        (options.emit.is_some(), "--emit"),
    ];
    let file = files.into_iter().find(|(is_asked, _)| *is_asked);
    match file {
        Some((_, option)) if plan.len() > 1 => {
            let error =
                Diagnostic::new(format!("{option} is of one answer, and several are asked"));
            Err(vec![error.with_help("--property FILE.prp picks one")])
        }
        _ => Ok(plan),
    }
}

/// Where answers are compared, that all are right is what counts.
fn exit(rows: &[Row], is_compared: bool) -> Exit {
    let exits = rows.iter().map(|row| match (is_compared, row.mark()) {
        (true, Mark::Right) => Exit::Fine,
        (true, Mark::Wrong) => Exit::Missed,
        (true, Mark::Unknown) => row.exit().and(Exit::Unknown),
        (false, _) => row.exit(),
    });
    exits.fold(Exit::Fine, Exit::and)
}

fn table(rows: &[Row], is_compared: bool) -> String {
    let verdict = |row: &Row| row.ruling.as_ref().map_or("error".to_string(), Ruling::to_string);
    let width = |cell: &dyn Fn(&Row) -> usize| rows.iter().map(cell).max().unwrap_or(0);
    let tasks = width(&|row| row.task.chars().count());
    let properties = width(&|row| row.property.chars().count());
    let expectations = width(&|row| row.expectation().chars().count());
    let mut text = String::new();
    for row in rows {
        let mark = match (is_compared, row.mark()) {
            (false, _) => "",
            (true, Mark::Right) => "right    ",
            (true, Mark::Wrong) => "WRONG    ",
            (true, Mark::Unknown) => "unknown  ",
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{mark}{:tasks$}  {:properties$}  expected {:expectations$}  {}",
            row.task,
            row.property,
            row.expectation(),
            verdict(row)
        );
    }
    if is_compared {
        let count = |mark: Mark| rows.iter().filter(|row| row.mark() == mark).count();
        let _ = writeln!(
            text,
            "{} right, {} wrong, {} unknown",
            count(Mark::Right),
            count(Mark::Wrong),
            count(Mark::Unknown)
        );
    }
    text
}
