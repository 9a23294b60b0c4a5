//! Bit-vector terms: a directed acyclic graph in which equal terms are one term.
//!
//! Terms are made by the methods of [`Terms`], which simplify what they are given; the rules are
//! beside this file, one file for each kind of operator. One-bit vectors are the Booleans, as in
//! `parallax-program`, and constants are folded by the interpreter's own operators, so that there
//! is one meaning of each.

mod arithmetic;
mod bitwise;
mod compare;
mod evaluate;
mod shape;
mod substitute;

use parallax_program::{BinaryOp, Bits, UnaryOp};
use rustc_hash::FxHashMap;

pub use evaluate::Evaluation;

/// A term of the [`Terms`] that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Term(u32);

impl Term {
    /// Its number. Operands have smaller numbers than what is made of them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a term is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    Constant(Bits),
    Variable {
        number: u32,
        width: u32,
    },
    Unary(UnaryOp, Term),
    Binary(BinaryOp, Term, Term),
    /// `width` bits from bit `low` on.
    Extract {
        value: Term,
        low: u32,
        width: u32,
    },
    /// `high` above `low`.
    Concat {
        high: Term,
        low: Term,
    },
    ZeroExtend {
        value: Term,
        width: u32,
    },
    SignExtend {
        value: Term,
        width: u32,
    },
    /// `then` where the one-bit condition is 1.
    Select {
        condition: Term,
        then: Term,
        otherwise: Term,
    },
}

/// All terms of a problem.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    widths: Vec<u32>,
    numbers: FxHashMap<Node, Term>,
    variables: Vec<Term>,
}

