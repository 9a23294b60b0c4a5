//! What a user of the engine decides.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parallax_program::Property;
use parallax_verdict::Suspicion;

pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// How often loops are repeated at most; None for as often as they want.
    pub unroll: Option<u32>,
    pub reductions: Reductions,
    /// Go on after a violation.
    pub all: bool,
    /// Threads that search.
    pub jobs: usize,
    /// What inputs may be; None if programs with inputs are beyond the engine.
    pub nondet: Option<(i128, i128)>,
    pub timeout: Option<Duration>,
    /// MiB.
    pub memory_limit: Option<u64>,
    /// Set from outside to end the search.
    pub stop: Option<&'a AtomicBool>,
    pub progress: Option<&'a (dyn Fn(&Progress) + Sync)>,
    /// Whether to estimate the number of executions first.
    pub estimate: bool,
    /// Who gets every bad execution, and not only the first of each kind at each place, which the
    /// verdict has.
    pub every: Option<&'a Every<'a>>,
}

/// Takes what is told, and says whether to go on.
pub type Every<'a> = dyn Fn(Told) -> bool + Sync + 'a;

/// What is told of a search that goes on after the first bad execution.
pub enum Told {
    /// A bad execution, which nobody has confirmed.
    Found(Suspicion),
    /// The search starts anew: what was found so far may be wrong, and will be found again if not.
    Anew,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            properties: Property::ALL
                .into_iter()
                .filter(|property| *property != Property::Leak)
                .collect(),
            unroll: None,
            reductions: Reductions::ALL,
            all: false,
            jobs: 1,
            nondet: None,
            timeout: None,
            memory_limit: None,
            stop: None,
            progress: None,
            estimate: false,
            every: None,
        }
    }
}

/// How far a search has come.
#[derive(Clone, Debug)]
pub struct Progress {
    pub executions: u64,
    pub blocked: u64,
    pub elapsed: Duration,
    /// Expected number of executions, and its standard deviation.
    pub estimate: Option<(f64, f64)>,
}

/// A way to explore fewer graphs than there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Loops that only wait are not repeated.
    SpinLoops,
    /// Reads that would wait are added last, when others may have done what they wait for.
    Waits,
    /// Executions that differ only in which of several threads that do the same did what are
    /// one.
    Symmetry,
    /// Executions that differ only in the order in which threads arrive at a barrier are one.
    Barriers,
}

impl Reduction {
    pub const ALL: [Reduction; 4] =
        [Reduction::SpinLoops, Reduction::Waits, Reduction::Symmetry, Reduction::Barriers];

    pub fn name(self) -> &'static str {
        match self {
            Reduction::SpinLoops => "spin-loops",
            Reduction::Waits => "waits",
            Reduction::Symmetry => "symmetry",
            Reduction::Barriers => "barriers",
        }
    }
}

/// A set of reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions(u8);

impl Reductions {
    pub const NONE: Reductions = Reductions(0);
    pub const ALL: Reductions = Reductions(u8::MAX);

    /// `all`, `none`, or names with commas between them. The error is a name that is none.
    pub fn parse(text: &str) -> Result<Reductions, String> {
        match text {
            "all" => return Ok(Reductions::ALL),
            "none" => return Ok(Reductions::NONE),
            _ => {}
        }
        let mut set = Reductions::NONE;
        for name in text.split(',') {
            let found =
                Reduction::ALL.into_iter().find(|reduction| reduction.name() == name.trim());
            set.0 |= 1 << found.ok_or_else(|| name.to_string())? as u8;
        }
        Ok(set)
    }

    pub fn contains(self, reduction: Reduction) -> bool {
        self.0 & 1 << reduction as u8 != 0
    }
}
