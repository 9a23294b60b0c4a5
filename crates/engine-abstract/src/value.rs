//! What the interpreter computes with here: terms over the places of a program and over inputs.
//!
//! Nothing is decided by the interpreter itself: each branch and each condition is handed on, so that
//! a way through a block makes the same decisions whatever is known of the values.

use parallax_machine::{Domain, Truth};
use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Term, Terms};

#[derive(Default)]
pub struct Values {
    pub terms: Terms,
    /// What a term is taken to be for the next call of the interpreter.
    pub assumed: Option<(Term, Bits)>,
    /// Whether a constant was met inside of an expression that is no number.
    pub met_undefined: bool,
}

impl Values {
    pub fn number(&mut self, width: u32, value: u128) -> Term {
        self.terms.constant(Bits::new(width, value))
    }

    pub fn constant_of(&self, term: Term) -> Option<Bits> {
        self.terms.as_constant(term)
    }

    pub fn is_false(&self, term: Term) -> bool {
        self.constant_of(term).is_some_and(|bits| bits.is_zero())
    }

    pub fn is_true(&self, term: Term) -> bool {
        self.constant_of(term).is_some_and(|bits| !bits.is_zero())
    }
}

impl Domain for Values {
    type Value = Term;

    const FOLLOWS_CONTROL: bool = false;

    fn constant(&mut self, bits: Bits) -> Term {
        self.met_undefined |= bits.is_undefined();
        self.terms.constant(Bits::new(bits.width(), bits.unsigned()))
    }

    fn unary(&mut self, op: UnaryOp, value: &Term) -> Term {
        self.terms.unary(op, *value)
    }

    fn binary(&mut self, op: BinaryOp, left: &Term, right: &Term) -> Term {
        self.terms.binary(op, *left, *right)
    }

    fn extract(&mut self, value: &Term, low: u32, width: u32) -> Term {
        self.terms.extract(*value, low, width)
    }

    fn concat(&mut self, high: &Term, low: &Term) -> Term {
        self.terms.concat(*high, *low)
    }

    fn zero_extend(&mut self, value: &Term, width: u32) -> Term {
        self.terms.zero_extend(*value, width)
    }

    fn sign_extend(&mut self, value: &Term, width: u32) -> Term {
        self.terms.sign_extend(*value, width)
    }

    fn select(&mut self, condition: &Term, then: &Term, otherwise: &Term) -> Term {
        self.terms.select(*condition, *then, *otherwise)
    }

    fn truth(&self, _: &Term) -> Truth {
        Truth::Undecided
    }

    fn same(&self, left: &Term, right: &Term) -> bool {
        left == right
    }

    fn known(&self, value: &Term) -> Option<Bits> {
        match self.assumed {
            Some((term, bits)) if term == *value => Some(bits),
            _ => self.constant_of(*value),
        }
    }
}
