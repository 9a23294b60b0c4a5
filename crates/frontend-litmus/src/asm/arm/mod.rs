//! ARM assembly.

use parallax_program::Diagnostic;

use super::{AsmLine, Isa, Register, ThreadBuilder};

/// The instruction set of ARM tests.
pub struct Arm;

impl Isa for Arm {
    fn pointer_width(&self) -> u32 {
        32
    }

    fn register(&self, _name: &str) -> Option<Register> {
        None
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        Err(thread.error_at(line, line.text, "ARM tests are not supported yet"))
    }
}
