//! The tests of the library.
//! In one program, so that all of them are linked once.

mod atomics;
mod concurrent;
mod linking;
mod lives;
mod locks;
mod models;
mod strings;
mod world;
