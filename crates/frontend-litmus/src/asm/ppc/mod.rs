//! Power as litmus tests write it: registers, and which file lowers what.
//!
//! The meaning of the instructions is that of the Power ISA, version 2.06, in 64-bit mode.
//! Of each field of the condition register, the bits `lt`, `gt` and `eq` are one-bit
//! variables; `so` is left out.

mod arith;
mod condition;
mod memory;

use parallax_program::{Diagnostic, Expr};

use super::lowering::Lowering;
use super::{AsmLine, Isa, Register, ThreadBuilder};

const WIDTH: u32 = 64;

/// The instruction set.
pub struct Ppc;

impl Isa for Ppc {
    fn pointer_width(&self) -> u32 {
        WIDTH
    }

    fn register(&self, name: &str) -> Option<Register> {
        register(name)
    }

    /// All but `r0`, which reads as zero in addresses.
    fn spare_registers(&self) -> &'static [&'static str] {
        REGISTERS.get(1..).unwrap_or_default()
    }

    fn lower(&self, line: AsmLine<'_>, thread: &mut ThreadBuilder<'_>) -> Result<(), Diagnostic> {
        let mut l = Lowering::new(line, thread, register);
        let name = l.mnemonic.to_ascii_lowercase();
        let known = arith::lower(&mut l, &name)?
            || condition::lower(&mut l, &name)?
            || memory::lower(&mut l, &name)?;
        if known { Ok(()) } else { Err(l.unsupported("Power")) }
    }
}

const REGISTERS: [&str; 32] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
    "r28", "r29", "r30", "r31",
];

fn register(name: &str) -> Option<Register> {
    let name = name.to_ascii_lowercase();
    let whole = REGISTERS.iter().find(|whole| **whole == name)?;
    Some(Register { whole, whole_width: WIDTH, low: 0, width: WIDTH })
}

fn is_r0(register: &Register) -> bool {
    register.whole == "r0"
}

/// The value of a register where the manual writes `(RA|0)`: zero for `r0`.
fn read_or_zero(l: &mut Lowering, register: &Register) -> Expr {
    if is_r0(register) { Expr::constant(WIDTH, 0) } else { l.value(register) }
}

#[cfg(test)]
mod tests;
