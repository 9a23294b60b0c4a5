//! The loops of a function: natural loops, as A. V. Aho, M. S. Lam, R. Sethi, J. D. Ullman,
//! Compilers, 2006, section 9.6, has them. Dominators are found as by K. D. Cooper, T. J. Harvey, K.
//! Kennedy, A simple, fast dominance algorithm, 2001.

use std::collections::BTreeSet;

use parallax_program::{BlockId, Function};

use crate::flow::{predecessors, successors};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    pub header: BlockId,
    /// Its header among them, and the blocks of loops inside of it.
    pub blocks: BTreeSet<BlockId>,
    /// The blocks that go back to the header.
    pub latches: Vec<BlockId>,
}

/// The loops of a function, those inside of others after them. None where control gets into a loop
/// at more than one place.
pub fn loops(function: &Function) -> Option<Vec<Loop>> {
    let order = order(function);
    let before = predecessors(function);
    let dominators = dominators(&order, &before);
    let mut all: Vec<Loop> = Vec::new();
    for from in &order.blocks {
        let block = function.blocks.get(from.0 as usize)?;
        for to in successors(&block.terminator) {
            let is_back = order.number(to) <= order.number(*from);
            if !is_back {
                continue;
            }
            if !dominates(to, *from, &order, &dominators) {
                return None;
            }
            match all.iter_mut().find(|known| known.header == to) {
                Some(known) => known.latches.push(*from),
                None => {
                    let blocks = BTreeSet::from([to]);
                    all.push(Loop { header: to, blocks, latches: vec![*from] });
                }
            }
        }
    }
    for found in &mut all {
        let mut open = found.latches.clone();
        while let Some(block) = open.pop() {
            if order.number(block).is_some() && found.blocks.insert(block) {
                open.extend(&before[block.0 as usize]);
            }
        }
    }
    all.sort_by_key(|found| (std::cmp::Reverse(found.blocks.len()), found.header));
    Some(all)
}

/// The blocks that can be reached, each after those that lead to it other than by going back.
struct Order {
    blocks: Vec<BlockId>,
    numbers: Vec<Option<usize>>,
}

impl Order {
    fn number(&self, block: BlockId) -> Option<usize> {
        self.numbers.get(block.0 as usize).copied().flatten()
    }
}

fn order(function: &Function) -> Order {
    let count = function.blocks.len();
    let mut seen = vec![false; count];
    let mut finished = Vec::new();
    let mut path: Vec<(usize, Vec<BlockId>)> = Vec::new();
    let next = |block: usize| function.blocks.get(block).map(|b| successors(&b.terminator));
    if let Some(targets) = next(0) {
        seen[0] = true;
        path.push((0, targets));
    }
    while let Some((block, targets)) = path.last_mut() {
        match targets.pop() {
            Some(target) if seen.get(target.0 as usize) == Some(&false) => {
                let target = target.0 as usize;
                seen[target] = true;
                path.push((target, next(target).unwrap_or_default()));
            }
            Some(_) => {}
            None => {
                finished.push(BlockId(*block as u32));
                path.pop();
            }
        }
    }
    finished.reverse();
    let mut numbers = vec![None; count];
    for (number, block) in finished.iter().enumerate() {
        numbers[block.0 as usize] = Some(number);
    }
    Order { blocks: finished, numbers }
}

/// For each block in order, the number of the one that dominates it immediately.
fn dominators(order: &Order, before: &[Vec<BlockId>]) -> Vec<usize> {
    let mut all: Vec<Option<usize>> = vec![None; order.blocks.len()];
    if let Some(first) = all.first_mut() {
        *first = Some(0);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in order.blocks.iter().enumerate().skip(1) {
            let known = before[block.0 as usize].iter().filter_map(|block| order.number(*block));
            let known = known.filter(|number| all[*number].is_some());
            let found = known.reduce(|a, b| meet(a, b, &all));
            if found.is_some() && all[number] != found {
                all[number] = found;
                changed = true;
            }
        }
    }
    all.into_iter().map(|found| found.unwrap_or(0)).collect()
}

fn meet(mut a: usize, mut b: usize, all: &[Option<usize>]) -> usize {
    while a != b {
        let higher = if a > b { &mut a } else { &mut b };
        *higher = all[*higher].unwrap_or(0);
    }
    a
}

fn dominates(above: BlockId, below: BlockId, order: &Order, dominators: &[usize]) -> bool {
    let (Some(above), Some(mut below)) = (order.number(above), order.number(below)) else {
        return false;
    };
    while below > above {
        below = dominators[below];
    }
    below == above
}

impl Loop {
    /// Whether every round passes a block.
    pub fn always_passes(&self, block: BlockId, function: &Function) -> bool {
        if block == self.header {
            return true;
        }
        let mut seen = BTreeSet::from([block]);
        let mut open = vec![self.header];
        while let Some(next) = open.pop() {
            if !self.blocks.contains(&next) || !seen.insert(next) {
                continue;
            }
            if self.latches.contains(&next) {
                return false;
            }
            if let Some(next) = function.blocks.get(next.0 as usize) {
                open.extend(successors(&next.terminator));
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    fn found(body: &str) -> Option<Vec<(u32, Vec<u32>)>> {
        let text =
            format!("program t pointers 64\nfn f() {{\n  var c: 1\n{body}\n}}\nthread P = f()");
        let program = parse_program("t.program", &text).unwrap();
        let list = loops(&program.functions[0])?;
        let blocks = |found: &Loop| found.blocks.iter().map(|block| block.0).collect();
        Some(list.iter().map(|found| (found.header.0, blocks(found))).collect())
    }

    #[test]
    fn a_loop_inside_of_a_loop() {
        let body = "jump a\na:\njump b\nb:\nbranch c, b, d\nd:\nbranch c, a, e\ne:\nreturn";
        assert_eq!(found(body), Some(vec![(1, vec![1, 2, 3]), (2, vec![2])]));
    }

    #[test]
    fn no_loop() {
        assert_eq!(found("branch c, a, b\na:\njump b\nb:\nreturn"), Some(vec![]));
    }

    #[test]
    fn two_ways_into_a_loop() {
        assert_eq!(found("branch c, a, b\na:\njump b\nb:\njump a"), None);
    }
}
