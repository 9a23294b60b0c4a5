//! The engines that say whether a program is right, as the search for fences asks them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use parallax_engine_bounded::{Machine, compile};
use parallax_engine_enumerate::enumerate;
use parallax_engine_explore::{Options, Progress, Told, explore};
use parallax_fences::{Engine, Take};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_verdict::{Conclusion, Scope, Verdict, follow};

use super::FencesArguments;
use crate::interrupt;
use crate::verify::{SECOND_TRY, STACK_BYTES, litmus};

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

/// Whole programs. Exploration finds bad executions fast, where there are some; that there are none
/// takes all executions, and where these are many a solver may see it sooner.
pub struct Exploring<'a> {
    pub model: &'a Model,
    pub properties: Vec<Property>,
    pub options: &'a FencesArguments,
    pub clock: Clock,
}

/// So many executions are explored before a solver is asked as well.
const BRIEFLY: u64 = 2_000;

impl Engine for Exploring<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let (verdict, is_over) = self.brief(program)?;
        if is_over {
            let is_told = verdict.conclusion() != Conclusion::Unknown;
            return Ok(if is_told { verdict } else { self.second_try(program, verdict) });
        }
        match self.options.unroll.0.is_none() && self.options.nondet.is_none() {
            true => self.race(program, most, &verdict.properties),
            false => self.explore(program, most, interrupt::stop_flag()),
        }
    }

    fn every(&mut self, program: &Program, take: &mut Take<'_>) -> Result<Verdict, Diagnostics> {
        let taken = Mutex::new((take, None));
        let every = |told: Told| {
            let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
            let (take, refusal) = &mut *taken;
            match told {
                Told::Anew => *refusal = None,
                Told::Found(suspicion) => match follow(program, self.model, suspicion) {
                    Ok(violation) => return take(violation),
                    Err(reason) => *refusal = Some(reason),
                },
            }
            true
        };
        let options = Options { all: true, every: Some(&every), ..self.settings() };
        let verdict = explore(program, self.model, &options)?;
        let (_, refusal) = taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(match refusal {
            Some(reason) => verdict.withdrawn(reason),
            None => verdict,
        })
    }
}

