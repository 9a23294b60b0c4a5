//! The values of a term, given those of its operands.

use parallax_machine::{binary, unary};
use parallax_program::{BinaryOp, Bits};
use parallax_solver::{Node, Term};

use super::{Analysis, MOST_VALUES, Possible, limited};

/// Of numbers of so many bits all are distinguished.
const NARROW: u32 = 8;

/// So many pairs of values are looked at.
const MOST_PAIRS: usize = 1 << 14;

impl Analysis<'_> {
    pub(super) fn evaluate(&self, term: Term) -> Possible {
        let width = self.terms.width(term);
        match self.terms.node(term) {
            Node::Constant(bits) => Some(vec![bits.unsigned()]),
            Node::Variable { .. } => match self.reads.event(term) {
                Some(read) => self.read(read),
                None => all_of(width),
            },
            Node::Unary(op, value) => self.map(value, width, |bits| unary(op, bits)),
            Node::Binary(op, left, right) => self.binary(op, left, right),
            Node::Extract { value, low, width } => {
                self.map(value, width, |bits| bits.extract(low, width))
            }
            Node::Concat { high, low } => self.pairs(high, low, |high, low| high.concat(low)),
            Node::ZeroExtend { value, width } => {
                self.map(value, width, |bits| bits.zero_extend(width))
            }
            Node::SignExtend { value, width } => {
                self.map(value, width, |bits| bits.sign_extend(width))
            }
            Node::Select { condition, then, otherwise } => {
                let taken = self.conditions.get(&condition).unwrap_or(self.of(condition));
                let taken = taken.as_deref();
                let mut all = Vec::new();
                if taken != Some(&[0]) {
                    all.extend(self.of(then).as_ref()?);
                }
                if taken != Some(&[1]) {
                    all.extend(self.of(otherwise).as_ref()?);
                }
                limited(all)
            }
        }
    }

    fn map(&self, value: Term, width: u32, op: impl Fn(Bits) -> Bits) -> Possible {
        let inner = self.terms.width(value);
        let Some(values) = self.of(value).clone().or_else(|| all_of(inner)) else {
            return all_of(width);
        };
        limited(values.iter().map(|v| op(Bits::new(inner, *v)).unsigned()).collect())
    }

    fn binary(&self, op: BinaryOp, left: Term, right: Term) -> Possible {
        let exact = self.pairs(left, right, |a, b| binary(op, a, b));
        if exact.is_some() {
            return exact;
        }
        // No result is larger than the right operand, unless something is divided by zero.
        let bounded = match op {
            _ if op.is_comparison() => return Some(vec![0, 1]),
            BinaryOp::URem => self.of(right).as_ref()?.first().is_some_and(|least| *least > 0),
            op => op == BinaryOp::And,
        };
        let most = self.of(right).as_ref()?.last().copied();
        let most = most.filter(|most| bounded && *most < MOST_VALUES as u128)?;
        Some((0..=most).collect())
    }

    fn pairs(&self, left: Term, right: Term, op: impl Fn(Bits, Bits) -> Bits) -> Possible {
        let (first, second) = (self.of(left).as_ref()?, self.of(right).as_ref()?);
        if first.len() * second.len() > MOST_PAIRS {
            return None;
        }
        let (wide, other) = (self.terms.width(left), self.terms.width(right));
        let mut all = Vec::new();
        for a in first {
            for b in second {
                all.push(op(Bits::new(wide, *a), Bits::new(other, *b)).unsigned());
            }
        }
        limited(all)
    }
}

/// All numbers of so many bits, if they are few.
fn all_of(width: u32) -> Possible {
    (width <= NARROW).then(|| (0..1 << width).collect())
}
