//! What proofs by invariants are not for.

use std::collections::BTreeSet;

use parallax_program::{Diagnostic, Diagnostics};

use super::ghosts::mentioned;
use super::written;
use crate::syntax::{
    Element, ElementKind, Ex, Mark, Op, OpKind, Structures, Target, Thread, elements,
};

/// What the method is not for.
pub struct Fitness<'a> {
    pub structures: &'a Structures,
    pub errors: &'a mut Diagnostics,
}

impl Fitness<'_> {
    fn report(&mut self, mark: Mark, message: &str, help: &str) {
        let error: Diagnostic = self.structures.source.error(mark.0, message);
        self.errors.push(error.with_help(help));
    }

    pub fn thread(&mut self, thread: &Thread) {
        let ghosts = mentioned(thread);
        elements(&thread.elements, &mut |element| match &element.kind {
            ElementKind::Label(_) => {
                let help = "write loops as do { … <invariant> } while(c)";
                self.report(element.mark, "proofs are of structured threads, without labels", help);
            }
            ElementKind::Assume(_) => {
                let message = "proofs are of programs without assumptions";
                self.report(element.mark, message, "other engines know what is assumed");
            }
            ElementKind::DoWhile { invariant: None, .. } => {
                let help = "put it, as <condition>, at the end of the loop's body";
                self.report(element.mark, "this loop has no invariant", help);
            }
            ElementKind::DoWhile { body, .. } => self.body(body),
            ElementKind::Instr(ex) => self.ghost_writes(ex, false, &ghosts),
            _ => {}
        });
    }

    fn body(&mut self, body: &[Element]) {
        self.reservations(body);
        elements(body, &mut |element| {
            if let ElementKind::DoWhile { .. } = element.kind {
                let message = "a loop inside of a loop is not supported by proofs";
                self.report(element.mark, message, "other engines repeat loops");
            }
            if let ElementKind::Instr(ex) = &element.kind {
                ex.operations(&mut |op| {
                    if matches!(written(op), Some(Target::Computed(_))) {
                        let message = "a store to a computed location in a loop is not supported";
                        self.report(op.mark, message, "name the location");
                    }
                });
            }
        });
    }

    /// A store-conditional goes with a load-linked of the same iteration, whatever happens: only
    /// the first iteration and the last have any.
    fn reservations(&mut self, body: &[Element]) {
        let mut linked: Vec<&Target> = Vec::new();
        for element in body {
            let sure: Vec<&Op> = match &element.kind {
                ElementKind::Instr(ex) => sure(ex),
                _ => Vec::new(),
            };
            elements(std::slice::from_ref(element), &mut |element| {
                let ElementKind::Instr(ex) = &element.kind else {
                    return;
                };
                ex.operations(&mut |op| match &op.kind {
                    OpKind::LoadLinked { location, .. } => {
                        if sure.iter().any(|known| std::ptr::eq(*known, op)) {
                            linked.push(location);
                        } else {
                            let message = "a load-linked under a condition, in a loop";
                            self.report(op.mark, message, "it is not supported by proofs");
                        }
                    }
                    OpKind::StoreConditional { location, .. } if !linked.contains(&location) => {
                        let message = "this store-conditional may go with another iteration";
                        let help = "put its load-linked before it, into the loop";
                        self.report(op.mark, message, help);
                    }
                    _ => {}
                });
            });
        }
    }

    /// What the thread last wrote to a location is followed where its order is known.
    fn ghost_writes(&mut self, ex: &Ex, is_unordered: bool, ghosts: &BTreeSet<String>) {
        match ex {
            Ex::Nil => {}
            Ex::Op(op) | Ex::Atom(op) => {
                let conditional = matches!(op.kind, OpKind::StoreConditional { .. });
                let is_ghost = match written(op) {
                    Some(Target::Named(name)) => ghosts.contains(name),
                    Some(Target::Computed(_)) => !ghosts.is_empty(),
                    None => false,
                };
                let is_computed = matches!(written(op), Some(Target::Computed(_)));
                if is_ghost && (conditional || is_unordered || is_computed) {
                    let message = "an invariant speaks of the location that this store may be to";
                    self.report(op.mark, message, "invariants on temporaries can say the same");
                }
            }
            Ex::Seq(parts) => {
                parts.iter().for_each(|part| self.ghost_writes(part, is_unordered, ghosts));
            }
            Ex::Par(parts) => parts.iter().for_each(|part| self.ghost_writes(part, true, ghosts)),
            Ex::If(_, body, _) => self.ghost_writes(body, is_unordered, ghosts),
        }
    }
}

/// The operations of an instruction that are done in any case, one after the other.
fn sure(ex: &Ex) -> Vec<&Op> {
    match ex {
        Ex::Op(op) => vec![op],
        Ex::Seq(parts) => parts.iter().flat_map(sure).collect(),
        Ex::Nil | Ex::Atom(_) | Ex::Par(_) | Ex::If(..) => Vec::new(),
    }
}
