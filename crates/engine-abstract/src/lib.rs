//! Abstraction refinement: proofs without a bound on loops and inputs.
//!
//! [`block`] makes the edges of a program, from where a thread stands to where it stands next; [`state`]
//! says what is known after an edge; [`search`] builds the graph of all that may be reached, by that;
//! where something that fails is reached, [`refine`] asks whether it really is: if so, [`claim`]
//! makes an execution of it that the replayer confirms, and if not, abstract states track more from then
//! on (E. Clarke, O. Grumberg, S. Jha, Y. Lu, H. Veith, Counterexample-guided abstraction refinement,
//! CAV 2000). What is safe is so for executions of any length.

mod block;
mod claim;
mod control;
mod declarative;
mod engine;
mod graph;
mod invariants;
mod live;
mod options;
mod oracle;
mod places;
mod project;
pub mod proof;
mod refine;
mod rounds;
mod search;
mod state;
mod text;
mod value;

pub use crate::engine::Abstract;
pub use crate::options::{
    Analysis, Domain, Judge, Options, Order, Parts, Pruning, Reduction, Refinements, Scope, Tuning,
};
pub use crate::rounds::{orders, prove, verify};
