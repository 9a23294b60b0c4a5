//! Processes on several hosts that search together.
//!
//! [`join`] connects every two of them ([`handshake`]): each proves that it knows the secret of the run
//! before the other one looks at anything else it says, and both compare what they are to search. The
//! connections ([`wire`]) notice when the other side is gone. What goes over them is a cycle of timely
//! dataflow ([`cycle`]), whose tracking of progress says when nobody has anything left to do
//! (D. G. Murray, F. McSherry, R. Isaacs, M. Isard, P. Barham, M. Abadi, Naiad: a timely dataflow
//! system, SOSP 2013).

mod cycle;
mod handshake;
mod hosts;
mod wire;

use std::time::Duration;

pub use cycle::Cycle;
pub use hosts::{LEAST_SECRET, parse_hosts};

/// What a process knows of the run that it takes part in.
#[derive(Clone)]
pub struct Site {
    /// `host:port` of each process.
    pub hosts: Vec<String>,
    pub process: usize,
    pub secret: Vec<u8>,
    /// What is searched: one line, the same for all.
    pub about: String,
    /// How long to wait for others to come, and how long somebody may be silent.
    pub patience: Patience,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    pub to_come: Duration,
    pub silent: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { to_come: Duration::from_secs(60), silent: Duration::from_secs(10) }
    }
}

/// Connects to all others. `say` gets to know who was refused; the error says who did not come, or does
/// not fit.
pub fn join(
    site: &Site,
    is_cancelled: &(dyn Fn() -> bool + Sync),
    say: &(dyn Fn(&str) + Sync),
) -> Result<Cycle, String> {
    let sockets = handshake::connect(site, is_cancelled, say)?;
    Cycle::over(site, sockets)
}
