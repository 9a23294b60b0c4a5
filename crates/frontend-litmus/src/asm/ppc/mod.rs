//! PPC assembly.

use parallax_program::Diagnostic;

use super::{AsmLine, Isa, Register, ThreadBuilder};

/// The instruction set of PPC tests.
pub struct Ppc;

impl Isa for Ppc {
    fn pointer_width(&self) -> u32 {
        64
    }

    fn register(&self, _name: &str) -> Option<Register> {
        None
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        Err(thread.error_at(line, line.text, "PPC tests are not supported yet"))
    }
}
