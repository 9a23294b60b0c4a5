//! Functions that a program must not call, whoever defines them: verification tasks mark what is
//! wrong by calling `reach_error`, and property files name the function (`G ! call(f())`).

use parallax_program::{Expr, Function, Inst, InstKind, Program, Property};

/// Which calls are errors of the property `assert`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Errors {
    /// Functions by name. It is the call that counts, not what the function does.
    pub functions: Vec<String>,
    /// Whether `abort` and traps are errors; else they only end the program.
    pub abort: bool,
}

impl Default for Errors {
    fn default() -> Errors {
        let functions = ["reach_error", "__VERIFIER_error"].map(str::to_string).to_vec();
        Errors { functions, abort: true }
    }
}

impl Errors {
    /// No call is an error.
    pub fn none() -> Errors {
        Errors { functions: Vec::new(), abort: false }
    }
}

/// Makes those functions fail that the program has itself, where they are entered.
pub(crate) fn mark(program: &mut Program, errors: &Errors) {
    let is_error = |function: &&mut Function| errors.functions.contains(&function.name);
    program.functions.iter_mut().filter(is_error).for_each(fail_first);
}

fn fail_first(function: &mut Function) {
    let kind = failure(&function.name);
    if let Some(entry) = function.blocks.first_mut() {
        let span = entry.insts.first().map_or(entry.terminator_span, |inst| inst.span);
        entry.insts.insert(0, Inst { kind, span });
    }
}

/// What stands in for a call.
pub(crate) fn failure(name: &str) -> InstKind {
    InstKind::Assert {
        condition: Expr::constant(1, 0),
        message: format!("{name} is called"),
        property: Property::Assert,
    }
}
