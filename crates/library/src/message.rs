//! What a failed assertion says: the text of its condition, where that is a constant of the
//! program.

use parallax_program::{Expr, Function, InstKind, Program};

use crate::features::bytes;

/// Longer conditions are cut, and larger objects are no texts.
const LONGEST: usize = 200;
const LARGEST: u64 = 1 << 16;

/// Which argument of a function is the text of the condition that failed.
pub(crate) fn condition(name: &str) -> Option<usize> {
    match name {
        "__assert_fail" | "__assert" | "__VERIFIER_assert_fail" => Some(0),
        // The file, the line and the function come first.
        "_ZSt21__glibcxx_assert_failPKciS0_S0_" => Some(3),
        _ => None,
    }
}

/// Whether a function reads its first argument only to print it.
pub(crate) fn prints(name: &str) -> bool {
    matches!(name, "puts" | "fputs" | "perror" | "fwrite")
}

/// Whether an expression is the address of something that is there and never changes.
pub(crate) fn is_constant(program: &Program, expr: &Expr) -> bool {
    let global = match expr {
        Expr::Address(global) => program.globals.get(global.0 as usize),
        _ => None,
    };
    global.is_some_and(|global| global.constant) && text(program, expr).is_some()
}

/// Puts the text into the assertions of the function.
pub(crate) fn report(function: &mut Function, condition: &str) {
    for inst in function.blocks.iter_mut().flat_map(|block| &mut block.insts) {
        if let InstKind::Assert { message, .. } = &mut inst.kind {
            *message = format!("assertion failed: {condition}");
        }
    }
}

/// The string that an expression is the address of.
pub(crate) fn text(program: &Program, expr: &Expr) -> Option<String> {
    let Expr::Address(global) = expr else {
        return None;
    };
    let global = program.globals.get(global.0 as usize)?;
    if global.size > LARGEST {
        return None;
    }
    let bytes = bytes(global);
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let text = String::from_utf8_lossy(&bytes[..end.min(LONGEST)]).into_owned();
    (!text.is_empty()).then_some(text)
}
