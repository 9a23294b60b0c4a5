//! From what a machine did, step by step, to a claim.
//!
//! A claim speaks of reads and writes that are of the same bytes or of none in common, so accesses are
//! cut wherever another begins or ends inside of them. Where a read got a part from follows from the
//! buffers and from the order in which writes took effect, which is also the order of writes that
//! memory models ask for.

use std::collections::{BTreeSet, HashMap};

use parallax_machine::system::{Record, What};

use crate::{Claim, Source, Step, StepId, ThreadClaim, ThreadEnding};

/// An access, as the parts that it was cut into, each with the address where it begins.
pub type Parts = Vec<(u64, StepId)>;

/// What happened, record by record.
pub struct Story {
    /// Where some access begins or ends.
    cuts: BTreeSet<u64>,
    threads: Vec<Vec<Step>>,
    schedule: Vec<u32>,
    /// What took effect last at each place, and all that ever did.
    last: HashMap<u64, StepId>,
    co: HashMap<u64, Vec<StepId>>,
    buffers: Vec<Vec<Parts>>,
    /// The steps by which threads were spawned and ended.
    spawned: HashMap<u32, StepId>,
    ended: HashMap<u32, StepId>,
    /// The steps by which objects were made and freed.
    made: HashMap<u64, StepId>,
    freed: HashMap<u64, StepId>,
}

impl Story {
    /// Of these records, which are added one after the other, by so many threads at least.
    pub fn new(records: &[Record], threads: usize) -> Story {
        let mut cuts = BTreeSet::new();
        for record in records {
            if let What::Read { address, bytes, .. }
            | What::ReadAhead { address, bytes, .. }
            | What::Write { address, bytes, .. } = record.what
            {
                cuts.insert(address);
                cuts.insert(address.wrapping_add(u64::from(bytes)));
            }
        }
        let children = records.iter().filter_map(|record| match record.what {
            What::Spawn { child } => Some(child as usize + 1),
            _ => None,
        });
        let threads = children.max().unwrap_or(0).max(threads);
        Story {
            cuts,
            threads: vec![Vec::new(); threads],
            schedule: Vec::new(),
            last: HashMap::new(),
            co: HashMap::new(),
            buffers: vec![Vec::new(); threads],
            spawned: HashMap::new(),
            ended: HashMap::new(),
            made: HashMap::new(),
            freed: HashMap::new(),
        }
    }

    fn step(&mut self, thread: u32, step: Step) -> StepId {
        let steps = &mut self.threads[thread as usize];
        let id = StepId { thread, index: steps.len() as u32 };
        steps.push(step);
        self.schedule.push(thread);
        id
    }

    /// The parts of an access: where each begins, and its bytes where it is not the whole.
    fn parts(&self, address: u64, bytes: u8) -> Vec<(u64, Option<u8>)> {
        let end = address.wrapping_add(u64::from(bytes));
        let mut cuts: Vec<u64> = self.cuts.range(address..end).copied().collect();
        cuts.push(end);
        let parts = cuts.windows(2).map(|cut| (cut[0], (cut[1] - cut[0]) as u8));
        parts.map(|(start, size)| (start, (size != bytes).then_some(size))).collect()
    }

    /// The next record, as steps: of an access its parts, each with the address where it begins.
    pub fn add(&mut self, record: &Record) -> Parts {
        let thread = record.thread;
        let step = match record.what {
            What::Read { address, bytes, .. } => return self.read(thread, address, bytes),
            What::ReadAhead { address, bytes, of, index, .. } => {
                return self.read_ahead(thread, (address, bytes), of, index);
            }
            What::Write { address, bytes, is_buffered, .. } => {
                return self.write(thread, address, bytes, is_buffered);
            }
            What::Flush { index } => {
                let parts = self.buffers[thread as usize].remove(index);
                self.take_effect(&parts);
                return Parts::new();
            }
            What::Fence => Step::Fence,
            What::Spawn { child } => Step::Spawn { child },
            What::Begin => match self.spawned.get(&thread) {
                Some(by) => Step::Begin { by: *by },
                None => return Parts::new(),
            },
            What::Join { of } => match self.ended.get(&of) {
                Some(end) => Step::Join { of: *end },
                None => return Parts::new(),
            },
            What::Alloc { address } => Step::Alloc { address },
            What::Free { .. } => Step::Free,
            What::Choice { value } => Step::Choice { value },
            What::AtomicBegin => Step::AtomicBegin,
            What::AtomicEnd => Step::AtomicEnd,
            What::End => Step::End,
        };
        let id = self.step(thread, step);
        let place = match record.what {
            What::Spawn { child } => {
                self.spawned.insert(child, id);
                0
            }
            What::End => {
                self.ended.insert(thread, id);
                0
            }
            What::Alloc { address } => {
                self.made.insert(address, id);
                address
            }
            What::Free { address } => {
                self.freed.insert(address, id);
                address
            }
            _ => 0,
        };
        vec![(place, id)]
    }

