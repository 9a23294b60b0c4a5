//! Simplification of arithmetic and shifts.

use parallax_program::{BinaryOp, Bits, UnaryOp};

use super::{Node, Term, Terms};

impl Terms {
    pub(super) fn negate(&mut self, value: Term) -> Term {
        if self.width(value) == 1 {
            return value;
        }
        match self.node(value) {
            Node::Unary(UnaryOp::Neg, inner) => inner,
            _ => self.intern(Node::Unary(UnaryOp::Neg, value)),
        }
    }

    pub(super) fn add(&mut self, left: Term, right: Term) -> Term {
        let width = self.width(left);
        if width == 1 {
            return self.bit_xor(left, right);
        }
        for (one, other) in [(left, right), (right, left)] {
            let Some(bits) = self.as_constant(one) else { continue };
            if bits.is_zero() {
                return other;
            }
            let (base, offset) = self.offset(other);
            if !offset.is_zero() {
                let offset = parallax_machine::binary(BinaryOp::Add, offset, bits);
                let offset = self.constant(offset);
                return self.add_offset(base, offset);
            }
            return self.add_offset(other, one);
        }
        if self.node(left) == Node::Unary(UnaryOp::Neg, right)
            || self.node(right) == Node::Unary(UnaryOp::Neg, left)
        {
            return self.zero(width);
        }
        self.commutative(BinaryOp::Add, left, right)
    }

    fn add_offset(&mut self, base: Term, offset: Term) -> Term {
        match self.as_constant(offset) {
            Some(bits) if bits.is_zero() => base,
            _ => self.commutative(BinaryOp::Add, base, offset),
        }
    }

    /// A term as something plus a constant.
    pub(super) fn offset(&self, term: Term) -> (Term, Bits) {
        if let Node::Binary(BinaryOp::Add, base, constant) = self.node(term)
            && let Some(bits) = self.as_constant(constant)
        {
            return (base, bits);
        }
        (term, Bits::zero(self.width(term)))
    }

    pub(super) fn subtract(&mut self, left: Term, right: Term) -> Term {
        let width = self.width(left);
        if width == 1 {
            return self.bit_xor(left, right);
        }
        if left == right {
            return self.zero(width);
        }
        if let Some(bits) = self.as_constant(right) {
            let opposite = self.constant(parallax_machine::unary(UnaryOp::Neg, bits));
            return self.add(left, opposite);
        }
        if self.as_constant(left).is_some_and(Bits::is_zero) {
            return self.negate(right);
        }
        let ((a, c), (b, d)) = (self.offset(left), self.offset(right));
        if a == b {
            return self.constant(parallax_machine::binary(BinaryOp::Sub, c, d));
        }
        if let Node::Binary(BinaryOp::Add, x, y) = self.node(left) {
            if x == right {
                return y;
            }
            if y == right {
                return x;
            }
        }
        self.intern(Node::Binary(BinaryOp::Sub, left, right))
    }

    pub(super) fn multiply(&mut self, left: Term, right: Term) -> Term {
        if self.width(left) == 1 {
            return self.bit_and(left, right);
        }
        for (one, other) in [(left, right), (right, left)] {
            let Some(bits) = self.as_constant(one) else { continue };
            if bits.is_zero() {
                return one;
            }
            if let Some(power) = power_of_two(bits) {
                return self.shift_left(other, power);
            }
        }
        self.commutative(BinaryOp::Mul, left, right)
    }

    pub(super) fn divide(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let width = self.width(left);
        if let Some(power) = self.as_constant(right).and_then(power_of_two) {
            match op {
                BinaryOp::UDiv => return self.shift_right(left, power),
                BinaryOp::URem if power == 0 => return self.zero(width),
                BinaryOp::URem => {
                    let rest = self.extract(left, 0, power);
                    return self.zero_extend(rest, width);
                }
                BinaryOp::SDiv if power == 0 && width > 1 => return left,
                BinaryOp::SRem if power == 0 && width > 1 => return self.zero(width),
                _ => {}
            }
        }
        self.intern(Node::Binary(op, left, right))
    }

    pub(super) fn shift(&mut self, op: BinaryOp, value: Term, amount: Term) -> Term {
        let width = self.width(value);
        if self.as_constant(value).is_some_and(Bits::is_zero) {
            return value;
        }
        let Some(amount_bits) = self.as_constant(amount) else {
            return self.intern(Node::Binary(op, value, amount));
        };
        let amount = u32::try_from(amount_bits.unsigned()).unwrap_or(u32::MAX).min(width);
        match op {
            BinaryOp::Shl => self.shift_left(value, amount),
            BinaryOp::LShr => self.shift_right(value, amount),
            _ => {
                let amount = amount.min(width - 1);
                let kept = self.extract(value, amount, width - amount);
                self.sign_extend(kept, width)
            }
        }
    }

    /// By less than or exactly the width.
    fn shift_left(&mut self, value: Term, amount: u32) -> Term {
        let width = self.width(value);
        if amount == 0 {
            return value;
        }
        let zeros = self.zero(amount);
        if amount >= width {
            return zeros;
        }
        let kept = self.extract(value, 0, width - amount);
        self.concat(kept, zeros)
    }

    fn shift_right(&mut self, value: Term, amount: u32) -> Term {
        let width = self.width(value);
        if amount >= width {
            return self.zero(width);
        }
        let kept = self.extract(value, amount, width - amount);
        self.zero_extend(kept, width)
    }
}

fn power_of_two(bits: Bits) -> Option<u32> {
    bits.unsigned().is_power_of_two().then(|| bits.unsigned().trailing_zeros())
}
