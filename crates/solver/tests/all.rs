//! The tests of solvers.
//! In one program, so that all of them are linked once.

mod certificates;
mod export;
mod floats;
mod integers;
mod orders;
mod support;
mod terms;
