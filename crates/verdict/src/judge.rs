//! The last word on an execution: the model's text, run plainly by the reference interpreter on
//! the events and the relations that the replayer has found.

use parallax_memory::reference::{Inputs, evaluate};
use parallax_memory::{EventSet, InputKind, Model, Relation};

use crate::replay::Derived;
use crate::{Event, EventKind, Execution};

/// Whether the model allows the execution. The error names the axiom that does not.
pub(crate) fn judge(execution: &Execution, derived: &Derived, model: &Model) -> Result<(), String> {
    let mut inputs = Inputs { events: execution.events.len(), ..Inputs::default() };
    for input in model.inputs() {
        let name = input.name.clone();
        match input.kind {
            InputKind::Set => {
                let set = set(execution, derived, &name);
                inputs.sets.insert(name, set);
            }
            InputKind::Relation => {
                let relation = relation(execution, derived, &name);
                inputs.relations.insert(name, relation);
            }
        }
    }
    let evaluation = evaluate(model, &inputs).map_err(|error| error.to_string())?;
    if evaluation.allowed {
        return Ok(());
    }
    let axiom = evaluation.violated.and_then(|at| model.axioms().get(at));
    let axiom = axiom.map_or("the model", |axiom| axiom.name.as_str());
    Err(format!("{axiom} forbids it"))
}

fn set(execution: &Execution, derived: &Derived, name: &str) -> EventSet {
    let paired = |number: u32| derived.rmw.iter().any(|(r, w)| *r == number || *w == number);
    let holds = |number: u32, event: &Event| match (name, &event.kind) {
        ("_", _) => true,
        ("R", kind) => matches!(kind, EventKind::Read { .. }),
        ("W", kind) => matches!(kind, EventKind::Write { .. }),
        ("M", kind) => kind.footprint().is_some(),
        ("F", kind) => *kind == EventKind::Fence,
        ("IW", _) => event.thread.is_none(),
        ("RMW", _) => event.tags.contains(name) || paired(number),
        _ => event.tags.contains(name),
    };
    let mut set = EventSet::new(execution.events.len());
    for (number, event) in execution.events.iter().enumerate() {
        if holds(number as u32, event) {
            set.insert(number);
        }
    }
    set
}

fn relation(execution: &Execution, derived: &Derived, name: &str) -> Relation {
    let n = execution.events.len();
    let mut relation = Relation::new(n);
    let mut add = |a: u32, b: u32| relation.add(a as usize, b as usize);
    let given = match name {
        "rf" => Some(&execution.rf),
        "co" => Some(&execution.co),
        _ => None,
    };
    let found = match name {
        "addr" => Some(&derived.addr),
        "data" => Some(&derived.data),
        "ctrl" => Some(&derived.ctrl),
        "pick-addr" => Some(&derived.pick_addr),
        "pick-data" => Some(&derived.pick_data),
        "pick-ctrl" => Some(&derived.pick_ctrl),
        "rmw" => Some(&derived.rmw),
        "amo" => Some(&derived.amo),
        _ => None,
    };
    if let Some(pairs) = given {
        pairs.iter().for_each(|(a, b)| add(*a, *b));
    } else if let Some(pairs) = found {
        pairs.iter().for_each(|(a, b)| add(*a, *b));
    } else {
        for a in 0..n as u32 {
            for b in (0..n as u32).filter(|b| holds(execution, derived, name, a, *b)) {
                add(a, b);
            }
        }
    }
    relation
}

/// The relations that two events are in by what they are.
fn holds(execution: &Execution, derived: &Derived, name: &str, a: u32, b: u32) -> bool {
    let (x, y) = (&execution.events[a as usize], &execution.events[b as usize]);
    let internal = a == b || x.thread.is_some() && x.thread == y.thread;
    let one_access = a == b || internal && derived.access.get(&a) == derived.access.get(&b);
    match name {
        "po" => internal && a < b && !one_access,
        "int" => internal,
        "ext" => !internal,
        "si" => one_access,
        "loc" => x.kind.footprint().is_some() && x.kind.footprint() == y.kind.footprint(),
        _ => false,
    }
}
