//! What an engine has found out.

use std::time::Duration;

use parallax_verdict::{Verdict, Violation};

/// A verdict, and what an engine has besides.
#[derive(Clone, Debug)]
pub struct Answer {
    pub verdict: Verdict,
    pub engine: &'static str,
    /// Whether the search went on after the first violation.
    pub all: bool,
    /// The schedule of the first violation.
    pub witness: Option<String>,
    /// What it took, where a solver was asked.
    pub solver: Option<SolverWork>,
    /// What may be wrong, where the answer is unknown.
    pub candidate: Option<Box<Violation>>,
    /// What the solver was asked, one text for each question, where somebody wants to have it.
    pub questions: Vec<Vec<u8>>,
    /// A proof that somebody else can check, where one is wanted.
    pub proof: Option<String>,
}

impl Answer {
    /// An answer with nothing beside the verdict.
    pub fn new(verdict: Verdict, engine: &'static str) -> Answer {
        Answer {
            verdict,
            engine,
            all: false,
            witness: None,
            solver: None,
            candidate: None,
            questions: Vec::new(),
            proof: None,
        }
    }
}

/// What it took to ask a solver.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SolverWork {
    pub variables: u64,
    pub clauses: u64,
    /// To make the formulas, and to solve them.
    pub encoding: Duration,
    pub solving: Duration,
}
