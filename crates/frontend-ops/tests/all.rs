//! The tests of operation structures.
//! In one program, so that all of them are linked once.

mod common;
mod errors;
mod frameworks;
mod hostile;
mod reference;
mod round_trip;
mod small_step;
mod translate;
mod verdicts;
