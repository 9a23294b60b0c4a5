//! Exchanges: `xchg`, `xadd` and compare-and-exchange.

use iced_x86::Mnemonic;
use parallax_program::{AccessSize, Expr, InstKind, RmwOp, Tags};

use super::flags;
use super::operands::Place;
use super::registers::{RAX, RBX, RCX, RDX, View, ZF};
use super::{Lifted, Step};

impl Step<'_> {
    pub fn exchanges(&mut self) -> Lifted<bool> {
        match self.mnemonic() {
            Mnemonic::Xchg => self.exchange()?,
            Mnemonic::Xadd => self.exchange_and_add()?,
            Mnemonic::Cmpxchg => self.compare_exchange()?,
            Mnemonic::Cmpxchg8b => self.compare_exchange_pair(32)?,
            Mnemonic::Cmpxchg16b => self.compare_exchange_pair(64)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// With memory always atomic, LOCK or not.
    fn exchange(&mut self) -> Lifted<()> {
        let (memory, register) = if self.in_memory(1) { (1, 0) } else { (0, 1) };
        let (first, second) = (self.place(memory)?, self.place(register)?);
        let right = self.read(&second);
        if let Place::Memory { address, size } = first {
            let old = self.read_modify_write(address, size, RmwOp::Swap, right);
            self.write(&second, old);
            return Ok(());
        }
        let left = self.read(&first);
        let left = self.out.hold(first.width(), left);
        self.write(&first, right);
        self.write(&second, left);
        Ok(())
    }

    fn exchange_and_add(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let second = self.place(1)?;
        let right = self.read(&second);
        let right = self.out.hold(width, right);
        let addend = right.clone();
        let update = self.update((RmwOp::Add, right.clone()), |old| old + addend)?;
        flags::by_sum(self.out, &update.old, &right, &update.new, width);
        self.write(&second, update.old.clone());
        self.commit(update);
        Ok(())
    }

    /// Without LOCK, memory is loaded and then stored to in any case: where the values differ,
    /// what was there. A register stays as it is, upper half and all.
    fn compare_exchange(&mut self) -> Lifted<()> {
        let width = self.width_of_first()?;
        let accumulator = View { var: RAX, low: 0, width };
        let expected = self.out.read(accumulator);
        let expected = self.out.hold(width, expected);
        let desired = self.source(1, width)?;
        let place = self.place(0)?;
        let (old, equal) = self.compare_and_swap(&place, &expected, desired);
        let difference = self.out.hold(width, expected.clone() - old.clone());
        flags::by_difference(self.out, &expected, &old, &difference, width);
        self.out.write_where(!equal, accumulator, old);
        Ok(())
    }

    /// Two registers at once, against memory.
    fn compare_exchange_pair(&mut self, half: u32) -> Lifted<()> {
        let place = self.place(0)?;
        if let (Place::Memory { address, .. }, 64) = (&place, half) {
            self.require_aligned(&address.clone());
        }
        let view = |var| View { var, low: 0, width: half };
        let expected = self.out.read(view(RDX)).concat(self.out.read(view(RAX)));
        let desired = self.out.read(view(RCX)).concat(self.out.read(view(RBX)));
        let (old, equal) = self.compare_and_swap(&place, &expected, desired);
        self.out.write_where(!equal.clone(), view(RAX), old.clone().extract(0, half));
        self.out.write_where(!equal.clone(), view(RDX), old.extract(half, half));
        self.out.assign(ZF, equal);
        Ok(())
    }

    /// The old value, and whether it was the expected one, both held.
    fn compare_and_swap(&mut self, place: &Place, expected: &Expr, desired: Expr) -> (Expr, Expr) {
        let width = place.width();
        if let (Place::Memory { address, size }, true) = (place, self.is_locked()) {
            return self.locked_compare_and_swap(address.clone(), *size, expected.clone(), desired);
        }
        let old = self.read(place);
        let old = self.out.hold(width, old);
        let equal = self.out.hold(1, old.clone().eq(expected.clone()));
        match place {
            Place::Register(view) => self.out.write_where(equal.clone(), *view, desired),
            memory => self.write(memory, equal.clone().select(desired, old.clone())),
        }
        (old, equal)
    }

    fn locked_compare_and_swap(
        &mut self,
        address: Expr,
        size: AccessSize,
        expected: Expr,
        desired: Expr,
    ) -> (Expr, Expr) {
        let (old, ok) = (self.out.temporary(size.bits()), self.out.temporary(1));
        self.out.builder().emit(InstKind::Cas {
            dst: Some(old),
            ok: Some(ok),
            address,
            expected,
            desired,
            size,
            read_tags: Tags::new(["COPY", "X"]),
            write_tags: Tags::new(["X"]),
            fail_tags: Tags::new(["COPY", "X"]),
            weak: false,
        });
        (Expr::Var(old), Expr::Var(ok))
    }
}
