//! `parallax verify --batch tasks.yml|DIR`: many questions, each in a process of its own, so that none
//! takes another's memory, and one that breaks is a row with an error.

mod results;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use parallax_control::Cancel;
use parallax_files::{Arguments, plain};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_report::{
    BatchColumns, BatchRow, batch_csv, batch_html, batch_json, batch_line, batch_summary,
};
use parallax_verdict::Conclusion;
use parallax_verify::batch::{Question, questions};
use parallax_verify::text::shown;
use parallax_verify::{Choice, Properties};
use serde_json::Value;

use super::arguments::{AnswerFormat, range};
use super::output::write;
use super::{VerifyArguments, page};
use crate::Exit;
use crate::batch::{Audience, Batch};
use crate::output::{self, Results};
use crate::progress::Progress;

use results::Kept;

/// How much longer than its own limit a process may take before it is ended.
const GRACE: Duration = Duration::from_secs(60);
/// No question is asked for longer.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

pub fn run(options: &VerifyArguments, cancel: &Cancel) -> Exit {
    match answer(options, cancel) {
        Ok(exit) => exit,
        Err(errors) => {
            output::refuse(&errors, super::wording(options));
            Exit::BadInput
        }
    }
}

fn answer(options: &VerifyArguments, cancel: &Cancel) -> Result<Exit, Diagnostics> {
    check(options)?;
    let path = options.input.first();
    let questions = questions(path, |text| range(text).is_ok())?;
    let program = std::env::current_exe()
        .map_err(|error| vec![Diagnostic::new(format!("cannot find this program: {error}"))])?;
    let kept = options.results.as_deref().map(Kept::open).transpose()?;
    let asker = Asker { options, program, kept, cancel };
    let rows: Vec<BatchRow> = questions.iter().map(|question| asker.row(question)).collect();
    let mut printer = Printer {
        format: options.format,
        columns: BatchColumns::of(&rows),
        questions: &questions,
        rows: Vec::new(),
        results: Results::new(),
        progress: Progress::new(questions.len(), !options.quiet),
        exit: Exit::Fine,
    };
    let batch = Batch {
        count: questions.len(),
        jobs: options.jobs,
        window: questions.len(),
        cancel: cancel.child(),
    };
    let ran = batch.run(|number| asker.ask(&questions[number]), &mut printer);
    ran.map_err(|error| {
        let error = Diagnostic::new(format!("cannot start a thread: {error}"));
        vec![error.with_help("try fewer --jobs")]
    })?;
    printer.finish(options, cancel)
}

/// What is of one answer, or of one search, is not for many.
fn check(options: &VerifyArguments) -> Result<(), Diagnostics> {
    let single = [
        (options.graph.is_some(), "--graph"),
        (options.witness.is_some(), "--witness"),
        (options.emit.is_some(), "--emit"),
        (options.proof.is_some(), "--proof"),
        (options.listing.is_some(), "--listing"),
        (options.checkpoint.is_some(), "--checkpoint"),
        (options.resume.is_some(), "--resume"),
        (options.cluster.is_some(), "--cluster"),
        (options.estimate, "--estimate"),
        (options.expect, "--expect"),
    ];
    if let Some((_, option)) = single.into_iter().find(|(is_asked, _)| *is_asked) {
        let error = Diagnostic::new(format!("{option} is of one answer, and --batch asks many"));
        return Err(vec![error]);
    }
    if options.input.inputs.len() > 1 {
        return Err(vec![Diagnostic::new("--batch takes one file of tasks, or one folder")]);
    }
    if matches!(options.format, AnswerFormat::Sarif | AnswerFormat::Svcomp) {
        let error = Diagnostic::new("--batch prints text, json or csv");
        return Err(vec![error]);
    }
    Ok(())
}

struct Asker<'a> {
    options: &'a VerifyArguments,
    program: PathBuf,
    kept: Option<Kept>,
    cancel: &'a Cancel,
}

