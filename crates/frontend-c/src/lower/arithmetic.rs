//! Operators, comparisons and conversions on scalars.

use parallax_program::{BinaryOp, Bits, Expr, UnaryOp};

use super::layout::Lowered;
use crate::llvm::{self, CastOp, FloatPredicate, Predicate};

/// The operator; those on floating-point numbers too.
pub fn integer_op(op: llvm::BinaryOp) -> BinaryOp {
    use llvm::BinaryOp as From;
    match op {
        From::Add => BinaryOp::Add,
        From::Sub => BinaryOp::Sub,
        From::Mul => BinaryOp::Mul,
        From::UDiv => BinaryOp::UDiv,
        From::SDiv => BinaryOp::SDiv,
        From::URem => BinaryOp::URem,
        From::SRem => BinaryOp::SRem,
        From::Shl => BinaryOp::Shl,
        From::LShr => BinaryOp::LShr,
        From::AShr => BinaryOp::AShr,
        From::And => BinaryOp::And,
        From::Or => BinaryOp::Or,
        From::Xor => BinaryOp::Xor,
        From::FAdd => BinaryOp::FAdd,
        From::FSub => BinaryOp::FSub,
        From::FMul => BinaryOp::FMul,
        From::FDiv => BinaryOp::FDiv,
        From::FRem => BinaryOp::FRem,
    }
}

pub fn compare(predicate: Predicate, left: Expr, right: Expr) -> Expr {
    use Predicate::*;
    let (op, swapped) = match predicate {
        Eq => (BinaryOp::Eq, false),
        Ne => (BinaryOp::Ne, false),
        Ult => (BinaryOp::Ult, false),
        Ule => (BinaryOp::Ule, false),
        Ugt => (BinaryOp::Ult, true),
        Uge => (BinaryOp::Ule, true),
        Slt => (BinaryOp::Slt, false),
        Sle => (BinaryOp::Sle, false),
        Sgt => (BinaryOp::Slt, true),
        Sge => (BinaryOp::Sle, true),
    };
    match swapped {
        true => Expr::binary(op, right, left),
        false => Expr::binary(op, left, right),
    }
}

/// A comparison of floating-point numbers, put together from the four that exclude one
/// another; where most of them satisfy it, as the complement of the rest.
pub fn float_compare(predicate: FloatPredicate, left: Expr, right: Expr) -> Expr {
    let FloatPredicate { less, equal, greater, unordered } = predicate;
    let chosen = [less, equal, greater, unordered];
    let many = chosen.iter().filter(|chosen| **chosen).count() > 2;
    let cases = [
        Expr::binary(BinaryOp::FLt, left.clone(), right.clone()),
        Expr::binary(BinaryOp::FEq, left.clone(), right.clone()),
        Expr::binary(BinaryOp::FLt, right.clone(), left.clone()),
        Expr::binary(BinaryOp::FUnordered, left, right),
    ];
    let picked = cases.into_iter().zip(chosen).filter(|(_, chosen)| *chosen != many);
    let either = picked.map(|(case, _)| case).reduce(|a, b| a | b);
    let either = either.unwrap_or(Expr::constant(1, 0));
    if many { Expr::unary(UnaryOp::Not, either) } else { either }
}

/// The sign of a floating-point number, turned round.
pub fn negated(value: Expr, width: u32) -> Expr {
    value ^ Expr::constant(width, 1 << (width - 1))
}

