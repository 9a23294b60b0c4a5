//! Simplification of complement, conjunction, disjunction and exclusive or, bit by bit.

use parallax_program::{BinaryOp, Bits, UnaryOp};

use super::{Node, Term, Terms, ones};

impl Terms {
    pub(super) fn complement(&mut self, value: Term) -> Term {
        match self.node(value) {
            Node::Unary(UnaryOp::Not, inner) => inner,
            Node::Constant(bits) => self.constant(parallax_machine::unary(UnaryOp::Not, bits)),
            _ => self.intern(Node::Unary(UnaryOp::Not, value)),
        }
    }

    pub(super) fn bit_and(&mut self, left: Term, right: Term) -> Term {
        self.lattice(BinaryOp::And, left, right)
    }

    pub(super) fn bit_or(&mut self, left: Term, right: Term) -> Term {
        self.lattice(BinaryOp::Or, left, right)
    }

    /// Conjunction and disjunction have the same rules, with the constants swapped.
    fn lattice(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let width = self.width(left);
        let (neutral, absorbing) = match op {
            BinaryOp::And => (ones(width), Bits::zero(width)),
            _ => (Bits::zero(width), ones(width)),
        };
        if left == right {
            return left;
        }
        if self.complementary(left, right) {
            return self.constant(absorbing);
        }
        for (one, other) in [(left, right), (right, left)] {
            match self.as_constant(one) {
                Some(bits) if bits == neutral => return other,
                Some(bits) if bits == absorbing => return one,
                _ => {}
            }
        }
        if let Some(result) = self
            .absorb(op, left, right, absorbing)
            .or_else(|| self.absorb(op, right, left, absorbing))
        {
            return result;
        }
        if let Some(common) = self.both_cases(op, left, right) {
            return common;
        }
        if let Some(result) =
            self.fold_constants(op, left, right).or_else(|| self.fold_constants(op, right, left))
        {
            return result;
        }
        self.commutative(op, left, right)
    }

    /// `a & (a & b)`, `a & (a | b)`, `a & (!a & b)`, `a & (!a | b)`, and what is dual to them.
    fn absorb(&mut self, op: BinaryOp, one: Term, whole: Term, absorbing: Bits) -> Option<Term> {
        let Node::Binary(inner, a, b) = self.node(whole) else { return None };
        if inner != BinaryOp::And && inner != BinaryOp::Or {
            return None;
        }
        if a == one || b == one {
            return Some(if inner == op { whole } else { one });
        }
        let rest = match (self.complementary(a, one), self.complementary(b, one)) {
            (true, _) => b,
            (_, true) => a,
            _ => return None,
        };
        Some(if inner == op { self.constant(absorbing) } else { self.commutative(op, one, rest) })
    }

    /// `(a & c) | (a & !c)` is `a`, and its dual.
    fn both_cases(&self, op: BinaryOp, left: Term, right: Term) -> Option<Term> {
        let Node::Binary(inner, a, b) = self.node(left) else { return None };
        let Node::Binary(other, c, d) = self.node(right) else { return None };
        let dual = if op == BinaryOp::And { BinaryOp::Or } else { BinaryOp::And };
        if inner != dual || other != dual {
            return None;
        }
        [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)]
            .into_iter()
            .find(|&(common, case, same, opposite)| {
                common == same && self.complementary(case, opposite)
            })
            .map(|(common, ..)| common)
    }

    /// `(x op c) op d` with constants `c` and `d`.
    fn fold_constants(&mut self, op: BinaryOp, left: Term, right: Term) -> Option<Term> {
        let outer = self.as_constant(right)?;
        let Node::Binary(inner, value, constant) = self.node(left) else { return None };
        if inner != op {
            return None;
        }
        let inner = self.as_constant(constant)?;
        let both = self.constant(parallax_machine::binary(op, inner, outer));
        Some(self.binary(op, value, both))
    }

    pub(super) fn bit_xor(&mut self, left: Term, right: Term) -> Term {
        let width = self.width(left);
        if left == right {
            return self.zero(width);
        }
        if self.complementary(left, right) {
            return self.constant(ones(width));
        }
        for (one, other) in [(left, right), (right, left)] {
            match self.as_constant(one) {
                Some(bits) if bits.is_zero() => return other,
                Some(bits) if bits == ones(width) => return self.complement(other),
                _ => {}
            }
            if let Node::Binary(BinaryOp::Xor, a, b) = self.node(one) {
                if a == other {
                    return b;
                }
                if b == other {
                    return a;
                }
            }
        }
        if let Some(result) = self
            .fold_constants(BinaryOp::Xor, left, right)
            .or_else(|| self.fold_constants(BinaryOp::Xor, right, left))
        {
            return result;
        }
        // Complements move outwards, so that `!a ^ b` and `a ^ !b` are one term.
        let (left, flip_left) = self.without_complement(left);
        let (right, flip_right) = self.without_complement(right);
        let result = self.commutative(BinaryOp::Xor, left, right);
        if flip_left != flip_right { self.complement(result) } else { result }
    }

    fn without_complement(&self, term: Term) -> (Term, bool) {
        match self.node(term) {
            Node::Unary(UnaryOp::Not, inner) => (inner, true),
            _ => (term, false),
        }
    }
}
