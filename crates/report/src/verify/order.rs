//! The order in which the steps of an execution are shown.
//!
//! Where the execution is an interleaving (program order, reads-from, coherence and from-read
//! have no cycle together: Shasha and Snir, TOPLAS 1988), an order in which every read sees the
//! last write before it, with as few switches between threads as a simple rule gives. Where it
//! is not, the order that the engine found, or one that puts writes before their readers.

use std::collections::BTreeMap;

use parallax_verdict::{EventKind, Execution};

use super::links::Links;

pub struct Order {
    /// The events of the threads, first to last.
    pub events: Vec<u32>,
    /// For each event its position, from 1; 0 for initial writes.
    pub position: Vec<u32>,
    /// Whether the order explains every value: no read misses a write before it.
    pub interleaving: bool,
}

impl Order {
    pub fn new(execution: &Execution, links: &Links) -> Order {
        let frees = frees_before_use(execution);
        let strict = communication(execution, links);
        let with_frees: Vec<(u32, u32)> = strict.iter().chain(&frees).copied().collect();
        // Atomic sections as a whole, if nobody has come between.
        let ordered = sorted(execution, links, &around_sections(execution, &with_frees))
            .or_else(|| sorted(execution, links, &around_sections(execution, &strict)))
            .or_else(|| sorted(execution, links, &with_frees))
            .or_else(|| sorted(execution, links, &strict))
            .map(|events| Order::of(execution, events, true));
        ordered.unwrap_or_else(|| {
            let given = Some(&execution.schedule).filter(|given| is_order(execution, given));
            let events = given.cloned().or_else(|| sorted(execution, links, &execution.rf));
            let events = events.unwrap_or_else(|| by_thread(execution));
            Order::of(execution, events, false)
        })
    }

    fn of(execution: &Execution, events: Vec<u32>, interleaving: bool) -> Order {
        let mut position = vec![0; execution.events.len()];
        for (number, event) in (1u32..).zip(&events) {
            position[*event as usize] = number;
        }
        Order { events, position, interleaving }
    }
}

fn by_thread(execution: &Execution) -> Vec<u32> {
    let events = (0u32..).zip(&execution.events);
    events.filter(|(_, event)| event.thread.is_some()).map(|(number, _)| number).collect()
}

/// Whether the schedule has every event of a thread just once.
fn is_order(execution: &Execution, schedule: &[u32]) -> bool {
    let mut sorted = schedule.to_vec();
    sorted.sort_unstable();
    sorted == by_thread(execution)
}

fn communication(execution: &Execution, links: &Links) -> Vec<(u32, u32)> {
    let replaced = (0u32..).zip(&links.replaced_by);
    let co = replaced.filter_map(|(write, later)| Some((write, (*later)?)));
    let reads =
        (0..execution.events.len() as u32).filter(|read| links.source[*read as usize].is_some());
    let fr = reads.filter_map(|read| Some((read, links.missed(read)?)));
    execution.rf.iter().copied().chain(co).chain(fr).filter(|(a, b)| a != b).collect()
}

/// Accesses to an object that another thread frees are shown after that, where they can be.
fn frees_before_use(execution: &Execution) -> Vec<(u32, u32)> {
    let events = || (0u32..).zip(&execution.events);
    let mut pairs = Vec::new();
    for (free, event) in events() {
        let EventKind::Free { address: object, .. } = event.kind else { continue };
        let touched = events().filter(|(_, other)| match other.kind {
            EventKind::Read { address, .. } | EventKind::Write { address, .. } => {
                address == object && other.thread != event.thread
            }
            _ => false,
        });
        // The last access of a thread is the one that comes too late, if any does.
        let mut last: BTreeMap<Option<u32>, u32> = BTreeMap::new();
        last.extend(touched.map(|(number, other)| (other.thread, number)));
        pairs.extend(last.values().map(|use_| (free, *use_)));
    }
    pairs
}

/// The same pairs, where what comes after a part of an atomic section comes after all of it, and what comes
/// before a part before all of it.
fn around_sections(execution: &Execution, pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    let count = execution.events.len();
    let mut first: Vec<u32> = (0..count as u32).collect();
    let mut last = first.clone();
    // Where the section of each thread has begun.
    let mut open: BTreeMap<u32, u32> = BTreeMap::new();
    for (number, event) in (0u32..).zip(&execution.events) {
        let Some(thread) = event.thread else { continue };
        if event.kind == EventKind::AtomicBegin {
            open.insert(thread, number);
        }
        let Some(begin) = open.get(&thread).copied() else { continue };
        first[number as usize] = begin;
        last[begin as usize] = number;
        if event.kind == EventKind::AtomicEnd {
            open.remove(&thread);
        }
    }
    let around = |(a, b): &(u32, u32)| {
        let (from, to) = (first[*a as usize], first[*b as usize]);
        if from == to { (*a, *b) } else { (last[from as usize], to) }
    };
    pairs.iter().map(around).collect()
}

