//! The engines that say whether a program is right, as the search for fences asks them.

use std::time::{Duration, Instant};

use parallax_engine_enumerate::enumerate;
use parallax_engine_explore::explore;
use parallax_fences::Engine;
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_verdict::{Conclusion, Verdict};

use super::FencesArguments;
use crate::interrupt;
use crate::verify::litmus;

/// What is left of the time.
#[derive(Clone, Copy)]
pub struct Clock(Option<Instant>);

impl Clock {
    pub fn new(limit: Option<Duration>) -> Clock {
        Clock(limit.and_then(|limit| Instant::now().checked_add(limit)))
    }

    fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

/// Whole programs.
pub struct Exploring<'a> {
    pub model: &'a Model,
    pub properties: Vec<Property>,
    pub options: &'a FencesArguments,
    pub clock: Clock,
}

impl Engine for Exploring<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let jobs = self.options.jobs.get();
        let verdict = self.explore(program, most, jobs)?;
        // Which violation several threads find first is chance, and the repair should not be.
        match verdict.conclusion {
            Conclusion::Unsafe if jobs > 1 => self.explore(program, most, 1),
            _ => Ok(verdict),
        }
    }
}

impl Exploring<'_> {
    fn explore(&self, program: &Program, most: usize, jobs: usize) -> Result<Verdict, Diagnostics> {
        let options = self.options;
        let search = parallax_engine_explore::Options {
            properties: self.properties.clone(),
            unroll: options.unroll.0,
            all: most > 1,
            jobs,
            nondet: options.nondet,
            timeout: self.clock.left(),
            memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
            stop: Some(interrupt::stop_flag()),
            ..parallax_engine_explore::Options::default()
        };
        explore(program, self.model, &search)
    }
}

/// Litmus tests, whose final condition names what should not be there.
pub struct Enumerating<'a> {
    pub model: &'a Model,
    pub question: &'a Question,
    pub options: &'a FencesArguments,
    pub clock: Clock,
}

impl Engine for Enumerating<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let bound = self.options.unroll.0.unwrap_or(litmus::USUAL_BOUND);
        let search = parallax_engine_enumerate::Options {
            bound,
            witnesses: most,
            timeout: self.clock.left(),
            stop: Some(interrupt::stop_flag()),
            ..parallax_engine_enumerate::Options::default()
        };
        let bad = litmus::bad_states(self.question);
        let outcomes = enumerate(program, &bad, self.model, &search)?;
        Ok(litmus::verdict(self.question, outcomes, bound))
    }
}
