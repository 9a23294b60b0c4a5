//! x86 assembly, 32 and 64 bits.

use parallax_program::Diagnostic;

use super::{AsmLine, Isa, Register, ThreadBuilder};

/// The instruction set of X86 and (`wide`) X86_64 tests.
pub struct X86 {
    pub wide: bool,
}

impl Isa for X86 {
    fn pointer_width(&self) -> u32 {
        if self.wide { 64 } else { 32 }
    }

    fn register(&self, _name: &str) -> Option<Register> {
        None
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        Err(thread.error_at(line, line.text, "not supported yet"))
    }
}
