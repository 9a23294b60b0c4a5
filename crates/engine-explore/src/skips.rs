//! What is left out with the rounds of waiting loops that change nothing, and whether it matters.
//!
//! An execution with such a *fruitless* round has a shorter one without it, which is explored; see
//! the book on spin loops. What goes wrong with the shorter one's events goes wrong in it as
//! well. What goes wrong with an access `a` of the round itself is another matter. Here `b` is the
//! other side: an access that races with `a`, or the end of the object that `a` uses.
//!
//! - Where `b` does not depend on what the thread does after the round, the round is in a graph
//!   that is explored: the one in which the thread waits after it, and `b` is there.
//! - Where `b` depends on the thread's having left the loop, and some of what comes after the
//!   round *happens before* `b`, then so does `a`: nothing is wrong.
//! - There is left the case that `b` knows of the thread's later events by reads that do not
//!   synchronise, as after a relaxed hand-over. The next events of the thread after the round
//!   begin like the round, up to its first read. An access there of the same place is unordered
//!   with `b` as well, and found. Only accesses behind the first read can be missed.
//!
//! Both sides of the last case are noted here, by location and thread. Should they meet, the
//! exploration starts anew and lets every loop go one fruitless round. One is enough: take out of
//! an execution all fruitless rounds but those of `a` and `b`. The order of the other events
//! becomes less, and never more.
//!
//! A round may also store what its thread has stored there before (see [`crate::quiet`]). That
//! cannot be left out where other threads write to the place, because they may have written in
//! between; such places are noted here as well.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::clocks::Clock;
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;
use crate::memory::Memory;

/// Threads, a bit each; those whose numbers differ by 64 share one.
type Threads = u64;

fn bit(thread: usize) -> Threads {
    1 << (thread % 64)
}

/// What is said about one location.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Use {
    /// Who writes.
    writers: Threads,
    /// Who stores there, in a fruitless round, what it had stored before.
    quiet: Threads,
    /// Whose accesses behind the first read of a fruitless round are left out, by class.
    skipped: [Threads; 4],
    /// Whose events somebody who accesses the place knows of though they do not happen before, by
    /// the class of that access.
    late: [Threads; 4],
}

const NON_ATOMIC: usize = 1;
const WRITE: usize = 2;

fn class(event: &Event) -> usize {
    NON_ATOMIC * usize::from(event.marks.is_non_atomic()) + WRITE * usize::from(event.is_write())
}

/// What is known of happens-before while a graph grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    /// It is kept in clocks.
    Clocks,
    /// All that comes before by program order and reads-from.
    Prefix,
    /// Nothing.
    Unknown,
}

/// What one search has seen, or all together.
#[derive(Clone, Serialize, Deserialize)]
pub struct Skips {
    order: Order,
    /// By number of location, for the present table of locations; see [`Skips::settle`].
    #[serde(skip)]
    here: Vec<Use>,
    /// By address.
    #[serde(with = "crate::pairs")]
    uses: BTreeMap<u64, Use>,
    /// Objects that were freed: address, size, and who is not known to have left them by then.
    #[serde(with = "crate::pairs")]
    freed: BTreeMap<(u64, u64), Threads>,
    /// Those among all these threads that stand for one another; see [`crate::symmetry`].
    twins: Threads,
}

impl Skips {
    pub fn new(order: Order) -> Skips {
        Skips { order, here: Vec::new(), uses: BTreeMap::new(), freed: BTreeMap::new(), twins: 0 }
    }

    pub fn order(&self) -> Order {
        self.order
    }

    fn at(&mut self, loc: Loc) -> &mut Use {
        let index = loc.0 as usize;
        if self.here.len() <= index {
            self.here.resize(index + 1, Use::default());
        }
        &mut self.here[index]
    }

    /// An access, or the end of an object, was added.
    pub fn note(&mut self, graph: &Graph<'_>, id: Id, event: &Event) {
        let late = self.late(graph, id);
        if late & !self.twins != 0 {
            self.note_twins(graph, late);
        }
        if event.kind == Kind::Free {
            let object = graph.find_object(event.value.unsigned() as u64);
            let object = object.map(|(owner, index)| graph.threads[owner].objects[index]);
            if let Some(object) = object.filter(|_| late != 0) {
                *self.freed.entry((object.address, object.size)).or_default() |= late;
            }
        } else if event.loc != Loc::NONE {
            let place = self.at(event.loc);
            place.late[class(event)] |= late;
            if event.is_write() {
                place.writers |= bit(id.thread());
            }
        }
    }

