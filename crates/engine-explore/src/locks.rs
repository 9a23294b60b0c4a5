//! Critical sections that change nothing: the order among them makes no difference.
//!
//! A section of a lock *looks* if it does nothing but to read, and each of its reads has one value to
//! find. Between two sections that change something, those that look can come in any order. So a
//! section that looks is no link in the chain of those who take the lock: it reads the lock word, as
//! the others do, and that says after which section it comes; but it writes nothing there, and who
//! takes the lock next reads the same. Whether a section looks is found out when it begins, by running
//! the thread ahead: all that it may find is in the graph already. Such a section is then added without
//! a break. After the idea of M. Kokologiannakis, A. Raad, V. Vafeiadis, Effective lock handling in
//! stateless model checking, OOPSLA 2019, who leave all sections unordered that have no conflict.
//!
//! What is lost is that who takes the lock after a section that looks comes after it in
//! happens-before. So more graphs are consistent than there are executions, and never fewer:
//!
//! - In which order locks are taken is kept in agreement between different locks by an order of
//!   sequentially consistent accesses to the lock words, which says nothing that the locks do not say.
//! - A read of such a section cannot see a later section of the same lock.
//! - Accesses of such a section do not race with those of other sections of the same lock.
//! - Where something is found, the sections are put into an order ([`line_up`]), and the replayer
//!   judges the execution. If it refuses, the exploration starts anew without this reduction.
//!
//! None is lost either, as long as nobody notices who holds the lock: if somebody looks at the lock word
//! without waiting (tries to take the lock, destroys it), or writes to what such a section reads
//! without the lock, and neither comes before the other, the exploration starts anew with the order of
//! that lock kept. So it does for locks that are taken inside of one another, and where a model without
//! happens-before has to say in one order of the sections whether an object is used after its end.

use std::collections::HashMap;

use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Loc, Marks};
use crate::graph::{Graph, ThreadGraph};

/// Whether an event is part of a section that looks; taking the lock is not.
pub fn is_in_looking_section(event: &Event) -> bool {
    event.looks && event.under != Loc::NONE
}

/// Whether a thread is in the middle of a section that looks.
pub fn is_looking(thread: &ThreadGraph<'_>) -> bool {
    let last = thread.events.last();
    last.is_some_and(|last| is_in_looking_section(last) && !last.marks.gives())
}

/// The second half of taking a lock; where the section looks, it writes nothing.
pub fn taking(graph: &Graph<'_>, thread: usize, event: Event) -> Event {
    let looks = graph.threads[thread].events.last().is_some_and(|read| read.looks);
    let marks = event.marks.with(Marks::SEQ_CST);
    let loc = if looks { Loc::NONE } else { event.loc };
    Event { marks, loc, under: event.loc, looks, ..event }
}

/// A write, which ends a section if it gives back the lock; where the section looks, it writes nothing.
pub fn giving(graph: &Graph<'_>, thread: usize, event: Event) -> Event {
    let last = graph.threads[thread].events.last();
    let Some(last) = last
        .filter(|last| event.marks.is_unlock() && last.under == event.loc && !last.marks.gives())
    else {
        return event;
    };
    let loc = if last.looks { Loc::NONE } else { event.loc };
    Event { marks: event.marks.with(Marks::GIVES), loc, ..event }
}

/// Whether an access is how sections begin and end.
fn is_of_sections(event: &Event) -> bool {
    event.marks.is_awaited() || event.marks.gives()
}

/// The lock whose order somebody may notice, now that an event was added.
pub fn noticed(graph: &Graph<'_>, id: Id, event: &Event) -> Option<Loc> {
    let kind = if graph.clocks.follows_synchronisation() { Clock::Happens } else { Clock::Prefix };
    let clock = graph.clocks.get(kind, id);
    let is_before = |other: &Id| other.thread() == id.thread() || Clocks::covers(clock, *other);
    let place = graph.place(event.loc);
    let looks = |read: &Id| graph.event(*read).looks;
    let intrudes = |other: &Id| !is_of_sections(graph.event(*other)) && !is_before(other);
    if event.looks && event.under == Loc::NONE {
        let mut others = place.co.iter().chain(&place.reads);
        return others.any(intrudes).then_some(event.loc);
    }
    let unordered = place.reads.iter().filter(|read| looks(read) && !is_before(read));
    unordered.map(|read| graph.event(*read)).find_map(|read| match read.under {
        Loc::NONE => (!is_of_sections(event)).then_some(event.loc),
        lock => (event.is_write() && event.under != lock).then_some(lock),
    })
}

/// The locks of sections that look.
pub fn unordered(graph: &Graph<'_>) -> impl Iterator<Item = Loc> {
    let events = graph.threads.iter().flat_map(|thread| &thread.events);
    let takes = |event: &&Event| event.is_read() && event.looks && event.under == Loc::NONE;
    events.filter(takes).map(|event| event.loc)
}

