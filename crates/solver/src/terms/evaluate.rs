//! The value of terms where the values of variables are known.

use parallax_program::Bits;
use rustc_hash::FxHashMap;

use super::{Node, Term, Terms};

/// Values of terms under one assignment, each computed once.
pub struct Evaluation<'a, F> {
    terms: &'a Terms,
    variable: F,
    known: FxHashMap<Term, Bits>,
}

impl Terms {
    /// The value of a term, given those of the variables.
    pub fn evaluate(&self, term: Term, variable: impl FnMut(Term) -> Bits) -> Bits {
        self.evaluation(variable).value(term)
    }

    /// For the values of several terms under one assignment.
    pub fn evaluation<F: FnMut(Term) -> Bits>(&self, variable: F) -> Evaluation<'_, F> {
        Evaluation { terms: self, variable, known: FxHashMap::default() }
    }

    /// Calls `visit` with each operand of a node.
    pub fn operands(&self, node: &Node, mut visit: impl FnMut(Term)) {
        match *node {
            Node::Constant(_) | Node::Variable { .. } => {}
            Node::Unary(_, value)
            | Node::Extract { value, .. }
            | Node::ZeroExtend { value, .. }
            | Node::SignExtend { value, .. } => visit(value),
            Node::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            Node::Concat { high, low } => {
                visit(high);
                visit(low);
            }
            Node::Select { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }
}

impl<F: FnMut(Term) -> Bits> Evaluation<'_, F> {
    pub fn value(&mut self, term: Term) -> Bits {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            if self.known.contains_key(&next) {
                open.pop();
                continue;
            }
            let node = self.terms.node(next);
            let before = open.len();
            self.terms.operands(&node, |operand| {
                if !self.known.contains_key(&operand) {
                    open.push(operand);
                }
            });
            if open.len() == before {
                let value = self.compute(next, &node);
                self.known.insert(next, value);
                open.pop();
            }
        }
        self.known[&term]
    }

    /// All operands are known.
    fn compute(&mut self, term: Term, node: &Node) -> Bits {
        let known = &self.known;
        let value = |term: Term| known[&term];
        match *node {
            Node::Constant(bits) => bits,
            Node::Variable { width, .. } => (self.variable)(term).zero_extend(width),
            Node::Unary(op, operand) => parallax_machine::unary(op, value(operand)),
            Node::Binary(op, left, right) => {
                parallax_machine::binary(op, value(left), value(right))
            }
            Node::Extract { value: whole, low, width } => value(whole).extract(low, width),
            Node::Concat { high, low } => value(high).concat(value(low)),
            Node::ZeroExtend { value: inner, width } => value(inner).zero_extend(width),
            Node::SignExtend { value: inner, width } => value(inner).sign_extend(width),
            Node::Select { condition, then, otherwise } => {
                if value(condition).is_zero() {
                    value(otherwise)
                } else {
                    value(then)
                }
            }
        }
    }
}
