//! Executions as graphs: what threads have done to memory that others can see, in program order, and
//! which write each read has read.
//!
//! The order of the writes of a location is no part of it: whether there is one that the model allows is
//! asked ([`super::consistency`]). Nothing is counted from the start of the program, so that two states
//! of a loop can have equal graphs.

use parallax_program::{Program, Tags};

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Execution {
    pub threads: Vec<Line>,
    /// The thread that goes on, if it can.
    pub turn: u32,
    /// Writes of which it is known which one comes first.
    pub ordered: Vec<(Id, Id)>,
}

/// What one thread has done, and what it waits for.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Line {
    pub events: Vec<Event>,
    pub wait: Wait,
    /// The threads whose ends it has waited for.
    pub joined: Vec<u32>,
    /// Writes that are there no more as events, by address.
    pub forgotten: Vec<Forgotten>,
    /// Whether the thread is in an atomic section.
    pub is_inside: bool,
}

/// Writes of a thread to an address, all before its last one there, which is an event.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Forgotten {
    pub address: u64,
    /// Whether somebody could modify one of them when it was forgotten. Of a lock these are the writes
    /// that have taken it, and the others those that have given it back.
    pub is_open: bool,
    /// What they are like: tags, and whether they are halves of read-modify-writes.
    pub kinds: Vec<(Tags, bool)>,
    /// The threads that may still read one of them, and those that may modify one.
    pub readers: Vec<u32>,
    pub modifiers: Vec<u32>,
}

/// Whether a thread stands at a read that later writes may serve.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Wait {
    #[default]
    Nothing,
    /// Some later write to this address.
    Open(u64),
    /// That write, which is there by now.
    Served(Id),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Id {
    pub thread: u32,
    pub index: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Read,
    Write,
    Fence,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Location {
    Memory(u64),
    /// The start of a thread, and its end.
    Start(u32),
    End(u32),
}

impl Location {
    /// Whether it is memory that the program knows of.
    pub fn is_of_program(self) -> bool {
        matches!(self, Location::Memory(address) if address != Program::SECTIONS)
    }
}

/// What a read has read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// What was there before anybody wrote.
    Initial,
    Write(Id),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Event {
    pub kind: Kind,
    /// None for fences.
    pub location: Option<Location>,
    pub tags: Tags,
    /// Of reads.
    pub source: Option<Source>,
    /// A read, or the write that follows it, of a read-modify-write.
    pub is_half: bool,
    /// Whether its thread was in an atomic section.
    pub is_inside: bool,
}

impl Event {
    pub fn fence(tags: Tags) -> Event {
        Event {
            kind: Kind::Fence,
            location: None,
            tags,
            source: None,
            is_half: false,
            is_inside: false,
        }
    }

    pub fn read(location: Location, tags: Tags, source: Source) -> Event {
        let (kind, location, source) = (Kind::Read, Some(location), Some(source));
        Event { kind, location, tags, source, is_half: false, is_inside: false }
    }

    pub fn write(location: Location, tags: Tags) -> Event {
        let (kind, location) = (Kind::Write, Some(location));
        Event { kind, location, tags, source: None, is_half: false, is_inside: false }
    }

    pub fn half(self) -> Event {
        Event { is_half: true, ..self }
    }

    /// The address, if it is an access to memory.
    pub fn memory(&self) -> Option<u64> {
        match self.location {
            Some(Location::Memory(address)) => Some(address),
            _ => None,
        }
    }
}

/// What a step has added to an execution, and what of all that has stayed.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// In their order, each at the end of its thread. Sources are named by where they were when the
    /// step began, or have come since.
    pub events: Vec<(u32, Event)>,
    /// For each thread, where the events that stay were.
    pub kept: Vec<Vec<u32>>,
    /// Of the others, those that are forgotten, each with whether somebody could modify it.
    pub lost: Vec<(Id, bool)>,
}

impl Execution {
    pub fn event(&self, id: Id) -> Option<&Event> {
        self.threads.get(id.thread as usize)?.events.get(id.index as usize)
    }

    pub fn line(&mut self, thread: u32) -> &mut Line {
        if self.threads.len() <= thread as usize {
            self.threads.resize(thread as usize + 1, Line::default());
        }
        &mut self.threads[thread as usize]
    }

    pub fn wait(&self, thread: u32) -> Wait {
        self.threads.get(thread as usize).map_or(Wait::Nothing, |line| line.wait)
    }

    /// All events, thread by thread.
    pub fn ids(&self) -> impl Iterator<Item = Id> {
        self.threads.iter().enumerate().flat_map(|(thread, line)| {
            let thread = thread as u32;
            (0..line.events.len() as u32).map(move |index| Id { thread, index })
        })
    }

    pub fn len(&self) -> usize {
        self.threads.iter().map(|line| line.events.len()).sum()
    }

    pub fn push(&mut self, thread: u32, event: Event) -> Id {
        let events = &mut self.line(thread).events;
        let id = Id { thread, index: events.len() as u32 };
        events.push(event);
        id
    }

    pub fn is_write(&self, id: Id) -> bool {
        self.event(id).is_some_and(|event| event.kind == Kind::Write)
    }

    /// The writes to a location.
    pub fn writes(&self, location: Location) -> impl Iterator<Item = Id> {
        self.ids().filter(move |id| {
            let event = self.event(*id);
            event.is_some_and(|it| it.kind == Kind::Write && it.location == Some(location))
        })
    }

