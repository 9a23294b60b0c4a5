//! Certificates of unsatisfiability: what can be checked without trusting the search.
//!
//! A certificate holds the clauses, the orders with their edges, the assumptions, the cycles that
//! the search ruled out, and a proof that the clauses, the assumptions and the clauses of the
//! cycles have no model. The proof comes from a second search that knows nothing of orders. Each
//! of its steps names the clauses that it follows from (Cruz-Filipe, Heule, Hunt, Kaufmann,
//! Schneider-Kamp, «Efficient certified RAT verification», CADE 2017). [`check`] decides whether a
//! certificate is good, and shares no code with the searches.

mod check;
mod make;
mod write;

pub use check::{Flaw, check};
pub use make::Uncertified;
pub(crate) use make::certify;

use crate::{Lemma, Literal, Problem};

/// Why a problem has no model. Clauses are numbered from 1: first that truth is true, then the
/// problem's clauses, then one for each lemma, then one for each assumption, then the steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    pub problem: Problem,
    pub assumptions: Vec<Literal>,
    pub lemmas: Vec<Lemma>,
    pub proof: Vec<Step>,
}

/// A clause that follows from earlier ones: if all of its literals were false, then each of the
/// reasons in turn would leave one literal to be true, and the last one none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub clause: Vec<Literal>,
    /// Numbers of earlier clauses.
    pub reasons: Vec<u64>,
}
