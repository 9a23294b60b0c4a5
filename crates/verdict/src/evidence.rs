//! Whether what is wrong is really wrong, where it shows in the events of an execution and in their
//! order: that accesses race, that an object may be gone, that nobody has written what is read.

use parallax_memory::Model;
use parallax_program::{Program, Property};

use crate::derived::Derived;
use crate::judge::races;
use crate::late::may_come_after;
use crate::{EventKind, Execution, Suspicion, ThreadEnding};

/// The error says what is missing.
pub(crate) fn check_evidence(
    program: &Program,
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    suspicion: &Suspicion,
) -> Result<(), String> {
    if suspicion.failed.is_some() {
        return Ok(());
    }
    let involved: Option<Vec<u32>> =
        suspicion.involved.iter().map(|step| execution.event_of(*step)).collect();
    let involved = involved.ok_or("it is about a step that there is not")?;
    let evidence = Evidence { program, execution, derived, model };
    let (is_there, what) = match (suspicion.property, involved.as_slice()) {
        (Property::Race, [first, second]) => {
            (evidence.race(*first, *second)?, "the accesses do not race")
        }
        (Property::Memory, [access, end]) => {
            (evidence.late_use(*access, *end)?, "the access comes before the end of the object")
        }
        (Property::Memory, [read]) => (evidence.is_initial(*read), "the read finds something"),
        (Property::Lock, [unlock]) => (evidence.wrong_unlock(*unlock), "the lock is held"),
        (Property::Leak, [made]) => (evidence.is_left(*made), "the object is freed"),
        _ => (true, ""),
    };
    if is_there { Ok(()) } else { Err(what.to_string()) }
}

struct Evidence<'a> {
    program: &'a Program,
    execution: &'a Execution,
    derived: &'a Derived,
    model: &'a Model,
}

impl Evidence<'_> {
    fn kind(&self, event: u32) -> &EventKind {
        &self.execution.events[event as usize].kind
    }

    fn thread(&self, event: u32) -> Option<u32> {
        self.execution.events[event as usize].thread
    }

    fn has_tag(&self, event: u32, tag: &str) -> bool {
        self.execution.events[event as usize].tags.contains(tag)
    }

    fn is_write(&self, event: u32) -> bool {
        matches!(self.kind(event), EventKind::Write { .. })
    }

    /// Two accesses race if the model's file says so.
    fn race(&self, first: u32, second: u32) -> Result<bool, String> {
        let races = races(self.execution, self.derived, self.model)?;
        Ok(races.contains(&(first, second)) || races.contains(&(second, first)))
    }

    fn late_use(&self, access: u32, end: u32) -> Result<bool, String> {
        let EventKind::Free { address, .. } = self.kind(end) else {
            return Ok(false);
        };
        let used = self.kind(access).footprint().map(|(used, _)| used);
        let objects = self.execution.events.iter().filter_map(|event| match &event.kind {
            EventKind::Alloc { address, size, .. } => Some((*address, *size)),
            _ => None,
        });
        let of_it = |(start, size): (u64, u64)| {
            start == *address
                && used.is_some_and(|used| used >= start && used - start < size.max(1))
        };
        if !objects.into_iter().any(of_it) {
            return Ok(false);
        }
        may_come_after(self.execution, self.derived, self.model, access, end)
    }

    /// Whether a read finds what was there from the start.
    fn is_initial(&self, read: u32) -> bool {
        let source = self.execution.rf.iter().find(|(_, reader)| *reader == read);
        let source = source.map(|(write, _)| *write);
        source.is_some_and(|source| self.thread(source).is_none())
    }

    /// Whether the last that the thread has done with a lock was not to take it.
    fn wrong_unlock(&self, unlock: u32) -> bool {
        let place = self.kind(unlock).footprint();
        let own = (0..unlock).rev().take_while(|event| self.thread(*event) == self.thread(unlock));
        let is_it = |event: &u32| self.is_write(*event) && self.kind(*event).footprint() == place;
        let last = own.into_iter().find(is_it);
        self.has_tag(unlock, "UNLOCK") && !last.is_some_and(|last| self.has_tag(last, "LOCK_WRITE"))
    }

    /// Whether an object is still there when the program is over.
    fn is_left(&self, made: u32) -> bool {
        let EventKind::Alloc { address: made, .. } = self.kind(made) else {
            return false;
        };
        let frees = |event: &crate::Event| matches!(&event.kind, EventKind::Free { address, .. } if address == made);
        let mut standings = self.execution.standings.iter();
        let has_ended = |ending: ThreadEnding| ending == ThreadEnding::Ended;
        let is_over = match self.program.daemons {
            true => standings.next().is_some_and(|first| has_ended(first.ending)),
            false => standings.all(|standing| has_ended(standing.ending)),
        };
        is_over && !self.execution.events.iter().any(frees)
    }
}
