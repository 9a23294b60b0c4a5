//! One litmus test from file to answer.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_control::{Cancel, Control};
use parallax_frontend_litmus::{Arch, LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::Diagnostics;
use parallax_verdict::Outcomes;
use parallax_verify::litmus::{self, Listing, outcomes};
use parallax_verify::models::{ModelChoice, Models};
use parallax_verify::text::{read, shown};

use crate::args::{Coherence, LitmusArguments};

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
    /// Cancelled by the person at the keyboard.
    pub cancel: Cancel,
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
    let listing = Listing {
        bound: setup.options.bound,
        coherence: match setup.options.coherence {
            Coherence::Auto => litmus::Coherence::Auto,
            Coherence::Total => litmus::Coherence::Total,
            Coherence::Needed => litmus::Coherence::Needed,
        },
        witnesses: setup.witnesses,
        show: &setup.options.show,
    };
    let control = Control::default().until(setup.cancel.clone()).within(setup.options.timeout);
    outcomes(test, model, &listing, &control)
}
