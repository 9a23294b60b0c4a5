//! Loops of a function: which blocks can repeat, and which variables matter when one does.
//!
//! A thread that comes back to the head of a loop with the same values in all variables that
//! are still used, and has changed nothing outside of itself, will do the same again unless it
//! reads something else: it waits. To decide that, one needs the heads of loops and the variables that
//! are live there.

use std::ops::Range;

use parallax_program::{Block, BlockId, Expr, Function, InstKind, Terminator, VarId};

use crate::operation::destinations;

/// What is known of a function's loops.
#[derive(Debug)]
pub(crate) struct Loops {
    /// For each block that can repeat, its number among those.
    repeating: Vec<Option<u32>>,
    count: u32,
    /// For each block that can repeat, the outermost loop that it is in, as one of its blocks.
    components: Vec<Option<usize>>,
    /// For each block that is the head of a loop, the variables that are live there.
    heads: Vec<Option<Box<[VarId]>>>,
    /// For each block, whether the function may return from there.
    returning: Vec<bool>,
}

impl Loops {
    pub(crate) fn of(function: &Function, registers: usize) -> Loops {
        let successors: Vec<Vec<usize>> =
            function.blocks.iter().map(|block| targets(&block.terminator)).collect();
        let order = Order::of(&successors);
        let mut repeating = vec![None; successors.len()];
        let mut count = 0;
        for (block, number) in repeating.iter_mut().enumerate() {
            if order.repeats[block] {
                *number = Some(count);
                count += 1;
            }
        }
        let shared = if function.registers { registers } else { 0 };
        let shared = function.params as usize..function.params as usize + shared;
        let live = match count {
            0 => Vec::new(),
            _ => live_at_entry(function, &successors, &shared),
        };
        let head = |block: usize| {
            let vars = live.get(block).filter(|_| order.is_head[block])?;
            Some(vars.iter().enumerate().filter(|(_, live)| **live).map(|(v, _)| VarId(v as u32)))
        };
        let heads = (0..successors.len()).map(|block| head(block).map(Iterator::collect)).collect();
        let components = (0..successors.len()).map(|block| {
            let repeats = order.repeats.get(block).copied().unwrap_or(false);
            repeats.then(|| order.components[block])
        });
        let components = components.collect();
        let returning = returning(function, &successors);
        Loops { repeating, count, components, heads, returning }
    }

    /// Whether a way leads from a block to where the function returns.
    pub(crate) fn may_return(&self, block: BlockId) -> bool {
        self.returning[block.0 as usize]
    }

    /// How many blocks can repeat.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    pub(crate) fn repeating(&self, block: BlockId) -> Option<usize> {
        self.repeating.get(block.0 as usize).copied().flatten().map(|number| number as usize)
    }

    /// The outermost loop that a block is in, as one of its blocks.
    pub(crate) fn component(&self, block: usize) -> Option<usize> {
        self.components.get(block).copied().flatten()
    }

    /// The variables that are live at the head of a loop.
    pub(crate) fn head(&self, block: BlockId) -> Option<&[VarId]> {
        self.heads.get(block.0 as usize)?.as_deref()
    }
}

fn targets(terminator: &Terminator) -> Vec<usize> {
    match terminator {
        Terminator::Jump(target) => vec![target.0 as usize],
        Terminator::Branch { then, otherwise, .. } => {
            vec![then.0 as usize, otherwise.0 as usize]
        }
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    }
}

/// The blocks from which a way leads to a return.
fn returning(function: &Function, successors: &[Vec<usize>]) -> Vec<bool> {
    let returns = |block: &Block| matches!(block.terminator, Terminator::Return(_));
    let mut may: Vec<bool> = function.blocks.iter().map(returns).collect();
    let mut before = vec![Vec::new(); may.len()];
    for (block, targets) in successors.iter().enumerate() {
        targets.iter().for_each(|target| before[*target].push(block));
    }
    let mut open: Vec<usize> = (0..may.len()).filter(|block| may[*block]).collect();
    while let Some(block) = open.pop() {
        for from in &before[block] {
            if !std::mem::replace(&mut may[*from], true) {
                open.push(*from);
            }
        }
    }
    may
}

/// A depth-first walk: where loops are entered, and which blocks lie on a cycle.
struct Order {
    is_head: Vec<bool>,
    repeats: Vec<bool>,
    /// A block of the component that each is in.
    components: Vec<usize>,
}

