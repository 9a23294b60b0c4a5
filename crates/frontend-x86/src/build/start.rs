//! How a program starts: what the system and the C library do before `main`.

use iced_x86::{FlowControl, Mnemonic, Register};
use parallax_program::{
    AccessSize, Callee, Cell, Expr, Function, FunctionBuilder, Global, GlobalId, InstKind, Program,
    Tags, Terminator,
};

use super::Builder;
use super::callbacks::with_registers;
use super::foreign::ends_thread;
use super::threads::{Needs, set_up};
use crate::code::{Calls, Constants, Reachable, decode};
use crate::elf::{Image, Loaded};
use crate::lift::registers::{RAX, RDI, RDX, RSI, RSP};

/// Where the first thread begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// `main`, after the constructors.
    Main(u64),
    /// The first instruction of a program that does without the C library.
    Bare(u64),
}

/// The command line, in memory.
pub struct Arguments {
    count: u64,
    vector: Expr,
    environment: Expr,
    /// The addresses of the texts.
    texts: Vec<Expr>,
}

pub fn beginning(image: &Image, calls: &Calls<'_>) -> Loaded<Beginning> {
    if let Some(main) = image.symbols.function("main") {
        return Ok(Beginning::Main(main));
    }
    let start = image.entry.or_else(|| image.symbols.function("_start"));
    let start = start.ok_or("there is no function 'main'")?;
    if !image.is_code(start) {
        return Err(format!("the program starts at {start:#x}, where there is no code"));
    }
    Ok(main_after(image, calls, start).map_or(Beginning::Bare(start), Beginning::Main))
}

/// The `main` that start-up code hands to the C library.
fn main_after(image: &Image, calls: &Calls<'_>, start: u64) -> Option<u64> {
    const LONGEST: usize = 32;
    let mut constants = Constants::new();
    let mut next = start;
    for _ in 0..LONGEST {
        let instruction = decode(image, next).ok()?;
        let target = match instruction.flow_control() {
            FlowControl::Call if instruction.mnemonic() == Mnemonic::Call => {
                Some(instruction.near_branch_target())
            }
            FlowControl::IndirectCall => calls.slot(&instruction),
            FlowControl::Next => None,
            _ => return None,
        };
        if let Some(name) = target.and_then(|target| calls.foreign(target))
            && name == "__libc_start_main"
        {
            let main = constants.get(Register::RDI)?;
            return image.is_code(main).then_some(main);
        }
        constants.step(&instruction);
        next = instruction.next_ip();
    }
    None
}

impl Beginning {
    /// Whether the process ends with the first thread: `main` returns, and does not end its
    /// thread alone.
    pub fn ends_all(&self, calls: &Calls<'_>, code: &Reachable) -> bool {
        let (Beginning::Main(first) | Beginning::Bare(first)) = self;
        let instructions = code.functions.get(first).into_iter().flat_map(|f| f.instructions());
        let mut called = instructions.filter_map(|instruction| calls.called(instruction));
        !called.any(ends_thread)
    }

    /// The functions that are called.
    pub fn entries(&self, image: &Image) -> Vec<u64> {
        match self {
            Beginning::Main(main) => {
                let constructors = image.constructors.iter().copied();
                constructors.chain([*main]).collect()
            }
            Beginning::Bare(start) => vec![*start],
        }
    }
}

/// The name of the program and what was given, as texts in memory.
pub fn arguments(program: &mut Program, name: &str, given: &[String]) -> Arguments {
    let all = std::iter::once(name).chain(given.iter().map(String::as_str));
    let mut texts = Vec::new();
    for (number, text) in all.enumerate() {
        let mut global = Global::zeroed(&format!("argv[{number}]"), text.len() as u64 + 1, 1);
        let bytes = (0..).zip(text.bytes());
        let cell = |(offset, byte): (u64, u8)| Cell {
            offset,
            width: 8,
            value: Expr::constant(8, byte.into()),
        };
        global.init = bytes.map(cell).collect();
        texts.push(add(program, global));
    }
    let mut vector = Global::zeroed("argv", 8 * (texts.len() as u64 + 1), 8);
    let places = (0..).step_by(8).zip(&texts);
    let cell = |(offset, text): (u64, &Expr)| Cell { offset, width: 64, value: text.clone() };
    vector.init = places.map(cell).collect();
    let vector = add(program, vector);
    let environment = add(program, Global::zeroed("envp", 8, 8));
    Arguments { count: texts.len() as u64, vector, environment, texts }
}

fn add(program: &mut Program, mut global: Global) -> Expr {
    while program.globals.iter().any(|known| known.name == global.name) {
        global.name.push('\'');
    }
    program.globals.push(global);
    Expr::Address(GlobalId(program.globals.len() as u32 - 1))
}

impl Builder<'_> {
    /// The function that the first thread runs.
    pub fn start(
        &mut self,
        beginning: &Beginning,
        needs: &Needs,
        arguments: Arguments,
    ) -> Function {
        let span = self.listing.heading("(start of the program)");
        let name = self.unused("start");
        let (mut builder, _) = with_registers(&name, &[], span);
        set_up(&mut builder, 0, needs);
        match beginning {
            Beginning::Main(main) => self.start_main(&mut builder, *main, &arguments),
            Beginning::Bare(start) => {
                push_arguments(&mut builder, &arguments);
                self.call(&mut builder, *start);
            }
        }
        builder.terminate(Terminator::Return(None));
        Function { registers: true, ..builder.finish() }
    }

    fn start_main(&self, builder: &mut FunctionBuilder, main: u64, arguments: &Arguments) {
        let top = builder.var("first rsp", 64);
        builder.assign(top, Expr::Var(RSP));
        for function in self.image.constructors.iter().chain([&main]) {
            builder.assign(RSP, Expr::Var(top));
            builder.assign(RDI, Expr::constant(64, arguments.count.into()));
            builder.assign(RSI, arguments.vector.clone());
            builder.assign(RDX, arguments.environment.clone());
            self.call(builder, *function);
        }
        let registers_handlers = self.calls.modelled().any(|(_, name)| name == "atexit")
            || self.image.foreign.iter().any(|(_, name)| name == "atexit");
        if registers_handlers {
            let callee = Callee::External("exit".to_string());
            let args = vec![Expr::Var(RAX).extract(0, 32)];
            builder.emit(InstKind::Call { dst: None, callee, args });
        }
    }

    fn call(&self, builder: &mut FunctionBuilder, target: u64) {
        let target = self.calls.behind(target);
        match self.ids.get(&target) {
            Some(id) => {
                let callee = Callee::Direct(*id);
                builder.emit(InstKind::Call { dst: None, callee, args: Vec::new() });
            }
            None => builder.emit(InstKind::Unsupported {
                what: format!("a start at {target:#x}, which is no code of the program"),
            }),
        }
    }
}

/// What the system puts on the stack: the number of arguments, the arguments, a 0, the
/// environment and a 0, and no further information.
fn push_arguments(builder: &mut FunctionBuilder, arguments: &Arguments) {
    let words = arguments.texts.len() as u64 + 6;
    let room = (words * 8).next_multiple_of(16) + 8;
    builder.assign(RSP, Expr::Var(RSP) - Expr::constant(64, u128::from(room - 16)));
    let count = Expr::constant(64, arguments.count.into());
    let values = std::iter::once(&count).chain(&arguments.texts);
    for (number, value) in values.enumerate() {
        builder.emit(InstKind::Store {
            address: Expr::Var(RSP) + Expr::constant(64, 8 * number as u128),
            value: value.clone(),
            size: AccessSize::DOUBLE,
            tags: Tags::none(),
        });
    }
}
