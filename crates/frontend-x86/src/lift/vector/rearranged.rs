//! What SSE3 to SSE4.2 add to the ways of moving parts of vectors: by a register, across both
//! operands, lane by lane between them, from and to other widths.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr};

use super::super::flags::is_zero;
use super::super::registers::{AF, CF, OF, PF, SF, XMM0, ZF};
use super::super::{Lifted, Step};
use super::integer::saturate;
use super::{join, lanes};

impl Step<'_> {
    pub(super) fn rearrangements(&mut self) -> Lifted<bool> {
        use Mnemonic::*;
        match self.mnemonic() {
            Movddup => self.duplicate_low()?,
            Movsldup => self.duplicate(0)?,
            Movshdup => self.duplicate(1)?,
            Palignr => self.shift_across()?,
            Pshufb => self.shuffle_bytes()?,
            Packusdw => self.pack_unsigned()?,
            Pmovsxbw => self.widen(8, 16, true)?,
            Pmovsxbd => self.widen(8, 32, true)?,
            Pmovsxbq => self.widen(8, 64, true)?,
            Pmovsxwd => self.widen(16, 32, true)?,
            Pmovsxwq => self.widen(16, 64, true)?,
            Pmovsxdq => self.widen(32, 64, true)?,
            Pmovzxbw => self.widen(8, 16, false)?,
            Pmovzxbd => self.widen(8, 32, false)?,
            Pmovzxbq => self.widen(8, 64, false)?,
            Pmovzxwd => self.widen(16, 32, false)?,
            Pmovzxwq => self.widen(16, 64, false)?,
            Pmovzxdq => self.widen(32, 64, false)?,
            Pblendw => self.blend(16)?,
            Blendps => self.blend(32)?,
            Blendpd => self.blend(64)?,
            Pblendvb => self.blend_by_signs(8)?,
            Blendvps => self.blend_by_signs(32)?,
            Blendvpd => self.blend_by_signs(64)?,
            Pinsrb => self.insert(8)?,
            Pinsrd => self.insert(32)?,
            Pinsrq => self.insert(64)?,
            Insertps => self.insert_single()?,
            Pextrb => self.extract_part(8)?,
            Pextrd | Extractps => self.extract_part(32)?,
            Pextrq => self.extract_part(64)?,
            Ptest => self.test_vectors()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn duplicate_low(&mut self) -> Lifted<()> {
        let low = self.low_part(1, 64)?;
        let low = self.out.hold(64, low);
        self.set_vector(low.clone().concat(low))
    }

    /// Words of even or odd number, twice each.
    fn duplicate(&mut self, odd: usize) -> Lifted<()> {
        let value = self.vector(1)?;
        let words = lanes(&value, 32).into_iter().skip(odd).step_by(2);
        self.set_vector(join(words.flat_map(|word| [word.clone(), word])))
    }

    /// Sixteen bytes from some byte on of both operands side by side.
    fn shift_across(&mut self) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let from = (self.immediate(2)? & 0xff) as usize;
        let bytes = lanes(&right, 8).into_iter().chain(lanes(&left, 8));
        let zeros = std::iter::repeat(Expr::constant(8, 0));
        self.set_vector(join(bytes.chain(zeros).skip(from.min(32)).take(16)))
    }

    /// Each byte of the second operand chooses one of the first, or zero.
    fn shuffle_bytes(&mut self) -> Lifted<()> {
        let (bytes, choices) = (self.vector(0)?, self.vector(1)?);
        let choices = self.out.hold(128, choices);
        let chosen = lanes(&choices, 8).into_iter().map(|choice| {
            let low = choice.clone().extract(0, 4).zero_extend(128);
            let bits = Expr::binary(BinaryOp::Shl, low, Expr::constant(128, 3));
            let byte = Expr::binary(BinaryOp::LShr, bytes.clone(), bits);
            choice.extract(7, 1).select(Expr::constant(8, 0), byte.extract(0, 8))
        });
        self.set_vector(join(chosen))
    }

    fn pack_unsigned(&mut self) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let wide = lanes(&left, 32).into_iter().chain(lanes(&right, 32));
        self.set_vector(join(wide.map(|lane| saturate(lane, 16, false))))
    }

    fn widen(&mut self, from: u32, to: u32, signed: bool) -> Lifted<()> {
        let count = 128 / to;
        let value = self.low_part(1, count * from)?;
        let part = |lane: u32| value.clone().extract(lane * from, from);
        let extend = |part: Expr| match signed {
            true => part.sign_extend(to),
            false => part.zero_extend(to),
        };
        let result = join((0..count).map(|lane| extend(part(lane))));
        self.set_vector(result)
    }

    /// Each lane from the operand that a bit chooses.
    fn blend(&mut self, width: u32) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let choices = self.immediate(2)?;
        let pairs = lanes(&left, width).into_iter().zip(lanes(&right, width)).enumerate();
        let chosen =
            pairs.map(|(lane, (left, right))| if choices >> lane & 1 == 0 { left } else { right });
        self.set_vector(join(chosen))
    }

    /// The same by the signs of the lanes of the first vector register.
    fn blend_by_signs(&mut self, width: u32) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        let pairs = lanes(&left, width).into_iter().zip(lanes(&right, width));
        let signs = lanes(&Expr::Var(XMM0), width);
        let chosen = pairs
            .zip(signs)
            .map(|((left, right), sign)| sign.extract(width - 1, 1).select(right, left));
        self.set_vector(join(chosen))
    }

    fn insert(&mut self, width: u32) -> Lifted<()> {
        let from = self.place(1)?;
        let value = self.read(&from).resize(from.width(), width);
        let position = self.lane_number(width)?;
        let vector = self.vector(0)?;
        let parts = lanes(&vector, width).into_iter().enumerate();
        let replaced = |(number, part)| if number == position { value.clone() } else { part };
        self.set_vector(join(parts.map(replaced)))
    }

    /// A number of single precision to one lane, and zeros to some.
    fn insert_single(&mut self) -> Lifted<()> {
        let control = self.immediate(2)?;
        let value = match self.instruction.op_kind(1) {
            OpKind::Memory => self.low_part(1, 32)?,
            _ => self.vector(1)?.extract((control >> 6 & 3) as u32 * 32, 32),
        };
        let position = (control >> 4 & 3) as usize;
        let vector = self.vector(0)?;
        let parts = lanes(&vector, 32).into_iter().enumerate();
        let replaced = |(number, part)| match number {
            _ if control >> number & 1 == 1 => Expr::constant(32, 0),
            _ if number == position => value.clone(),
            _ => part,
        };
        self.set_vector(join(parts.map(replaced)))
    }

    fn extract_part(&mut self, width: u32) -> Lifted<()> {
        let position = self.lane_number(width)? as u32;
        let part = self.vector(1)?.extract(position * width, width);
        let to = self.place(0)?;
        let value = if to.width() > width { part.zero_extend(to.width()) } else { part };
        self.write(&to, value);
        Ok(())
    }

    fn lane_number(&self, width: u32) -> Lifted<usize> {
        Ok((self.immediate(2)? & u64::from(128 / width - 1)) as usize)
    }

    /// Zero: no bit in common. Carry: the second operand has no bit that the first has not.
    fn test_vectors(&mut self) -> Lifted<()> {
        let (left, right) = (self.vector(0)?, self.vector(1)?);
        self.out.assign(ZF, is_zero(left.clone() & right.clone(), 128));
        self.out.assign(CF, is_zero(!left & right, 128));
        self.clear(&[OF, SF, AF, PF]);
        Ok(())
    }
}
