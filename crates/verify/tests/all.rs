//! The tests of the hall.
//! In one program, so that all of them are linked once.

mod limits;
mod portfolio;
mod spurious;
