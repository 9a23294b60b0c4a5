//! Shifts and rotates.
//!
//! The count is taken modulo 32 (64 for operands of 64 bits); where that is zero, flags stay as
//! they are. Carry is the last bit that moved out.

use iced_x86::{Mnemonic, OpKind};
use parallax_program::{BinaryOp, Expr, RmwOp, VarId};

use super::flags::{self, is_zero, top_bit};
use super::operands::Update;
use super::registers::{AF, CF, OF, PF, SF, ZF};
use super::{Lifted, Step};

/// How far to shift: the amount, held, as wide as the operand.
struct Count {
    amount: Expr,
    /// Whether there is anything to do, where that is not known beforehand.
    moves: Moves,
}

enum Moves {
    Never,
    Always,
    Where(Expr),
}

impl Step<'_> {
    pub fn shifts(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Shl | Mnemonic::Sal => self.shift(BinaryOp::Shl)?,
            Mnemonic::Shr => self.shift(BinaryOp::LShr)?,
            Mnemonic::Sar => self.shift(BinaryOp::AShr)?,
            Mnemonic::Rol => self.rotate(true)?,
            Mnemonic::Ror => self.rotate(false)?,
            Mnemonic::Rcl => self.rotate_through_carry(true)?,
            Mnemonic::Rcr => self.rotate_through_carry(false)?,
            Mnemonic::Shld => self.double_shift(true)?,
            Mnemonic::Shrd => self.double_shift(false)?,
            Mnemonic::Shlx => self.shift_without_flags(BinaryOp::Shl)?,
            Mnemonic::Shrx => self.shift_without_flags(BinaryOp::LShr)?,
            Mnemonic::Sarx => self.shift_without_flags(BinaryOp::AShr)?,
            Mnemonic::Rorx => self.rotate_without_flags()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The count in the operand of that number, taken modulo 32 or 64.
    fn count(&mut self, operand: u32, width: u32) -> Lifted<Count> {
        let mask = if width == 64 { 63 } else { 31 };
        if self.instruction.op_kind(operand) != OpKind::Register {
            let amount = self.immediate(operand)? & mask;
            let moves = if amount == 0 { Moves::Never } else { Moves::Always };
            return Ok(Count { amount: Expr::constant(width, amount.into()), moves });
        }
        let whole = self.source(operand, 8)? & Expr::constant(8, mask.into());
        let amount = self.out.hold(width, whole.resize(8, width));
        let moves = Moves::Where(!is_zero(amount.clone(), width));
        Ok(Count { amount, moves })
    }

    /// Sets a flag, where the operand moves at all.
    fn set_moved(&mut self, count: &Count, flag: VarId, value: Expr) {
        let value = match &count.moves {
            Moves::Never => return,
            Moves::Always => value,
            Moves::Where(condition) => condition.clone().select(value, Expr::Var(flag)),
        };
        self.out.assign(flag, value);
    }

    /// Sets the flags that depend on the result, and the undefined one.
    fn set_by_moved(&mut self, count: &Count, result: &Expr, width: u32) {
        self.set_moved(count, ZF, is_zero(result.clone(), width));
        self.set_moved(count, SF, top_bit(result.clone(), width));
        self.set_moved(count, PF, flags::parity(result));
        self.set_moved(count, AF, flags::bit(false));
    }

    /// None of these can be locked, so the operation that would do it does not matter.
    fn moved(&mut self, new: impl FnOnce(Expr) -> Expr) -> Lifted<Update> {
        let width = self.width_of_first()?;
        self.update((RmwOp::Swap, Expr::constant(width, 0)), new)
    }

    fn shift(&mut self, op: BinaryOp) -> Lifted<()> {
        let width = self.width_of_first()?;
        let count = self.count(1, width)?;
        let amount = count.amount.clone();
        let update = self.moved(|old| Expr::binary(op, old, amount))?;
        let (carry, overflow) = match op {
            BinaryOp::Shl => {
                let wide = flags::bit(false).concat(update.old.clone());
                let amount = count.amount.clone().zero_extend(width + 1);
                let carry = Expr::binary(op, wide, amount).extract(width, 1);
                let carry = self.out.hold(1, carry);
                (carry.clone(), top_bit(update.new.clone(), width) ^ carry)
            }
            _ => {
                let wide = update.old.clone().concat(flags::bit(false));
                let amount = count.amount.clone().zero_extend(width + 1);
                let carry = Expr::binary(op, wide, amount).extract(0, 1);
                let sign = top_bit(update.old.clone(), width);
                (carry, if op == BinaryOp::LShr { sign } else { flags::bit(false) })
            }
        };
        self.set_moved(&count, CF, carry);
        self.set_moved(&count, OF, overflow);
        self.set_by_moved(&count, &update.new, width);
        self.commit(update);
        Ok(())
    }

    fn rotate(&mut self, left: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let count = self.count(1, width)?;
        let amount = count.amount.clone();
        let update = self.moved(|old| rotated(old, amount, width, left))?;
        let result = &update.new;
        let (top, next) = (top_bit(result.clone(), width), result.clone().extract(width - 2, 1));
        let lowest = result.clone().extract(0, 1);
        let (carry, overflow) =
            if left { (lowest.clone(), top ^ lowest) } else { (top.clone(), top ^ next) };
        self.set_moved(&count, CF, carry);
        self.set_moved(&count, OF, overflow);
        self.commit(update);
        Ok(())
    }

    /// The carry is one bit more of the operand, above it.
    fn rotate_through_carry(&mut self, left: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let count = self.count(1, width)?;
        let place = self.place(0)?;
        let old = self.read(&place);
        let whole = self.out.hold(width + 1, Expr::Var(CF).concat(old));
        let amount = count.amount.clone().zero_extend(width + 1);
        let result = self.out.hold(width + 1, rotated(whole, amount, width + 1, left));
        let (carry, top) = (result.clone().extract(width, 1), result.clone().extract(width - 1, 1));
        let next = result.clone().extract(width - 2, 1);
        let overflow = if left { top ^ carry.clone() } else { top ^ next };
        self.set_moved(&count, CF, carry);
        self.set_moved(&count, OF, overflow);
        self.write(&place, result.extract(0, width));
        Ok(())
    }

    /// Bits of the second operand move in.
    fn double_shift(&mut self, left: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let count = self.count(2, width)?;
        let place = self.place(0)?;
        let (old, more) = (self.read(&place), self.source(1, width)?);
        let amount = count.amount.clone().zero_extend(2 * width);
        let whole = if left { old.clone().concat(more) } else { more.concat(old.clone()) };
        let whole = self.out.hold(2 * width, whole);
        let op = if left { BinaryOp::Shl } else { BinaryOp::LShr };
        let shifted = Expr::binary(op, whole, amount.clone());
        let result = shifted.extract(if left { width } else { 0 }, width);
        let result = self.out.hold(width, result);
        let one_less = amount - Expr::constant(2 * width, 1);
        let last = Expr::binary(op, old.clone().zero_extend(2 * width), one_less);
        let carry = last.extract(if left { width - 1 } else { 0 }, 1);
        let sign_changes = top_bit(result.clone() ^ old, width);
        self.set_moved(&count, CF, carry);
        self.set_moved(&count, OF, sign_changes);
        self.set_by_moved(&count, &result, width);
        self.write(&place, result);
        Ok(())
    }

    fn shift_without_flags(&mut self, op: BinaryOp) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let amount = self.source(2, width)? & Expr::constant(width, (width - 1).into());
        let place = self.place(0)?;
        self.write(&place, Expr::binary(op, value, amount));
        Ok(())
    }

    fn rotate_without_flags(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let value = self.source(1, width)?;
        let amount = self.immediate(2)? & u64::from(width - 1);
        let place = self.place(0)?;
        let amount = Expr::constant(width, amount.into());
        self.write(&place, rotated(value, amount, width, false));
        Ok(())
    }
}

/// A rotation by any amount; `value` and `amount` are used several times.
fn rotated(value: Expr, amount: Expr, width: u32, left: bool) -> Expr {
    let whole = Expr::constant(width, width.into());
    let amount = Expr::binary(BinaryOp::URem, amount, whole.clone());
    let rest = whole - amount.clone();
    let (there, back) =
        if left { (BinaryOp::Shl, BinaryOp::LShr) } else { (BinaryOp::LShr, BinaryOp::Shl) };
    Expr::binary(there, value.clone(), amount) | Expr::binary(back, value, rest)
}
