//! Which registers and temporaries operations use and change.

use crate::syntax::{Condition, Element, ElementKind, Ex, Exp, Op, OpKind, Place, Target};

/// Names that are read, and names that are written.
#[derive(Clone, Default, Debug)]
pub struct Names<'a> {
    pub read: Vec<&'a str>,
    pub written: Vec<&'a str>,
}

impl<'a> Names<'a> {
    /// Those of a part of an instruction, its conditions included.
    pub fn of_ex(ex: &'a Ex) -> Names<'a> {
        let mut names = Names::default();
        names.add_ex(ex);
        names
    }

    /// Those of an element, but not of elements inside of it.
    pub fn of_element(element: &'a Element) -> Names<'a> {
        let mut names = Names::default();
        match &element.kind {
            ElementKind::Instr(ex) => names.add_ex(ex),
            ElementKind::Label(_) => {}
            ElementKind::Assume(condition)
            | ElementKind::Assert(condition)
            | ElementKind::IfBranch(condition, _) => names.add_condition(condition),
            ElementKind::DoWhile { invariant, condition, .. } => {
                invariant.iter().for_each(|invariant| names.add_condition(invariant));
                names.add_condition(condition);
            }
        }
        names
    }

    fn add_ex(&mut self, ex: &'a Ex) {
        match ex {
            Ex::Nil => {}
            Ex::Op(op) | Ex::Atom(op) => self.add_operation(op),
            Ex::Seq(parts) | Ex::Par(parts) => parts.iter().for_each(|part| self.add_ex(part)),
            Ex::If(condition, body, _) => {
                self.add_condition(condition);
                self.add_ex(body);
            }
        }
    }

    fn add_operation(&mut self, op: &'a Op) {
        match &op.kind {
            OpKind::Read { dst, src } => {
                self.add_place(src, false);
                self.written.push(dst);
            }
            OpKind::Write { dst, value } => {
                self.add_exp(value);
                self.add_place(dst, true);
            }
            OpKind::Compute { dst, value } => {
                self.add_exp(value);
                self.written.push(dst);
            }
            OpKind::Anything { dst } => self.written.push(dst),
            OpKind::Branch { condition, .. } => self.add_condition(condition),
            OpKind::Fence(_) => {}
            OpKind::LoadLinked { dst, location } => {
                self.add_target(location);
                self.written.push(dst);
            }
            OpKind::StoreConditional { flag, location, value } => {
                self.add_target(location);
                self.add_exp(value);
                self.written.push(flag);
            }
        }
    }

    fn add_place(&mut self, place: &'a Place, is_written: bool) {
        match place {
            Place::Register(name) if is_written => self.written.push(name),
            Place::Register(name) => self.read.push(name),
            Place::Memory(target) => self.add_target(target),
        }
    }

    fn add_target(&mut self, target: &'a Target) {
        if let Target::Computed(temporary) = target {
            self.read.push(temporary);
        }
    }

    fn add_exp(&mut self, exp: &'a Exp) {
        exp.leaves(&mut |leaf| self.add_leaf(leaf));
    }

    fn add_condition(&mut self, condition: &'a Condition) {
        condition.leaves(&mut |leaf| self.add_leaf(leaf));
    }

    fn add_leaf(&mut self, leaf: &'a Exp) {
        if let Exp::Temporary(name) = leaf {
            self.read.push(name);
        }
    }
}

/// Whether other threads, or memory models, can notice the operation.
pub fn is_visible(op: &Op) -> bool {
    match &op.kind {
        OpKind::Read { src: place, .. } | OpKind::Write { dst: place, .. } => {
            matches!(place, Place::Memory(_))
        }
        OpKind::Compute { .. } | OpKind::Anything { .. } | OpKind::Branch { .. } => false,
        OpKind::Fence(_) | OpKind::LoadLinked { .. } | OpKind::StoreConditional { .. } => true,
    }
}

/// Whether some operation of a part of an instruction can be noticed.
pub fn has_visible(ex: &Ex) -> bool {
    let mut found = false;
    ex.operations(&mut |op| found |= is_visible(op));
    found
}
