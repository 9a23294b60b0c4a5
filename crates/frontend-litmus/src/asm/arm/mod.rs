//! Arm (AArch32: v7, and the acquire and release accesses of v8) as litmus tests write it:
//! registers, mnemonics with their suffixes, and which file lowers what.
//!
//! The meaning of the instructions is that of the Arm Architecture Reference Manual, ARMv7-A
//! edition. The flags N, Z, C and V are one-bit variables.

mod arith;
mod flags;
mod memory;
mod operand;

use parallax_program::{Diagnostic, Terminator};

use super::lowering::Lowering;
use super::{AsmLine, Isa, Register, ThreadBuilder};
use flags::Condition;

const WIDTH: u32 = 32;

/// The instruction set.
pub struct Arm;

impl Isa for Arm {
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
        let name = l.mnemonic.to_ascii_uppercase();
        match Mnemonic::parse(&name) {
            Some(mnemonic) => mnemonic.lower(&mut l),
            None => Err(l.unsupported("Arm")),
        }
    }
}

/// The registers, with other names that some have. The program counter is not among them.
const REGISTERS: [&[&str]; 15] = [
    &["R0"],
    &["R1"],
    &["R2"],
    &["R3"],
    &["R4"],
    &["R5"],
    &["R6"],
    &["R7"],
    &["R8"],
    &["R9"],
    &["R10"],
    &["R11", "FP"],
    &["R12", "IP"],
    &["SP", "R13"],
    &["LR", "R14"],
];

const SPARE: [&str; 13] =
    ["R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12"];

fn register(name: &str) -> Option<Register> {
    let name = name.to_ascii_uppercase();
    let names = REGISTERS.iter().find(|names| names.contains(&&*name))?;
    Some(Register { whole: names.first()?, whole_width: WIDTH, low: 0, width: WIDTH })
}

/// What a mnemonic says: an instruction, whether it sets flags, and when it is done.
struct Mnemonic {
    kind: Kind,
    set_flags: bool,
    condition: Condition,
}

#[derive(Clone, Copy)]
enum Kind {
    Branch,
    Return,
    BranchIfZero(bool),
    Nop,
    Compute(arith::Operation),
    Test(arith::Operation),
    MoveHalf { top: bool },
    Access(memory::Access),
    Fence(&'static str),
}

impl Kind {
    fn parse(name: &str) -> Option<Kind> {
        Some(match name {
            "B" => Kind::Branch,
            "BX" => Kind::Return,
            "CBZ" => Kind::BranchIfZero(true),
            "CBNZ" => Kind::BranchIfZero(false),
            "NOP" => Kind::Nop,
            "MOVW" => Kind::MoveHalf { top: false },
            "MOVT" => Kind::MoveHalf { top: true },
            "DMB" => Kind::Fence("DMB"),
            "DSB" => Kind::Fence("DSB"),
            "ISB" => Kind::Fence("ISB"),
            _ => {
                return arith::Operation::parse(name)
                    .map(Kind::Compute)
                    .or_else(|| arith::Operation::parse_test(name).map(Kind::Test))
                    .or_else(|| memory::Access::parse(name).map(Kind::Access));
            }
        })
    }

    fn lower(self, l: &mut Lowering, set_flags: bool) -> Result<(), Diagnostic> {
        match self {
            Kind::Branch => {
                let [label] = l.take()?;
                let target = l.label(label)?;
                l.thread.function.terminate(Terminator::Jump(target));
                Ok(())
            }
            Kind::Return => {
                let [target] = l.take()?;
                if l.register(target)?.whole != "LR" {
                    let message = "only a return to the address in LR is supported";
                    return Err(l.error(target, message));
                }
                l.thread.function.terminate(Terminator::Return(None));
                Ok(())
            }
            Kind::BranchIfZero(zero) => arith::branch_if_zero(l, zero),
            Kind::Nop => l.take().map(|[]| ()),
            Kind::Compute(op) => arith::compute(l, op, set_flags),
            Kind::Test(op) => arith::test(l, op),
            Kind::MoveHalf { top } => arith::move_half(l, top),
            Kind::Access(access) => access.lower(l),
            Kind::Fence(name) => memory::fence(l, name),
        }
    }
}

impl Mnemonic {
    /// An instruction's name, then `S` where it sets flags, then a condition.
    fn parse(name: &str) -> Option<Mnemonic> {
        let conditional = name.len().checked_sub(2).and_then(|at| {
            let (base, suffix) = name.split_at_checked(at)?;
            Some((base, Condition::parse(suffix)?))
        });
        let always = Some((name, Condition::Always));
        let mut readings = [always, conditional].into_iter().flatten();
        readings.find_map(|(base, condition)| {
            let plain = Kind::parse(base).map(|kind| (kind, false));
            let (kind, set_flags) = plain.or_else(|| {
                let kind = Kind::parse(base.strip_suffix('S')?)?;
                matches!(kind, Kind::Compute(_)).then_some((kind, true))
            })?;
            let fits = match kind {
                Kind::Return | Kind::BranchIfZero(_) | Kind::Fence(_) => {
                    condition == Condition::Always
                }
                _ => true,
            };
            fits.then_some(Mnemonic { kind, set_flags, condition })
        })
    }

    /// A conditional instruction is done in a branch that ends with it: an access depends on
    /// the flags by control, and what follows does not.
    fn lower(self, l: &mut Lowering) -> Result<(), Diagnostic> {
        let Some(condition) = self.condition.holds(l) else {
            return self.kind.lower(l, self.set_flags);
        };
        if let Kind::Branch = self.kind {
            let [label] = l.take()?;
            let target = l.label(label)?;
            l.thread.function.branch(condition, target);
            return Ok(());
        }
        let function = &mut l.thread.function;
        let (then, end) = (function.new_block("then"), function.new_block("end"));
        function.terminate(Terminator::Branch { condition, then, otherwise: end, join: Some(end) });
        function.enter(then);
        let result = self.kind.lower(l, self.set_flags);
        l.thread.function.enter(end);
        result
    }
}

#[cfg(test)]
mod tests;
