//! A debugger for concurrent programs on the operational machines: one thread, one instruction, one
//! buffered store at a time, forwards and backwards.
//!
//! A [`Session`] is a program in some state, with its history. It takes commands as lines of text,
//! with the names that GDB gives them, and answers with text; it knows no terminal. A [`Schedule`]
//! is what happened, as text, for another time.

mod command;
mod completion;
mod control;
mod examine;
mod expression;
mod help;
mod history;
mod inspect;
mod machine;
mod memory;
mod names;
mod points;
mod problems;
mod registers;
mod schedule;
mod session;
mod source;
mod story;
mod view;
mod witness;

pub use completion::is_between;
pub use parallax_machine::system::{Action, MemoryKind, Setup};
pub use problems::Standing as ProgramStanding;
pub use schedule::{Schedule, with_arguments};
pub use session::{Flow, Session, Subject, setup};
pub use witness::witness;
