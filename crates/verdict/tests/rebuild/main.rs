//! The replayer of whole programs.

mod claims;
mod interleavings;
mod judged;
mod large;
mod late;
mod operations;
mod people;
mod wrong;
