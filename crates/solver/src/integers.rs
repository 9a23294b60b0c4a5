//! Integers without bounds, for solvers that know them.
//!
//! Clauses and orders speak of literals alone; a comparison of integers is a literal, too. Z3 decides
//! them (linear arithmetic); CaDiCaL knows none.

use crate::Literal;

/// An integer of the solver that made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Integer(pub(crate) u32);

impl Integer {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an integer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    Constant(i128),
    Variable,
    Sum(Integer, Integer),
    Difference(Integer, Integer),
    Negation(Integer),
    /// The first where the literal is true, the second elsewhere.
    Choice(Literal, Integer, Integer),
}

/// How integers compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    Equal,
    Less,
}

/// A literal that is true exactly where two integers compare so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compared {
    pub literal: Literal,
    pub comparison: Comparison,
    pub left: Integer,
    pub right: Integer,
}
