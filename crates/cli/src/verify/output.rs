//! The answer on stdout, and the files that were asked for.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_debugger::with_arguments;
use parallax_files::replace;
use parallax_program::{Diagnostic, Diagnostics, visible};
use parallax_query::Answer;
use parallax_report::{
    Caption, Detail, TextStyle, Under, VerifyRun, focused_dot, focused_svg, verdict_json,
    verdict_sarif, verdict_text,
};
use parallax_verdict::{Conclusion, Verdict};
use parallax_verify::Response;
use parallax_verify::text::shown;
use terminal_size::{Width, terminal_size_of};

use super::arguments::AnswerFormat;
use super::witness::{self, Asked, is_exchanged};
use super::{VerifyArguments, page, tasks};
use crate::Exit;
use crate::output;
use crate::voice::Options;

/// Characters in a line where no terminal says otherwise.
const USUAL_WIDTH: usize = 120;

pub fn deliver(
    options: &VerifyArguments,
    asked: &Asked,
    response: &Response,
    time: Duration,
) -> Result<(), Exit> {
    let Response { answer, model, ruling, .. } = response;
    let input = shown(asked.files.first().map_or(Path::new(""), |path| path.as_path()));
    let run = VerifyRun {
        input: &input,
        under: Under::of(model),
        engine: answer.engine,
        engine_summary: response.engine_summary(),
        counts_executions: response.counts_executions(),
        all: answer.all,
        time,
        peak_rss_kib: peak_rss_kib(),
        solver: answer.solver,
        candidate: answer.candidate.as_deref(),
    };
    let mut verdict = answer.verdict.clone();
    verdict.reason = verdict.reason.map(|reason| reason.worded(&Options));
    let verdict = &verdict;
    let ruling =
        ruling.as_ref().map(|ruling| format!("verdict: {}\n", visible(&ruling.to_string())));
    let ruling = ruling.unwrap_or_default();
    let text = match options.format {
        AnswerFormat::Text if tasks::are_asked(options) => {
            verdict_text(&run, verdict, style(options)) + &ruling
        }
        AnswerFormat::Text => verdict_text(&run, verdict, style(options)),
        AnswerFormat::Svcomp | AnswerFormat::Csv => ruling,
        AnswerFormat::Json => verdict_json(&run, verdict) + "\n",
        AnswerFormat::Sarif => verdict_sarif(&run, verdict) + "\n",
    };
    let printed = output::print_exactly(&text);
    if let Some(path) = &options.graph {
        draw(path, verdict, &run, options.quiet)?;
    }
    if let Some(path) = options.witness.as_deref().filter(|path| is_exchanged(path)) {
        write_witness(path, asked, response, options.quiet)?;
    } else if let Some(path) = &options.witness {
        write_schedule(path, answer, &options.input.reading.reading().clang, options.quiet)?;
    }
    if let Some(path) = &options.proof {
        write_proof(path, answer, options.quiet)?;
    }
    if let Some(path) = &options.report {
        deliver_file(path, &page::page(options, asked, response, &run, verdict))?;
    }
    if printed.is_break() { Err(Exit::Unknown) } else { Ok(()) }
}

fn style(options: &VerifyArguments) -> TextStyle {
    let stdout = io::stdout();
    let width = terminal_size_of(&stdout).map(|(Width(width), _)| usize::from(width));
    TextStyle {
        colour: stdout.is_terminal() && output::colours_are_wanted(),
        width: width.unwrap_or(USUAL_WIDTH),
        detail: if options.verbose { Detail::Full } else { Detail::Short },
    }
}

fn draw(path: &Path, verdict: &Verdict, run: &VerifyRun<'_>, quiet: bool) -> Result<(), Exit> {
    let Some(violation) = verdict.violations.first() else {
        if !quiet {
            let why = if verdict.conclusion() == Conclusion::Safe { "safe" } else { "unknown" };
            output::note(&format!("{why}: there is no execution to draw"));
        }
        return Ok(());
    };
    let subtitle = format!("{}, {}", run.input, run.under.model);
    let caption = Caption { title: &violation.message, subtitle: &subtitle };
    let is_dot = path.extension().is_some_and(|extension| extension == "dot");
    let picture =
        if is_dot { focused_dot(violation, caption) } else { focused_svg(violation, caption) };
    deliver_file(path, &picture)
}

fn write_witness(path: &Path, asked: &Asked, response: &Response, quiet: bool) -> Result<(), Exit> {
    match witness::text(path, asked, response) {
        Ok(text) => deliver_file(path, &text),
        Err(error) => {
            if !quiet {
                output::note(&error.message);
            }
            Ok(())
        }
    }
}

fn write_schedule(path: &Path, answer: &Answer, clang: &[String], quiet: bool) -> Result<(), Exit> {
    let why = match (&answer.witness, answer.verdict.conclusion()) {
        (Some(schedule), _) => {
            return deliver_file(path, &with_arguments(schedule, clang));
        }
        (None, Conclusion::Unsafe) => "no last state of a schedule shows this violation",
        (None, Conclusion::Safe) => "safe: there is no schedule to write",
        (None, Conclusion::Unknown) => "unknown: there is no schedule to write",
    };
    if !quiet {
        output::note(why);
    }
    Ok(())
}

fn write_proof(path: &Path, answer: &Answer, quiet: bool) -> Result<(), Exit> {
    if let Some(proof) = &answer.proof {
        return deliver_file(path, proof);
    }
    if !quiet {
        output::note(&format!(
            "{}: there is no proof to write",
            answer.verdict.conclusion().name()
        ));
    }
    Ok(())
}

/// Writes the questions for the solver. The second and all after it have their number in the name.
pub fn emit(path: &Path, questions: &[Vec<u8>]) -> Result<(), Diagnostics> {
    if questions.is_empty() {
        let error = Diagnostic::new("there was no question for a solver, so none was written");
        return Err(vec![error]);
    }
    for (number, text) in questions.iter().enumerate() {
        let (path, written) = match number {
            0 => (path.to_path_buf(), fs::write(path, text)),
            // Nobody has said this name, so it leads nowhere else.
            _ => {
                let path = numbered(path, number + 1);
                let written = replace(&path, text);
                (path, written)
            }
        };
        written.map_err(|error| vec![unwritten(&path, &error)])?;
    }
    Ok(())
}

/// `a/question-2.cnf` of `a/question.cnf`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), Diagnostic> {
    fs::write(path, text).map_err(|error| unwritten(path, &error))
}

/// For a file that could not be written.
pub fn unwritten(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(format!("cannot write '{}': {error}", shown(path)))
}

fn deliver_file(path: &Path, text: &str) -> Result<(), Exit> {
    write(path, text).map_err(|error| {
        output::report(&error);
        Exit::BadInput
    })
}

/// The most memory that this process has had, as Linux reports it; 0 elsewhere.
fn peak_rss_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
