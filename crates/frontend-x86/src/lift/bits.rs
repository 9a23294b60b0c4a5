//! Single bits, bit scans, and the extensions BMI1, BMI2, LZCNT and POPCNT; also `crc32`.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr, RmwOp, UnaryOp};

use super::flags::{self, is_zero, top_bit};
use super::operands::Place;
use super::registers::{AF, CF, OF, PF, SF, ZF};
use super::{Lifted, Step};

impl Step<'_> {
    pub fn bits(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Bt => self.bit_test(None)?,
            Mnemonic::Bts => self.bit_test(Some(RmwOp::Or))?,
            Mnemonic::Btr => self.bit_test(Some(RmwOp::AndNot))?,
            Mnemonic::Btc => self.bit_test(Some(RmwOp::Xor))?,
            Mnemonic::Bsf => self.scan(true)?,
            Mnemonic::Bsr => self.scan(false)?,
            Mnemonic::Tzcnt => self.count_zeros(UnaryOp::TrailingZeros)?,
            Mnemonic::Lzcnt => self.count_zeros(UnaryOp::LeadingZeros)?,
            Mnemonic::Popcnt => self.count_ones()?,
            Mnemonic::Andn => self.and_not()?,
            Mnemonic::Bextr => self.extract_bits()?,
            Mnemonic::Blsi => self.lowest_bit(|x, _| x.clone() & Expr::unary(UnaryOp::Neg, x))?,
            Mnemonic::Blsr => self.lowest_bit(|x, one| x.clone() & (x - one))?,
            Mnemonic::Blsmsk => self.lowest_bit(|x, one| x.clone() ^ (x - one))?,
            Mnemonic::Bzhi => self.zero_high()?,
            Mnemonic::Pdep => self.deposit_bits()?,
            Mnemonic::Pext => self.gather_bits()?,
            Mnemonic::Crc32 => self.checksum()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Carry becomes the bit; `op` with its mask says what becomes of the bit.
    fn bit_test(&mut self, op: Option<RmwOp>) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (place, position) = self.bit_place(width)?;
        let mask = Expr::binary(BinaryOp::Shl, Expr::constant(width, 1), position.clone());
        let locked = match (&place, op) {
            (Place::Memory { address, size }, Some(op)) if self.is_locked() => {
                Some(self.read_modify_write(address.clone(), *size, op, mask.clone()))
            }
            _ => None,
        };
        let is_done = locked.is_some();
        let old = match locked {
            Some(old) => old,
            None => self.read(&place),
        };
        let tested = Expr::binary(BinaryOp::LShr, old.clone(), position).extract(0, 1);
        let tested = self.out.hold(1, tested);
        if let (Some(op), false) = (op, is_done) {
            let new = match op {
                RmwOp::Or => old | mask,
                RmwOp::Xor => old ^ mask,
                _ => old & !mask,
            };
            self.write(&place, new);
        }
        self.out.assign(CF, tested);
        self.clear(&[OF, SF, AF, PF]);
        Ok(())
    }

    /// The operand that holds the bit, and its position there, held. A position in a register is
    /// a signed number of bits from the start of the operand in memory.
    fn bit_place(&mut self, width: u32) -> Lifted<(Place, Expr)> {
        let low = Expr::constant(width, (width - 1).into());
        if self.instruction.op_kind(1) != OpKind::Register {
            let position = self.immediate(1)? & u64::from(width - 1);
            return Ok((self.place(0)?, Expr::constant(width, position.into())));
        }
        let index = self.source(1, width)?;
        let position = self.out.hold(width, index.clone() & low);
        let mut place = self.place(0)?;
        if let Place::Memory { address, .. } = &mut place {
            let units = Expr::constant(width, width.trailing_zeros().into());
            let units = Expr::binary(BinaryOp::AShr, index, units);
            let units = if width == 64 { units } else { units.sign_extend(64) };
            let bytes = Expr::constant(64, (width / 8).trailing_zeros().into());
            let bit_address = self.address_from(Expr::binary(BinaryOp::Shl, units, bytes))?;
            *address = self.out.hold(64, bit_address);
        }
        Ok((place, position))
    }

    /// The destination stays as it is where there is no bit.
    fn scan(&mut self, forward: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let value = self.out.hold(width, value);
        let none = self.out.hold(1, is_zero(value.clone(), width));
        let position = match forward {
            true => Expr::unary(UnaryOp::TrailingZeros, value),
            false => {
                let top = Expr::constant(width, (width - 1).into());
                top - Expr::unary(UnaryOp::LeadingZeros, value)
            }
        };
        let view = self.view(self.instruction.op_register(0))?;
        self.out.write_where(!none.clone(), view, position);
        self.out.assign(ZF, none);
        self.clear(&[CF, OF, SF, AF, PF]);
        Ok(())
    }

    fn count_zeros(&mut self, op: UnaryOp) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let count = self.out.hold(width, Expr::unary(op, value.clone()));
        self.out.assign(CF, is_zero(value, width));
        self.out.assign(ZF, is_zero(count.clone(), width));
        self.clear(&[OF, SF, AF, PF]);
        let place = self.place(0)?;
        self.write(&place, count);
        Ok(())
    }

    fn count_ones(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        self.out.assign(ZF, is_zero(value.clone(), width));
        self.clear(&[CF, OF, SF, AF, PF]);
        let place = self.place(0)?;
        self.write(&place, Expr::unary(UnaryOp::PopCount, value));
        Ok(())
    }

    /// Zero and sign by the result, the given carry, and no others.
    fn finish_bits(&mut self, result: Expr, carry: Expr, width: u32) -> Lifted<()> {
        let result = self.out.hold(width, result);
        self.out.assign(CF, carry);
        self.out.assign(ZF, is_zero(result.clone(), width));
        self.out.assign(SF, top_bit(result.clone(), width));
        self.clear(&[OF, AF, PF]);
        let place = self.place(0)?;
        self.write(&place, result);
        Ok(())
    }

    fn and_not(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (left, right) = (self.source(1, width)?, self.source(2, width)?);
        self.finish_bits(!left & right, flags::bit(false), width)
    }

    /// The lowest bit that is set, by itself or with those below, kept or cleared.
    fn lowest_bit(&mut self, new: fn(Expr, Expr) -> Expr) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let none = is_zero(value.clone(), width);
        let carry = if self.mnemonic() == Mnemonic::Blsi { !none } else { none };
        self.finish_bits(new(value, Expr::constant(width, 1)), carry, width)
    }

    /// Some bits from a position on, both bytes of the second source.
    fn extract_bits(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (value, control) = (self.source(1, width)?, self.source(2, width)?);
        let from = control.clone().extract(0, 8).zero_extend(width);
        let count = self.out.hold(width, control.extract(8, 8).zero_extend(width));
        let mask = low_ones(count, width);
        let result = Expr::binary(BinaryOp::LShr, value, from) & mask;
        let result = self.out.hold(width, result);
        self.out.assign(ZF, is_zero(result.clone(), width));
        self.clear(&[CF, OF, SF, AF, PF]);
        let place = self.place(0)?;
        self.write(&place, result);
        Ok(())
    }

    fn zero_high(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (value, index) = (self.source(1, width)?, self.source(2, width)?);
        let count = self.out.hold(width, index.extract(0, 8).zero_extend(width));
        let whole = Expr::constant(width, width.into());
        let carry = Expr::binary(BinaryOp::Ule, whole, count.clone());
        self.finish_bits(value & low_ones(count, width), carry, width)
    }

    /// Bits of the source, from the lowest on, to the positions that the mask has set.
    fn deposit_bits(&mut self) -> Lifted<()> {
        self.by_mask(|source, mask, position, taken, width| {
            let bit = Expr::binary(BinaryOp::LShr, source, taken).extract(0, 1);
            let bit = (bit & mask.extract(position, 1)).zero_extend(width);
            Expr::binary(BinaryOp::Shl, bit, Expr::constant(width, position.into()))
        })
    }

    /// Bits of the source that the mask has set, side by side.
    fn gather_bits(&mut self) -> Lifted<()> {
        self.by_mask(|source, mask, position, taken, width| {
            let bit = source.extract(position, 1) & mask.extract(position, 1);
            Expr::binary(BinaryOp::Shl, bit.zero_extend(width), taken)
        })
    }

    /// The CRC of the polynomial 0x11edc6f41, bits reversed, one bit after the other.
    fn checksum(&mut self) -> Lifted<()> {
        const POLYNOMIAL: u128 = 0x82f6_3b78;
        let from = self.place(1)?;
        let (value, width) = (self.read(&from), from.width());
        let value = self.out.hold(width, value);
        let whole = self.view(self.instruction.op_register(0))?;
        let state = self.out.temporary(32);
        self.out.assign(state, self.out.read(whole).resize(whole.width, 32));
        for bit in 0..width {
            let lowest = Expr::Var(state).extract(0, 1) ^ value.clone().extract(bit, 1);
            let shifted = Expr::binary(BinaryOp::LShr, Expr::Var(state), Expr::constant(32, 1));
            let mask = lowest.sign_extend(32) & Expr::constant(32, POLYNOMIAL);
            self.out.assign(state, shifted ^ mask);
        }
        self.out.write(whole, Expr::Var(state).resize(32, whole.width));
        Ok(())
    }

    /// The union of what each position gives, which knows how many bits of the mask were before it.
    fn by_mask(&mut self, part: fn(Expr, Expr, u32, Expr, u32) -> Expr) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (source, mask) = (self.source(1, width)?, self.source(2, width)?);
        let mask = self.out.hold(width, mask);
        let (result, taken) = (self.out.temporary(width), self.out.temporary(width));
        let zero = || Expr::constant(width, 0);
        self.out.assign(result, zero());
        self.out.assign(taken, zero());
        for position in 0..width {
            let part = part(source.clone(), mask.clone(), position, Expr::Var(taken), width);
            self.out.assign(result, Expr::Var(result) | part);
            let bit = mask.clone().extract(position, 1).zero_extend(width);
            self.out.assign(taken, Expr::Var(taken) + bit);
        }
        let place = self.place(0)?;
        self.write(&place, Expr::Var(result));
        Ok(())
    }
}

/// So many ones from the lowest bit on.
fn low_ones(count: Expr, width: u32) -> Expr {
    let one = Expr::constant(width, 1);
    Expr::binary(BinaryOp::Shl, one.clone(), count) - one
}
