//! Problems as text, for other solvers.

mod dimacs;
mod smtlib;

pub(crate) use dimacs::write_clauses;
