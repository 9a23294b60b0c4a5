//! What IMM preserves of program order: which reads stay before which later writes of their
//! thread. Only where one does not can there be load buffering; see [`crate::buffering`].
//!
//! These are the paths inside of a thread of the acyclic order of the model: barriers, dependencies, also
//! those through the thread's own memory, and detours (A. Podkopaev, O. Lahav, V. Vafeiadis, Bridging the
//! gap between programming languages and hardware weak memory models, POPL 2019). What fences keep by way of other threads they
//! keep inside of a thread as barriers anyway. The model's file says the same, and tests hold the two
//! equal; but it computes the order of the whole graph, and here one walk along the thread will do.

use std::collections::BTreeSet;

use parallax_verdict::Dependencies;

use crate::buffering::{Pair, Pairs, Seen};
use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::{Graph, ThreadGraph};
use crate::memory::Memory;
use crate::watched::Watched;

/// Adds the writes and reads of several threads neither of which happens before the other.
pub fn add_races(
    graph: &Graph<'_>,
    memory: &Memory,
    watched: &mut Watched,
    races: &mut BTreeSet<(u64, usize, usize)>,
) {
    let before = |a: Id, b: Id| Clocks::covers(graph.clocks.get(Clock::Happens, b), a);
    for (loc, place) in graph.places.iter().enumerate() {
        let address = memory.table[loc].0;
        for write in &place.co {
            for read in place.reads.iter().filter(|read| read.thread() != write.thread()) {
                let (writer, reader) = (write.thread(), read.thread());
                if !watched.has_race(loc, writer, reader)
                    && !before(*write, *read)
                    && !before(*read, *write)
                {
                    watched.add_race(loc, writer, reader);
                    races.insert((address, writer, reader));
                }
            }
        }
    }
}

/// Adds the reads before writes of a thread, and whether they stay so. The dependencies are asked for only
/// where nothing else keeps a pair.
pub fn add_pairs<'d>(
    graph: &Graph<'_>,
    memory: &Memory,
    number: usize,
    known: &Seen,
    pairs: &mut Pairs,
    dependencies: impl FnOnce() -> &'d Dependencies,
) {
    let thread = &graph.threads[number];
    let is_loose = |pair: &Pair| known.pairs.contains_key(pair);
    let open: Vec<(usize, usize, Pair)> = accesses(thread)
        .filter(|(_, event)| event.is_read())
        .flat_map(|(first, read)| {
            let later = accesses(thread).filter(move |(last, _)| first < *last);
            let writes = later.filter(|(_, event)| event.is_write());
            writes.map(move |(last, write)| {
                let [read, write] = [read.loc, write.loc].map(|loc| memory.table[loc.0 as usize].0);
                (first, last, Pair { thread: number, read, write, is_ordered: false })
            })
        })
        .filter(|(.., pair)| !is_loose(pair))
        .collect();
    if open.is_empty() {
        return;
    }
    let barriers = Order::of(graph, number, None);
    let is_kept =
        |order: &Order, (first, last, _): &(usize, usize, Pair)| order.keeps(*first, *last);
    let order = match open.iter().all(|pair| is_kept(&barriers, pair)) {
        true => barriers,
        false => Order::of(graph, number, Some(dependencies())),
    };
    for found in open {
        let is_ordered = is_kept(&order, &found);
        let (first, last, pair) = found;
        let pair = Pair { is_ordered, ..pair };
        if !known.pairs.contains_key(&pair) {
            let site = |index: usize| graph.standing(Id::new(number, index)).site();
            pairs.entry(pair).or_insert([site(first), site(last)]);
        }
    }
}

/// Reads and writes of memory, with their places in the thread.
fn accesses<'g>(thread: &'g ThreadGraph<'_>) -> impl Iterator<Item = (usize, &'g Event)> {
    let accesses = thread.events.iter().enumerate();
    accesses.filter(|(_, event)| (event.is_read() || event.is_write()) && event.loc != Loc::NONE)
}

/// A set of places in a thread.
#[derive(Clone, Default)]
struct Places(Vec<u64>);

