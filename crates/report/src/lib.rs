//! What people and tools get to see: herd logs, JSON, comparisons with expected answers, and
//! pictures of executions. Knows verdicts and executions, and no engine.

mod expect;
mod json;
mod log;
mod picture;
mod state;

pub use expect::{Answer, Difference, Expectation, Tally, compare, parse_expectations};
pub use json::{TestRun, error_json, outcomes_json};
pub use log::herd_log;
pub use picture::{Caption, dot, sketch, svg};
