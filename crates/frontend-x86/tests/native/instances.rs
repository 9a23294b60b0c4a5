//! Random instances of a form of instruction: operands of every kind that the form takes, made
//! by the encoder from its table of operand kinds.

use iced_x86::{Code, Encoder, EncodingKind, Instruction, OpCodeOperandKind, OpKind, Register};

use crate::random::Random;
use crate::state::{CODE, DATA, GS_BASE, WINDOW, WINDOW_SIZE};

/// One instruction, ready to run.
pub struct Instance {
    pub bytes: Vec<u8>,
}

/// Whether code for 64 bits has this form at all, with operands that are known here.
pub fn is_form(code: Code) -> bool {
    let form = code.op_code();
    let encoding = matches!(form.encoding(), EncodingKind::Legacy | EncodingKind::VEX);
    let mut random = Random::new(0);
    let mut known = |kind: &OpCodeOperandKind| operand(*kind, &mut random).is_some();
    form.is_instruction() && form.mode64() && encoding && form.op_kinds().iter().all(&mut known)
}

enum Operand {
    Register(Register),
    Memory,
    /// An address in the instruction.
    MemoryOffset,
    /// A byte of a table, by `al`.
    Table,
    Immediate(OpKind, u64),
    Branch,
    /// Said by the form and the size of addresses alone.
    Implied(OpKind),
}

impl Instance {
    /// None where the operands do not go together.
    pub fn random(code: Code, random: &mut Random) -> Option<Instance> {
        let mut instruction = Instruction::new();
        instruction.set_code(code);
        let form = code.op_code();
        let mut immediates = 0;
        for (number, kind) in form.op_kinds().iter().enumerate() {
            let number = number as u32;
            match operand(*kind, random)? {
                Operand::Register(register) => {
                    instruction.set_op_kind(number, OpKind::Register);
                    instruction.set_op_register(number, register);
                }
                Operand::Memory => {
                    instruction.set_op_kind(number, OpKind::Memory);
                    set_memory(&mut instruction, random);
                }
                Operand::MemoryOffset => {
                    instruction.set_op_kind(number, OpKind::Memory);
                    instruction.set_memory_displ_size(random.pick(&[4, 8]));
                    instruction.set_memory_displacement64(target(random));
                }
                Operand::Table => {
                    instruction.set_op_kind(number, OpKind::Memory);
                    instruction.set_memory_base(random.pick(&[Register::RBX, Register::EBX]));
                    instruction.set_memory_index(Register::AL);
                }
                Operand::Immediate(kind, value) => {
                    let second = immediates > 0 && kind == OpKind::Immediate8;
                    let kind = if second { OpKind::Immediate8_2nd } else { kind };
                    instruction.set_op_kind(number, kind);
                    instruction.set_immediate_u64(number, value);
                    immediates += 1;
                }
                Operand::Branch => {
                    instruction.set_op_kind(number, OpKind::NearBranch64);
                    instruction.set_near_branch64(CODE + 2 + random.below(120));
                }
                Operand::Implied(kind) => instruction.set_op_kind(number, kind),
            }
        }
        set_prefixes(&mut instruction, random);
        let mut encoder = Encoder::new(64);
        encoder.encode(&instruction, CODE).ok()?;
        Some(Instance { bytes: encoder.take_buffer() })
    }
}

fn set_prefixes(instruction: &mut Instruction, random: &mut Random) {
    let form = instruction.code().op_code();
    let memory =
        (0..instruction.op_count()).find(|number| instruction.op_kind(*number) == OpKind::Memory);
    if memory == Some(0) && form.can_use_lock_prefix() && random.chance(2) {
        instruction.set_has_lock_prefix(true);
    }
    if instruction.is_string_instruction() {
        match random.below(4) {
            0 if form.can_use_rep_prefix() => instruction.set_has_rep_prefix(true),
            1 if form.can_use_repne_prefix() => instruction.set_has_repne_prefix(true),
            _ => {}
        }
    }
}

/// An address in the middle of the window.
pub fn target(random: &mut Random) -> u64 {
    let offset = 64 + random.below(WINDOW_SIZE as u64 - 160);
    let aligned = if random.chance(4) { offset } else { offset & !15 };
    DATA + WINDOW + aligned
}

