//! What a thread of a multi-copy-atomic machine has begun and the machine has not performed yet.
//!
//! A thread *issues* its accesses in program order, and the machine *performs* them later: a write when it is published
//! to all threads at once, a read when what it has read is in memory, or in an own write before it. What must be performed before what is what
//! `models/lib/mca.cat` keeps of the order of a thread: dependencies, acquires and releases, fences, and writes of a place
//! after earlier accesses of it. For each access that waits the pool has the set of those that it waits for, as bits.
//!
//! The issue and the publication of writes as two steps are from S. Singh, Program analysis under relaxed memory
//! concurrency, IIT Delhi 2023, chapter 5 (there writes wait in shadow threads, one for each thread and location). There
//! writes are moved up in the program beforehand, and reads by a rule of thumb, which loses executions. Here a read has its value when it is
//! issued, be it that of a write of another thread that is not published yet; then what follows can be issued, too, and be
//! performed before the read is. What a read was promised must come true: a write is published only if no
//! read is left behind by that. Where that leads nowhere the run is no execution.

use parallax_program::Bits;

use super::fingerprint::Digest;
use super::marks::Marks;
use crate::Operation;

/// A set of what waits in a pool, by number.
pub type Waiting = u64;

/// Where a read gets its value from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// What is in memory. Nobody may publish another write there until it is performed.
    Memory,
    /// A write, or the start or end of a thread, that waits in the pool of a thread.
    Write { thread: u32, id: u8 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Read,
    /// If it is half of a read-modify-write, what the other half reads, and its number if that waits.
    Write {
        pair: Option<(Bound, Option<u8>)>,
    },
    /// The start of a thread.
    Spawn {
        child: u32,
    },
    End,
}

/// An access that was issued and not performed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    pub id: u8,
    pub kind: Kind,
    pub address: u64,
    /// None for what is no access of memory.
    pub bytes: u8,
    /// Of a read.
    pub bound: Bound,
    /// What must be performed before it.
    pub after: Waiting,
    /// Reads that its address and its value come from.
    pub origin: Waiting,
    is_ordered: bool,
}

impl Pending {
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    pub fn is_read(&self) -> bool {
        self.kind == Kind::Read
    }

    pub fn overlaps(&self, address: u64, bytes: u8) -> bool {
        self.address < address.saturating_add(u64::from(bytes))
            && address < self.address.saturating_add(u64::from(self.bytes))
    }

    /// Whether another write at these bytes would take away what was promised.
    pub fn holds(&self, address: u64, bytes: u8) -> bool {
        let promised = match self.kind {
            Kind::Read => self.bound == Bound::Memory,
            Kind::Write { pair } => matches!(pair, Some((Bound::Memory, _))),
            _ => false,
        };
        promised && self.overlaps(address, bytes)
    }
}

/// What a new access depends on.
#[derive(Clone, Copy, Default, Debug)]
pub struct Depends {
    pub address: Waiting,
    pub value: Waiting,
    pub control: Waiting,
    /// What a compare-and-swap expects, which decides whether it succeeds.
    pub expected: Waiting,
}

impl Depends {
    pub fn of(operation: &Operation<'_, Bits>) -> Depends {
        let from = |address: &Bits, value: u64| Depends {
            address: address.from(),
            value,
            ..Depends::default()
        };
        match operation {
            Operation::Load { address, .. } => from(address, 0),
            Operation::Store { address, value, .. } => from(address, value.from()),
            Operation::Rmw { address, operand, .. } => from(address, operand.from()),
            Operation::Cas { address, expected, desired, .. } => {
                Depends { expected: expected.from(), ..from(address, desired.from()) }
            }
            _ => Depends::default(),
        }
    }

    /// Without these reads.
    pub fn without(self, reads: Waiting) -> Depends {
        Depends {
            address: self.address & !reads,
            value: self.value & !reads,
            control: self.control & !reads,
            expected: self.expected & !reads,
        }
    }
}

