//! Exchanges: `xchg` (atomic with or without `lock` where it touches memory), `xadd` and
//! `cmpxchg`.

use parallax_program::{Diagnostic, Expr, InstKind, RmwOp, Tags};

use super::operand::{Operand, OperandKind};
use super::{Instruction, Known, flags};
use crate::asm::Register;

impl<'l> Instruction<'l, '_, '_> {
    pub(super) fn atomic(&mut self) -> Known {
        match self.name.as_str() {
            "xchg" => self.exchange()?,
            "xadd" => self.exchange_and_add()?,
            "cmpxchg" => self.compare_and_exchange()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn exchange(&mut self) -> Result<(), Diagnostic> {
        let [mut first, mut second] = self.destination_and_source()?;
        let width = self.operation_width(&[&first, &second])?;
        if second.is_memory() {
            std::mem::swap(&mut first, &mut second);
        }
        let register = self.register_operand(&second)?;
        let new = self.lowering.value(&register);
        let old = if first.is_memory() {
            self.atomic_update(&first, width, RmwOp::Swap, new)?
        } else {
            self.refuse_lock(&first)?;
            let old = self.read(&first, width)?;
            let old = Expr::Var(self.lowering.hold(width, old));
            self.write(&first, width, new)?;
            old
        };
        self.write(&second, width, old)
    }

    fn refuse_lock(&self, operand: &Operand<'l>) -> Result<(), Diagnostic> {
        if self.locked {
            let message = "only an operation on memory can be locked";
            return Err(self.lowering.error(operand.text, message));
        }
        Ok(())
    }

    fn register_operand(&self, operand: &Operand<'l>) -> Result<Register, Diagnostic> {
        match &operand.kind {
            OperandKind::Register(register) => Ok(register.clone()),
            _ => Err(self.lowering.expected("a register", operand.text)),
        }
    }

    fn exchange_and_add(&mut self) -> Result<(), Diagnostic> {
        let [destination, source] = self.memory_and_register()?;
        let width = self.operation_width(&[&destination, &source])?;
        let register = self.register_operand(&source)?;
        let addend = self.lowering.value(&register);
        let addend = Expr::Var(self.lowering.hold(width, addend));
        let old = if self.locked {
            self.atomic_update(&destination, width, RmwOp::Add, addend.clone())?
        } else {
            let old = self.read(&destination, width)?;
            Expr::Var(self.lowering.hold(width, old))
        };
        let sum = self.lowering.hold(width, old.clone() + addend.clone());
        let sum = Expr::Var(sum);
        flags::set_by_sum(&mut self.lowering, &old, &addend, &sum, width);
        flags::set_by_result(&mut self.lowering, &sum, width);
        self.write(&source, width, old)?;
        if !self.locked {
            self.write(&destination, width, sum)?;
        }
        Ok(())
    }

    /// Memory and a register in whichever order they are written: herd7 puts the memory
    /// operand first, AT&T the register. Two registers would be ambiguous.
    fn memory_and_register(&mut self) -> Result<[Operand<'l>; 2], Diagnostic> {
        let [destination, source] = self.destination_and_source()?;
        if source.is_memory() {
            return Ok([source, destination]);
        }
        if self.wide && !destination.is_memory() {
            let name = self.lowering.mnemonic;
            let message = format!("`{name}` needs an operand in memory");
            return Err(self.lowering.error(name, message));
        }
        Ok([destination, source])
    }

    fn compare_and_exchange(&mut self) -> Result<(), Diagnostic> {
        let [destination, source] = self.memory_and_register()?;
        let width = self.operation_width(&[&destination, &source])?;
        let source = self.register_operand(&source)?;
        let accumulator = self.accumulator(width)?;
        let expected = self.lowering.value(&accumulator);
        let expected = Expr::Var(self.lowering.hold(width, expected));
        let desired = self.lowering.value(&source);
        let (old, equal) = match (&destination.kind, self.locked) {
            (OperandKind::Memory(address, _), true) => {
                let address = address.clone();
                self.locked_swap(&destination, address, width, &expected, desired)?
            }
            _ => self.plain_swap(&destination, width, &expected, desired)?,
        };
        let difference = self.lowering.hold(width, expected.clone() - old.clone());
        let difference = Expr::Var(difference);
        flags::set_by_difference(&mut self.lowering, &expected, &old, &difference, width);
        flags::set_by_result(&mut self.lowering, &difference, width);
        let whole = Expr::Var(self.lowering.thread.register_var(&accumulator));
        let loaded = self.merged(&accumulator, old);
        self.lowering.set(&accumulator, equal.select(whole, loaded));
        Ok(())
    }

    fn accumulator(&self, width: u32) -> Result<Register, Diagnostic> {
        let name = match width {
            8 => "AL",
            16 => "AX",
            32 => "EAX",
            _ => "RAX",
        };
        self.lowering.register(name)
    }

    fn locked_swap(
        &mut self,
        destination: &Operand<'l>,
        address: Expr,
        width: u32,
        expected: &Expr,
        desired: Expr,
    ) -> Result<(Expr, Expr), Diagnostic> {
        let size = self.access_size(destination, width)?;
        let old = self.lowering.thread.function.temp(width);
        let ok = self.lowering.thread.function.temp(1);
        self.emit(InstKind::Cas {
            dst: Some(old),
            ok: Some(ok),
            address,
            expected: expected.clone(),
            desired,
            size,
            read_tags: Tags::new(["X"]),
            write_tags: Tags::new(["X"]),
            fail_tags: Tags::new(["X"]),
            weak: false,
        });
        Ok((Expr::Var(old), Expr::Var(ok)))
    }

    /// Without `lock`: a load, and a store where the values are equal.
    fn plain_swap(
        &mut self,
        destination: &Operand<'l>,
        width: u32,
        expected: &Expr,
        desired: Expr,
    ) -> Result<(Expr, Expr), Diagnostic> {
        self.refuse_lock(destination)?;
        let old = self.read(destination, width)?;
        let old = Expr::Var(self.lowering.hold(width, old));
        let equal = self.lowering.hold(1, old.clone().eq(expected.clone()));
        let equal = Expr::Var(equal);
        let done = self.lowering.thread.function.new_block("unequal");
        self.lowering.thread.function.branch(!equal.clone(), done);
        self.write(destination, width, desired)?;
        self.lowering.thread.function.enter(done);
        Ok((old, equal))
    }
}
