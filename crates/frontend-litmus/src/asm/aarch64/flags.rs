//! The condition flags N, Z, C and V, one bit each, and the conditions on them.

use parallax_program::{Diagnostic, Expr};

use super::instruction::Instruction;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Equal,
    NotEqual,
    CarrySet,
    CarryClear,
    Minus,
    Plus,
    Overflow,
    NoOverflow,
    UnsignedHigher,
    UnsignedLowerOrSame,
    GreaterOrEqual,
    Less,
    Greater,
    LessOrEqual,
    Always,
}

impl Condition {
    pub fn parse(name: &str) -> Option<Condition> {
        use Condition::*;
        Some(match name.to_ascii_uppercase().as_str() {
            "EQ" => Equal,
            "NE" => NotEqual,
            "CS" | "HS" => CarrySet,
            "CC" | "LO" => CarryClear,
            "MI" => Minus,
            "PL" => Plus,
            "VS" => Overflow,
            "VC" => NoOverflow,
            "HI" => UnsignedHigher,
            "LS" => UnsignedLowerOrSame,
            "GE" => GreaterOrEqual,
            "LT" => Less,
            "GT" => Greater,
            "LE" => LessOrEqual,
            "AL" | "NV" => Always,
            _ => return None,
        })
    }

    /// Takes a condition as the next operand.
    pub fn take(ins: &mut Instruction<'_, '_, '_>) -> Result<Condition, Diagnostic> {
        let text = ins.take()?;
        Condition::parse(text)
            .ok_or_else(|| ins.error(text, format!("'{text}' is not a condition")))
    }

    /// One bit: whether the condition holds now.
    pub fn holds(self, ins: &mut Instruction<'_, '_, '_>) -> Expr {
        let mut flag = |flag| read(ins, flag);
        match self {
            Condition::Equal => flag(Flag::Z),
            Condition::NotEqual => !flag(Flag::Z),
            Condition::CarrySet => flag(Flag::C),
            Condition::CarryClear => !flag(Flag::C),
            Condition::Minus => flag(Flag::N),
            Condition::Plus => !flag(Flag::N),
            Condition::Overflow => flag(Flag::V),
            Condition::NoOverflow => !flag(Flag::V),
            Condition::UnsignedHigher => flag(Flag::C) & !flag(Flag::Z),
            Condition::UnsignedLowerOrSame => !flag(Flag::C) | flag(Flag::Z),
            Condition::GreaterOrEqual => flag(Flag::N).eq(flag(Flag::V)),
            Condition::Less => flag(Flag::N).ne(flag(Flag::V)),
            Condition::Greater => !flag(Flag::Z) & flag(Flag::N).eq(flag(Flag::V)),
            Condition::LessOrEqual => flag(Flag::Z) | flag(Flag::N).ne(flag(Flag::V)),
            Condition::Always => Expr::constant(1, 1),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flag {
    N,
    Z,
    C,
    V,
}

impl Flag {
    fn name(self) -> &'static str {
        match self {
            Flag::N => "N",
            Flag::Z => "Z",
            Flag::C => "C",
            Flag::V => "V",
        }
    }
}

pub fn read(ins: &mut Instruction<'_, '_, '_>, flag: Flag) -> Expr {
    Expr::Var(ins.thread.function.var(flag.name(), 1))
}

/// One bit for each flag.
pub struct Flags {
    pub n: Expr,
    pub z: Expr,
    pub c: Expr,
    pub v: Expr,
}

impl Flags {
    /// N and Z from a result, no carry and no overflow.
    pub fn of_logic(result: Expr, width: u32) -> Flags {
        Flags {
            n: result.clone().extract(width - 1, 1),
            z: result.eq(Expr::constant(width, 0)),
            c: Expr::constant(1, 0),
            v: Expr::constant(1, 0),
        }
    }

    /// From the sum of two operands that was computed with one bit more than they have.
    pub fn of_sum(left: Expr, right: Expr, wide_sum: Expr, width: u32) -> Flags {
        let result = wide_sum.clone().extract(0, width);
        let overflow = (left ^ result.clone()) & (right ^ result.clone());
        Flags {
            c: wide_sum.extract(width, 1),
            v: overflow.extract(width - 1, 1),
            ..Flags::of_logic(result, width)
        }
    }

    /// From a constant, as `NZCV`.
    pub fn of_constant(nzcv: u32) -> Flags {
        let bit = |position: u32| Expr::constant(1, (nzcv >> position & 1).into());
        Flags { n: bit(3), z: bit(2), c: bit(1), v: bit(0) }
    }

    /// Sets the flags. The new values must not mention the old ones.
    pub fn write(self, ins: &mut Instruction<'_, '_, '_>) {
        let values = [(Flag::N, self.n), (Flag::Z, self.z), (Flag::C, self.c), (Flag::V, self.v)];
        for (flag, value) in values {
            let var = ins.thread.function.var(flag.name(), 1);
            ins.thread.function.assign(var, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;

    /// Every condition after a comparison of two numbers, against the comparison itself.
    #[test]
    fn conditions_after_a_comparison() {
        let interesting = [0, 1, 2, i32::MAX, i32::MIN, -1, -2];
        for a in interesting {
            for b in interesting {
                let (ua, ub) = (a as u32, b as u32);
                let difference = a.wrapping_sub(b);
                let overflow = a.checked_sub(b).is_none();
                let expected = [
                    ("EQ", a == b),
                    ("NE", a != b),
                    ("HS", ua >= ub),
                    ("cs", ua >= ub),
                    ("LO", ua < ub),
                    ("HI", ua > ub),
                    ("LS", ua <= ub),
                    ("GE", a >= b),
                    ("LT", a < b),
                    ("GT", a > b),
                    ("LE", a <= b),
                    ("MI", difference < 0),
                    ("PL", difference >= 0),
                    ("VS", overflow),
                    ("VC", !overflow),
                    ("AL", true),
                ];
                for (condition, holds) in expected {
                    let set = format!("CSET W0,{condition}");
                    let start = [("X1", ua.into()), ("X2", ub.into())];
                    let after = run(&["CMP W1,W2", &set], &start);
                    assert_eq!(after.register("X0"), holds.into(), "{a} {condition} {b}");
                }
            }
        }
    }
}
