//! The flags N, Z, C and V, and conditions on them.

use parallax_program::{BinaryOp, Expr};

use super::WIDTH;
use crate::asm::lowering::Lowering;

/// When an instruction is done: the condition field of its encoding.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Condition {
    Always,
    /// A test of the flags, or its opposite.
    If(Test, bool),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Test {
    Equal,
    CarrySet,
    Minus,
    OverflowSet,
    Higher,
    GreaterOrEqual,
    Greater,
}

impl Condition {
    pub(super) fn parse(suffix: &str) -> Option<Condition> {
        use Condition::*;
        Some(match suffix {
            "EQ" => If(Test::Equal, true),
            "NE" => If(Test::Equal, false),
            "CS" | "HS" => If(Test::CarrySet, true),
            "CC" | "LO" => If(Test::CarrySet, false),
            "MI" => If(Test::Minus, true),
            "PL" => If(Test::Minus, false),
            "VS" => If(Test::OverflowSet, true),
            "VC" => If(Test::OverflowSet, false),
            "HI" => If(Test::Higher, true),
            "LS" => If(Test::Higher, false),
            "GE" => If(Test::GreaterOrEqual, true),
            "LT" => If(Test::GreaterOrEqual, false),
            "GT" => If(Test::Greater, true),
            "LE" => If(Test::Greater, false),
            "AL" => Always,
            _ => return None,
        })
    }

    /// One bit that says whether the condition holds; none where it always does.
    pub(super) fn holds(self, l: &mut Lowering) -> Option<Expr> {
        let Condition::If(test, positive) = self else {
            return None;
        };
        let mut flag = |name| Expr::Var(l.thread.function.var(name, 1));
        let holds = match test {
            Test::Equal => flag("Z"),
            Test::CarrySet => flag("C"),
            Test::Minus => flag("N"),
            Test::OverflowSet => flag("V"),
            Test::Higher => flag("C") & !flag("Z"),
            Test::GreaterOrEqual => flag("N").eq(flag("V")),
            Test::Greater => flag("N").eq(flag("V")) & !flag("Z"),
        };
        Some(if positive { holds } else { !holds })
    }
}

/// New values of the flags; those that are none stay as they are.
pub(super) struct Flags {
    n: Expr,
    z: Expr,
    c: Option<Expr>,
    v: Option<Expr>,
}

impl Flags {
    /// Of a result, with the carry as given and no overflow to report.
    pub(super) fn of_result(result: Expr, carry: Option<Expr>) -> Flags {
        let zero = Expr::constant(WIDTH, 0);
        Flags { n: sign(result.clone()), z: result.eq(zero), c: carry, v: None }
    }

    /// Of `result = a + b`.
    pub(super) fn of_sum(a: Expr, b: Expr, result: Expr) -> Flags {
        let carry = Expr::binary(BinaryOp::Ult, result.clone(), a.clone());
        let overflow = sign((a ^ result.clone()) & (b ^ result.clone()));
        Flags { v: Some(overflow), ..Flags::of_result(result, Some(carry)) }
    }

    /// Of `result = a - b`, where the carry means that nothing was borrowed.
    pub(super) fn of_difference(a: Expr, b: Expr, result: Expr) -> Flags {
        let carry = Expr::binary(BinaryOp::Ule, b.clone(), a.clone());
        let overflow = sign((a.clone() ^ b) & (a ^ result.clone()));
        Flags { v: Some(overflow), ..Flags::of_result(result, Some(carry)) }
    }

    /// Gives the flags these values, none of which may mention a flag.
    pub(super) fn set(self, l: &mut Lowering) {
        let flags = [("N", Some(self.n)), ("Z", Some(self.z)), ("C", self.c), ("V", self.v)];
        for (name, value) in flags {
            if let Some(value) = value {
                let flag = l.thread.function.var(name, 1);
                l.thread.function.assign(flag, value);
            }
        }
    }
}

fn sign(value: Expr) -> Expr {
    value.extract(WIDTH - 1, 1)
}
