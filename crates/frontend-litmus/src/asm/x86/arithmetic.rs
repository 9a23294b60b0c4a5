//! Arithmetic and logic: on registers, on memory (a plain load, then a plain store), and on
//! memory under `lock` (one atomic read-modify-write).

use parallax_program::{BinaryOp, Diagnostic, Expr, InstKind, RmwOp, Tags, UnaryOp};

use super::flags::{self, Flag};
use super::operand::{Operand, OperandKind};
use super::{Instruction, Known};

/// What an instruction does to its destination.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add { carry: bool },
    Sub { carry: bool },
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Neg,
    Not,
}

impl Operation {
    fn named(name: &str) -> Option<Operation> {
        Some(match name {
            "add" => Operation::Add { carry: false },
            "adc" => Operation::Add { carry: true },
            "sub" => Operation::Sub { carry: false },
            "sbb" => Operation::Sub { carry: true },
            "and" => Operation::And,
            "or" => Operation::Or,
            "xor" => Operation::Xor,
            "inc" => Operation::Inc,
            "dec" => Operation::Dec,
            "neg" => Operation::Neg,
            "not" => Operation::Not,
            _ => return None,
        })
    }

    fn is_unary(self) -> bool {
        use Operation::*;
        matches!(self, Inc | Dec | Neg | Not)
    }
}

