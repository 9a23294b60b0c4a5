//! What one thread does.
//!
//! This is the one place that gives instructions their meaning. The interpreter is generic in
//! its [`Domain`] of values (concrete bit-vectors here, symbolic terms or abstractions
//! elsewhere) and knows nothing of memory or of other threads: it runs a [`Thread`] up to its
//! next *visible* operation, hands that operation to an engine, and goes on with the result
//! the engine decided on.

mod busy;
mod code;
mod concrete;
mod domain;
mod effect;
mod finals;
mod float;
mod followed;
mod globals;
mod live;
mod loops;
mod merge;
mod meter;
mod operation;
pub mod reduction;
mod retries;
mod sleep;
pub mod system;
mod thread;

pub use code::{Code, Idle, Limits, Site};
pub use concrete::{Concrete, binary, unary};
pub use domain::{Domain, Truth};
pub use effect::{
    Choice, Chosen, Extent, NESTED_SECTION, NO_SECTION, RESERVATIONS, TOO_LARGE, TOO_MANY_THREADS,
    wrong_access, wrong_end, wrong_free,
};
pub use finals::holds;
pub use followed::Followed;
pub use globals::{GlobalObject, Globals};
pub use live::Live;
pub use merge::Merge;
pub use meter::Meter;
pub use operation::{
    DECIDED_BY_UNDEFINED, FENCE_OF_ALL, Fault, Operation, PERHAPS_BY_UNDEFINED, modify,
};
pub use retries::settle as settle_retries;
pub use thread::{Part, Return, Thread};
