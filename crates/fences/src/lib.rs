//! Fence synthesis: from bad executions of a program to the cheapest repair.

mod cover;
mod decision;
mod largest;
mod locator;
mod marked;
mod mnemonics;
mod prepare;
mod repair;
mod repertoire;
mod rewrite;
mod same;
pub mod source;
mod suspect;
mod synthesis;

pub use cover::{Demand, Objective};
pub use decision::{Choice, Decision, Decisions, Plan, Subject};
pub use marked::apply;
pub use prepare::{Load, Means, Prepared, Repair, prepare};
pub use repair::{Explained, Helpers, Job, Outcome, Repaired, repair};
pub use repertoire::{AccessKind, Dialect, Kind, Weights, access_orders};
pub use rewrite::Change;
pub use suspect::Suspect;
pub use synthesis::{Collecting, Compile, Ending, Engine, Synthesis, Take, Task, synthesize};
