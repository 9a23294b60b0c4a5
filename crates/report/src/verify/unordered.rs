//! Why nothing orders two accesses of different threads: how the one thread could have heard of the other,
//! and what is missing there.
//!
//! A thread that reads what another has written knows what that one did before if the store releases
//! and the load acquires, or fences stand in for that (C11, 5.1.2.4). Where reads lead from one access to
//! the other and one of them does not, that one is named; where none do, the locks that are held are.

use std::collections::VecDeque;

use parallax_program::Order;
use parallax_verdict::EventKind;

use super::words::{Words, listed};

/// Sentences.
#[derive(Default)]
pub struct Reasons {
    /// Reads that would order the two if their memory orders were stronger.
    pub gaps: Vec<String>,
    /// Which locks are held, where no reads lead from one to the other.
    pub locks: Option<String>,
}

/// Of two events, in the order in which they are shown.
pub fn reasons(words: &Words<'_>, first: u32, second: u32) -> Reasons {
    let between = Between { words, first, second };
    match between.path() {
        Some(path) => {
            let gaps = path.iter().filter_map(|read| between.gap(*read)).collect();
            Reasons { gaps, locks: None }
        }
        None => Reasons { gaps: Vec::new(), locks: between.locks() },
    }
}

struct Between<'a> {
    words: &'a Words<'a>,
    first: u32,
    second: u32,
}

impl Between<'_> {
    /// Atomic reads of other threads' stores that lead from the first access to the second, as few as there
    /// can be.
    fn path(&self) -> Option<Vec<u32>> {
        let count = self.words.execution.events.len();
        let mut by: Vec<Option<u32>> = vec![None; count];
        let mut is_reached = vec![false; count];
        let mut queue = VecDeque::from([self.first]);
        is_reached[self.first as usize] = true;
        while let Some(start) = queue.pop_front() {
            // All that its thread does after it, and who reads that.
            let mut at = Some(start);
            while let Some(event) = at {
                if event == self.second {
                    return Some(self.reads_to(start, &by));
                }
                is_reached[event as usize] = true;
                for read in self.readers(event) {
                    if !is_reached[read as usize] {
                        is_reached[read as usize] = true;
                        by[read as usize] = Some(start);
                        queue.push_back(read);
                    }
                }
                let next = self.words.links.next[event as usize];
                at = next.filter(|next| !is_reached[*next as usize] || *next == self.second);
            }
        }
        None
    }

    fn reads_to(&self, last: u32, by: &[Option<u32>]) -> Vec<u32> {
        let mut reads = Vec::new();
        let mut at = last;
        while let Some(before) = by[at as usize] {
            reads.push(at);
            at = before;
        }
        reads.reverse();
        reads
    }

    /// The atomic reads of other threads that take their value from an event.
    fn readers(&self, event: u32) -> impl Iterator<Item = u32> {
        let is_atomic = |event: u32| self.words.event(event).tags.contains("A");
        let writer = self.words.event(event).thread;
        let readers = self.words.links.readers[event as usize].iter().copied();
        let others = readers.filter(move |read| self.words.event(*read).thread != writer);
        others.filter(move |read| is_atomic(event) && is_atomic(*read))
    }

    /// What keeps such a read from ordering the two threads; nothing if it does.
    fn gap(&self, read: u32) -> Option<String> {
        let words = self.words;
        let write = words.links.source[read as usize]?;
        let orders = |event: u32| words.event(event).tags.orders();
        let releases = orders(write).any(Order::releases) || self.fence_before(write);
        let acquires = orders(read).any(Order::acquires) || self.fence_after(read);
        let order = |event: u32| words.memory_order(event).unwrap_or_else(|| "plain".to_string());
        let store = format!("the store is {}, not release", order(write));
        let load = format!("the load is {}, not acquire", order(read));
        let missing = match (releases, acquires) {
            (true, true) => return None,
            (false, true) => store,
            (true, false) => load,
            (false, false) => format!("{store}, and {load}"),
        };
        Some(format!(
            "{} {}{}, which orders nothing: {missing}",
            words.who(read),
            words.act_and_place(read),
            words.origin(read)
        ))
    }

    /// Whether a fence releases what the thread did before a store.
    fn fence_before(&self, write: u32) -> bool {
        let back = |event: &u32| self.words.links.previous[*event as usize];
        let earlier = std::iter::successors(back(&write), back);
        let earlier = earlier.take_while(|event| *event != self.first);
        { earlier }.any(|event| self.is_fence(event, Order::releases))
    }

    /// Whether a fence acquires what the thread has read, before the second access.
    fn fence_after(&self, read: u32) -> bool {
        let on = |event: &u32| self.words.links.next[*event as usize];
        let later = std::iter::successors(on(&read), on);
        { later.take_while(|event| *event != self.second) }
            .any(|event| self.is_fence(event, Order::acquires))
    }

    fn is_fence(&self, event: u32, orders: fn(Order) -> bool) -> bool {
        let event = self.words.event(event);
        event.kind == EventKind::Fence && event.tags.orders().any(orders)
    }

    /// Which locks the threads hold, if one of them does.
    fn locks(&self) -> Option<String> {
        let held = [self.first, self.second].map(|event| self.words.locks_held(event));
        if held.iter().all(Vec::is_empty) {
            return None;
        }
        let holds = |event: u32, held: &[String]| {
            let what = if held.is_empty() { "no lock".to_string() } else { listed(held) };
            format!("{} holds {what}", self.words.who(event))
        };
        let [first, second] = &held;
        Some(format!(
            "there, {}, and {}: a lock orders only those who take it",
            holds(self.first, first),
            holds(self.second, second)
        ))
    }
}