impl Asker<'_> {
    /// What is known of a question before it is asked.
    fn row(&self, question: &Question) -> BatchRow {
        let usual = |own: &Option<String>, asked: Option<String>| {
            own.clone().or(asked).unwrap_or_else(|| "usual".to_string())
        };
        let properties = self.options.property.as_ref().and_then(spoken);
        BatchRow {
            input: question.name(),
            model: usual(&question.model, self.options.model.clone()),
            property: usual(&question.property, properties),
            expected: question.expected.map(|verdict| verdict.name().to_string()),
            ..BatchRow::default()
        }
    }

    fn ask(&self, question: &Question) -> BatchRow {
        let row = self.row(question);
        let words = self.words(question);
        let key = results::key(&words, question);
        if let Some(known) = self.kept.as_ref().and_then(|kept| kept.row(&key)) {
            return BatchRow { expected: row.expected, ..known };
        }
        let timeout = question.timeout.as_deref().and_then(|text| text.parse().ok());
        let timeout = timeout.map(Duration::from_secs).or(self.options.timeout);
        let time = timeout.map_or(LONGEST, |timeout| timeout.saturating_add(GRACE));
        let arguments = Arguments::default().options(&words);
        let program = self.program.to_string_lossy();
        let row = match parallax_files::run(&program, &arguments, Some(time)) {
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stdout);
                let said = String::from_utf8_lossy(&output.stderr);
                answered(&row, &text).unwrap_or_else(|| {
                    let last = said.lines().rfind(|line| !line.trim().is_empty());
                    let message = format!("it ended without an answer ({})", output.status);
                    let message = last.map_or(message.clone(), |last| format!("{message}: {last}"));
                    BatchRow { verdict: "error".to_string(), message, ..row.clone() }
                })
            }
            Err(error) => {
                let message = error.to_string();
                BatchRow { verdict: "error".to_string(), message, ..row }
            }
        };
        if let Some(kept) = self.kept.as_ref().filter(|_| !self.cancel.is_cancelled()) {
            kept.keep(&key, &row);
        }
        row
    }

    /// The command that asks one question.
    fn words(&self, question: &Question) -> Vec<String> {
        let options = self.options;
        let mut words: Vec<String> =
            ["verify", "--quiet", "--format", "json", "--jobs", "1"].map(str::to_string).into();
        let mut say = |name: &str, value: Option<String>| {
            words.extend(value.map(|value| format!("--{name}={value}")));
        };
        say("model", question.model.clone().or(options.model.clone()));
        let asked = || spoken(options.property.as_ref()?);
        say("property", question.property.clone().or_else(asked));
        let engine = match options.engine {
            Choice::Auto => None,
            Choice::Named(name) => Some(name.to_string()),
        };
        say("engine", question.engine.clone().or(engine));
        say("unroll", question.unroll.clone().or(options.unroll.0.map(|n| n.to_string())));
        let nondet = options.nondet.map(|(low, high)| format!("{low}..{high}"));
        say("nondet", question.nondet.clone().or(nondet));
        let timeout = options.timeout.map(|time| time.as_secs_f64().to_string());
        say("timeout", question.timeout.clone().or(timeout));
        let memory = options.memory_limit.to_string();
        say("memory-limit", Some(question.memory_limit.clone().unwrap_or(memory)));
        say("reductions", Some(page::reductions(options.reductions)));
        say("std", question.std.clone().or(options.input.reading.std.clone()));
        if options.all {
            words.push("--all".to_string());
        }
        words.extend(options.input.reading.words());
        words.extend(question.define.iter().map(|name| format!("-D{name}")));
        words.extend(question.include.iter().map(|folder| format!("-I{}", shown(folder))));
        words.extend(question.files.iter().map(|file| shown(&plain(file))));
        if !options.input.reading.clang.is_empty() {
            words.push("--".to_string());
            words.extend(options.input.reading.clang.iter().cloned());
        }
        words
    }
}

/// As the option takes them.
fn spoken(properties: &Properties) -> Option<String> {
    match properties {
        Properties::All => Some("all".to_string()),
        Properties::Named(names) => {
            Some(names.iter().map(|name| name.name()).collect::<Vec<_>>().join(","))
        }
        Properties::File(path) => Some(shown(path)),
        Properties::Written(_) => None,
    }
}

/// The row with what a process has answered, if that is an answer.
fn answered(row: &BatchRow, text: &str) -> Option<BatchRow> {
    let answer = serde_json::from_str::<Value>(text.trim()).ok()?;
    let word = |value: &Value| value.as_str().unwrap_or("").to_string();
    if let Some(error) = answer.get("error") {
        let place = match (error["file"].as_str(), error["line"].as_u64()) {
            (Some(file), Some(line)) => {
                format!("{file}:{line}:{}: ", error["column"].as_u64().unwrap_or(1))
            }
            _ => String::new(),
        };
        let message = format!("{place}{}", word(&error["message"]));
        return Some(BatchRow { verdict: "error".to_string(), message, ..row.clone() });
    }
    let verdict = word(&answer["verdict"]);
    let first = &answer["violations"][0];
    let message = match verdict.as_str() {
        "unsafe" => match (first["file"].as_str(), first["line"].as_u64()) {
            (Some(file), Some(line)) => format!("{} at {file}:{line}", word(&first["message"])),
            _ => word(&first["message"]),
        },
        "unknown" => word(&answer["reason"]),
        "safe" => match answer["bound"].as_u64() {
            Some(bound) => format!("up to {bound} rounds of each loop"),
            None => String::new(),
        },
        _ => return None,
    };
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    Some(BatchRow {
        model: word(&answer["model"]),
        verdict,
        message,
        engine: word(&answer["engine"]),
        scope: answer["scope"].as_str().map(str::to_string),
        executions: number("executions"),
        states: number("states"),
        time_s: answer["time_s"].as_f64().unwrap_or(0.0),
        peak_rss_kib: number("peak_rss_kib"),
        ..row.clone()
    })
}

