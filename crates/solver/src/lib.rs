//! SAT and SMT for the engines: bit-vector terms, their translation to clauses, and solvers that
//! know graphs which must stay acyclic.
//!
//! [`Terms`] holds formulas; [`Blaster`] turns them into clauses; [`Solver`] is what back ends have in
//! common.

mod blast;
mod cadical;
mod certificate;
mod counting;
mod export;
mod gates;
mod integers;
mod literal;
mod order;
mod problem;
pub mod script;
mod solver;
mod terms;
mod watch;
mod z3;

pub use blast::{Blaster, INTEGER_WIDTH};
pub use cadical::Cadical;
pub use certificate::{Certificate, Flaw, Step, Uncertified, check};
pub use gates::Gates;
pub use integers::{Arithmetic, Compared, Comparison, Integer};
pub use literal::Literal;
pub use order::Lemma;
pub use parallax_control::Control;
pub use problem::{Clauses, Edge, Graph, Problem};
pub use solver::{Answer, Backend, Order, Solver, Statistics, Stop};
pub use terms::{Evaluation, Node, Term, Terms};
pub use z3::Z3;
