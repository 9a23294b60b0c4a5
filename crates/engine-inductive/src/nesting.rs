//! Loops that share a header. Where the body of a loop starts with another loop, both may go back to
//! the same block, and look like one loop. If a mark is passed in some rounds only, these are the inner
//! loop: the outer one gets a header of its own.

use std::collections::BTreeSet;

use parallax_program::{Block, BlockId, Function, Terminator};

use crate::flow::predecessors;
use crate::loops::{Loop, loops};
use crate::marks::Mark;

/// Gives outer loops headers of their own, where marks distinguish them from inner ones.
pub fn separate(function: &mut Function, marks: &[Mark]) {
    for mark in marks {
        let Some(found) = loops(function) else { return };
        let around = found.iter().rfind(|one| one.blocks.contains(&mark.block));
        let Some(around) = around.filter(|one| !one.always_passes(mark.block, function)) else {
            continue;
        };
        if let Some(inner) = inner_latches(function, around, mark.block) {
            split(function, around.header, &inner);
        }
    }
}

/// The blocks that go back to the header only after a mark, if they are a loop of their own.
fn inner_latches(function: &Function, found: &Loop, mark: BlockId) -> Option<BTreeSet<BlockId>> {
    let passes = |latch: &BlockId| {
        let alone = Loop { latches: vec![*latch], ..found.clone() };
        alone.always_passes(mark, function)
    };
    let (inner, outer): (Vec<BlockId>, Vec<BlockId>) =
        found.latches.iter().partition(|l| passes(l));
    let before = predecessors(function);
    let mut blocks = BTreeSet::from([found.header]);
    let mut open = inner.clone();
    while let Some(block) = open.pop() {
        if blocks.insert(block) {
            open.extend(before.get(block.0 as usize)?);
        }
    }
    let is_loop = !inner.is_empty() && outer.iter().all(|latch| !blocks.contains(latch));
    // A header that functions start with has a way in that cannot be led elsewhere.
    (is_loop && found.header != BlockId(0)).then(|| inner.into_iter().collect())
}

/// Leads all ways to a header but those from inner latches by a new block.
fn split(function: &mut Function, header: BlockId, inner: &BTreeSet<BlockId>) {
    let outer = BlockId(function.blocks.len() as u32);
    for (number, block) in function.blocks.iter_mut().enumerate() {
        if inner.contains(&BlockId(number as u32)) {
            continue;
        }
        let lead = |target: &mut BlockId| {
            if *target == header {
                *target = outer;
            }
        };
        match &mut block.terminator {
            Terminator::Jump(target) => lead(target),
            Terminator::Branch { then, otherwise, join, .. } => {
                lead(then);
                lead(otherwise);
                join.iter_mut().for_each(lead);
            }
            Terminator::Return(_) | Terminator::Exit => {}
        }
    }
    let terminator_span = function.blocks.get(header.0 as usize).map(|block| block.terminator_span);
    function.blocks.push(Block {
        label: format!("outer.{}", outer.0),
        insts: Vec::new(),
        terminator: Terminator::Jump(header),
        terminator_span: terminator_span.unwrap_or_default(),
    });
}

#[cfg(test)]
mod tests {
    use parallax_program::{Expr, Span, parse_program};

    use super::*;

    #[test]
    fn an_inner_loop_is_said_by_its_mark() {
        let text = "program t pointers 64\nfn f() {\nvar c: 1\njump h\nh:\nbranch c, mark, rest\n\
                    mark:\njump h\nrest:\nbranch c, h, end\nend:\nreturn\n}\nthread P = f()";
        let mut function = parse_program("t.program", text).unwrap().functions.remove(0);
        let mark =
            Mark { block: BlockId(2), condition: Expr::constant(1, 1), span: Span::default() };
        assert_eq!(loops(&function).unwrap().len(), 1);
        separate(&mut function, &[mark]);
        let found = loops(&function).unwrap();
        let numbers = |one: &Loop| one.blocks.iter().map(|block| block.0).collect::<Vec<_>>();
        assert_eq!(found.iter().map(numbers).collect::<Vec<_>>(), [vec![1, 2, 3, 5], vec![1, 2]]);
        assert_eq!(found[0].header, BlockId(5));
    }
}
