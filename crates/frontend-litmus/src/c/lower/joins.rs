//! Where the two ways of a branch meet again.
//!
//! In a structured language what follows an `if` does not depend on its condition by control.
//! The block where the dependency ends is the branch's immediate post-dominator (Ferrante,
//! Ottenstein, Warren, TOPLAS 1987): the first one that every way to the end of the function
//! leads through. That gives the block behind the `if` or loop where no way leaves it early,
//! and a later one where `return`, `break` or `goto` does.
//!
//! Dominators are computed with the iteration of Cooper, Harvey and Kennedy (2001), on the
//! reversed graph.

use parallax_program::{Block, BlockId, Function, Terminator};

/// Fills in the `join` of all branches.
pub fn place(function: &mut Function) {
    let dominators = post_dominators(&function.blocks);
    for (index, block) in function.blocks.iter_mut().enumerate() {
        if let Terminator::Branch { join, .. } = &mut block.terminator {
            let found = dominators.get(index).copied().flatten();
            *join = found.map(|block| BlockId(block as u32));
        }
    }
}

/// For each block the immediate post-dominator; none where that is the end of the function, or
/// where the end is out of reach.
fn post_dominators(blocks: &[Block]) -> Vec<Option<usize>> {
    let exit = blocks.len();
    let successors: Vec<Vec<usize>> = blocks.iter().map(|b| successors(b, exit)).collect();
    let order = distances_from_exit(&successors, exit);
    let mut rank = vec![usize::MAX; exit + 1];
    for (place, &block) in order.iter().enumerate() {
        rank[block] = place;
    }
    let mut found: Vec<Option<usize>> = vec![None; exit + 1];
    found[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &block in order.iter().skip(1) {
            let known = successors[block].iter().filter(|s| found[**s].is_some());
            let new = known.copied().reduce(|a, b| meet(a, b, &found, &rank));
            if new != found[block] {
                found[block] = new;
                changed = true;
            }
        }
    }
    let before_exit = found.into_iter().take(exit);
    before_exit.map(|block| block.filter(|b| *b != exit)).collect()
}

fn successors(block: &Block, exit: usize) -> Vec<usize> {
    match &block.terminator {
        Terminator::Jump(to) => vec![to.0 as usize],
        Terminator::Branch { then, otherwise, .. } => vec![then.0 as usize, otherwise.0 as usize],
        Terminator::Return(_) | Terminator::Exit => vec![exit],
    }
}

/// The blocks from which the end can be reached, in reverse post-order of the reversed graph:
/// the end first.
fn distances_from_exit(successors: &[Vec<usize>], exit: usize) -> Vec<usize> {
    let mut predecessors = vec![Vec::new(); exit + 1];
    for (block, next) in successors.iter().enumerate() {
        for &to in next {
            predecessors[to].push(block);
        }
    }
    let mut seen = vec![false; exit + 1];
    let mut order = Vec::new();
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((block, tried)) = stack.pop() {
        match predecessors[block].get(tried) {
            Some(&next) => {
                stack.push((block, tried + 1));
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, 0));
                }
            }
            None => order.push(block),
        }
    }
    order.reverse();
    order
}

/// The nearest block that post-dominates both.
fn meet(a: usize, b: usize, found: &[Option<usize>], rank: &[usize]) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        let further = if rank[a] > rank[b] { &mut a } else { &mut b };
        match found[*further] {
            Some(next) if next != *further => *further = next,
            _ => break,
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use parallax_program::{Expr, FunctionBuilder};

    use super::*;

    fn branch(builder: &mut FunctionBuilder, then: BlockId, otherwise: BlockId) {
        builder.terminate(Terminator::Branch {
            condition: Expr::constant(1, 1),
            then,
            otherwise,
            join: None,
        });
    }

    fn join_of(function: &Function, block: BlockId) -> Option<BlockId> {
        match &function.blocks[block.0 as usize].terminator {
            Terminator::Branch { join, .. } => *join,
            _ => None,
        }
    }

    #[test]
    fn an_if_ends_behind_its_arms_and_a_loop_at_its_exit() {
        let mut b = FunctionBuilder::new("f");
        let [then, end, head, body, exit] =
            ["then", "end", "head", "body", "exit"].map(|name| b.new_block(name));
        branch(&mut b, then, end);
        b.enter(then);
        b.enter(end);
        b.enter(head);
        branch(&mut b, body, exit);
        b.enter(body);
        b.terminate(Terminator::Jump(head));
        b.enter(exit);
        let mut function = b.finish();
        place(&mut function);
        assert_eq!(join_of(&function, BlockId(0)), Some(end));
        assert_eq!(join_of(&function, head), Some(exit));
    }

    #[test]
    fn an_early_return_makes_all_the_rest_depend() {
        let mut b = FunctionBuilder::new("f");
        let [then, end] = ["then", "end"].map(|name| b.new_block(name));
        branch(&mut b, then, end);
        b.enter(then);
        b.terminate(Terminator::Return(None));
        b.enter(end);
        let mut function = b.finish();
        place(&mut function);
        assert_eq!(join_of(&function, BlockId(0)), None);
    }

    #[test]
    fn a_loop_without_end_has_no_join() {
        let mut b = FunctionBuilder::new("f");
        let [head, other] = ["head", "other"].map(|name| b.new_block(name));
        b.enter(head);
        branch(&mut b, head, other);
        b.enter(other);
        b.terminate(Terminator::Jump(head));
        let mut function = b.finish();
        place(&mut function);
        assert_eq!(join_of(&function, head), None);
    }
}