impl Places {
    fn insert(&mut self, place: usize) {
        let word = place / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (place % 64);
    }

    fn contains(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word & (1 << (place % 64)) != 0)
    }

    fn join(&mut self, other: &Places) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(index, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| index * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }
}

/// For each event of a thread, the reads that stay before it.
struct Order {
    kept: Vec<Places>,
}

impl Order {
    fn keeps(&self, first: usize, last: usize) -> bool {
        self.kept[last].contains(first)
    }

    /// By barriers and detours, and by dependencies if these are given.
    fn of(graph: &Graph<'_>, number: usize, dependencies: Option<&Dependencies>) -> Order {
        let events = &graph.threads[number].events;
        let chains = dependencies.map(|found| chains(graph, number, found));
        let mut kept: Vec<Places> = Vec::with_capacity(events.len());
        // Reads that stay before what comes after all that was there, and before all that is still to come.
        let (mut all, mut kept_by_barrier) = (Places::default(), Places::default());
        for (index, event) in events.iter().enumerate() {
            let mut now = kept_by_barrier.clone();
            let is_fence =
                event.kind == Kind::Fence && (event.marks.is_acquire() || event.marks.is_release());
            if is_fence || event.is_write() && event.marks.is_release() {
                now.join(&all);
            }
            for (earlier, from) in events[..index].iter().enumerate() {
                if from.is_write() && leads_to(graph, number, earlier, event) {
                    now.join(&kept[earlier]);
                }
            }
            if let Some(chains) = chains.as_ref().filter(|_| event.is_write()) {
                now.join(&chains[index]);
                chains[index].iter().for_each(|read| now.join(&kept[read]));
            }
            let mut with_own = now.clone();
            if event.is_read() {
                with_own.insert(index);
            }
            if is_fence || event.is_read() && event.marks.is_acquire() {
                kept_by_barrier.join(&with_own);
            }
            all.join(&with_own);
            kept.push(now);
        }
        Order { kept }
    }
}

/// Whether a write stays before a later event of its thread at the same location: a release before a
/// write, and any before a read of a write from outside that comes after it in coherence order.
fn leads_to(graph: &Graph<'_>, number: usize, write: usize, event: &Event) -> bool {
    let from = &graph.threads[number].events[write];
    if event.loc == Loc::NONE || from.loc != event.loc {
        return false;
    }
    if event.is_write() {
        return from.marks.is_release();
    }
    let place = graph.place(event.loc);
    event.is_read()
        && !event.rf.is_init()
        && event.rf.thread() != number
        && place.position(Id::new(number, write)) < place.position(event.rf)
}

/// For each event, the reads from which dependencies lead to it, also through the thread's own writes.
fn chains(graph: &Graph<'_>, number: usize, dependencies: &Dependencies) -> Vec<Places> {
    let events = &graph.threads[number].events;
    let mut chains: Vec<Places> = vec![Places::default(); events.len()];
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
    let mut from_here_on: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
    for (from, to) in dependencies.data.iter().chain(&dependencies.ctrl).chain(&dependencies.addr) {
        if let Some(sources) = sources.get_mut(*to as usize) {
            sources.push(*from as usize);
        }
    }
    for (from, to) in &dependencies.addr {
        if let Some(sources) = from_here_on.get_mut(*to as usize) {
            sources.push(*from as usize);
        }
    }
    let mut on_all = Places::default();
    for (index, event) in events.iter().enumerate() {
        let mut now = on_all.clone();
        for from in sources[index].iter().filter(|from| **from < index) {
            now.insert(*from);
            now.join(&chains[*from]);
        }
        if event.is_read() && !event.rf.is_init() && event.rf.thread() == number {
            now.join(&chains[event.rf.index()]);
        }
        for from in from_here_on[index].iter().filter(|from| **from < index) {
            on_all.insert(*from);
            on_all.join(&chains[*from]);
        }
        let is_half = event.is_read()
            && events.get(index + 1).is_some_and(|next| next.is_write() && next.marks.is_rmw());
        if is_half {
            on_all.insert(index);
            on_all.join(&now);
        }
        chains[index] = now;
    }
    chains
}
