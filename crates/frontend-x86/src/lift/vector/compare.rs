//! Comparisons of floating-point numbers: into flags, and into masks.

use iced_x86::Mnemonic;
use parallax_program::{BinaryOp, Expr};

use super::super::registers::{AF, CF, OF, PF, SF, ZF};
use super::super::{Lifted, Step};
use super::float::Lanes;

impl Step<'_> {
    pub(super) fn float_comparisons(&mut self) -> Lifted<bool> {
        let lanes = match self.mnemonic() {
            Mnemonic::Ucomiss | Mnemonic::Comiss => return self.compare_to_flags(32),
            Mnemonic::Ucomisd | Mnemonic::Comisd => return self.compare_to_flags(64),
            Mnemonic::Cmpss => Lanes::Lowest(32),
            Mnemonic::Cmpsd if !self.instruction.is_string_instruction() => Lanes::Lowest(64),
            Mnemonic::Cmpps => Lanes::All(32),
            Mnemonic::Cmppd => Lanes::All(64),
            _ => return Ok(false),
        };
        let predicate = self.immediate(2)?;
        if predicate > 7 {
            return Err(self.refused("has a predicate that is not defined"));
        }
        self.on_lanes(lanes, |_, left, right, width| {
            holds(predicate, left, right).sign_extend(width)
        })?;
        Ok(true)
    }

    /// Not comparable: all three. Less: carry. Equal: zero.
    fn compare_to_flags(&mut self, width: u32) -> Lifted<bool> {
        let (left, right) = (self.low_part(0, width)?, self.low_part(1, width)?);
        let is = |op| Expr::binary(op, left.clone(), right.clone());
        self.out.assign(PF, is(BinaryOp::FUnordered));
        self.out.assign(CF, Expr::Var(PF) | is(BinaryOp::FLt));
        self.out.assign(ZF, Expr::Var(PF) | is(BinaryOp::FEq));
        self.clear(&[OF, SF, AF]);
        Ok(true)
    }
}

/// Whether one of the eight predicates holds.
fn holds(predicate: u64, left: Expr, right: Expr) -> Expr {
    let op = match predicate & 3 {
        0 => BinaryOp::FEq,
        1 => BinaryOp::FLt,
        2 => BinaryOp::FLe,
        _ => BinaryOp::FUnordered,
    };
    let plain = Expr::binary(op, left, right);
    if predicate & 4 == 0 { plain } else { !plain }
}
