//! Reversal of bits and bytes, and counting of leading zeros.

use parallax_program::{Diagnostic, Expr, UnaryOp};

use super::instruction::Instruction;
use super::operand::Shift;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reverse {
    /// Swaps neighbouring groups of so many bits, of twice as many, and so on; the largest
    /// groups are half a register where no limit is given.
    Groups {
        first: u32,
        last: Option<u32>,
    },
    LeadingZeros,
}

pub fn decode(name: &str) -> Option<Reverse> {
    let groups = |first, last| Some(Reverse::Groups { first, last });
    match name {
        "RBIT" => groups(1, None),
        "REV" | "REV64" => groups(8, None),
        "REV16" => groups(8, Some(8)),
        "REV32" => groups(8, Some(16)),
        "CLZ" => Some(Reverse::LeadingZeros),
        _ => None,
    }
}

pub fn lower(reverse: Reverse, ins: &mut Instruction<'_, '_, '_>) -> Result<(), Diagnostic> {
    let dst = ins.register()?;
    let width = dst.width;
    let source = ins.register_of(width)?;
    let mut value = ins.read(source);
    match reverse {
        Reverse::LeadingZeros => value = Expr::unary(UnaryOp::LeadingZeros, value),
        Reverse::Groups { first, last } => {
            let mut group = first;
            while group <= last.unwrap_or(width / 2) {
                value = swap_neighbours(value, group, width);
                value = Expr::Var(ins.hold(width, value));
                group *= 2;
            }
        }
    }
    ins.write(dst, value);
    Ok(())
}

fn swap_neighbours(value: Expr, group: u32, width: u32) -> Expr {
    let ones = (1_u128 << group) - 1;
    let every_second =
        (0..width).step_by(2 * group as usize).fold(0, |mask, low| mask | ones << low);
    let mask = || Expr::constant(width, every_second);
    let down = Shift::LogicalRight.by_constant(value.clone(), width, group) & mask();
    let up = Shift::Left.by_constant(value & mask(), width, group);
    down | up
}

#[cfg(test)]
mod tests {
    use super::super::testing::{lowered, run};
    use super::*;
    use parallax_program::{InstKind, VarId};
    use proptest::prelude::*;

    #[test]
    fn leading_zeros_of_half_a_register() {
        let half = Expr::Var(VarId(0)).extract(0, 32);
        let value = Expr::unary(UnaryOp::LeadingZeros, half).zero_extend(64);
        let dst = VarId(1);
        assert_eq!(lowered(&["CLZ W0,W1"]), [InstKind::Assign { dst, value }]);
    }

    proptest! {
        #[test]
        fn values(x: u64) {
            let w = x as u32;
            let cases: [(&str, u64); 6] = [
                ("RBIT X0,X1", x.reverse_bits()),
                ("RBIT W0,W1", w.reverse_bits().into()),
                ("REV X0,X1", x.swap_bytes()),
                ("REV W0,W1", w.swap_bytes().into()),
                ("REV32 X0,X1", x.swap_bytes().rotate_left(32)),
                ("REV16 W0,W1", w.swap_bytes().rotate_left(16).into()),
            ];
            for (text, expected) in cases {
                prop_assert_eq!(run(&[text], &[("X1", x)]).register("X0"), expected, "{}", text);
            }
        }
    }
}
