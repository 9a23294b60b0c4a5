//! What the grammar does not say: labels exist, temporaries are assigned somewhere, the two
//! dialects do not mix, branches end their instructions, and operations whose order is open do
//! not get into each other's way.

use std::collections::HashSet;

use parallax_program::{Diagnostic, Diagnostics, SourceFile};

use crate::names::Names;
use crate::syntax::{Element, ElementKind, Ex, Mark, Op, OpKind, Structures, Thread, elements};

/// All that is wrong with what was read, thread by thread.
pub fn check(structures: &Structures) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::new();
    for thread in &structures.threads {
        let mut checker = Checker { source: &structures.source, errors: Vec::new() };
        checker.labels(thread);
        checker.dialect(thread);
        checker.temporaries(structures, thread);
        elements(&thread.elements, &mut |element| {
            if let ElementKind::Instr(ex) = &element.kind {
                checker.branches(ex, true);
                checker.orders(ex, element.mark);
            }
        });
        errors.append(&mut checker.errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

struct Checker<'a> {
    source: &'a SourceFile,
    errors: Diagnostics,
}

const DIALECTS: &str = "a thread has either label and branch, or ifBr and do";

impl Checker<'_> {
    fn report(&mut self, mark: Mark, message: impl Into<String>) {
        self.errors.push(self.source.error(mark.0, message));
    }

    fn report_with(&mut self, mark: Mark, message: &str, help: &str) {
        let error: Diagnostic = self.source.error(mark.0, message);
        self.errors.push(error.with_help(help));
    }

    fn labels(&mut self, thread: &Thread) {
        let mut placed = HashSet::new();
        elements(&thread.elements, &mut |element| {
            if let ElementKind::Label(label) = &element.kind
                && !placed.insert(label.as_str())
            {
                let message = format!("the label '{label}' is here for the second time");
                self.report(element.mark, message);
            }
        });
        each_operation(&thread.elements, &mut |op| {
            if let OpKind::Branch { label, .. } = &op.kind
                && !placed.contains(label.as_str())
            {
                self.report(op.mark, format!("there is no label '{label}' in this thread"));
            }
        });
    }

    /// A thread with `ifBr` or `do` is structured: it has no branches and no labels.
    fn dialect(&mut self, thread: &Thread) {
        let mut is_structured = false;
        elements(&thread.elements, &mut |element| {
            use ElementKind::{DoWhile, IfBranch};
            is_structured |= matches!(element.kind, IfBranch(..) | DoWhile { .. });
        });
        if !is_structured {
            return;
        }
        self.labels_inside(&thread.elements, false);
        each_operation(&thread.elements, &mut |op| {
            if let OpKind::Branch { .. } = op.kind {
                self.report_with(op.mark, "a structured thread has no branches", DIALECTS);
            }
        });
    }

    fn labels_inside(&mut self, list: &[Element], in_loop: bool) {
        for element in list {
            match &element.kind {
                ElementKind::Label(_) if in_loop => {
                    let message = "a label inside of a loop would let jumps into it";
                    self.report_with(element.mark, message, DIALECTS);
                }
                ElementKind::Label(_) => {
                    let message = "a structured thread has no labels";
                    self.report_with(element.mark, message, DIALECTS);
                }
                ElementKind::IfBranch(_, body) => self.labels_inside(body, in_loop),
                ElementKind::DoWhile { body, .. } => self.labels_inside(body, true),
                _ => {}
            }
        }
    }

    /// Temporaries that are used are assigned somewhere.
    fn temporaries(&mut self, structures: &Structures, thread: &Thread) {
        let is_register = |name: &str| {
            structures.registers.iter().any(|register| register.name == name)
                || structures.isa.is_some_and(|isa| isa.has_register(name))
        };
        let mut assigned = HashSet::new();
        elements(&thread.elements, &mut |element| {
            assigned.extend(Names::of_element(element).written);
        });
        elements(&thread.elements, &mut |element| {
            for name in Names::of_element(element).read {
                if !is_register(name) && assigned.insert(name) {
                    let message = format!("nothing is assigned to '{name}' in this thread");
                    let help = "a register is one of the isa's, or declared: reg r;";
                    self.report_with(element.mark, &message, help);
                }
            }
        });
    }

    /// Control moves on when an instruction is over, so a branch is the last thing in it.
    fn branches(&mut self, ex: &Ex, is_last: bool) {
        match ex {
            Ex::Nil | Ex::Atom(_) => {}
            Ex::Op(op) => {
                if matches!(op.kind, OpKind::Branch { .. }) && !is_last {
                    let message = "a branch is the last operation of its instruction";
                    self.report(op.mark, message);
                }
            }
            Ex::Seq(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    self.branches(part, is_last && number + 1 == parts.len());
                }
            }
            Ex::Par(parts) => parts.iter().for_each(|part| self.branches(part, false)),
            Ex::If(_, body, _) => self.branches(body, is_last),
        }
    }

    /// What is in any order may not depend on the order, other than through memory.
    fn orders(&mut self, ex: &Ex, mark: Mark) {
        match ex {
            Ex::Nil | Ex::Op(_) | Ex::Atom(_) => {}
            Ex::Seq(parts) => parts.iter().for_each(|part| self.orders(part, mark)),
            Ex::If(_, body, _) => self.orders(body, mark),
            Ex::Par(parts) => {
                parts.iter().for_each(|part| self.orders(part, mark));
                self.conflicts(parts, mark);
            }
        }
    }

    fn conflicts(&mut self, parts: &[Ex], mark: Mark) {
        if parts.iter().any(has_atom) {
            let message = "half of an atomic pair cannot be in any order with something else";
            self.report(mark, message);
        }
        let names: Vec<Names<'_>> = parts.iter().map(Names::of_ex).collect();
        for (number, first) in names.iter().enumerate() {
            for second in names.iter().skip(number + 1) {
                let meets =
                    |name: &&&str| second.read.contains(name) || second.written.contains(name);
                let clash = first.written.iter().find(meets);
                let clash =
                    clash.or_else(|| second.written.iter().find(|name| first.read.contains(name)));
                if let Some(name) = clash {
                    let message = format!("both sides of '||' use '{name}', and one changes it");
                    self.report(mark, message);
                }
            }
        }
    }
}

fn has_atom(ex: &Ex) -> bool {
    match ex {
        Ex::Nil | Ex::Op(_) => false,
        Ex::Atom(_) => true,
        Ex::Seq(parts) | Ex::Par(parts) => parts.iter().any(has_atom),
        Ex::If(_, body, _) => has_atom(body),
    }
}

fn each_operation<'a>(list: &'a [Element], visit: &mut dyn FnMut(&'a Op)) {
    elements(list, &mut |element| {
        if let ElementKind::Instr(ex) = &element.kind {
            ex.operations(visit);
        }
    });
}
