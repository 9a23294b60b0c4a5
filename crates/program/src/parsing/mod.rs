//! What the readers of all of the project's own languages have in common: a [`Scanner`] cuts a text
//! into tokens, and parsers walk over those by [`Descent`].
//!
//! The text form of programs, operation structures, cat files and litmus tests differ in their tokens
//! and in what they make of them, and in nothing else.

mod descent;
mod scanner;

pub use descent::{Descent, Spanned, Token, Tokens};
pub use scanner::{Comment, Scanner, number};
