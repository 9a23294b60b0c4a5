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

    fn decoded(code: &[u8]) -> Decoder<'_> {
        Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE)
    }

    /// The lines of a function made of machine code without jumps.
    fn lifted(code: &[u8]) -> Vec<String> {
        let mut out = Sequence::new("f");
        for instruction in decoded(code) {
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
        let (_, body) = text.split_once("entry:\n").expect("a function");
        let lines = body.lines().map(|line| line.trim().to_string());
        lines.take_while(|line| line != "return").collect()
    }

    #[test]
    fn flags_that_nobody_reads_are_not_computed() {
        // add rax,[rbx+8]; mov ecx,eax
        let lines = lifted(&[0x48, 0x03, 0x43, 0x08, 0x89, 0xc1]);
        let load = "%43 = load.8 rbx + 8:64 [COPY]";
        assert_eq!(lines, [load, "rax = rax + %43", "rcx = zext(extract(rax, 0, 32), 64)"]);
    }

    #[test]
    fn without_lock_a_change_is_a_load_and_a_store() {
        // inc dword ptr [rdi]
        let lines = lifted(&[0xff, 0x07]);
        assert_eq!(lines, ["%43 = load.4 rdi [COPY]", "store.4 rdi, %43 + 1:32"]);
    }

    #[test]
    fn with_lock_it_is_one_step() {
        // lock inc dword ptr [rdi]
        assert_eq!(lifted(&[0xf0, 0xff, 0x07]), ["rmw.add.4 rdi, 1:32 [COPY, X] [X]"]);
        // xchg [rdi],rax, which needs no lock
        assert_eq!(lifted(&[0x48, 0x87, 0x07]), ["rax = rmw.swap.8 rdi, rax [COPY, X] [X]"]);
        // lock cmpxchg [rdi],rcx
        let lines = lifted(&[0xf0, 0x48, 0x0f, 0xb1, 0x0f]);
        let cas = "%44, %45 = cas.8 rdi, rax, rcx [COPY, X] [X] [COPY, X]";
        assert_eq!(lines, [cas, "rax = select(~%45, %44, rax)"]);
    }

    #[test]
    fn segments_start_at_their_bases() {
        // mov rax,fs:[0x28]
        let lines = lifted(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]);
        assert_eq!(lines, ["rax = load.8 fsbase + 40:64 [COPY]"]);
    }

    #[test]
    fn what_is_refused_has_a_name() {
        let bytes = [0x0f, 0xa2];
        let cpuid = decoded(&bytes).decode();
        let refused = lift(&cpuid, &mut Sequence::new("f")).expect_err("no model");
        let message = "the instruction 'cpuid' (0f a2) at 0x1000 is not modelled";
        assert_eq!(refused.message(&bytes), message);
    }
}
