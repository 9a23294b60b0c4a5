//! The status flags, one bit each, and the conditions on them.

use parallax_program::{BinaryOp, Expr, UnaryOp, VarId};

use crate::asm::lowering::Lowering;

#[derive(Clone, Copy)]
pub enum Flag {
    Carry,
    Parity,
    Zero,
    Sign,
    Overflow,
}

impl Flag {
    fn var(self, lowering: &mut Lowering<'_, '_, '_>) -> VarId {
        let name = match self {
            Flag::Carry => "CF",
            Flag::Parity => "PF",
            Flag::Zero => "ZF",
            Flag::Sign => "SF",
            Flag::Overflow => "OF",
        };
        lowering.thread.function.var(name, 1)
    }

    pub fn get(self, lowering: &mut Lowering<'_, '_, '_>) -> Expr {
        Expr::Var(self.var(lowering))
    }

    pub fn set(self, lowering: &mut Lowering<'_, '_, '_>, value: Expr) {
        let var = self.var(lowering);
        lowering.thread.function.assign(var, value);
    }
}

/// Sets the flags that only depend on the result.
pub fn set_by_result(lowering: &mut Lowering<'_, '_, '_>, result: &Expr, width: u32) {
    let zero = result.clone().eq(Expr::constant(width, 0));
    Flag::Zero.set(lowering, zero);
    Flag::Sign.set(lowering, top_bit(result.clone(), width));
    let ones = Expr::unary(UnaryOp::PopCount, result.clone().extract(0, 8));
    Flag::Parity.set(lowering, !ones.extract(0, 1));
}

/// Sets carry and overflow for `result = left + right + carry`.
pub fn set_by_sum(
    lowering: &mut Lowering<'_, '_, '_>,
    left: &Expr,
    right: &Expr,
    result: &Expr,
    width: u32,
) {
    let differs = (left.clone() ^ result.clone()) & (right.clone() ^ result.clone());
    let carries = majority(left.clone(), right.clone(), !result.clone());
    Flag::Overflow.set(lowering, top_bit(differs, width));
    Flag::Carry.set(lowering, top_bit(carries, width));
}

/// Sets carry and overflow for `result = left - right - carry`.
pub fn set_by_difference(
    lowering: &mut Lowering<'_, '_, '_>,
    left: &Expr,
    right: &Expr,
    result: &Expr,
    width: u32,
) {
    let differs = (left.clone() ^ right.clone()) & (left.clone() ^ result.clone());
    let borrows = majority(!left.clone(), right.clone(), result.clone());
    Flag::Overflow.set(lowering, top_bit(differs, width));
    Flag::Carry.set(lowering, top_bit(borrows, width));
}

/// The bits that at least two operands have set: the carry out of each position of a sum.
fn majority(a: Expr, b: Expr, c: Expr) -> Expr {
    (a.clone() & b.clone()) | (c & (a | b))
}

pub fn top_bit(value: Expr, width: u32) -> Expr {
    value.extract(width - 1, 1)
}

/// A condition that jumps, moves and `setcc` test.
#[derive(Clone, Copy)]
pub struct Condition {
    test: Test,
    negated: bool,
}

#[derive(Clone, Copy)]
enum Test {
    Flag(Flag),
    /// Unsigned: below or equal.
    BelowOrEqual,
    /// Signed.
    Less,
    LessOrEqual,
}

impl Condition {
    /// The condition that a suffix such as `e`, `nz` or `ae` names.
    pub fn named(name: &str) -> Option<Condition> {
        use Test::*;
        let (test, negated) = match name {
            "o" => (Flag(self::Flag::Overflow), false),
            "no" => (Flag(self::Flag::Overflow), true),
            "b" | "c" | "nae" => (Flag(self::Flag::Carry), false),
            "ae" | "nb" | "nc" => (Flag(self::Flag::Carry), true),
            "e" | "z" => (Flag(self::Flag::Zero), false),
            "ne" | "nz" => (Flag(self::Flag::Zero), true),
            "be" | "na" => (BelowOrEqual, false),
            "a" | "nbe" => (BelowOrEqual, true),
            "s" => (Flag(self::Flag::Sign), false),
            "ns" => (Flag(self::Flag::Sign), true),
            "p" | "pe" => (Flag(self::Flag::Parity), false),
            "np" | "po" => (Flag(self::Flag::Parity), true),
            "l" | "lt" | "nge" => (Less, false),
            "ge" | "nl" => (Less, true),
            "le" | "ng" => (LessOrEqual, false),
            "g" | "gt" | "nle" => (LessOrEqual, true),
            _ => return None,
        };
        Some(Condition { test, negated })
    }

    /// One bit: whether the condition holds.
    pub fn expr(self, lowering: &mut Lowering<'_, '_, '_>) -> Expr {
        let holds = match self.test {
            Test::Flag(flag) => flag.get(lowering),
            Test::BelowOrEqual => Flag::Carry.get(lowering) | Flag::Zero.get(lowering),
            Test::Less => less(lowering),
            Test::LessOrEqual => less(lowering) | Flag::Zero.get(lowering),
        };
        if self.negated { !holds } else { holds }
    }
}

fn less(lowering: &mut Lowering<'_, '_, '_>) -> Expr {
    let (sign, overflow) = (Flag::Sign.get(lowering), Flag::Overflow.get(lowering));
    Expr::binary(BinaryOp::Xor, sign, overflow)
}
