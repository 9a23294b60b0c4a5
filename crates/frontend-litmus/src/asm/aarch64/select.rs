//! Conditional selection.
//!
//! What is selected depends on the operand it comes from, and on the flags only in the way in
//! which it would after a branch that ends at once (the *pick* dependencies of DDI 0487, B2.3).
//! So a selection is a branch whose two arms meet again; no access lies inside of them.

use parallax_program::{Diagnostic, Expr};

use super::flags::Condition;
use super::instruction::Instruction;
use super::registers::Reg;

pub struct Selection {
    change: Change,
    form: Form,
}

/// What happens to an operand on its way to the destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Increment,
    Invert,
    Negate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `CSINC X0,X1,X2,cond`: the first, or where the condition fails the second, changed.
    TwoOperands,
    /// `CINC X0,X1,cond`: the operand, changed where the condition holds.
    OneOperand,
    /// `CSET X0,cond`: zero, changed where the condition holds.
    NoOperand,
}

pub fn decode(name: &str) -> Option<Selection> {
    use Change::*;
    use Form::*;
    let (change, form) = match name {
        "CSEL" => (None, TwoOperands),
        "CSINC" => (Increment, TwoOperands),
        "CSINV" => (Invert, TwoOperands),
        "CSNEG" => (Negate, TwoOperands),
        "CINC" => (Increment, OneOperand),
        "CINV" => (Invert, OneOperand),
        "CNEG" => (Negate, OneOperand),
        "CSET" => (Increment, NoOperand),
        "CSETM" => (Invert, NoOperand),
        _ => return Option::None,
    };
    Some(Selection { change, form })
}

pub fn lower(selection: Selection, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let dst = ins.register()?;
    let width = dst.width;
    let zero = Reg { width, ..Reg::ZERO };
    let (first, second) = match selection.form {
        Form::TwoOperands => (ins.register_of(width)?, ins.register_of(width)?),
        Form::OneOperand => {
            let operand = ins.register_of(width)?;
            (operand, operand)
        }
        Form::NoOperand => (zero, zero),
    };
    let holds = Condition::take(ins)?.holds(ins);
    let (first, second) = (ins.read(first), ins.read(second));
    let (then, otherwise) = match selection.form {
        Form::TwoOperands => (first, selection.change.apply(second, width)),
        _ => (selection.change.apply(first, width), second),
    };
    ins.choose(holds, |ins| ins.write(dst, then), |ins| ins.write(dst, otherwise));
    Ok(())
}

impl Change {
    fn apply(self, value: Expr, width: u32) -> Expr {
        match self {
            Change::None => value,
            Change::Increment => value + Expr::constant(width, 1),
            Change::Invert => !value,
            Change::Negate => Expr::constant(width, 0) - value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn values() {
        // The comparison finds equality.
        let start = [("X1", 10), ("X2", 20), ("X3", 7)];
        let cases: [(&str, u64); 14] = [
            ("CSEL X0,X1,X2,EQ", 10),
            ("CSEL X0,X1,X2,NE", 20),
            ("CSINC X0,X1,X2,NE", 21),
            ("CSINV W0,W1,W2,NE", 0xffff_ffeb),
            ("CSNEG X0,X1,X2,NE", -20_i64 as u64),
            ("CSNEG X0,X1,X2,EQ", 10),
            ("CINC X0,X1,EQ", 11),
            ("CINC X0,X1,NE", 10),
            ("CINV W0,W1,EQ", 0xffff_fff5),
            ("CNEG X0,X1,EQ", -10_i64 as u64),
            ("CSET X0,EQ", 1),
            ("CSET X0,NE", 0),
            ("CSETM W0,EQ", 0xffff_ffff),
            ("csel w0,w1,wzr,ls", 10),
        ];
        for (text, expected) in cases {
            let after = run(&["CMP X3,#7", text], &start);
            assert_eq!(after.register("X0"), expected, "{text}");
        }
    }

    #[test]
    fn the_condition_must_exist() {
        assert_eq!(error("CSET X0,FOO"), "1:9: 'FOO' is not a condition");
    }
}
