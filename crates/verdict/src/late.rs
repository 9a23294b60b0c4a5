//! When an access may come after the end of its object: the one definition of it.
//!
//! Where a model defines happens-before, as models of languages do, it is that: an access that does
//! not happen before the end of its object may come after it, like an access that races with a
//! write.
//!
//! Other models speak of what machines do, and so does the answer: the end of an object is a write
//! to all of its bytes, as plain as any, and an access may come after it if the model allows the
//! execution in which it does. That is one in which a read takes its value from that write, or in
//! which a write follows it in coherence. The write leaves what was there, so all else is as it
//! was, but for other reads of the same, which may come after the end as well. An end that depends
//! on what was read, or that a fence keeps behind something, is as late as a store in its place
//! would be.

use parallax_control::Control;
use parallax_memory::Model;
use parallax_program::{Program, Tags};

use crate::derived::Derived;
use crate::judge::{allows, happens_before, may_become_allowed};
use crate::rebuild::retake;
use crate::refusal::Refusal;
use crate::{Claim, Event, EventKind, Execution, StepId};

/// Whether a step that accesses an object may come after the one that ends it, in an execution of
/// which an engine claims that it can happen. The error says why it cannot.
pub fn is_late(
    program: &Program,
    model: &Model,
    claim: &Claim,
    access: StepId,
    end: StepId,
    control: &Control<'_>,
) -> Result<bool, String> {
    let (execution, derived) = retake(program, claim, model, None, control)?;
    let events = execution.event_of(access).zip(execution.event_of(end));
    let (access, end) = events.ok_or("there is no such step")?;
    Ok(may_come_after(&execution, &derived, model, (access, end), control)?)
}

/// Whether an access may come after the end of its object, which is an event too.
pub(crate) fn may_come_after(
    execution: &Execution,
    derived: &Derived,
    model: &Model,
    (access, end): (u32, u32),
    control: &Control<'_>,
) -> Result<bool, Refusal> {
    let event = |number: u32| &execution.events[number as usize];
    if event(access).thread == event(end).thread {
        return Ok(access > end);
    }
    if model.happens_before().is_none() {
        return Hypothesis { execution, derived, model, access, end, control }.is_allowed();
    }
    let before = (0..end).rev().take_while(|before| event(*before).thread == event(end).thread);
    let last = before.into_iter().find(|before| event(*before).kind.is_visible());
    // What happens before the end of an object happens before the last event ahead of it.
    let Some(last) = last else { return Ok(true) };
    let ordered = happens_before(execution, derived, model, (access, last), control)?;
    Ok(ordered != Some(true))
}

/// An execution with the end of an object as a write, and an access that comes after it.
struct Hypothesis<'a> {
    execution: &'a Execution,
    derived: &'a Derived,
    model: &'a Model,
    access: u32,
    end: u32,
    control: &'a Control<'a>,
}

impl Hypothesis<'_> {
    /// So often the model is asked, at most, before the question is given up.
    const MOST_TRIALS: usize = 4_000;

    /// Whether the model allows it, wherever in coherence the write is.
    fn is_allowed(&self) -> Result<bool, Refusal> {
        let Some(place) = self.execution.events[self.access as usize].kind.footprint() else {
            return Ok(false);
        };
        let writes = self.writes(place);
        let at = |event: u32| writes.iter().position(|write| *write == event);
        let positions = match (at(self.access), self.source(self.access).and_then(at)) {
            (Some(own), _) => 1..=own,
            (None, Some(source)) => source + 1..=source + 1,
            (None, None) => return Ok(false),
        };
        for position in positions {
            let Some(before) = position.checked_sub(1).and_then(|last| writes.get(last)) else {
                continue;
            };
            let readers = self.readers(*before);
            let mut sources = Sources {
                execution: self.with_end_at(position, &writes, place),
                hypothesis: self,
                ends: [*before, self.end],
                trials: 0,
            };
            sources.execution.rf.retain(|(_, read)| !readers.contains(read));
            if sources.usual_is_allowed(&readers)? || sources.some_is_allowed(&readers)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn source(&self, read: u32) -> Option<u32> {
        let source = self.execution.rf.iter().find(|(_, reader)| *reader == read);
        source.map(|(write, _)| *write)
    }

    /// Other accesses that read the same, and that the end does not follow anyway.
    fn readers(&self, write: u32) -> Vec<u32> {
        let thread = |event: u32| self.execution.events[event as usize].thread;
        let readers = self.execution.rf.iter().filter(|(source, _)| *source == write);
        let others = readers.map(|(_, read)| *read);
        others.filter(|read| *read != self.access && thread(*read) != thread(self.end)).collect()
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

    /// The execution with the end at a position among the writes, and the access after it.
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

/// An execution with the end of an object in it, in which other reads find either what was there
/// before or the end.
struct Sources<'a> {
    execution: Execution,
    hypothesis: &'a Hypothesis<'a>,
    /// The write before the end, and the end.
    ends: [u32; 2],
    trials: usize,
}

impl Sources<'_> {
    /// Whether the model allows it if those reads come after the end that follow the access.
    fn usual_is_allowed(&mut self, open: &[u32]) -> Result<bool, Refusal> {
        let Hypothesis { derived, model, access, control, .. } = *self.hypothesis;
        let thread = |event: u32| self.execution.events[event as usize].thread;
        let follows = |read: u32| thread(read) == thread(access) && read > access;
        let [before, end] = self.ends;
        let source = |read: u32| if follows(read) { end } else { before };
        let chosen: Vec<(u32, u32)> = open.iter().map(|read| (source(*read), *read)).collect();
        let decided = self.execution.rf.len();
        self.execution.rf.extend(chosen);
        let is_allowed = allows(&self.execution, derived, model, control);
        self.execution.rf.truncate(decided);
        is_allowed
    }

    /// Whether the model allows it with some choice for these reads, which have no source yet. A
    /// choice that no other can make up for is left at once, so there are few in practice: reads
    /// of one thread that follow one that comes after the end do so too.
    fn some_is_allowed(&mut self, open: &[u32]) -> Result<bool, Refusal> {
        let Hypothesis { derived, model, control, .. } = *self.hypothesis;
        self.trials += 1;
        if self.trials > Hypothesis::MOST_TRIALS {
            return Err("too many reads may come after the end of their object".into());
        }
        let Some((read, open)) = open.split_first() else {
            return allows(&self.execution, derived, model, control);
        };
        if !may_become_allowed(&self.execution, derived, model, control)? {
            return Ok(false);
        }
        for source in self.ends {
            self.execution.rf.push((source, *read));
            let is_allowed = self.some_is_allowed(open)?;
            self.execution.rf.pop();
            if is_allowed {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
