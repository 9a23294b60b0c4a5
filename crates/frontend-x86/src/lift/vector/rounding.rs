//! Rounding to integers that stay floating-point numbers, and sums of neighbours (SSE3, SSE4.1).

use iced_x86::Mnemonic;
use parallax_program::{BinaryOp, Expr, UnaryOp};

use super::super::{Lifted, Step};
use super::float::{Lanes, is_no_number, quiet};
use super::{join, lanes};

impl Step<'_> {
    pub(super) fn roundings(&mut self) -> Lifted<bool> {
        let lanes = match self.mnemonic() {
            Mnemonic::Roundss => Lanes::Lowest(32),
            Mnemonic::Roundsd => Lanes::Lowest(64),
            Mnemonic::Roundps => Lanes::All(32),
            Mnemonic::Roundpd => Lanes::All(64),
            _ => return self.neighbours(),
        };
        // The third bit means: as the control register says, which is to nearest.
        let control = self.immediate(2)?;
        let mode = if control & 4 == 0 { control & 3 } else { 0 };
        self.on_lanes(lanes, |step, _, value, width| step.rounded(value, width, mode))?;
        Ok(true)
    }

    /// Rounded to nearest, down, up or to zero; a zero keeps the sign.
    fn rounded(&mut self, value: Expr, width: u32, mode: u64) -> Expr {
        let value = self.out.hold(width, value);
        let exact = self.as_double(value.clone(), width, false);
        let nearest = self.as_double(value.clone(), width, true);
        let one = Expr::constant(64, 1f64.to_bits().into());
        let less = |a: &Expr, b: &Expr| Expr::binary(BinaryOp::FLt, a.clone(), b.clone());
        let lower = Expr::binary(BinaryOp::FSub, nearest.clone(), one.clone());
        let upper = Expr::binary(BinaryOp::FAdd, nearest.clone(), one);
        let down = less(&exact, &nearest).select(lower, nearest.clone());
        let up = less(&nearest, &exact).select(upper, nearest.clone());
        let negative = exact.clone().extract(63, 1);
        let result = match mode {
            0 => nearest,
            1 => down,
            2 => up,
            _ => negative.clone().select(up, down),
        };
        let sign = Expr::binary(BinaryOp::Shl, negative.zero_extend(64), Expr::constant(64, 63));
        let result = self.out.hold(64, result | sign);
        let result = match width {
            32 => Expr::unary(UnaryOp::F64ToF32, result).extract(0, 32),
            _ => result,
        };
        is_no_number(&value).select(quiet(value, width), result)
    }

    /// Sums and differences of neighbours, and those in turn.
    fn neighbours(&mut self) -> Lifted<bool> {
        use BinaryOp::{FAdd, FSub};
        match self.mnemonic() {
            Mnemonic::Haddps => self.across(32, FAdd)?,
            Mnemonic::Haddpd => self.across(64, FAdd)?,
            Mnemonic::Hsubps => self.across(32, FSub)?,
            Mnemonic::Hsubpd => self.across(64, FSub)?,
            Mnemonic::Addsubps => self.in_turn(32)?,
            Mnemonic::Addsubpd => self.in_turn(64)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn across(&mut self, width: u32, op: BinaryOp) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let mut all = lanes(&left, width).into_iter().chain(lanes(&right, width));
        let mut results = Vec::new();
        while let (Some(first), Some(second)) = (all.next(), all.next()) {
            let result = self.float_binary(op, first, second, width);
            results.push(self.out.hold(width, result));
        }
        self.set_vector(join(results))
    }

    /// Differences in even lanes, sums in odd ones.
    fn in_turn(&mut self, width: u32) -> Lifted<()> {
        let mut is_odd = false;
        self.on_lanes(Lanes::All(width), |step, left, right, width| {
            let op = if is_odd { BinaryOp::FAdd } else { BinaryOp::FSub };
            is_odd = !is_odd;
            step.float_binary(op, left, right, width)
        })
    }
}