/// A graph in which all sections are in an order.
#[derive(Default)]
pub struct Lined {
    /// What takes a lock reads this write.
    sources: HashMap<Id, Id>,
    /// Coherence order of the lock words.
    co: HashMap<u32, Vec<Id>>,
    /// All events, each after what it needs.
    pub order: Vec<Id>,
}

impl Lined {
    pub fn source(&self, id: Id, event: &Event) -> Id {
        self.sources.get(&id).copied().unwrap_or(event.rf)
    }

    pub fn co<'a>(&'a self, loc: usize, graph: &'a Graph<'_>) -> &'a [Id] {
        self.co.get(&(loc as u32)).map_or(&graph.places[loc].co, |co| co)
    }
}

/// Puts the sections that look into an order with all others.
pub fn line_up(graph: &Graph<'_>) -> Lined {
    let mut line = Line { graph, lined: Lined::default(), done: vec![0; graph.threads.len()] };
    let mut open = graph.order.clone();
    let mut before = usize::MAX;
    while open.len() < before {
        before = open.len();
        open.retain(|id| !line.add(*id));
    }
    // What is left can be in no order; the replayer will say so.
    line.lined.order.extend(open);
    line.lined
}

struct Line<'a, 'p> {
    graph: &'a Graph<'p>,
    lined: Lined,
    /// How many events of each thread are in line.
    done: Vec<usize>,
}

impl Line<'_, '_> {
    fn is_done(&self, id: Id) -> bool {
        id.is_init() || self.done[id.thread()] > id.index()
    }

    /// The lock word that an event is an access of.
    fn lock(&self, event: &Event) -> Loc {
        let is_section = is_in_looking_section(event) && event.loc == Loc::NONE;
        let is_lock = |loc: Loc| {
            let reads = self.graph.places.get(loc.0 as usize).map(|place| &place.reads);
            let looks = |read: &Id| {
                let read = self.graph.event(*read);
                read.looks && read.under == Loc::NONE
            };
            reads.is_some_and(|reads| reads.iter().any(looks))
        };
        match event.loc {
            Loc::NONE if is_section => event.under,
            Loc::NONE => Loc::NONE,
            loc if is_lock(loc) => loc,
            _ => Loc::NONE,
        }
    }

    /// Adds an event if all that it needs is there.
    fn add(&mut self, id: Id) -> bool {
        let event = self.graph.event(id);
        let has_source = !event.is_read() || self.is_done(event.rf);
        if self.done[id.thread()] != id.index() || !has_source {
            return false;
        }
        let lock = self.lock(event);
        if lock != Loc::NONE && !self.add_to_lock(id, event, lock) {
            return false;
        }
        self.done[id.thread()] += 1;
        self.lined.order.push(id);
        true
    }