    /// The step that made the object at an address.
    pub fn made(&self, object: u64) -> Option<StepId> {
        self.made.get(&object).copied()
    }

    /// The step that freed the object at an address.
    pub fn freed(&self, object: u64) -> Option<StepId> {
        self.freed.get(&object).copied()
    }

    fn read(&mut self, thread: u32, address: u64, bytes: u8) -> Parts {
        let parts = self.parts(address, bytes).into_iter().map(|(start, part)| {
            let own = self.buffers[thread as usize].iter().rev().flatten();
            let own = own.clone().find(|(place, _)| *place == start).map(|(_, id)| *id);
            let source = own.or_else(|| self.last.get(&start).copied());
            let source = source.map_or(Source::Initial, Source::Step);
            (start, self.step(thread, Step::Read { source, bytes: part }))
        });
        parts.collect()
    }

    /// Of a store that waits in the buffer of a thread.
    fn read_ahead(&mut self, thread: u32, place: (u64, u8), of: u32, index: usize) -> Parts {
        let stores = self.buffers[of as usize].get(index).cloned().unwrap_or_default();
        let parts = self.parts(place.0, place.1).into_iter().map(|(start, part)| {
            let store = stores.iter().find(|(at, _)| *at == start).map(|(_, id)| *id);
            let source = store.map_or(Source::Initial, Source::Step);
            (start, self.step(thread, Step::Read { source, bytes: part }))
        });
        parts.collect()
    }

    fn write(&mut self, thread: u32, address: u64, bytes: u8, is_buffered: bool) -> Parts {
        let parts = self.parts(address, bytes).into_iter();
        let parts =
            parts.map(|(start, part)| (start, self.step(thread, Step::Write { bytes: part })));
        let parts: Parts = parts.collect();
        match is_buffered {
            true => self.buffers[thread as usize].push(parts.clone()),
            false => self.take_effect(&parts),
        }
        parts
    }

    fn take_effect(&mut self, parts: &Parts) {
        for (start, id) in parts {
            self.last.insert(*start, *id);
            self.co.entry(*start).or_default().push(*id);
        }
    }

    /// A store in a buffer to an object that is gone, and the end of that object; `gone` says where
    /// the object begins that an address lies in, if it is freed.
    pub fn too_late(&self, gone: impl Fn(u64) -> Option<u64>) -> Option<[StepId; 2]> {
        let mut buffered = self.buffers.iter().flatten().flatten();
        buffered.find_map(|(address, store)| {
            let end = *self.freed.get(&gone(*address)?)?;
            (store.thread != end.thread).then_some([*store, end])
        })
    }

    /// What is still in a buffer takes effect some time.
    pub fn flush_all(&mut self) {
        for thread in 0..self.buffers.len() {
            for parts in std::mem::take(&mut self.buffers[thread]) {
                self.take_effect(&parts);
            }
        }
    }

    /// The claim that it happened, and that threads are where they are said to be.
    pub fn into_claim(self, endings: Vec<ThreadEnding>) -> Claim {
        let endings = endings.into_iter().chain(std::iter::repeat(ThreadEnding::Stopped));
        let threads = self.threads.into_iter().zip(endings);
        let threads = threads.map(|(steps, ending)| ThreadClaim { steps, ending }).collect();
        let mut co: Vec<(u64, Vec<StepId>)> = self.co.into_iter().collect();
        co.sort_unstable_by_key(|(start, _)| *start);
        let co = co.into_iter().map(|(_, writes)| writes).collect();
        Claim { threads, co, schedule: self.schedule, ..Claim::default() }
    }
}
