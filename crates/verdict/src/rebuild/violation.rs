//! Whether what is wrong is really wrong, where it shows in how threads stand: the thread that is
//! said to fail stands at something that fails, and threads that are said to wait for ever do.

use parallax_machine::Operation;
use parallax_machine::system::BadAccess;
use parallax_program::{AllocKind, Property};

use super::coherence::Orders;
use super::{Rebuild, describe};
use crate::walker::Due;
use crate::{EventKind, Standing, Suspicion, ThreadEnding};

impl Rebuild<'_, '_> {
    pub(super) fn check_violation(
        &mut self,
        suspicion: &Suspicion,
        standings: &[Standing],
        orders: &Orders,
    ) -> Result<(), String> {
        match (suspicion.failed, suspicion.property) {
            (Some(thread), property) => self.check_failure(thread, property),
            (None, Property::Deadlock | Property::Liveness) => {
                self.check_endless(suspicion.property, standings, orders)
            }
            _ => Ok(()),
        }
    }

    /// Whether a thread stands at what violates a property.
    fn check_failure(&mut self, thread: usize, property: Property) -> Result<(), String> {
        let due = self.due(thread as u32, None)?;
        let fails = match &due {
            // The condition is false: the walker goes past those that hold.
            Due::Operation(Operation::Assert { property: violated, .. }) => *violated == property,
            Due::Write { address, .. } if property == Property::Lock => {
                !self.holds_lock(thread, *address)
            }
            _ if property != Property::Memory => false,
            Due::Operation(Operation::Free { address, kind }) => {
                self.objects.wrong_end(address.bits.unsigned(), *kind).is_some()
            }
            Due::Operation(Operation::HeapSize { address }) => {
                self.objects.wrong_end(address.bits.unsigned(), AllocKind::Heap).is_some()
            }
            Due::Operation(_) => true,
            Due::Read { .. } | Due::Write { .. } | Due::Decision => self.wrong_access(thread),
        };
        match fails {
            true => Ok(()),
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
        let wrong = self.objects.wrong_with(access.address, access.bytes, access.writes);
        let may_be_undefined = |address: u64| !self.objects.is_defined(address);
        wrong.is_some() || access.reads && u64::try_from(access.address).is_ok_and(may_be_undefined)
    }

    /// Whether no thread can ever go on: each has ended, waits, or repeats itself, and has seen the
    /// newest values there are.
    fn check_endless(
        &mut self,
        property: Property,
        standings: &[Standing],
        orders: &Orders,
    ) -> Result<(), String> {
        if self.code.program.daemons && self.threads.first().is_some_and(|run| run.has_ended) {
            return Err("the program is over when its first thread ends".to_string());
        }
        let (mut waits, mut repeats) = (false, false);
        for (number, standing) in standings.iter().enumerate() {
            match standing.ending {
                _ if self.threads[number].walker.is_none() => {}
                ThreadEnding::Ended => {}
                ThreadEnding::Waiting => {
                    waits = true;
                    if self.waits_for_a_value(number)? {
                        self.check_newest(number, self.last_read(number), orders)?;
                    }
                }
                ThreadEnding::Spinning { from } => {
                    repeats = true;
                    let run = &self.threads[number];
                    for event in run.first_event + from..run.first_event + run.taken {
                        self.check_newest(number, Some(event), orders)?;
                    }
                }
                ThreadEnding::Stopped => {
                    repeats = true;
                    let due = self.due(number as u32, None)?;
                    if !matches!(due, Due::Operation(Operation::Spin { .. } | Operation::Cut)) {
                        let (name, at) = (&self.threads[number].name, describe(&due));
                        return Err(format!("{name} does not wait, but is at {at}"));
                    }
                }
                ThreadEnding::Failed => {
                    return Err(format!("{} has failed", self.threads[number].name));
                }
            }
        }
        match (property, repeats) {
            (Property::Liveness, true) => Ok(()),
            (Property::Deadlock, false) if waits => Ok(()),
            _ => Err(format!("this is nothing that violates '{property}'")),
        }
    }

    /// Whether a thread that waits would go on if it read something else.
    fn waits_for_a_value(&mut self, number: usize) -> Result<bool, String> {
        let due = self.due(number as u32, None)?;
        Ok(matches!(due, Due::Operation(Operation::Wait { .. })))
    }

    fn last_read(&self, number: usize) -> Option<u32> {
        let run = &self.threads[number];
        let mut own = (run.first_event..run.first_event + run.taken).rev();
        own.find(|event| matches!(self.kind_of(*event), Some(EventKind::Read { .. })))
    }

    fn kind_of(&self, event: u32) -> Option<&EventKind> {
        let taken = self.events.get(event as usize).and_then(Option::as_ref);
        taken.map(|taken| &taken.event.kind)
    }

    /// Whether a read has seen the newest value, but for what its own thread has written since.
    fn check_newest(
        &self,
        number: usize,
        event: Option<u32>,
        orders: &Orders,
    ) -> Result<(), String> {
        let Some(read) = event else { return Ok(()) };
        let Some(EventKind::Read { address, size, .. }) = self.kind_of(read) else {
            return Ok(());
        };
        let order = orders.get(&(*address, *size)).map_or(&[][..], Vec::as_slice);
        let source = self.rf.iter().find(|(_, reader)| *reader == read).map(|(write, _)| *write);
        let position = source.and_then(|source| order.iter().position(|write| *write == source));
        let newer = &order[position.map_or(0, |position| position + 1)..];
        let run = &self.threads[number];
        let own = read..run.first_event + run.taken;
        match newer.iter().all(|write| own.contains(write)) {
            true => Ok(()),
            false => Err(format!("{} has not read the newest value at {address:#x}", run.name)),
        }
    }
}

impl super::Objects<'_> {
    /// What is wrong with an access, as things are now.
    fn wrong_with(&self, address: u128, bytes: u32, writes: bool) -> Option<BadAccess> {
        let Ok(address) = u64::try_from(address) else {
            return Some(BadAccess::Wild);
        };
        if address < 0x1000 {
            return Some(BadAccess::Null);
        }
        match self.covering(address) {
            None => Some(BadAccess::Wild),
            Some((_, object)) if object.is_freed => Some(BadAccess::Freed),
            Some((start, object)) if u64::from(bytes) > object.size - (address - start) => {
                Some(BadAccess::OutOfBounds)
            }
            Some((_, object)) if writes && object.is_constant => Some(BadAccess::Constant),
            Some(_) => None,
        }
    }

    /// What is wrong with the end of an object, as things are now.
    fn wrong_end(&self, address: u128, kind: AllocKind) -> Option<BadAccess> {
        let address = u64::try_from(address).ok();
        let object =
            address.and_then(|address| self.covering(address).filter(|at| at.0 == address));
        match object {
            Some((_, object)) if object.kind == Some(kind) => {
                object.is_freed.then_some(BadAccess::DoubleFree)
            }
            _ if address == Some(0) => None,
            _ => Some(BadAccess::FreeOfNoObject),
        }
    }
}
