//! What engines answer: executions, the outcomes of litmus tests, and the independent replayer
//! that checks an execution before anyone sees it.

mod execution;
mod judge;
mod outcomes;
mod replay;
mod traced;

pub use execution::{Edges, Event, EventKind, Execution};
pub use outcomes::{Ending, FinalState, Observation, Outcomes, StateValue};
pub use replay::replay;
