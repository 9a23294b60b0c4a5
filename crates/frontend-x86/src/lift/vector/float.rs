//! Floating-point arithmetic, on one lane or on all.
//!
//! Which bits a result has that is no number is said here, as the manual has it (volume 1,
//! 4.8.3): the first operand that is none, made quiet; or one of the processor's own.

use iced_x86::Mnemonic;
use parallax_program::{BinaryOp, Expr, UnaryOp};

use super::super::{Lifted, Step};
use super::{join, lanes};

/// Whether an instruction works on one lane or on all, and how wide they are.
#[derive(Clone, Copy)]
pub(super) enum Lanes {
    Lowest(u32),
    All(u32),
}

#[derive(Clone, Copy)]
enum FloatOp {
    Binary(BinaryOp),
    SquareRoot,
    Least,
    Greatest,
}

impl Step<'_> {
    pub(super) fn floats(&mut self) -> Lifted<bool> {
        let Some((op, lanes)) = float_operator(self.mnemonic()) else {
            return Ok(false);
        };
        self.on_lanes(lanes, |step, left, right, width| match op {
            FloatOp::Binary(op) => step.float_binary(op, left, right, width),
            FloatOp::SquareRoot => step.square_root(right, width),
            FloatOp::Least => float_less(&left, &right).select(left, right),
            FloatOp::Greatest => float_less(&right, &left).select(left, right),
        })?;
        Ok(true)
    }

    /// The first operand becomes what an operator makes of both, in the lanes it works on.
    pub(super) fn on_lanes(
        &mut self,
        which: Lanes,
        mut op: impl FnMut(&mut Self, Expr, Expr, u32) -> Expr,
    ) -> Lifted<()> {
        match which {
            Lanes::Lowest(width) => {
                let (left, right) = (self.low_part(0, width)?, self.low_part(1, width)?);
                let result = op(self, left, right, width);
                self.set_low(result, width)
            }
            Lanes::All(width) => {
                let (left, right) = (self.vector(0)?, self.vector(1)?);
                let pairs = lanes(&left, width).into_iter().zip(lanes(&right, width));
                let mut results = Vec::new();
                for (left, right) in pairs {
                    let result = op(self, left, right, width);
                    results.push(self.out.hold(width, result));
                }
                self.set_vector(join(results))
            }
        }
    }

    pub(super) fn float_binary(
        &mut self,
        op: BinaryOp,
        left: Expr,
        right: Expr,
        width: u32,
    ) -> Expr {
        let (left, right) = (self.out.hold(width, left), self.out.hold(width, right));
        let raw = self.out.hold(width, Expr::binary(op, left.clone(), right.clone()));
        let made_up = is_no_number(&raw).select(no_number(width), raw);
        let right = is_no_number(&right).select(quiet(right, width), made_up);
        is_no_number(&left).select(quiet(left, width), right)
    }

    fn square_root(&mut self, value: Expr, width: u32) -> Expr {
        let value = self.out.hold(width, value);
        let root = Expr::unary(UnaryOp::FSqrt, value.clone());
        let negative = float_less(&value, &Expr::constant(width, 0));
        let number = negative.select(no_number(width), root);
        is_no_number(&value).select(quiet(value, width), number)
    }
}

pub(super) fn is_no_number(value: &Expr) -> Expr {
    Expr::binary(BinaryOp::FUnordered, value.clone(), value.clone())
}

fn float_less(left: &Expr, right: &Expr) -> Expr {
    Expr::binary(BinaryOp::FLt, left.clone(), right.clone())
}

/// Bits of the fraction.
fn fraction(width: u32) -> u32 {
    if width == 32 { 23 } else { 52 }
}

/// What is no number, such that it raises no exceptions.
pub(super) fn quiet(value: Expr, width: u32) -> Expr {
    value | Expr::constant(width, 1 << (fraction(width) - 1))
}

/// The result of invalid operations: negative and quiet, nothing else.
fn no_number(width: u32) -> Expr {
    Expr::signed(width, -1 << (fraction(width) - 1))
}

fn float_operator(mnemonic: Mnemonic) -> Option<(FloatOp, Lanes)> {
    use FloatOp::{Binary, Greatest, Least, SquareRoot};
    use Lanes::{All, Lowest};
    use Mnemonic::*;
    Some(match mnemonic {
        Addss => (Binary(BinaryOp::FAdd), Lowest(32)),
        Addsd => (Binary(BinaryOp::FAdd), Lowest(64)),
        Addps => (Binary(BinaryOp::FAdd), All(32)),
        Addpd => (Binary(BinaryOp::FAdd), All(64)),
        Subss => (Binary(BinaryOp::FSub), Lowest(32)),
        Subsd => (Binary(BinaryOp::FSub), Lowest(64)),
        Subps => (Binary(BinaryOp::FSub), All(32)),
        Subpd => (Binary(BinaryOp::FSub), All(64)),
        Mulss => (Binary(BinaryOp::FMul), Lowest(32)),
        Mulsd => (Binary(BinaryOp::FMul), Lowest(64)),
        Mulps => (Binary(BinaryOp::FMul), All(32)),
        Mulpd => (Binary(BinaryOp::FMul), All(64)),
        Divss => (Binary(BinaryOp::FDiv), Lowest(32)),
        Divsd => (Binary(BinaryOp::FDiv), Lowest(64)),
        Divps => (Binary(BinaryOp::FDiv), All(32)),
        Divpd => (Binary(BinaryOp::FDiv), All(64)),
        Minss => (Least, Lowest(32)),
        Minsd => (Least, Lowest(64)),
        Minps => (Least, All(32)),
        Minpd => (Least, All(64)),
        Maxss => (Greatest, Lowest(32)),
        Maxsd => (Greatest, Lowest(64)),
        Maxps => (Greatest, All(32)),
        Maxpd => (Greatest, All(64)),
        Sqrtss => (SquareRoot, Lowest(32)),
        Sqrtsd => (SquareRoot, Lowest(64)),
        Sqrtps => (SquareRoot, All(32)),
        Sqrtpd => (SquareRoot, All(64)),
        _ => return None,
    })
}
