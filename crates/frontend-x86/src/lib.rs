//! x86-64 machine code as Parallax programs.
//!
//! [`lift`] holds what each instruction means; what a file is made of, and where its control
//! goes, is beside it.

pub mod lift;