/// Prints rows as they come.
struct Printer<'a> {
    format: AnswerFormat,
    columns: BatchColumns,
    questions: &'a [Question],
    rows: Vec<BatchRow>,
    results: Results,
    progress: Progress,
    exit: Exit,
}

impl Printer<'_> {
    fn finish(mut self, options: &VerifyArguments, cancel: &Cancel) -> Result<Exit, Diagnostics> {
        self.progress.clear();
        let text = match self.format {
            AnswerFormat::Csv => batch_csv(&self.rows),
            AnswerFormat::Text => batch_summary(&self.rows),
            _ => String::new(),
        };
        let printed = self.results.write(&text).is_continue() && self.results.flush().is_continue();
        if let Some(path) = &options.report {
            let title = format!("{} under Parallax", shown(options.input.first()));
            let text = batch_html(&self.rows, &title, &page::command_line());
            write(path, &text).map_err(|error| vec![error])?;
        }
        let count = self.questions.len();
        if self.rows.len() < count || cancel.is_cancelled() {
            let done = self.rows.len();
            output::note(&format!("interrupted after {done} of {count} questions"));
            return Ok(Exit::Unknown);
        }
        Ok(if printed { self.exit } else { Exit::Unknown })
    }
}

impl Audience<Option<BatchRow>> for Printer<'_> {
    fn result(&mut self, number: usize, row: Option<BatchRow>) -> ControlFlow<()> {
        self.progress.clear();
        let row = row.unwrap_or_else(|| BatchRow {
            input: self.questions[number].name(),
            verdict: "error".to_string(),
            message: "internal error while asking: this is a bug in parallax".to_string(),
            ..BatchRow::default()
        });
        self.exit = self.exit.and(exit_of(&row));
        let printed = match self.format {
            AnswerFormat::Text => self.results.write(&batch_line(&row, self.columns)),
            AnswerFormat::Json => self.results.write(&(batch_json(&row) + "\n")),
            _ => ControlFlow::Continue(()),
        };
        self.rows.push(row);
        printed
    }

    fn pause(&mut self, current: usize) -> ControlFlow<()> {
        self.results.flush()?;
        if let Some(question) = self.questions.get(current) {
            self.progress.show(self.rows.len(), &question.name());
        }
        ControlFlow::Continue(())
    }
}

/// Where somebody has said what to expect, that is what counts.
fn exit_of(row: &BatchRow) -> Exit {
    match (row.is_right(), row.verdict.as_str()) {
        (_, "error") => Exit::BadInput,
        (Some(true), _) => Exit::Fine,
        (_, "unknown") => Exit::Unknown,
        (Some(false), _) => Exit::Missed,
        (None, verdict) if verdict == Conclusion::Safe.name() => Exit::Fine,
        (None, _) => Exit::Missed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_become_rows() {
        let text = r#"{"verdict":"unsafe","model":"rc11","engine":"explore","properties":["assert"],
            "executions":3,"time_s":0.5,"violations":[{"message":"no","file":"a.c","line":3}]}"#;
        let row = answered(&BatchRow::default(), text).expect("an answer");
        assert_eq!((row.verdict.as_str(), row.message.as_str()), ("unsafe", "no at a.c:3"));
        let text = r#"{"error":{"message":"what","file":"a.c","line":3,"column":4}}"#;
        let row = answered(&BatchRow::default(), text).expect("an answer");
        assert_eq!((row.verdict.as_str(), row.message.as_str()), ("error", "a.c:3:4: what"));
        for text in ["", "{}", "{\"verdict\":\"fine\"}", "safe"] {
            assert!(answered(&BatchRow::default(), text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_is_expected_counts() {
        let row = |expected: Option<&str>, verdict: &str| BatchRow {
            expected: expected.map(str::to_string),
            verdict: verdict.to_string(),
            ..BatchRow::default()
        };
        assert_eq!(exit_of(&row(Some("unsafe"), "unsafe")), Exit::Fine);
        assert_eq!(exit_of(&row(Some("unknown"), "unknown")), Exit::Fine);
        assert_eq!(exit_of(&row(Some("safe"), "unknown")), Exit::Unknown);
        assert_eq!(exit_of(&row(Some("safe"), "unsafe")), Exit::Missed);
        assert_eq!(exit_of(&row(None, "unsafe")), Exit::Missed);
        assert_eq!(exit_of(&row(Some("unsafe"), "error")), Exit::BadInput);
    }
}