impl Exploring<'_> {
    fn settings(&self) -> Options<'_> {
        let options = self.options;
        Options {
            properties: self.properties.clone(),
            unroll: options.unroll.0,
            nondet: options.nondet,
            timeout: self.clock.left(),
            memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
            stop: Some(interrupt::stop_flag()),
            ..Options::default()
        }
    }

    /// What a few executions tell, and whether there are no others.
    fn brief(&self, program: &Program) -> Result<(Verdict, bool), Diagnostics> {
        let enough = AtomicBool::new(false);
        let progress = |progress: &Progress| {
            let are_many = progress.executions + progress.blocked > BRIEFLY;
            enough.fetch_or(are_many, Ordering::Relaxed);
            stop_if_interrupted(&enough);
        };
        let options = Options { stop: Some(&enough), progress: Some(&progress), ..self.settings() };
        let verdict = explore(program, self.model, &options)?;
        let is_over = verdict.conclusion() != Conclusion::Unknown || !enough.into_inner();
        Ok((verdict, is_over))
    }

    fn explore(
        &self,
        program: &Program,
        most: usize,
        stop: &AtomicBool,
    ) -> Result<Verdict, Diagnostics> {
        let jobs = self.options.jobs.get();
        let progress = |_: &Progress| stop_if_interrupted(stop);
        let options = Options {
            all: most > 1,
            jobs,
            stop: Some(stop),
            progress: Some(&progress),
            ..self.settings()
        };
        let verdict = explore(program, self.model, &options)?;
        // Which violation several threads find first is chance, and the repair should not be.
        match verdict.conclusion() {
            Conclusion::Unsafe if jobs > 1 => {
                explore(program, self.model, &Options { jobs: 1, ..options })
            }
            _ => Ok(verdict),
        }
    }

    /// What a solver says where exploration cannot tell, in what is left of the time.
    fn second_try(&self, program: &Program, explored: Verdict) -> Verdict {
        let left = self.clock.left().map_or(SECOND_TRY, |left| left.min(SECOND_TRY));
        let solving = self.solving(&explored.properties, Clock::new(Some(left)));
        let Ok(solved) = solving.verdict(program, interrupt::stop_flag()) else {
            return explored;
        };
        let mut properties = explored.properties.iter();
        let says_as_much = match solved.conclusion() {
            Conclusion::Unsafe => true,
            Conclusion::Safe => properties.all(|property| solved.properties.contains(property)),
            Conclusion::Unknown => false,
        };
        if says_as_much { solved } else { explored }
    }

    fn solving(&self, properties: &[Property], clock: Clock) -> Solving<'_> {
        let properties = properties.to_vec();
        Solving { model: self.model, machine: None, properties, options: self.options, clock }
    }

    /// Exploration and a solver side by side. Bad executions are those that exploration finds, so
    /// that it is no matter of chance which.
    fn race(
        &self,
        program: &Program,
        most: usize,
        properties: &[Property],
    ) -> Result<Verdict, Diagnostics> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let solver = thread::Builder::new().stack_size(STACK_BYTES);
            let solver = solver.spawn_scoped(scope, || {
                let proof = self.proof(program, properties, &over);
                over.fetch_or(proof.is_some(), Ordering::Relaxed);
                proof
            });
            let explored = self.explore(program, most, &over);
            let is_told = |verdict: &Verdict| verdict.conclusion() != Conclusion::Unknown;
            let is_told = explored.as_ref().map_or(true, is_told);
            over.fetch_or(is_told, Ordering::Relaxed);
            let proof = solver.ok().and_then(|solver| solver.join().ok()).flatten();
            match proof {
                Some(proof) if !is_told => Ok(proof),
                _ => explored,
            }
        })
    }

    /// A verdict, if a solver finds out that all executions have these properties.
    fn proof(
        &self,
        program: &Program,
        properties: &[Property],
        stop: &AtomicBool,
    ) -> Option<Verdict> {
        let verdict = self.solving(properties, self.clock).verdict(program, stop).ok()?;
        let is_proof = verdict.conclusion() == Conclusion::Safe
            && verdict.scope == Some(Scope::Complete)
            && properties.iter().all(|property| verdict.properties.contains(property));
        is_proof.then_some(verdict)
    }
}

fn stop_if_interrupted(stop: &AtomicBool) {
    stop.fetch_or(interrupt::stop_flag().load(Ordering::Relaxed), Ordering::Relaxed);
}

/// Whole programs under models that exploration cannot use.
pub struct Solving<'a> {
    pub model: &'a Model,
    /// What the program is compiled for.
    pub machine: Option<Machine>,
    pub properties: Vec<Property>,
    pub options: &'a FencesArguments,
    pub clock: Clock,
}

impl Engine for Solving<'_> {
    fn search(&mut self, program: &Program, _: usize) -> Result<Verdict, Diagnostics> {
        self.verdict(program, interrupt::stop_flag())
    }
}

impl Solving<'_> {
    fn verdict(&self, program: &Program, stop: &AtomicBool) -> Result<Verdict, Diagnostics> {
        let compiled = self.machine.map(|machine| compile(program, machine)).transpose();
        let compiled = compiled.map_err(|error| vec![error])?;
        let options = parallax_engine_bounded::Options {
            properties: self.properties.clone(),
            unroll: self.options.unroll.0,
            timeout: self.clock.left(),
            memory_limit: self.options.memory_limit.map(|limit| u64::from(limit.get())),
            stop: Some(stop),
            nondet: self.options.nondet,
            ..parallax_engine_bounded::Options::default()
        };
        let program = compiled.as_ref().unwrap_or(program);
        Ok(parallax_engine_bounded::verify(program, self.model, &options)?.verdict)
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
