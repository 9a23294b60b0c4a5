//! What people and tools get to see: herd logs, verdicts with their traces, JSON, SARIF, pages,
//! comparisons with expected answers, and pictures of executions. Knows verdicts and executions,
//! and no engine.

mod batch;
mod expect;
mod fences;
mod json;
mod log;
mod picture;
mod state;
mod verify;
mod witness;

pub use batch::{
    BatchColumns, BatchRow, batch_csv, batch_html, batch_json, batch_line, batch_summary,
};
pub use expect::{Answer, Difference, Expectation, Tally, compare, parse_expectations};
pub use fences::{RepairRun, RepairStep, repair_json, repair_text};
pub use json::{TestRun, error_json, outcomes_json};
pub use log::herd_log;
pub use picture::{Caption, dot, focused_dot, focused_svg, sketch, svg};
pub use verify::{
    Detail, Page, SolverWork, TextStyle, Under, VerifyRun, error_sarif, verdict_html, verdict_json,
    verdict_sarif, verdict_text,
};
pub use witness::{WitnessLines, WitnessOf, WitnessTask, witness_graphml, witness_yaml};
