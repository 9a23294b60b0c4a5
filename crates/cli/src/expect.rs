//! `parallax litmus --expect`: answers held against a table of expected ones.

use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use parallax_control::Cancel;
use parallax_frontend_litmus::collect;
use parallax_program::{Diagnostic, Diagnostics};
use parallax_report::{Answer, Expectation, Tally, compare, parse_expectations};
use parallax_verdict::{Ending, no_final_state};
use parallax_verify::models::ModelChoice;
use parallax_verify::text::{read, shown};

use crate::Exit;
use crate::args::Format;
use crate::batch::Audience;
use crate::litmus::{batch, internal_error, wording};
use crate::one_test::{Job, Setup, run_test};
use crate::output::{self, Results};
use crate::progress::Progress;

pub fn run(csv: &Path, setup: &Setup<'_>) -> Exit {
    let rows = match rows(csv, &setup.options.paths) {
        Ok(rows) => rows,
        Err(errors) => {
            output::refuse(&errors, wording(setup.options));
            return Exit::BadInput;
        }
    };
    let folder = csv.parent().unwrap_or(Path::new(""));
    let jobs: Vec<Job> = rows
        .iter()
        .map(|row| Job {
            path: folder.join(&row.file),
            model: ModelChoice::parse(&row.model, folder),
        })
        .collect();
    let mut judge = Judge {
        rows: &rows,
        jobs: &jobs,
        format: setup.options.format,
        results: Results::new(),
        progress: Progress::new(rows.len(), !setup.options.quiet),
        tally: Tally::default(),
        done: 0,
        cancel: setup.cancel.clone(),
    };
    let work = |number: usize| answer(&jobs[number], setup);
    let ran = batch(setup, jobs.len()).run(work, &mut judge);
    judge.finish(ran)
}

/// The rows of the table, where paths are given only those about them.
fn rows(csv: &Path, paths: &[PathBuf]) -> Result<Vec<Expectation>, Diagnostics> {
    let mut rows = parse_expectations(&shown(csv), &read(csv)?)?;
    if paths.is_empty() {
        return Ok(rows);
    }
    let (files, errors) = collect(paths);
    if !errors.is_empty() {
        return Err(errors);
    }
    let wanted: HashSet<PathBuf> = files.iter().flat_map(fs::canonicalize).collect();
    let folder = csv.parent().unwrap_or(Path::new(""));
    rows.retain(|row| {
        let path = fs::canonicalize(folder.join(&row.file));
        path.is_ok_and(|path| wanted.contains(&path))
    });
    if rows.is_empty() {
        let message = format!("'{}' has no row about the given paths", shown(csv));
        return Err(vec![Diagnostic::new(message)]);
    }
    Ok(rows)
}

fn answer(job: &Job, setup: &Setup<'_>) -> Answer {
    match run_test(job, setup) {
        Ok(answered) => match &answered.outcomes.ending {
            Ending::Stopped { reason } if !answered.outcomes.is_settled() => {
                Answer::Failed(format!("stopped: {reason}"))
            }
            ending if answered.outcomes.states.is_empty() => {
                Answer::Failed(no_final_state(ending).message)
            }
            _ => Answer::Holds(answered.outcomes.condition_holds()),
        },
        Err(refused) => Answer::Failed(in_one_line(&refused.diagnostics)),
    }
}

fn in_one_line(diagnostics: &Diagnostics) -> String {
    let Some(first) = diagnostics.first() else {
        return String::new();
    };
    let place = first.location.as_ref();
    let place = place.map_or(String::new(), |place| format!("{place}: "));
    let more = match diagnostics.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    format!("{place}{}{more}", first.message)
}

/// Compares answers as they come and prints what differs.
struct Judge<'a> {
    rows: &'a [Expectation],
    jobs: &'a [Job],
    format: Format,
    results: Results,
    progress: Progress,
    tally: Tally,
    done: usize,
    /// Cancelled by the person at the keyboard.
    cancel: Cancel,
}

impl Judge<'_> {
    fn finish(mut self, ran: std::io::Result<()>) -> Exit {
        self.progress.clear();
        if let Err(error) = ran {
            let message = format!("cannot start a thread: {error}");
            output::report(&Diagnostic::new(message).with_help("try fewer --jobs"));
            return Exit::Unknown;
        }
        let line = match self.format {
            Format::Text => self.tally.to_string(),
            Format::Json => self.tally.to_json(),
        };
        let printed = self.results.write(&format!("{line}\n"));
        if printed.is_break() || self.results.flush().is_break() {
            return Exit::Unknown;
        }
        if self.cancel.is_cancelled() || self.done < self.rows.len() {
            let all = self.rows.len();
            output::note(&format!("interrupted after {} of {all} rows", self.done));
            return Exit::Unknown;
        }
        if self.tally.all_agree() { Exit::Fine } else { Exit::Missed }
    }
}

impl Audience<Option<Answer>> for Judge<'_> {
    fn result(&mut self, number: usize, answer: Option<Answer>) -> ControlFlow<()> {
        let answer =
            answer.unwrap_or_else(|| Answer::Failed(internal_error(&self.jobs[number]).message));
        self.done = number + 1;
        let difference = compare(&self.rows[number], answer);
        self.tally.add(difference.as_ref());
        let Some(difference) = difference else {
            return ControlFlow::Continue(());
        };
        self.progress.clear();
        let line = match self.format {
            Format::Text => difference.to_string(),
            Format::Json => difference.to_json(),
        };
        self.results.write(&format!("{line}\n"))
    }

    fn pause(&mut self, current: usize) -> ControlFlow<()> {
        self.results.flush()?;
        if let Some(row) = self.rows.get(current) {
            self.progress.show(self.done, &row.file);
        }
        ControlFlow::Continue(())
    }
}
