//! Arithmetic and comparisons.

use parallax_program::BinaryOp;

use super::{Exact, Floats, Format, Special, Unpacked, Word, default_nan, number, quiet};
use crate::Literal;

impl Floats<'_> {
    /// None for operators without a circuit.
    pub fn binary(&mut self, op: BinaryOp, left: &[Literal], right: &[Literal]) -> Option<Word> {
        let format = Format::of_width(left.len())?;
        let operands =
            |floats: &mut Self| (floats.unpack(format, left), floats.unpack(format, right));
        Some(match op {
            BinaryOp::FAdd => self.add(format, left, right),
            BinaryOp::FSub => {
                let mut opposite = right.to_vec();
                if let Some(sign) = opposite.last_mut() {
                    *sign = !*sign;
                }
                let difference = self.add(format, left, &opposite);
                // A right operand that is no number keeps its sign.
                let (a, b) = operands(self);
                let kept = self.and(&[!a.nan, b.nan]);
                self.choose(kept, &quiet(format, right), &difference)
            }
            BinaryOp::FMul => {
                let (a, b) = operands(self);
                self.multiply(format, (left, &a), (right, &b))
            }
            BinaryOp::FDiv => {
                let (a, b) = operands(self);
                self.divide(format, (left, &a), (right, &b))
            }
            BinaryOp::FEq => vec![self.same(format, left, right)],
            BinaryOp::FLt => vec![self.less(format, left, right)],
            BinaryOp::FLe => {
                let either = [self.less(format, left, right), self.same(format, left, right)];
                vec![self.or(&either)]
            }
            BinaryOp::FUnordered => {
                let (a, b) = operands(self);
                vec![self.or(&[a.nan, b.nan])]
            }
            _ => return None,
        })
    }

    fn same(&mut self, format: Format, left: &[Literal], right: &[Literal]) -> Literal {
        let (a, b) = (self.unpack(format, left), self.unpack(format, right));
        let zeros = self.and(&[a.zero, b.zero]);
        let equal = self.gates.equal(left, right, self.solver);
        let same = self.or(&[zeros, equal]);
        self.and(&[same, !a.nan, !b.nan])
    }

    fn less(&mut self, format: Format, left: &[Literal], right: &[Literal]) -> Literal {
        let (a, b) = (self.unpack(format, left), self.unpack(format, right));
        let (x, y) = (&left[..format.width() - 1], &right[..format.width() - 1]);
        let (smaller, larger) =
            (self.gates.less(x, y, self.solver), self.gates.less(y, x, self.solver));
        let magnitude = self.gates.select(a.sign, larger, smaller, self.solver);
        let differ = self.xor(a.sign, b.sign);
        let less = self.gates.select(differ, a.sign, magnitude, self.solver);
        let zeros = self.and(&[a.zero, b.zero]);
        self.and(&[less, !zeros, !a.nan, !b.nan])
    }

    /// The pattern where an operand or the result is no number.
    fn nan_of(
        &mut self,
        format: Format,
        a: (&[Literal], &Unpacked),
        b: (&[Literal], &Unpacked),
    ) -> Word {
        let right = self.choose(b.1.nan, &quiet(format, b.0), &default_nan(format));
        self.choose(a.1.nan, &quiet(format, a.0), &right)
    }

    fn add(&mut self, format: Format, left: &[Literal], right: &[Literal]) -> Word {
        let (a, b) = (self.unpack(format, left), self.unpack(format, right));
        let nan = self.nan_of(format, (left, &a), (right, &b));
        // The one with the larger magnitude comes first.
        let magnitude = format.width() - 1;
        let swap = self.gates.less(&left[..magnitude], &right[..magnitude], self.solver);
        let (large, small) = (self.choose(swap, right, left), self.choose(swap, left, right));
        let (large, small) = (self.unpack(format, &large), self.unpack(format, &small));
        let subtract = self.xor(large.sign, small.sign);
        let distance = self.difference(&large.exponent, &small.exponent);
        // Three more bits below, one above.
        let widen = |significand: &[Literal]| {
            let mut bits = vec![Literal::FALSE; 3];
            bits.extend_from_slice(significand);
            bits
        };
        let mut base = widen(&large.significand);
        let mut other =
            self.shift_down(&widen(&small.significand), &distance[..super::EXPONENT - 1]);
        base.push(Literal::FALSE);
        other.push(Literal::FALSE);
        let other: Word = other.iter().map(|&bit| self.xor(bit, subtract)).collect();
        let sum = self.gates.sum(&base, &other, subtract, self.solver);
        let nothing = !self.or(&sum);
        let (significand, shifted) = self.normalise(sum);
        let exponent = self.sum(&large.exponent, &number(1));
        let exponent = self.difference(&exponent, &shifted);
        let infinite = self.or(&[a.infinite, b.infinite]);
        let opposite = self.and(&[a.infinite, b.infinite, subtract]);
        let both_negative = self.and(&[a.sign, b.sign]);
        let special = Special {
            nan,
            is_nan: self.or(&[a.nan, b.nan, opposite]),
            infinite,
            zero: nothing,
            sign: self.gates.select(infinite, large.sign, both_negative, self.solver),
        };
        self.pack(format, &Exact { sign: large.sign, exponent, significand }, &special)
    }

    fn multiply(
        &mut self,
        format: Format,
        left: (&[Literal], &Unpacked),
        right: (&[Literal], &Unpacked),
    ) -> Word {
        let (a, b) = (left.1, right.1);
        let width = 2 * format.precision();
        let wide = |significand: &[Literal]| {
            let mut bits = significand.to_vec();
            bits.resize(width, Literal::FALSE);
            bits
        };
        let product = self.gates.product(&wide(&a.significand), &wide(&b.significand), self.solver);
        let exponent = self.sum(&a.exponent, &b.exponent);
        let exponent = self.sum(&exponent, &number(1));
        let (zero, infinite) = (self.or(&[a.zero, b.zero]), self.or(&[a.infinite, b.infinite]));
        let invalid = self.and(&[zero, infinite]);
        let nan = self.nan_of(format, left, right);
        let sign = self.xor(a.sign, b.sign);
        let is_nan = self.or(&[a.nan, b.nan, invalid]);
        let exact = self.one_up(sign, exponent, product);
        self.pack(format, &exact, &Special { nan, is_nan, infinite, zero, sign })
    }

    fn divide(
        &mut self,
        format: Format,
        left: (&[Literal], &Unpacked),
        right: (&[Literal], &Unpacked),
    ) -> Word {
        let (a, b) = (left.1, right.1);
        let widen = |significand: &[Literal]| {
            let mut bits = significand.to_vec();
            bits.push(Literal::FALSE);
            bits
        };
        let (mut rest, divisor) = (widen(&a.significand), widen(&b.significand));
        let mut quotient = Vec::new();
        for _ in 0..format.precision() + 3 {
            let fits = !self.gates.less(&rest, &divisor, self.solver);
            let reduced = self.difference(&rest, &divisor);
            rest = self.choose(fits, &reduced, &rest);
            // It is less than the divisor now, so its highest bit is zero.
            rest.pop();
            rest.insert(0, Literal::FALSE);
            quotient.push(fits);
        }
        quotient.push(self.or(&rest));
        quotient.reverse();
        let exponent = self.difference(&a.exponent, &b.exponent);
        let sign = self.xor(a.sign, b.sign);
        let (zeros, infinities) =
            (self.and(&[a.zero, b.zero]), self.and(&[a.infinite, b.infinite]));
        let special = Special {
            nan: self.nan_of(format, left, right),
            is_nan: self.or(&[a.nan, b.nan, zeros, infinities]),
            infinite: self.or(&[a.infinite, b.zero]),
            zero: self.or(&[a.zero, b.infinite]),
            sign,
        };
        let exact = self.one_up(sign, exponent, quotient);
        self.pack(format, &exact, &special)
    }

    /// Shifted up by one place if the highest bit is not one.
    fn one_up(&mut self, sign: Literal, exponent: Word, significand: Word) -> Exact {
        let top = significand.last().copied().unwrap_or(Literal::FALSE);
        let mut moved = vec![Literal::FALSE];
        moved.extend_from_slice(&significand[..significand.len() - 1]);
        let significand = self.choose(top, &significand, &moved);
        let less = self.difference(&exponent, &number(1));
        let exponent = self.choose(top, &exponent, &less);
        Exact { sign, exponent, significand }
    }

    pub(super) fn square_root(&mut self, format: Format, bits: &[Literal]) -> Word {
        let a = self.unpack(format, bits);
        let precision = format.precision();
        let mut doubled = vec![Literal::FALSE];
        doubled.extend_from_slice(&a.significand);
        let mut plain = a.significand.clone();
        plain.push(Literal::FALSE);
        // Two bits before the point.
        let mut radicand = self.choose(a.exponent[0], &doubled, &plain);
        let length = precision + 2;
        let mut rest = vec![Literal::FALSE; length + 2];
        let mut root: Word = Vec::new();
        for _ in 0..length {
            let (high, low) = (
                radicand.pop().unwrap_or(Literal::FALSE),
                radicand.pop().unwrap_or(Literal::FALSE),
            );
            rest.splice(0..0, [low, high]);
            rest.truncate(length + 2);
            let mut trial = vec![Literal::TRUE, Literal::FALSE];
            trial.extend_from_slice(&root);
            trial.resize(length + 2, Literal::FALSE);
            let fits = !self.gates.less(&rest, &trial, self.solver);
            let reduced = self.difference(&rest, &trial);
            rest = self.choose(fits, &reduced, &rest);
            root.insert(0, fits);
        }
        root.insert(0, self.or(&rest));
        let mut exponent = a.exponent[1..].to_vec();
        exponent.push(a.exponent[super::EXPONENT - 1]);
        let negative = self.and(&[a.sign, !a.zero]);
        let special = Special {
            nan: self.choose(a.nan, &quiet(format, bits), &default_nan(format)),
            is_nan: self.or(&[a.nan, negative]),
            infinite: a.infinite,
            zero: a.zero,
            sign: a.sign,
        };
        let exact = Exact { sign: Literal::FALSE, exponent, significand: root };
        self.pack(format, &exact, &special)
    }
}
