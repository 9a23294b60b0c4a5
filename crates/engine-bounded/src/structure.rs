//! The events of all threads and the initial writes, and what is known of them beforehand.

use std::collections::BTreeSet;

use parallax_memory::{EventSet, Relation};
use parallax_program::{Bits, Program};
use parallax_solver::{Term, Terms};

use crate::addresses::Possible;
use crate::event::{Dependency, Event, Kind, Step, TagChoice};
use crate::guard::Guard;
use crate::memory::Memory;
use crate::relations::bounds::Facts;
use crate::watch::Watch;

/// Some bytes of memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Footprint {
    pub address: u64,
    pub bytes: u32,
}

pub struct Structure {
    /// Those of threads, then the initial writes.
    pub events: Vec<Event>,
    /// The number of the first initial write.
    pub initials: usize,
    /// The addresses that each access may have.
    pub places: Vec<Vec<u64>>,
    pub facts: Facts,
}

/// Why there is no structure.
pub enum Refusal {
    /// Accesses of different sizes overlap.
    Overlap,
    /// An access of which nothing is known.
    Anywhere,
}

impl Structure {
    /// `possible` are the addresses of the events; `more` are places that need an initial write
    /// though nothing may access them.
    pub fn new(
        mut events: Vec<Event>,
        possible: &[Possible],
        terms: &mut Terms,
        memory: &Memory,
        more: &[Footprint],
        watch: &Watch<'_>,
    ) -> Result<Structure, Refusal> {
        let mut places = Vec::with_capacity(events.len());
        for possible in possible {
            places.push(within_memory(possible).ok_or(Refusal::Anywhere)?);
        }
        let mut footprints: BTreeSet<Footprint> = BTreeSet::new();
        for (event, places) in events.iter().zip(&places) {
            let bytes = event.bytes;
            footprints.extend(places.iter().map(|address| Footprint { address: *address, bytes }));
        }
        footprints.extend(more);
        if overlap(&footprints) {
            return Err(Refusal::Overlap);
        }
        let initials = events.len();
        for at in footprints.iter().filter(|at| Program::thread_at(at.address).is_none()) {
            events.push(initial_write(*at, terms, memory));
            places.push(vec![at.address]);
        }
        let facts = facts(&events, terms, watch);
        Ok(Structure { events, initials, places, facts })
    }

    pub fn is_initial(&self, event: usize) -> bool {
        event >= self.initials
    }

    /// What a read finds where it takes its value from a write: of what nobody has written anything,
    /// but nothing where it is asked whether something is there yet.
    pub fn found(&self, read: usize, write: usize, terms: &mut Terms) -> Option<Term> {
        let written = self.events[write].kind.value()?;
        let is_open = self.is_initial(write) && terms.as_constant(written).is_none();
        match is_open && self.events[read].tags.tags.contains("FRESH") {
            true => Some(terms.constant(Bits::zero(terms.width(written)))),
            false => Some(written),
        }
    }

    /// Whether two events are in program order.
    pub fn in_program_order(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.events[a], &self.events[b]);
        let visible = x.kind.is_visible() && y.kind.is_visible();
        visible && a < b && x.thread.is_some() && x.thread == y.thread && x.access != y.access
    }

    /// The only address that an access can have.
    pub fn place(&self, event: usize) -> Option<u64> {
        match self.places[event].as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// The events of its thread that models may see last before another event: back to the first
    /// that happens with it.
    pub fn last_seen(&self, event: usize) -> Vec<usize> {
        let thread = self.events[event].thread;
        let mut seen = Vec::new();
        for other in (0..event).rev() {
            let own = &self.events[other];
            if own.thread == thread && own.kind.is_visible() {
                seen.push(other);
                if self.facts.implies.contains(event, other) {
                    break;
                }
            }
        }
        seen
    }

    /// Whether two accesses can be to the same bytes.
    pub fn may_meet(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.events[a], &self.events[b]);
        let accesses = x.kind.is_access() && y.kind.is_access();
        let (first, second) = (&self.places[a], &self.places[b]);
        accesses
            && x.bytes == y.bytes
            && first.iter().any(|place| second.binary_search(place).is_ok())
    }

    /// Whether two accesses are always to the same bytes.
    pub fn must_meet(&self, a: usize, b: usize) -> bool {
        let same = self.place(a).is_some() && self.place(a) == self.place(b);
        let same = same || self.events[a].address == self.events[b].address;
        self.may_meet(a, b) && same
    }
}

fn within_memory(possible: &Possible) -> Option<Vec<u64>> {
    possible.as_ref()?.iter().map(|address| u64::try_from(*address).ok()).collect()
}

/// Sorted by address, then by size: any overlap shows between neighbours.
fn overlap(footprints: &BTreeSet<Footprint>) -> bool {
    let pairs = footprints.iter().zip(footprints.iter().skip(1));
    pairs.into_iter().any(|(a, b)| b.address - a.address < u64::from(a.bytes))
}

/// What nobody has written may be anything.
fn initial_write(at: Footprint, terms: &mut Terms, memory: &Memory) -> Event {
    let initial = memory.initial(at.address, at.bytes);
    let value = match initial.is_undefined() {
        true => terms.variable(initial.width()),
        false => terms.constant(initial),
    };
    Event {
        thread: None,
        kind: Kind::Write { value },
        guard: Guard::default(),
        executed: terms.truth(),
        address: terms.constant(Bits::new(64, u128::from(at.address))),
        bytes: at.bytes,
        tags: TagChoice::default(),
        access: 0,
        site: None,
        addr: Dependency::NONE,
        data: Dependency::NONE,
        ctrl: Dependency::NONE,
        pairs: Vec::new(),
        step: Step::Access { whole: at.bytes },
        fails: None,
        turns: Vec::new(),
        section: None,
    }
}

/// Which events can happen together, and which bring others along. Not all of it is found where
/// the watch ends it.
fn facts(events: &[Event], terms: &mut Terms, watch: &Watch<'_>) -> Facts {
    let n = events.len();
    let mut visible = EventSet::new(n);
    let (mut together, mut implies) = (Relation::new(n), Relation::new(n));
    let conditions: Vec<Conditions> =
        events.iter().map(|event| Conditions::of(&event.guard, terms)).collect();
    for (a, event) in events.iter().enumerate() {
        if event.kind.is_visible() {
            visible.insert(a);
        }
        for (b, other) in events.iter().enumerate() {
            if watch.is_over() {
                break;
            }
            if a == b || other.guard.parts().iter().all(|part| conditions[a].holds(*part)) {
                implies.add(a, b);
            }
            let excludes = || conditions[b].opposites.iter().any(|part| conditions[a].holds(*part));
            if event.thread != other.thread || !excludes() {
                together.add(a, b);
            }
        }
    }
    let mut implied = Relation::new(n);
    implies.inverse_into(&mut implied);
    Facts { events: n, visible, together, implies, implied }
}

/// What holds where an event happens, ready to be looked up.
struct Conditions {
    sorted: Vec<Term>,
    opposites: Vec<Term>,
}

impl Conditions {
    fn of(guard: &Guard, terms: &mut Terms) -> Conditions {
        let mut sorted = guard.parts().to_vec();
        sorted.sort_unstable();
        let opposites = guard.parts().iter().map(|part| terms.not(*part)).collect();
        Conditions { sorted, opposites }
    }

    fn holds(&self, condition: Term) -> bool {
        self.sorted.binary_search(&condition).is_ok()
    }
}
