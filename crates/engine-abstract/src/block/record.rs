//! What the edges of a path come to with numbers: the values of its inputs, and all that happens, written
//! down so that the replayer can check it.

use parallax_machine::system::{Record, What};
use parallax_program::Bits;
use parallax_solver::Term;
use rustc_hash::FxHashMap;

use super::walk::Walk;
use crate::places::PlaceId;

/// Where the values of inputs come from.
pub enum Inputs {
    /// Variables that are the same for every edge.
    Pooled,
    /// These, one after the other, with all that happens written down.
    Given(Given),
}

/// Values of inputs for one edge, and all that happened so far.
#[derive(Default)]
pub struct Given {
    pub values: Vec<Bits>,
    pub next: usize,
    /// What was in places when they were made, and what was there from the start.
    pub made: FxHashMap<PlaceId, Bits>,
    pub bytes: FxHashMap<Term, Bits>,
    pub story: Box<Recorded>,
}

impl Given {
    /// The values for the next edge.
    pub fn turn_to(&mut self, values: Vec<Bits>, made: FxHashMap<PlaceId, Bits>) {
        (self.values, self.made, self.next) = (values, made, 0);
    }
}

/// What happened, with the addresses that a machine has which never uses one again.
#[derive(Default)]
pub struct Recorded {
    pub log: Vec<Record>,
    pub undefined: Vec<(u32, Bits)>,
    pub unwritten: Vec<(u64, Bits)>,
    /// Which of the records are accesses of an execution that is a graph.
    pub shared: Vec<usize>,
    made: Vec<Renamed>,
}

struct Renamed {
    owner: u32,
    address: u64,
    size: u64,
    to: u64,
}

impl Recorded {
    /// Notes what nobody has written.
    pub(super) fn leave(&mut self, address: u64, bits: Bits) {
        let to = self.renamed(address);
        for byte in 0..bits.width() / 8 {
            self.unwritten.push((to + u64::from(byte), bits.extract(byte * 8, 8)));
        }
    }

    pub(super) fn renamed(&self, address: u64) -> u64 {
        let within = |made: &&Renamed| (made.address..=made.address + made.size).contains(&address);
        // The last one made there.
        let found = self.made.iter().rev().find(within);
        found.map_or(address, |made| made.to + (address - made.address))
    }
}

impl Walk<'_, '_, '_> {
    pub(crate) fn record(&mut self, what: What) {
        self.record_of(self.number, what);
    }

    pub(super) fn record_of(&mut self, thread: u32, what: What) {
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            story.log.push(Record { thread, what });
        }
    }

    pub(super) fn record_choice(&mut self, value: Term) {
        if let Some(value) = self.blocks.values.constant_of(value) {
            self.record(What::Choice { value });
        }
    }

    pub(crate) fn record_access(&mut self, is_read: bool, address: Term, bytes: u64, value: Term) {
        self.record_buffered(is_read, address, bytes, value, false);
    }

    pub(super) fn record_buffered(
        &mut self,
        is_read: bool,
        address: Term,
        bytes: u64,
        value: Term,
        is_buffered: bool,
    ) {
        let values = &self.blocks.values;
        let (Some(address), Some(value)) = (values.constant_of(address), values.constant_of(value))
        else {
            return;
        };
        let thread = self.number;
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            let address = story.renamed(address.unsigned() as u64);
            let (bytes, value) = (bytes as u8, value.unsigned());
            let what = match is_read {
                true => What::Read { address, bytes, value },
                false => What::Write { address, bytes, value, is_buffered },
            };
            story.log.push(Record { thread, what });
        }
    }

    /// Says which address a machine gives to a new object that never uses one again.
    pub(super) fn rename(&mut self, address: u64, size: u64, align: u32) {
        let (slots, owner) = (self.blocks.slots, self.number);
        if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
            let last = story.made.iter().rfind(|made| made.owner == owner);
            let last = last.map(|last| (last.to, last.size));
            let to = slots.next(owner, last, u128::from(size), align).unwrap_or(address);
            story.made.push(Renamed { owner, address, size, to });
            story.log.push(Record { thread: owner, what: What::Alloc { address: to } });
        }
    }
}
