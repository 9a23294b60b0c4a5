//! What must be true of a graph between two steps of the search: the whole of it, slowly.
//!
//! Nothing of this is looked at while programs are verified. Tests explore random programs, and
//! look after every step, forward, back and after a revisit, so that a wrong graph shows where it
//! becomes wrong, and not where somebody reads it. Cheap parts of it are assertions in [`crate::graph`]
//! and [`crate::clocks`].

use std::collections::HashSet;

use parallax_program::Bits;

use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::{Graph, Place};
use crate::memory::Memory;

/// Looks at all of a graph. `is_coherent` says whether the model keeps accesses of a thread to one
/// place in order.
pub fn check(graph: &Graph<'_>, memory: &Memory, is_coherent: bool) {
    check_order(graph);
    check_threads(graph);
    check_places(graph);
    check_objects(graph);
    for id in &graph.order {
        let event = graph.event(*id);
        match event.kind {
            Kind::Read => check_read(graph, memory, *id, event),
            Kind::Write => check_write(graph, *id, event),
            _ => {}
        }
        check_clocks(graph, *id, event);
    }
    if is_coherent {
        (0..graph.threads.len()).for_each(|thread| check_coherence(graph, thread));
    }
}

/// The order of addition has every event once, those of a thread in program order, and stamps grow.
fn check_order(graph: &Graph<'_>) {
    let events: usize = graph.threads.iter().map(|thread| thread.events.len()).sum();
    assert_eq!(graph.order.len(), events, "events that are in no order");
    let mut next = vec![0; graph.threads.len()];
    for id in &graph.order {
        assert_eq!(next[id.thread()], id.index(), "{id:?} is not next in its thread");
        next[id.thread()] += 1;
    }
    let stamps: Vec<u32> = graph.order.iter().map(|id| graph.event(*id).stamp).collect();
    assert!(stamps.windows(2).all(|pair| pair[0] < pair[1]), "stamps {stamps:?}");
}

/// A thread has a standing before each event and one after the last; twins know one another; and
/// what events say of those before them is so.
fn check_threads(graph: &Graph<'_>) {
    for (number, thread) in graph.threads.iter().enumerate() {
        match thread.standings.len() {
            0 => assert!(thread.events.is_empty(), "thread {number} was not spawned"),
            standings => assert_eq!(standings, thread.events.len() + 1, "thread {number}"),
        }
        if let Some(younger) = thread.younger_twin {
            assert_eq!(graph.threads[younger].older_twin, Some(number));
        }
        if let Some(older) = thread.older_twin {
            assert_eq!(graph.threads[older].younger_twin, Some(number));
        }
        let mut before: Option<&Event> = None;
        for (index, event) in thread.events.iter().enumerate() {
            let mut again = *event;
            again.follow(before, index);
            let last = |event: &Event| {
                let Event { last_read, last_write, last_flush, last_release_fence, .. } = *event;
                (last_read, last_write, last_flush, last_release_fence, event.in_section)
            };
            assert_eq!(last(event), last(&again), "event {index} of thread {number}");
            before = Some(event);
        }
    }
}

/// Coherence is a total order of the writes of a place, and its reads are all there.
fn check_places(graph: &Graph<'_>) {
    let mut placed = HashSet::new();
    for (number, place) in graph.places.iter().enumerate() {
        let Place { co, reads, non_atomic, parts } = place;
        for id in co.iter().chain(reads) {
            assert!(placed.insert(*id), "{id:?} is at two places");
            assert_eq!(graph.event(*id).loc, Loc(number as u32), "{id:?}");
        }
        assert!(co.iter().all(|id| graph.event(*id).is_write()), "co {co:?}");
        assert!(reads.iter().all(|id| graph.event(*id).is_read()), "reads {reads:?}");
        let plain = |id: &&Id| graph.event(**id).marks.is_non_atomic();
        assert_eq!(co.iter().chain(reads).filter(plain).count(), *non_atomic as usize);
        let part = |id: &&Id| graph.event(**id).marks.is_part();
        assert_eq!(co.iter().chain(reads).filter(part).count(), *parts as usize);
    }
    let somewhere = |id: &&Id| {
        let event = graph.event(**id);
        event.loc != Loc::NONE && (event.is_read() || event.is_write())
    };
    assert_eq!(graph.order.iter().filter(somewhere).count(), placed.len());
    let strong = graph.order.iter().filter(|id| graph.event(**id).marks.is_seq_cst());
    assert_eq!(strong.count(), graph.seq_cst as usize);
}

