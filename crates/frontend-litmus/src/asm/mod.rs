//! What the assembly languages of litmus tests have in common: one instruction to a table
//! cell, labels, registers that start with the values the test gives them.

pub mod aarch64;
pub mod arm;
mod lowering;
pub mod ppc;
pub mod riscv;
mod symbolic;
#[cfg(test)]
mod testing;
mod threads;
pub mod x86;

use parallax_program::{Diagnostic, Expr, FunctionBuilder, SourceFile, Span, VarId};

use crate::Arch;
pub use crate::globals::Globals;
pub(crate) use symbolic::{SymbolicRegisters, SymbolicUses};
pub(crate) use threads::{AsmTest, AsmThreads, lower_threads};

/// One cell of the test's table: an instruction, a label, or both (`L0: add …`).
#[derive(Clone, Copy, Debug)]
pub struct AsmLine<'a> {
    /// Not empty; white space around it removed.
    pub text: &'a str,
    /// Where `text` stands in the file.
    pub span: Span,
}

/// A part of a register, as an instruction or a condition names it: `%eax`, `W3`, `x10`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// The whole register that holds it, under its canonical name, and its width. This is
    /// the variable that instructions work on.
    pub whole: &'static str,
    pub whole_width: u32,
    /// The part: so many bits from this one on.
    pub low: u32,
    pub width: u32,
}

/// An instruction set: knows its registers and what each instruction does.
pub trait Isa {
    /// Width of addresses: 32 or 64.
    fn pointer_width(&self) -> u32;

    /// The register of that name, in any spelling that the assembly allows.
    fn register(&self, name: &str) -> Option<Register>;

    /// The whole registers that may stand for symbolic ones (`%y`), first choice first; none
    /// where the language has no symbolic registers.
    fn spare_registers(&self) -> &'static [&'static str];

    /// The letters that may come before the `%` of a symbolic register, each in the place of
    /// the first letter of a real one.
    fn register_views(&self) -> &'static str {
        ""
    }

    /// Emits what one instruction does. Labels have been taken off and placed.
    /// An unknown instruction or operand is an error that names it, with its place.
    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic>;
}

/// The instruction set of an architecture; none for C.
pub fn isa(arch: Arch) -> Option<&'static dyn Isa> {
    Some(match arch {
        Arch::X86 => &x86::X86 { wide: false },
        Arch::X86_64 => &x86::X86 { wide: true },
        Arch::AArch64 => &aarch64::AArch64,
        Arch::Arm => &arm::Arm,
        Arch::Ppc => &ppc::Ppc,
        Arch::RiscV => &riscv::RiscV,
        Arch::C | Arch::Lkmm => return None,
    })
}

/// The thread under construction.
pub struct ThreadBuilder<'a> {
    pub function: FunctionBuilder,
    pub number: u32,
    pub globals: &'a mut Globals,
    pub source: &'a SourceFile,
}

impl ThreadBuilder<'_> {
    /// The variable of a whole register.
    pub fn register_var(&mut self, register: &Register) -> VarId {
        self.function.var(register.whole, register.whole_width)
    }

    /// The value of a register, or part of one, at its own width.
    pub fn read(&mut self, register: &Register) -> Expr {
        let whole = Expr::Var(self.register_var(register));
        if register.width == register.whole_width {
            whole
        } else {
            whole.extract(register.low, register.width)
        }
    }

    /// An error at a part of an instruction's text; `part` must be a slice of `line.text`.
    pub fn error_at(
        &self,
        line: AsmLine<'_>,
        part: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let base = line.text.as_ptr() as usize;
        let at = part.as_ptr() as usize;
        let span = if at >= base && at + part.len() <= base + line.text.len() {
            let start = line.span.start as usize + (at - base);
            Span::new(start, start + part.len().max(1))
        } else {
            line.span
        };
        self.source.error(span, message)
    }
}
