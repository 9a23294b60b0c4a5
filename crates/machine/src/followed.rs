//! Concrete values that know which reads they come from, as long as somebody asks: those that a machine has yet to
//! perform. There are few of these at any time, so a word has a bit for each.

use parallax_program::{BinaryOp, Bits, UnaryOp};

use crate::{Concrete, Domain, Truth};

/// Bit-vectors with the numbers of reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Followed;

impl Domain for Followed {
    type Value = Bits;

    const CHOOSES_UNDEFINED: bool = false;

    fn constant(&mut self, bits: Bits) -> Bits {
        bits
    }

    fn unary(&mut self, op: UnaryOp, value: &Bits) -> Bits {
        Concrete.unary(op, value).coming_from(value.from())
    }

    fn binary(&mut self, op: BinaryOp, left: &Bits, right: &Bits) -> Bits {
        Concrete.binary(op, left, right).coming_from(left.from() | right.from())
    }

    fn extract(&mut self, value: &Bits, low: u32, width: u32) -> Bits {
        Concrete.extract(value, low, width).coming_from(value.from())
    }

    fn concat(&mut self, high: &Bits, low: &Bits) -> Bits {
        Concrete.concat(high, low).coming_from(high.from() | low.from())
    }

    fn zero_extend(&mut self, value: &Bits, width: u32) -> Bits {
        Concrete.zero_extend(value, width).coming_from(value.from())
    }

    fn sign_extend(&mut self, value: &Bits, width: u32) -> Bits {
        Concrete.sign_extend(value, width).coming_from(value.from())
    }

    fn select(&mut self, condition: &Bits, then: &Bits, otherwise: &Bits) -> Bits {
        let from = condition.from() | then.from() | otherwise.from();
        Concrete.select(condition, then, otherwise).coming_from(from)
    }

    fn adds_nothing(&self, condition: &Bits, other: Option<&Bits>) -> bool {
        condition.from() & !other.map_or(0, |other| other.from()) == 0
    }

    fn truth(&self, value: &Bits) -> Truth {
        Concrete.truth(value)
    }

    fn known(&self, value: &Bits) -> Option<Bits> {
        Concrete.known(value)
    }
}
