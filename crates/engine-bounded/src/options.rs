//! What a user of the engine decides, and what the engine tells about its work.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parallax_program::Property;

#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// How often loops are repeated at most; None for more and more often, until no way repeats
    /// one more often.
    pub unroll: Option<u32>,
    pub timeout: Option<Duration>,
    /// MiB.
    pub memory_limit: Option<u64>,
    /// Set from outside to end the search.
    pub stop: Option<&'a AtomicBool>,
}

impl Options<'_> {
    /// The bounds to try, one after the other.
    pub(crate) fn bounds(&self) -> Vec<u32> {
        match self.unroll {
            Some(bound) => vec![bound],
            None => vec![1, 2, 4, 8, 16, 32],
        }
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            properties: Property::ALL
                .into_iter()
                .filter(|property| *property != Property::Leak)
                .collect(),
            unroll: Some(2),
            timeout: None,
            memory_limit: None,
            stop: None,
        }
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