/// A conversion of a scalar from a width to another.
pub fn cast(op: CastOp, value: Expr, from: u32, to: u32) -> Lowered<Expr> {
    let numbers = |width| matches!(width, 32 | 64);
    Ok(match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::PtrToInt | CastOp::IntToPtr => {
            value.resize(from, to)
        }
        CastOp::SExt => value.sign_extend(to),
        CastOp::BitCast if from == to => value,
        CastOp::FPExt if from == 32 && to == 64 => {
            Expr::unary(UnaryOp::F32ToF64, value.zero_extend(64))
        }
        CastOp::FPTrunc if from == 64 && to == 32 => {
            Expr::unary(UnaryOp::F64ToF32, value).extract(0, 32)
        }
        CastOp::FPToSI | CastOp::FPToUI if numbers(from) && to <= 64 => {
            let double = match from {
                32 => Expr::unary(UnaryOp::F32ToF64, value.zero_extend(64)),
                _ => value,
            };
            // Through the signed conversion where the result is narrower than 64 bits: it is
            // the same for numbers that fit, and C leaves the others undefined.
            let op = match op {
                CastOp::FPToUI if to == 64 => UnaryOp::F64ToU64,
                _ => UnaryOp::F64ToS64,
            };
            Expr::unary(op, double).resize(64, to)
        }
        CastOp::SIToFP if numbers(to) && from <= 64 => {
            let value = if from < 64 { value.sign_extend(64) } else { value };
            let op = if to == 64 { UnaryOp::S64ToF64 } else { UnaryOp::S64ToF32 };
            Expr::unary(op, value).resize(64, to)
        }
        CastOp::UIToFP if numbers(to) && from <= 64 => {
            let op = if to == 64 { UnaryOp::U64ToF64 } else { UnaryOp::U64ToF32 };
            Expr::unary(op, value.resize(from, 64)).resize(64, to)
        }
        _ => return Err(format!("a conversion between numbers of {from} and {to} bits")),
    })
}

/// The one-bit condition that a double, cut off at its point, is an integer of that width.
pub fn fits_integer(signed: bool, double: Expr, width: u32) -> Expr {
    let constant = |value: f64| Expr::constant(64, u128::from(value.to_bits()));
    let power = |bits: u32| 2f64.powi(bits as i32);
    let (most, least) = match signed {
        true => (power(width - 1), -power(width - 1)),
        false => (power(width), 0.0),
    };
    let below = Expr::binary(BinaryOp::FLt, double.clone(), constant(most));
    // One less than the least is cut off to it, and has a value of its own where it is small.
    let above = match width <= 52 {
        true => Expr::binary(BinaryOp::FLt, constant(least - 1.0), double),
        false if signed => {
            let less = Expr::binary(BinaryOp::FLt, constant(least), double.clone());
            less | Expr::binary(BinaryOp::FEq, double, constant(least))
        }
        false => Expr::binary(BinaryOp::FLt, constant(-1.0), double),
    };
    below & above
}

/// The same bits, cut into other parts.
pub fn bit_cast(values: Vec<Expr>, from: &[u32], to: &[u32]) -> Lowered<Vec<Expr>> {
    if from == to {
        return Ok(values);
    }
    let (total, wanted) = (from.iter().sum::<u32>(), to.iter().sum::<u32>());
    if total != wanted || total > Bits::MAX_WIDTH {
        return Err(format!("{total} bits as {wanted}"));
    }
    let whole = joined(values).ok_or("an empty value")?;
    let mut low = 0;
    Ok(to
        .iter()
        .map(|width| {
            low += width;
            match *width == total {
                true => whole.clone(),
                false => whole.clone().extract(low - width, *width),
            }
        })
        .collect())
}

/// All parts in one, the first lowest.
pub fn joined(values: Vec<Expr>) -> Option<Expr> {
    values.into_iter().reduce(|low, high| high.concat(low))
}

/// The one-bit condition that a signed operation gives the right result. None where it always
/// does, or where that cannot be said.
pub fn fits_signed(op: llvm::BinaryOp, left: &Expr, right: &Expr, width: u32) -> Option<Expr> {
    let sign = |value: Expr| value.extract(width - 1, 1);
    let (a, b) = (left.clone(), right.clone());
    if let (llvm::BinaryOp::Add, Expr::Const(step)) = (op, right) {
        return Some(steps_within(a, step.to_signed(), width));
    }
    let wrong = match op {
        llvm::BinaryOp::Add => {
            let sum = a.clone() + b.clone();
            sign((a ^ sum.clone()) & (b ^ sum))
        }
        llvm::BinaryOp::Sub => {
            let difference = a.clone() - b.clone();
            sign((a.clone() ^ b) & (a ^ difference))
        }
        llvm::BinaryOp::Mul if width <= 64 => {
            let product = a.sign_extend(2 * width) * b.sign_extend(2 * width);
            let narrow = product.clone().extract(0, width).sign_extend(2 * width);
            product.ne(narrow)
        }
        _ => return None,
    };
    Some(wrong.eq(Expr::constant(1, 0)))
}