/// Of one thread, in program order.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Pool {
    pub entries: Vec<Pending>,
    /// What comes before everything that is issued from now on, and before every write.
    before_all: Waiting,
    before_writes: Waiting,
    /// Reads that the addresses of accesses come from.
    addresses: Waiting,
}

impl Pool {
    /// So many accesses can wait.
    const MOST: usize = 60;

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether what comes next may find no room.
    pub fn is_full(&self) -> bool {
        self.entries.len() >= Self::MOST
    }

    pub fn find(&self, id: u8) -> Option<&Pending> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    fn ids(&self, which: impl Fn(&Pending) -> bool) -> Waiting {
        self.entries.iter().filter(|it| which(it)).fold(0, |all, it| all | 1 << it.id)
    }

    fn push(&mut self, kind: Kind, place: (u64, u8), bound: Bound, after: Waiting) -> u8 {
        let id = (!self.ids(|_| true)).trailing_zeros() as u8;
        let (address, bytes) = place;
        let entry =
            Pending { id, kind, address, bytes, bound, after, origin: 0, is_ordered: false };
        self.entries.push(entry);
        id
    }

    /// Issues a read.
    pub fn read(
        &mut self,
        place: (u64, u8),
        bound: Bound,
        marks: Marks,
        from: Depends,
        own: u32,
    ) -> u8 {
        let mut after = self.before_all | from.address;
        if marks.is_sequential() {
            after |= self.ids(|it| it.is_write() && it.is_ordered);
        }
        // An own write can be read as soon as it is known, and what a read-modify-write stores acquires what that has read.
        if let Bound::Write { thread, id } = bound
            && thread == own
            && let Some(write) = self.find(id)
        {
            after |= write.origin;
            if let Kind::Write { pair: Some((_, Some(read))) } = write.kind
                && marks.is_acquire()
            {
                after |= 1 << read;
            }
        }
        self.addresses |= from.address;
        let id = self.push(Kind::Read, place, bound, after);
        if marks.is_acquire() {
            self.before_all |= 1 << id;
        }
        id
    }

    /// Issues a write.
    pub fn write(
        &mut self,
        place: (u64, u8),
        marks: Marks,
        from: Depends,
        pair: Option<(Bound, Option<u8>)>,
    ) {
        let origin = from.address | from.value;
        self.addresses |= from.address;
        let mut after = self.before_all | self.before_writes | self.addresses;
        after |= origin | from.control;
        after |= match marks.is_barrier() {
            true => self.ids(|_| true),
            false => self.ids(|it| it.overlaps(place.0, place.1)),
        };
        let own = pair.and_then(|(_, read)| read).map_or(0, |read| 1 << read);
        let id = self.push(Kind::Write { pair }, place, Bound::Memory, after | own);
        if let Some(entry) = self.entries.last_mut().filter(|entry| entry.id == id) {
            // A read-modify-write is no dependency of its own write.
            entry.origin = origin & !own;
            entry.is_ordered = marks.is_sequential();
        }
    }

    /// Issues the start of a thread, or the end of the own one: a release of all that comes before.
    pub fn release(&mut self, kind: Kind) -> u8 {
        let after = self.ids(|_| true);
        self.push(kind, (0, 0), Bound::Memory, after)
    }

    /// Begins with the start of the own thread, or goes on with the end of another: an acquire.
    pub fn acquire(&mut self, bound: Bound) -> u8 {
        let after = self.before_all;
        let id = self.push(Kind::Read, (0, 0), bound, after);
        self.before_all |= 1 << id;
        id
    }

    pub fn fence(&mut self, marks: Marks) {
        if marks.is_sequential() {
            self.before_all |= self.ids(|_| true);
            return;
        }
        if marks.is_acquire() {
            self.before_all |= self.ids(Pending::is_read);
        }
        if marks.is_barrier() {
            self.before_writes |= self.ids(|_| true);
        }
    }

