//! Whether the processor and the lifted code agree.

use std::collections::BTreeMap;
use std::rc::Rc;

use iced_x86::{Code, Instruction, Mnemonic, OpKind, RflagsBits};

use crate::model::{Lifted, Outcome};
use crate::processor::{Answer, Processor};
use crate::state::{CODE, FLAG_BITS, State};

/// The bits of the status flags.
pub const STATUS: u64 = 0x8d5;

pub struct Case {
    pub lifted: Rc<Lifted>,
    pub state: State,
}

/// Forms that are lifted but cannot be run alone: traps that look like the end of an
/// instruction, and the system.
pub fn is_never_run(code: Code) -> bool {
    matches!(code.mnemonic(), Mnemonic::Int3 | Mnemonic::Syscall)
}

/// What was found, by form.
#[derive(Default)]
pub struct Findings {
    /// Cases that could be compared.
    pub covered: BTreeMap<Code, usize>,
    /// Cases that differ, and what the first says.
    pub wrong: BTreeMap<Code, (usize, String)>,
}

/// Runs all cases.
pub fn judge(processor: &Processor, batch: &mut Vec<Case>, findings: &mut Findings) {
    let inputs = batch.iter().map(|case| (&case.state, case.lifted.bytes.as_slice()));
    let answers = processor.run(inputs);
    assert_eq!(answers.len(), batch.len(), "the processor answers every case");
    for (case, answer) in batch.drain(..).zip(answers) {
        let code = case.lifted.instruction.code();
        match difference(&case, &answer) {
            Ok(true) => *findings.covered.entry(code).or_default() += 1,
            Ok(false) => {}
            Err(message) => {
                findings.wrong.entry(code).or_insert((0, message)).0 += 1;
            }
        }
    }
}

/// Whether the case says anything; or how the two differ.
fn difference(case: &Case, answer: &Answer) -> Result<bool, String> {
    let instruction = &case.lifted.instruction;
    let outcome = case.lifted.run(&case.state);
    let report = |what: String| {
        let mut text = String::new();
        let bytes: Vec<String> =
            case.lifted.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("  {instruction} ({})\n  {what}\n", bytes.join(" "));
        text
    };
    match (outcome, answer.signal) {
        (Outcome::Fault(_), signal) if signal != 0 => Ok(true),
        (Outcome::Fault(why), _) => Err(report(format!("only we fault: {why}"))),
        (Outcome::Done { state, outside }, 0) => {
            if !is_defined(instruction, &case.state) {
                return Ok(false);
            }
            let ignored = undefined_flags(instruction, &case.state);
            let there = forget_trap_flag(instruction, answer);
            compare(&case.state, &state, &there, ignored).map_err(report)?;
            if outside != answer.outside {
                return Err(report("writes elsewhere".to_string()));
            }
            if let Outcome::Done { state: mut clean, .. } = case.lifted.run_clean(&case.state) {
                clean.rip = there.rip;
                compare(&case.state, &clean, &there, STATUS).map_err(report)?;
            }
            Ok(!outside)
        }
        // The harness takes an instruction that leads to itself for a repeated one, and nothing
        // is at addresses that use all their bits, not even for a moment.
        (Outcome::Done { state, .. }, _) if state.rip == CODE || state.rip >> 46 != 0 => Ok(false),
        (Outcome::Done { state, .. }, signal) => {
            Err(report(format!("only the processor faults: {signal}, next is {:#x}", state.rip)))
        }
    }
}

/// What a flags word in memory says of the trap flag is due to the harness.
fn forget_trap_flag(instruction: &Instruction, answer: &Answer) -> State {
    let mut state = answer.state.clone();
    if matches!(instruction.mnemonic(), Mnemonic::Pushf | Mnemonic::Pushfq) {
        let at = (state.general[4] - crate::state::DATA - crate::state::WINDOW) as usize;
        state.window[at + 1] &= !1;
    }
    state
}

