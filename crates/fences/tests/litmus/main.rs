//! Repairs of litmus tests.

mod classics;
mod generator;
mod machines;
mod optimal;
mod support;
