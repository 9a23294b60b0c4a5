//! Programs up to a bound, under any memory model, by satisfiability.
#![allow(dead_code)]

mod addresses;
mod arrangement;
mod event;
mod guard;
mod unfold;
mod value;
mod watch;
