//! Addition, subtraction and logic.

use iced_x86::Mnemonic;
use parallax_program::{Expr, RmwOp, VarId};

use super::flags;
use super::registers::{AF, CF, OF};
use super::{Lifted, Step};

impl Step<'_> {
    pub fn arithmetic(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Add => self.add(None)?,
            Mnemonic::Adc => self.add(Some(CF))?,
            Mnemonic::Sub => self.subtract(None)?,
            Mnemonic::Sbb => self.subtract(Some(CF))?,
            Mnemonic::Cmp => self.compare()?,
            Mnemonic::Inc => self.step_by_one(true)?,
            Mnemonic::Dec => self.step_by_one(false)?,
            Mnemonic::And => self.logic(RmwOp::And)?,
            Mnemonic::Or => self.logic(RmwOp::Or)?,
            Mnemonic::Xor => self.logic(RmwOp::Xor)?,
            Mnemonic::Test => self.test()?,
            Mnemonic::Not => self.complement()?,
            Mnemonic::Neg => self.negate()?,
            Mnemonic::Adcx => self.add_chained(CF)?,
            Mnemonic::Adox => self.add_chained(OF)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The second operand, held; with the carry, where there is one.
    fn addend(&mut self, carry: Option<VarId>) -> Lifted<(Expr, Expr)> {
        let width = self.width_of_first()?;
        let right = self.source(1, width)?;
        let whole = match carry {
            Some(carry) => right.clone() + Expr::Var(carry).zero_extend(width),
            None => right.clone(),
        };
        Ok((right, whole))
    }

    fn add(&mut self, carry: Option<VarId>) -> Lifted<()> {
        let (right, whole) = self.addend(carry)?;
        let update = self.update((RmwOp::Add, whole.clone()), |old| old + whole)?;
        flags::by_sum(self.out, &update.old, &right, &update.new, update.width);
        self.commit(update);
        Ok(())
    }

    fn subtract(&mut self, carry: Option<VarId>) -> Lifted<()> {
        let (right, whole) = self.addend(carry)?;
        let update = self.update((RmwOp::Sub, whole.clone()), |old| old - whole)?;
        let flags = if carry.is_some() { flags::by_borrowing } else { flags::by_difference };
        flags(self.out, &update.old, &right, &update.new, update.width);
        self.commit(update);
        Ok(())
    }

    fn compare(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (left, right) = (self.source(0, width)?, self.source(1, width)?);
        let difference = self.out.hold(width, left.clone() - right.clone());
        flags::by_difference(self.out, &left, &right, &difference, width);
        Ok(())
    }

    /// `inc` and `dec` leave the carry alone.
    fn step_by_one(&mut self, up: bool) -> Lifted<()> {
        let width = self.width_of_first()?;
        let one = Expr::constant(width, 1);
        let op = if up { RmwOp::Add } else { RmwOp::Sub };
        let by = one.clone();
        let update = self.update((op, one), |old| if up { old + by } else { old - by })?;
        let edge = if up { 1 << (width - 1) } else { (1 << (width - 1)) - 1 };
        let low = if up { 0 } else { 15 };
        let nibble = update.new.clone().extract(0, 4);
        self.out.assign(AF, nibble.eq(Expr::constant(4, low)));
        self.out.assign(OF, update.new.clone().eq(Expr::constant(width, edge)));
        flags::by_result(self.out, &update.new, width);
        self.commit(update);
        Ok(())
    }

    fn logic(&mut self, op: RmwOp) -> Lifted<()> {
        let width = self.width_of_first()?;
        let right = self.source(1, width)?;
        let update = self.update((op, right.clone()), |old| match op {
            RmwOp::And => old & right,
            RmwOp::Or => old | right,
            _ => old ^ right,
        })?;
        self.logic_flags(&update.new, width);
        self.commit(update);
        Ok(())
    }

    fn test(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (left, right) = (self.source(0, width)?, self.source(1, width)?);
        let both = self.out.hold(width, left & right);
        self.logic_flags(&both, width);
        Ok(())
    }

    fn logic_flags(&mut self, result: &Expr, width: u32) {
        for flag in [CF, OF, AF] {
            self.out.assign(flag, flags::bit(false));
        }
        flags::by_result(self.out, result, width);
    }

    fn complement(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let ones = Expr::signed(width, -1);
        let update = self.update((RmwOp::Xor, ones), |old| !old)?;
        self.commit(update);
        Ok(())
    }

    fn negate(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let zero = Expr::constant(width, 0);
        let update = self.update((RmwOp::ReverseSub, zero.clone()), |old| zero.clone() - old)?;
        flags::by_difference(self.out, &zero, &update.old, &update.new, width);
        self.commit(update);
        Ok(())
    }

    /// A sum that takes its carry from one flag and leaves it there, and touches no other.
    fn add_chained(&mut self, carry: VarId) -> Lifted<()> {
        let width = self.width_of_first()?;
        let (left, right) = (self.source(0, width)?, self.source(1, width)?);
        let wide = |value: Expr| value.zero_extend(width + 1);
        let sum = wide(left) + wide(right) + wide(Expr::Var(carry));
        let sum = self.out.hold(width + 1, sum);
        self.out.assign(carry, sum.clone().extract(width, 1));
        let place = self.place(0)?;
        self.write(&place, sum.extract(0, width));
        Ok(())
    }
}
