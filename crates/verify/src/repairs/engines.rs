//! The engines that say whether a program is right, as the search for repairs asks them.

use std::sync::{Arc, Mutex, PoisonError};

use parallax_control::Control;
use parallax_engine_bounded::Machine;
use parallax_fences::{Engine as Judge, Take};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_query::{Extensions, Final, Found, Query, Subject, Wanted};
use parallax_verdict::{Verdict, follow};

use crate::ask::first_answer;
use crate::portfolio::Terms;
use crate::registry::{exploration_and_solver, of_final_states, reporting_every};
use crate::{litmus, stack};

/// What all engines are asked.
#[derive(Clone)]
pub struct Asked<'a> {
    /// Who has answered last.
    pub answered_by: &'static str,
    pub model: Arc<Model>,
    pub properties: Vec<Property>,
    pub unroll: Option<u32>,
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
}

impl Asked<'_> {
    /// Races are known where the model has a word for them. An answer that leaves them out is whole
    /// elsewhere.
    fn known_properties(&self) -> Vec<Property> {
        let is_known =
            |property: &Property| *property != Property::Race || self.model.flags_races();
        self.properties.iter().copied().filter(is_known).collect()
    }

    fn query<'q>(&self, subject: &'q Subject, wanted: Wanted<'q>) -> Query<'q> {
        Query {
            subject,
            model: self.model.clone(),
            is_compiled: false,
            properties: self.known_properties(),
            unroll: self.unroll,
            nondet: self.nondet,
            wanted,
            extensions: Extensions::default(),
        }
    }
}

/// Whole programs. Exploration finds bad executions fast, where there are some; that there are none
/// takes all executions, and where these are many a solver may see it sooner. Under models that
/// exploration cannot use, the solver is asked alone.
pub struct Whole<'a>(pub Asked<'a>);

impl Judge for Whole<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let subject = Subject::of(program.clone());
        let wanted = if most > 1 { Wanted::All } else { Wanted::First };
        let is_compiled = Machine::of_model(&self.0.model).is_some();
        let query = Query { is_compiled, ..self.0.query(&subject, wanted) };
        let answer = first_answer(exploration_and_solver(), &query, &self.0.control, Terms::Any)?;
        self.0.answered_by = answer.engine;
        Ok(answer.verdict)
    }

    fn every(&mut self, program: &Program, take: &mut Take<'_>) -> Result<Verdict, Diagnostics> {
        let subject = Subject::of(program.clone());
        let admitting = self.0.query(&subject, Wanted::Every(&|_| true));
        let Some(engine) = reporting_every(&admitting) else {
            let verdict = self.search(program, usize::MAX)?;
            verdict.violations.iter().all(|violation| take(violation.clone().into_claimed()));
            return Ok(verdict);
        };
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
        let answer = stack::run(engine, &query, &self.0.control.clone().alone())?;
        let verdict = answer.verdict;
        let (_, refusal) = taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.0.answered_by = answer.engine;
        Ok(match refusal {
            Some(reason) => verdict.withdrawn(reason),
            None => verdict,
        })
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
        let answer = first_answer(of_final_states(), &query, &self.asked.control, Terms::Any)?;
        self.asked.answered_by = answer.engine;
        Ok(answer.verdict)
    }
}