impl Terms {
    pub fn new() -> Terms {
        Terms::default()
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, in the order in which they were made.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    pub fn width(&self, term: Term) -> u32 {
        self.widths[term.index()]
    }

    /// All variables, in the order in which they were made.
    pub fn variables(&self) -> &[Term] {
        &self.variables
    }

    /// The value of a constant.
    pub fn as_constant(&self, term: Term) -> Option<Bits> {
        match self.node(term) {
            Node::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    pub fn constant(&mut self, bits: Bits) -> Term {
        self.intern(Node::Constant(bits))
    }

    /// A new variable of 1 to 128 bits.
    pub fn variable(&mut self, width: u32) -> Term {
        let width = width.clamp(1, Bits::MAX_WIDTH);
        let number = self.variables.len() as u32;
        let term = self.intern(Node::Variable { number, width });
        self.variables.push(term);
        term
    }

    pub fn bool(&mut self, value: bool) -> Term {
        self.constant(Bits::bool(value))
    }

    pub fn truth(&mut self) -> Term {
        self.bool(true)
    }

    pub fn falsity(&mut self) -> Term {
        self.bool(false)
    }

    pub fn unary(&mut self, op: UnaryOp, value: Term) -> Term {
        if let Some(bits) = self.as_constant(value) {
            return self.constant(parallax_machine::unary(op, bits));
        }
        match op {
            UnaryOp::Not => self.complement(value),
            UnaryOp::Neg => self.negate(value),
            UnaryOp::BitReverse | UnaryOp::ByteSwap if self.width(value) <= 8 => {
                self.permute_byte(op, value)
            }
            _ => self.intern(Node::Unary(op, value)),
        }
    }

    /// Operands have the same width; the right one is cut or zero-extended if it has another.
    pub fn binary(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        use BinaryOp::*;
        let right = self.resize(right, self.width(left));
        if let (Some(a), Some(b)) = (self.as_constant(left), self.as_constant(right)) {
            return self.constant(parallax_machine::binary(op, a, b));
        }
        match op {
            And => self.bit_and(left, right),
            Or => self.bit_or(left, right),
            Xor => self.bit_xor(left, right),
            Add => self.add(left, right),
            Sub => self.subtract(left, right),
            Mul => self.multiply(left, right),
            UDiv | SDiv | URem | SRem => self.divide(op, left, right),
            Shl | LShr | AShr => self.shift(op, left, right),
            Eq => self.equal(left, right),
            Ne => {
                let equal = self.equal(left, right);
                self.complement(equal)
            }
            Ult | Slt => self.less(op, left, right),
            Ule | Sle => {
                let strict = if op == Ule { Ult } else { Slt };
                let greater = self.binary(strict, right, left);
                self.complement(greater)
            }
            FAdd | FSub | FMul | FDiv | FRem | FEq | FLt | FLe | FUnordered => {
                self.intern(Node::Binary(op, left, right))
            }
        }
    }

    pub fn and(&mut self, left: Term, right: Term) -> Term {
        self.binary(BinaryOp::And, left, right)
    }

    pub fn or(&mut self, left: Term, right: Term) -> Term {
        self.binary(BinaryOp::Or, left, right)
    }

    pub fn xor(&mut self, left: Term, right: Term) -> Term {
        self.binary(BinaryOp::Xor, left, right)
    }

    pub fn not(&mut self, value: Term) -> Term {
        self.unary(UnaryOp::Not, value)
    }

    pub fn implies(&mut self, left: Term, right: Term) -> Term {
        let no = self.not(left);
        self.or(no, right)
    }

    pub fn equals(&mut self, left: Term, right: Term) -> Term {
        self.binary(BinaryOp::Eq, left, right)
    }

    /// The term for a node that no rule applies to.
    fn intern(&mut self, node: Node) -> Term {
        if let Some(&term) = self.numbers.get(&node) {
            return term;
        }
        let term = Term(self.nodes.len() as u32);
        debug_assert!(self.is_well_formed(&node), "{node:?}");
        self.widths.push(self.width_of(&node));
        self.nodes.push(node);
        self.numbers.insert(node, term);
        term
    }

    /// A node of an operator that does not mind the order of its operands: constants go right.
    fn commutative(&mut self, op: BinaryOp, left: Term, right: Term) -> Term {
        let constant = self.as_constant(left).is_some();
        let swap = constant || (left > right && self.as_constant(right).is_none());
        let (left, right) = if swap { (right, left) } else { (left, right) };
        self.intern(Node::Binary(op, left, right))
    }

    /// Whether operands are older than what is made of them, and are as wide as the operator asks.
    fn is_well_formed(&self, node: &Node) -> bool {
        let is_known = |terms: &[Term]| terms.iter().all(|term| term.index() < self.nodes.len());
        match *node {
            Node::Constant(_) | Node::Variable { .. } => true,
            Node::Unary(_, value) => is_known(&[value]),
            Node::Binary(_, left, right) => {
                is_known(&[left, right]) && self.width(left) == self.width(right)
            }
            Node::Extract { value, low, width } => {
                is_known(&[value]) && width > 0 && low + width <= self.width(value)
            }
            Node::Concat { high, low } => is_known(&[high, low]),
            Node::ZeroExtend { value, width } | Node::SignExtend { value, width } => {
                is_known(&[value]) && width > self.width(value)
            }
            Node::Select { condition, then, otherwise } => {
                is_known(&[condition, then, otherwise])
                    && self.width(condition) == 1
                    && self.width(then) == self.width(otherwise)
            }
        }
    }

    fn width_of(&self, node: &Node) -> u32 {
        match *node {
            Node::Constant(bits) => bits.width(),
            Node::Variable { width, .. }
            | Node::Extract { width, .. }
            | Node::ZeroExtend { width, .. }
            | Node::SignExtend { width, .. } => width,
            Node::Unary(_, value) => self.width(value),
            Node::Binary(op, ..) if op.is_comparison() => 1,
            Node::Binary(_, left, _) => self.width(left),
            Node::Concat { high, low } => self.width(high) + self.width(low),
            Node::Select { then, .. } => self.width(then),
        }
    }

    /// Whether one is the complement of the other.
    fn complementary(&self, left: Term, right: Term) -> bool {
        self.node(left) == Node::Unary(UnaryOp::Not, right)
            || self.node(right) == Node::Unary(UnaryOp::Not, left)
    }

    fn zero(&mut self, width: u32) -> Term {
        self.constant(Bits::zero(width))
    }
}

/// All bits are one.
fn ones(width: u32) -> Bits {
    Bits::new(width, u128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_are_one_term() {
        let mut terms = Terms::new();
        let (x, y) = (terms.variable(8), terms.variable(8));
        let sum = terms.binary(BinaryOp::Add, x, y);
        assert_eq!(terms.binary(BinaryOp::Add, y, x), sum);
        assert_ne!(x, y);
        assert_eq!(terms.variables(), [x, y]);
    }

    #[test]
    fn both_cases_of_a_condition_are_no_condition() {
        let mut terms = Terms::new();
        let (guard, condition) = (terms.variable(1), terms.variable(1));
        let other = terms.not(condition);
        let yes = terms.and(guard, condition);
        let no = terms.and(guard, other);
        assert_eq!(terms.or(yes, no), guard);
    }
}
