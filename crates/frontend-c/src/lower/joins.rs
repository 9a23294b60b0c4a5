//! Where the two ways of a branch meet again: its nearest post-dominator.
//!
//! Dependencies by control end there, as in a language with statements. Ways that never come to
//! a return (failed assertions, calls of `abort`, endless loops) are left out of account: a
//! branch to one of them joins where the other way goes on. The algorithm is that of Cooper,
//! Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.

use parallax_program::{BlockId, Function, Terminator};

pub fn set_joins(function: &mut Function) {
    let parents = post_dominators(function);
    for (number, block) in function.blocks.iter_mut().enumerate() {
        if let Terminator::Branch { join, .. } = &mut block.terminator {
            *join = parents[number].map(|parent| BlockId(parent as u32));
        }
    }
}

fn successors(function: &Function, block: usize) -> Vec<usize> {
    match &function.blocks[block].terminator {
        Terminator::Jump(target) => vec![target.0 as usize],
        Terminator::Branch { then, otherwise, .. } => {
            vec![then.0 as usize, otherwise.0 as usize]
        }
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    }
}

/// For each block its nearest post-dominator, if that is a block.
fn post_dominators(function: &Function) -> Vec<Option<usize>> {
    let count = function.blocks.len();
    let exit = count;
    let mut predecessors = vec![Vec::new(); count + 1];
    for block in 0..count {
        for next in successors(function, block) {
            predecessors[next].push(block);
        }
        if matches!(function.blocks[block].terminator, Terminator::Return(_)) {
            predecessors[exit].push(block);
        }
    }
    let order = post_order(exit, &predecessors);
    let mut position = vec![usize::MAX; count + 1];
    for (index, block) in order.iter().enumerate() {
        position[*block] = index;
    }
    let mut parent: Vec<Option<usize>> = vec![None; count + 1];
    parent[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for block in order.iter().rev().copied().filter(|block| *block != exit) {
            let mut ways = successors(function, block);
            if matches!(function.blocks[block].terminator, Terminator::Return(_)) {
                ways.push(exit);
            }
            let known = ways.into_iter().filter(|way| parent[*way].is_some());
            let nearest = known.reduce(|a, b| meet(a, b, &parent, &position));
            if nearest.is_some() && parent[block] != nearest {
                parent[block] = nearest;
                changed = true;
            }
        }
    }
    (0..count).map(|block| parent[block].filter(|parent| *parent != exit)).collect()
}

fn meet(a: usize, b: usize, parent: &[Option<usize>], position: &[usize]) -> usize {
    let (mut a, mut b) = (a, b);
    while a != b {
        while position[a] < position[b] {
            a = parent[a].unwrap_or(b);
        }
        while position[b] < position[a] {
            b = parent[b].unwrap_or(a);
        }
    }
    a
}

/// Blocks from which the start is reached, each after those it leads on to.
fn post_order(start: usize, edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    let mut path = vec![(start, 0)];
    seen[start] = true;
    while let Some((block, next)) = path.pop() {
        match edges[block].get(next) {
            Some(target) => {
                path.push((block, next + 1));
                if !seen[*target] {
                    seen[*target] = true;
                    path.push((*target, 0));
                }
            }
            None => order.push(block),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    /// The joins of the branches of a function, by label, in the order of the blocks.
    fn joins(body: &str) -> Vec<(String, Option<String>)> {
        let text = format!("program p pointers 64\nfn f(c: 1) {{\n{body}\n}}\n");
        let mut program = parse_program("p", &text).unwrap();
        let mut function = program.functions.remove(0);
        set_joins(&mut function);
        let label = |id: BlockId| function.blocks[id.0 as usize].label.clone();
        let branches = function.blocks.iter().filter_map(|block| match block.terminator {
            Terminator::Branch { join, .. } => Some((block.label.clone(), join.map(label))),
            _ => None,
        });
        branches.collect()
    }

    fn expected(pairs: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
        pairs.iter().map(|(a, b)| (a.to_string(), b.map(str::to_string))).collect()
    }

    #[test]
    fn arms_meet() {
        let body = "branch c, t, e\nt: jump j\ne: jump j\nj: return";
        assert_eq!(joins(body), expected(&[("entry", Some("j"))]));
    }

    #[test]
    fn loops_end_at_their_exit() {
        let body = "jump h\nh: branch c, b, x\nb: jump h\nx: return";
        assert_eq!(joins(body), expected(&[("h", Some("x"))]));
    }

    #[test]
    fn ways_that_do_not_return_do_not_count() {
        let body = "branch c, t, bad\nbad: exit\nt: branch c, u, spin\nspin: jump spin\nu: return";
        assert_eq!(joins(body), expected(&[("entry", Some("t")), ("t", Some("u"))]));
    }

    #[test]
    fn returns_on_both_ways_leave_no_join() {
        assert_eq!(joins("branch c, t, e\nt: return\ne: return"), expected(&[("entry", None)]));
    }
}
