//! Engines as they take part in a race. What one engine has proved, another one need not look for: where a
//! program has no race, one that does not look for races can answer for all that was asked. And what one
//! has found that is no violation by the rules of a competition ends nobody else's search.

use std::any::TypeId;

use parallax_control::Control;
use parallax_engine_bounded::Bounded;
use parallax_engine_explore::Explore;
use parallax_engine_states::States;
use parallax_engine_static::Static;
use parallax_engine_symbolic::Symbolic;
use parallax_program::{Diagnostic, Diagnostics, Property};
use parallax_query::{Answer, Engine, Query, Tracked};
use parallax_verdict::{Conclusion, Reason, Scope, Violation};

use crate::competition::{HIDDEN, MAY_BE_TRACKED, is_lost, may_hide_leaks};

/// The analysis, about one claim on a program that does nothing undefined besides.
pub static PROOFS: Proofs = Proofs;

/// Proofs that assertions hold, that nothing overflows or that memory is used as it must be, for tasks
/// of competitions. Races are for the analysis itself.
pub struct Proofs;

impl Engine for Proofs {
    fn name(&self) -> &'static str {
        Static.name()
    }

    fn summary(&self) -> &'static str {
        Static.summary()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        Static.admits(query)
    }

    fn extensions(&self) -> Vec<TypeId> {
        Static.extensions()
    }

    fn looks_for(&self, property: Property) -> bool {
        property != Property::Race && Static.looks_for(property)
    }

    fn counts_executions(&self) -> bool {
        Static.counts_executions()
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        Static.run(query, control)
    }
}

/// Engines for those whom only objects interest that are lost.
pub static EXPLORE_LOST: Lost = Lost(&Explore);
pub static STATES_LOST: Lost = Lost(&States);
pub static SYMBOLIC_LOST: Lost = Lost(&Symbolic);
pub static BOUNDED_LOST: Lost = Lost(&Bounded);

/// Whether an engine looks for objects that nothing leads to wherever a program ends.
pub(crate) fn sees_lost(engine: &dyn Engine) -> bool {
    engine.extensions().contains(&TypeId::of::<Tracked>())
}

/// An engine whose search ends at an object that is never freed, though something may point to it:
/// that is no answer, and others go on.
pub struct Lost(&'static dyn Engine);

impl Engine for Lost {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn summary(&self) -> &'static str {
        self.0.summary()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        self.0.admits(query)
    }

    fn extensions(&self) -> Vec<TypeId> {
        self.0.extensions()
    }

    fn looks_for(&self, property: Property) -> bool {
        self.0.looks_for(property)
    }

    fn counts_executions(&self) -> bool {
        self.0.counts_executions()
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let mut answer = self.0.run(query, control)?;
        let program = query.subject.program.as_ref();
        let is_safe = answer.verdict.conclusion() == Conclusion::Safe;
        if is_safe && !sees_lost(self.0) && may_hide_leaks(program) {
            let reason = Reason { message: HIDDEN.to_string(), place: None, help: None };
            answer.verdict = answer.verdict.withdrawn(reason);
            return Ok(answer);
        }
        let is_kept = |violation: &Violation| {
            violation.property == Property::Leak && !is_lost(program, violation)
        };
        let violations = &answer.verdict.violations;
        if !violations.is_empty() && violations.iter().all(is_kept) {
            let place = violations[0].place.clone();
            let reason = Reason { message: MAY_BE_TRACKED.to_string(), place, help: None };
            answer.verdict = answer.verdict.withdrawn(reason);
        }
        Ok(answer)
    }
}

/// The search through states, of programs that are proved to have no race.
pub static STATES: RaceFree = RaceFree(&States);

/// An engine that does not look for races, for programs that have none: the analysis is asked first.
pub struct RaceFree(&'static dyn Engine);

impl Engine for RaceFree {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn summary(&self) -> &'static str {
        self.0.summary()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        self.0.admits(query).and_then(|()| Static.admits(query))
    }

    fn extensions(&self) -> Vec<TypeId> {
        self.0.extensions()
    }

    fn looks_for(&self, property: Property) -> bool {
        property == Property::Race || self.0.looks_for(property)
    }

    fn counts_executions(&self) -> bool {
        self.0.counts_executions()
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        let races = Query { properties: vec![Property::Race], ..query.clone() };
        let analysed = Static.run(&races, control)?;
        let is_complete = analysed.verdict.scope == Some(Scope::Complete);
        if analysed.verdict.conclusion() != Conclusion::Safe || !is_complete {
            return Ok(analysed);
        }
        let mut others = query.clone();
        others.properties.retain(|property| *property != Property::Race);
        let mut answer = self.0.run(&others, control)?;
        answer.verdict.properties.push(Property::Race);
        answer.verdict.properties.sort_unstable();
        answer.verdict.notes.extend(analysed.verdict.notes);
        let note = format!("no data race: proved by the engine '{}'", Static.name());
        answer.verdict.notes.push(note);
        Ok(answer)
    }
}