/// Objects of a thread lie apart, and each was made, and at most once freed, by a step.
fn check_objects(graph: &Graph<'_>) {
    for thread in &graph.threads {
        for pair in thread.objects.windows(2) {
            assert!(pair[0].address + pair[0].size.max(1) <= pair[1].address, "{pair:?}");
        }
        for object in &thread.objects {
            let address = Bits::new(64, u128::from(object.address));
            let made = graph.event(object.made);
            assert_eq!((made.kind, made.value), (Kind::Alloc, address));
            if let Some(freed) = object.freed {
                let freed = graph.event(freed);
                assert_eq!((freed.kind, freed.value), (Kind::Free, address));
            }
        }
    }
}

/// A read has the value of a write of its own place, or of what was there from the start.
fn check_read(graph: &Graph<'_>, memory: &Memory, id: Id, event: &Event) {
    if event.rf.is_init() {
        assert_ne!(event.loc, Loc::NONE, "{id:?} begins or joins for no reason");
        let zero = memory.zero(event.loc);
        let initial = memory.initial(graph, event.loc).unwrap_or(Bits::undefined(zero.width()));
        assert_eq!(event.value, initial, "{id:?}");
        return;
    }
    let source = graph.event(event.rf);
    assert!(source.is_write(), "{id:?} reads {:?}, which is no write", event.rf);
    assert_eq!(source.loc, event.loc, "{id:?} reads another place");
    match event.loc {
        Loc::NONE => assert!(source.marks.is_life() && event.marks.is_life(), "{id:?}"),
        _ => assert_eq!(source.value, event.value, "{id:?}"),
    }
}

/// Nothing comes between the halves of a read-modify-write.
fn check_write(graph: &Graph<'_>, id: Id, event: &Event) {
    if !event.marks.is_rmw() || event.loc == Loc::NONE {
        return;
    }
    let before = id.index().checked_sub(1).map(|index| Id::new(id.thread(), index));
    let read = before.map(|before| graph.event(before)).filter(|read| read.loc == event.loc);
    let read = read.expect("the first half of a read-modify-write");
    let place = graph.place(event.loc);
    assert_eq!(place.position(read.rf) + 1, place.position(id), "{id:?} is not after what it read");
}

/// Clocks grow along program order and reads-from, and nobody comes before itself. What happens
/// before an event is in its prefix.
fn check_clocks(graph: &Graph<'_>, id: Id, event: &Event) {
    let at_most = |less: &[u32], more: &[u32]| less.iter().zip(more).all(|(a, b)| a <= b);
    let prefix = graph.clocks.get(Clock::Prefix, id);
    assert_eq!(prefix[id.thread()] as usize, id.index() + 1, "{id:?} in its own prefix");
    for (thread, count) in prefix.iter().enumerate() {
        let length = graph.threads.get(thread).map_or(0, |thread| thread.events.len());
        assert!(*count as usize <= length, "{id:?} comes after what is not there");
    }
    let before = id.index().checked_sub(1).map(|index| Id::new(id.thread(), index));
    let mut expected: Vec<u32> = vec![0; prefix.len()];
    let is_ordered = event.is_read() && !event.marks.updates();
    let source = Some(event.rf).filter(|rf| is_ordered && !rf.is_init());
    for earlier in before.into_iter().chain(source) {
        let clock = graph.clocks.get(Clock::Prefix, earlier);
        expected.iter_mut().zip(clock).for_each(|(entry, other)| *entry = (*entry).max(*other));
        assert!(!Clocks::covers(clock, id), "{id:?} comes before itself");
    }
    expected[id.thread()] = id.index() as u32 + 1;
    assert_eq!(prefix, expected, "prefix of {id:?}");
    if !graph.clocks.follows_synchronisation() {
        return;
    }
    for kind in [Clock::Happens, Clock::Pending, Clock::Message] {
        let clock = graph.clocks.get(kind, id);
        assert!(at_most(clock, prefix), "{kind:?} of {id:?} is beyond its prefix");
        if let Some(before) = before.filter(|_| kind != Clock::Message) {
            assert!(at_most(graph.clocks.get(kind, before), clock), "{kind:?} of {id:?}");
        }
    }
}

