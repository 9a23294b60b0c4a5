//! Verdicts on whole programs, for people and for tools.
//!
//! [`story`] works out once what is to be told about a violation: [`links`] how its events hang
//! together, [`order`] an order to tell them in, [`cycle`] and [`why`] the reason why no
//! interleaving has them, [`trace`] the steps of each thread without [`mod@housekeeping`], in the
//! [`words`] that all share.
//! [`text`], [`json`], [`sarif`] and [`html`] only write it down.

mod cycle;
mod housekeeping;
mod html;
mod json;
mod links;
mod order;
mod sarif;
mod story;
mod text;
mod trace;
mod why;
mod words;

use std::collections::HashSet;
use std::time::Duration;

use parallax_verdict::Violation;

pub use housekeeping::housekeeping;
pub use html::verdict_html;
pub use json::verdict_json;
pub use sarif::verdict_sarif;
pub use text::{TextStyle, verdict_text};
pub use trace::{Detail, shared_addresses};

/// The events that a violation is about, and those that tell why it is possible.
pub fn story_events(violation: &Violation) -> HashSet<u32> {
    let execution = &violation.execution;
    let links = links::Links::new(execution);
    let count = execution.events.len() as u32;
    let involved = violation.involved.iter().copied().filter(|event| *event < count);
    if order::Order::new(execution, &links).interleaving {
        return involved.collect();
    }
    let cycle = cycle::shortest_cycle(execution, &links).unwrap_or_default();
    involved.chain(cycle.iter().map(|edge| edge.from)).collect()
}

/// What was verified, and how.
#[derive(Clone, Copy, Debug)]
pub struct VerifyRun<'a> {
    /// The first input.
    pub input: &'a str,
    pub model: &'a str,
    pub engine: &'a str,
    /// Whether the search went on after the first violation.
    pub all: bool,
    pub time: Duration,
    /// The most memory that the process has used.
    pub peak_rss_kib: u64,
}
