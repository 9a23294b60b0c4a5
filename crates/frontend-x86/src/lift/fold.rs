//! Puts the value of a temporary where it is used, if that is once or the value is cheap, so that
//! an instruction of the machine takes fewer steps.

use parallax_program::{Block, Expr, Inst, InstKind, Terminator, VarId};

use super::dead::{Vars, for_each_var, written};
use super::registers::COUNT;

/// Neither a value that moves nor the place it moves to is larger than this, so that expressions
/// never get too deep.
const LARGEST: usize = 100;
/// A value as small as this, a sum of a register and a number say, may be computed again.
const CHEAP: usize = 3;

/// Folds temporaries of a block away, given what is live after it.
pub fn fold(block: &mut Block, after: &Vars) {
    substitute(&mut block.insts, &mut block.terminator, after);
    retarget(&mut block.insts, &mut block.terminator, after);
}

/// Moves values of temporaries that are used once, or are cheap to compute again, to where they
/// are used.
fn substitute(insts: &mut Vec<Inst>, terminator: &mut Terminator, after: &Vars) {
    for index in (0..insts.len()).rev() {
        let InstKind::Assign { dst, value } = &insts[index].kind else {
            continue;
        };
        let (dst, value) = (*dst, value.clone());
        if dst.0 < COUNT || size(&value) > LARGEST {
            continue;
        }
        let Some(users) = users(dst, &value, &insts[index + 1..], terminator, after) else {
            continue;
        };
        for user in users {
            let expressions = match insts.get_mut(index + 1 + user) {
                Some(inst) => expressions(&mut inst.kind),
                None => condition(terminator),
            };
            expressions.into_iter().for_each(|expr| replace(expr, dst, &value));
        }
        insts.remove(index);
    }
}

/// What is read into a temporary only to go into another variable goes there at once.
fn retarget(insts: &mut Vec<Inst>, terminator: &mut Terminator, after: &Vars) {
    for index in (1..insts.len()).rev() {
        let InstKind::Assign { dst: to, value: Expr::Var(from) } = insts[index].kind else {
            continue;
        };
        let constant = Expr::constant(1, 0);
        let users = users(from, &constant, &insts[index..], terminator, after);
        if from.0 < COUNT || users != Some(vec![0]) {
            continue;
        }
        match &mut insts[index - 1].kind {
            InstKind::Load { dst, .. } | InstKind::Rmw { dst: Some(dst), .. } if *dst == from => {
                *dst = to;
                insts.remove(index);
            }
            _ => {}
        }
    }
}

/// The positions of all instructions that use the variable, if its value can go there: it is the
/// same there, and there is one use only or it is cheap. The terminator comes after the last.
fn users(
    dst: VarId,
    value: &Expr,
    insts: &[Inst],
    terminator: &mut Terminator,
    after: &Vars,
) -> Option<Vec<usize>> {
    let (mut found, mut uses, mut changed) = (Vec::new(), 0, false);
    let most = if size(value) <= CHEAP { usize::MAX } else { 1 };
    for (position, inst) in insts.iter().enumerate() {
        let here = uses_of(dst, &inst.kind);
        if here > 0 {
            uses += here;
            found.push(position);
            if changed || uses > most || !can_take(&inst.kind) {
                return None;
            }
        }
        changed |= matches!(inst.kind, InstKind::Call { .. });
        for var in written(&inst.kind) {
            if var == dst {
                return Some(found);
            }
            for_each_var(value, &mut |used| changed |= used == var);
        }
    }
    let (mut here, mut whole) = (0, 0);
    for expr in condition(terminator) {
        for_each_var(expr, &mut |var| here += usize::from(var == dst));
        whole += size(expr);
    }
    if here > 0 {
        uses += here;
        found.push(insts.len());
    }
    let takes = here == 0 || (!changed && uses <= most && whole <= LARGEST);
    (takes && !after[dst.0 as usize]).then_some(found)
}

fn uses_of(var: VarId, kind: &InstKind) -> usize {
    let mut uses = 0;
    kind.for_each_expr(&mut |expr| {
        for_each_var(expr, &mut |used| uses += usize::from(used == var));
    });
    uses
}

fn size(expr: &Expr) -> usize {
    match expr {
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) | Expr::Var(_) => 1,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => 1 + size(value),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            1 + size(left) + size(right)
        }
        Expr::Select { condition, then, otherwise } => {
            1 + size(condition) + size(then) + size(otherwise)
        }
    }
}

/// Whether a value may be put into an instruction: it has not become too large yet.
fn can_take(kind: &InstKind) -> bool {
    use InstKind::{Assign, Cas, Load, Rmw, Store};
    let mut whole = 0;
    kind.for_each_expr(&mut |expr| whole += size(expr));
    whole <= LARGEST
        && matches!(kind, Assign { .. } | Load { .. } | Store { .. } | Rmw { .. } | Cas { .. })
}

/// The expressions of an instruction that can take others.
fn expressions(kind: &mut InstKind) -> Vec<&mut Expr> {
    match kind {
        InstKind::Assign { value, .. } => vec![value],
        InstKind::Load { address, .. } => vec![address],
        InstKind::Store { address, value, .. } => vec![address, value],
        InstKind::Rmw { address, operand, .. } => vec![address, operand],
        InstKind::Cas { address, expected, desired, .. } => vec![address, expected, desired],
        _ => Vec::new(),
    }
}

fn condition(terminator: &mut Terminator) -> Vec<&mut Expr> {
    match terminator {
        Terminator::Branch { condition, .. } => vec![condition],
        Terminator::Return(Some(value)) => vec![value],
        _ => Vec::new(),
    }
}

fn replace(expr: &mut Expr, var: VarId, by: &Expr) {
    match expr {
        Expr::Var(found) if *found == var => *expr = by.clone(),
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) | Expr::Var(_) => {}
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => replace(value, var, by),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            replace(left, var, by);
            replace(right, var, by);
        }
        Expr::Select { condition, then, otherwise } => {
            replace(condition, var, by);
            replace(then, var, by);
            replace(otherwise, var, by);
        }
    }
}
