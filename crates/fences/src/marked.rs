//! A program with marks, and the programs that plans make of it.

use parallax_program::{InstKind, Program};

use crate::decision::{Decisions, Plan};

/// The program that a plan makes of one in which every decision is marked. Fences that the plan does
/// not have are gone; what is there keeps its marks, which no model knows.
pub fn apply(marked: &Program, decisions: &Decisions, plan: &Plan) -> Program {
    let mut program = marked.clone();
    for function in &mut program.functions {
        for block in &mut function.blocks {
            block.insts.retain_mut(|inst| settle(&mut inst.kind, decisions, plan));
        }
    }
    program
}

/// Gives an instruction the tags of the plan; false for a fence that is not there.
fn settle(kind: &mut InstKind, decisions: &Decisions, plan: &Plan) -> bool {
    let mut is_there = true;
    kind.for_each_tags(&mut |tags| {
        if let Some(number) = tags.candidate() {
            match decisions.tags(plan, number, tags) {
                Some(new) => *tags = new.marked(number),
                None => is_there = false,
            }
        }
    });
    is_there
}
