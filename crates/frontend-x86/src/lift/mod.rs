//! What x86-64 instructions mean, as instructions of the intermediate language (Intel 64 and
//! IA-32 Architectures Software Developer's Manual, volume 2).
//!
//! [`lift`] appends the meaning of one decoded instruction to a [`Sequence`], a function whose
//! first variables are the registers, and says where control goes next. Everything that a
//! processor defines is modelled: all widths and sub-registers, all status flags, the order of
//! the accesses of an instruction, faults of division and of misaligned vector accesses.
//!
//! - A read-modify-write without LOCK is a load and then a store. With LOCK (`xchg` with memory
//!   always has it) it is one atomic `rmw` or `cas`, whose accesses carry the tag `X`.
//! - Flags that the manual leaves undefined become 0, except: overflow after a shift or rotate by
//!   more than one is what the rule for one gives. Registers that it leaves undefined
//!   (`bsf` of zero) stay as they were, which is what processors do.
//! - Floating point rounds to nearest; exceptions are masked and leave no trace.
//! - What is not modelled is [`Refused`], by name; it matters only where it is reached.
//!
//! `tests/native` runs every form against the processor. [`remove_dead`] takes out flags and
//! temporaries that nobody looks at.

mod arithmetic;
mod bits;
mod branches;
mod dead;
mod exchanges;
mod flags;
mod fold;
mod moves;
mod operands;
mod products;
pub mod registers;
mod sequence;
mod shifts;
mod stack;
mod strings;
mod vector;

use iced_x86::{Instruction, Mnemonic};
use parallax_program::Expr;

pub use dead::remove_dead;
pub use sequence::Sequence;

/// Where control goes after an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flow {
    /// To the next instruction.
    Next,
    Jump(u64),
    /// To `taken` where the one-bit condition is 1, to the next instruction where it is 0.
    Branch {
        condition: Expr,
        taken: u64,
    },
    /// To the address that the expression gives now.
    IndirectJump(Expr),
    /// The address of the next instruction was pushed already.
    Call(Target),
    /// To the address, which was popped already, as were the bytes that the instruction names.
    Return {
        address: Expr,
    },
    Syscall,
    /// Nowhere: the processor traps.
    Trap(&'static str),
}

/// What a call leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    Direct(u64),
    /// The address that the expression gives now.
    Indirect(Expr),
}

/// An instruction that has no counterpart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// As an assembler knows it, in lower case.
    pub mnemonic: String,
    pub reason: &'static str,
    pub address: u64,
}

impl Refused {
    /// For people, and for `Unsupported`.
    pub fn message(&self, bytes: &[u8]) -> String {
        let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let Refused { mnemonic, reason, address } = self;
        format!("the instruction '{mnemonic}' ({}) at {address:#x} {reason}", bytes.join(" "))
    }
}

type Lifted<T> = Result<T, Refused>;

/// Appends the meaning of one decoded instruction. Expressions in the answer hold until the next
/// instruction is lifted. Where the instruction is refused, what was appended is of no use, and
/// does no harm in front of an `Unsupported`.
pub fn lift(instruction: &Instruction, out: &mut Sequence) -> Result<Flow, Refused> {
    out.forget();
    let mut step = Step { instruction, out };
    if let Some(flow) = step.branch()? {
        return Ok(flow);
    }
    let known = step.moves()?
        || step.arithmetic()?
        || step.fences()?
        || step.stack()?
        || step.flag_moves()?
        || step.shifts()?
        || step.bits()?
        || step.products()?
        || step.exchanges()?
        || step.strings()?
        || step.vectors()?;
    if known {
        return Ok(Flow::Next);
    }
    Err(step.refused("is not modelled"))
}

/// One instruction on its way.
struct Step<'a> {
    instruction: &'a Instruction,
    out: &'a mut Sequence,
}

impl Step<'_> {
    fn mnemonic(&self) -> Mnemonic {
        self.instruction.mnemonic()
    }

    fn refused(&self, reason: &'static str) -> Refused {
        let mnemonic = format!("{:?}", self.instruction.mnemonic()).to_lowercase();
        Refused { mnemonic, reason, address: self.instruction.ip() }
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};
    use parallax_program::{Program, SourceFile, Terminator};

    use super::*;

    /// The text of a program of one function, made of machine code without jumps.
    fn lifted(code: &[u8]) -> String {
        let mut out = Sequence::new("f");
        let decoder = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE);
        for instruction in decoder {
            assert_eq!(lift(&instruction, &mut out), Ok(Flow::Next));
        }
        out.builder().terminate(Terminator::Return(None));
        let mut function = out.finish();
        remove_dead(&mut function);
        let mut program = Program::new("p", 64, SourceFile::new("p", ""));
        program.registers = registers::registers();
        program.functions.push(function);
        assert_eq!(program.check(), Ok(()));
        let text = program.to_text();
        let (_, body) = text.split_once("entry:").expect("a function");
        body.lines().map(|line| line.trim().to_string() + "\n").collect()
    }

    #[test]
    fn flags_that_nobody_reads_are_not_computed() {
        // add rax,[rbx+8]; mov ecx,eax
        let expected = "\n%43 = load.8 rbx + 8:64 [COPY]\nrax = rax + %43\n\
                        rcx = zext(extract(rax, 0, 32), 64)\nreturn\n}\n";
        assert_eq!(lifted(&[0x48, 0x03, 0x43, 0x08, 0x89, 0xc1]), expected);
    }
}
