//! Operation structures: programs of machine instructions, taken apart into single operations.
//!
//! The language of P. Maleehuan, "Program Verification for Multiprocessors with Relaxed Memory
//! Models using an SMT Solver", dissertation, JAIST 2018, in both its dialects. `parser` and
//! `check` read it, `print` writes it, `lower` makes a [`Program`](parallax_program::Program) of
//! it, and `translate` gets it from assembly code.

mod check;
mod induct;
pub mod isa;
mod lexer;
mod lower;
mod names;
mod parser;
mod print;
pub mod syntax;
mod translate;

use parallax_program::Diagnostics;

pub use induct::marked;
pub use lower::{Assertion, Judging, Lowered, WIDTH, lower, with_integers};
use syntax::Structures;
pub use translate::translate;

/// What is wrong with a file is reported up to this number of errors.
const MOST_ERRORS: usize = 20;

/// Reads and checks a file.
pub fn parse(name: &str, text: &str) -> Result<Structures, Diagnostics> {
    let structures = parser::parse(name, text)?;
    check::check(&structures)?;
    Ok(structures)
}
