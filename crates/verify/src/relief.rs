//! What one engine has proved, the others need not look for: where a program has no race, one that does
//! not look for races can answer for all that was asked.

use std::any::TypeId;

use parallax_control::Control;
use parallax_engine_states::States;
use parallax_engine_static::{Defined, Static};
use parallax_program::{Diagnostic, Diagnostics, Property};
use parallax_query::{Answer, Engine, Query};
use parallax_verdict::{Conclusion, Scope};

use crate::stack;

/// What the analysis says about races, where it can be asked.
/// A task of a competition is taken to do nothing undefined but what it asks about.
pub fn analyse(query: &Query<'_>, control: &Control<'_>, is_task: bool) -> Option<Answer> {
    let engine = &Static;
    let is_asked = query.properties.contains(&Property::Race);
    if !is_asked || !query.extensions.is_empty() || engine.admits(query).is_err() {
        return None;
    }
    let mut races = Query { properties: vec![Property::Race], ..query.clone() };
    if is_task {
        races.extensions = races.extensions.with(Defined);
    }
    stack::run(engine, &races, control).ok()
}

pub fn is_proved(answer: &Answer) -> bool {
    let verdict = &answer.verdict;
    verdict.conclusion() == Conclusion::Safe && verdict.scope == Some(Scope::Complete)
}

/// An answer, with what the analysis could not prove where nobody can decide and nothing else was asked.
pub fn noted(mut answer: Answer, analysed: &Answer, query: &Query<'_>) -> Answer {
    let is_open = answer.verdict.conclusion() == Conclusion::Unknown;
    if let (true, Some(reason)) = (is_open, &analysed.verdict.reason)
        && query.properties == [Property::Race]
    {
        let at = reason.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let note = format!("'{}' cannot decide: {}{at}", analysed.engine, reason.message);
        answer.verdict.notes.push(note);
    }
    answer
}

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
        let mut query = query.clone();
        query.extensions = query.extensions.with(Defined);
        Static.run(&query, control)
    }
}

/// The search through states, of a program without races.
pub static STATES: RaceFree = RaceFree(&States);

/// An engine that does not look for races, for programs that have none.
pub struct RaceFree(&'static dyn Engine);

impl Engine for RaceFree {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        self.0.admits(query)
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
        let mut others = query.clone();
        others.properties.retain(|property| *property != Property::Race);
        let mut answer = self.0.run(&others, control)?;
        answer.verdict.properties.push(Property::Race);
        answer.verdict.properties.sort_unstable();
        answer.verdict.notes.push("no data race: proved by the engine 'static'".to_string());
        Ok(answer)
    }
}
