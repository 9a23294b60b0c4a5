//! Graphs that must stay acyclic, as a theory for a SAT solver.
//!
//! Literals stand for edges. [`topology`] keeps a topological order of the present edges and finds
//! the first cycle as soon as an edge closes it; [`theory`] follows the search, turns cycles into
//! clauses, and rules out edges that would close one. It does not know which solver it serves.
//! The idea of ordering as a theory of its own, instead of clocks, is that of He, Sun and Fan,
//! «Satisfiability modulo ordering consistency theory for multi-threaded program verification»,
//! PLDI 2021.

mod theory;
mod topology;

pub use theory::Lemma;
pub(crate) use theory::Theory;
