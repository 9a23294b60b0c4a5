//! The tests of models.
//! In one program, so that all of them are linked once.

mod agreement;
mod builtin;
mod common;
mod language;
