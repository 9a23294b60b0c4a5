//! Literals: Boolean variables and their negations.

use std::fmt;
use std::ops::Not;

/// A Boolean variable or its negation. Variable 0 is always true, so constants are literals too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal(u32);

impl Literal {
    pub const TRUE: Literal = Literal(0);
    pub const FALSE: Literal = Literal(1);

    /// The variable with that number, not negated.
    pub fn positive(variable: u32) -> Literal {
        Literal(variable << 1)
    }

    pub fn constant(value: bool) -> Literal {
        if value { Literal::TRUE } else { Literal::FALSE }
    }

    pub fn variable(self) -> u32 {
        self.0 >> 1
    }

    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn is_constant(self) -> bool {
        self.variable() == 0
    }

    /// A dense number: twice the variable, plus one if it is negated.
    pub fn code(self) -> usize {
        self.0 as usize
    }

    /// As DIMACS has it: variables are counted from 1, negation is a minus sign.
    pub fn dimacs(self) -> i32 {
        let number = self.variable() as i32 + 1;
        if self.is_negated() { -number } else { number }
    }

    /// The literal of a DIMACS number. Zero, which is none, gives `None`.
    pub fn from_dimacs(number: i32) -> Option<Literal> {
        let variable = number.unsigned_abs().checked_sub(1)?;
        let literal = Literal::positive(variable);
        Some(if number < 0 { !literal } else { literal })
    }

    /// The literal if `keep`, else its negation.
    pub(crate) fn negate_unless(self, keep: bool) -> Literal {
        if keep { self } else { !self }
    }
}

impl Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

impl fmt::Debug for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dimacs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negation_and_numbers() {
        let three = Literal::positive(3);
        assert_eq!(!!three, three);
        assert_eq!((three.dimacs(), (!three).dimacs()), (4, -4));
        assert_eq!(Literal::from_dimacs(-4), Some(!three));
        assert_eq!(Literal::from_dimacs(0), None);
        assert_eq!(!Literal::TRUE, Literal::FALSE);
    }
}
