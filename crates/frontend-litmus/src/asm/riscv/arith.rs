//! Computation on registers: RV64I, RV64M and the usual pseudo-instructions.

use parallax_program::{BinaryOp, Diagnostic, Expr};

use super::{WIDTH, read, write};
use crate::asm::lowering::Lowering;

/// Where the right operand comes from.
#[derive(Clone, Copy, PartialEq)]
enum Right {
    Register,
    Immediate,
}

use BinaryOp::*;
use Right::*;

/// Instructions on two operands: name, operator, right operand, bits computed on.
const OPERATIONS: &[(&str, BinaryOp, Right, u32)] = &[
    ("add", Add, Register, 64),
    ("sub", Sub, Register, 64),
    ("and", And, Register, 64),
    ("or", Or, Register, 64),
    ("xor", Xor, Register, 64),
    ("sll", Shl, Register, 64),
    ("srl", LShr, Register, 64),
    ("sra", AShr, Register, 64),
    ("slt", Slt, Register, 64),
    ("sltu", Ult, Register, 64),
    ("mul", Mul, Register, 64),
    ("div", SDiv, Register, 64),
    ("divu", UDiv, Register, 64),
    ("rem", SRem, Register, 64),
    ("remu", URem, Register, 64),
    ("addi", Add, Immediate, 64),
    ("andi", And, Immediate, 64),
    ("ori", Or, Immediate, 64),
    ("xori", Xor, Immediate, 64),
    ("slli", Shl, Immediate, 64),
    ("srli", LShr, Immediate, 64),
    ("srai", AShr, Immediate, 64),
    ("slti", Slt, Immediate, 64),
    ("sltiu", Ult, Immediate, 64),
    ("addw", Add, Register, 32),
    ("subw", Sub, Register, 32),
    ("sllw", Shl, Register, 32),
    ("srlw", LShr, Register, 32),
    ("sraw", AShr, Register, 32),
    ("mulw", Mul, Register, 32),
    ("divw", SDiv, Register, 32),
    ("divuw", UDiv, Register, 32),
    ("remw", SRem, Register, 32),
    ("remuw", URem, Register, 32),
    ("addiw", Add, Immediate, 32),
    ("slliw", Shl, Immediate, 32),
    ("srliw", LShr, Immediate, 32),
    ("sraiw", AShr, Immediate, 32),
];

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    if let Some((_, op, right, width)) = OPERATIONS.iter().find(|row| row.0 == name) {
        operation(l, *op, *right, *width)?;
        return Ok(true);
    }
    match name {
        "nop" => l.take().map(|[]| ())?,
        "li" => {
            let [rd, value] = l.take()?;
            let rd = l.register(rd)?;
            let value = Expr::signed(WIDTH, l.integer(value)?);
            write(l, &rd, value);
        }
        "lui" => {
            let [rd, value] = l.take()?;
            let rd = l.register(rd)?;
            let value = l.integer_in(value, -(1 << 19), (1 << 20) - 1)?;
            let upper = Expr::signed(WIDTH, i128::from((value << 12) as i32));
            write(l, &rd, upper);
        }
        _ => return one_operand(l, name),
    }
    Ok(true)
}

fn operation(l: &mut Lowering, op: BinaryOp, right: Right, width: u32) -> Result<(), Diagnostic> {
    let [rd, rs1, rs2] = l.take()?;
    let (rd, rs1) = (l.register(rd)?, l.register(rs1)?);
    let is_shift = matches!(op, Shl | LShr | AShr);
    let right = match right {
        Immediate if is_shift => Expr::signed(width, l.integer_in(rs2, 0, i128::from(width) - 1)?),
        Immediate => Expr::signed(width, l.integer(rs2)?),
        Register => {
            let rs2 = l.register(rs2)?;
            let value = read(l, &rs2).resize(WIDTH, width);
            if is_shift { value & Expr::constant(width, u128::from(width) - 1) } else { value }
        }
    };
    let left = read(l, &rs1).resize(WIDTH, width);
    let result = Expr::binary(op, left, right);
    let result = if op.is_comparison() {
        result.zero_extend(WIDTH)
    } else if width < WIDTH {
        result.sign_extend(WIDTH)
    } else {
        result
    };
    write(l, &rd, result);
    Ok(())
}

/// `name rd, rs`
fn one_operand(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    let zero = || Expr::constant(WIDTH, 0);
    let less = |a, b| Expr::binary(Slt, a, b).zero_extend(WIDTH);
    let compute = |x: Expr| match name {
        "mv" => Some(x),
        "not" => Some(!x),
        "neg" => Some(zero() - x),
        "negw" => Some((zero() - x).extract(0, 32).sign_extend(WIDTH)),
        "sext.b" => Some(x.extract(0, 8).sign_extend(WIDTH)),
        "sext.h" => Some(x.extract(0, 16).sign_extend(WIDTH)),
        "sext.w" => Some(x.extract(0, 32).sign_extend(WIDTH)),
        "zext.b" => Some(x.extract(0, 8).zero_extend(WIDTH)),
        "zext.h" => Some(x.extract(0, 16).zero_extend(WIDTH)),
        "zext.w" => Some(x.extract(0, 32).zero_extend(WIDTH)),
        "seqz" => Some(x.eq(zero()).zero_extend(WIDTH)),
        "snez" => Some(x.ne(zero()).zero_extend(WIDTH)),
        "sltz" => Some(less(x, zero())),
        "sgtz" => Some(less(zero(), x)),
        _ => None,
    };
    if compute(zero()).is_none() {
        return Ok(false);
    }
    let [rd, rs] = l.take()?;
    let (rd, rs) = (l.register(rd)?, l.register(rs)?);
    if let Some(value) = compute(read(l, &rs)) {
        write(l, &rd, value);
    }
    Ok(true)
}
