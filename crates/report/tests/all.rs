//! The tests of reports.
//! In one program, so that all of them are linked once.

mod answers;
mod pictures;
mod sarif;
mod support;
mod verdicts;
