//! Terms that stand for integers.
//!
//! Where a program's values are to be integers, its front end makes them words of
//! [`INTEGER_WIDTH`] bits, and numbers are so far from the ends of those that no rule for terms
//! knows them from integers. Such terms get no bits: they are handed to a solver that knows
//! integers, and their comparisons are literals.

use parallax_program::{BinaryOp, Bits, UnaryOp};
use rustc_hash::FxHashMap;

use super::Blaster;
use crate::{Arithmetic, Comparison, Integer, Literal, Node, Solver, Term, Terms};

/// Terms of this width are integers, where there are any.
pub const INTEGER_WIDTH: u32 = Bits::MAX_WIDTH;

/// The integers that terms are; none of a term for which the solver has none.
#[derive(Default, Debug)]
pub struct Integers {
    known: FxHashMap<Term, Option<Integer>>,
}

impl Integers {
    pub fn is_known(&self, term: Term) -> bool {
        self.known.contains_key(&term)
    }

    pub fn get(&self, term: Term) -> Option<Integer> {
        self.known.get(&term).copied().flatten()
    }
}

impl Terms {
    /// Whether some constant is so large that terms of integers might wrap around.
    pub fn has_large_integers(&self) -> bool {
        let limit = 1i128 << 100;
        let is_large = |node: &Node| match node {
            Node::Constant(bits) if bits.width() == INTEGER_WIDTH => {
                !(-limit..limit).contains(&bits.to_signed())
            }
            _ => false,
        };
        self.nodes().iter().any(is_large)
    }
}

impl Blaster {
    /// Whether terms of that width are integers.
    pub(super) fn is_integral(&self, terms: &Terms, term: Term) -> bool {
        self.integers.is_some() && terms.width(term) == INTEGER_WIDTH
    }

    pub(super) fn integer(&self, term: Term) -> Option<Integer> {
        self.integers.as_ref().and_then(|integers| integers.get(term))
    }

    /// Finds the integer that a term is. All operands are known.
    pub(super) fn settle(
        &mut self,
        terms: &Terms,
        term: Term,
        node: &Node,
        solver: &mut dyn Solver,
    ) {
        let arithmetic = self.arithmetic(terms, node, solver);
        if arithmetic.is_none() {
            self.open.push(term);
        }
        let found = solver.integer(arithmetic.unwrap_or(Arithmetic::Variable));
        if let Some(integers) = &mut self.integers {
            integers.known.insert(term, found);
        }
    }

    /// None for operators that integers do not have.
    fn arithmetic(
        &self,
        terms: &Terms,
        node: &Node,
        solver: &mut dyn Solver,
    ) -> Option<Arithmetic> {
        let both = |left, right| Some((self.integer(left)?, self.integer(right)?));
        match *node {
            Node::Constant(bits) => Some(Arithmetic::Constant(bits.to_signed())),
            Node::Variable { .. } => Some(Arithmetic::Variable),
            Node::Unary(UnaryOp::Neg, value) => self.integer(value).map(Arithmetic::Negation),
            Node::Binary(BinaryOp::Add, left, right) => {
                both(left, right).map(|(left, right)| Arithmetic::Sum(left, right))
            }
            Node::Binary(BinaryOp::Sub, left, right) => {
                both(left, right).map(|(left, right)| Arithmetic::Difference(left, right))
            }
            Node::Select { condition, then, otherwise } => {
                let (then, otherwise) = both(then, otherwise)?;
                let condition = self.known(terms, condition).first().copied()?;
                Some(Arithmetic::Choice(condition, then, otherwise))
            }
            Node::ZeroExtend { value, .. } if terms.width(value) == 1 => {
                let bit = self.known(terms, value).first().copied()?;
                let one = solver.integer(Arithmetic::Constant(1))?;
                let zero = solver.integer(Arithmetic::Constant(0))?;
                Some(Arithmetic::Choice(bit, one, zero))
            }
            _ => None,
        }
    }

    /// The bits of a node that has integers as operands: a comparison, or what is left open.
    pub(super) fn of_integers(
        &mut self,
        terms: &Terms,
        term: Term,
        node: &Node,
        solver: &mut dyn Solver,
    ) -> Vec<Literal> {
        let compared = self.compared(node, solver);
        compared.map_or_else(
            || self.leave_open(term, terms.width(term) as usize, solver),
            |literal| vec![literal],
        )
    }

    fn compared(&self, node: &Node, solver: &mut dyn Solver) -> Option<Literal> {
        let Node::Binary(op, left, right) = *node else {
            return None;
        };
        let (left, right) = (self.integer(left)?, self.integer(right)?);
        match op {
            BinaryOp::Eq => solver.compare(Comparison::Equal, left, right),
            BinaryOp::Ne => solver.compare(Comparison::Equal, left, right).map(|equal| !equal),
            BinaryOp::Slt => solver.compare(Comparison::Less, left, right),
            BinaryOp::Sle => solver.compare(Comparison::Less, right, left).map(|less| !less),
            _ => None,
        }
    }
}
