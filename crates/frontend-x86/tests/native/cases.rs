//! States to start from: numbers at the edge of something, addresses that lead into the window.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::instances::{Instance, target};
use crate::random::Random;
use crate::state::{DATA, GS_BASE, State, WINDOW, WINDOW_SIZE};

/// A state in which the instance is likely to do something of interest.
pub fn state_for(instance: &Instance, random: &mut Random) -> State {
    let instruction = crate::decode(&instance.bytes);
    let mut state = State::zero();
    state.general = std::array::from_fn(|_| random.number());
    state.flags = random.word() & 0xcd5;
    state.vector = std::array::from_fn(|_| vector(random));
    if random.chance(4) {
        state.vector[random.below(16) as usize] = state.vector[random.below(16) as usize];
    }
    fill_window(&mut state, random);
    set_up_implied(&instruction, &mut state, random);
    if let Some(address) = point_into_window(&instruction, &mut state, random) {
        set_up_comparison(&instruction, &mut state, address, random);
    }
    state
}

fn vector(random: &mut Random) -> u128 {
    let lanes: [u64; 2] = match random.below(4) {
        0 => std::array::from_fn(|_| random.number()),
        1 => std::array::from_fn(|_| random.double()),
        2 => std::array::from_fn(|_| u64::from(random.single()) << 32 | u64::from(random.single())),
        _ => std::array::from_fn(|_| random.word() & random.word()),
    };
    u128::from(lanes[1]) << 64 | u128::from(lanes[0])
}

fn fill_window(state: &mut State, random: &mut Random) {
    if random.chance(4) {
        let byte = random.number() as u8;
        state.window.fill(byte);
        state.window[random.below(WINDOW_SIZE as u64) as usize] ^= 1;
        return;
    }
    for chunk in state.window.chunks_mut(16) {
        chunk.copy_from_slice(&vector(random).to_le_bytes());
    }
}

/// Registers that an instruction uses without naming them.
fn set_up_implied(instruction: &Instruction, state: &mut State, random: &mut Random) {
    const RAX: usize = 0;
    const RCX: usize = 1;
    const RDX: usize = 2;
    const RSP: usize = 4;
    const RBP: usize = 5;
    const RSI: usize = 6;
    const RDI: usize = 7;
    if instruction.stack_pointer_increment() != 0 || instruction.is_stack_instruction() {
        state.general[RSP] = target(random) & !1;
    }
    if instruction.is_string_instruction() {
        state.general[RSI] = target(random);
        state.general[RDI] = target(random);
        state.general[RCX] = random.below(7);
    }
    match instruction.mnemonic() {
        Mnemonic::Leave => state.general[RBP] = target(random),
        Mnemonic::Div | Mnemonic::Idiv if !random.chance(4) => {
            state.general[RDX] =
                random.pick(&[0, 1, 2, u64::MAX, (state.general[RAX] as i64 >> 63) as u64]);
        }
        Mnemonic::Popf | Mnemonic::Popfq => {
            let at = (state.general[RSP] - DATA - WINDOW) as usize;
            let word = random.word() & 0xcd5 | 0x202;
            state.window[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        _ => {}
    }
}

fn number_of(register: Register) -> Option<usize> {
    register.is_gpr().then(|| register.full_register().number())
}

/// Makes the registers of a memory operand lead into the window, and says where.
fn point_into_window(
    instruction: &Instruction,
    state: &mut State,
    random: &mut Random,
) -> Option<u64> {
    let is_memory = |number| instruction.op_kind(number) == OpKind::Memory;
    let unused = instruction.mnemonic() == Mnemonic::Lea && !random.chance(4);
    if unused || !(0..instruction.op_count()).any(is_memory) {
        return None;
    }
    let (base, index) = (instruction.memory_base(), instruction.memory_index());
    let displacement = instruction.memory_displacement64();
    let segment = if instruction.memory_segment() == Register::GS { GS_BASE } else { 0 };
    let scale = u64::from(instruction.memory_index_scale());
    let address = target(random);
    let bits = bit_string_offset(instruction, state, random);
    let rest = address.wrapping_sub(segment).wrapping_sub(displacement).wrapping_sub(bits);
    match (number_of(base), number_of(index)) {
        (None, None) => return Some(displacement.wrapping_add(segment)),
        (None, Some(index)) => {
            let rest = rest.wrapping_add(bits);
            state.general[index] = rest / scale;
            return Some(address - rest % scale);
        }
        (Some(base), None) => state.general[base] = rest,
        (Some(base), Some(0)) if index == Register::AL => {
            state.general[base] = rest.wrapping_sub(state.general[0] & 0xff);
        }
        (Some(base), Some(index)) => {
            let offset = state.general[index].wrapping_mul(scale);
            state.general[base] = rest.wrapping_sub(offset);
        }
    }
    if base.is_gpr32() {
        let number = base.full_register().number();
        state.general[number] = state.general[number] & 0xffff_ffff | random.word() << 32;
    }
    Some(address)
}

/// How many bytes away from its operand a bit test looks, if a register says so.
fn bit_string_offset(instruction: &Instruction, state: &mut State, random: &mut Random) -> u64 {
    use Mnemonic::{Bt, Btc, Btr, Bts};
    let register = instruction.op1_register();
    let tests = matches!(instruction.mnemonic(), Bt | Btc | Btr | Bts);
    let Some(number) = number_of(register).filter(|_| tests) else {
        return 0;
    };
    if number_of(instruction.memory_base()).is_none() {
        state.general[number] = (random.below(1000) as i64 - 500) as u64;
    }
    let index = match register.size() {
        2 => state.general[number] as i16 as i64,
        4 => state.general[number] as i32 as i64,
        _ => state.general[number] as i64,
    };
    let bytes = register.size() as i64;
    (index.div_euclid(8 * bytes) * bytes) as u64
}

/// Comparisons succeed half of the time.
fn set_up_comparison(
    instruction: &Instruction,
    state: &mut State,
    address: u64,
    random: &mut Random,
) {
    let compares = matches!(
        instruction.mnemonic(),
        Mnemonic::Cmpxchg | Mnemonic::Cmpxchg8b | Mnemonic::Cmpxchg16b
    );
    let Some(at) = address.checked_sub(DATA + WINDOW).filter(|_| compares && random.chance(2))
    else {
        return;
    };
    let word = |at: usize| {
        let bytes = state.window.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        u64::from_le_bytes(bytes.unwrap_or_default())
    };
    let half = instruction.memory_size().size() / 2;
    let (low, high) = (word(at as usize), word(at as usize + half));
    let uses = |number| {
        number_of(instruction.memory_base()) == Some(number)
            || number_of(instruction.memory_index()) == Some(number)
    };
    if !uses(0) {
        state.general[0] = low;
    }
    if !uses(2) && instruction.mnemonic() != Mnemonic::Cmpxchg {
        state.general[2] = high;
    }
}
