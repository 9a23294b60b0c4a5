//! Jumps and conditional branches.

use parallax_program::{BinaryOp, Diagnostic, Expr, Terminator};

use super::{WIDTH, read};
use crate::asm::lowering::Lowering;

use BinaryOp::*;

/// Branches on two registers: name, comparison, whether the operands change places.
const TWO: &[(&str, BinaryOp, bool)] = &[
    ("beq", Eq, false),
    ("bne", Ne, false),
    ("blt", Slt, false),
    ("bltu", Ult, false),
    ("bge", Sle, true),
    ("bgeu", Ule, true),
    ("bgt", Slt, true),
    ("bgtu", Ult, true),
    ("ble", Sle, false),
    ("bleu", Ule, false),
];

/// Branches on a register and zero.
const ONE: &[(&str, BinaryOp, bool)] = &[
    ("beqz", Eq, false),
    ("bnez", Ne, false),
    ("bltz", Slt, false),
    ("bgez", Sle, true),
    ("bgtz", Slt, true),
    ("blez", Sle, false),
];

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    let find = |table: &[(&str, BinaryOp, bool)]| {
        let row = table.iter().find(|row| row.0 == name);
        row.map(|(_, op, swap)| (*op, *swap))
    };
    if name == "ret" {
        let [] = l.take()?;
        l.thread.function.terminate(Terminator::Return(None));
    } else if name == "j" {
        let [label] = l.take()?;
        let target = l.label(label)?;
        l.thread.function.terminate(Terminator::Jump(target));
    } else if let Some((op, swap)) = find(TWO) {
        let [a, b, label] = l.take()?;
        let (a, b) = (l.register(a)?, l.register(b)?);
        let (a, b) = (read(l, &a), read(l, &b));
        branch(l, op, swap, a, b, label)?;
    } else if let Some((op, swap)) = find(ONE) {
        let [a, label] = l.take()?;
        let a = l.register(a)?;
        let a = read(l, &a);
        branch(l, op, swap, a, Expr::constant(WIDTH, 0), label)?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn branch(
    l: &mut Lowering,
    op: BinaryOp,
    swap: bool,
    a: Expr,
    b: Expr,
    label: &str,
) -> Result<(), Diagnostic> {
    let (left, right) = if swap { (b, a) } else { (a, b) };
    let target = l.label(label)?;
    let condition = Expr::binary(op, left, right);
    l.thread.function.branch(condition, target);
    Ok(())
}
