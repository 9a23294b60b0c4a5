//! The tests of litmus tests.
//! In one program, so that all of them are linked once.

mod format;
mod robust;
mod suite;
mod symbolic;
mod well_formed;