    /// The same, for an access to a lock word: who takes the lock comes when all have given it back
    /// who read the same word and change nothing.
    fn add_to_lock(&mut self, id: Id, event: &Event, lock: Loc) -> bool {
        let place = self.graph.place(lock);
        if event.is_write() && event.loc == lock {
            let before = place.at(place.position(id).saturating_sub(1));
            if !self.is_done(before) {
                return false;
            }
        }
        let co = self.lined.co.entry(lock.0).or_default();
        if event.is_write() {
            co.push(id);
            return true;
        }
        if !event.marks.is_rmw() {
            return true;
        }
        let last = co.last().copied();
        let is_held = last.is_some_and(|last| {
            let last = self.graph.event(last);
            last.marks.is_lock() && last.looks
        });
        let is_waited_for = |read: &Id| {
            let other = self.graph.event(*read);
            !event.looks
                && *read != id
                && other.looks
                && other.rf == event.rf
                && !self.is_done(*read)
        };
        if is_held || place.reads.iter().any(is_waited_for) {
            return false;
        }
        self.lined.sources.insert(id, last.unwrap_or(Id::INIT));
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use parallax_memory::Model;
    use parallax_program::{Program, Property, parse_program};
    use parallax_verdict::{Conclusion, Verdict};
    use proptest::prelude::*;

    use crate::symmetry::tests::cases;
    use crate::{Options, Reductions, explore};

    const MODELS: [&str; 6] = ["sc", "tso", "pso", "ra", "rc11", "rc20"];

    fn lock(name: &str) -> String {
        format!(
            "_, ok = cas.4 &{name}, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\nwait ok\n"
        )
    }

    fn unlock(name: &str) -> String {
        format!("store.4 &{name}, 0:32 [A, REL, UNLOCK]\n")
    }

    fn section(name: &str, body: &str) -> String {
        format!("{}{body}\n{}", lock(name), unlock(name))
    }

    /// The lock is taken if it is free.
    fn attempt(number: usize, name: &str, body: &str) -> String {
        format!(
            "_, ok = cas.4 &{name}, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\n\
             branch ok, in{number}, out{number}\nin{number}:\n{body}\n{}jump out{number}\n\
             out{number}:\n",
            unlock(name)
        )
    }

    /// A program whose main thread starts these threads, waits for them, and looks at the end.
    fn program(threads: &[String]) -> Program {
        let mut text = String::from("program p pointers 64\n");
        for name in ["x", "y", "m", "n"] {
            text += &format!("global {name}: 4\n");
        }
        text += "global o: 8\n";
        let vars = "p: 64, r0: 32, r1: 32, ok: 1";
        for (number, body) in threads.iter().enumerate() {
            text += &format!("fn f{number}() {{\nvar {vars}\n{body}\n}}\n");
        }
        let each =
            |line: &dyn Fn(usize) -> String| (0..threads.len()).map(line).collect::<String>();
        let tids = each(&|number| format!(", t{number}: 32"));
        let spawns = each(&|number| format!("t{number} = spawn f{number}()\n"));
        let joins = each(&|number| format!("join t{number}\n"));
        let object = match threads.iter().any(|body| body.contains("&o")) {
            true => "p = alloc.heap.zeroed 4:64 align 4\nstore.8 &o, p [NA]\n",
            false => "",
        };
        text += &format!(
            "fn main() {{\nvar {vars}{tids}\n{object}{spawns}{joins}r0 = load.4 &x [NA]\n\
             assert r0 != 2:32, \"at the end\"\n}}\nthread main = main()\n"
        );
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    fn verify(program: &Program, name: &str, reductions: &str) -> Verdict {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let model = model.with_races_of_c().expect("a right model");
        let reductions = Reductions::parse(reductions).expect("reductions");
        let properties = Property::ALL.to_vec();
        let unroll = Some(2);
        let options = Options { properties, all: true, reductions, unroll, ..Options::default() };
        explore(program, &model, &options).expect("explored")
    }

    type Answer = (Conclusion, BTreeSet<(Property, String)>);

    fn answer(verdict: &Verdict) -> Answer {
        let found = verdict.violations.iter().map(|it| (it.property, it.message.clone())).collect();
        (verdict.conclusion(), found)
    }

    fn place() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["x", "x", "y"])
    }

    fn access() -> impl Strategy<Value = String> {
        let tags = prop::sample::select(vec!["NA", "NA", "NA", "A, RLX", "A, SC"]);
        let register = 0..2u32;
        prop_oneof![
            5 => (place(), register.clone(), tags.clone())
                .prop_map(|(x, r, tags)| format!("r{r} = load.4 &{x} [{tags}]\n")),
            1 => (place(), 1..3u32, tags.clone())
                .prop_map(|(x, v, tags)| format!("store.4 &{x}, {v}:32 [{tags}]\n")),
            1 => (place(), register.clone(), tags)
                .prop_map(|(x, r, tags)| format!("store.4 &{x}, r{r} + 1:32 [{tags}]\n")),
            1 => (register, 1..3u32)
                .prop_map(|(r, v)| format!("assert r{r} != {v}:32, \"r{r} is {v}\"\n")),
        ]
    }

    /// A store that happens only if the last load has found something.
    fn guarded(number: usize, body: &str) -> String {
        format!(
            "branch r0 == 0:32, no{number}, yes{number}\nyes{number}:\n{body}jump no{number}\nno{number}:\n"
        )
    }

