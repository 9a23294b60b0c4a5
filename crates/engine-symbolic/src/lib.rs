//! Symbolic execution: a program runs with symbols in place of inputs, in every order of steps that
//! makes a difference, and a solver says which inputs lead where.
//!
//! [`machine`] runs threads, with values that are numbers or terms ([`value`]), on memory whose bytes
//! are either ([`memory`]); [`oracle`] decides which sides of a branch are possible; [`search`] chooses
//! who takes the next step, by what depends on what ([`trace`]); [`races`] compares accesses; and
//! [`claim`] makes of all that an execution that the replayer confirms.

mod access;
mod buffers;
mod claim;
mod engine;
mod machine;
mod memory;
mod merge;
mod observer;
mod options;
mod oracle;
mod plan;
mod races;
mod search;
mod serve;
mod shape;
mod state;
mod trace;
mod tracked;
mod value;

use parallax_control::Control;
use parallax_machine::system::MemoryKind;
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_solver::Stop;
use parallax_verdict::{
    Counts, Endings, Reason, Scope, Searched, Verdict, Violation, confirm, inputs_tried, stopped,
};

pub use crate::engine::Symbolic;
use crate::machine::{Halt, Machine};
use crate::merge::Matching;
use crate::observer::{Found, Observer};
pub use crate::options::Options;
use crate::plan::{Plan, Way};
use crate::search::Search;

/// Runs a program on all inputs, on the machine of a model: that of `sc` where it has none.
pub fn search(program: &Program, model: &Model, options: &Options<'_>) -> Verdict {
    let mut observer = Observer::new(options);
    let memory = model.facts().machine.unwrap_or(MemoryKind::Sc);
    let Some(mut machine) = Machine::new(program, options, memory) else {
        let message = "the globals of the program are too large for this engine".to_string();
        observer.gaps.add(Reason { message, place: None, help: None });
        return verdict(program, options, observer, Vec::new(), Vec::new(), (false, false), memory);
    };
    // Races are found along paths; states that were met on others have none. Nor have they rounds that could
    // be counted.
    let by_paths = options.wants(Property::Race) || options.unroll.is_some();
    let mut plan = Plan::new(options, memory != MemoryKind::Sc, !by_paths);
    let mut violations = Vec::new();
    let mut refused = None;
    loop {
        observer = Observer::after(options, observer);
        let end = match plan.way() {
            Way::Paths { steps, depth } => {
                machine.search_to(depth);
                Search::new(&mut machine, &mut observer, steps).run()
            }
            Way::States => {
                machine.match_states();
                Matching::new(&mut machine, &mut observer).run()
            }
        };
        // A search that starts again finds the same again; others go on after what was found.
        match &end {
            Err(Halt::Escaped { .. }) => observer.forget(),
            _ => {
                for found in std::mem::take(&mut observer.found) {
                    match violation(&machine, model, &found, &options.control) {
                        Ok(violation) => violations.push(violation),
                        Err(reason) => refused = Some(reason),
                    }
                }
            }
        }
        match end {
            Err(Halt::Escaped { context }) => machine.share(context),
            Err(Halt::Long) => plan.was_too_long(),
            Err(Halt::Deep) => plan.was_too_deep(),
            Ok(()) if machine.is_shallow() => plan.was_cut(),
            Err(Halt::Unanswered(stop)) => {
                observer.gaps.add(unanswered(stop));
                break;
            }
            Err(Halt::Enough) | Ok(()) => break,
        }
    }
    if let Some(reason) = refused {
        observer.gaps = reason.into();
    }
    let asked = machine.oracle.counts;
    let notes = match asked.queries {
        0 => Vec::new(),
        _ => vec![format!(
            "inputs: {} forks, {} questions, {} of them for the solver",
            machine.forks, asked.queries, asked.solved
        )],
    };
    verdict(
        program,
        options,
        observer,
        violations,
        notes,
        (machine.is_cut, machine.may_leave),
        memory,
    )
}

fn unanswered(stop: Stop) -> Reason {
    match stop {
        Stop::Outside(stop) => stopped(stop),
        Stop::Incomplete => {
            let message = "the solver cannot decide which inputs lead along a path".to_string();
            Reason { message, place: None, help: None }
        }
    }
}

/// Nothing is reported that the replayer does not confirm.
fn violation(
    machine: &Machine<'_, '_>,
    model: &Model,
    found: &Found,
    control: &Control<'_>,
) -> Result<Violation, Reason> {
    let suspicion = claim::suspicion(machine, found).map_err(|problem| {
        let seems = format!("what seems to violate '{}' ({})", found.property, found.message);
        // The steps are taken within the limits, too.
        if let Some(stop) = control.reason() {
            let Reason { message, place, help } = stopped(stop);
            return Reason { message: format!("{seems} was not repeated: {message}"), place, help };
        }
        Reason {
            message: format!("{seems} could not be repeated: {problem}"),
            place: None,
            help: Some("this is an error of the engine: please report it".into()),
        }
    })?;
    confirm(machine.code.program, model, suspicion, control)
}

fn verdict(
    program: &Program,
    options: &Options<'_>,
    observer: Observer<'_>,
    violations: Vec<Violation>,
    mut notes: Vec<String>,
    (is_cut, may_leave): (bool, bool),
    memory: MemoryKind,
) -> Verdict {
    let Observer { mut gaps, ended, counts, .. } = observer;
    let Counts { executions, blocked, .. } = counts;
    let sees = |property: &&Property| {
        let is_race = **property == Property::Race;
        Property::ALL.contains(property) && (!is_race || memory == MemoryKind::Sc)
    };
    let properties: Vec<Property> = options.properties.iter().filter(sees).copied().collect();
    if violations.is_empty() {
        gaps.unchecked(&options.properties, &properties);
        let cut = options.unroll.filter(|_| may_leave);
        Endings { executions, blocked, cut, ..ended }.weigh(&mut gaps, &mut notes);
    }
    let scope = match options.unroll.filter(|_| is_cut) {
        Some(bound) => Scope::Bounded(bound),
        None => Scope::Complete,
    };
    let all = options.all;
    let searched = Searched { scope, all, gaps, properties, counts, violations, notes };
    searched.conclude().restricted(inputs_tried(program, options.nondet))
}
