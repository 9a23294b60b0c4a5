//! Whether what is wrong is really wrong, where it shows in the events of an execution and in their
//! order: that accesses race, that an object may be gone, that a lock is another's.

use parallax_control::Control;
use parallax_memory::Model;
use parallax_program::Property;

use crate::derived::Derived;
use crate::judge::{flags, races};
use crate::late::may_come_after;
use crate::refusal::Refusal;
use crate::{EventKind, Execution, Suspicion};

/// The error says what is missing.
pub(crate) fn check_evidence(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    suspicion: &Suspicion,
    control: &Control<'_>,
) -> Result<(), Refusal> {
    if suspicion.failed.is_some() {
        return Ok(());
    }
    let involved: Option<Vec<u32>> =
        suspicion.involved.iter().map(|step| execution.event_of(*step)).collect();
    let involved = involved.ok_or("it is about a step that there is not")?;
    let evidence = Evidence { execution, derived, model, control };
    let (is_there, what) = match (suspicion.property, involved.as_slice()) {
        (Property::Race, [first, second]) => {
            (evidence.race(*first, *second)?, "the accesses do not race")
        }
        (Property::Memory, [access, end]) => {
            (evidence.late_use(*access, *end)?, "the access comes before the end of the object")
        }
        (Property::Lock, [unlock]) => (evidence.wrong_unlock(*unlock), "the lock is held"),
        (Property::Race | Property::Assert, _) => {
            (evidence.is_flagged(suspicion)?, "the model flags nothing of the kind")
        }
        // These show in how threads and objects stand.
        (Property::Memory, [_]) => (true, ""),
        (Property::Leak | Property::Deadlock | Property::Liveness, _) => (true, ""),
        _ => (false, "no event shows it"),
    };
    if is_there { Ok(()) } else { Err(what.into()) }
}

struct Evidence<'a> {
    execution: &'a Execution,
    derived: &'a Derived,
    model: &'a Model,
    control: &'a Control<'a>,
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
    fn race(&self, first: u32, second: u32) -> Result<bool, Refusal> {
        let races = races(self.execution, self.derived, self.model, self.control)?;
        Ok(races.contains(&(first, second)) || races.contains(&(second, first)))
    }

    /// Whether the model's file flags the execution, for what is said of it.
    fn is_flagged(&self, suspicion: &Suspicion) -> Result<bool, Refusal> {
        let flags = flags(self.execution, self.derived, self.model, self.control)?;
        Ok(match suspicion.property {
            Property::Race => flags.iter().any(|flag| flag.contains("race")),
            _ => flags.iter().any(|flag| suspicion.message.contains(&format!("'{flag}'"))),
        })
    }

    fn late_use(&self, access: u32, end: u32) -> Result<bool, Refusal> {
        let EventKind::Free { address, .. } = self.kind(end) else {
            return Ok(false);
        };
        // Whoever leaves a lock may look at it once more.
        if self.has_tag(access, "LEAVE") && !self.is_write(access) {
            return Ok(false);
        }
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
        may_come_after(self.execution, self.derived, self.model, (access, end), self.control)
    }

    /// Whether the last that the thread has done with a lock was not to take it.
    fn wrong_unlock(&self, unlock: u32) -> bool {
        let place = self.kind(unlock).footprint();
        let own = (0..unlock).rev().take_while(|event| self.thread(*event) == self.thread(unlock));
        let is_it = |event: &u32| self.is_write(*event) && self.kind(*event).footprint() == place;
        let last = own.into_iter().find(is_it);
        self.has_tag(unlock, "UNLOCK") && !last.is_some_and(|last| self.has_tag(last, "LOCK_WRITE"))
    }
}
