//! Computation on registers. An instruction whose name ends in a dot also compares its
//! result with zero into `cr0`.

use parallax_program::{BinaryOp, Diagnostic, Expr, UnaryOp};

use super::condition::Field;
use super::{WIDTH, read_or_zero};
use crate::asm::Register;
use crate::asm::lowering::Lowering;

/// Lowers an instruction of this file; false where it is none.
pub(super) fn lower(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    if name == "nop" {
        let [] = l.take()?;
        return Ok(true);
    }
    if constant(l, name)? || logical_immediate(l, name)? {
        return Ok(true);
    }
    let (base, record) = match name.strip_suffix('.') {
        Some(base) => (base, true),
        None => (name, false),
    };
    let probe = || Expr::constant(WIDTH, 0);
    if three_registers(base, probe(), probe()).is_some() {
        let [rd, ra, rb] = l.take()?;
        let (rd, ra, rb) = (l.register(rd)?, l.register(ra)?, l.register(rb)?);
        let (a, b) = (l.value(&ra), l.value(&rb));
        if let Some(value) = three_registers(base, a, b) {
            finish(l, &rd, value, record);
        }
    } else if two_registers(base, probe()).is_some() {
        let [rd, ra] = l.take()?;
        let (rd, ra) = (l.register(rd)?, l.register(ra)?);
        let a = l.value(&ra);
        if let Some(value) = two_registers(base, a) {
            finish(l, &rd, value, record);
        }
    } else {
        return Ok(shift_immediate(l, base, record)? || rotate_and_mask(l, base, record)?);
    }
    Ok(true)
}

fn finish(l: &mut Lowering, rd: &Register, value: Expr, record: bool) {
    l.set(rd, value);
    if record {
        let result = l.value(rd);
        Field::CR0.record(l, result);
    }
}

/// `name rd, ra, rb`
fn three_registers(name: &str, a: Expr, b: Expr) -> Option<Expr> {
    use BinaryOp::*;
    Some(match name {
        "add" => a + b,
        "sub" => a - b,
        "subf" => b - a,
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "nand" => !(a & b),
        "nor" => !(a | b),
        "eqv" => !(a ^ b),
        "andc" => a & !b,
        "orc" => a | !b,
        "mulld" => a * b,
        "mullw" => low(a).sign_extend(WIDTH) * low(b).sign_extend(WIDTH),
        "divd" => Expr::binary(SDiv, a, b),
        "divdu" => Expr::binary(UDiv, a, b),
        "divw" => Expr::binary(SDiv, low(a), low(b)).sign_extend(WIDTH),
        "divwu" => Expr::binary(UDiv, low(a), low(b)).zero_extend(WIDTH),
        "sld" => Expr::binary(Shl, a, b & Expr::constant(WIDTH, 127)),
        "srd" => Expr::binary(LShr, a, b & Expr::constant(WIDTH, 127)),
        "srad" => Expr::binary(AShr, a, b & Expr::constant(WIDTH, 127)),
        "slw" => Expr::binary(Shl, low(a), amount(b)).zero_extend(WIDTH),
        "srw" => Expr::binary(LShr, low(a), amount(b)).zero_extend(WIDTH),
        "sraw" => Expr::binary(AShr, low(a), amount(b)).sign_extend(WIDTH),
        _ => return None,
    })
}

/// The low word.
fn low(value: Expr) -> Expr {
    value.extract(0, 32)
}

/// How far the shifts of words go.
fn amount(value: Expr) -> Expr {
    low(value) & Expr::constant(32, 63)
}

/// `name rd, ra`
fn two_registers(name: &str, a: Expr) -> Option<Expr> {
    Some(match name {
        "mr" => a,
        "not" => !a,
        "neg" => Expr::unary(UnaryOp::Neg, a),
        "extsb" => a.extract(0, 8).sign_extend(WIDTH),
        "extsh" => a.extract(0, 16).sign_extend(WIDTH),
        "extsw" => a.extract(0, 32).sign_extend(WIDTH),
        _ => return None,
    })
}

