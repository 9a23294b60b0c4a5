//! The machine of Parallax on lifted code.

use std::collections::HashMap;

use iced_x86::Instruction;
use parallax_frontend_x86::lift::{Flow, Sequence, Target, lift, registers, remove_dead};
use parallax_machine::{Code, Concrete, Limits, Operation, Thread, modify};
use parallax_program::{
    AccessSize, Bits, Expr, Function, FunctionId, InstKind, Program, SourceFile, Terminator, VarId,
};

use crate::instances::Instance;
use crate::state::{DATA, FLAG_BITS, GS_BASE, PAGE, State, WINDOW, WINDOW_SIZE};

/// An instruction and what the lifter made of it.
pub struct Lifted {
    pub instruction: Instruction,
    pub bytes: Vec<u8>,
    /// The lifted code, and the same without what is dead.
    programs: [Program; 2],
    /// Where the address of the next instruction is.
    next: VarId,
}

/// How the lifted code left the machine.
#[derive(Clone)]
pub enum Outcome {
    Done { state: Box<State>, outside: bool },
    Fault(String),
}

impl Lifted {
    /// None where the lifter refuses.
    pub fn of(instance: &Instance) -> Option<Lifted> {
        let instruction = crate::decode(&instance.bytes);
        let mut out = Sequence::new("instruction");
        let flow = lift(&instruction, &mut out).ok()?;
        let next = out.builder().temp(64);
        let address = |value: u64| Expr::constant(64, value.into());
        let value = match flow {
            Flow::Next => address(instruction.next_ip()),
            Flow::Jump(target) | Flow::Call(Target::Direct(target)) => address(target),
            Flow::Branch { condition, taken } => {
                condition.select(address(taken), address(instruction.next_ip()))
            }
            Flow::IndirectJump(target)
            | Flow::Call(Target::Indirect(target))
            | Flow::Return { address: target } => target,
            Flow::Trap(what) => {
                let what = what.to_string();
                out.builder().emit(InstKind::Unsupported { what });
                address(0)
            }
            Flow::Syscall => address(0),
        };
        out.builder().assign(next, value);
        out.builder().terminate(Terminator::Return(None));
        let function = out.finish();
        let mut clean = function.clone();
        remove_dead(&mut clean);
        let programs = [function, clean].map(runnable);
        Some(Lifted { instruction, bytes: instance.bytes.clone(), programs, next })
    }

    pub fn run(&self, state: &State) -> Outcome {
        run(&self.programs[0], self.next, state)
    }

    /// All but the status flags is the same without what is dead.
    pub fn run_clean(&self, state: &State) -> Outcome {
        run(&self.programs[1], self.next, state)
    }
}

/// A program of one function, whose parameters are the registers.
pub fn runnable(function: Function) -> Program {
    let mut program = Program::new("native", 64, SourceFile::new("native", ""));
    program.registers = registers::registers();
    program.functions.push(function);
    assert_eq!(program.check(), Ok(()), "{}", program.to_text());
    let function = &mut program.functions[0];
    function.registers = false;
    function.params = registers::COUNT;
    program
}

/// Runs the function of a program; the address of the next instruction is in a variable.
pub fn run(program: &Program, next: VarId, state: &State) -> Outcome {
    let code = Code::new(program);
    let (mut domain, limits) = (Concrete, Limits::default());
    let mut memory = Memory::new(state);
    let mut thread = Thread::start(&code, FunctionId(0), arguments(state), &mut domain);
    loop {
        let result = match thread.run(&code, &limits, &mut domain) {
            Operation::End => break,
            Operation::Fence { .. } => {
                thread.done();
                continue;
            }
            Operation::Load { address, size, .. } => memory.load(address, size).map(|old| {
                thread.result(&code, old);
            }),
            Operation::Store { address, value, size, .. } => {
                memory.store(address, size, value).map(|()| thread.done())
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                memory.load(address, size).and_then(|old| {
                    let new = modify(op, &old, &operand, &mut domain);
                    memory.store(address, size, new)?;
                    thread.result(&code, old);
                    Some(())
                })
            }
            Operation::Cas { address, expected, desired, size, .. } => {
                memory.load(address, size).and_then(|old| {
                    let ok = old == expected;
                    memory.store(address, size, if ok { desired } else { old })?;
                    thread.results(&code, old, Some(Bits::bool(ok)));
                    Some(())
                })
            }
            Operation::Assert { message, .. } => return Outcome::Fault(message.to_string()),
            other => return Outcome::Fault(format!("{other:?}")),
        };
        if result.is_none() {
            return Outcome::Fault("no memory".to_string());
        }
    }
    let value = |var: VarId| thread.variable(var).map_or(0, |value| value.unsigned());
    let general = std::array::from_fn(|number| value(VarId(number as u32)) as u64);
    let vector = std::array::from_fn(|number| value(VarId(registers::XMM0.0 + number as u32)));
    let flag = |(number, (_, bit)): (usize, &(&str, u32))| {
        value(VarId(registers::CF.0 + number as u32)) as u64 * (1 << bit)
    };
    let flags = FLAG_BITS.iter().enumerate().map(flag).sum();
    let window = memory.window();
    let state = State { general, rip: value(next) as u64, flags, vector, window };
    Outcome::Done { state: Box::new(state), outside: memory.written_outside }
}

/// The values of all registers, in order.
fn arguments(state: &State) -> Vec<Bits> {
    let word = |value: u64| Bits::new(64, value.into());
    let general = state.general.iter().map(|value| word(*value));
    let flags = FLAG_BITS.iter().map(|(_, bit)| Bits::bool(state.flags >> bit & 1 == 1));
    let vectors = state.vector.iter().map(|value| Bits::new(128, *value));
    let control = Bits::new(32, 0x1f80);
    general.chain([word(0), word(GS_BASE)]).chain(flags).chain(vectors).chain([control]).collect()
}

/// One page; there is nothing around it.
struct Memory {
    bytes: HashMap<u64, u8>,
    written_outside: bool,
}

impl Memory {
    fn new(state: &State) -> Memory {
        let bytes = state.window.iter().enumerate();
        let bytes = bytes.map(|(offset, byte)| (DATA + WINDOW + offset as u64, *byte)).collect();
        Memory { bytes, written_outside: false }
    }

    fn window(&self) -> [u8; WINDOW_SIZE] {
        std::array::from_fn(|offset| self.byte(DATA + WINDOW + offset as u64))
    }

    fn byte(&self, address: u64) -> u8 {
        self.bytes.get(&address).copied().unwrap_or(0)
    }

    /// The bytes of an access, if they are there.
    fn place(address: Bits, size: AccessSize) -> Option<impl Iterator<Item = u64>> {
        let first = address.unsigned() as u64;
        let end = first.checked_add(size.bytes().into())?;
        (first >= DATA && end <= DATA + PAGE).then_some(first..end)
    }

    fn load(&self, address: Bits, size: AccessSize) -> Option<Bits> {
        let bytes = Memory::place(address, size)?;
        let value = bytes.enumerate().map(|(n, at)| u128::from(self.byte(at)) << (8 * n)).sum();
        Some(Bits::new(size.bits(), value))
    }

    fn store(&mut self, address: Bits, size: AccessSize, value: Bits) -> Option<()> {
        for (number, at) in Memory::place(address, size)?.enumerate() {
            let byte = (value.unsigned() >> (8 * number)) as u8;
            self.bytes.insert(at, byte);
            let offset = at.wrapping_sub(DATA + WINDOW);
            self.written_outside |= offset >= WINDOW_SIZE as u64 && byte != 0;
        }
        Some(())
    }
}
