//! The tests of programs in C.
//! In one program, so that all of them are linked once.

mod cache;
mod files;
mod lowering;
mod programs;
mod robustness;
mod world;
