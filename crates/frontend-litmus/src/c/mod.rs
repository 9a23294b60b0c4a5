//! C tests: C11 and the Linux kernel's dialect.

use std::collections::HashMap;

use parallax_program::{Diagnostics, Function, SourceFile, Span, ThreadStart, VarId};

use crate::globals::Globals;
use crate::init::RegisterInit;
use crate::types::ScalarType;

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
    /// Kernel dialect, as told by [`is_kernel`].
    pub kernel: bool,
}

/// What the C front end gives back.
#[derive(Default)]
pub struct CThreads {
    pub functions: Vec<Function>,
    /// In order of their numbers; `start.function` counts in `functions`.
    pub threads: Vec<CThread>,
}

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
pub fn is_kernel(_text: &str) -> bool {
    false
}

/// Turns the functions of a C test into functions of the program.
pub fn parse_threads(context: &mut CContext<'_>) -> Result<CThreads, Diagnostics> {
    let error = context
        .source
        .error(context.functions, "C tests are not supported yet");
    Err(vec![error])
}