impl<'l> Instruction<'l, '_, '_> {
    pub(super) fn arithmetic(&mut self) -> Known {
        if let Some(operation) = Operation::named(&self.name) {
            self.operation(operation)?;
            return Ok(true);
        }
        match self.name.as_str() {
            "cmp" => self.compare(Operation::Sub { carry: false })?,
            "test" => self.compare(Operation::And)?,
            "shl" | "sal" | "shr" | "sar" => self.shift()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn operation(&mut self, operation: Operation) -> Result<(), Diagnostic> {
        let (destination, source) = if operation.is_unary() {
            let [only] = self.lowering.take()?;
            (self.operand(only)?, None)
        } else {
            let [destination, source] = self.destination_and_source()?;
            (destination, Some(source))
        };
        let mut operands = vec![&destination];
        operands.extend(source.as_ref());
        let width = self.operation_width(&operands)?;
        if destination.is_memory() && source.as_ref().is_some_and(Operand::is_memory) {
            return Err(self.two_memories(&destination));
        }
        let right = match &source {
            Some(source) => self.read(source, width)?,
            None => Expr::constant(width, 1),
        };
        if self.locked {
            return self.locked_operation(operation, &destination, right, width);
        }
        let left = self.read(&destination, width)?;
        let result = self.result(operation, &left, &right, width);
        self.set_flags(operation, &left, &right, &result, width);
        self.write(&destination, width, result)
    }

    pub(super) fn two_memories(&self, operand: &Operand<'l>) -> Diagnostic {
        let name = self.lowering.mnemonic;
        let message = format!("`{name}` has at most one operand in memory");
        self.lowering.error(operand.text, message)
    }

    fn locked_operation(
        &mut self,
        operation: Operation,
        destination: &Operand<'l>,
        right: Expr,
        width: u32,
    ) -> Result<(), Diagnostic> {
        let right = self.with_carry(operation, right, width);
        let (op, operand) = match operation {
            Operation::Add { .. } | Operation::Inc => (RmwOp::Add, right.clone()),
            Operation::Sub { .. } | Operation::Dec => (RmwOp::Sub, right.clone()),
            Operation::And => (RmwOp::And, right.clone()),
            Operation::Or => (RmwOp::Or, right.clone()),
            Operation::Xor => (RmwOp::Xor, right.clone()),
            Operation::Not => (RmwOp::Xor, Expr::signed(width, -1)),
            Operation::Neg => {
                let name = self.lowering.mnemonic;
                return Err(self.lowering.error(name, "`lock neg` is not supported"));
            }
        };
        let left = self.atomic_update(destination, width, op, operand)?;
        let operation = match operation {
            Operation::Add { .. } => Operation::Add { carry: false },
            Operation::Sub { .. } => Operation::Sub { carry: false },
            other => other,
        };
        let result = self.result(operation, &left, &right, width);
        self.set_flags(operation, &left, &right, &result, width);
        Ok(())
    }

    /// An atomic read-modify-write of memory; gives the old value.
    pub(super) fn atomic_update(
        &mut self,
        destination: &Operand<'l>,
        width: u32,
        op: RmwOp,
        operand: Expr,
    ) -> Result<Expr, Diagnostic> {
        let OperandKind::Memory(address, _) = &destination.kind else {
            let message = "only an operation on memory can be locked";
            return Err(self.lowering.error(destination.text, message));
        };
        let size = self.access_size(destination, width)?;
        let old = self.lowering.thread.function.temp(width);
        self.emit(InstKind::Rmw {
            dst: Some(old),
            address: address.clone(),
            op,
            operand,
            size,
            read_tags: Tags::new(["X"]),
            write_tags: Tags::new(["X"]),
        });
        Ok(Expr::Var(old))
    }

    /// The right operand, with the carry flag added where the instruction adds it.
    fn with_carry(&mut self, operation: Operation, right: Expr, width: u32) -> Expr {
        match operation {
            Operation::Add { carry: true } | Operation::Sub { carry: true } => {
                let carry = Flag::Carry.get(&mut self.lowering).zero_extend(width);
                Expr::Var(self.lowering.hold(width, right + carry))
            }
            _ => right,
        }
    }

    /// The result, in a variable of its own.
    fn result(&mut self, operation: Operation, left: &Expr, right: &Expr, width: u32) -> Expr {
        let (left, right) = (left.clone(), right.clone());
        let value = match operation {
            Operation::Add { carry: false } | Operation::Inc => left + right,
            Operation::Sub { carry: false } | Operation::Dec => left - right,
            Operation::Add { carry: true } => {
                left + right + Flag::Carry.get(&mut self.lowering).zero_extend(width)
            }
            Operation::Sub { carry: true } => {
                left - right - Flag::Carry.get(&mut self.lowering).zero_extend(width)
            }
            Operation::And => left & right,
            Operation::Or => left | right,
            Operation::Xor => left ^ right,
            Operation::Neg => Expr::unary(UnaryOp::Neg, left),
            Operation::Not => !left,
        };
        Expr::Var(self.lowering.hold(width, value))
    }

    fn set_flags(
        &mut self,
        operation: Operation,
        left: &Expr,
        right: &Expr,
        result: &Expr,
        width: u32,
    ) {
        let lowering = &mut self.lowering;
        match operation {
            Operation::Not => return,
            Operation::Add { .. } => flags::set_by_sum(lowering, left, right, result, width),
            Operation::Sub { .. } => {
                flags::set_by_difference(lowering, left, right, result, width);
            }
            Operation::And | Operation::Or | Operation::Xor => {
                Flag::Carry.set(lowering, Expr::constant(1, 0));
                Flag::Overflow.set(lowering, Expr::constant(1, 0));
            }
            Operation::Inc | Operation::Dec => {
                let limit = match operation {
                    Operation::Inc => 1u128 << (width - 1),
                    _ => (1u128 << (width - 1)) - 1,
                };
                let overflow = result.clone().eq(Expr::constant(width, limit));
                Flag::Overflow.set(lowering, overflow);
            }
            Operation::Neg => {
                let lowest = Expr::constant(width, 1u128 << (width - 1));
                Flag::Carry.set(lowering, left.clone().ne(Expr::constant(width, 0)));
                Flag::Overflow.set(lowering, result.clone().eq(lowest));
            }
        }
        flags::set_by_result(lowering, result, width);
    }

    /// Sets the flags as the operation would, and drops the result.
    fn compare(&mut self, operation: Operation) -> Result<(), Diagnostic> {
        if self.locked {
            let name = self.lowering.mnemonic;
            return Err(self.lowering.error(name, format!("`{name}` cannot be locked")));
        }
        let [left, right] = self.destination_and_source()?;
        let width = self.operation_width(&[&left, &right])?;
        if left.is_memory() && right.is_memory() {
            return Err(self.two_memories(&left));
        }
        let (left, right) = (self.read(&left, width)?, self.read(&right, width)?);
        let result = self.result(operation, &left, &right, width);
        self.set_flags(operation, &left, &right, &result, width);
        Ok(())
    }

    /// Shifts by a constant.
    fn shift(&mut self) -> Result<(), Diagnostic> {
        if self.locked {
            let name = self.lowering.mnemonic;
            return Err(self.lowering.error(name, format!("`{name}` cannot be locked")));
        }
        let [destination, count] = self.destination_and_source()?;
        let width = self.operation_width(&[&destination])?;
        let OperandKind::Immediate(count_value) = count.kind else {
            return Err(self.lowering.expected("a constant shift count", count.text));
        };
        let count_value = (count_value & if width == 64 { 63 } else { 31 }) as u128;
        let value = self.read(&destination, width)?;
        if count_value == 0 {
            return self.write(&destination, width, value);
        }
        let left = matches!(self.name.as_str(), "shl" | "sal");
        let op = match self.name.as_str() {
            "shr" => BinaryOp::LShr,
            "sar" => BinaryOp::AShr,
            _ => BinaryOp::Shl,
        };
        let almost = Expr::binary(op, value.clone(), Expr::constant(width, count_value - 1));
        let almost = Expr::Var(self.lowering.hold(width, almost));
        let result = Expr::binary(op, almost.clone(), Expr::constant(width, 1));
        let result = Expr::Var(self.lowering.hold(width, result));
        let top = |value: Expr| flags::top_bit(value, width);
        let (carry, overflow) = match op {
            BinaryOp::Shl if left => {
                let carry = top(almost);
                (carry.clone(), carry ^ top(result.clone()))
            }
            BinaryOp::LShr => (almost.extract(0, 1), top(value)),
            _ => (almost.extract(0, 1), Expr::constant(1, 0)),
        };
        Flag::Carry.set(&mut self.lowering, carry);
        Flag::Overflow.set(&mut self.lowering, overflow);
        flags::set_by_result(&mut self.lowering, &result, width);
        self.write(&destination, width, result)
    }
}
