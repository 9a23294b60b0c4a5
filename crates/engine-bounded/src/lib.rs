//! Programs up to a bound, under any memory model, by satisfiability.
//!
//! Threads are unfolded into guarded events ([`unfold`]); the addresses that accesses can have are
//! found ([`addresses`]); where reads get their values and in which order writes come are choices
//! of the solver ([`communication`]); and the model's `.cat` file says which choices are allowed
//! ([`relations`]). The idea to give a memory model to a solver as it stands is from J. Alglave, D.
//! Kroening, M. Tautschnig, Partial orders for efficient bounded model checking of concurrent
//! software, CAV 2013, and N. Gavrilenko et al., BMC for weak memory models, CAV 2019; that the
//! solver knows what an acyclic graph is, from F. He, Z. Sun, H. Fan, Satisfiability modulo ordering
//! consistency theory, PLDI 2021.

mod addresses;
mod arrangement;
mod base;
mod cells;
mod checks;
mod circuit;
mod claim;
mod communication;
mod components;
mod encoding;
mod ends;
mod engine;
mod event;
mod gharachorloo;
mod guard;
mod leaks;
mod litmus;
mod loads;
mod mapping;
mod meaning;
mod memory;
mod options;
mod preparation;
mod program;
mod question;
mod refusal;
mod relations;
mod sections;
mod structure;
mod unfold;
mod value;
mod views;
mod waiting;
mod watch;
mod witness;

pub use engine::{Asking, Bounded, Format, with_views};
pub use litmus::{Finding, Outcome, check};
pub use loads::loads;
pub use mapping::{Machine, compile};
pub use options::{Asked, Certified, Figures, Framework, Options, Solving};
pub use parallax_solver::Backend;
pub use program::{Verified, verify};
pub use views::Views;
