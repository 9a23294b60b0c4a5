//! Walking over the expressions and variables of instructions, to renumber what they refer to.

use parallax_program::{Block, Callee, Expr, InstKind, Terminator, VarId};

/// Calls `change` on each leaf of an expression.
pub(crate) fn leaves(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => change(expr),
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => leaves(value, change),
        Expr::Binary(_, left, right) => {
            leaves(left, change);
            leaves(right, change);
        }
        Expr::Concat { high, low } => {
            leaves(high, change);
            leaves(low, change);
        }
        Expr::Select { condition, then, otherwise } => {
            leaves(condition, change);
            leaves(then, change);
            leaves(otherwise, change);
        }
    }
}

/// The expressions of an instruction.
pub(crate) fn expressions<'a>(kind: &'a mut InstKind) -> Vec<&'a mut Expr> {
    use InstKind::*;
    let transfer = |callee: &'a mut Callee, args: &'a mut Vec<Expr>| {
        let target = match callee {
            Callee::Indirect(target) => Some(target),
            Callee::Direct(_) | Callee::External(_) => None,
        };
        target.into_iter().chain(args).collect()
    };
    match kind {
        Assign { value, .. } => vec![value],
        Load { address, .. }
        | LoadLinked { address, .. }
        | Free { address, .. }
        | HeapSize { address, .. } => vec![address],
        Store { address, value, .. } | StoreConditional { address, value, .. } => {
            vec![address, value]
        }
        Rmw { address, operand, .. } => vec![address, operand],
        Cas { address, expected, desired, .. } => vec![address, expected, desired],
        Join { thread } => vec![thread],
        Alloc { size, .. } => vec![size],
        Assume { condition } | Wait { condition } | Assert { condition, .. } => vec![condition],
        Choose { below, .. } => vec![below],
        Spawn { callee, args, .. } | Call { callee, args, .. } => transfer(callee, args),
        Fence { .. }
        | ThreadId { .. }
        | Nondet { .. }
        | AtomicBegin
        | AtomicEnd
        | Unsupported { .. } => Vec::new(),
    }
}

/// The variables that an instruction writes.
pub(crate) fn results(kind: &mut InstKind) -> Vec<&mut VarId> {
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
        | Nondet { dst } => vec![dst],
        Rmw { dst, .. } | Spawn { dst, .. } | Call { dst, .. } => dst.iter_mut().collect(),
        Cas { dst, ok, .. } => dst.iter_mut().chain(ok).collect(),
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

/// The expression of a block's end.
pub(crate) fn ending(terminator: &mut Terminator) -> Option<&mut Expr> {
    match terminator {
        Terminator::Branch { condition, .. } => Some(condition),
        Terminator::Return(value) => value.as_mut(),
        Terminator::Jump(_) | Terminator::Exit => None,
    }
}

/// Calls `change` on each leaf of each expression in a block.
pub(crate) fn block_leaves(block: &mut Block, change: &mut dyn FnMut(&mut Expr)) {
    for inst in &mut block.insts {
        expressions(&mut inst.kind).into_iter().for_each(|expr| leaves(expr, change));
    }
    if let Some(expr) = ending(&mut block.terminator) {
        leaves(expr, change);
    }
}
