//! What proofs by invariants are not for.

use std::collections::BTreeSet;

use parallax_program::{Diagnostic, Diagnostics};

use super::ghosts::mentioned;
use crate::syntax::{
    ElementKind, Ex, Mark, Op, OpKind, Place, Structures, Target, Thread, elements,
};

pub struct Fitness<'a> {
    pub structures: &'a Structures,
    pub errors: &'a mut Diagnostics,
}

/// The location that an operation may write to.
fn written(op: &Op) -> Option<&Target> {
    match &op.kind {
        OpKind::Write { dst: Place::Memory(target), .. } => Some(target),
        OpKind::StoreConditional { location, .. } => Some(location),
        _ => None,
    }
}

impl Fitness<'_> {
    fn report(&mut self, mark: Mark, message: &str, help: &str) {
        let error: Diagnostic = self.structures.source.error(mark.0, message);
        self.errors.push(error.with_help(help));
    }

    pub fn thread(&mut self, thread: &Thread) {
        let ghosts = mentioned(thread);
        elements(&thread.elements, &mut |element| match &element.kind {
            ElementKind::Assume(_) => {
                let message = "proofs are of programs without assumptions";
                self.report(element.mark, message, "other engines know what is assumed");
            }
            ElementKind::Instr(ex) => self.ghost_writes(ex, false, &ghosts),
            _ => {}
        });
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
