//! The one door to all engines: what is asked, who answers, and what that means.
//!
//! A [`Request`] is read and [prepared](Request::prepare): the front end of its input gives the program,
//! and the model is found. [`Prepared::ask`] hands the query to the engine that was named, or to
//! several that search side by side ([`portfolio`]), and says no more than they have found out. Time,
//! memory, threads and progress are in a [`Control`](parallax_control::Control).

pub mod ask;
pub mod batch;
pub mod checkpoint;
pub mod cluster;
pub mod competition;
mod estimate;
pub mod input;
mod integers;
pub mod litmus;
pub mod models;
pub mod portfolio;
pub mod proofs;
pub mod properties;
pub mod registry;
mod relief;
mod repairs;
pub mod request;
mod schedules;
pub mod stack;
pub mod structures;
pub mod task;
pub mod text;
pub mod validation;
pub mod witness;
mod yaml;

pub use ask::Response;
pub use checkpoint::Keeping;
pub use cluster::Cluster;
pub use competition::Ruling;
pub use input::{Input, Kind, Reading};
pub use parallax_cluster::Patience;
pub use parallax_engine_abstract::{
    Analysis, Domain as AbstractDomain, Judge, Order as Waitlist, Parts, Pruning,
    Reduction as Orders, Refinements, Scope as PrecisionScope, Tuning as Abstraction,
};
pub use parallax_engine_bounded::{Asking, Backend, Format, Framework};
pub use parallax_engine_explore::{Checkpoint, Estimate};
pub use parallax_frontend_c::{DataModel, Externs, usual_cache};
use parallax_memory::Language;
pub use properties::Properties;
pub use registry::Choice;
pub use repairs::{Mended, RepairRequest};
pub use request::{Prepared, Request};
pub use schedules::schedules;
pub use task::Task;

/// The usual model of C, and that of x86.
pub const C_MODEL: &str = Language::C.usual_model();
pub const MACHINE_MODEL: &str = Language::X86.usual_model();
