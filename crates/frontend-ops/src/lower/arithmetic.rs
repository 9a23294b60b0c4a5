//! Expressions and conditions.

use parallax_program::{BinaryOp, Expr};

use super::{Lowering, WIDTH};
use crate::syntax::{Comparison, Condition, Exp};

/// Gives a name its value.
pub type Lookup<'l> = dyn FnMut(&str) -> Expr + 'l;

pub fn exp(exp: &Exp, lookup: &mut Lookup<'_>) -> Expr {
    match exp {
        Exp::Number(number) => Expr::constant(WIDTH, u128::from(*number)),
        Exp::Temporary(name) | Exp::Location(name) => lookup(name),
        Exp::Add(left, right) => self::exp(left, lookup) + self::exp(right, lookup),
        Exp::Sub(left, right) => self::exp(left, lookup) - self::exp(right, lookup),
        Exp::Choice(condition, then, otherwise) => {
            let condition = self::condition(condition, lookup);
            condition.select(self::exp(then, lookup), self::exp(otherwise, lookup))
        }
    }
}

pub fn condition(condition: &Condition, lookup: &mut Lookup<'_>) -> Expr {
    match condition {
        Condition::True => Expr::constant(1, 1),
        Condition::False => Expr::constant(1, 0),
        Condition::Compare(comparison, left, right) => {
            let (left, right) = (exp(left, lookup), exp(right, lookup));
            match comparison {
                Comparison::Equal => left.eq(right),
                Comparison::Unequal => left.ne(right),
                Comparison::Less => Expr::binary(BinaryOp::Ult, left, right),
                Comparison::Greater => Expr::binary(BinaryOp::Ult, right, left),
                Comparison::AtMost => Expr::binary(BinaryOp::Ule, left, right),
                Comparison::AtLeast => Expr::binary(BinaryOp::Ule, right, left),
            }
        }
        Condition::And(left, right) => {
            self::condition(left, lookup) & self::condition(right, lookup)
        }
        Condition::Or(left, right) => {
            self::condition(left, lookup) | self::condition(right, lookup)
        }
        Condition::Not(inner) => !self::condition(inner, lookup),
    }
}

impl Lowering<'_> {
    pub(super) fn exp(&mut self, value: &Exp) -> Expr {
        exp(value, &mut |name| Expr::Var(self.var(name)))
    }

    pub(super) fn condition(&mut self, value: &Condition) -> Expr {
        condition(value, &mut |name| Expr::Var(self.var(name)))
    }
}
