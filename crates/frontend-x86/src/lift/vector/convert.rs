//! Conversions between integers and floating-point numbers of both precisions.
//!
//! A number that fits into no integer of the width becomes the least one, which the manual calls
//! the integer indefinite value.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr, UnaryOp};

use super::super::{Lifted, Step};
use super::float::{is_no_number, quiet};
use super::join;

/// From what number, 2^52, on all numbers of double precision are integers.
const ALL_INTEGERS: f64 = 4503599627370496.0;

impl Step<'_> {
    pub(super) fn conversions(&mut self) -> Lifted<bool> {
        use Mnemonic::*;
        match self.mnemonic() {
            Cvtsi2ss => self.set_from_general(32)?,
            Cvtsi2sd => self.set_from_general(64)?,
            Cvtss2si => self.set_general(32, true)?,
            Cvttss2si => self.set_general(32, false)?,
            Cvtsd2si => self.set_general(64, true)?,
            Cvttsd2si => self.set_general(64, false)?,
            Cvtss2sd => {
                let value = self.low_part(1, 32)?;
                let value = self.widened(value);
                self.set_low(value, 64)?;
            }
            Cvtsd2ss => {
                let value = self.low_part(1, 64)?;
                let value = self.narrowed(value);
                self.set_low(value, 32)?;
            }
            Cvtdq2ps => self.convert(4, 32, |_, lane| from_integer(lane, 32, 32))?,
            Cvtdq2pd => self.convert(2, 32, |_, lane| from_integer(lane, 32, 64))?,
            Cvtps2pd => self.convert(2, 32, |step, lane| step.widened(lane))?,
            Cvtpd2ps => self.convert(2, 64, |step, lane| step.narrowed(lane))?,
            Cvtps2dq => self.convert(4, 32, |step, lane| step.word_of(lane, 32, true))?,
            Cvttps2dq => self.convert(4, 32, |step, lane| step.word_of(lane, 32, false))?,
            Cvtpd2dq => self.convert(2, 64, |step, lane| step.word_of(lane, 64, true))?,
            Cvttpd2dq => self.convert(2, 64, |step, lane| step.word_of(lane, 64, false))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// So many lanes of that width, each by itself; what is above in the result is zero.
    fn convert(&mut self, count: u32, width: u32, op: fn(&mut Self, Expr) -> Expr) -> Lifted<()> {
        let value = self.low_part(1, count * width)?;
        let results: Vec<Expr> =
            (0..count).map(|lane| op(self, value.clone().extract(lane * width, width))).collect();
        let whole = join(results);
        let place = self.place(0)?;
        // Two lanes of 32 bits are half of a register; all others fill it.
        let half =
            count == 2 && !matches!(self.mnemonic(), Mnemonic::Cvtdq2pd | Mnemonic::Cvtps2pd);
        self.write(&place, if half { whole.zero_extend(128) } else { whole });
        Ok(())
    }

    fn set_from_general(&mut self, width: u32) -> Lifted<()> {
        if !matches!(self.instruction.op_kind(1), OpKind::Register | OpKind::Memory) {
            return Err(self.refused("has an operand of another kind"));
        }
        let from = self.place(1)?;
        let value = self.read(&from);
        self.set_low(from_integer(value, from.width(), width), width)
    }

    fn set_general(&mut self, width: u32, rounds: bool) -> Lifted<()> {
        let value = self.low_part(1, width)?;
        let to = self.place(0)?;
        let result = match to.width() {
            64 => self.double_word_of(value, width, rounds),
            _ => self.word_of(value, width, rounds),
        };
        self.write(&to, result);
        Ok(())
    }

    /// A number of double precision, rounded to the nearest integer where asked for.
    pub(super) fn as_double(&mut self, value: Expr, width: u32, rounds: bool) -> Expr {
        let double = match width {
            32 => Expr::unary(UnaryOp::F32ToF64, value.zero_extend(64)),
            _ => value,
        };
        let double = self.out.hold(64, double);
        if !rounds {
            return double;
        }
        // Adding a number so great that the sum has no fraction rounds as the addition does.
        let sign = double.clone() & Expr::constant(64, 1 << 63);
        let great = Expr::constant(64, ALL_INTEGERS.to_bits().into());
        let magnitude = double.clone() & Expr::constant(64, (1 << 63) - 1);
        let is_small = Expr::binary(BinaryOp::FLt, magnitude, great.clone());
        let great = self.out.hold(64, great | sign);
        let sum = Expr::binary(BinaryOp::FAdd, double.clone(), great.clone());
        let rounded = Expr::binary(BinaryOp::FSub, sum, great);
        self.out.hold(64, is_small.select(rounded, double))
    }

    fn word_of(&mut self, value: Expr, width: u32, rounds: bool) -> Expr {
        let double = self.as_double(value, width, rounds);
        let integer = Expr::unary(UnaryOp::F64ToS64, double.clone());
        let integer = self.out.hold(64, integer);
        let low = integer.clone().extract(0, 32);
        let fits = low.clone().sign_extend(64).eq(integer) & !is_no_number(&double);
        fits.select(low, Expr::constant(32, 1 << 31))
    }

    fn double_word_of(&mut self, value: Expr, width: u32, rounds: bool) -> Expr {
        let double = self.as_double(value, width, rounds);
        let bound = |value: f64| Expr::constant(64, value.to_bits().into());
        let limit = 2f64.powi(63);
        let fits = Expr::binary(BinaryOp::FLe, bound(-limit), double.clone())
            & Expr::binary(BinaryOp::FLt, double.clone(), bound(limit));
        fits.select(Expr::unary(UnaryOp::F64ToS64, double), Expr::constant(64, 1 << 63))
    }

    /// Single precision to double. What is no number keeps its upper bits.
    fn widened(&mut self, value: Expr) -> Expr {
        let value = self.out.hold(32, value);
        let number = Expr::unary(UnaryOp::F32ToF64, value.clone().zero_extend(64));
        let sign = value.clone().extract(31, 1);
        let rest = value.clone().extract(0, 23).concat(Expr::constant(29, 0));
        let none = sign.concat(Expr::constant(11, 0x7ff)).concat(rest);
        let result = is_no_number(&value).select(quiet(none, 64), number);
        self.out.hold(64, result)
    }

    fn narrowed(&mut self, value: Expr) -> Expr {
        let value = self.out.hold(64, value);
        let number = Expr::unary(UnaryOp::F64ToF32, value.clone()).extract(0, 32);
        let sign = value.clone().extract(63, 1);
        let rest = value.clone().extract(29, 23);
        let none = sign.concat(Expr::constant(8, 0xff)).concat(rest);
        let result = is_no_number(&value).select(quiet(none, 32), number);
        self.out.hold(32, result)
    }
}

/// The nearest floating-point number.
fn from_integer(value: Expr, from: u32, to: u32) -> Expr {
    let value = if from < 64 { value.sign_extend(64) } else { value };
    match to {
        32 => Expr::unary(UnaryOp::S64ToF32, value).extract(0, 32),
        _ => Expr::unary(UnaryOp::S64ToF64, value),
    }
}
