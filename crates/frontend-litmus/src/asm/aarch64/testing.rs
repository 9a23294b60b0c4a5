//! What the tests of this folder share: instructions as a list of lines.

use parallax_program::InstKind;

use super::AArch64;
use crate::asm::testing::{self, Machine};

/// The instructions of all blocks, in order.
pub fn lowered(lines: &[&str]) -> Vec<InstKind> {
    let function = testing::lower(&AArch64, &lines.join("\n")).unwrap();
    let insts = function.blocks.into_iter().flat_map(|block| block.insts);
    insts.map(|inst| inst.kind).collect()
}

/// The error in an instruction: line, column and message.
pub fn error(line: &str) -> String {
    testing::error(&AArch64, line)
}

/// A thread that has run alone.
pub struct After(pub Machine);

/// Runs a thread from the given registers; the others are zero.
pub fn run(lines: &[&str], start: &[(&str, u64)]) -> After {
    let registers = [&[("X0", 0)], start].concat();
    After(Machine::run(&AArch64, &registers, &lines.join("\n")))
}

impl After {
    pub fn register(&self, name: &str) -> u64 {
        self.0.get(name) as u64
    }
}
