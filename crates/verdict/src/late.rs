//! When an access may come after the end of its object: the one definition of it.
//!
//! Where a model defines happens-before, as models of languages do, it is that: an access that does
//! not happen before the end of its object may come after it, like an access that races with a
//! write.
//!
//! Other models speak of what machines do, and so does the answer: the end of an object is a write
//! to all of its bytes, as plain as any, and an access may come after it if the model allows the
//! execution in which it does. That is one in which a read takes its value from that write, or in
//! which a write follows it in coherence; all else is as it was. An end that depends on what was
//! read, or that a fence keeps behind something, is as late as a store in its place would be.

use parallax_memory::Model;
use parallax_program::{Program, Tags};

use crate::derived::Derived;
use crate::judge::{allows, happens_before};
use crate::rebuild::retake;
use crate::{Claim, Event, EventKind, Execution, StepId};

/// Whether a step that accesses an object may come after the one that ends it, in an execution of
/// which an engine claims that it can happen. The error says why it cannot.
pub fn is_late(
    program: &Program,
    model: &Model,
    claim: &Claim,
    access: StepId,
    end: StepId,
) -> Result<bool, String> {
    let (execution, derived) = retake(program, claim, model, None)?;
    let events = execution.event_of(access).zip(execution.event_of(end));
    let (access, end) = events.ok_or("there is no such step")?;
    may_come_after(&execution, &derived, model, access, end)
}

/// Whether an access may come after the end of its object, which is an event too.
pub(crate) fn may_come_after(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    access: u32,
    end: u32,
) -> Result<bool, String> {
    let event = |number: u32| &execution.events[number as usize];
    if event(access).thread == event(end).thread {
        return Ok(access > end);
    }
    if model.happens_before().is_none() {
        return Hypothesis { execution, derived, model, access, end }.is_allowed();
    }
    let before = (0..end).rev().take_while(|before| event(*before).thread == event(end).thread);
    let last = before.into_iter().find(|before| event(*before).kind.is_visible());
    // What happens before the end of an object happens before the last event ahead of it.
    let Some(last) = last else { return Ok(true) };
    let ordered = happens_before(execution, derived, model, (access, last))?;
    Ok(ordered != Some(true))
}

/// An execution with the end of an object as a write, and an access that comes after it.
struct Hypothesis<'a> {
    execution: &'a Execution,
    derived: &'a Derived,
    model: &'a Model,
    access: u32,
    end: u32,
}

impl Hypothesis<'_> {
    /// Whether the model allows it, wherever in coherence the write is.
    fn is_allowed(&self) -> Result<bool, String> {
        let Some(place) = self.execution.events[self.access as usize].kind.footprint() else {
            return Ok(false);
        };
        let writes = self.writes(place);
        let own = writes.iter().position(|write| *write == self.access);
        let initial = usize::from(
            writes
                .first()
                .is_some_and(|first| self.execution.events[*first as usize].thread.is_none()),
        );
        for position in initial..=own.unwrap_or(writes.len()) {
            let execution = self.with_end_at(position, &writes, place);
            if allows(&execution, self.derived, self.model)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The writes of a place, in coherence order.
    fn writes(&self, place: (u64, u32)) -> Vec<u32> {
        let is_write = |event: &Event| {
            matches!(event.kind, EventKind::Write { .. }) && event.kind.footprint() == Some(place)
        };
        let events = (0u32..).zip(&self.execution.events);
        let mut writes: Vec<u32> =
            events.filter(|(_, event)| is_write(event)).map(|(number, _)| number).collect();
        let earlier = |write: &u32| self.execution.co.iter().filter(|(_, to)| to == write).count();
        writes.sort_by_cached_key(earlier);
        writes
    }

    fn with_end_at(&self, position: usize, writes: &[u32], place: (u64, u32)) -> Execution {
        let mut execution = self.execution.clone();
        let (address, size) = place;
        let value = match &execution.events[self.access as usize].kind {
            EventKind::Read { value, .. } | EventKind::Write { value, .. } => *value,
            _ => return execution,
        };
        let (location, shown) = (String::new(), String::new());
        let end = &mut execution.events[self.end as usize];
        end.kind = EventKind::Write { location, address, size, value, shown };
        end.tags = Tags::none();
        let (earlier, later) = writes.split_at(position);
        execution.co.extend(earlier.iter().map(|write| (*write, self.end)));
        execution.co.extend(later.iter().map(|write| (self.end, *write)));
        for (source, read) in &mut execution.rf {
            if *read == self.access {
                *source = self.end;
            }
        }
        execution
    }
}
