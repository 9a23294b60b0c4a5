//! Computation on registers, comparisons, and branches on a register.

use parallax_program::{BinaryOp, Diagnostic, Expr};

use super::WIDTH;
use super::flags::Flags;
use super::operand::{self, Operand};
use crate::asm::lowering::Lowering;

/// What a data-processing instruction computes from its operands.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Operation {
    Add,
    Subtract,
    ReverseSubtract,
    And,
    Or,
    OrNot,
    Xor,
    Clear,
    Multiply,
    /// Of the second operand alone.
    Move,
    MoveNot,
    Shift(BinaryOp),
}

use Operation::*;

impl Operation {
    pub(super) fn parse(name: &str) -> Option<Operation> {
        Some(match name {
            "ADD" => Add,
            "SUB" => Subtract,
            "RSB" => ReverseSubtract,
            "AND" => And,
            "ORR" => Or,
            "ORN" => OrNot,
            // `XOR` is herd7's word for it.
            "EOR" | "XOR" => Xor,
            "BIC" => Clear,
            "MUL" => Multiply,
            "MOV" => Move,
            "MVN" => MoveNot,
            "LSL" => Shift(BinaryOp::Shl),
            "LSR" => Shift(BinaryOp::LShr),
            "ASR" => Shift(BinaryOp::AShr),
            _ => return None,
        })
    }

    /// Instructions that compute for the flags only.
    pub(super) fn parse_test(name: &str) -> Option<Operation> {
        Some(match name {
            "CMP" => Subtract,
            "CMN" => Add,
            "TST" => And,
            "TEQ" => Xor,
            _ => return None,
        })
    }

    fn apply(self, a: Expr, b: Expr) -> Expr {
        match self {
            Add => a + b,
            Subtract => a - b,
            ReverseSubtract => b - a,
            And => a & b,
            Or => a | b,
            OrNot => a | !b,
            Xor => a ^ b,
            Clear => a & !b,
            Multiply => a * b,
            Move | Shift(_) => b,
            MoveNot => !b,
        }
    }

    fn flags(self, a: Expr, b: Expr, carry: Option<Expr>, result: Expr) -> Flags {
        match self {
            Add => Flags::of_sum(a, b, result),
            Subtract => Flags::of_difference(a, b, result),
            ReverseSubtract => Flags::of_difference(b, a, result),
            _ => Flags::of_result(result, carry),
        }
    }
}

/// `op rd, rn, operand`, or `op rd, operand` where one operand is all there is to compute on,
/// and where `rd` is also the first operand.
pub(super) fn compute(l: &mut Lowering, op: Operation, set_flags: bool) -> Result<(), Diagnostic> {
    let operands = l.operands.clone();
    let Some((rd, rest)) = operands.split_first() else {
        return Err(l.expected("a register", ""));
    };
    let (first, second) = match (op, rest) {
        (Move | MoveNot, second) => (rd, second),
        (_, [second]) => (rd, std::slice::from_ref(second)),
        (_, [first, second @ ..]) => (first, second),
        (_, []) => return Err(l.expected("a register", "")),
    };
    let (rd, first) = (l.register(rd)?, l.register(first)?);
    let a = l.value(&first);
    let b = match op {
        Shift(shift) => shift_operand(l, a.clone(), shift, second)?,
        _ => operand::read(l, second)?,
    };
    if set_flags {
        let (result, flags) = result_and_flags(l, op, a, b);
        l.set(&rd, result);
        flags.set(l);
    } else {
        l.set(&rd, op.apply(a, b.value));
    }
    Ok(())
}

/// What a shift instruction makes of `value`.
fn shift_operand(
    l: &mut Lowering,
    value: Expr,
    op: BinaryOp,
    by: &[&str],
) -> Result<Operand, Diagnostic> {
    let [by] = by else {
        let message = format!("`{}` takes 3 operands", l.mnemonic);
        return Err(l.error(l.mnemonic, message));
    };
    if !operand::is_constant(by) {
        let message = "a shift by a register is not supported";
        return Err(l.error(by, message));
    }
    let amount = operand::constant(l, by)?;
    operand::shift_by(value, op, amount).ok_or_else(|| l.expected("a shift by 0 to 32", by))
}

/// `op rn, operand`
pub(super) fn test(l: &mut Lowering, op: Operation) -> Result<(), Diagnostic> {
    let operands = l.operands.clone();
    let Some((first, second)) = operands.split_first() else {
        return Err(l.expected("a register", ""));
    };
    let first = l.register(first)?;
    let a = l.value(&first);
    let b = operand::read(l, second)?;
    let (_, flags) = result_and_flags(l, op, a, b);
    flags.set(l);
    Ok(())
}

/// The result and the flags, as functions of copies of the operands, which stay as they are
/// when the destination is written.
fn result_and_flags(l: &mut Lowering, op: Operation, a: Expr, b: Operand) -> (Expr, Flags) {
    let a = Expr::Var(l.hold(WIDTH, a));
    let carry = b.carry.map(|carry| Expr::Var(l.hold(1, carry)));
    let b = Expr::Var(l.hold(WIDTH, b.value));
    let result = Expr::Var(l.hold(WIDTH, op.apply(a.clone(), b.clone())));
    (result.clone(), op.flags(a, b, carry, result))
}

/// `MOVW rd, #half` and `MOVT rd, #half`.
pub(super) fn move_half(l: &mut Lowering, top: bool) -> Result<(), Diagnostic> {
    let [rd, value] = l.take()?;
    let rd = l.register(rd)?;
    let value = value.strip_prefix('#').map_or(value, str::trim);
    let value = l.integer_in(value, 0, 0xffff)?;
    let value = match top {
        true => Expr::signed(16, value).concat(l.value(&rd).extract(0, 16)),
        false => Expr::signed(WIDTH, value),
    };
    l.set(&rd, value);
    Ok(())
}

/// `CBZ rn, label` and `CBNZ rn, label`.
pub(super) fn branch_if_zero(l: &mut Lowering, zero: bool) -> Result<(), Diagnostic> {
    let [register, label] = l.take()?;
    let register = l.register(register)?;
    let target = l.label(label)?;
    let is_zero = l.value(&register).eq(Expr::constant(WIDTH, 0));
    let condition = if zero { is_zero } else { !is_zero };
    l.thread.function.branch(condition, target);
    Ok(())
}