    /// A private access whose address comes from these reads.
    pub fn addressed(&mut self, from: Waiting) {
        self.addresses |= from;
    }

    /// Performs what has that number.
    pub fn perform(&mut self, id: u8) -> Option<Pending> {
        let place = self.entries.iter().position(|entry| entry.id == id)?;
        let done = self.entries.remove(place);
        let rest = !(1u64 << id);
        for entry in &mut self.entries {
            entry.after &= rest;
            entry.origin &= rest;
            if let Kind::Write { pair: Some((_, read)) } = &mut entry.kind
                && done.is_read()
                && *read == Some(id)
            {
                *read = None;
            }
        }
        self.before_all &= rest;
        self.before_writes &= rest;
        self.addresses &= rest;
        Some(done)
    }

    /// A write that waited is in memory now.
    pub fn published(&mut self, thread: u32, id: u8) {
        let write = Bound::Write { thread, id };
        for entry in &mut self.entries {
            if entry.bound == write {
                entry.bound = Bound::Memory;
            }
            if let Kind::Write { pair: Some((bound, _)) } = &mut entry.kind
                && *bound == write
            {
                *bound = Bound::Memory;
            }
        }
    }

    /// A read that can be performed: what it waits for was, and its value is there.
    pub fn ready(&self, own: u32) -> Option<u8> {
        let has_value = |entry: &Pending| match entry.bound {
            Bound::Memory => true,
            Bound::Write { thread, id } => {
                thread == own && self.find(id).is_some_and(Pending::is_write)
            }
        };
        let reads = self.entries.iter().filter(|entry| entry.is_read() && entry.after == 0);
        reads.filter(|entry| has_value(entry)).map(|entry| entry.id).next()
    }

    /// The start or end of a thread that nothing holds up.
    pub fn free(&self) -> Option<u8> {
        let mut free = self.entries.iter().filter(|entry| entry.after == 0);
        free.find(|entry| matches!(entry.kind, Kind::Spawn { .. } | Kind::End))
            .map(|entry| entry.id)
    }

    /// Whether another write at the bytes of one may be published without leaving a read behind that was
    /// promised one of the two.
    pub fn admits(&self, own: u32, writer: u32, write: &Pending) -> bool {
        let it = Bound::Write { thread: writer, id: write.id };
        let mut last: Option<&Pending> = None;
        for entry in self.entries.iter().filter(|it| it.overlaps(write.address, write.bytes)) {
            let is_itself = own == writer && entry.id == write.id;
            if !is_itself && entry.holds(write.address, write.bytes) {
                return false;
            }
            // What the thread did there before comes before that write.
            let is_promised = entry.is_read() && entry.bound == it && own != writer;
            let is_late = |last: &Pending| !(last.is_read() && last.bound == it);
            if is_promised && last.is_some_and(is_late) {
                return false;
            }
            last = Some(entry);
        }
        true
    }

    pub fn add_to(&self, digest: &mut Digest) {
        for entry in &self.entries {
            let kind = match entry.kind {
                Kind::Read => 0,
                Kind::Write { pair: None } => 1,
                Kind::Write { pair: Some((bound, read)) } => {
                    digest.add(number(bound) << 8 | u64::from(read.unwrap_or(u8::MAX)));
                    2
                }
                Kind::Spawn { child } => 4 + u64::from(child),
                Kind::End => 3,
            };
            let ordered = u64::from(entry.is_ordered);
            digest.add(
                kind << 32 | u64::from(entry.id) << 16 | u64::from(entry.bytes) << 8 | ordered,
            );
            digest.add(entry.address);
            digest.add(number(entry.bound));
            digest.add(entry.after);
            digest.add(entry.origin);
        }
        digest.add(self.before_all);
        digest.add(self.before_writes);
        digest.add(self.addresses);
    }
}

fn number(bound: Bound) -> u64 {
    match bound {
        Bound::Memory => 0,
        Bound::Write { thread, id } => 1 + (u64::from(thread) << 8 | u64::from(id)),
    }
}
