//! What a user of the engine decides, and what the engine tells about its work.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// How often loops are repeated at most.
    pub unroll: u32,
    pub timeout: Option<Duration>,
    /// MiB.
    pub memory_limit: Option<u64>,
    /// Set from outside to end the search.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { unroll: 2, timeout: None, memory_limit: None, stop: None }
    }
}

/// How large the problem was, and how long it took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    pub events: u64,
    pub variables: u64,
    pub clauses: u64,
    pub edges: u64,
    pub encoding: Duration,
    pub solving: Duration,
}
