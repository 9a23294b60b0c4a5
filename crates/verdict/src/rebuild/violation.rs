//! Whether what is wrong is really wrong, where it shows in how threads stand: the thread that is
//! said to fail stands at something that fails, and threads that are said to wait for ever do.

use std::collections::BTreeSet;

use parallax_machine::system::BadAccess;
use parallax_machine::{Operation, wrong_access, wrong_end, wrong_free};
use parallax_program::{AllocKind, Open, Property};

use super::coherence::{Footprint, Orders};
use super::{Rebuild, describe};
use crate::traced::Traced;
use crate::walker::Due;
use crate::{Claim, EventKind, Source, Standing, Step, StepId, Suspicion, ThreadEnding};

impl Rebuild<'_, '_> {
    /// Where that is yet to be seen, the result is a claim that shows it.
    pub(super) fn check_violation(
        &mut self,
        suspicion: &Suspicion,
        standings: &[Standing],
        orders: &Orders,
    ) -> Result<Option<Claim>, String> {
        if let Some(thread) = suspicion.failed {
            let undefined = self.check_failure(thread, suspicion.property)?;
            return Ok(undefined.then(|| self.with_undefined_read(thread, orders)));
        }
        self.check_standings(suspicion, standings, orders).map(|()| None)
    }

    fn check_standings(
        &mut self,
        suspicion: &Suspicion,
        standings: &[Standing],
        orders: &Orders,
    ) -> Result<(), String> {
        match suspicion.property {
            property @ (Property::Deadlock | Property::Liveness) => {
                self.check_endless(property, standings, orders)
            }
            Property::Memory => match suspicion.involved[..] {
                [read] => self.check_undefined(read),
                _ => Ok(()),
            },
            Property::Leak => match suspicion.involved[..] {
                [made] => self.check_left(made),
                _ => Err("which object leaks is not said".to_string()),
            },
            // The accesses of a race and the use of a lock show in the events, see `evidence`.
            _ => Ok(()),
        }
    }

    /// Whether a read finds what nobody has written, and does more with it than to copy it.
    fn check_undefined(&self, read: StepId) -> Result<(), String> {
        let (event, kind) = self.earlier(read)?;
        let EventKind::Read { address, size, location, .. } = kind else {
            return Err("what finds nothing is no read".to_string());
        };
        if !self.initial_reads.contains(&event) {
            return Err(format!("the read finds what was written to {location}"));
        }
        let mut bytes = (0..u64::from(*size)).map(|byte| address.wrapping_add(byte));
        if bytes.all(|byte| self.objects.is_defined(byte)) {
            return Err(format!("{location} holds something from the start"));
        }
        match self.derived.tags.get(&event).is_some_and(|tags| tags.contains("COPY")) {
            true => Err("the read only copies what is there".to_string()),
            false => Ok(()),
        }
    }

    /// Whether an object of the heap is still there when the program is over.
    fn check_left(&self, made: StepId) -> Result<(), String> {
        let (_, kind) = self.earlier(made)?;
        let EventKind::Alloc { address, name, .. } = kind else {
            return Err("what leaks is no object".to_string());
        };
        let mut runs = self.threads.iter().filter(|run| run.walker.is_some());
        let is_over = match self.code.program.daemons {
            true => runs.next().is_some_and(|first| first.has_ended),
            false => runs.all(|run| run.has_ended),
        };
        match self.objects.heap_size(*address) {
            None => Err(format!("{name} is freed, or not of the heap")),
            Some(_) if !is_over => Err("the program is not over".to_string()),
            Some(_) => Ok(()),
        }
    }

    /// Whether a thread stands at what violates a property. The result says whether it does only if it
    /// reads what nobody has written.
    fn check_failure(&mut self, thread: usize, property: Property) -> Result<bool, String> {
        let due = self.due(thread as u32, None)?;
        let fails = match &due {
            Due::Operation(operation) if decided_by_undefined(operation) => {
                property == Property::Memory
            }
            // The condition is false: the walker goes past those that hold.
            Due::Operation(Operation::Assert { property: violated, .. }) => *violated == property,
            Due::Write { address, .. } if property == Property::Lock => {
                let walker = self.threads[thread].walker.as_ref();
                let unlocks =
                    walker.and_then(|walker| walker.access()).is_some_and(|it| it.unlocks);
                unlocks && !self.holds_lock(thread, *address)
            }
            _ if property != Property::Memory => false,
            Due::Operation(Operation::Free { address, kind }) => {
                let (made, address) = self.objects.made_at(address.bits.unsigned());
                wrong_free(made, address, *kind).is_some()
            }
            Due::Operation(Operation::Fault(fault)) => fault.violates() == Some(property),
            Due::Operation(Operation::HeapSize { address }) => {
                let (made, address) = self.objects.made_at(address.bits.unsigned());
                wrong_end(made, address, AllocKind::Heap).is_some()
            }
            Due::Operation(_) => false,
            Due::Read { .. } | Due::Write { .. } | Due::Decision => self.wrong_access(thread),
        };
        let is_read = matches!(due, Due::Read { .. }) && property == Property::Memory;
        match fails {
            true => Ok(false),
            false if is_read && self.may_read_undefined(thread) => Ok(true),
            false => Err(format!("nothing violates '{property}' at {}", describe(&due))),
        }
    }

