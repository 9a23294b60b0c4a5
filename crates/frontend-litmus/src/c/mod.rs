//! C tests: C11 and the Linux kernel's dialect.
//!
//! Threads are functions `P0`, `P1`, … whose parameters are the addresses of the test's shared
//! variables, by name. The text is parsed (`lexer`, `parser`, `ast`) and lowered thread by
//! thread (`lower`); `atomics` and `kernel` know what the two libraries' functions do.

mod ast;
mod atomics;
mod kernel;
mod lexer;
mod lower;
mod parser;
mod shared;
mod types;

use std::collections::HashMap;

use parallax_program::{
    AccessSize, Diagnostics, Function, FunctionId, SourceFile, Span, ThreadStart, VarId,
};

use crate::MAX_ERRORS;
use crate::globals::Globals;
use crate::init::RegisterInit;
use crate::types::ScalarType;
use ast::{FunctionDef, Stmt, StmtKind};
use lexer::Token;
use lower::{Lowering, Unit};
use types::CType;

/// What the C front end is given.
pub struct CContext<'a> {
    pub source: &'a SourceFile,
    /// Where the functions stand in the source: all between the initial state and the
    /// final condition. `(* … *)` comments may stand between functions.
    pub functions: Span,
    /// Locations that the initial state mentions, with the types declared there. Parameters
    /// of threads name more of them, or give untyped ones their type ([`Globals::declare`]).
    pub globals: &'a mut Globals,
    /// `0:r1=3` in the initial state.
    pub registers: &'a [RegisterInit],
    /// Kernel dialect, as decided by [`is_kernel`].
    pub kernel: bool,
}

/// What the C front end gives back.
#[derive(Default, Debug)]
pub struct CThreads {
    pub functions: Vec<Function>,
    /// In order of their numbers; `start.function` counts in `functions`.
    pub threads: Vec<CThread>,
}

#[derive(Debug)]
pub struct CThread {
    /// 1 for `P1`.
    pub number: u32,
    pub start: ThreadStart,
    /// Variables of the thread's function that a condition may name.
    pub locals: HashMap<String, CLocal>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CLocal {
    pub var: VarId,
    pub ty: ScalarType,
}

/// Whether the functions use the Linux kernel's primitives rather than C11's.
pub fn is_kernel(text: &str) -> bool {
    let source = SourceFile::new("", text);
    let tokens = lexer::tokens(&source, 0..text.len(), &mut Vec::new());
    let mut kernel = false;
    for token in &tokens {
        if let Token::Name(name) = token.token {
            if name.starts_with("memory_order") || atomics::is_atomic_function(name) {
                return false;
            }
            kernel |= kernel::is_kernel_name(name);
        }
    }
    kernel
}

/// Turns the functions of a C test into functions of the program.
pub fn parse_threads(context: &mut CContext<'_>) -> Result<CThreads, Diagnostics> {
    let mut errors = Vec::new();
    let range = context.functions.start as usize..context.functions.end as usize;
    let functions = parser::parse(context.source, range, &mut errors);
    let (mut threads, helpers): (Vec<_>, Vec<_>) =
        functions.iter().partition(|function| function.thread().is_some());
    threads.sort_by_key(|thread| thread.thread());
    check(context, &threads, &helpers, &mut errors);
    let cell = shared::declare(context.source, &threads, context.globals, &mut errors);
    let (mut lowered, confused) = lower_all(context, &threads, &helpers, cell, &mut errors);
    if errors.is_empty()
        && confused
        && cell.is_none()
        && let Some(cell) = shared::widen(&threads, context.globals)
    {
        (lowered, _) = lower_all(context, &threads, &helpers, Some(cell), &mut errors);
    }
    if errors.is_empty() {
        return Ok(lowered);
    }
    // Functions that are called twice are looked at twice.
    let mut seen = Vec::new();
    errors.retain(|error| {
        let new = !seen.contains(error);
        if new && seen.len() < MAX_ERRORS {
            seen.push(error.clone());
        }
        new
    });
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// Each thread and function is there once, and there is something to run.
fn check(
    context: &CContext<'_>,
    threads: &[&FunctionDef],
    helpers: &[&FunctionDef],
    errors: &mut Diagnostics,
) {
    let source = context.source;
    let mut names = HashMap::new();
    for function in threads.iter().chain(helpers) {
        if names.insert(function.name.as_str(), function.span).is_some() {
            let message = format!("'{}' is defined twice", function.name);
            errors.push(source.error(function.span, message));
        }
    }
    if threads.is_empty() && errors.is_empty() {
        let message = "expected threads, as in 'P0(int *x) { … }'";
        errors.push(source.error(context.functions, message));
    }
    for register in context.registers {
        if !threads.iter().any(|t| t.thread() == Some(register.thread)) {
            let message = format!("there is no thread P{}", register.thread);
            errors.push(source.error(register.span, message));
        }
    }
}

/// The threads, and whether some pointer's type does not say the size of what it points to.
fn lower_all(
    context: &CContext<'_>,
    threads: &[&FunctionDef],
    helpers: &[&FunctionDef],
    cell: Option<AccessSize>,
    errors: &mut Diagnostics,
) -> (CThreads, bool) {
    let unit = Unit {
        source: context.source,
        functions: helpers.iter().map(|f| (f.name.as_str(), *f)).collect(),
        globals: context.globals,
        kernel: context.kernel,
        cell,
    };
    let mut lowered = CThreads::default();
    let mut confused = false;
    for thread in threads {
        confused |= lower_thread(&unit, thread, context.registers, &mut lowered, errors);
    }
    (lowered, confused)
}

fn lower_thread(
    unit: &Unit<'_>,
    thread: &FunctionDef,
    registers: &[RegisterInit],
    lowered: &mut CThreads,
    errors: &mut Diagnostics,
) -> bool {
    let number = thread.thread().unwrap_or(0);
    let locations = shared::parameters(thread, unit.globals);
    let mut lowering = Lowering::new(unit, thread, locations, errors);
    for register in registers.iter().filter(|r| r.thread == number) {
        let ty = register_type(register, thread);
        let value = register.value;
        let value = value.map(|value| value.expr(ty.width(), CType::POINTER_WIDTH));
        lowering.initialise(&register.name, ty, value, register.span);
    }
    let done = lowering.thread(thread);
    let function = FunctionId(lowered.functions.len() as u32);
    lowered.functions.push(done.function);
    let local =
        |variable: lower::Variable| CLocal { var: variable.var, ty: variable.ty.observed() };
    lowered.threads.push(CThread {
        number,
        start: ThreadStart { name: thread.name.clone(), function, args: Vec::new() },
        locals: done
            .variables
            .into_iter()
            .map(|(name, variable)| (name, local(variable)))
            .collect(),
    });
    done.confused
}

/// The type of a variable that the initial state gives a value: as declared there or in the
/// thread, else one that holds any value.
fn register_type(register: &RegisterInit, thread: &FunctionDef) -> CType {
    let given = register.ty.map(|ty| CType::Int { width: ty.bytes * 8, signed: ty.signed });
    let declared = declared_type(&thread.body, &register.name);
    declared.cloned().or(given).unwrap_or(CType::LONG)
}

fn declared_type<'a>(body: &'a [Stmt], name: &str) -> Option<&'a CType> {
    body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Declare(list) => {
            let found = list.iter().find(|declaration| declaration.name == name);
            found.map(|declaration| &declaration.ty)
        }
        StmtKind::Block(list) => declared_type(list, name),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
