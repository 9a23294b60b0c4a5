//! Arithmetic on vectors of integers.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr};

use super::super::{Lifted, Step};
use super::{LaneOp, join, lanes};

impl Step<'_> {
    pub(super) fn vector_integers(&mut self) -> Lifted<bool> {
        let Some((width, op)) = lane_operator(self.mnemonic()) else {
            return self.uneven_integers();
        };
        self.by_lanes(width, op)?;
        Ok(true)
    }

    /// Those whose results have other widths than their operands.
    fn uneven_integers(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Pmuludq => self.by_lanes(64, |a, b, _| {
                a.extract(0, 32).zero_extend(64) * b.extract(0, 32).zero_extend(64)
            })?,
            Mnemonic::Pmaddwd => self.by_lanes(32, |a, b, _| {
                let product = |low: u32| {
                    let part = |value: &Expr| value.clone().extract(low, 16).sign_extend(32);
                    part(&a) * part(&b)
                };
                product(0) + product(16)
            })?,
            Mnemonic::Psadbw => self.by_lanes(64, |a, b, _| {
                let difference = |lane: u32| {
                    let part = |value: &Expr| value.clone().extract(lane * 8, 8);
                    let (a, b) = (part(&a), part(&b));
                    let less = Expr::binary(BinaryOp::Ult, a.clone(), b.clone());
                    less.select(b.clone() - a.clone(), a - b).zero_extend(64)
                };
                (1..8).fold(difference(0), |sum, lane| sum + difference(lane))
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn vector_shifts(&mut self) -> Lifted<bool> {
        let (op, width) = match self.mnemonic() {
            Mnemonic::Psllw => (BinaryOp::Shl, 16),
            Mnemonic::Pslld => (BinaryOp::Shl, 32),
            Mnemonic::Psllq => (BinaryOp::Shl, 64),
            Mnemonic::Psrlw => (BinaryOp::LShr, 16),
            Mnemonic::Psrld => (BinaryOp::LShr, 32),
            Mnemonic::Psrlq => (BinaryOp::LShr, 64),
            Mnemonic::Psraw => (BinaryOp::AShr, 16),
            Mnemonic::Psrad => (BinaryOp::AShr, 32),
            Mnemonic::Pslldq => (BinaryOp::Shl, 128),
            Mnemonic::Psrldq => (BinaryOp::LShr, 128),
            _ => return Ok(false),
        };
        let amount = match self.instruction.op_kind(1) {
            OpKind::Register | OpKind::Memory => self.shift_amount(width)?,
            _ => {
                let unit = if width == 128 { 8 } else { 1 };
                let amount = u128::from(self.immediate(1)? & 0xff) * unit;
                Expr::constant(width, amount.min(width.into()))
            }
        };
        let value = self.vector(0)?;
        let shifted =
            lanes(&value, width).into_iter().map(|lane| Expr::binary(op, lane, amount.clone()));
        self.set_vector(join(shifted))?;
        Ok(true)
    }

    /// The lower half of a vector, all of which counts: too much is as good as the width.
    fn shift_amount(&mut self, width: u32) -> Lifted<Expr> {
        let count = self.vector(1)?.extract(0, 64);
        let most = Expr::constant(64, width.into());
        let fits = Expr::binary(BinaryOp::Ult, count.clone(), most.clone());
        let amount = fits.select(count, most).resize(64, width);
        Ok(self.out.hold(width, amount))
    }
}

/// What is done to each pair of lanes, and how wide they are.
fn lane_operator(mnemonic: Mnemonic) -> Option<(u32, LaneOp)> {
    use Mnemonic::*;
    Some(match mnemonic {
        Pand | Andps | Andpd => (128, |a, b, _| a & b),
        Por | Orps | Orpd => (128, |a, b, _| a | b),
        Pxor | Xorps | Xorpd => (128, |a, b, _| a ^ b),
        Pandn | Andnps | Andnpd => (128, |a, b, _| !a & b),
        Paddb => (8, |a, b, _| a + b),
        Paddw => (16, |a, b, _| a + b),
        Paddd => (32, |a, b, _| a + b),
        Paddq => (64, |a, b, _| a + b),
        Psubb => (8, |a, b, _| a - b),
        Psubw => (16, |a, b, _| a - b),
        Psubd => (32, |a, b, _| a - b),
        Psubq => (64, |a, b, _| a - b),
        Paddsb => (8, |a, b, width| saturated(a, b, width, true, |a, b| a + b)),
        Paddsw => (16, |a, b, width| saturated(a, b, width, true, |a, b| a + b)),
        Paddusb => (8, |a, b, width| saturated(a, b, width, false, |a, b| a + b)),
        Paddusw => (16, |a, b, width| saturated(a, b, width, false, |a, b| a + b)),
        Psubsb => (8, |a, b, width| saturated(a, b, width, true, |a, b| a - b)),
        Psubsw => (16, |a, b, width| saturated(a, b, width, true, |a, b| a - b)),
        Psubusb => (8, |a, b, width| saturated(a, b, width, false, |a, b| a - b)),
        Psubusw => (16, |a, b, width| saturated(a, b, width, false, |a, b| a - b)),
        Pcmpeqb => (8, |a, b, width| a.eq(b).sign_extend(width)),
        Pcmpeqw => (16, |a, b, width| a.eq(b).sign_extend(width)),
        Pcmpeqd => (32, |a, b, width| a.eq(b).sign_extend(width)),
        Pcmpgtb => (8, greater),
        Pcmpgtw => (16, greater),
        Pcmpgtd => (32, greater),
        Pmullw => (16, |a, b, _| a * b),
        Pmulhw => (16, |a, b, _| (a.sign_extend(32) * b.sign_extend(32)).extract(16, 16)),
        Pmulhuw => (16, |a, b, _| (a.zero_extend(32) * b.zero_extend(32)).extract(16, 16)),
        Pavgb => (8, average),
        Pavgw => (16, average),
        Pminub => (8, |a, b, _| Expr::binary(BinaryOp::Ult, a.clone(), b.clone()).select(a, b)),
        Pmaxub => (8, |a, b, _| Expr::binary(BinaryOp::Ult, a.clone(), b.clone()).select(b, a)),
        Pminsw => (16, |a, b, _| Expr::binary(BinaryOp::Slt, a.clone(), b.clone()).select(a, b)),
        Pmaxsw => (16, |a, b, _| Expr::binary(BinaryOp::Slt, a.clone(), b.clone()).select(b, a)),
        _ => return None,
    })
}

fn greater(a: Expr, b: Expr, width: u32) -> Expr {
    Expr::binary(BinaryOp::Slt, b, a).sign_extend(width)
}

/// Rounded up.
fn average(a: Expr, b: Expr, width: u32) -> Expr {
    let sum = a.zero_extend(width + 1) + b.zero_extend(width + 1);
    (sum + Expr::constant(width + 1, 1)).extract(1, width)
}

/// The nearest number that fits.
fn saturated(a: Expr, b: Expr, width: u32, signed: bool, op: fn(Expr, Expr) -> Expr) -> Expr {
    let wide = |value: Expr| match signed {
        true => value.sign_extend(2 * width),
        false => value.zero_extend(2 * width),
    };
    saturate(op(wide(a), wide(b)), width, signed)
}

/// A signed number of twice the width, as the nearest of the width.
pub(super) fn saturate(value: Expr, width: u32, signed: bool) -> Expr {
    let wide = 2 * width;
    let (least, most) = match signed {
        true => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
        false => (0, (1 << width) - 1),
    };
    let bound = |number: i128| Expr::signed(wide, number);
    let too_small = Expr::binary(BinaryOp::Slt, value.clone(), bound(least));
    let too_great = Expr::binary(BinaryOp::Slt, bound(most), value.clone());
    too_small.select(bound(least), too_great.select(bound(most), value)).extract(0, width)
}
