//! What one engine has proved, another one need not look for: where a program has no race, one that does
//! not look for races can answer for all that was asked.

use std::any::TypeId;

use parallax_control::Control;
use parallax_engine_states::States;
use parallax_engine_static::Static;
use parallax_program::{Diagnostic, Diagnostics, Property};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Scope};

/// The analysis, about assertions of a program that does nothing undefined.
pub static ASSERTIONS: Assertions = Assertions;

/// Proofs that assertions hold, for tasks of competitions.
pub struct Assertions;

impl Engine for Assertions {
    fn name(&self) -> &'static str {
        Static.name()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        Static.admits(query)
    }

    fn extensions(&self) -> Vec<TypeId> {
        Static.extensions()
    }

    fn looks_for(&self, property: Property) -> bool {
        property == Property::Assert
    }

    fn counts_executions(&self) -> bool {
        Static.counts_executions()
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        Static.run(query, control)
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
        answer.verdict.notes.push("no data race: proved by the engine 'static'".to_string());
        Ok(answer)
    }
}