    /// How many writes to its location a thread has made since, or the number for a write: 0 for the
    /// last one.
    pub fn place_from_last(&self, id: Id) -> Option<(u64, u32)> {
        let event = self.event(id)?;
        let Some(Location::Memory(address)) = event.location else { return None };
        let later = self.threads[id.thread as usize].events[id.index as usize + 1..].iter();
        let is_alike = |it: &&Event| it.kind == Kind::Write && it.location == event.location;
        Some((address, later.filter(is_alike).count() as u32))
    }

    /// How many writes to an address of a thread there are.
    pub fn count(&self, thread: u32, address: u64) -> u32 {
        let is_it =
            |it: &&Event| it.kind == Kind::Write && it.location == Some(Location::Memory(address));
        let line = self.threads.get(thread as usize);
        line.map_or(0, |line| line.events.iter().filter(is_it).count() as u32)
    }

    /// The writes of a thread to an address that are no events any more.
    pub fn forgotten(&self, thread: u32, address: u64, is_open: bool) -> Option<&Forgotten> {
        let line = self.threads.get(thread as usize)?;
        line.forgotten.iter().find(|it| it.address == address && it.is_open == is_open)
    }

    /// The threads that wait for a write to an address.
    pub fn waiting(&self, address: u64) -> Vec<u32> {
        let threads = self.threads.iter().enumerate();
        let waits = threads.filter(|(_, line)| line.wait == Wait::Open(address));
        waits.map(|(thread, _)| thread as u32).collect()
    }

    /// The addresses that somebody has used.
    pub fn addresses(&self) -> Vec<u64> {
        let events = self.threads.iter().flat_map(|line| &line.events);
        let mut all: Vec<u64> = events.filter_map(Event::memory).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The execution without some of its events. `kept` says which stay, by thread, in order.
    pub fn keep(&self, kept: &[Vec<u32>]) -> Execution {
        debug_assert!(self.ordered.is_empty(), "questions are not made smaller");
        let place = |id: Id| {
            let of = kept.get(id.thread as usize)?;
            let index = of.binary_search(&id.index).ok()? as u32;
            Some(Id { index, ..id })
        };
        let mut smaller = Execution { threads: Vec::new(), turn: self.turn, ordered: Vec::new() };
        for (thread, line) in self.threads.iter().enumerate() {
            let events = kept[thread].iter().map(|index| {
                let mut event = line.events[*index as usize].clone();
                event.source = event.source.and_then(|source| match source {
                    Source::Initial => Some(Source::Initial),
                    Source::Write(id) => place(id).map(Source::Write),
                });
                event
            });
            let wait = match line.wait {
                Wait::Served(id) => place(id).map_or(line.wait, Wait::Served),
                wait => wait,
            };
            smaller.threads.push(Line { events: events.collect(), wait, ..line.clone() });
        }
        smaller
    }

    /// Whether some read has read what is no event any more.
    pub fn is_vague(&self) -> bool {
        let mut events = self.threads.iter().flat_map(|line| &line.events);
        events.any(|event| event.kind == Kind::Read && event.source.is_none())
    }

    /// All events of all threads, as [`Execution::keep`] takes them.
    pub fn all(&self) -> Vec<Vec<u32>> {
        self.threads.iter().map(|line| (0..line.events.len() as u32).collect()).collect()
    }
}

/// An execution of which no event is ever taken away, put together from the steps that lead to it.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    pub execution: Execution,
    /// Of the events that are still there in the smaller execution, by thread: which they are here.
    now: Vec<Vec<u32>>,
}

impl Whole {
    pub fn grow(&mut self, growth: &Growth) {
        for (thread, event) in &growth.events {
            let mut event = event.clone();
            if let Some(Source::Write(id)) = &mut event.source
                && let Some(index) =
                    self.now.get(id.thread as usize).and_then(|now| now.get(id.index as usize))
            {
                id.index = *index;
            }
            let id = self.execution.push(*thread, event);
            if self.now.len() <= *thread as usize {
                self.now.resize(*thread as usize + 1, Vec::new());
            }
            self.now[*thread as usize].push(id.index);
        }
        for (now, kept) in self.now.iter_mut().zip(&growth.kept) {
            *now = kept.iter().filter_map(|index| now.get(*index as usize).copied()).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Location = Location::Memory(0x1000);

    fn read(source: Source) -> Event {
        Event::read(X, Tags::none(), source)
    }

    #[test]
    fn what_is_taken_away_renames_the_rest() {
        let mut execution = Execution::default();
        let first = execution.push(0, Event::write(X, Tags::none()));
        let second = execution.push(0, Event::write(X, Tags::none()));
        execution.push(1, read(Source::Write(first)));
        execution.push(1, read(Source::Write(second)));
        assert_eq!(execution.place_from_last(first), Some((0x1000, 1)));
        let smaller = execution.keep(&[vec![1], vec![1]]);
        assert_eq!(smaller.len(), 2);
        let left = smaller.event(Id { thread: 1, index: 0 }).expect("a read");
        assert_eq!(left.source, Some(Source::Write(Id { thread: 0, index: 0 })));
        assert_eq!(smaller.place_from_last(Id { thread: 0, index: 0 }), Some((0x1000, 0)));
    }

    #[test]
    fn wholes_remember_all() {
        let mut whole = Whole::default();
        let write = || (0, Event::write(X, Tags::none()));
        whole.grow(&Growth { events: vec![write(), write()], kept: vec![vec![1]], lost: vec![] });
        let last = Source::Write(Id { thread: 0, index: 0 });
        let kept = vec![vec![0], vec![0]];
        whole.grow(&Growth { events: vec![(1, read(last))], kept, lost: vec![] });
        let found = whole.execution.event(Id { thread: 1, index: 0 }).expect("a read");
        assert_eq!(found.source, Some(Source::Write(Id { thread: 0, index: 1 })));
    }
}
