//! What engines answer: executions, verdicts, the outcomes of litmus tests, and the independent
//! replayer that checks an execution before anyone sees it.

mod claim;
mod conclude;
mod confirm;
mod confirmed;
mod dependencies;
mod derived;
mod evidence;
mod execution;
mod finals;
mod judge;
mod late;
mod outcomes;
mod rebuild;
mod refusal;
mod replay;
mod retrace;
mod sizes;
mod story;
mod traced;
mod trial;
mod verdict;
mod walker;

pub use claim::{Claim, Source, Step, StepId, ThreadClaim, ThreadEnding};
pub use conclude::{
    Endings, Gaps, NONE_ENDS, Searched, leaves_all_open, no_execution, no_execution_passes,
    no_execution_within, no_final_state, stopped, unasked,
};
pub use confirm::{Suspicion, confirm, confirm_again, confirm_final, follow, inputs_tried};
pub use confirmed::Confirmed;
pub use dependencies::{Dependencies, Done, dependencies};
pub use execution::{Call, Edges, Event, EventKind, Execution, Life, Standing};
pub use late::is_late;
pub use outcomes::{Ending, FinalState, Observation, Outcomes, StateValue};
pub use rebuild::rebuild;
pub use replay::replay;
pub use retrace::{Retraced, retrace};
pub use sizes::smallest_access;
pub use story::{Parts, Story};
pub use trial::{Judgement, Trial};
pub use verdict::{Claimed, Conclusion, Counts, Reason, Scope, Verdict, Violation};
