//! x86 assembly, as herd7 writes it: X86 (32 bits) in Intel's order, destination first
//! (`MOV EAX,[x]`), X86_64 in AT&T's, destination last (`movl (x),%eax`).
//!
//! Meaning after the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
//! flags included. Accesses of locked instructions carry the tag `X`, as herd7's models
//! expect; the read of a locked compare-and-exchange that fails keeps it.

mod arithmetic;
mod atomic;
mod flags;
mod moves;
mod operand;
mod registers;
#[cfg(test)]
mod tests;

use parallax_program::{Diagnostic, Expr, InstKind, Tags, Terminator};

use super::lowering::Lowering;
use super::{AsmLine, Isa, Register, ThreadBuilder};
use operand::Operand;

/// The instruction set of X86 and (`wide`) X86_64 tests.
pub struct X86 {
    pub wide: bool,
}

impl Isa for X86 {
    fn pointer_width(&self) -> u32 {
        if self.wide { 64 } else { 32 }
    }

    fn register(&self, name: &str) -> Option<Register> {
        self.registers()(name)
    }

    /// In X86_64 code, `%` only marks registers.
    fn spare_registers(&self) -> &'static [&'static str] {
        match self.wide {
            true => &[],
            false => &["EAX", "EBX", "ECX", "EDX", "ESI", "EDI"],
        }
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        let (line, locked) = without_lock(line);
        let mut instruction = Instruction {
            lowering: Lowering::new(line, thread, self.registers()),
            name: String::new(),
            width: None,
            locked,
            wide: self.wide,
        };
        let mnemonic = instruction.lowering.mnemonic.to_ascii_lowercase();
        for (name, width) in readings(&mnemonic) {
            instruction.name = name.to_string();
            instruction.width = width;
            if instruction.lower()? {
                return Ok(());
            }
        }
        Err(instruction.lowering.unsupported("x86"))
    }
}

impl X86 {
    fn registers(&self) -> fn(&str) -> Option<Register> {
        if self.wide { registers::wide } else { registers::narrow }
    }
}

/// The line after a `lock` prefix, and whether there was one. A `;` may follow the prefix.
fn without_lock(line: AsmLine<'_>) -> (AsmLine<'_>, bool) {
    let Some((prefix, rest)) = line.text.split_at_checked(4) else {
        return (line, false);
    };
    let ends = rest.starts_with(|c: char| c.is_whitespace() || c == ';');
    if !prefix.eq_ignore_ascii_case("lock") || !ends {
        return (line, false);
    }
    let rest = rest.trim_start();
    let rest = rest.strip_prefix(';').unwrap_or(rest).trim_start();
    let mut span = line.span;
    span.start = span.end - rest.len() as u32;
    (AsmLine { text: rest, span }, true)
}

/// How a mnemonic may be read: as it stands, or as a name with a suffix that says the width.
fn readings(mnemonic: &str) -> Vec<(&str, Option<u32>)> {
    let mut readings = vec![(mnemonic, None)];
    for (suffix, width) in [('b', 8), ('w', 16), ('l', 32), ('q', 64)] {
        if let Some(name) = mnemonic.strip_suffix(suffix) {
            readings.push((name, Some(width)));
        }
    }
    readings
}

/// One instruction on its way into the thread.
struct Instruction<'l, 't, 'p> {
    lowering: Lowering<'l, 't, 'p>,
    /// The mnemonic in lower case, without the suffix that says the width.
    name: String,
    /// What the suffix said.
    width: Option<u32>,
    locked: bool,
    /// X86_64.
    wide: bool,
}

/// False where the name is not known.
type Known = Result<bool, Diagnostic>;

impl<'l> Instruction<'l, '_, '_> {
    fn lower(&mut self) -> Known {
        let lockable = self.arithmetic()? || self.atomic()?;
        if lockable {
            return Ok(true);
        }
        let known = self.moves()? || self.fences_and_jumps()?;
        if known && self.locked {
            let name = self.lowering.mnemonic;
            return Err(self.lowering.error(name, format!("`{name}` cannot be locked")));
        }
        Ok(known)
    }

    fn fences_and_jumps(&mut self) -> Known {
        match self.name.as_str() {
            "mfence" | "sfence" | "lfence" => {
                self.lowering.take::<0>()?;
                let tag = self.name.to_ascii_uppercase();
                self.lowering.fence(&tag);
            }
            "nop" => {}
            "ret" => {
                self.lowering.take::<0>()?;
                let function = &mut self.lowering.thread.function;
                function.terminate(Terminator::Return(None));
            }
            "jmp" => {
                let [label] = self.lowering.take()?;
                let target = self.lowering.label(label)?;
                let function = &mut self.lowering.thread.function;
                function.terminate(Terminator::Jump(target));
            }
            name => {
                let Some(condition) = name.strip_prefix('j').and_then(flags::Condition::named)
                else {
                    return Ok(false);
                };
                let [label] = self.lowering.take()?;
                let target = self.lowering.label(label)?;
                let condition = condition.expr(&mut self.lowering);
                self.lowering.thread.function.branch(condition, target);
            }
        }
        Ok(true)
    }

    /// The two operands, destination first.
    fn destination_and_source(&mut self) -> Result<[Operand<'l>; 2], Diagnostic> {
        let [first, second] = self.lowering.take()?;
        let (first, second) = (self.operand(first)?, self.operand(second)?);
        Ok(if self.wide { [second, first] } else { [first, second] })
    }

    /// How wide the operation is: by its suffix, its registers, or a word of 32 bits.
    fn operation_width(&self, operands: &[&Operand<'l>]) -> Result<u32, Diagnostic> {
        let mut width = self.width;
        for operand in operands {
            let own = operand.width();
            if let (Some(width), Some(own)) = (width, own)
                && width != own
            {
                let message = format!("`{}` has {own} bits, not {width}", operand.text);
                return Err(self.lowering.error(operand.text, message));
            }
            width = width.or(own);
        }
        Ok(width.unwrap_or(32))
    }

    /// The value of an operand; memory is read.
    fn read(&mut self, operand: &Operand<'l>, width: u32) -> Result<Expr, Diagnostic> {
        self.read_tagged(operand, width, Tags::none())
    }

    /// Gives a register or memory a value.
    fn write(&mut self, operand: &Operand<'l>, width: u32, value: Expr) -> Result<(), Diagnostic> {
        self.write_tagged(operand, width, value, Tags::none())
    }

    fn emit(&mut self, kind: InstKind) {
        self.lowering.emit(kind);
    }
}