    /// Whether the last that a thread has done with a lock was to take it.
    fn holds_lock(&self, thread: usize, lock: u64) -> bool {
        let run = &self.threads[thread];
        let mut own = (run.first_event..run.first_event + run.taken).rev();
        let is_it = |event: &u32| match self.kind_of(*event) {
            Some(EventKind::Write { address, .. }) => *address == lock,
            _ => false,
        };
        let last = own.find(is_it).and_then(|last| self.derived.tags.get(&last));
        last.is_some_and(|tags| tags.contains("LOCK_WRITE"))
    }

    /// Whether something is wrong with the access that a thread stands at.
    fn wrong_access(&self, thread: usize) -> bool {
        let walker = self.threads[thread].walker.as_ref();
        let Some(access) = walker.and_then(|walker| walker.access()) else {
            return false;
        };
        access.open == Open::All
            || self.objects.wrong_with(access.address, access.bytes, access.writes).is_some()
    }

    /// Whether the access that a thread stands at reads bytes that hold nothing at first, and does
    /// more than to copy them.
    fn may_read_undefined(&self, thread: usize) -> bool {
        let walker = self.threads[thread].walker.as_ref();
        let access = walker.and_then(|walker| walker.access());
        access.is_some_and(|access| {
            let start = access.address as u64;
            let mut bytes = (0..u64::from(access.bytes)).map(|byte| start.wrapping_add(byte));
            access.reads && !access.copies && bytes.any(|byte| !self.objects.is_defined(byte))
        })
    }

    /// The claim, with the read that the thread stands at. It finds the last that was written, and
    /// where nothing was, or all of it might have been written too late, what nobody has.
    fn with_undefined_read(&self, thread: usize, orders: &Orders) -> Claim {
        let mut claim = self.claim.clone();
        let walker = self.threads[thread].walker.as_ref();
        let Some(access) = walker.and_then(|walker| walker.access()) else { return claim };
        let parts = parts((access.address as u64, access.bytes), orders);
        let is_open = |(start, size): &Footprint| {
            (0..u64::from(*size)).any(|byte| !self.objects.is_defined(start.wrapping_add(byte)))
        };
        let last = |part: &Footprint| orders.get(part).and_then(|order| order.last()).copied();
        let is_certain = parts.iter().any(|part| is_open(part) && last(part).is_none());
        for part in &parts {
            let write = last(part).filter(|_| is_certain || !is_open(part));
            let source = write.and_then(|write| self.step_of(write));
            let source = source.map_or(Source::Initial, Source::Step);
            let bytes = u8::try_from(part.1).ok();
            claim.threads[thread].steps.push(Step::Read { source, bytes });
            claim.threads[thread].ending = ThreadEnding::Stopped;
            claim.schedule.push(thread as u32);
        }
        claim
    }

    /// The step that an event is.
    fn step_of(&self, event: u32) -> Option<StepId> {
        let number = self.threads.iter().rposition(|run| run.first_event <= event)?;
        Some(StepId { thread: number as u32, index: event - self.threads[number].first_event })
    }

    pub(super) fn kind_of(&self, event: u32) -> Option<&EventKind> {
        let taken = self.events.get(event as usize).and_then(Option::as_ref);
        taken.map(|taken| &taken.event.kind)
    }
}

/// Some bytes, cut where locations begin and end.
fn parts((start, size): Footprint, orders: &Orders) -> Vec<Footprint> {
    let end = start.saturating_add(u64::from(size));
    let edges = orders.keys().flat_map(|(at, bytes)| [*at, at.saturating_add(u64::from(*bytes))]);
    let inside = edges.filter(|edge| start < *edge && *edge < end);
    let cuts: BTreeSet<u64> = inside.chain([start, end]).collect();
    let cuts: Vec<u64> = cuts.into_iter().collect();
    cuts.windows(2).map(|pair| (pair[0], (pair[1] - pair[0]) as u32)).collect()
}

/// Whether what a thread does next depends on a value that nobody has written.
pub(super) fn decided_by_undefined(operation: &Operation<'_, Traced>) -> bool {
    operation.open_by(|value| value.bits.open()) == Open::All
}

impl super::Objects<'_> {
    /// What is wrong with an access, as things are now.
    fn wrong_with(&self, address: u128, bytes: u32, writes: bool) -> Option<BadAccess> {
        let Ok(address) = u64::try_from(address) else {
            return Some(BadAccess::Wild);
        };
        wrong_access(self.extent(address), address, u64::from(bytes), writes)
    }

    /// The allocated object that an address is in: where it starts, of which kind it is, and whether
    /// it has ended. No object is at an address that is too wide.
    fn made_at(&self, address: u128) -> (Option<(u64, AllocKind, bool)>, u64) {
        let address = u64::try_from(address).unwrap_or(u64::MAX);
        let object = self.covering(address);
        let made = object.and_then(|(start, object)| Some((start, object.kind?, object.is_freed)));
        (made, address)
    }
}
