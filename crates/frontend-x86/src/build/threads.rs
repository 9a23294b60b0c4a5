//! What a thread has of its own: a stack, thread-local variables, the registers that point to
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use iced_x86::{OpKind, Register};
use parallax_program::{
    AccessSize, AllocKind, Callee, Expr, Function, FunctionBuilder, FunctionId, Inst, InstKind,
    Program, Shape, Tags, Terminator, VarId,
};

use super::callbacks::behind;
use crate::code::Reachable;
use crate::elf::{Image, ThreadLocal};
use crate::lift::registers::{self, FS_BASE, MXCSR, RSP};

const STACK: u64 = 64 << 10;
/// Room for what the C library keeps above the thread pointer.
const CONTROL_BLOCK: u64 = 128;
/// What stack canaries are; the lowest byte is 0, as it is in the C library.
const CANARY: u64 = 0x5ee5_1ab1_e0dd_c700;
/// What floating-point control is at the start: all exceptions masked.
const CONTROL: u128 = 0x1f80;

/// Where the control block has the address of itself …
const SELF: [u64; 2] = [0, 0x10];
/// … and the canary.
const CANARY_PLACE: u64 = 0x28;

/// What the threads of a program make use of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    variables: ThreadLocal,
    /// The words above the thread pointer that code refers to, if it refers to any memory there.
    words: Vec<u64>,
    any: bool,
}

impl Needs {
    pub fn of(image: &Image, code: &Reachable) -> Needs {
        let mut needs =
            Needs { variables: image.thread_local.clone(), words: Vec::new(), any: false };
        needs.any = needs.variables.size > 0;
        for instruction in code.functions.values().flat_map(|function| function.instructions()) {
            let operands = 0..instruction.op_count();
            let memory = operands.into_iter().any(|n| instruction.op_kind(n) == OpKind::Memory);
            if !memory || instruction.segment_prefix() != Register::FS {
                continue;
            }
            needs.any = true;
            let plain = instruction.memory_base() == Register::None
                && instruction.memory_index() == Register::None;
            match plain {
                true => needs.words.push(instruction.memory_displacement64()),
                false => needs.words.extend(SELF.into_iter().chain([CANARY_PLACE])),
            }
        }
        needs.words.sort_unstable();
        needs.words.dedup();
        needs
    }
}

/// Gives each thread that is started a stack before it runs.
pub fn prepare(program: &mut Program, needs: &Needs) {
    let mut made: BTreeMap<FunctionId, FunctionId> = BTreeMap::new();
    for function in spawned(program) {
        let id = FunctionId(program.functions.len() as u32);
        let mut name = "thread".to_string();
        while program.functions.iter().any(|known| known.name == name) {
            name.push('\'');
        }
        let wrapper = beginning(&name, program.function(function), function, needs);
        program.functions.push(wrapper);
        made.insert(function, id);
    }
    let functions = program.functions.iter_mut();
    for inst in functions.flat_map(|function| &mut function.blocks).flat_map(|b| &mut b.insts) {
        if let InstKind::Spawn { callee: Callee::Direct(function), .. } = &mut inst.kind
            && let Some(wrapper) = made.get(function)
        {
            *function = *wrapper;
        }
    }
}

/// The functions that threads start in.
fn spawned(program: &Program) -> BTreeSet<FunctionId> {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let spawn = |inst: &Inst| match &inst.kind {
        InstKind::Spawn { callee: Callee::Direct(function), .. } => Some(*function),
        _ => None,
    };
    blocks.flat_map(|block| &block.insts).filter_map(spawn).collect()
}

/// A function that sets a thread up and then does what the other does.
fn beginning(name: &str, callee: &Function, id: FunctionId, needs: &Needs) -> Function {
    let span = callee.blocks.first().map(|block| block.terminator_span).unwrap_or_default();
    let mut builder = FunctionBuilder::new(name);
    builder.at(span);
    let params = callee.vars.iter().take(callee.params as usize);
    let params: Vec<VarId> =
        params.map(|param| builder.param(&format!("{} ", param.name), param.width)).collect();
    for register in registers::registers() {
        builder.var(&register.name, register.width);
    }
    set_up(&mut builder, params.len(), needs);
    let args = params.into_iter().map(Expr::Var).collect();
    let dst = callee.result.map(|width| {
        builder.set_result(width);
        builder.var("result", width)
    });
    builder.emit(InstKind::Call { dst, callee: Callee::Direct(id), args });
    builder.terminate(Terminator::Return(dst.map(Expr::Var)));
    Function { registers: true, ..builder.finish() }
}

/// Makes the stack and the thread-local variables of a thread, in a function with so many
/// parameters before the registers. The stack pointer is at the end of the stack, where a
/// return address would be.
pub fn set_up(builder: &mut FunctionBuilder, params: usize, needs: &Needs) {
    let register = |register: VarId| behind(params, register);
    let stack = builder.var("stack", 64);
    let size = Expr::constant(64, STACK.into());
    allocate(builder, stack, size, 16, "stack");
    let top = Expr::Var(stack) + Expr::constant(64, u128::from(STACK) - 8);
    builder.assign(register(RSP), top);
    builder.assign(register(MXCSR), Expr::constant(32, CONTROL));
    if needs.any {
        set_up_variables(builder, register(FS_BASE), needs);
    }
}

fn allocate(builder: &mut FunctionBuilder, dst: VarId, size: Expr, align: u32, name: &str) {
    let shape = Shape::Struct { name: name.to_string(), fields: Vec::new() };
    builder.emit(InstKind::Alloc {
        dst,
        size,
        align,
        kind: AllocKind::Stack,
        zeroed: true,
        shape: Some(Arc::new(shape)),
    });
}

fn set_up_variables(builder: &mut FunctionBuilder, base: VarId, needs: &Needs) {
    let block = builder.var("thread-local", 64);
    let below = needs.variables.size;
    let size = Expr::constant(64, u128::from(below + CONTROL_BLOCK));
    allocate(builder, block, size, needs.variables.align.max(64), "thread-local");
    builder.assign(base, Expr::Var(block) + Expr::constant(64, below.into()));
    let mut store = |offset: u64, value: Expr| {
        builder.emit(InstKind::Store {
            address: Expr::Var(block) + Expr::constant(64, offset.into()),
            value,
            size: AccessSize::DOUBLE,
            tags: Tags::none(),
        });
    };
    for (number, word) in needs.variables.data.chunks(8).enumerate() {
        let value = word.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte));
        if value != 0 {
            store(number as u64 * 8, Expr::constant(64, value));
        }
    }
    for word in &needs.words {
        match *word {
            word if SELF.contains(&word) => store(below + word, Expr::Var(base)),
            CANARY_PLACE => store(below + CANARY_PLACE, Expr::constant(64, CANARY.into())),
            _ => {}
        }
    }
}
