//! The meaning of the operators on IEEE 754 numbers, which programs hold as bit patterns.
//! Rounding is to nearest, ties to even, as C programs find it unless they change it.

use parallax_program::{BinaryOp, Bits, UnaryOp};

/// The bits of the result.
pub(crate) fn unary(op: UnaryOp, value: Bits) -> u128 {
    let bits = value.unsigned() as u64;
    let double = f64::from_bits(bits);
    let single = f32::from_bits(bits as u32);
    u128::from(match op {
        UnaryOp::FSqrt if value.width() == 32 => u64::from(single.sqrt().to_bits()),
        UnaryOp::FSqrt => double.sqrt().to_bits(),
        UnaryOp::F32ToF64 => f64::from(single).to_bits(),
        UnaryOp::F64ToF32 => u64::from((double as f32).to_bits()),
        UnaryOp::F64ToS64 => double as i64 as u64,
        UnaryOp::F64ToU64 => double as u64,
        UnaryOp::S64ToF64 => (bits as i64 as f64).to_bits(),
        UnaryOp::U64ToF64 => (bits as f64).to_bits(),
        UnaryOp::S64ToF32 => u64::from((bits as i64 as f32).to_bits()),
        UnaryOp::U64ToF32 => u64::from((bits as f32).to_bits()),
        _ => bits,
    })
}

pub(crate) fn binary(op: BinaryOp, left: Bits, right: Bits) -> Bits {
    let (a, b) = (left.unsigned() as u64, right.unsigned() as u64);
    if left.width() == 32 {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        return arithmetic(op, a, b, |x| Bits::new(32, u128::from(x.to_bits())));
    }
    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
    arithmetic(op, a, b, |x| Bits::new(64, u128::from(x.to_bits())))
}

fn arithmetic<F>(op: BinaryOp, a: F, b: F, pattern: impl Fn(F) -> Bits) -> Bits
where
    F: Copy
        + PartialOrd
        + std::ops::Add<Output = F>
        + std::ops::Sub<Output = F>
        + std::ops::Mul<Output = F>
        + std::ops::Div<Output = F>
        + std::ops::Rem<Output = F>,
{
    match op {
        BinaryOp::FSub => pattern(a - b),
        BinaryOp::FMul => pattern(a * b),
        BinaryOp::FDiv => pattern(a / b),
        BinaryOp::FRem => pattern(a % b),
        BinaryOp::FEq => Bits::bool(a == b),
        BinaryOp::FLt => Bits::bool(a < b),
        BinaryOp::FLe => Bits::bool(a <= b),
        BinaryOp::FUnordered => Bits::bool(a.partial_cmp(&b).is_none()),
        _ => pattern(a + b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> Bits {
        Bits::new(64, u128::from(value.to_bits()))
    }

    #[test]
    fn arithmetic_is_that_of_ieee_754() {
        assert_eq!(binary(BinaryOp::FAdd, double(0.1), double(0.2)), double(0.1 + 0.2));
        assert_eq!(binary(BinaryOp::FDiv, double(1.0), double(0.0)), double(f64::INFINITY));
        assert_eq!(binary(BinaryOp::FRem, double(-7.5), double(2.0)), double(-1.5));
        assert_eq!(binary(BinaryOp::FUnordered, double(f64::NAN), double(1.0)), Bits::bool(true));
        assert_eq!(binary(BinaryOp::FEq, double(0.0), double(-0.0)), Bits::bool(true));
    }

    #[test]
    fn conversions_round() {
        assert_eq!(unary(UnaryOp::F64ToS64, double(-2.9)) as i64, -2);
        let third = 1.0 / 3.0;
        let single = u128::from((third as f32).to_bits());
        assert_eq!(unary(UnaryOp::F64ToF32, double(third)), single);
        let wide = u128::from(f64::from(third as f32).to_bits());
        assert_eq!(unary(UnaryOp::F32ToF64, Bits::new(64, single)), wide);
    }
}
