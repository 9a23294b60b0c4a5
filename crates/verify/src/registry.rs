//! The engines there are, and which of them are asked where nobody has named one. A new one is added
//! here, and nowhere else.

use std::str::FromStr;

use parallax_engine_abstract::Abstract;
use parallax_engine_bounded::Bounded;
use parallax_engine_enumerate::Enumerate;
use parallax_engine_explore::Explore;
use parallax_engine_inductive::Inductive;
use parallax_engine_states::{Schedules, States};
use parallax_engine_static::{Defined, Static};
use parallax_engine_symbolic::Symbolic;
use parallax_engine_view::{OfStates, View};
use parallax_program::Property;
use parallax_query::{Engine, Query, Tracked};
use parallax_verdict::inputs_tried;

use crate::input::Kind;
use crate::portfolio::{Entrant, Start};
use crate::relief;

/// In the order in which people see them.
pub static ENGINES: [&dyn Engine; 9] =
    [&Explore, &States, &Symbolic, &Abstract, &Bounded, &View, &Inductive, &Static, &Enumerate];

/// Who is to answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// Whoever answers first.
    #[default]
    Auto,
    /// The engine of this name.
    Named(&'static str),
}

impl Choice {
    /// The engine that was named, if one was.
    pub fn named(self) -> Option<&'static dyn Engine> {
        match self {
            Choice::Auto => None,
            Choice::Named(name) => named(name),
        }
    }
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Choice, String> {
        if text == "auto" {
            return Ok(Choice::Auto);
        }
        let names = ENGINES.iter().map(|engine| engine.name());
        let found = names.clone().find(|name| *name == text).map(Choice::Named);
        let names: Vec<&str> = names.collect();
        found.ok_or_else(|| {
            format!("there is no engine '{text}'; engines are auto, {}", names.join(", "))
        })
    }
}

/// An engine of the registry.
pub fn named(name: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.name() == name)
}

/// The search through states, and symbolic execution, join when the easy programs are through.
const SOON: Start = Start::At(20_000_000);

/// Exploration has no solver beside it for so long: most programs are answered by then.
const HEAD_START: Start = Start::At(300_000_000);

/// Abstraction refinement comes in where the others would not end: four of them, if the model has a
/// machine. Elsewhere there are two, and the solver alone where inputs may have any value.
const PROOFS_START: Start = Start::At(1_500_000_000);

/// The engines that may know, cheap and complete ones first.
pub(crate) fn entrants(kind: Kind, query: &Query<'_>) -> Vec<Entrant<'static>> {
    let has_machine = query.model.facts().machine.is_some();
    let is_bounded = query.unroll.is_some();
    let is_plain = query.extensions.are_among(&Enumerate.extensions());
    match kind {
        Kind::Litmus if is_plain => vec![first(&Enumerate)],
        Kind::Litmus => vec![first(&States), last(&Bounded)],
        Kind::Structures if has_machine && is_bounded => vec![first(&Explore), last(&Bounded)],
        Kind::Structures => vec![first(&States), last(&Enumerate), last(&Bounded)],
        Kind::Machine if has_machine && !is_bounded => {
            vec![first(&States), last(&Explore), last(&Bounded)]
        }
        Kind::Machine => vec![first(&Explore), last(&Bounded)],
        Kind::C | Kind::Text => of_programs(query),
    }
}

/// Those for programs. That there are no races is proved in milliseconds, if at all; then the search
/// through states, which does not look for them, may answer for the rest.
fn of_programs(query: &Query<'_>) -> Vec<Entrant<'static>> {
    let is_about_races = query.properties == [Property::Race];
    // Whoever wants a schedule has one of any violation, whether there are races or not.
    let wants_schedule = query.extensions.get::<Schedules>().is_some();
    let of_states = match query.properties.contains(&Property::Race) {
        true if is_about_races => first(&Static),
        true if !wants_schedule => joining(&relief::STATES, SOON),
        _ => joining(&States, SOON),
    };
    // Exploration cannot follow inputs that may have any value.
    let has_open_inputs = has_open_inputs(query);
    let of_inputs = if has_open_inputs { Start::At(0) } else { SOON };
    let of_proofs = match query.model.facts().machine {
        _ if has_open_inputs => SOON,
        None => HEAD_START,
        Some(_) => PROOFS_START,
    };
    let of_graphs = if is_about_races { SOON } else { Start::At(0) };
    let mut all = match query.extensions.get::<Tracked>() {
        Some(_) if query.properties.contains(&Property::Leak) => vec![
            joining(&relief::EXPLORE_LOST, of_graphs),
            joining(&relief::SYMBOLIC_LOST, of_inputs),
            joining(&relief::STATES_LOST, SOON),
            joining(&relief::BOUNDED_LOST, HEAD_START),
        ],
        _ => vec![
            joining(&Explore, of_graphs),
            joining(&Symbolic, of_inputs),
            of_states,
            joining(&Bounded, HEAD_START),
        ],
    };
    // Where reads and writes are issued before they are performed, others leave out more.
    let is_published = query.model.facts().publishing.is_some() && !wants_schedule;
    all.retain(|entrant| !is_published || entrant.engine.name() != States.name());
    all.push(joining(&Abstract, of_proofs));
    all.push(joining(&OfStates, HEAD_START));
    if query.extensions.get::<Defined>().is_some() && is_one_claim(&query.properties) {
        all.push(joining(&relief::PROOFS, SOON));
    }
    all
}

/// Whether the analysis can answer for all of some properties at once, other than races.
fn is_one_claim(properties: &[Property]) -> bool {
    let of_memory = |property: &Property| matches!(property, Property::Memory | Property::Leak);
    match properties {
        [Property::Assert | Property::Overflow] => true,
        several => !several.is_empty() && several.iter().all(of_memory),
    }
}

/// Exploration, and a solver beside it where that takes long.
pub(crate) fn exploration_and_solver() -> Vec<Entrant<'static>> {
    vec![first(&Explore), joining(&Bounded, HEAD_START)]
}

/// Whoever knows final states.
pub(crate) fn of_final_states() -> Vec<Entrant<'static>> {
    vec![first(&Enumerate)]
}

/// Who reports every bad execution of a program.
pub(crate) fn reporting_every(query: &Query<'_>) -> Option<&'static dyn Engine> {
    let reports = |it: &&dyn Engine| it.reports_every() && it.admits(query).is_ok();
    ENGINES.into_iter().find(reports)
}

fn joining(engine: &'static dyn Engine, start: Start) -> Entrant<'static> {
    Entrant { engine, start }
}

fn first(engine: &'static dyn Engine) -> Entrant<'static> {
    joining(engine, Start::At(0))
}

fn last(engine: &'static dyn Engine) -> Entrant<'static> {
    joining(engine, Start::Last)
}

/// Whether inputs may have any value.
fn has_open_inputs(query: &Query<'_>) -> bool {
    let program = query.subject.program.as_ref();
    query.nondet.is_none()
        && program.is_some_and(|program| inputs_tried(program, Some((0, 0))).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names_of_their_own() {
        for engine in ENGINES {
            let found = named(engine.name()).map(|found| found.name());
            assert_eq!(found, Some(engine.name()));
            assert_eq!(engine.name().parse(), Ok(Choice::Named(engine.name())));
        }
        let mut names: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ENGINES.len());
        assert!("views".parse::<Choice>().is_err_and(|error| error.contains("explore")));
    }
}
