//! The text of cat files: tokens, syntax trees, the parser.
//!
//! The language is the one of herd7 (Alglave, Cousot, Maranget: "Syntax and semantics of the
//! weak consistency model specification language cat", 2016), with the declarations of bell
//! files.

pub(crate) mod ast;
mod expressions;
mod lexer;
mod parser;

pub(crate) use parser::parse_file;
