//! Repairs of litmus tests.

mod classics;
mod optimal;
mod support;
