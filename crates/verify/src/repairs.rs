//! The engines that say whether a program is right, as the search for repairs asks them.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use parallax_control::{Control, Progress};
use parallax_engine_bounded::{Bounded, Machine, compile};
use parallax_engine_enumerate::Enumerate;
use parallax_engine_explore::{Explore, can_explore};
use parallax_fences::{Engine as Judge, Take};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_query::{Engine, Extensions, Final, Found, Query, Subject, Wanted};
use parallax_verdict::{Conclusion, Scope, Verdict, follow};

use crate::litmus;
use crate::stack::{self, STACK_BYTES};

/// What all engines are asked.
#[derive(Clone)]
pub struct Asked<'a> {
    pub model: Arc<Model>,
    pub properties: Vec<Property>,
    pub unroll: Option<u32>,
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
}

impl Asked<'_> {
    fn query<'q>(&self, subject: &'q Subject, wanted: Wanted<'q>) -> Query<'q> {
        Query {
            subject,
            model: self.model.clone(),
            is_compiled: false,
            properties: self.properties.clone(),
            unroll: self.unroll,
            nondet: self.nondet,
            wanted,
            extensions: Extensions::default(),
        }
    }
}

/// Whole programs. Exploration finds bad executions fast, where there are some; that there are none
/// takes all executions, and where these are many a solver may see it sooner.
pub struct Exploring<'a>(pub Asked<'a>);

/// So many executions are explored before a solver is asked as well.
const BRIEFLY: u64 = 2_000;

/// So long a solver is asked what exploration could not decide, where no other time is given.
const SECOND_TRY: Duration = Duration::from_secs(60);

impl Judge for Exploring<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let subject = Subject::of(program.clone());
        let (verdict, is_over) = self.brief(&subject)?;
        if is_over {
            let is_decided = verdict.conclusion() != Conclusion::Unknown;
            return Ok(if is_decided { verdict } else { self.second_try(&subject, verdict) });
        }
        match self.0.unroll.is_none() && self.0.nondet.is_none() {
            true => self.race(&subject, most, &verdict.properties),
            false => self.explore(&subject, most, &self.0.control),
        }
    }

    fn every(&mut self, program: &Program, take: &mut Take<'_>) -> Result<Verdict, Diagnostics> {
        let subject = Subject::of(program.clone());
        let taken = Mutex::new((take, None));
        let every = |found: Found| {
            let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
            let (take, refusal) = &mut *taken;
            match found {
                Found::Restart => *refusal = None,
                Found::Suspect(suspicion) => match follow(program, &self.0.model, suspicion) {
                    Ok(violation) => return take(violation),
                    Err(reason) => *refusal = Some(reason),
                },
            }
            true
        };
        let query = self.0.query(&subject, Wanted::Every(&every));
        let verdict = Explore.run(&query, &self.0.control.clone().alone())?.verdict;
        let (_, refusal) = taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(match refusal {
            Some(reason) => verdict.withdrawn(reason),
            None => verdict,
        })
    }
}

