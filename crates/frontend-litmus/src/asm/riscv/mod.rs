//! RISC-V (RV64IMA) as litmus tests write it: registers, and which file lowers what.
//!
//! The meaning of the instructions is that of the RISC-V Instruction Set Manual, volume I.
//! Beyond the manual, as herd7 has it, plain loads and stores take `.aq` and `.rl` too.

mod arith;
mod branch;
mod memory;

use parallax_program::{Diagnostic, Expr};

use super::lowering::Lowering;
use super::{AsmLine, Isa, Register, ThreadBuilder};

const WIDTH: u32 = 64;

/// The instruction set.
pub struct RiscV;

impl Isa for RiscV {
    fn pointer_width(&self) -> u32 {
        WIDTH
    }

    fn register(&self, name: &str) -> Option<Register> {
        register(name)
    }

    fn spare_registers(&self) -> &'static [&'static str] {
        &SPARE
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        let mut l = Lowering::new(line, thread, register);
        let name = l.mnemonic.to_ascii_lowercase();
        let known = arith::lower(&mut l, &name)?
            || branch::lower(&mut l, &name)?
            || memory::lower(&mut l, &name)?;
        if known { Ok(()) } else { Err(l.unsupported("RISC-V")) }
    }
}

/// Each register under its number and its names in the calling convention.
const REGISTERS: [&[&str]; 32] = [
    &["x0", "zero"],
    &["x1", "ra"],
    &["x2", "sp"],
    &["x3", "gp"],
    &["x4", "tp"],
    &["x5", "t0"],
    &["x6", "t1"],
    &["x7", "t2"],
    &["x8", "s0", "fp"],
    &["x9", "s1"],
    &["x10", "a0"],
    &["x11", "a1"],
    &["x12", "a2"],
    &["x13", "a3"],
    &["x14", "a4"],
    &["x15", "a5"],
    &["x16", "a6"],
    &["x17", "a7"],
    &["x18", "s2"],
    &["x19", "s3"],
    &["x20", "s4"],
    &["x21", "s5"],
    &["x22", "s6"],
    &["x23", "s7"],
    &["x24", "s8"],
    &["x25", "s9"],
    &["x26", "s10"],
    &["x27", "s11"],
    &["x28", "t3"],
    &["x29", "t4"],
    &["x30", "t5"],
    &["x31", "t6"],
];

/// All but `x0`.
const SPARE: [&str; 31] = [
    "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
    "x29", "x30", "x31",
];

fn register(name: &str) -> Option<Register> {
    let name = name.to_ascii_lowercase();
    let names = REGISTERS.iter().find(|names| names.contains(&&*name))?;
    Some(Register { whole: names.first()?, whole_width: WIDTH, low: 0, width: WIDTH })
}

fn is_zero(register: &Register) -> bool {
    register.whole == "x0"
}

/// The value of a register; that of `x0` is the constant zero.
fn read(l: &mut Lowering, register: &Register) -> Expr {
    if is_zero(register) { Expr::constant(WIDTH, 0) } else { l.value(register) }
}

/// Gives a register a value; `x0` stays as it is.
fn write(l: &mut Lowering, register: &Register, value: Expr) {
    if !is_zero(register) {
        l.set(register, value);
    }
}

#[cfg(test)]
mod tests;
