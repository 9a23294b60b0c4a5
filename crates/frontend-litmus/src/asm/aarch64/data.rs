//! Addition, subtraction and logic on two operands, with or without setting the flags, and the
//! comparisons, tests and negations that are short for them.

use parallax_program::{Diagnostic, Expr};

use super::flags::{Condition, Flag, Flags, read as read_flag};
use super::instruction::Instruction;
use super::operand::flexible;
use super::registers::Reg;

pub struct DataOp {
    operator: Operator,
    shape: Shape,
    sets_flags: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Sub,
    AddWithCarry,
    SubWithCarry,
    And,
    Or,
    Xor,
    AndNot,
    OrNot,
    XorNot,
}

/// Which registers stand before the last operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// `ADD X0,X1,…`
    DestinationAndLeft,
    /// `CMP X1,…`: the result is lost.
    Left,
    /// `NEG X0,…`: the left operand is zero.
    Destination,
    /// `CCMP X1,…,#nzcv,cond`: like `CMP` where the condition holds.
    ConditionalLeft,
}

pub fn decode(name: &str) -> Option<DataOp> {
    use Operator::*;
    use Shape::*;
    let (operator, shape, sets_flags) = match name {
        "ADD" => (Add, DestinationAndLeft, false),
        "ADDS" => (Add, DestinationAndLeft, true),
        "SUB" => (Sub, DestinationAndLeft, false),
        "SUBS" => (Sub, DestinationAndLeft, true),
        "ADC" => (AddWithCarry, DestinationAndLeft, false),
        "ADCS" => (AddWithCarry, DestinationAndLeft, true),
        "SBC" => (SubWithCarry, DestinationAndLeft, false),
        "SBCS" => (SubWithCarry, DestinationAndLeft, true),
        "AND" => (And, DestinationAndLeft, false),
        "ANDS" => (And, DestinationAndLeft, true),
        "ORR" => (Or, DestinationAndLeft, false),
        "EOR" => (Xor, DestinationAndLeft, false),
        "BIC" => (AndNot, DestinationAndLeft, false),
        "BICS" => (AndNot, DestinationAndLeft, true),
        "ORN" => (OrNot, DestinationAndLeft, false),
        "EON" => (XorNot, DestinationAndLeft, false),
        "CMP" => (Sub, Left, true),
        "CMN" => (Add, Left, true),
        "TST" => (And, Left, true),
        "CCMP" => (Sub, ConditionalLeft, true),
        "CCMN" => (Add, ConditionalLeft, true),
        "NEG" => (Sub, Destination, false),
        "NEGS" => (Sub, Destination, true),
        "NGC" => (SubWithCarry, Destination, false),
        "NGCS" => (SubWithCarry, Destination, true),
        "MVN" => (OrNot, Destination, false),
        _ => return None,
    };
    Some(DataOp { operator, shape, sets_flags })
}

pub fn lower(op: DataOp, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let first = ins.register_or_sp()?;
    let width = first.width;
    let zero = Reg { width, ..Reg::ZERO };
    let (destination, left) = match op.shape {
        Shape::DestinationAndLeft => {
            let text = ins.peek().unwrap_or(ins.mnemonic);
            let left = ins.register_or_sp()?;
            ins.require_width(text, left, width)?;
            (first, left)
        }
        Shape::Left | Shape::ConditionalLeft => (zero, first),
        Shape::Destination => (first, zero),
    };
    let left = ins.read(left);
    if op.shape == Shape::ConditionalLeft {
        return op.compare_conditionally(ins, left, width);
    }
    let right = flexible(ins, width)?;
    let value = if op.sets_flags {
        let (value, flags) = op.value_and_flags(ins, left, right, width);
        flags.write(ins);
        value
    } else {
        op.value(ins, left, right, width)
    };
    ins.write(destination, value);
    Ok(())
}

impl DataOp {
    /// `CCMP W1,#5,#nzcv,EQ`: the last operand is a register without shift or a small number.
    fn compare_conditionally(
        &self,
        ins: &mut Instruction<'_, '_, '_>,
        left: Expr,
        width: u32,
    ) -> Result<(), Diagnostic> {
        let right = match ins.peek().and_then(Reg::parse) {
            Some(_) => {
                let reg = ins.register_of(width)?;
                ins.read(reg)
            }
            None => Expr::signed(width, ins.immediate(0, 31)?),
        };
        let otherwise = ins.immediate(0, 15)? as u32;
        let condition = Condition::take(ins)?.holds(ins);
        ins.choose(
            condition,
            |ins| self.value_and_flags(ins, left, right, width).1.write(ins),
            |ins| Flags::of_constant(otherwise).write(ins),
        );
        Ok(())
    }

    fn value(
        &self,
        ins: &mut Instruction<'_, '_, '_>,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> Expr {
        match self.operator {
            Operator::Add => left + right,
            Operator::Sub => left - right,
            Operator::AddWithCarry => left + right + carry(ins, width),
            Operator::SubWithCarry => left + !right + carry(ins, width),
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::AndNot => left & !right,
            Operator::OrNot => left | !right,
            Operator::XorNot => left ^ !right,
        }
    }

