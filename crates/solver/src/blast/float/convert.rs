//! Conversions between formats, and from and to integers of 64 bits.

use parallax_program::UnaryOp;

use super::{EXPONENT, Exact, Floats, Format, Special, Word, number};
use crate::Literal;

const WORD: usize = 64;

impl Floats<'_> {
    /// None for operators that are not of numbers.
    pub fn unary(&mut self, op: UnaryOp, value: &[Literal]) -> Option<Word> {
        let (single, double) = (Format::SINGLE, Format::DOUBLE);
        if op == UnaryOp::FSqrt {
            return Some(self.square_root(Format::of_width(value.len())?, value));
        }
        if value.len() != WORD {
            return None;
        }
        let mut bits = match op {
            UnaryOp::F32ToF64 => self.reformat(single, double, &value[..single.width()]),
            UnaryOp::F64ToF32 => self.reformat(double, single, value),
            UnaryOp::F64ToS64 => self.float_as_integer(value, true),
            UnaryOp::F64ToU64 => self.float_as_integer(value, false),
            UnaryOp::S64ToF64 => self.integer_as_float(double, value, true),
            UnaryOp::U64ToF64 => self.integer_as_float(double, value, false),
            UnaryOp::S64ToF32 => self.integer_as_float(single, value, true),
            UnaryOp::U64ToF32 => self.integer_as_float(single, value, false),
            _ => return None,
        };
        bits.resize(WORD, Literal::FALSE);
        Some(bits)
    }

    fn reformat(&mut self, from: Format, to: Format, bits: &[Literal]) -> Word {
        let a = self.unpack(from, bits);
        // The upper bits of the mantissa, the highest of them set.
        let kept = from.mantissa.min(to.mantissa);
        let mut nan = vec![Literal::FALSE; to.mantissa - kept];
        nan.extend_from_slice(&bits[from.mantissa - kept..from.mantissa]);
        nan[to.mantissa - 1] = Literal::TRUE;
        nan.resize(to.width() - 1, Literal::TRUE);
        nan.push(a.sign);
        let special =
            Special { nan, is_nan: a.nan, infinite: a.infinite, zero: a.zero, sign: a.sign };
        let room = (to.precision() + 2).saturating_sub(a.significand.len());
        let mut significand = vec![Literal::FALSE; room];
        significand.extend_from_slice(&a.significand);
        self.pack(to, &Exact { sign: a.sign, exponent: a.exponent, significand }, &special)
    }

    fn integer_as_float(&mut self, format: Format, value: &[Literal], signed: bool) -> Word {
        let sign = if signed { value[WORD - 1] } else { Literal::FALSE };
        let opposite = self.gates.negation(value, self.solver);
        let magnitude = self.choose(sign, &opposite, value);
        let zero = !self.or(&magnitude);
        let (significand, shifted) = self.normalise(magnitude);
        let exponent = self.difference(&number(WORD as i64 - 1), &shifted);
        let special = Special {
            nan: vec![Literal::FALSE; format.width()],
            is_nan: Literal::FALSE,
            infinite: Literal::FALSE,
            zero,
            sign: Literal::FALSE,
        };
        self.pack(format, &Exact { sign, exponent, significand }, &special)
    }

    /// Rounded to zero; what does not fit gives the nearest that does, no number gives zero.
    fn float_as_integer(&mut self, bits: &[Literal], signed: bool) -> Word {
        let a = self.unpack(Format::DOUBLE, bits);
        let mut aligned = vec![Literal::FALSE; WORD - a.significand.len()];
        aligned.extend_from_slice(&a.significand);
        // As if the highest bit counted 2^63.
        let amount = self.difference(&number(WORD as i64 - 1), &a.exponent);
        let magnitude =
            self.gates.shift_down(&aligned, &amount[..EXPONENT - 1], Literal::FALSE, self.solver);
        let most = if signed { WORD as i64 - 2 } else { WORD as i64 - 1 };
        // So is infinity, by its exponent.
        let too_large = self.gates.signed_less(&number(most), &a.exponent, self.solver);
        let opposite = self.gates.negation(&magnitude, self.solver);
        let (low, high, inside) = match signed {
            true => {
                let mut least = vec![Literal::FALSE; WORD - 1];
                least.push(Literal::TRUE);
                let greatest = least.iter().map(|&bit| !bit).collect();
                (least, greatest, self.choose(a.sign, &opposite, &magnitude))
            }
            false => {
                let least = vec![Literal::FALSE; WORD];
                let inside = self.choose(a.sign, &least, &magnitude);
                (least, vec![Literal::TRUE; WORD], inside)
            }
        };
        let limit: Word = self.choose(a.sign, &low, &high);
        let value = self.choose(too_large, &limit, &inside);
        self.choose(a.nan, &vec![Literal::FALSE; WORD], &value)
    }
}
