//! AArch64 assembly.

use parallax_program::Diagnostic;

use super::{AsmLine, Isa, Register, ThreadBuilder};

/// The instruction set of AArch64 tests.
pub struct AArch64;

impl Isa for AArch64 {
    fn pointer_width(&self) -> u32 {
        64
    }

    fn register(&self, _name: &str) -> Option<Register> {
        None
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        Err(thread.error_at(line, line.text, "AArch64 tests are not supported yet"))
    }
}
