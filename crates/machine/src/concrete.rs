//! The concrete domain: every value is known, but for what nobody has written.

use parallax_program::{BinaryOp, Bits, Open, UnaryOp};

use crate::{Domain, Truth, float};

/// Bit-vectors themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Concrete;

impl Domain for Concrete {
    type Value = Bits;

    const FOLLOWS_CONTROL: bool = false;
    const CHOOSES_UNDEFINED: bool = false;

    fn constant(&mut self, bits: Bits) -> Bits {
        bits
    }

    fn unary(&mut self, op: UnaryOp, value: &Bits) -> Bits {
        unary(op, *value).opened(value.open())
    }

    fn binary(&mut self, op: BinaryOp, left: &Bits, right: &Bits) -> Bits {
        let open = match left.open().max(right.open()) {
            // Compilers take values apart by these, and put them together.
            Open::All if op.is_bitwise() => Open::Part,
            open => open,
        };
        binary(op, *left, *right).opened(open)
    }

    fn extract(&mut self, value: &Bits, low: u32, width: u32) -> Bits {
        value.extract(low, width)
    }

    fn concat(&mut self, high: &Bits, low: &Bits) -> Bits {
        high.concat(*low)
    }

    fn zero_extend(&mut self, value: &Bits, width: u32) -> Bits {
        value.zero_extend(width)
    }

    fn sign_extend(&mut self, value: &Bits, width: u32) -> Bits {
        value.sign_extend(width)
    }

    fn select(&mut self, condition: &Bits, then: &Bits, otherwise: &Bits) -> Bits {
        let taken = if condition.is_zero() { *otherwise } else { *then };
        taken.opened(taken.open().max(condition.open().min(Open::Part)))
    }

    fn truth(&self, value: &Bits) -> Truth {
        match value.is_undefined() {
            true => Truth::Undecided,
            false if value.is_zero() => Truth::False,
            false => Truth::True,
        }
    }

    /// What nobody has written stays as it is, too.
    fn same(&self, left: &Bits, right: &Bits) -> bool {
        left == right
    }

    fn known(&self, value: &Bits) -> Option<Bits> {
        (!value.is_undefined()).then_some(*value)
    }
}

/// The meaning of the operators on one operand.
pub fn unary(op: UnaryOp, value: Bits) -> Bits {
    let width = value.width();
    let bits = value.unsigned();
    let result = match op {
        UnaryOp::Neg => bits.wrapping_neg(),
        UnaryOp::Not => !bits,
        UnaryOp::LeadingZeros => u128::from(bits.leading_zeros() - (128 - width)),
        UnaryOp::TrailingZeros => u128::from(bits.trailing_zeros().min(width)),
        UnaryOp::PopCount => u128::from(bits.count_ones()),
        UnaryOp::ByteSwap if width.is_multiple_of(8) => bits.swap_bytes() >> (128 - width),
        UnaryOp::ByteSwap => bits,
        UnaryOp::BitReverse => bits.reverse_bits() >> (128 - width),
        _ => float::unary(op, value),
    };
    Bits::new(width, result)
}

/// The meaning of the operators on two operands.
pub fn binary(op: BinaryOp, left: Bits, right: Bits) -> Bits {
    use BinaryOp::*;
    let width = left.width();
    let (a, b) = (left.unsigned(), right.unsigned());
    let (sa, sb) = (left.to_signed(), right.to_signed());
    let shift = u32::try_from(b).unwrap_or(u32::MAX);
    let result = match op {
        Add => a.wrapping_add(b),
        Sub => a.wrapping_sub(b),
        Mul => a.wrapping_mul(b),
        UDiv => a.checked_div(b).unwrap_or(u128::MAX),
        URem => a.checked_rem(b).unwrap_or(a),
        SDiv if sb == 0 => u128::MAX,
        SDiv => sa.wrapping_div(sb) as u128,
        SRem if sb == 0 => a,
        SRem => sa.wrapping_rem(sb) as u128,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        Shl => a.checked_shl(shift).unwrap_or(0),
        LShr => a.checked_shr(shift).unwrap_or(0),
        AShr => (sa >> shift.min(127)) as u128,
        Eq => return Bits::bool(a == b),
        Ne => return Bits::bool(a != b),
        Ult => return Bits::bool(a < b),
        Ule => return Bits::bool(a <= b),
        Slt => return Bits::bool(sa < sb),
        Sle => return Bits::bool(sa <= sb),
        FAdd | FSub | FMul | FDiv | FRem | FEq | FLt | FLe | FUnordered => {
            return float::binary(op, left, right);
        }
    };
    Bits::new(width, result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(value: i128) -> Bits {
        Bits::signed(8, value)
    }

    #[test]
    fn arithmetic_wraps_and_division_by_zero_is_defined() {
        assert_eq!(binary(BinaryOp::Add, byte(127), byte(1)), byte(-128));
        assert_eq!(binary(BinaryOp::SDiv, byte(-128), byte(-1)), byte(-128));
        assert_eq!(binary(BinaryOp::UDiv, byte(5), byte(0)), byte(-1));
        assert_eq!(binary(BinaryOp::SRem, byte(-7), byte(2)), byte(-1));
        assert_eq!(binary(BinaryOp::URem, byte(7), byte(0)), byte(7));
    }

    #[test]
    fn shifts_past_the_width() {
        assert_eq!(binary(BinaryOp::Shl, byte(1), byte(8)), byte(0));
        assert_eq!(binary(BinaryOp::Shl, byte(1), byte(-128)), byte(0));
        assert_eq!(binary(BinaryOp::LShr, byte(-1), byte(9)), byte(0));
        assert_eq!(binary(BinaryOp::AShr, byte(-2), byte(100)), byte(-1));
    }

    #[test]
    fn comparisons_know_their_signs() {
        assert_eq!(binary(BinaryOp::Ult, byte(-1), byte(1)), Bits::bool(false));
        assert_eq!(binary(BinaryOp::Ult, byte(1), byte(1)), Bits::bool(false));
        assert_eq!(binary(BinaryOp::Slt, byte(1), byte(1)), Bits::bool(false));
        assert_eq!(binary(BinaryOp::Slt, byte(-1), byte(1)), Bits::bool(true));
        assert_eq!(binary(BinaryOp::Sle, byte(1), byte(1)), Bits::bool(true));
    }

    #[test]
    fn bit_counting() {
        assert_eq!(unary(UnaryOp::LeadingZeros, byte(1)), byte(7));
        assert_eq!(unary(UnaryOp::TrailingZeros, byte(0)), byte(8));
        assert_eq!(unary(UnaryOp::PopCount, byte(-1)), byte(8));
        assert_eq!(unary(UnaryOp::ByteSwap, Bits::new(16, 0x1234)), Bits::new(16, 0x3412));
    }
}
