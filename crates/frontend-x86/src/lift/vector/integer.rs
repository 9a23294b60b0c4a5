//! Arithmetic on vectors of integers.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr, UnaryOp};

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
            Mnemonic::Pmuldq => self.by_lanes(64, |a, b, _| {
                a.extract(0, 32).sign_extend(64) * b.extract(0, 32).sign_extend(64)
            })?,
            Mnemonic::Pmaddubsw => self.by_lanes(16, |a, b, _| {
                let product = |low: u32| {
                    let a = a.clone().extract(low, 8).zero_extend(32);
                    a * b.clone().extract(low, 8).sign_extend(32)
                };
                saturate(product(0) + product(8), 16, true)
            })?,
            Mnemonic::Phminposuw => self.least_word()?,
            Mnemonic::Phaddw => self.pairs(16, |a, b, _| a + b)?,
            Mnemonic::Phaddd => self.pairs(32, |a, b, _| a + b)?,
            Mnemonic::Phsubw => self.pairs(16, |a, b, _| a - b)?,
            Mnemonic::Phsubd => self.pairs(32, |a, b, _| a - b)?,
            Mnemonic::Phaddsw => {
                self.pairs(16, |a, b, width| saturated(a, b, width, true, |a, b| a + b))?;
            }
            Mnemonic::Phsubsw => {
                self.pairs(16, |a, b, width| saturated(a, b, width, true, |a, b| a - b))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The least word, and above it the number of the first lane that has it.
    fn least_word(&mut self) -> Lifted<()> {
        let value = self.vector(1)?;
        let numbered = (0u128..).zip(lanes(&value, 16));
        let mut keys = numbered.map(|(number, word)| word.concat(Expr::constant(16, number)));
        let mut found = keys.next().unwrap_or(Expr::constant(32, 0));
        for key in keys {
            found = self.out.hold(32, found);
            found = least(BinaryOp::Ult, found, key);
        }
        let found = self.out.hold(32, found);
        let (word, number) = (found.clone().extract(16, 16), found.extract(0, 16));
        self.set_vector(number.concat(word).zero_extend(128))
    }

    /// What an operator makes of each lane and the next, of the first operand and of the second.
    fn pairs(&mut self, width: u32, op: LaneOp) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let all: Vec<Expr> = lanes(&left, width).into_iter().chain(lanes(&right, width)).collect();
        let (low, high) = (all.iter().step_by(2), all.iter().skip(1).step_by(2));
        let results = low.zip(high).map(|(low, high)| op(low.clone(), high.clone(), width));
        self.set_vector(join(results))
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
        Pmulld => (32, |a, b, _| a * b),
        Pmulhrsw => (16, |a, b, _| {
            let product = a.sign_extend(32) * b.sign_extend(32);
            (product + Expr::constant(32, 1 << 14)).extract(15, 16)
        }),
        Pcmpeqq => (64, |a, b, width| a.eq(b).sign_extend(width)),
        Pcmpgtq => (64, greater),
        Pabsb => (8, |_, b, width| magnitude(b, width)),
        Pabsw => (16, |_, b, width| magnitude(b, width)),
        Pabsd => (32, |_, b, width| magnitude(b, width)),
        Psignb => (8, with_sign),
        Psignw => (16, with_sign),
        Psignd => (32, with_sign),
        Pminub => (8, |a, b, _| least(BinaryOp::Ult, a, b)),
        Pminuw => (16, |a, b, _| least(BinaryOp::Ult, a, b)),
        Pminud => (32, |a, b, _| least(BinaryOp::Ult, a, b)),
        Pminsb => (8, |a, b, _| least(BinaryOp::Slt, a, b)),
        Pminsw => (16, |a, b, _| least(BinaryOp::Slt, a, b)),
        Pminsd => (32, |a, b, _| least(BinaryOp::Slt, a, b)),
        Pmaxub => (8, |a, b, _| greatest(BinaryOp::Ult, a, b)),
        Pmaxuw => (16, |a, b, _| greatest(BinaryOp::Ult, a, b)),
        Pmaxud => (32, |a, b, _| greatest(BinaryOp::Ult, a, b)),
        Pmaxsb => (8, |a, b, _| greatest(BinaryOp::Slt, a, b)),
        Pmaxsw => (16, |a, b, _| greatest(BinaryOp::Slt, a, b)),
        Pmaxsd => (32, |a, b, _| greatest(BinaryOp::Slt, a, b)),
        _ => return None,
    })
}

fn greater(a: Expr, b: Expr, width: u32) -> Expr {
    Expr::binary(BinaryOp::Slt, b, a).sign_extend(width)
}

fn least(less: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(less, a.clone(), b.clone()).select(a, b)
}

fn greatest(less: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(less, a.clone(), b.clone()).select(b, a)
}

fn magnitude(value: Expr, width: u32) -> Expr {
    let negative = value.clone().extract(width - 1, 1);
    negative.select(Expr::unary(UnaryOp::Neg, value.clone()), value)
}

/// The first with the sign of the second: negated, zero, or as it is.
fn with_sign(a: Expr, b: Expr, width: u32) -> Expr {
    let zero = Expr::constant(width, 0);
    let negative = b.clone().extract(width - 1, 1);
    let signed = negative.select(Expr::unary(UnaryOp::Neg, a.clone()), a);
    b.eq(zero.clone()).select(zero, signed)
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
