//! Atomic sections, where executions are graphs: a lock that all of them share, as for exploration.
//!
//! Entering reads that nobody is inside, and acquires; leaving releases. That lets in all executions in which
//! sections are whole, and others: accesses outside of all sections do not take the lock. So what is safe
//! with it is safe. What fails is believed only if no access meets one inside of another thread's section,
//! unless threads start and end and sections follow one another so that it is before or after all of it.

use std::sync::Arc;

use parallax_machine::system::What;
use parallax_machine::{NESTED_SECTION, NO_SECTION};
use parallax_program::{Program, Tags};

use crate::block::{Halt, Run, Walk};
use crate::control::At;
use crate::declarative::Memory;
use crate::declarative::execution::{Event, Execution, Id, Kind, Location, Source};
use crate::declarative::walk::{From, MOST_EVENTS};

const LOCK: Location = Location::Memory(Program::SECTIONS);

/// What enters a section: the halves of a read-modify-write.
fn entry(source: Option<Source>) -> [Event; 2] {
    let mut read = Event::read(LOCK, Tags::new(["A", "ACQ"]), Source::Initial).half();
    read.source = source;
    [read, Event::write(LOCK, Tags::new(["A", "RLX"])).half()]
}

impl Walk<'_, '_, '_> {
    /// Whether a thread is in a section, where the execution is a graph.
    pub(crate) fn is_inside(&self, run: &Run) -> bool {
        let line =
            run.control.execution.as_ref().and_then(|it| it.threads.get(self.number as usize));
        line.is_some_and(|line| line.is_inside)
    }

    fn set_inside(&self, run: &mut Run, is_inside: bool) {
        if let Some(execution) = run.control.execution.as_mut() {
            Arc::make_mut(execution).line(self.number).is_inside = is_inside;
        }
    }

    /// A thread comes to an atomic section.
    pub(crate) fn enter(&mut self, run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        if self.is_inside(&run) {
            return Self::lose(run, NESTED_SECTION, open);
        }
        if self.waits(&run) {
            self.stop(run, At::Operation, open);
            return Ok(());
        }
        if run.control.execution.as_ref().is_some_and(|it| it.len() > MOST_EVENTS) {
            let what = format!("more than {MOST_EVENTS} accesses that still matter");
            return Self::lose(run, &what, open);
        }
        if let Some(memory) = &mut self.blocks.graphs {
            memory.note_entry(self.number);
        }
        for (source, mut run) in self.sources(run, Program::SECTIONS, open)? {
            if !self.is_open(&run, source) {
                continue;
            }
            run.has_acted = true;
            for event in entry(source.event()) {
                Self::add(&mut run, self.number, event);
            }
            self.set_inside(&mut run, true);
            self.record(What::AtomicBegin);
            self.pass(&mut run, None);
            open.push(run);
        }
        Ok(())
    }

    /// Whether nobody is inside when a thread enters after that write.
    fn is_open(&mut self, run: &Run, source: From) -> bool {
        let Some(execution) = run.control.execution.as_deref() else { return false };
        match source {
            From::Event(Source::Initial) => true,
            From::Event(Source::Write(id)) => leaves(execution, id),
            From::Forgotten(writer, is_open) => {
                self.may_forgotten(run, (writer, is_open), Program::SECTIONS, true)
            }
        }
    }

    /// A thread comes to the end of an atomic section.
    pub(crate) fn leave(&mut self, run: Run, open: &mut Vec<Run>) -> Result<(), Halt> {
        if !self.is_inside(&run) {
            return Self::lose(run, NO_SECTION, open);
        }
        let event = Event::write(LOCK, Tags::new(["A", "REL"]));
        for (_, mut run) in self.add_write(run, event, Program::SECTIONS, open)? {
            self.set_inside(&mut run, false);
            self.record(What::AtomicEnd);
            self.pass(&mut run, None);
            open.push(run);
        }
        Ok(())
    }
}

/// Whether it is the write with which somebody leaves a section.
fn leaves(execution: &Execution, id: Id) -> bool {
    execution.event(id).is_some_and(|event| !event.is_half)
}

impl Memory<'_> {
    /// Whether a thread may enter a section after that write.
    pub fn may_enter(&mut self, mut now: Execution, thread: u32, source: Source) -> bool {
        if matches!(source, Source::Write(id) if !leaves(&now, id)) {
            return false;
        }
        for event in entry(Some(source)) {
            now.push(thread, event);
        }
        self.consistency.allows(&now)
    }
}

/// Whether an access outside of all sections may fall into one of another thread.
pub fn has_intruder(execution: &Execution) -> bool {
    let inside = |id: &Id| execution.event(*id).is_some_and(|event| event.is_inside);
    let ids: Vec<Id> = execution.ids().collect();
    let meet = |one: &Event, other: &Event| {
        let is_shared = one.location.is_some_and(Location::is_of_program);
        is_shared
            && one.location == other.location
            && (one.kind == Kind::Write || other.kind == Kind::Write)
    };
    let meets = |first: &Id| {
        let mut others = ids.iter().filter(|other| other.thread != first.thread && !inside(other));
        others.any(|other| match (execution.event(*first), execution.event(*other)) {
            (Some(one), Some(two)) => {
                meet(one, two)
                    && !is_before(execution, *first, *other)
                    && !is_before(execution, *other, *first)
            }
            _ => false,
        })
    };
    ids.iter().any(|id| inside(id) && meets(id))
}

/// Whether an event comes before another one by the order of threads, their starts and ends, and the order of
/// sections.
fn is_before(execution: &Execution, first: Id, last: Id) -> bool {
    // How far each thread is known to have come before the last event.
    let mut known: Vec<u32> = vec![0; execution.threads.len()];
    let mut open = vec![last];
    while let Some(id) = open.pop() {
        let own = &mut known[id.thread as usize];
        let from = *own;
        *own = from.max(id.index + 1);
        for index in from..=id.index {
            let Some(event) = execution.event(Id { index, ..id }) else { break };
            if let Some(Source::Write(source)) = event.source
                && !event.location.is_some_and(Location::is_of_program)
                && known[source.thread as usize] <= source.index
            {
                open.push(source);
            }
        }
    }
    first.index < known[first.thread as usize]
}
