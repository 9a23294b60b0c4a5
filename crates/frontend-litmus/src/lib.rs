//! Litmus tests in herd7's format, lowered to [`parallax_program::Program`]s.

pub mod asm;

use parallax_program::{Program, Question};

/// The languages that litmus tests are written in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arch {
    X86,
    X86_64,
    AArch64,
    Arm,
    Ppc,
    RiscV,
    /// C11.
    C,
    /// C with the Linux kernel's primitives.
    Lkmm,
}

/// A litmus test, ready to run.
#[derive(Clone, Debug)]
pub struct LitmusTest {
    pub name: String,
    pub arch: Arch,
    /// `Key=value` lines of the header, in order.
    pub metadata: Vec<(String, String)>,
    /// The quoted line of the header.
    pub doc: Option<String>,
    pub program: Program,
    pub question: Question,
}
