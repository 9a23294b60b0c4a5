//! One execution of a program: its events and the relations between them.

use parallax_program::{Bits, Location, Tags};

/// Pairs of event numbers, in order.
pub type Edges = Vec<(u32, u32)>;

/// An execution as memory models see it. Events are numbered: first the initial writes, then
/// thread by thread in program order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Execution {
    /// Names of the threads.
    pub threads: Vec<String>,
    pub events: Vec<Event>,
    /// Program order, transitively closed.
    pub po: Edges,
    /// From each write to the reads that take their value from it.
    pub rf: Edges,
    /// Coherence, transitively closed; total for each location where the engine decided it.
    pub co: Edges,
    /// Dependencies and pairing, from the program.
    pub addr: Edges,
    pub data: Edges,
    pub ctrl: Edges,
    pub rmw: Edges,
    /// Relations of the memory model that are worth drawing, by name.
    pub model_relations: Vec<(String, Edges)>,
    /// The final value of everything that the test observes.
    pub final_state: FinalValues,
}

type FinalValues = Vec<crate::StateValue>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// None for initial writes.
    pub thread: Option<u32>,
    pub kind: EventKind,
    pub tags: Tags,
    /// Where in the source the instruction stands; None for initial writes.
    pub place: Option<Location>,
    /// The instruction as the source has it.
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventKind {
    Read { location: String, address: u64, size: u32, value: Bits, shown: String },
    Write { location: String, address: u64, size: u32, value: Bits, shown: String },
    Fence,
}

impl Execution {
    /// From-reads: from a read to every write that overwrites what it read.
    pub fn fr(&self) -> Edges {
        let mut fr: Edges = Vec::new();
        for (write, read) in &self.rf {
            let later = self.co.iter().filter(|(earlier, _)| earlier == write);
            fr.extend(later.map(|(_, later)| (*read, *later)).filter(|(r, w)| r != w));
        }
        fr.sort_unstable();
        fr
    }
}