impl Exploring<'_> {
    /// What a few executions show, and whether there are no others.
    fn brief(&self, subject: &Subject) -> Result<(Verdict, bool), Diagnostics> {
        let enough = self.0.control.cancel.child();
        let progress = |progress: &Progress| {
            if progress.executions + progress.blocked > BRIEFLY {
                enough.cancel();
            }
        };
        let control = Control { progress: Some(&progress), ..self.0.control.clone().alone() };
        let control = control.until(enough.clone());
        let verdict = Explore.run(&self.0.query(subject, Wanted::First), &control)?.verdict;
        let is_over = verdict.conclusion() != Conclusion::Unknown || !enough.is_cancelled();
        Ok((verdict, is_over))
    }

    fn explore(
        &self,
        subject: &Subject,
        most: usize,
        control: &Control<'_>,
    ) -> Result<Verdict, Diagnostics> {
        let wanted = if most > 1 { Wanted::All } else { Wanted::First };
        let query = self.0.query(subject, wanted);
        Ok(stack::run(&Explore, &query, control)?.verdict)
    }

    /// What a solver says where exploration cannot decide, in what is left of the time.
    fn second_try(&self, subject: &Subject, explored: Verdict) -> Verdict {
        let control = self.0.control.clone().within(Some(SECOND_TRY));
        let query = Query {
            properties: explored.properties.clone(),
            ..self.0.query(subject, Wanted::First)
        };
        let Ok(solved) = Bounded.run(&query, &control) else { return explored };
        let solved = solved.verdict;
        let mut properties = explored.properties.iter();
        let says_as_much = match solved.conclusion() {
            Conclusion::Unsafe => true,
            Conclusion::Safe => properties.all(|property| solved.properties.contains(property)),
            Conclusion::Unknown => false,
        };
        if says_as_much { solved } else { explored }
    }

    /// Exploration and a solver side by side. Bad executions are those that exploration finds, so
    /// that it is no matter of chance which.
    fn race(
        &self,
        subject: &Subject,
        most: usize,
        properties: &[Property],
    ) -> Result<Verdict, Diagnostics> {
        let over = self.0.control.cancel.child();
        let control = self.0.control.clone().until(over.clone());
        thread::scope(|scope| {
            let solver = thread::Builder::new().stack_size(STACK_BYTES);
            let solver = solver.spawn_scoped(scope, || {
                let proof = self.proof(subject, properties, &control);
                if proof.is_some() {
                    over.cancel();
                }
                proof
            });
            let explored = self.explore(subject, most, &control);
            let is_decided = |verdict: &Verdict| verdict.conclusion() != Conclusion::Unknown;
            let is_decided = explored.as_ref().map_or(true, is_decided);
            if is_decided {
                over.cancel();
            }
            let proof = solver.ok().and_then(|solver| solver.join().ok()).flatten();
            match proof {
                Some(proof) if !is_decided => Ok(proof),
                _ => explored,
            }
        })
    }

    /// A verdict, if a solver finds out that all executions have these properties.
    fn proof(
        &self,
        subject: &Subject,
        properties: &[Property],
        control: &Control<'_>,
    ) -> Option<Verdict> {
        let query =
            Query { properties: properties.to_vec(), ..self.0.query(subject, Wanted::First) };
        let verdict = Bounded.run(&query, control).ok()?.verdict;
        let is_proof = verdict.conclusion() == Conclusion::Safe
            && verdict.scope == Some(Scope::Complete)
            && properties.iter().all(|property| verdict.properties.contains(property));
        is_proof.then_some(verdict)
    }
}

/// Whole programs under models that exploration cannot use.
struct Solving<'a>(pub Asked<'a>);

impl Judge for Solving<'_> {
    fn search(&mut self, program: &Program, _: usize) -> Result<Verdict, Diagnostics> {
        let subject = Subject::of(program.clone());
        let query = Query {
            is_compiled: Machine::of_model(&self.0.model).is_some(),
            ..self.0.query(&subject, Wanted::First)
        };
        Ok(Bounded.run(&query, &self.0.control)?.verdict)
    }
}

/// Litmus tests, whose final condition names what should not be there.
pub struct Enumerating<'a> {
    pub asked: Asked<'a>,
    pub question: &'a Question,
}

impl Judge for Enumerating<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let finals = Final {
            program: program.clone(),
            bad: litmus::bad_states(self.question),
            wording: litmus::wording(self.question),
        };
        let subject = Subject { finals: Some(finals), ..Subject::default() };
        let wanted = if most > 1 { Wanted::Every(&|_| true) } else { Wanted::First };
        let query = self.asked.query(&subject, wanted);
        Ok(Enumerate.run(&query, &self.asked.control)?.verdict)
    }
}

/// Who judges programs in C, and the name of the engine: the one that asks a solver where exploration
/// cannot use the model.
pub fn judge_of_c(asked: Asked<'_>) -> (Box<dyn Judge + '_>, &'static str) {
    let model = &asked.model;
    match can_explore(model) {
        Ok(()) => (Box::new(Exploring(asked)), "explore"),
        Err(_) => (Box::new(Solving(asked)), "bounded"),
    }
}

/// Makes programs in C those of a machine, where the model is one of a machine.
pub fn compiler(model: &Model) -> Option<impl Fn(&Program) -> Result<Program, Diagnostics>> {
    let machine = Machine::of_model(model)?;
    Some(move |program: &Program| compile(program, machine).map_err(|error| vec![error]))
}
