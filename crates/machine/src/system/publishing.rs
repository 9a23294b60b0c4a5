//! The machine that publishes a write to all threads at once: steps of threads issue accesses, and writes are published
//! by steps of their own. See [`Pool`](super::pool::Pool) for what waits.

use std::sync::Arc;

use parallax_program::Bits;

use super::local::{At, Input, Local};
use super::marks::Marks;
use super::objects::BadAccess;
use super::pool::{Bound, Depends, Kind, Pending, Pool};
use super::readiness::{Readiness, Waits};
use super::record::{Log, What};
use super::{Entry, MemoryKind, Slot, System};

/// One of the ways in which a read, or a read-modify-write, can be issued.
#[derive(Clone, Copy, Debug)]
struct Way {
    bound: Bound,
    old: Bits,
    /// What is written, if something is.
    new: Option<u128>,
    /// Whether it fails though it finds what it expects.
    fails: bool,
}

/// A write that is to be issued.
struct Written {
    place: (u64, u8),
    value: u128,
    marks: Marks,
    /// Of a read-modify-write.
    pair: Option<(Bound, Option<u8>)>,
}

/// Why the ways are not known.
enum Obstacle {
    /// Accesses of other bytes wait that overlap.
    Mixed,
    Undefined,
}

impl<'p> System<'_, 'p> {
    pub(super) fn publishes(&self) -> bool {
        self.setup.options.memory == MemoryKind::Mca
    }

    /// Whether nothing waits to be performed. A state in which something does and nothing can happen is none of an execution.
    pub fn is_settled(&self) -> bool {
        self.threads.iter().flatten().all(|slot| slot.pool.is_empty())
    }

    /// Whether a thread has so much that waits that it goes no further.
    pub fn is_full(&self, thread: u32) -> bool {
        self.slot(thread).is_some_and(|slot| slot.pool.is_full())
    }

    fn pools(&self) -> impl Iterator<Item = (u32, &Pool)> {
        let slots = (0u32..).zip(&self.threads);
        slots.filter_map(|(number, slot)| Some((number, &*slot.as_ref()?.pool)))
    }

    fn pool_mut(&mut self, thread: u32) -> Option<&mut Pool> {
        self.threads.get_mut(thread as usize)?.as_mut().map(|slot| Arc::make_mut(&mut slot.pool))
    }

    /// Where in the buffer the write of a pool is.
    fn place_of(slot: &Slot<'p>, id: u8) -> usize {
        slot.pool.entries.iter().take_while(|it| it.id != id).filter(|it| it.is_write()).count()
    }

    /// The writes of a thread that can be published.
    pub(super) fn publications(&self, thread: u32) -> Vec<usize> {
        let Some(slot) = self.slot(thread) else { return Vec::new() };
        let may = |write: &Pending| {
            write.after == 0 && self.pools().all(|(own, pool)| pool.admits(own, thread, write))
        };
        let writes = slot.pool.entries.iter().filter(|entry| entry.is_write()).enumerate();
        writes.filter(|(_, write)| may(write)).map(|(place, _)| place).collect()
    }

    pub(super) fn publish(&mut self, thread: u32, place: usize, log: &mut Log) {
        let write = self.slot(thread).and_then(|slot| {
            slot.pool.entries.iter().filter(|entry| entry.is_write()).nth(place).map(|it| it.id)
        });
        let Some(id) = write else { return };
        let Some(Some(slot)) = self.threads.get_mut(thread as usize) else { return };
        if let Some(Entry::Store { address, bytes, value, .. }) = slot.buffer.take(place) {
            self.store(address, bytes, value);
            log.add(thread, What::Flush { index: place });
        }
        self.done(thread, id);
        self.perform_all();
    }

    /// Something of a thread was performed.
    fn done(&mut self, thread: u32, id: u8) {
        let Some(done) = self.pool_mut(thread).and_then(|pool| pool.perform(id)) else { return };
        if done.is_read() {
            if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
                slot.local = Arc::new(slot.local.performed(self.setup, 1 << id));
            }
            return;
        }
        for slot in self.threads.iter_mut().flatten().filter(|slot| !slot.pool.is_empty()) {
            Arc::make_mut(&mut slot.pool).published(thread, id);
        }
    }

    /// Performs what can be and is in nobody's way: reads, and starts and ends of threads.
    pub(super) fn perform_all(&mut self) {
        loop {
            let next = self.pools().find_map(|(number, pool)| {
                Some((number, pool.ready(number).or_else(|| pool.free())?))
            });
            let Some((thread, id)) = next else { return };
            self.done(thread, id);
        }
    }

    /// Whether the next access of a thread can be issued.
    pub(super) fn ready_to_issue(&self, thread: u32, slot: &Slot<'p>) -> Readiness {
        if slot.pool.is_full() {
            return Readiness::Blocked(Waits::Buffer);
        }
        if let At::Store { address, bytes, .. } = slot.local.at {
            return match self.is_mixed(address, bytes) {
                true => MIXED,
                false => Readiness::Ready { choices: 1 },
            };
        }
        let place = slot.local.at.access().map(|(address, bytes, _)| (address, bytes));
        match self.ways(thread, slot) {
            Err(Obstacle::Mixed) => MIXED,
            Err(Obstacle::Undefined) => Readiness::bad(BadAccess::Undefined),
            Ok((ways, spins)) if ways.is_empty() => {
                let (address, bytes) = place.unwrap_or_default();
                Readiness::Blocked(Waits::Bytes { address, bytes, spins })
            }
            Ok((ways, _)) => Readiness::Ready { choices: ways.len() as u64 },
        }
    }

    /// Whether some bytes are accessed in part by what waits.
    fn is_mixed(&self, address: u64, bytes: u8) -> bool {
        let mut all = self.pools().flat_map(|(_, pool)| &pool.entries);
        all.any(|it| it.overlaps(address, bytes) && (it.address, it.bytes) != (address, bytes))
    }

    /// The ways in which a thread can go on with its read, and whether it would go round a loop by those that are left out.
    fn ways(&self, thread: u32, slot: &Slot<'p>) -> Result<(Vec<Way>, bool), Obstacle> {
        let at = &slot.local.at;
        let Some((address, bytes, _)) = at.access() else { return Ok((Vec::new(), false)) };
        if self.is_mixed(address, bytes) {
            return Err(Obstacle::Mixed);
        }
        let marks = match at {
            At::Load { marks, .. } => *marks,
            _ => Marks::default(),
        };
        let mut ways = Vec::new();
        let mut has_spun = false;
        for bound in self.sources(thread, slot, address, bytes) {
            let old = match self.value_of(bound, address, bytes) {
                Some(value) => Bits::new(u32::from(bytes) * 8, value),
                None => {
                    let content = self.content(None, address, u32::from(bytes));
                    if !content.is_defined() && !marks.is_copy() {
                        return Err(Obstacle::Undefined);
                    }
                    content.bits(u32::from(bytes), marks)
                }
            };
            let new = at.written(old);
            let is_weak = matches!(at, At::Cas { is_weak: true, .. });
            if new.is_none() || !self.is_claimed(bound, address, bytes) {
                ways.push(Way { bound, old, new, fails: false });
            }
            if new.is_some() && is_weak {
                ways.push(Way { bound, old, new: None, fails: true });
            }
        }
        ways.retain(|way| {
            let changes = way.new.is_some_and(|new| new != way.old.unsigned());
            let input = match at {
                At::Cas { .. } => Input::Pair(way.old, way.new.is_some()),
                _ => Input::Value(way.old),
            };
            let readiness = match changes {
                true => Readiness::Ready { choices: 1 },
                false => self.unless_stuck(slot, input, Some((address, bytes))),
            };
            has_spun |= matches!(readiness, Readiness::Blocked(Waits::Bytes { spins: true, .. }));
            matches!(readiness, Readiness::Ready { .. })
        });
        Ok((ways, has_spun))
    }

    /// What a read can get its value from, as far as the thread's own earlier accesses of these bytes allow.
    fn sources(&self, thread: u32, slot: &Slot<'p>, address: u64, bytes: u8) -> Vec<Bound> {
        let own: Vec<&Pending> =
            slot.pool.entries.iter().filter(|it| it.overlaps(address, bytes)).collect();
        let written = own.iter().rposition(|it| it.is_write());
        let reads = &own[written.map_or(0, |place| place + 1)..];
        let last = reads.last().map(|it| it.bound);
        let mut sources = Vec::new();
        let newest = match written {
            Some(place) => Bound::Write { thread, id: own[place].id },
            None => Bound::Memory,
        };
        if last.is_none_or(|last| last == newest) {
            sources.push(newest);
        }
        let others = self.pools().filter(|(number, _)| *number != thread);
        for (number, pool) in others {
            for write in
                pool.entries.iter().filter(|it| it.is_write() && it.overlaps(address, bytes))
            {
                let bound = Bound::Write { thread: number, id: write.id };
                let was_left = reads.iter().any(|it| it.bound == bound) && last != Some(bound);
                if !was_left {
                    sources.push(bound);
                }
            }
        }
        sources
    }

    /// The value of a write that waits.
    fn value_of(&self, bound: Bound, address: u64, bytes: u8) -> Option<u128> {
        let Bound::Write { thread, id } = bound else { return None };
        let slot = self.slot(thread)?;
        match slot.buffer.entries().get(Self::place_of(slot, id))? {
            Entry::Store { address: at, bytes: count, value, .. } => {
                ((*at, *count) == (address, bytes)).then_some(*value)
            }
            _ => None,
        }
    }

    /// Whether a read-modify-write that waits comes right behind that already.
    fn is_claimed(&self, bound: Bound, address: u64, bytes: u8) -> bool {
        let mut all = self.pools().flat_map(|(_, pool)| &pool.entries);
        all.any(|it| match it.kind {
            Kind::Write { pair: Some((source, _)) } => {
                source == bound && it.overlaps(address, bytes)
            }
            _ => false,
        })
    }

    /// Issues the access that a thread stands at.
    pub(super) fn issue(
        &mut self,
        thread: u32,
        local: &Local<'p>,
        choice: u64,
        log: &mut Log,
    ) -> Input {
        let [first, second, third] = self.setup.marks(local.site());
        let from = local.depends();
        match local.at {
            At::Store { address, bytes, value, .. } => {
                let (place, pair) = ((address, bytes), None);
                let written = Written { place, value, marks: first, pair };
                self.issue_write(thread, written, from, log);
                Input::Nothing
            }
            At::Load { address, bytes, .. }
            | At::Rmw { address, bytes, .. }
            | At::Cas { address, bytes, .. } => {
                let ways = self.slot(thread).and_then(|slot| self.ways(thread, slot).ok());
                let Some(way) = ways.and_then(|(ways, _)| ways.get(choice as usize).copied())
                else {
                    return Input::Nothing;
                };
                let is_pair = !matches!(local.at, At::Load { .. });
                let marks = match (is_pair, way.new) {
                    (true, None) => third,
                    _ => first,
                };
                if way.fails {
                    log.add(thread, What::Choice { value: Bits::bool(true) });
                }
                let (bound, read) =
                    self.issue_read(thread, (address, bytes), way, marks, from, log);
                let mask = read.map_or(0, |id| 1 << id);
                let old = way.old.coming_from(mask);
                if let Some(new) = way.new {
                    // What is added to an old value comes from that, what replaces it does not.
                    let swaps = match &local.at {
                        At::Rmw { op, .. } => *op == parallax_program::RmwOp::Swap,
                        _ => true,
                    };
                    let value = from.value | if swaps { 0 } else { mask };
                    let from = Depends { value, ..from };
                    let (place, pair) = ((address, bytes), Some((bound, read)));
                    let written = Written { place, value: new, marks: second, pair };
                    self.issue_write(thread, written, from, log);
                }
                match local.at {
                    At::Cas { .. } => Input::Pair(old, way.new.is_some()),
                    _ => Input::Value(old),
                }
            }
            At::Join { thread: of } => {
                log.add(thread, What::Join { of: of as u32 });
                let end = self.slot(of as u32).and_then(|slot| {
                    slot.pool.entries.iter().find(|it| it.kind == Kind::End).map(|it| it.id)
                });
                if let (Some(id), Some(pool)) = (end, self.pool_mut(thread)) {
                    pool.acquire(Bound::Write { thread: of as u32, id });
                }
                Input::Nothing
            }
            _ => Input::Nothing,
        }
    }

    /// Where the value comes from when the read is issued, and its number if it waits.
    fn issue_read(
        &mut self,
        thread: u32,
        place: (u64, u8),
        way: Way,
        marks: Marks,
        from: Depends,
        log: &mut Log,
    ) -> (Bound, Option<u8>) {
        let (address, bytes) = place;
        let value = way.old.unsigned();
        match way.bound {
            Bound::Write { thread: of, id } if of != thread => {
                let index = self.slot(of).map_or(0, |slot| Self::place_of(slot, id));
                log.add(thread, What::ReadAhead { address, bytes, value, of, index });
            }
            _ => log.add(thread, What::Read { address, bytes, value }),
        }
        let Some(pool) = self.pool_mut(thread) else { return (way.bound, None) };
        let id = pool.read(place, way.bound, marks, from, thread);
        self.perform_all();
        let waits =
            self.slot(thread).is_some_and(|slot| slot.pool.find(id).is_some_and(Pending::is_read));
        (way.bound, waits.then_some(id))
    }

    fn issue_write(&mut self, thread: u32, written: Written, from: Depends, log: &mut Log) {
        let Written { place, value, marks, pair } = written;
        let (address, bytes) = place;
        if let Some(pool) = self.pool_mut(thread) {
            pool.write(place, marks, from, pair);
        }
        self.push(thread, Entry::Store { address, bytes, value, is_release: false });
        log.add(thread, What::Write { address, bytes, value, is_buffered: true });
    }

    /// Issues a fence.
    pub(super) fn issue_fence(&mut self, thread: u32, marks: Marks) {
        if let Some(pool) = self.pool_mut(thread).filter(|pool| !pool.is_empty()) {
            pool.fence(marks);
        }
    }

    /// Takes down that the address of a private access comes from reads that wait.
    pub(super) fn issue_addressed(&mut self, thread: u32, from: u64) {
        if let Some(pool) = self.pool_mut(thread) {
            pool.addressed(from);
        }
    }

    /// Issues the start of a thread; what the thread begins with.
    pub(super) fn issue_spawn(&mut self, thread: u32, child: u32) -> Option<Bound> {
        let id = self.pool_mut(thread)?.release(Kind::Spawn { child });
        Some(Bound::Write { thread, id })
    }

    /// A thread was started.
    pub(super) fn issue_begin(&mut self, thread: u32, bound: Bound) {
        if let Some(pool) = self.pool_mut(thread) {
            pool.acquire(bound);
        }
    }

    /// A thread has gone on to its next operation: it ends where that is its end, whatever waits.
    pub(super) fn settle_issued(&mut self, thread: u32, log: &mut Log) {
        let local = self.slot(thread).map(|slot| slot.local.clone());
        if let Some(local) = local.filter(|local| local.at == At::End) {
            log.add(thread, What::End);
            if let Some(Some(slot)) = self.threads.get_mut(thread as usize) {
                slot.local = Arc::new(local.ended(self.setup));
                Arc::make_mut(&mut slot.pool).release(Kind::End);
            }
        }
        self.perform_all();
    }
}

/// Accesses of different sizes that overlap are not followed.
const MIXED: Readiness =
    Readiness::Unsupported("accesses of different sizes that overlap, on this machine");
