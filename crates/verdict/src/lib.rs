//! What engines answer: executions, the outcomes of litmus tests, and the independent replayer
//! that checks an execution before anyone sees it.

mod execution;
mod outcomes;

pub use execution::{Edges, Event, EventKind, Execution};
pub use outcomes::{Ending, FinalState, Observation, Outcomes, StateValue};
