//! Vector instructions, SSE to SSE4.2, on registers of 128 bits.
//!
//! An operand in memory of 16 bytes is one access, and must be aligned unless the instruction
//! says otherwise.

mod compare;
mod convert;
mod float;
mod integer;
mod moves;
mod rearranged;
mod rounding;
mod shuffles;

use parallax_program::Expr;

use super::operands::Place;
use super::{Lifted, Step};

/// What a vector instruction makes of a pair of lanes of some width.
type LaneOp = fn(Expr, Expr, u32) -> Expr;

impl Step<'_> {
    pub fn vectors(&mut self) -> Lifted<bool> {
        Ok(self.vector_moves()?
            || self.vector_integers()?
            || self.vector_shifts()?
            || self.shuffles()?
            || self.rearrangements()?
            || self.roundings()?
            || self.floats()?
            || self.float_comparisons()?
            || self.conversions()?)
    }

    /// The lowest bits of a vector operand, held: all of an operand in memory, some of a register.
    fn low_part(&mut self, operand: u32, width: u32) -> Lifted<Expr> {
        let place = self.place(operand)?;
        if let (Place::Memory { address, .. }, 128) = (&place, place.width()) {
            self.require_aligned(&address.clone());
        }
        let value = self.read(&place);
        match place.width() {
            found if found == width => Ok(value),
            found if found > width => Ok(value.extract(0, width)),
            _ => Err(self.refused("has operands of different sizes")),
        }
    }

    /// A whole vector operand.
    fn vector(&mut self, operand: u32) -> Lifted<Expr> {
        self.low_part(operand, 128)
    }

    /// Writes the first operand, a vector register.
    fn set_vector(&mut self, value: Expr) -> Lifted<()> {
        let place = self.place(0)?;
        if place.width() != 128 {
            return Err(self.refused("has operands of different sizes"));
        }
        self.write(&place, value);
        Ok(())
    }

    /// Writes the lowest bits of the first operand, a vector register.
    fn set_low(&mut self, value: Expr, width: u32) -> Lifted<()> {
        let old = self.vector(0)?;
        self.set_vector(old.extract(width, 128 - width).concat(value))
    }

    /// The first operand becomes what an operator makes of it and the second, lane by lane.
    fn by_lanes(&mut self, width: u32, op: LaneOp) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let pairs = lanes(&left, width).into_iter().zip(lanes(&right, width));
        self.set_vector(join(pairs.map(|(left, right)| op(left, right, width))))
    }
}

/// The parts of a vector, lowest first.
fn lanes(vector: &Expr, width: u32) -> Vec<Expr> {
    if width == 128 {
        return vec![vector.clone()];
    }
    (0..128 / width).map(|lane| vector.clone().extract(lane * width, width)).collect()
}

/// Parts side by side, lowest first.
fn join(lanes: impl IntoIterator<Item = Expr>) -> Expr {
    let mut lanes = lanes.into_iter();
    let lowest = lanes.next().unwrap_or(Expr::constant(1, 0));
    lanes.fold(lowest, |low, high| high.concat(low))
}