/// Accesses of one thread to one place follow coherence.
fn check_coherence(graph: &Graph<'_>, thread: usize) {
    let mut known: Vec<(Loc, usize)> = Vec::new();
    for (index, event) in graph.threads[thread].events.iter().enumerate() {
        if event.loc == Loc::NONE || !(event.is_read() || event.is_write()) {
            continue;
        }
        let place = graph.place(event.loc);
        let id = Id::new(thread, index);
        let at = place.position(if event.is_read() { event.rf } else { id });
        let last = known.iter().rev().find(|(loc, _)| *loc == event.loc).map(|(_, at)| *at);
        let is_later = |last: usize| if event.is_read() { last <= at } else { last < at };
        assert!(last.is_none_or(is_later), "{id:?} is at {at}, and the thread knows {last:?}");
        known.push((event.loc, at));
    }
}

pub mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use parallax_memory::Model;
    use parallax_program::{Program, Property};
    use proptest::prelude::*;

    use super::*;
    use crate::crew::tests::{body, program};
    use crate::{Options, Reductions, explore};

    /// What is done with graphs between two steps.
    #[derive(Clone, Copy, PartialEq)]
    enum Look {
        Away,
        /// They are checked.
        Check,
        /// They are changed, and then checked: that must be noticed.
        Spoil,
    }

    thread_local! {
        static LOOK: Cell<Look> = const { Cell::new(Look::Away) };
        /// How many graphs were looked at.
        static LOOKED: Cell<u32> = const { Cell::new(0) };
        /// How many of them were not as they must be; the engine answers `unknown` after a panic.
        static WRONG: Cell<u32> = const { Cell::new(0) };
    }

    /// So many steps of one search are looked at.
    const MOST_LOOKS: u32 = 3_000;

    /// Looks at a graph between two steps, if somebody asked for it.
    pub fn look(graph: &Graph<'_>, memory: &Memory) {
        if LOOK.get() == Look::Away || LOOKED.get() >= MOST_LOOKS {
            return;
        }
        LOOKED.set(LOOKED.get() + 1);
        match LOOK.get() {
            Look::Spoil => SPOILS.iter().for_each(|spoil| spoiled(graph, memory, *spoil)),
            _ => {
                let checked = catch_unwind(AssertUnwindSafe(|| check(graph, memory, true)));
                WRONG.set(WRONG.get() + u32::from(checked.is_err()));
            }
        }
    }

    /// Makes something wrong with a graph; false where there is nothing to make wrong.
    type Spoil = fn(&mut Graph<'_>) -> bool;

    const SPOILS: [Spoil; 6] = [
        // A write is twice in coherence order.
        |graph| {
            let place = graph.places.iter_mut().find(|place| !place.co.is_empty());
            place.map(|place| place.co.push(place.co[0])).is_some()
        },
        // A read is lost.
        |graph| {
            let place = graph.places.iter_mut().find(|place| !place.reads.is_empty());
            place.map(|place| place.reads.pop()).is_some()
        },
        // A read has not the value of its source.
        |graph| {
            let id = graph.places.iter().find_map(|place| place.reads.first().copied());
            let event = id.map(|id| &mut graph.threads[id.thread()].events[id.index()]);
            let other = |event: &mut Event| {
                let value = event.value.unsigned() ^ 1;
                event.value = Bits::new(event.value.width(), value);
            };
            event.map(other).is_some()
        },
        // A read is of a write that its clock does not know of.
        |graph| {
            let place = graph.places.iter().find(|it| !it.reads.is_empty() && it.co.len() > 1);
            let Some(place) = place else { return false };
            let (read, co) = (place.reads[0], place.co.clone());
            let event = &mut graph.threads[read.thread()].events[read.index()];
            let other =
                co.into_iter().find(|write| *write != event.rf && write.thread() != read.thread());
            let known = graph.clocks.get(Clock::Prefix, read);
            let other = other.filter(|write| !Clocks::covers(known, *write));
            other.map(|write| event.rf = write).is_some()
        },
        // The order of addition is another one.
        |graph| {
            let length = graph.order.len();
            let is_long = length > 1;
            if is_long {
                graph.order.swap(length - 1, length - 2);
            }
            is_long
        },
        // A thread does not stand anywhere.
        |graph| {
            let last = graph.order.last().copied();
            last.map(|id| graph.threads[id.thread()].standings.pop()).is_some()
        },
    ];

    fn spoiled(graph: &Graph<'_>, memory: &Memory, spoil: Spoil) {
        let mut graph = graph.clone();
        if !spoil(&mut graph) {
            return;
        }
        let checked = catch_unwind(AssertUnwindSafe(|| check(&graph, memory, true)));
        WRONG.set(WRONG.get() + u32::from(checked.is_ok()));
    }

    const MODELS: [&str; 6] = ["sc", "tso", "pso", "ra", "rc11", "imm"];

    /// Explores a program and looks after every step; how often that was.
    fn explored(program: &Program, name: &str, reductions: Reductions, how: Look) -> u32 {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let model = model.with_races_of_c().expect("a right model");
        let properties = Property::ALL.to_vec();
        let options = Options { properties, all: true, reductions, ..Options::default() };
        LOOK.set(how);
        LOOKED.set(0);
        WRONG.set(0);
        explore(program, &model, &options).expect("explored");
        LOOK.set(Look::Away);
        assert_eq!(WRONG.get(), 0, "{name}: graphs of {program:?}");
        LOOKED.get()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 96, failure_persistence: None, ..ProptestConfig::default()
        })]
        #[test]
        fn graphs_are_right_after_every_step(
            bodies in prop::collection::vec(body(), 2..4),
            model in prop::sample::select(MODELS.to_vec()),
            is_reduced in any::<bool>(),
        ) {
            let reductions = if is_reduced { Reductions::ALL } else { Reductions::NONE };
            let looked = explored(&program(&bodies), model, reductions, Look::Check);
            prop_assert!(looked > 1);
        }
    }

    /// Locks, threads that start others and wait for them, objects that come and go, parts of
    /// objects, compare-and-swaps that fail for no reason, waits.
    const MANY_KINDS: &str = "\
program p pointers 64
global m: 4
global z: 8
fn worker(p: 64) {
  var r: 32, b: 1, h: 16
again:
  r, b = cas.weak.4 &m, 0:32, 1:32 [A, ACQ] [A, LOCK_WRITE, ACQ] [A, RLX]
  branch b, in, again
in:
  r = load.4 p [NA]
  store.4 p, r + 1:32 [NA]
  store.2 &z + 2:64, 1:16 [A, RLX]
  h = load.2 &z [A, RLX]
  store.4 &m, 0:32 [A, REL, UNLOCK]
}
fn main() {
  var p: 64, q: 64, s: 32, t: 32, r: 32
  p = alloc.heap.zeroed 4:64 align 4
  q = alloc.heap 8:64 align 8
  s = spawn worker(p)
  t = spawn worker(p)
  free.heap q
  store.4 &z, 7:32 [A, SC]
  fence [SC]
  join s
  join t
  r = load.4 p [NA]
  assert r == 2:32, \"both\"
  free.heap p
}
thread main = main()
";

    #[test]
    fn every_kind_of_event_leaves_a_right_graph() {
        let program = parallax_program::parse_program("p", MANY_KINDS).expect("a program");
        for name in MODELS {
            for reductions in [Reductions::ALL, Reductions::NONE] {
                let looked = explored(&program, name, reductions, Look::Check);
                assert!(looked > 20, "{name}: {looked}");
            }
        }
    }

    #[test]
    fn a_wrong_graph_is_noticed() {
        let store = "store.4 &x, 1:32 [A, RLX]\nr0 = load.4 &x [A, RLX]\n".to_string();
        let program = program(&[store.clone(), store]);
        assert!(explored(&program, "rc11", Reductions::NONE, Look::Spoil) > 10);
    }
}
