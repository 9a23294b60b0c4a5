//! All executions of a litmus test under a memory model.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parallax_memory as _;
use parallax_program::{Diagnostics, Program, Question};
use parallax_verdict::Outcomes;

/// How far coherence orders are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coherence {
    /// `Total` where a test has few orders, `Needed` where it has many.
    #[default]
    Auto,
    /// Every total order is an execution of its own.
    Total,
    /// Orders that neither the model's verdict nor the final state tells apart count once.
    Needed,
}

#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// How often a loop body may run.
    pub bound: u32,
    pub coherence: Coherence,
    /// How many executions that satisfy the proposition to keep as witnesses.
    pub witnesses: usize,
    /// Give up after so long; what was found so far is reported.
    pub timeout: Option<Duration>,
    /// Set from outside to stop the search.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            bound: 2,
            coherence: Coherence::Auto,
            witnesses: 0,
            timeout: None,
            stop: None,
        }
    }
}
