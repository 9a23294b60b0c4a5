//! What a thread last wrote to the locations that its invariants speak of, kept in temporaries.

use std::collections::BTreeSet;

use crate::syntax::{
    Condition, Element, ElementKind, Ex, Exp, Mark, Op, OpKind, Place, Target, Thread, elements,
};

/// The thread, with what it writes to the locations that its invariants speak of kept in temporaries,
/// and invariants on those.
pub fn with_ghosts(thread: &Thread) -> Thread {
    let ghosts = mentioned(thread);
    // Nothing was written yet, so it is anything.
    let first = ghosts.iter().map(|location| {
        let kind = OpKind::Anything { dst: ghost(location) };
        let ex = Ex::Op(Op { kind, mark: Mark::default() });
        Element { kind: ElementKind::Instr(ex), mark: thread.mark }
    });
    let elements = first.chain(all_followed(&thread.elements, &ghosts)).collect();
    Thread { elements, ..thread.clone() }
}

fn all_followed(list: &[Element], ghosts: &BTreeSet<String>) -> Vec<Element> {
    let one = |element: &Element| {
        let kind = match &element.kind {
            ElementKind::Instr(ex) => ElementKind::Instr(followed(ex, ghosts)),
            ElementKind::IfBranch(condition, body) => {
                ElementKind::IfBranch(condition.clone(), all_followed(body, ghosts))
            }
            ElementKind::DoWhile { body, invariant, condition } => ElementKind::DoWhile {
                body: all_followed(body, ghosts),
                invariant: invariant.as_ref().map(located),
                condition: condition.clone(),
            },
            other => other.clone(),
        };
        Element { kind, mark: element.mark }
    };
    list.iter().map(one).collect()
}

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
fn ghost(location: &str) -> String {
    format!("[{location}]'")
}

/// The same, on what the thread last wrote in the place of locations.
fn located(condition: &Condition) -> Condition {
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
fn followed(ex: &Ex, ghosts: &BTreeSet<String>) -> Ex {
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
                true => {
                    let kind = OpKind::Compute { dst: ghost(name), value: value.clone() };
                    let keep = Ex::Op(Op { kind, mark: operation.mark });
                    Ex::Seq(vec![keep, ex.clone()])
                }
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
