//! What was looked at already, where load buffering is watched for.
//!
//! Under IMM each complete graph is looked at for reads and writes of a thread, and for whether the model
//! keeps their order (see [`crate::preserved`]). What there is to see in a thread depends on the thread alone: on what it
//! was started with, on its events with their values, and on which of its reads see own writes, or
//! others that come after own writes. A thread that was the same in an earlier graph shows nothing new. It is the same
//! with pairs of accesses that are not ordered: once they were seen, they are not looked for again.
//!
//! That holds among the graphs whose findings are put together before anything else happens to them, those
//! of a segment. Behind them all is forgotten.

use std::collections::HashSet;

use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::graph::Graph;
use crate::standing::At;
use parallax_program::Bits;

/// As much of an event as matters to the order that a thread keeps.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Trait {
    kind: Kind,
    marks: Marks,
    loc: u32,
    value: Bits,
    /// Where a read takes its value from: an event of the thread, the initial write, or a write
    /// outside, which comes after so many of the thread's own.
    source: u32,
}

#[derive(Default)]
pub struct Watched {
    /// For each thread, as what it was seen.
    threads: Vec<HashSet<Box<[Trait]>>>,
    /// For each location and each thread that writes there, threads whose reads are not ordered with
    /// that, a bit each.
    races: Vec<Vec<u64>>,
    now: Vec<Trait>,
}

impl Watched {
    /// So many different forms of one thread are remembered.
    const MOST: usize = 1 << 12;
    const OUTSIDE: u32 = 1 << 31;

    pub fn clear(&mut self) {
        self.threads.clear();
        self.races.clear();
    }

    /// Whether a thread has reads before writes, and looks as it has never looked before.
    pub fn is_new(&mut self, graph: &Graph<'_>, number: usize) -> bool {
        let events = &graph.threads[number].events;
        let mut accesses = events.iter().filter(|event| event.loc != Loc::NONE);
        if !accesses.any(Event::is_read) || !accesses.any(Event::is_write) {
            return false;
        }
        let mut now = std::mem::take(&mut self.now);
        describe(graph, number, &mut now);
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, HashSet::new);
        }
        let known = &mut self.threads[number];
        let is_new = !known.contains(now.as_slice());
        if is_new {
            if known.len() >= Self::MOST {
                known.clear();
            }
            known.insert(now.as_slice().into());
        }
        self.now = now;
        is_new
    }

    /// Whether it is known of a write and a read at a location that they are not ordered.
    pub fn has_race(&self, loc: usize, writer: usize, reader: usize) -> bool {
        let readers = self.races.get(loc).and_then(|writers| writers.get(writer));
        reader < 64 && readers.is_some_and(|readers| readers >> reader & 1 != 0)
    }

    pub fn add_race(&mut self, loc: usize, writer: usize, reader: usize) {
        if self.races.len() <= loc {
            self.races.resize_with(loc + 1, Vec::new);
        }
        let writers = &mut self.races[loc];
        if writers.len() <= writer {
            writers.resize(writer + 1, 0);
        }
        if reader < 64 {
            writers[writer] |= 1 << reader;
        }
    }
}

/// What a thread was started with, and its events.
fn describe(graph: &Graph<'_>, number: usize, now: &mut Vec<Trait>) {
    now.clear();
    let thread = &graph.threads[number];
    if !thread.spawned_by.is_init()
        && let At::Spawn { function, args } = &graph.standing(thread.spawned_by).at
    {
        let (kind, marks, source) = (Kind::Alloc, Marks::default(), args.len() as u32);
        now.extend(args.iter().map(|arg| Trait {
            kind,
            marks,
            loc: function.0,
            value: *arg,
            source,
        }));
    }
    for event in &thread.events {
        let Event { kind, marks, loc, value, .. } = *event;
        now.push(Trait { kind, marks, loc: loc.0, value, source: source(graph, number, event) });
    }
}

fn source(graph: &Graph<'_>, number: usize, event: &Event) -> u32 {
    if !event.is_read() || event.rf.is_init() || event.loc == Loc::NONE {
        return u32::MAX;
    }
    if event.rf.thread() == number {
        return event.rf.index() as u32;
    }
    let place = graph.place(event.loc);
    let before = &place.co[..place.position(event.rf)];
    let own = |id: &&Id| id.thread() == number;
    Watched::OUTSIDE | before.iter().filter(own).count() as u32
}
