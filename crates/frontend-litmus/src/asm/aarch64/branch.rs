//! Jumps: unconditional, on a condition of the flags, on a register or one of its bits.

use parallax_program::{Diagnostic, Expr, Terminator};

use super::flags::Condition;
use super::instruction::Instruction;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    Always,
    /// Back to the caller, which a thread does not have: the end.
    Return,
    OnFlags(Condition),
    OnRegister {
        zero: bool,
    },
    OnBit {
        zero: bool,
    },
}

pub fn decode(name: &str) -> Option<Branch> {
    match name {
        "B" => Some(Branch::Always),
        "RET" => Some(Branch::Return),
        "CBZ" => Some(Branch::OnRegister { zero: true }),
        "CBNZ" => Some(Branch::OnRegister { zero: false }),
        "TBZ" => Some(Branch::OnBit { zero: true }),
        "TBNZ" => Some(Branch::OnBit { zero: false }),
        _ => {
            let suffix = name.strip_prefix('B')?;
            let condition = Condition::parse(suffix.strip_prefix('.').unwrap_or(suffix))?;
            Some(Branch::OnFlags(condition))
        }
    }
}

pub fn lower(branch: Branch, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let condition = match branch {
        Branch::Return => {
            if let Some(text) = ins.peek() {
                let register = ins.register()?;
                if register.storage().is_none_or(|register| register.whole != "X30") {
                    let message = "only a return to the address in X30 is supported";
                    return Err(ins.error(text, message));
                }
            }
            ins.thread.function.terminate(Terminator::Return(None));
            return Ok(());
        }
        Branch::Always | Branch::OnFlags(Condition::Always) => {
            let target = ins.label()?;
            ins.thread.function.terminate(Terminator::Jump(target));
            return Ok(());
        }
        Branch::OnFlags(condition) => condition.holds(ins),
        Branch::OnRegister { zero } => {
            let reg = ins.register()?;
            is_zero(ins.read(reg), reg.width, zero)
        }
        Branch::OnBit { zero } => {
            let reg = ins.register()?;
            let bit = ins.bit_count(reg.width)?;
            is_zero(ins.read(reg).extract(bit, 1), 1, zero)
        }
    };
    let target = ins.label()?;
    ins.thread.function.branch(condition, target);
    Ok(())
}

fn is_zero(value: Expr, width: u32, expected: bool) -> Expr {
    let zero = Expr::constant(width, 0);
    match expected {
        true => value.eq(zero),
        false => value.ne(zero),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, run};

    #[test]
    fn taken_where_the_condition_holds() {
        let cases = [
            ("B L", 5, true),
            ("RET", 5, true),
            ("RET X30", 5, true),
            ("B.AL L", 5, true),
            ("CBZ X1,L", 0, true),
            ("CBZ X1,L", 1 << 32, false),
            ("CBZ W1,L", 1 << 32, true),
            ("CBNZ W1,L", 2, true),
            ("CBNZ XZR,L", 2, false),
            ("TBZ X1,#33,L", 1 << 33, false),
            ("TBNZ X1,#33,L", 1 << 33, true),
            ("TBNZ W1,#0,L", 6, false),
        ];
        for (text, x1, taken) in cases {
            let after = run(&[text, "MOV X0,#1", "L:"], &[("X1", x1)]);
            assert_eq!(after.register("X0") == 0, taken, "{text}");
        }
    }

    #[test]
    fn conditions_after_a_dot_or_not() {
        for (text, taken) in
            [("B.EQ L", true), ("beq L", true), ("b.ne L", false), ("BLT L", false)]
        {
            let after = run(&["CMP X1,#5", text, "MOV X0,#1", "L:"], &[("X1", 5)]);
            assert_eq!(after.register("X0") == 0, taken, "{text}");
        }
    }

    #[test]
    fn malformed_branches() {
        let cases = [
            ("B .+8", "1:3: expected a label, found '.+8'"),
            ("B", "1:1: B needs more operands"),
            ("RET X1", "1:5: only a return to the address in X30 is supported"),
            ("B.XX L", "1:1: unknown AArch64 instruction 'B.XX'"),
            ("TBZ W0,#32,L", "1:8: 32 is out of range: expected 0 to 31"),
        ];
        for (text, message) in cases {
            assert_eq!(error(text), message);
        }
    }
}
