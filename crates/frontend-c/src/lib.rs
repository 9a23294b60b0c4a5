//! C, C++ and Rust programs, by way of clang, rustc and LLVM.
//!
//! A file is compiled by clang with its optimiser switched off, and then goes through one
//! pass of LLVM, scalar replacement of aggregates. What comes out is read in LLVM's textual form
//! (`llvm`) and lowered to a [`Program`] (`lower`).
//!
//! # What is optimised, and why that is safe
//!
//! The pass turns local variables into registers whose address nobody takes; which these are is not
//! left to it alone, since it relies on there being no undefined behaviour (`kept`). No other thread can
//! see such a variable, so no access that could race is among those that go, and no order
//! between the others changes. The pass touches accesses to no other memory: a load of a shared
//! variable whose value is not used stays, and so does a copy of a structure that nobody looks at.
//! It is run in the mode that leaves control flow alone, and on a target that has no favourite
//! integer sizes, since otherwise it would copy small structures as single integers.
//! Lowering does the same once more for local structures that the pass leaves in memory because
//! they are copied as a whole. Nothing else is run: inlining, simplification of expressions, removal of dead code and all
//! the rest may assume that programs have no races and no undefined behaviour, which is what
//! is to be found out.
//!
//! Clang gets `-O1` all the same (without `__OPTIMIZE__`, so that headers do not notice),
//! because it then writes down which scalars the copy of a structure is made of; its passes are
//! disabled. Modules that are given as `.ll` or `.bc` are taken as they are.
//!
//! # Why the textual form
//!
//! It has all of a module: metadata, inline assembly, integers of any width, debug records. It
//! is read without LLVM's libraries, which alone would take longer to load than all the
//! rest of a start, and malformed input is an error with a place, never a crash.
//!
//! What is not supported (see the chapter on C programs in the book) becomes an instruction that
//! makes the verdict unknown where it is reached, and nothing where it is not.

mod cxx;
mod dialect;
mod driver;
mod formulas;
mod headers;
mod kept;
mod llvm;
mod lower;
mod newer;
mod rust;
mod rust_names;
mod rust_types;
mod thread_locals;
mod undefined;

use std::path::PathBuf;
use std::time::Instant;

pub use driver::usual_cache;
pub use formulas::{Formula, Formulas, parse_formulas};
pub use parallax_library::Errors;
use parallax_program::{Diagnostic, Diagnostics, Program, SourceFile};

/// How wide the types of C are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits.
    Ilp32,
    /// `long` and pointers have 64 bits.
    Lp64,
}

impl DataModel {
    /// As task files and witnesses have it.
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Ilp32 => "ILP32",
            DataModel::Lp64 => "LP64",
        }
    }

    /// The names that task files have for them, in any case.
    pub fn parse(name: &str) -> Option<DataModel> {
        match name.to_ascii_lowercase().as_str() {
            "ilp32" => Some(DataModel::Ilp32),
            "lp64" => Some(DataModel::Lp64),
            _ => None,
        }
    }
}

/// What a call of a function does that nobody defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Externs {
    /// Nobody knows: the answer is unknown where it is reached.
    #[default]
    Unknown,
    /// It gives any value of its type, and does nothing else.
    Nondet,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Arguments for clang, after our own.
    pub clang_args: Vec<String>,
    /// None for the one of clang's usual target, or of its arguments.
    pub data_model: Option<DataModel>,
    /// What functions do that neither the program nor the library has.
    pub externs: Externs,
    /// Whether condition variables may wake up for no reason.
    pub spurious_wakeups: bool,
    /// Which calls are errors of the property `assert`.
    pub errors: Errors,
    /// Whether signed overflow, shifts out of range and undefined divisions are checked.
    pub overflow: bool,
    /// Whether executions end where a sum, a difference or a product leaves the range of its type: up to
    /// there, words are integers.
    pub integers: bool,
    /// Whether a variable that is given no value may decide something: nobody asks for `memory`.
    pub any_values: bool,
    /// What to take for the contents of files of C, by their paths as they are given or included.
    pub texts: Vec<(PathBuf, String)>,
    /// Until when clang and the tools of LLVM may run.
    pub until: Option<Instant>,
    /// The folder in which modules are kept that clang has made; none if none are.
    pub cache: Option<PathBuf>,
}

/// A module in LLVM's textual form.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: String,
    pub text: String,
    /// Whether places are to be shown in this text, where it does not name others.
    pub is_source: bool,
}

/// Reads the files of a program (`.c`, `.i`, `.cpp`, `.cc`, `.cxx`, `.ll`, `.bc`), puts them together, and adds what they
/// use of the C library.
pub fn load(paths: &[PathBuf], options: &Options) -> Result<Program, Diagnostics> {
    let whole = lowered(&driver::read_all(paths, options)?, options)?;
    let (mut program, locals) = (whole.program, whole.locals);
    rust_names::settle(&mut program);
    cxx::put_in_place(&mut program, &whole.is_header);
    let first_may_leave = thread_locals::first_may_leave(&program);
    let library = parallax_library::Options {
        spurious_wakeups: options.spurious_wakeups,
        errors: options.errors.clone(),
        open: options.externs == Externs::Nondet,
    };
    parallax_library::link(&mut program, &library)?;
    parallax_layout::guard(&mut program);
    thread_locals::check(&mut program, &locals, first_may_leave);
    cxx::demangle(&mut program);
    Ok(program)
}

/// Puts modules together. Calls of functions that none of them defines stay calls by name.
pub fn translate(inputs: &[Input], options: &Options) -> Result<Program, Diagnostics> {
    lowered(inputs, options).map(|whole| whole.program)
}

fn lowered(inputs: &[Input], options: &Options) -> Result<lower::Whole, Diagnostics> {
    let inputs: Vec<Input> = inputs.iter().cloned().chain(cxx::support(inputs)).collect();
    let mut modules = Vec::new();
    let mut errors = Vec::new();
    for input in &inputs {
        if u32::try_from(input.text.len()).is_err() {
            errors.push(Diagnostic::new(format!("{}: it is too large", input.name)));
            continue;
        }
        match llvm::parse(&SourceFile::new(&input.name, &input.text)) {
            Ok(module) => modules.push(module),
            Err(error) => errors.push(*error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let whole = lower::lower(&inputs, &modules, options)?;
    whole.program.check()?;
    Ok(whole)
}