/// Whether a sum, a difference or a product is what it would be for integers that are not negative. None where
/// it cannot be said. To add a constant with the highest bit is to take its opposite away, as `x - 1` is written.
pub fn fits_unsigned(op: llvm::BinaryOp, left: &Expr, right: &Expr, width: u32) -> Option<Expr> {
    let (a, b) = (left.clone(), right.clone());
    let at_most = |small: Expr, large: Expr| Expr::binary(BinaryOp::Ule, small, large);
    match (op, right) {
        (llvm::BinaryOp::Add, Expr::Const(step)) if step.to_signed() < 0 => {
            let down = parallax_program::Bits::new(width, step.unsigned().wrapping_neg());
            Some(at_most(Expr::Const(down), a))
        }
        (llvm::BinaryOp::Add, _) => Some(at_most(a.clone(), a + b)),
        (llvm::BinaryOp::Sub, _) => Some(at_most(b, a)),
        (llvm::BinaryOp::Mul, _) if width <= 64 => {
            let product = a.zero_extend(2 * width) * b.zero_extend(2 * width);
            Some(product.extract(width, width).eq(Expr::constant(width, 0)))
        }
        _ => None,
    }
}

/// Whether a number can be moved by a constant without leaving the signed range.
fn steps_within(value: Expr, step: i128, width: u32) -> Expr {
    let least = Bits::new(width, 1 << (width - 1)).to_signed();
    let (most, down) = (-(least + 1), step < 0);
    match down {
        true => Expr::binary(BinaryOp::Sle, Expr::signed(width, least - step), value),
        false => Expr::binary(BinaryOp::Sle, value, Expr::signed(width, most - step)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_cases_are_the_complement_of_the_rest() {
        let (a, b) = (Expr::constant(64, 1), Expr::constant(64, 2));
        let unequal = FloatPredicate { less: true, equal: false, greater: true, unordered: true };
        let expected = Expr::unary(UnaryOp::Not, Expr::binary(BinaryOp::FEq, a.clone(), b.clone()));
        assert_eq!(float_compare(unequal, a, b), expected);
    }

    #[test]
    fn numbers_fit_up_to_the_ends_of_the_range() {
        let text = |signed, width| {
            let fits = fits_integer(signed, Expr::constant(64, 0), width);
            let mut numbers = Vec::new();
            collect(&fits, &mut numbers);
            numbers.into_iter().filter(|number| *number != 0.0).collect::<Vec<_>>()
        };
        assert_eq!(text(true, 32), [2147483648.0, -2147483649.0]);
        assert_eq!(text(false, 8), [256.0, -1.0]);
        assert_eq!(text(false, 64), [18446744073709551616.0, -1.0]);
        let (most, least) = (9223372036854775808.0, -9223372036854775808.0);
        assert_eq!(text(true, 64), [most, least, least]);
    }

    fn collect(expr: &Expr, numbers: &mut Vec<f64>) {
        match expr {
            Expr::Const(bits) => numbers.push(f64::from_bits(bits.unsigned() as u64)),
            Expr::Binary(_, left, right) => {
                collect(left, numbers);
                collect(right, numbers);
            }
            _ => {}
        }
    }

    #[test]
    fn parts_are_cut_anew() {
        let halves = vec![Expr::constant(32, 1), Expr::constant(32, 2)];
        let whole = bit_cast(halves.clone(), &[32, 32], &[64]).unwrap();
        assert_eq!(whole, [Expr::constant(32, 2).concat(Expr::constant(32, 1))]);
        assert_eq!(bit_cast(whole, &[64], &[32, 32]).unwrap().len(), 2);
        assert!(bit_cast(halves, &[32, 32], &[32]).is_err());
    }
}
