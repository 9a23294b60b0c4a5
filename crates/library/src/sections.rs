//! Functions of the program whose names start with `__VERIFIER_atomic_`: by a rule of SV-COMP,
//! nobody interrupts them. So it is with those that begin and end sections, where the program has its own.

use parallax_program::{Function, Inst, InstKind, Program, Terminator};

const PREFIX: &str = "__VERIFIER_atomic_";

pub(crate) fn make_atomic(program: &mut Program) {
    let named = |function: &&mut Function| function.name.starts_with(PREFIX);
    program.functions.iter_mut().filter(named).for_each(enclose);
}

fn enclose(function: &mut Function) {
    for block in &mut function.blocks {
        if matches!(block.terminator, Terminator::Return(_) | Terminator::Exit) {
            block.insts.push(Inst { kind: InstKind::AtomicEnd, span: block.terminator_span });
        }
    }
    if let Some(entry) = function.blocks.first_mut() {
        let span = entry.insts.first().map_or(entry.terminator_span, |inst| inst.span);
        entry.insts.insert(0, Inst { kind: InstKind::AtomicBegin, span });
    }
}