    #[derive(Clone, Debug)]
    enum Piece {
        Outside(String),
        Used(Option<&'static str>),
        Freed(Option<&'static str>, bool),
        Section(&'static str, Vec<String>),
        Guarded(&'static str, String, String),
        Attempt(&'static str, String),
        Nested(String, String),
        Waiting(&'static str, &'static str, u32),
        Stranger,
    }

    fn piece() -> impl Strategy<Value = Piece> {
        let name = || prop::sample::select(vec!["m", "m", "m", "n"]);
        prop_oneof![
            2 => access().prop_map(Piece::Outside),
            8 => (name(), prop::collection::vec(access(), 0..3))
                .prop_map(|(name, lines)| Piece::Section(name, lines)),
            3 => (name(), access(), access()).prop_map(|(m, one, two)| Piece::Guarded(m, one, two)),
            1 => (name(), access()).prop_map(|(m, line)| Piece::Attempt(m, line)),
            1 => (access(), access()).prop_map(|(one, two)| Piece::Nested(one, two)),
            1 => (name(), place(), 0..2u32).prop_map(|(m, x, v)| Piece::Waiting(m, x, v)),
            1 => Just(Piece::Stranger),
            2 => prop::option::weighted(0.8, name()).prop_map(Piece::Used),
            1 => (prop::option::weighted(0.5, name()), any::<bool>())
                .prop_map(|(m, inside)| Piece::Freed(m, inside)),
        ]
    }

    const FREE: &str = "p = load.8 &o [NA]\nfree.heap p\n";

    /// Something in a section, if there is a lock, and something after it.
    fn within(lock: Option<&str>, body: &str, after: &str) -> String {
        lock.map_or(body.to_string(), |name| section(name, body)) + after
    }

    fn text(number: usize, piece: &Piece) -> String {
        match piece {
            Piece::Outside(line) => line.clone(),
            Piece::Used(lock) => within(*lock, "p = load.8 &o [NA]\nr0 = load.4 p [NA]\n", ""),
            Piece::Freed(lock, true) => within(*lock, FREE, ""),
            Piece::Freed(lock, false) => within(*lock, "r0 = load.4 &x [NA]\n", FREE),
            Piece::Section(name, lines) => section(name, &lines.concat()),
            Piece::Guarded(name, one, two) => {
                section(name, &format!("{one}{}", guarded(number, two)))
            }
            Piece::Attempt(name, line) => attempt(number, name, line),
            Piece::Nested(one, two) => section("m", &format!("{one}{}", section("n", two))),
            Piece::Waiting(name, x, value) => section(
                name,
                &format!("r0 = load.4 &{x} [A, RLX]\nok = r0 == {value}:32\nwait ok\n"),
            ),
            Piece::Stranger => unlock("n"),
        }
    }

    fn threads() -> impl Strategy<Value = Vec<String>> {
        let thread = prop::collection::vec(piece(), 1..3).prop_map(|pieces| {
            pieces.iter().enumerate().map(|(number, piece)| text(number, piece)).collect()
        });
        prop::collection::vec(thread, 2..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_found_does_not_depend_on_the_order_of_sections(threads in threads()) {
            let program = program(&threads);
            for name in MODELS {
                let expected = verify(&program, name, "spin-loops,waits");
                let found = verify(&program, name, "spin-loops,waits,locks");
                prop_assert_eq!(answer(&found), answer(&expected), "under {}", name);
                // Where a model has one order of all steps, no graph is without an execution.
                let (more, fewer) = (found.counts.executions, expected.counts.executions);
                let is_whole = found.reason.is_none() && ["sc", "tso"].contains(&name);
                prop_assert!(!is_whole || more <= fewer, "{} of {} under {}", more, fewer, name);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn nor_on_like_threads(threads in threads(), twins in 2..4usize) {
            let mut all = vec![threads[0].clone(); twins];
            all.extend(threads.into_iter().skip(1).take(4 - twins));
            let program = program(&all);
            for name in ["sc", "tso", "rc11"] {
                let expected = verify(&program, name, "spin-loops,waits");
                let found = verify(&program, name, "all");
                prop_assert_eq!(answer(&found), answer(&expected), "under {}", name);
            }
        }
    }

    /// Who has looked under a lock and then frees may have looked first.
    #[test]
    fn objects_end_in_either_order() {
        let reader = within(Some("m"), "p = load.8 &o [NA]\nr0 = load.4 p [NA]\n", "");
        let program = program(&[reader, within(Some("m"), "r0 = load.4 &x [NA]\n", FREE)]);
        for name in MODELS {
            let expected = answer(&verify(&program, name, "none"));
            assert!(expected.1.iter().any(|(property, _)| *property == Property::Memory));
            assert_eq!(answer(&verify(&program, name, "locks")), expected, "{name}");
        }
    }

    fn executions(threads: &[String], name: &str, reductions: &str) -> u64 {
        let verdict = verify(&program(threads), name, reductions);
        assert!(verdict.reason.is_none(), "{:?}", verdict.reason);
        verdict.counts.executions
    }

    #[test]
    fn who_only_looks_is_in_no_order() {
        let reader = section("m", "r0 = load.4 &x [NA]\n");
        for name in MODELS {
            for (threads, orders) in [(3, 6), (4, 24)] {
                let threads = vec![reader.clone(); threads];
                assert_eq!(executions(&threads, name, "spin-loops,waits"), orders, "{name}");
                assert_eq!(executions(&threads, name, "spin-loops,waits,locks"), 1, "{name}");
            }
            assert_eq!(executions(&vec![reader.clone(); 6], name, "locks"), 1, "{name}");
            // Each of two readers comes before or after the one who writes.
            let writer = section("m", "store.4 &x, 1:32 [NA]\n");
            let threads = [reader.clone(), writer, reader.clone()];
            assert_eq!(executions(&threads, name, "locks"), 4, "{name}");
        }
    }
}