impl Order {
    /// Strongly connected components by Tarjan's algorithm, without recursion.
    fn of(successors: &[Vec<usize>]) -> Order {
        let count = successors.len();
        let mut order = Order {
            is_head: vec![false; count],
            repeats: vec![false; count],
            components: vec![0; count],
        };
        let mut number = vec![usize::MAX; count];
        let mut low = vec![0; count];
        let mut on_path = vec![false; count];
        let mut in_component = vec![false; count];
        let (mut component, mut path, mut next) = (Vec::new(), Vec::new(), 0);
        for root in 0..count {
            if number[root] != usize::MAX {
                continue;
            }
            path.push((root, 0));
            while let Some((block, child)) = path.pop() {
                if child == 0 {
                    number[block] = next;
                    low[block] = next;
                    next += 1;
                    component.push(block);
                    in_component[block] = true;
                    on_path[block] = true;
                }
                if let Some(target) = successors[block].get(child).copied() {
                    path.push((block, child + 1));
                    if number[target] == usize::MAX {
                        path.push((target, 0));
                    } else if in_component[target] {
                        low[block] = low[block].min(number[target]);
                        order.is_head[target] |= on_path[target];
                    }
                    continue;
                }
                on_path[block] = false;
                if let Some((parent, _)) = path.last() {
                    low[*parent] = low[*parent].min(low[block]);
                }
                if low[block] == number[block] {
                    order.close(&mut component, block, &mut in_component, successors);
                }
            }
        }
        order
    }

    fn close(
        &mut self,
        component: &mut Vec<usize>,
        root: usize,
        in_component: &mut [bool],
        successors: &[Vec<usize>],
    ) {
        let alone = component.last() == Some(&root) && !successors[root].contains(&root);
        while let Some(block) = component.pop() {
            in_component[block] = false;
            self.repeats[block] = !alone;
            self.components[block] = root;
            if block == root {
                break;
            }
        }
    }
}

/// For each block, which variables may be used before they are written again, for more than to
/// compute variables that are not (R. Giegerich, U. Möncke, R. Wilhelm, Invariance of approximate
/// semantics with respect to program transformations, 1981, call these truly live).
///
/// The registers, which others see, are live wherever the function calls or ends.
fn live_at_entry(
    function: &Function,
    successors: &[Vec<usize>],
    registers: &Range<usize>,
) -> Vec<Vec<bool>> {
    let mut live = vec![vec![false; function.vars.len()]; function.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in function.blocks.iter().enumerate().rev() {
            let mut now = vec![false; function.vars.len()];
            for target in &successors[number] {
                now.iter_mut().zip(&live[*target]).for_each(|(now, there)| *now |= there);
            }
            match &block.terminator {
                Terminator::Branch { condition, .. } => used(condition, &mut now),
                Terminator::Return(value) => {
                    value.iter().for_each(|value| used(value, &mut now));
                    now[registers.clone()].fill(true);
                }
                _ => {}
            }
            for inst in block.insts.iter().rev() {
                // What only goes into variables that nobody uses is not used either: a counter
                // of rounds, say.
                if let InstKind::Assign { dst, .. } = &inst.kind
                    && !now[dst.0 as usize]
                {
                    continue;
                }
                let (first, second) = written(&inst.kind);
                first.into_iter().chain(second).for_each(|var| now[var.0 as usize] = false);
                if matches!(inst.kind, InstKind::Call { .. }) {
                    now[registers.clone()].fill(true);
                }
                inst.kind.for_each_expr(&mut |expr| used(expr, &mut now));
            }
            if now != live[number] {
                live[number] = now;
                changed = true;
            }
        }
    }
    live
}

/// The variables that an instruction writes.
pub(crate) fn written(kind: &InstKind) -> (Option<VarId>, Option<VarId>) {
    match kind {
        InstKind::Assign { dst, .. } => (Some(*dst), None),
        InstKind::Call { dst, .. } => (*dst, None),
        other => destinations(other),
    }
}

fn used(expr: &Expr, live: &mut [bool]) {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Var(var) => live[var.0 as usize] = true,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => used(value, live),
        Expr::Binary(_, left, right) => {
            used(left, live);
            used(right, live);
        }
        Expr::Concat { high, low } => {
            used(high, live);
            used(low, live);
        }
        Expr::Select { condition, then, otherwise } => {
            used(condition, live);
            used(then, live);
            used(otherwise, live);
        }
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;

    use super::*;

    #[test]
    fn a_counter_that_nobody_reads_does_not_matter() {
        let text = "program p pointers 64\nglobal x: 4\nfn f() {\nvar i: 32, r: 32, t: 1\nloop:\n\
                    r = load.4 &x\ni = i + 1:32\nt = r == 0:32\nbranch t, loop, end\nend:\n\
                    return\n}\n";
        let program = parse_program("p", text).expect("a program");
        assert_eq!(Loops::of(&program.functions[0], 0).head(BlockId(0)), Some(&[][..]));
    }

    #[test]
    fn heads_know_what_is_live() {
        let text = "program p pointers 64\nglobal x: 4\nfn f(n: 32) {\nvar i: 32, r: 32, t: 1\n\
                    i = 0:32\nloop:\nr = load.4 &x\nt = r == i\nbranch t, more, end\nmore:\n\
                    jump loop\nend:\nreturn\n}\n";
        let program = parse_program("p", text).expect("a program");
        let loops = Loops::of(&program.functions[0], 0);
        assert_eq!(loops.count(), 2);
        let names: Vec<_> = (0..4).map(|block| loops.head(BlockId(block))).collect();
        assert_eq!(names.iter().flatten().count(), 1);
        assert_eq!(names[1], Some(&[VarId(1)][..]));
    }
}