    fn note_twins(&mut self, graph: &Graph<'_>, among: Threads) {
        for (number, thread) in graph.threads.iter().enumerate() {
            if thread.older_twin.is_some() || thread.younger_twin.is_some() {
                self.twins |= bit(number) & among;
            }
        }
    }

    /// Threads of which the event knows events that do not happen before it.
    fn late(&self, graph: &Graph<'_>, id: Id) -> Threads {
        let prefix = graph.clocks.get(Clock::Prefix, id);
        let known = |known: &dyn Fn(usize) -> u32| {
            let more = |thread: &usize| *thread != id.thread() && prefix[*thread] > known(*thread);
            (0..prefix.len()).filter(more).fold(0, |threads, thread| threads | bit(thread))
        };
        match self.order {
            Order::Prefix => 0,
            Order::Unknown => known(&|_| 0),
            Order::Clocks => {
                let happens = graph.clocks.get(Clock::Happens, id);
                if prefix == happens { 0 } else { known(&|thread| happens[thread]) }
            }
        }
    }

    /// A thread waits, and would repeat what it has done since so many operations.
    pub fn skip(&mut self, graph: &Graph<'_>, number: usize, since: u32) {
        let thread = &graph.threads[number];
        if self.twins & bit(number) == 0 {
            self.note_twins(graph, bit(number));
        }
        let mut first_read = None;
        for index in thread.first_after(since)..thread.events.len() {
            let event = &thread.events[index];
            let Some(operation) = thread.standings.get(index).map(|now| now.operations()) else {
                return;
            };
            if event.loc == Loc::NONE {
                continue;
            }
            let place = self.at(event.loc);
            // A lock is given back in a wake-up in vain, and taken again.
            if event.is_write() && !event.marks.is_rmw() && !event.marks.is_unlock() {
                place.quiet |= bit(number);
            }
            if first_read.is_some_and(|first| first != operation) {
                place.skipped[class(event)] |= bit(number);
            }
            if event.is_read() {
                first_read.get_or_insert(operation);
            }
        }
    }

    /// Locations get other numbers.
    pub fn settle(&mut self, memory: &Memory) {
        for (place, (address, _)) in std::mem::take(&mut self.here).iter().zip(&memory.table) {
            self.add(*address, place);
        }
    }

    fn add(&mut self, address: u64, more: &Use) {
        let place = self.uses.entry(address).or_default();
        place.writers |= more.writers;
        place.quiet |= more.quiet;
        for class in 0..4 {
            place.skipped[class] |= more.skipped[class];
            place.late[class] |= more.late[class];
        }
    }

    /// What another search has seen, when it is settled.
    pub fn join(&mut self, other: &Skips) {
        self.twins |= other.twins;
        other.uses.iter().for_each(|(address, place)| self.add(*address, place));
        for (object, late) in &other.freed {
            *self.freed.entry(*object).or_default() |= late;
        }
    }

    /// Where quiet stores are left out though others write there.
    pub fn observable(&self) -> BTreeSet<u64> {
        let is_observable =
            |place: &&Use| place.quiet != 0 && place.writers & (place.writers - 1) != 0;
        let places = self.uses.iter().filter(|(_, place)| is_observable(place));
        places.map(|(address, _)| *address).collect()
    }

    /// Whether some thread is among both, or one that stands for it.
    fn meet(&self, one: Threads, other: Threads) -> bool {
        one & other != 0 || one & self.twins != 0 && other & self.twins != 0
    }

    /// Whether a race with an access that was left out may have been missed.
    pub fn may_race(&self) -> bool {
        self.uses.values().any(|place| {
            let pairs = (0..4).flat_map(|one| (0..4).map(move |other| (one, other)));
            pairs
                .filter(|(one, other)| {
                    (one | other) & NON_ATOMIC != 0 && (one | other) & WRITE != 0
                })
                .any(|(one, other)| self.meet(place.skipped[one], place.late[other]))
        })
    }

    /// Whether an access that was left out may have come after the end of its object.
    pub fn may_be_freed(&self) -> bool {
        self.freed.iter().any(|((address, size), late)| {
            let within = self.uses.range(*address..address.saturating_add(*size));
            within
                .into_iter()
                .any(|(_, place)| place.skipped.iter().any(|one| self.meet(*one, *late)))
        })
    }
}