/// A memory operand. What its registers must hold is not its concern.
fn set_memory(instruction: &mut Instruction, random: &mut Random) {
    let segment = if random.chance(8) { Register::GS } else { Register::None };
    instruction.set_segment_prefix(segment);
    let absolute = match segment {
        Register::GS => target(random).wrapping_sub(GS_BASE),
        _ => target(random),
    };
    let small = (random.below(200) as i64 - 100) as u64;
    let (base, index): (fn(&mut Random) -> Register, _) = match random.chance(5) {
        true => (general32, general32(random)),
        false => (general64, general64(random)),
    };
    let base = base(random);
    let has_index = !matches!(index, Register::RSP | Register::ESP) && index != base;
    match random.below(8) {
        0 => {
            instruction.set_memory_displ_size(8);
            instruction.set_memory_displacement64(absolute as i32 as u64);
        }
        1 => {
            instruction.set_memory_base(Register::RIP);
            instruction.set_memory_displ_size(8);
            instruction.set_memory_displacement64(absolute);
        }
        2 if has_index => {
            instruction.set_memory_index(index);
            instruction.set_memory_index_scale(random.pick(&[1, 2, 4, 8]));
            instruction.set_memory_displ_size(if index.is_gpr32() { 4 } else { 8 });
            instruction.set_memory_displacement64(small);
        }
        3..5 if has_index => {
            instruction.set_memory_base(base);
            instruction.set_memory_index(index);
            instruction.set_memory_index_scale(random.pick(&[1, 2, 4, 8]));
            instruction.set_memory_displ_size(1);
            instruction.set_memory_displacement64(small);
        }
        5 => {
            instruction.set_memory_base(base);
            instruction.set_memory_displ_size(1);
            instruction.set_memory_displacement64(random.word() as i32 as u64);
        }
        _ => {
            instruction.set_memory_base(base);
            instruction.set_memory_displ_size(1);
            instruction.set_memory_displacement64(small);
        }
    }
    if base.is_gpr32() && instruction.memory_displacement64() >> 32 != 0 {
        let low = instruction.memory_displacement64() as u32;
        instruction.set_memory_displacement64(low.into());
    }
}

fn numbered(first: Register, random: &mut Random) -> Register {
    first + random.below(16) as u32
}

/// The stack pointer somewhat more often than others.
fn general64(random: &mut Random) -> Register {
    if random.chance(8) { Register::RSP } else { numbered(Register::RAX, random) }
}

fn general32(random: &mut Random) -> Register {
    numbered(Register::EAX, random)
}

fn operand(kind: OpCodeOperandKind, random: &mut Random) -> Option<Operand> {
    use OpCodeOperandKind::*;
    if let Some((register, memory)) = register_operand(kind, random) {
        let in_memory = memory && random.chance(2);
        return Some(if in_memory { Operand::Memory } else { Operand::Register(register) });
    }
    let number = random.number();
    let wide = random.chance(4);
    let either = |narrow, full| Operand::Implied(if wide { narrow } else { full });
    let byte = number as i8 as u64;
    Some(match kind {
        mem => Operand::Memory,
        mem_offs => Operand::MemoryOffset,
        seg_rBX_al => Operand::Table,
        imm8 => Operand::Immediate(OpKind::Immediate8, number & 0xff),
        imm8_const_1 => Operand::Immediate(OpKind::Immediate8, 1),
        imm8sex16 => Operand::Immediate(OpKind::Immediate8to16, byte),
        imm8sex32 => Operand::Immediate(OpKind::Immediate8to32, byte),
        imm8sex64 => Operand::Immediate(OpKind::Immediate8to64, byte),
        imm16 => Operand::Immediate(OpKind::Immediate16, number & 0xffff),
        imm32 => Operand::Immediate(OpKind::Immediate32, number & 0xffff_ffff),
        imm32sex64 => Operand::Immediate(OpKind::Immediate32to64, number as i32 as u64),
        imm64 => Operand::Immediate(OpKind::Immediate64, number),
        br64_1 | br64_4 => Operand::Branch,
        seg_rSI => either(OpKind::MemorySegESI, OpKind::MemorySegRSI),
        es_rDI => either(OpKind::MemoryESEDI, OpKind::MemoryESRDI),
        _ => return Option::None,
    })
}

/// A register for an operand, and whether memory would do too.
fn register_operand(kind: OpCodeOperandKind, random: &mut Random) -> Option<(Register, bool)> {
    use OpCodeOperandKind::*;
    let low = [Register::AL, Register::AH, Register::CL, Register::BH, Register::R9L];
    let register = match kind {
        r8_or_mem | r8_reg | r8_opcode if random.chance(2) => random.pick(&low),
        r8_or_mem | r8_reg | r8_opcode => Register::AL + random.below(20) as u32,
        r16_or_mem | r16_reg | r16_opcode | r16_rm => numbered(Register::AX, random),
        r32_or_mem | r32_reg | r32_opcode | r32_rm | r32_vvvv => general32(random),
        r64_or_mem | r64_reg | r64_opcode | r64_rm | r64_vvvv => general64(random),
        xmm_or_mem | xmm_reg | xmm_rm | xmm_vvvv => numbered(Register::XMM0, random),
        al => Register::AL,
        cl => Register::CL,
        ax => Register::AX,
        eax => Register::EAX,
        rax => Register::RAX,
        _ => return Option::None,
    };
    let memory = matches!(kind, r8_or_mem | r16_or_mem | r32_or_mem | r64_or_mem | xmm_or_mem);
    Some((register, memory))
}
