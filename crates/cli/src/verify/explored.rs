//! Programs through the engine that explores execution graphs.

use std::sync::Mutex;
use std::sync::PoisonError;

use parallax_engine_explore::{Options, Progress, explore};
use parallax_program::{Diagnostics, Program, Property};

use super::progress::ProgressLine;
use super::{Answer, VerifyArguments, chosen_model};
use crate::interrupt;

pub fn verify(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let (model, _) = chosen_model(program, usual_model, &properties, options)?;
    let line = Mutex::new(ProgressLine::new(!options.quiet));
    let lock = || line.lock().unwrap_or_else(PoisonError::into_inner);
    let watched = lock().is_shown();
    let show = |progress: &Progress| lock().show(progress);
    let verdict = explore(
        program,
        &model,
        &Options {
            properties,
            unroll: options.unroll.0,
            reductions: options.reductions,
            all: options.all,
            jobs: options.jobs.get(),
            nondet: options.nondet,
            timeout: options.timeout,
            memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
            stop: Some(interrupt::stop_flag()),
            progress: watched.then_some(&show),
            estimate: watched,
            every: None,
        },
    );
    lock().clear();
    Ok(Answer { all: options.all, ..Answer::new(verdict?, model.name(), "explore") })
}
