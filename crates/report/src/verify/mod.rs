//! Verdicts on whole programs, for people and for tools.
//!
//! [`story`] works out once what is to be said about a violation: [`links`] how its events hang
//! together, [`order`] an order to show them in, [`cycle`] and [`why`] the reason why no
//! interleaving has them, [`past`] and [`housekeeping`] what can be left out, [`trace`] the steps of
//! each thread, in the [`words`] that all share; [`calls`] says what those of the C library mean.
//! [`text`], [`json`], [`sarif`] and [`html`] only write it down.

mod calls;
mod cycle;
mod housekeeping;
mod html;
mod json;
mod links;
mod order;
mod past;
#[cfg(test)]
mod properties;
mod sarif;
mod story;
mod text;
mod trace;
mod unordered;
mod why;
mod words;

use std::time::Duration;

use parallax_memory::{Model, ProgramOrder};
pub use parallax_query::SolverWork;
use parallax_verdict::{Execution, Violation};

pub use html::{Page, verdict_html};
pub use json::verdict_json;
pub use links::Naming;
pub use sarif::{error_sarif, verdict_sarif};
pub use story::Relevance;
pub use text::{TextStyle, verdict_text};
pub use trace::{Detail, shared_addresses};
pub use words::{own_call, shown_tags, source};

/// The model, as far as people are to understand it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Under<'a> {
    pub model: &'a str,
    /// What it keeps of program order, where that is known.
    pub order: Option<ProgramOrder>,
}

impl<'a> Under<'a> {
    pub fn of(model: &'a Model) -> Under<'a> {
        Under { model: model.name(), order: model.facts().program_order }
    }
}

/// The events of the threads, first to last, such that every read sees the last write before it where
/// there is such an order.
pub fn order_of(execution: &Execution) -> Vec<u32> {
    order::Order::new(execution, &links::Links::new(execution)).events
}

/// What was verified, and how.
#[derive(Clone, Copy, Debug)]
pub struct VerifyRun<'a> {
    /// The first input.
    pub input: &'a str,
    pub under: Under<'a>,
    pub engine: &'a str,
    /// What the engine does, in a few words.
    pub engine_summary: &'a str,
    /// Whether the engine counts executions, and does not look at all of them at once.
    pub counts_executions: bool,
    /// Whether the search went on after the first violation.
    pub all: bool,
    pub time: Duration,
    /// The most memory that the process has used.
    pub peak_rss_kib: u64,
    /// What it took, where a solver was asked.
    pub solver: Option<SolverWork>,
    /// Where the answer is unknown: an execution that the program may or may not have.
    pub candidate: Option<&'a Violation>,
}
