//! Simplification of comparisons and of choices between terms.

use parallax_program::{BinaryOp, Bits, UnaryOp};

use super::{Node, Term, Terms, ones};

impl Terms {
    pub(super) fn equal(&mut self, left: Term, right: Term) -> Term {
        if left == right {
            return self.truth();
        }
        if self.complementary(left, right) {
            return self.falsity();
        }
        if self.width(left) == 1 {
            let differ = self.bit_xor(left, right);
            return self.complement(differ);
        }
        let ((a, c), (b, d)) = (self.offset(left), self.offset(right));
        if a == b {
            return self.bool(c == d);
        }
        let constant = self.as_constant(left).map(|bits| (right, bits));
        let constant = constant.or_else(|| self.as_constant(right).map(|bits| (left, bits)));
        if let Some((value, bits)) = constant
            && let Some(result) = self.equals_constant(value, bits)
        {
            return result;
        }
        self.commutative(BinaryOp::Eq, left, right)
    }

    /// Rules for `value = bits`. Both are at least two bits wide, `value` is no constant.
    fn equals_constant(&mut self, value: Term, bits: Bits) -> Option<Term> {
        let rest = |terms: &mut Terms, value: Term, bits: Bits| {
            let bits = terms.constant(bits);
            Some(terms.equals(value, bits))
        };
        match self.node(value) {
            Node::Binary(op @ (BinaryOp::Add | BinaryOp::Xor), base, constant) => {
                let constant = self.as_constant(constant)?;
                let inverse = if op == BinaryOp::Add { BinaryOp::Sub } else { op };
                rest(self, base, parallax_machine::binary(inverse, bits, constant))
            }
            Node::Unary(op @ (UnaryOp::Not | UnaryOp::Neg), inner) => {
                rest(self, inner, parallax_machine::unary(op, bits))
            }
            Node::ZeroExtend { value, width } => {
                let low = bits.extract(0, self.width(value));
                if low.zero_extend(width) == bits {
                    rest(self, value, low)
                } else {
                    Some(self.falsity())
                }
            }
            Node::SignExtend { value, width } => {
                let low = bits.extract(0, self.width(value));
                if low.sign_extend(width) == bits {
                    rest(self, value, low)
                } else {
                    Some(self.falsity())
                }
            }
            Node::Concat { high, low } => {
                let split = self.width(low);
                let above = self.constant(bits.extract(split, self.width(high)));
                let below = self.constant(bits.extract(0, split));
                let (above, below) = (self.equals(high, above), self.equals(low, below));
                Some(self.and(above, below))
            }
            Node::Select { condition, then, otherwise } => {
                self.choice_equals(condition, then, otherwise, bits)
            }
            _ => None,
        }
    }

    /// A choice in which one of the arms is a constant.
    fn choice_equals(
        &mut self,
        condition: Term,
        then: Term,
        otherwise: Term,
        bits: Bits,
    ) -> Option<Term> {
        match (self.as_constant(then), self.as_constant(otherwise)) {
            (Some(a), Some(b)) => Some(match (a == bits, b == bits) {
                (true, false) => condition,
                (false, true) => self.complement(condition),
                (both, _) => self.bool(both),
            }),
            _ => None,
        }
    }

    /// `Ult` and `Slt`.
    pub(super) fn less(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let width = self.width(left);
        if left == right {
            return self.falsity();
        }
        if width == 1 {
            let (low, high) = if op == BinaryOp::Ult { (left, right) } else { (right, left) };
            let low = self.complement(low);
            return self.bit_and(low, high);
        }
        let sign = 1u128 << (width - 1);
        let (least, greatest) = match op {
            BinaryOp::Ult => (Bits::zero(width), ones(width)),
            _ => (Bits::new(width, sign), Bits::new(width, !sign)),
        };
        if let Some(bits) = self.as_constant(right) {
            if bits == least {
                return self.falsity();
            }
            if bits.unsigned() == least.unsigned().wrapping_add(1) {
                let least = self.constant(least);
                return self.equal(left, least);
            }
            if bits == greatest {
                let equal = self.equal(left, right);
                return self.complement(equal);
            }
        }
        if let Some(bits) = self.as_constant(left) {
            if bits == greatest {
                return self.falsity();
            }
            if bits == least {
                let equal = self.equal(left, right);
                return self.complement(equal);
            }
        }
        self.intern(Node::Binary(op, left, right))
    }

    /// `then` where the one-bit condition is 1.
    pub fn select(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        if let Some(bits) = self.as_constant(condition) {
            return if bits.is_zero() { otherwise } else { then };
        }
        if let Node::Unary(UnaryOp::Not, opposite) = self.node(condition) {
            return self.select(opposite, otherwise, then);
        }
        let then = self.arm(condition, then, true);
        let otherwise = self.arm(condition, otherwise, false);
        if then == otherwise {
            return then;
        }
        if self.width(then) == 1 {
            return self.select_bit(condition, then, otherwise);
        }
        self.intern(Node::Select { condition, then, otherwise })
    }

    /// What a term is where the condition has that value.
    fn arm(&mut self, condition: Term, arm: Term, value: bool) -> Term {
        match self.node(arm) {
            Node::Select { condition: same, then, otherwise } if same == condition => {
                if value {
                    then
                } else {
                    otherwise
                }
            }
            _ if arm == condition => self.bool(value),
            _ if self.complementary(arm, condition) => self.bool(!value),
            _ => arm,
        }
    }

    fn select_bit(&mut self, condition: Term, then: Term, otherwise: Term) -> Term {
        let not = self.complement(condition);
        if let Some(bits) = self.as_constant(then) {
            return match bits.is_zero() {
                false => self.bit_or(condition, otherwise),
                true => self.bit_and(not, otherwise),
            };
        }
        if let Some(bits) = self.as_constant(otherwise) {
            return match bits.is_zero() {
                false => self.bit_or(not, then),
                true => self.bit_and(condition, then),
            };
        }
        if self.complementary(then, otherwise) {
            let differ = self.bit_xor(condition, then);
            return self.complement(differ);
        }
        self.intern(Node::Select { condition, then, otherwise })
    }
}