/// Whether two states are the same but for some flags; `before` is for the message.
pub fn compare(before: &State, ours: &State, theirs: &State, ignored: u64) -> Result<(), String> {
    let mut text = String::new();
    for number in 0..16 {
        let (start, a, b) = (before.general[number], ours.general[number], theirs.general[number]);
        if a != b {
            text += &format!("register {number}: {start:#x} becomes {a:#x}, should {b:#x}; ");
        }
        let (start, a, b) = (before.vector[number], ours.vector[number], theirs.vector[number]);
        if a != b {
            text += &format!("xmm{number}: {start:#034x} becomes {a:#034x}, should {b:#034x}; ");
        }
    }
    if ours.rip != theirs.rip {
        text += &format!("next: {:#x}, should be {:#x}; ", ours.rip, theirs.rip);
    }
    for (name, bit) in FLAG_BITS {
        let at = |flags: u64| flags >> bit & 1;
        if at(ours.flags & !ignored) != at(theirs.flags & !ignored) {
            let start = at(before.flags);
            text += &format!(
                "{name}: {start} becomes {}, should {}; ",
                at(ours.flags),
                at(theirs.flags)
            );
        }
    }
    for (offset, (a, b)) in ours.window.iter().zip(&theirs.window).enumerate() {
        if a != b {
            text += &format!("window+{offset:#x}: {a:#x}, should be {b:#x}; ");
        }
    }
    match text.is_empty() {
        true => Ok(()),
        false => Err(format!("{text}from registers {:x?}", before.general)),
    }
}

/// How far a shift goes, if the instruction is one: the count as the processor takes it, and the
/// width of the operand.
fn shift_count(instruction: &Instruction, before: &State) -> Option<(u64, u64)> {
    use Mnemonic::*;
    let operand = match instruction.mnemonic() {
        Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr => 1,
        Shld | Shrd => 2,
        _ => return None,
    };
    let width = match instruction.op0_kind() {
        OpKind::Memory => instruction.memory_size().size() as u64 * 8,
        _ => instruction.op0_register().size() as u64 * 8,
    };
    let count = match instruction.op_kind(operand) {
        OpKind::Register => before.general[1],
        _ => instruction.immediate(operand),
    };
    Some((count & if width == 64 { 63 } else { 31 }, width))
}

/// Whether the manual says what the result is.
fn is_defined(instruction: &Instruction, before: &State) -> bool {
    let double = matches!(instruction.mnemonic(), Mnemonic::Shld | Mnemonic::Shrd);
    !(double && shift_count(instruction, before).is_some_and(|(count, width)| count > width))
}

/// The bits of the flags word that the manual leaves undefined.
fn undefined_flags(instruction: &Instruction, before: &State) -> u64 {
    const CARRY: u64 = 1;
    const HALF_CARRY: u64 = 1 << 4;
    const OVERFLOW: u64 = 1 << 11;
    if let Some((count, width)) = shift_count(instruction, before) {
        let rotates = matches!(
            instruction.mnemonic(),
            Mnemonic::Rol | Mnemonic::Ror | Mnemonic::Rcl | Mnemonic::Rcr
        );
        let arithmetic = instruction.mnemonic() == Mnemonic::Sar;
        let mut undefined = 0;
        undefined |= if count > 0 && !rotates { HALF_CARRY } else { 0 };
        undefined |= if count > 1 { OVERFLOW } else { 0 };
        undefined |= if count >= width && !rotates && !arithmetic { CARRY } else { 0 };
        return undefined;
    }
    let undefined = instruction.rflags_undefined();
    let bits = [
        (RflagsBits::OF, 11),
        (RflagsBits::SF, 7),
        (RflagsBits::ZF, 6),
        (RflagsBits::AF, 4),
        (RflagsBits::CF, 0),
        (RflagsBits::PF, 2),
    ];
    bits.iter().map(|(flag, bit)| u64::from(undefined & flag != 0) << bit).sum()
}