    /// The value is held apart, so that it may be used after the flags have changed.
    fn value_and_flags(
        &self,
        ins: &mut Instruction<'_, '_, '_>,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> (Expr, Flags) {
        let wide = width + 1;
        let (right, carry_in) = match self.operator {
            Operator::Add => (right, Expr::constant(wide, 0)),
            Operator::Sub => (!right, Expr::constant(wide, 1)),
            Operator::AddWithCarry => (right, carry(ins, wide)),
            Operator::SubWithCarry => (!right, carry(ins, wide)),
            _ => {
                let value = self.value(ins, left, right, width);
                let value = Expr::Var(ins.hold(width, value));
                return (value.clone(), Flags::of_logic(value, width));
            }
        };
        let sum = left.clone().zero_extend(wide) + right.clone().zero_extend(wide) + carry_in;
        let sum = Expr::Var(ins.hold(wide, sum));
        let value = sum.clone().extract(0, width);
        (value, Flags::of_sum(left, right, sum, width))
    }
}

fn carry(ins: &mut Instruction<'_, '_, '_>, width: u32) -> Expr {
    read_flag(ins, Flag::C).zero_extend(width)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, lowered, run};
    use super::*;
    use parallax_program::{InstKind, VarId};
    use proptest::prelude::*;

    #[test]
    fn false_dependencies_stay() {
        let kinds = lowered(&["EOR W2,W0,W0"]);
        let w0 = || Expr::Var(VarId(0)).extract(0, 32);
        let value = (w0() ^ w0()).zero_extend(64);
        let dst = VarId(1);
        assert_eq!(kinds, [InstKind::Assign { dst, value }]);
    }

    #[test]
    fn values() {
        let start = [("X1", 0xf0f0), ("X2", 0x0ff0)];
        let cases: [(&str, u64); 13] = [
            ("ADD X0,X1,X2", 0x100e0),
            ("SUB X0,X2,X1", 0xffff_ffff_ffff_1f00),
            ("SUB W0,W2,W1", 0xffff_1f00),
            ("AND X0,X1,X2", 0xf0),
            ("AND X0,X1,#0xf000", 0xf000),
            ("ORR X0,X1,X2", 0xfff0),
            ("EOR X0,X1,X2", 0xff00),
            ("BIC X0,X1,X2", 0xf000),
            ("ORN W0,W1,W2", 0xffff_f0ff),
            ("EON W0,W1,W2", 0xffff_00ff),
            ("MVN W0,W1", 0xffff_0f0f),
            ("NEG X0,X2", 0xffff_ffff_ffff_f010),
            ("ADDS X1,X1,X1,LSL #1", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(run(&[text], &start).register("X0"), expected, "{text}");
        }
        let after = run(&["ADDS X1,X1,X1,LSL #1"], &start);
        assert_eq!(after.register("X1"), 3 * 0xf0f0);
    }

    #[test]
    fn the_stack_pointer_is_a_register_here() {
        let after = run(&["SUB SP,SP,#16", "ADD X0,SP,#4"], &[("SP", 100)]);
        assert_eq!((after.register("SP"), after.register("X0")), (84, 88));
    }

    #[test]
    fn conditional_comparison() {
        let outcome = |x1, x2| {
            let program = ["CMP X1,#1", "CCMP X2,#2,#4,NE", "CSET X0,EQ"];
            run(&program, &[("X1", x1), ("X2", x2)]).register("X0")
        };
        // Where X1 is 1, the flags come from the constant, in which Z is set.
        assert_eq!((outcome(1, 9), outcome(0, 2), outcome(0, 3)), (1, 1, 0));
    }

    #[test]
    fn malformed_operations() {
        let cases = [
            ("ADD X0,W1,X2", "1:8: expected a X register, found 'W1'"),
            ("ADD X0,X1", "1:1: ADD needs more operands"),
            ("CCMP X0,#32,#0,EQ", "1:9: 32 is out of range: expected 0 to 31"),
            ("CCMP X0,#1,#0,XX", "1:15: 'XX' is not a condition"),
            ("CMP X0,X1,X2", "1:11: expected a shift or an extension, found 'X2'"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }

    proptest! {
        #[test]
        fn wide_arithmetic_through_the_carry(a: u128, b: u128) {
            let start = [
                ("X1", a as u64), ("X2", (a >> 64) as u64),
                ("X3", b as u64), ("X4", (b >> 64) as u64),
            ];
            let program = ["ADDS X5,X1,X3", "ADCS X6,X2,X4", "CSET X7,CS",
                "SUBS X8,X1,X3", "SBCS X9,X2,X4", "CSET X10,LO", "CSET X11,VS"];
            let after = run(&program, &start);
            let pair = |low, high| {
                u128::from(after.register(low)) | u128::from(after.register(high)) << 64
            };
            prop_assert_eq!(pair("X5", "X6"), a.wrapping_add(b));
            prop_assert_eq!(after.register("X7") == 1, a.checked_add(b).is_none());
            prop_assert_eq!(pair("X8", "X9"), a.wrapping_sub(b));
            prop_assert_eq!(after.register("X10") == 1, a < b);
            let overflows = (a as i128).checked_sub(b as i128).is_none();
            prop_assert_eq!(after.register("X11") == 1, overflows);
        }
    }
}