/// Loading and adding constants.
fn constant(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    let (scale, sign) = match name {
        "li" | "addi" => (1, 1),
        "lis" | "addis" => (1 << 16, 1),
        "subi" => (1, -1),
        "subis" => (1 << 16, -1),
        "mulli" => (1, 1),
        _ => return Ok(false),
    };
    let (rd, left, value) = if name.starts_with("li") {
        let [rd, value] = l.take()?;
        (l.register(rd)?, None, value)
    } else {
        let [rd, ra, value] = l.take()?;
        (l.register(rd)?, Some(l.register(ra)?), value)
    };
    let value = Expr::signed(WIDTH, l.integer(value)? * scale * sign);
    let result = match left {
        Some(ra) if name == "mulli" => l.value(&ra) * value,
        Some(ra) => read_or_zero(l, &ra) + value,
        None => value,
    };
    l.set(&rd, result);
    Ok(true)
}

fn logical_immediate(l: &mut Lowering, name: &str) -> Result<bool, Diagnostic> {
    let (op, scale, record) = match name {
        "ori" => (BinaryOp::Or, 1, false),
        "oris" => (BinaryOp::Or, 1 << 16, false),
        "xori" => (BinaryOp::Xor, 1, false),
        "xoris" => (BinaryOp::Xor, 1 << 16, false),
        "andi." => (BinaryOp::And, 1, true),
        "andis." => (BinaryOp::And, 1 << 16, true),
        _ => return Ok(false),
    };
    let [rd, ra, value] = l.take()?;
    let (rd, ra) = (l.register(rd)?, l.register(ra)?);
    let value = Expr::signed(WIDTH, l.integer(value)? * scale);
    let result = Expr::binary(op, l.value(&ra), value);
    finish(l, &rd, result, record);
    Ok(true)
}

fn shift_immediate(l: &mut Lowering, name: &str, record: bool) -> Result<bool, Diagnostic> {
    let (op, width) = match name {
        "slwi" => (BinaryOp::Shl, 32),
        "srwi" => (BinaryOp::LShr, 32),
        "srawi" => (BinaryOp::AShr, 32),
        "sldi" => (BinaryOp::Shl, 64),
        "srdi" => (BinaryOp::LShr, 64),
        "sradi" => (BinaryOp::AShr, 64),
        _ => return Ok(false),
    };
    let [rd, ra, by] = l.take()?;
    let (rd, ra) = (l.register(rd)?, l.register(ra)?);
    let by = Expr::signed(width, l.integer_in(by, 0, i128::from(width) - 1)?);
    let value = l.value(&ra).resize(WIDTH, width);
    let shifted = Expr::binary(op, value, by);
    let result = match (width, op) {
        (WIDTH, _) => shifted,
        (_, BinaryOp::AShr) => shifted.sign_extend(WIDTH),
        _ => shifted.zero_extend(WIDTH),
    };
    finish(l, &rd, result, record);
    Ok(true)
}

/// `rlwinm rd, ra, sh, mb, me`: the low word, in both halves, rotated left; kept are the bits
/// from `mb` to `me`, numbered from the top of the word, around its end where `mb` is larger.
fn rotate_and_mask(l: &mut Lowering, name: &str, record: bool) -> Result<bool, Diagnostic> {
    if name != "rlwinm" {
        return Ok(false);
    }
    let [rd, ra, by, first, last] = l.take()?;
    let (rd, ra) = (l.register(rd)?, l.register(ra)?);
    let by = l.integer_in(by, 0, 31)? as u32;
    let first = l.integer_in(first, 0, 31)? as u32;
    let last = l.integer_in(last, 0, 31)? as u32;
    let word = low(l.value(&ra));
    let twice = word.clone().concat(word);
    let rotated = twice.clone().extract(32 - by, 32).concat(twice.extract(32 - by, 32));
    let ones = |from: u32| u64::from(u32::MAX >> from);
    let (from_first, up_to_last) = (ones(first), !(ones(last) >> 1));
    // Around the end, the upper half of the register is in between.
    let mask = if first <= last { from_first & up_to_last } else { from_first | up_to_last };
    let result = rotated & Expr::constant(WIDTH, u128::from(mask));
    finish(l, &rd, result, record);
    Ok(true)
}