/// A topological order of program order and the given pairs that stays in a thread while it can
/// go on; None if there is a cycle.
fn sorted(execution: &Execution, links: &Links, pairs: &[(u32, u32)]) -> Option<Vec<u32>> {
    let count = execution.events.len();
    let mut waits_for = vec![0u32; count];
    let mut frees: Vec<Vec<u32>> = vec![Vec::new(); count];
    let in_thread =
        |event: u32| execution.events.get(event as usize).is_some_and(|e| e.thread.is_some());
    for (a, b) in pairs.iter().filter(|(a, b)| in_thread(*a) && in_thread(*b)) {
        waits_for[*b as usize] += 1;
        frees[*a as usize].push(*b);
    }
    // Where each thread stands.
    let mut heads: Vec<Option<u32>> = vec![None; execution.threads.len()];
    for (number, event) in (0u32..).zip(&execution.events) {
        if let Some(head) = event.thread.and_then(|thread| heads.get_mut(thread as usize)) {
            head.get_or_insert(number);
        }
    }
    let all = by_thread(execution).len();
    let mut events = Vec::with_capacity(all);
    let mut current = 0;
    while events.len() < all {
        let ready = |thread: &usize| {
            let head = heads.get(*thread).copied().flatten();
            head.is_some_and(|event| waits_for[event as usize] == 0)
        };
        current = Some(current).filter(ready).or_else(|| (0..heads.len()).find(ready))?;
        let event = heads[current]?;
        frees[event as usize].iter().for_each(|freed| waits_for[*freed as usize] -= 1);
        heads[current] = links.next[event as usize];
        events.push(event);
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use parallax_program::{Bits, Tags};
    use parallax_verdict::Event;

    use super::*;

    fn event(thread: Option<u32>, kind: EventKind) -> Event {
        Event { thread, kind, tags: Tags::default(), place: None, text: String::new() }
    }

    fn access(writes: bool, address: u64) -> EventKind {
        let (location, shown, value) = (String::new(), String::new(), Bits::zero(32));
        match writes {
            true => EventKind::Write { location, address, size: 4, value, shown },
            false => EventKind::Read { location, address, size: 4, value, shown },
        }
    }

    /// Two threads that do the same in atomic sections; the first writes last.
    #[test]
    fn sections_are_shown_as_a_whole() {
        let mut events = vec![event(None, access(true, 8)), event(None, access(true, 16))];
        for thread in 0..2 {
            let section =
                [EventKind::AtomicBegin, access(false, 8), access(true, 16), EventKind::AtomicEnd];
            events.extend(section.map(|kind| event(Some(thread), kind)));
        }
        let execution = Execution {
            threads: vec!["one".to_string(), "two".to_string()],
            events,
            rf: vec![(0, 3), (0, 7)],
            co: vec![(1, 8), (1, 4), (8, 4)],
            schedule: vec![2, 3, 6, 7, 8, 9, 4, 5],
            ..Execution::default()
        };
        let order = Order::new(&execution, &Links::new(&execution));
        assert_eq!(order.events, [6, 7, 8, 9, 2, 3, 4, 5]);
        assert!(order.interleaving);
    }

    /// What is no part of a section may fall into one.
    #[test]
    fn others_may_come_between() {
        let begin = vec![event(None, access(true, 8)), event(None, access(true, 16))];
        let section =
            [EventKind::AtomicBegin, access(true, 8), access(false, 16), EventKind::AtomicEnd];
        let section = section.map(|kind| event(Some(0), kind));
        let other = [access(false, 8), access(true, 16)].map(|kind| event(Some(1), kind));
        let execution = Execution {
            threads: vec!["one".to_string(), "two".to_string()],
            events: begin.into_iter().chain(section).chain(other).collect(),
            rf: vec![(3, 6), (7, 4)],
            co: vec![(0, 3), (1, 7)],
            schedule: vec![2, 3, 6, 7, 4, 5],
            ..Execution::default()
        };
        let order = Order::new(&execution, &Links::new(&execution));
        assert_eq!(order.events, [2, 3, 6, 7, 4, 5]);
    }
}
