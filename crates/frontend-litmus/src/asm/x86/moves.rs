//! Moves: plain, extending, conditional, non-temporal; `lea` and `setcc`.

use parallax_program::{Diagnostic, Expr, Tags};

use super::flags::Condition;
use super::operand::{Operand, OperandKind};
use super::{Instruction, Known};

impl<'l> Instruction<'l, '_, '_> {
    pub(super) fn moves(&mut self) -> Known {
        match self.name.as_str() {
            "mov" | "movabs" => self.plain_move(Tags::none())?,
            "movnti" => self.plain_move(Tags::new(["NT"]))?,
            "movzx" => self.extending_move(false, None)?,
            "movsx" | "movsxd" => self.extending_move(true, None)?,
            "lea" => self.load_address()?,
            name => {
                let name = name.to_string();
                return self.named_by_parts(&name);
            }
        }
        Ok(true)
    }

    /// `movzbl` and its kin, `cmovcc`, `setcc`.
    fn named_by_parts(&mut self, name: &str) -> Known {
        if let (Some(condition), None) = (name.strip_prefix("set"), self.width)
            && let Some(condition) = Condition::named(condition)
        {
            self.set_by(condition)?;
            return Ok(true);
        }
        if let Some(condition) = name.strip_prefix("cmov").and_then(Condition::named) {
            self.conditional_move(condition)?;
            return Ok(true);
        }
        let signed = match name.split_at_checked(4) {
            Some(("movz", _)) => false,
            Some(("movs", _)) => true,
            _ => return Ok(false),
        };
        // The readings of a mnemonic have taken the last letter off as the width.
        let from = match name.get(4..) {
            Some("b") => 8,
            Some("w") => 16,
            Some("l") => 32,
            _ => return Ok(false),
        };
        if self.width.is_none_or(|to| to <= from) {
            return Ok(false);
        }
        self.extending_move(signed, Some(from))?;
        Ok(true)
    }

    fn plain_move(&mut self, tags: Tags) -> Result<(), Diagnostic> {
        let [destination, source] = self.destination_and_source()?;
        let width = self.operation_width(&[&destination, &source])?;
        if destination.is_memory() && source.is_memory() {
            return Err(self.two_memories(&destination));
        }
        let value = self.read(&source, width)?;
        self.write_tagged(&destination, width, value, tags)
    }

    /// `from` is the width of the source where the mnemonic has it.
    fn extending_move(&mut self, signed: bool, from: Option<u32>) -> Result<(), Diagnostic> {
        let [destination, source] = self.destination_and_source()?;
        let to = self.operation_width(&[&destination])?;
        let Some(from) = from.or(source.width()) else {
            let message = "how wide is this? write `byte ptr` or `word ptr` before it";
            return Err(self.lowering.error(source.text, message));
        };
        if from >= to || source.width().is_some_and(|width| width != from) {
            return Err(self.lowering.expected("a narrower source", source.text));
        }
        if matches!(source.kind, OperandKind::Immediate(_) | OperandKind::Address(_)) {
            return Err(self.lowering.expected("a register or memory", source.text));
        }
        let value = self.read(&source, from)?;
        let value = if signed { value.sign_extend(to) } else { value.zero_extend(to) };
        self.write(&destination, to, value)
    }

    fn load_address(&mut self) -> Result<(), Diagnostic> {
        let [destination, source] = self.destination_and_source()?;
        let width = self.operation_width(&[&destination])?;
        let OperandKind::Memory(address, _) = source.kind else {
            return Err(self.lowering.expected("memory", source.text));
        };
        let address = address.resize(self.pointer_width(), width);
        self.write(&destination, width, address)
    }

    fn set_by(&mut self, condition: Condition) -> Result<(), Diagnostic> {
        let [destination] = self.lowering.take()?;
        let destination = self.operand(destination)?;
        let width = destination.width().unwrap_or(8);
        let value = condition.expr(&mut self.lowering).zero_extend(width);
        self.write(&destination, width, value)
    }

    /// Memory is read whether the condition holds or not.
    fn conditional_move(&mut self, condition: Condition) -> Result<(), Diagnostic> {
        let [destination, source] = self.conditional_operands()?;
        let width = self.operation_width(&[&destination, &source])?;
        let condition = condition.expr(&mut self.lowering);
        let value = self.read(&source, width)?;
        let unchanged = self.read(&destination, width)?;
        let value: Expr = condition.select(value, unchanged);
        self.write(&destination, width, value)
    }

    /// herd7 writes the destination first even in X86_64 tests, AT&T writes it last: decided
    /// apart by the memory operand.
    fn conditional_operands(&mut self) -> Result<[Operand<'l>; 2], Diagnostic> {
        let [destination, source] = self.destination_and_source()?;
        if destination.is_memory() && !source.is_memory() {
            return if self.wide {
                Ok([source, destination])
            } else {
                Err(self.lowering.expected("a register", destination.text))
            };
        }
        if self.wide && !source.is_memory() {
            let name = self.lowering.mnemonic;
            let message =
                format!("`{name}` between registers: herd7 and AT&T order them differently");
            return Err(self.lowering.error(name, message));
        }
        Ok([destination, source])
    }
}
