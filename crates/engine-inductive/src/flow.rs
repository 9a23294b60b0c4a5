//! How control and values flow through a function: which block comes after which, which variables
//! instructions use and change, and which are live.

use std::collections::BTreeSet;

use parallax_program::{BlockId, Expr, Function, InstKind, Terminator, VarId};

pub fn successors(terminator: &Terminator) -> Vec<BlockId> {
    match terminator {
        Terminator::Jump(target) => vec![*target],
        Terminator::Branch { then, otherwise, .. } if then == otherwise => vec![*then],
        Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
        Terminator::Return(_) | Terminator::Exit => Vec::new(),
    }
}

/// The blocks that lead to each block.
pub fn predecessors(function: &Function) -> Vec<Vec<BlockId>> {
    let mut all = vec![Vec::new(); function.blocks.len()];
    for (number, block) in function.blocks.iter().enumerate() {
        for target in successors(&block.terminator) {
            if let Some(list) = all.get_mut(target.0 as usize) {
                list.push(BlockId(number as u32));
            }
        }
    }
    all
}

/// The variables that an instruction changes.
pub fn results(kind: &InstKind) -> Vec<VarId> {
    use InstKind::*;
    match kind {
        Assign { dst, .. }
        | Load { dst, .. }
        | LoadLinked { dst, .. }
        | StoreConditional { status: dst, .. }
        | Alloc { dst, .. }
        | HeapSize { dst, .. }
        | ThreadId { dst }
        | Choose { dst, .. }
        | Nondet { dst } => vec![*dst],
        Rmw { dst, .. } | Spawn { dst, .. } | Call { dst, .. } => dst.iter().copied().collect(),
        Cas { dst, ok, .. } => dst.iter().chain(ok).copied().collect(),
        Store { .. }
        | Fence { .. }
        | Join { .. }
        | Free { .. }
        | Assume { .. }
        | Wait { .. }
        | Assert { .. }
        | AtomicBegin
        | AtomicEnd
        | Unsupported { .. } => Vec::new(),
    }
}

/// Calls `visit` on the leaves of an expression.
pub fn leaves<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => visit(expr),
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => leaves(value, visit),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            leaves(left, visit);
            leaves(right, visit);
        }
        Expr::Select { condition, then, otherwise } => {
            leaves(condition, visit);
            leaves(then, visit);
            leaves(otherwise, visit);
        }
    }
}

/// Calls `visit` on the leaves of all expressions of a function.
pub fn all_leaves<'a>(function: &'a Function, visit: &mut dyn FnMut(&'a Expr)) {
    for block in &function.blocks {
        for inst in &block.insts {
            inst.kind.for_each_expr(&mut |expr| leaves(expr, visit));
        }
        ending(&block.terminator, &mut |expr| leaves(expr, visit));
    }
}

/// Calls `visit` on the expression of a block's end, if it has one.
fn ending<'a>(terminator: &'a Terminator, visit: &mut dyn FnMut(&'a Expr)) {
    match terminator {
        Terminator::Branch { condition: value, .. } | Terminator::Return(Some(value)) => {
            visit(value);
        }
        Terminator::Jump(_) | Terminator::Return(None) | Terminator::Exit => {}
    }
}

fn use_in(expr: &Expr, live: &mut BTreeSet<VarId>) {
    leaves(expr, &mut |leaf| {
        if let Expr::Var(var) = leaf {
            live.insert(*var);
        }
    });
}

/// The variables that are live where each block starts. `also` are expressions that are used there,
/// beside what the block does.
pub fn live(function: &Function, also: &dyn Fn(BlockId) -> Option<Expr>) -> Vec<BTreeSet<VarId>> {
    let count = function.blocks.len();
    let mut all: Vec<BTreeSet<VarId>> = vec![BTreeSet::new(); count];
    let before = predecessors(function);
    let mut open: BTreeSet<usize> = (0..count).collect();
    while let Some(number) = open.pop_last() {
        let Some(block) = function.blocks.get(number) else { continue };
        let mut live = BTreeSet::new();
        for target in successors(&block.terminator) {
            live.extend(all.get(target.0 as usize).into_iter().flatten().copied());
        }
        if function.registers && successors(&block.terminator).is_empty() {
            live.extend((0..function.vars.len() as u32).map(VarId));
        }
        ending(&block.terminator, &mut |expr| use_in(expr, &mut live));
        for inst in block.insts.iter().rev() {
            for var in results(&inst.kind) {
                live.remove(&var);
            }
            inst.kind.for_each_expr(&mut |expr| use_in(expr, &mut live));
        }
        if let Some(expr) = also(BlockId(number as u32)) {
            use_in(&expr, &mut live);
        }
        if live != all[number] {
            all[number] = live;
            open.extend(before[number].iter().map(|block| block.0 as usize));
        }
    }
    all
}
