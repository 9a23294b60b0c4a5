//! One litmus test from file to answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_engine_enumerate::{Options, enumerate};
use parallax_files::MOST_TEXT;
use parallax_frontend_litmus::{Arch, LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, SourceFile, Span};
use parallax_verdict::{Outcomes, replay};

use crate::args::{Coherence, LitmusArguments};
use crate::interrupt;
use crate::models::{ModelChoice, Models};

/// What to run.
pub struct Job {
    pub path: PathBuf,
    pub model: ModelChoice,
}

/// What all tests of a run share.
pub struct Setup<'a> {
    pub options: &'a LitmusArguments,
    pub models: Models,
    /// Whether what AArch64 calls constrained unpredictable may happen.
    pub unpredictable: bool,
    /// How many executions to keep.
    pub witnesses: usize,
}

/// A test that ran.
pub struct Answered {
    pub name: String,
    pub arch: Arch,
    pub model: String,
    /// With its quantifier.
    pub condition: String,
    pub outcomes: Outcomes,
    pub time: Duration,
}

/// A test that could not run.
pub struct Refused {
    /// The test's name, where it got so far.
    pub name: Option<String>,
    pub diagnostics: Diagnostics,
}

pub fn run_test(job: &Job, setup: &Setup<'_>) -> Result<Answered, Refused> {
    let started = Instant::now();
    let test = read(&job.path).and_then(|text| parse(&shown(&job.path), &text));
    let mut test = test.map_err(|diagnostics| Refused { name: None, diagnostics })?;
    if setup.unpredictable {
        test.allow_unpredictable();
    }
    let answer = setup
        .models
        .for_test(&job.model, &test)
        .and_then(|model| Ok((search(&test, &model, setup)?, model)));
    match answer {
        Ok((outcomes, model)) => Ok(Answered {
            name: test.name,
            arch: test.arch,
            model: model.name().to_string(),
            condition: test.question.text,
            outcomes,
            time: started.elapsed(),
        }),
        Err(diagnostics) => Err(Refused { name: Some(test.name), diagnostics }),
    }
}

fn search(
    test: &LitmusTest,
    model: &Arc<Model>,
    setup: &Setup<'_>,
) -> Result<Outcomes, Diagnostics> {
    let options = Options {
        bound: setup.options.bound,
        coherence: match setup.options.coherence {
            Coherence::Auto => parallax_engine_enumerate::Coherence::Auto,
            Coherence::Total => parallax_engine_enumerate::Coherence::Total,
            Coherence::Needed => parallax_engine_enumerate::Coherence::Needed,
        },
        witnesses: setup.witnesses,
        show: &setup.options.show,
        timeout: setup.options.timeout,
        stop: Some(interrupt::stop_flag()),
    };
    let outcomes = enumerate(&test.program, &test.question, model, &options)?;
    for witness in &outcomes.witnesses {
        replay(&test.program, witness, model)
            .map_err(|reason| vec![not_replayed(&test.program, &reason)])?;
    }
    Ok(outcomes)
}

/// For an execution that is none of the program: nobody gets to see it.
pub fn not_replayed(program: &Program, reason: &str) -> Diagnostic {
    let message = format!("internal error: an execution does not replay: {reason}");
    let error = program.source.error(Span::new(0, 0), message);
    error.with_help("this is a bug in parallax; please report it with the test")
}

/// How messages name a file.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The text of a file; an error says what is wrong with it, and where.
pub fn read(path: &Path) -> Result<String, Diagnostics> {
    let name = shown(path);
    let bytes = parallax_files::read(path, MOST_TEXT)
        .map_err(|error| vec![Diagnostic::new(format!("cannot read '{name}': {error}"))])?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..good]);
        let source = SourceFile::new(&name, &text);
        let message = "this is not UTF-8 text";
        vec![source.error(Span::new(good, good + 1), message)]
    })
}
