//! Proofs that somebody who does not trust the engine can check: the abstract reachability graph as text.
//!
//! [`write`] puts a complete graph down, [`read`] gets it back, and [`check`] verifies it against the
//! program: the first states, each step of each state, each covering, and that nothing is left out (a
//! reachability proof is an inductive invariant that is cut in pieces: T. Henzinger, R. Jhala, R. Majumdar,
//! G. Necula, G. Sutre, W. Weimer, Temporal-safety proofs for systems code, CAV 2002). The checker knows what the
//! engine takes an edge of the program to be ([`crate::block`]) and asks a solver; it knows nothing of
//! the search, of what abstract states track or how they are compared, and of refinement. `order` checks
//! that threads which were put off at a state could be; `graphs` checks what graphs say of executions, where they are such. The format is in the book (`docs/src/proofs.md`).

mod check;
mod executions;
mod graphs;
mod order;
mod read;
mod terms;
mod write;

use std::collections::BTreeMap;

use parallax_program::{Bits, Program, Property};
use parallax_solver::Term;

use crate::block::Decision;
use crate::control::Control;
use crate::declarative::leaving::Leaving;
use crate::places::PlaceId;

pub use check::{Checked, check};
pub use write::text;

/// The version of the format.
const VERSION: &str = "1";

/// What a proof is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// A number that the text of the program comes to.
    pub program: u64,
    pub model: String,
    /// Whether executions are graphs.
    pub has_graphs: bool,
    /// What was asked for.
    pub properties: Vec<Property>,
    /// What inputs may be; None for any value.
    pub nondet: Option<(i128, i128)>,
}

impl Header {
    /// What a proof says that it is about.
    pub fn read(name: &str, text: &str) -> Result<Header, parallax_program::Diagnostics> {
        read::header(name, text)
    }

    /// Whether it is about that program.
    pub fn is_about(&self, program: &Program) -> bool {
        self.program == fingerprint(program)
    }
}

/// A graph of abstract states.
struct Proof {
    roots: Vec<usize>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    predicates: Vec<Term>,
}

#[derive(Default)]
struct Node {
    control: Control,
    values: BTreeMap<PlaceId, Bits>,
    /// Predicates that hold, or do not.
    facts: Vec<(usize, bool)>,
    /// Threads whose steps are looked at.
    expands: Vec<u32>,
    covered: Option<usize>,
}

struct Edge {
    from: usize,
    thread: u32,
    trail: Vec<Decision>,
    /// What leaves the execution, where that is a graph; not yet what is known then of forgotten writes.
    leaving: Leaving,
    to: Vec<usize>,
}

/// Distinguishes programs: nothing but a message depends on it (FNV-1a of the text form).
fn fingerprint(program: &Program) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    program.to_text().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step)
}
