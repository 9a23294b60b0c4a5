//! The threads of a test, whatever language they are written in.

use parallax_program::{FunctionId, Program, ThreadStart, VarId};

use crate::asm::AsmThreads;
use crate::c::CThreads;

/// A register or local variable as a condition sees it.
#[derive(Clone, Copy, Debug)]
pub struct RegisterView {
    /// Position among the program's threads.
    pub thread: u32,
    pub var: VarId,
    /// Bits observed, from the lowest on.
    pub width: u32,
    pub signed: bool,
    /// Whether the width comes from a declared type.
    pub typed: bool,
}

/// Why a condition cannot name a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegisterError {
    NoThread,
    NoRegister,
    /// Such as `AH`.
    NotAtBottom,
}

pub enum Threads {
    Asm(AsmThreads),
    C(CThreads),
}

impl Threads {
    /// What the condition calls `number:name`.
    pub fn register(&mut self, number: u32, name: &str) -> Result<RegisterView, RegisterError> {
        match self {
            Threads::Asm(threads) => threads.register(number, name),
            Threads::C(threads) => local(threads, number, name),
        }
    }

    /// Moves functions and threads into the program.
    pub fn finish(self, program: &mut Program) {
        match self {
            Threads::Asm(threads) => {
                for (number, function) in threads.finish() {
                    let id = FunctionId(program.functions.len() as u32);
                    program.functions.push(function);
                    program.threads.push(ThreadStart {
                        name: format!("P{number}"),
                        function: id,
                        args: Vec::new(),
                    });
                }
            }
            Threads::C(threads) => {
                program.functions = threads.functions;
                program.threads = threads.threads.into_iter().map(|t| t.start).collect();
            }
        }
    }
}

fn local(threads: &CThreads, number: u32, name: &str) -> Result<RegisterView, RegisterError> {
    let mut threads = threads.threads.iter().enumerate();
    let found = threads.find(|(_, thread)| thread.number == number);
    let (index, thread) = found.ok_or(RegisterError::NoThread)?;
    let local = thread.locals.get(name).ok_or(RegisterError::NoRegister)?;
    Ok(RegisterView {
        thread: index as u32,
        var: local.var,
        width: local.ty.bytes * 8,
        signed: local.ty.signed,
        typed: true,
    })
}
