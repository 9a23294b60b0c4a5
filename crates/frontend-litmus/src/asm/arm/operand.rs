//! The flexible second operand: a constant, a register, or a shifted register.

use parallax_program::{BinaryOp, Diagnostic, Expr};

use super::WIDTH;
use crate::asm::lowering::Lowering;

/// The value of a second operand.
pub(super) struct Operand {
    pub(super) value: Expr,
    /// The bit that comes out of the shifter, where there is one.
    pub(super) carry: Option<Expr>,
}

/// Reads a second operand: `#1`, `R2`, or `R2` and `LSL #3`.
pub(super) fn read(l: &mut Lowering, parts: &[&str]) -> Result<Operand, Diagnostic> {
    match parts {
        [text] if is_constant(text) => {
            let value = constant(l, text)?;
            let rotated = !(0..=255).contains(&value);
            let value = Expr::signed(WIDTH, value);
            let carry = rotated.then(|| value.clone().extract(WIDTH - 1, 1));
            Ok(Operand { value, carry })
        }
        [text] => {
            let register = l.register(text)?;
            let value = l.value(&register);
            Ok(Operand { value, carry: None })
        }
        [text, shift] => {
            let register = l.register(text)?;
            let value = l.value(&register);
            shifted(l, value, shift)
        }
        _ => {
            let message = format!("`{}` has too few or too many operands", l.mnemonic);
            Err(l.error(l.mnemonic, message))
        }
    }
}

/// `value` shifted as `LSL #3` says.
pub(super) fn shifted(l: &Lowering, value: Expr, shift: &str) -> Result<Operand, Diagnostic> {
    let (name, by) =
        shift.split_once(|c: char| c.is_whitespace() || c == '#').unwrap_or((shift, ""));
    let (op, least, most) = match name.to_ascii_uppercase().as_str() {
        "LSL" => (BinaryOp::Shl, 0, 31),
        "LSR" => (BinaryOp::LShr, 1, 32),
        "ASR" => (BinaryOp::AShr, 1, 32),
        _ => return Err(l.expected("`LSL`, `LSR` or `ASR`", shift)),
    };
    let by = by.trim();
    let by = l.integer_in(by.strip_prefix('#').unwrap_or(by), least, most)?;
    shift_by(value, op, by).ok_or_else(|| l.expected("a shift by a constant", shift))
}

/// A shift by 0 to 32.
pub(super) fn shift_by(value: Expr, op: BinaryOp, by: i128) -> Option<Operand> {
    let by = u32::try_from(by).ok().filter(|by| *by <= WIDTH)?;
    let last_out = match (op, by) {
        (_, 0) => None,
        (BinaryOp::Shl, by) => Some(WIDTH - by),
        (_, by) => Some(by - 1),
    };
    let carry = last_out.map(|bit| value.clone().extract(bit, 1));
    let value = Expr::binary(op, value, Expr::constant(WIDTH, by.into()));
    Some(Operand { value, carry })
}

pub(super) fn is_constant(text: &str) -> bool {
    text.starts_with(|c: char| c == '#' || c == '-' || c.is_ascii_digit())
}

/// A constant, with or without `#`, that fits a register.
pub(super) fn constant(l: &Lowering, text: &str) -> Result<i128, Diagnostic> {
    let digits = text.strip_prefix('#').map_or(text, str::trim);
    l.integer_in(digits, -(1 << 31), (1 << 32) - 1)
}
