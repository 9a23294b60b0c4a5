//! What a thread last wrote to the locations that its invariants speak of, kept in temporaries.

use std::collections::BTreeSet;

use super::compute;
use crate::syntax::{Condition, ElementKind, Ex, Exp, OpKind, Place, Target, Thread, elements};

/// Locations that the invariants of a thread speak of.
pub fn mentioned(thread: &Thread) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    elements(&thread.elements, &mut |element| {
        if let ElementKind::DoWhile { invariant: Some(invariant), .. } = &element.kind {
            invariant.leaves(&mut |leaf| {
                if let Exp::Location(name) = leaf {
                    all.insert(name.clone());
                }
            });
        }
    });
    all
}

/// The temporary for what a thread last wrote to a location.
pub fn ghost(location: &str) -> String {
    format!("[{location}]'")
}

/// The same, on what the thread last wrote in the place of locations.
pub fn located(condition: &Condition) -> Condition {
    let both =
        |left: &Condition, right: &Condition| (Box::new(located(left)), Box::new(located(right)));
    match condition {
        Condition::True | Condition::False => condition.clone(),
        Condition::Compare(op, left, right) => {
            Condition::Compare(*op, located_exp(left), located_exp(right))
        }
        Condition::And(left, right) => {
            let (left, right) = both(left, right);
            Condition::And(left, right)
        }
        Condition::Or(left, right) => {
            let (left, right) = both(left, right);
            Condition::Or(left, right)
        }
        Condition::Not(inner) => Condition::Not(Box::new(located(inner))),
    }
}

fn located_exp(exp: &Exp) -> Exp {
    let boxed = |exp: &Exp| Box::new(located_exp(exp));
    match exp {
        Exp::Number(_) | Exp::Temporary(_) => exp.clone(),
        Exp::Location(name) => Exp::Temporary(ghost(name)),
        Exp::Add(left, right) => Exp::Add(boxed(left), boxed(right)),
        Exp::Sub(left, right) => Exp::Sub(boxed(left), boxed(right)),
        Exp::Choice(condition, then, otherwise) => {
            Exp::Choice(Box::new(located(condition)), boxed(then), boxed(otherwise))
        }
    }
}

/// The same, with what is written to locations that invariants speak of kept in temporaries.
pub fn followed(ex: &Ex, ghosts: &BTreeSet<String>) -> Ex {
    let all = |parts: &[Ex]| -> Vec<Ex> {
        let mut list = Vec::new();
        for part in parts {
            match followed(part, ghosts) {
                Ex::Seq(inner) => list.extend(inner),
                other => list.push(other),
            }
        }
        list
    };
    match ex {
        Ex::Nil => Ex::Nil,
        Ex::Op(operation) | Ex::Atom(operation) => {
            let OpKind::Write { dst: Place::Memory(Target::Named(name)), value } = &operation.kind
            else {
                return ex.clone();
            };
            match ghosts.contains(name) {
                true => Ex::Seq(vec![compute(&ghost(name), value.clone()), ex.clone()]),
                false => ex.clone(),
            }
        }
        Ex::Seq(parts) => Ex::Seq(all(parts)),
        Ex::Par(parts) => Ex::Par(parts.iter().map(|part| followed(part, ghosts)).collect()),
        Ex::If(condition, body, mark) => {
            Ex::If(condition.clone(), Box::new(followed(body, ghosts)), *mark)
        }
    }
}
