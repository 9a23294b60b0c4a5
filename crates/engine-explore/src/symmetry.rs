//! Threads that do the same: of executions that differ only in which of them did what, one is
//! enough.
//!
//! Two threads are *twins* if one parent starts them one right after the other, with the same
//! function and the same arguments. Exchange what twins do, and a consistent execution stays one,
//! as long as nobody can distinguish them. So the search keeps to executions in which, at the first
//! step where twins differ, the older one comes first in coherence order: it reads the earlier
//! write, or writes first.
//!
//! That must fit the way in which executions are reached. Events of the older twin are added
//! first, so that the default way to add one keeps the order. Only a revisit can leave the younger
//! twin ahead of the older one, where the revisiting write depends on the one and not on the
//! other. Such a graph is dropped: the write with the roles exchanged leads to its image, in which
//! the older twin is ahead. There the younger one may then do anything, also what would put it
//! first: the write has distinguished them.
//!
//! After the idea of M. Kokologiannakis, I. Marmanis, V. Vafeiadis, SPORE: combining symmetry and
//! partial order reduction, PLDI 2024. That each execution is found once up to the names of twins
//! is tested on random programs.
//!
//! Whether twins can be distinguished by what they do is known only when an execution is complete: if
//! one asks for its number, makes an object (objects have addresses) or an own choice, starts or
//! joins threads, if the parent does something that others see between starting or joining them,
//! or if someone else joins them, the whole exploration starts anew without this reduction. So it
//! does if a twin has asked for its number in a graph that was dropped before it was complete.

use std::cmp::Ordering;

use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::{Graph, ThreadGraph};
use crate::standing::{At, Standing};

/// The twin that was started right before a thread that was just started.
pub fn older_twin(graph: &Graph<'_>, by: Id) -> Option<usize> {
    let parent = &graph.threads[by.thread()];
    let spawn = |index: usize| match &parent.standings[index].at {
        At::Spawn { function, args } => Some((*function, args)),
        _ => None,
    };
    let before = (0..by.index()).rev().find(|index| spawn(*index).is_some())?;
    let is_same = spawn(before)? == spawn(by.index())?;
    is_same.then(|| parent.events[before].value.unsigned() as usize)
}

/// Whether an event puts its thread and a twin into the wrong order.
pub fn is_out_of_order(graph: &Graph<'_>, id: Id) -> bool {
    let wrong = |older: usize, younger: usize| {
        let twins = Twins { graph, older, younger };
        twins.first_difference() == Some((id.index(), Ordering::Greater))
            && !twins.is_distinguished(id.index())
    };
    older_twins(graph, id.thread()).any(|older| wrong(older, id.thread()))
        || younger_twins(graph, id.thread()).any(|younger| wrong(id.thread(), younger))
}

/// Whether a thread is ahead of an older twin that has done the same so far.
pub fn is_overtaken(graph: &Graph<'_>) -> bool {
    let length = |thread: usize| graph.threads[thread].events.len();
    let overtakes = |older: usize, younger: usize| {
        length(younger) > length(older)
            && Twins { graph, older, younger }.first_difference().is_none()
    };
    graph.has_twins
        && (0..graph.threads.len())
            .any(|older| younger_twins(graph, older).any(|younger| overtakes(older, younger)))
}

fn older_twins(graph: &Graph<'_>, thread: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(graph.threads[thread].older_twin, |twin| graph.threads[*twin].older_twin)
}

fn younger_twins(graph: &Graph<'_>, thread: usize) -> impl Iterator<Item = usize> {
    let next = |twin: usize| graph.threads[twin].younger_twin;
    std::iter::successors(next(thread), move |twin| next(*twin))
}

struct Twins<'a, 'p> {
    graph: &'a Graph<'p>,
    older: usize,
    younger: usize,
}

impl Twins<'_, '_> {
    /// The first place where the twins differ, and how their steps there compare.
    fn first_difference(&self) -> Option<(usize, Ordering)> {
        let length = |thread: usize| self.graph.threads[thread].events.len();
        let both = length(self.older).min(length(self.younger));
        let mut compared = (0..both).map(|index| (index, self.compare(index)));
        compared.find(|(_, ordering)| *ordering != Ordering::Equal)
    }

    /// Whether another thread knew of the older twin's step before the younger one took its own.
    fn is_distinguished(&self, index: usize) -> bool {
        let Graph { threads, clocks, order, .. } = self.graph;
        let step = Id::new(self.older, index);
        let taken = threads[self.older].events[index].stamp;
        let parent = threads[self.older].spawned_by;
        let is_outside = |id: &Id| {
            let arrives = self.graph.event(*id).marks.arrives();
            id.thread() != self.older
                && !(self.graph.has_barriers && arrives)
                && id.thread() != self.younger
                && (parent.is_init() || parent.thread() != id.thread())
        };
        let mut before = order.iter().filter(|id| self.graph.event(**id).stamp < taken);
        before.any(|id| is_outside(id) && Clocks::covers(clocks.get(Clock::Prefix, *id), step))
    }

    /// How the steps of the twins at one place compare.
    fn compare(&self, index: usize) -> Ordering {
        let step = |thread: usize| &self.graph.threads[thread].events[index];
        let (first, second) = (step(self.older), step(self.younger));
        if first.marks.updates() && second.marks.updates() {
            return Ordering::Equal;
        }
        let at_barrier = first.marks.is_at_barrier() && second.marks.is_at_barrier();
        if self.graph.has_barriers && at_barrier {
            return Ordering::Equal;
        }
        match (first.kind, second.kind) {
            (Kind::Read, Kind::Read) if first.loc == second.loc && first.loc != Loc::NONE => {
                // Of two that read the same, the one that fails for no reason comes first: the other
                // does what is the default.
                let succeeds = |event: &Event| !event.marks.is_spurious();
                let same = succeeds(first).cmp(&succeeds(second));
                if self.exchanged(first.rf) == second.rf {
                    return same;
                }
                let place = self.graph.place(first.loc);
                place.position(first.rf).cmp(&place.position(second.rf)).then(same)
            }
            (Kind::Write, Kind::Write) if first.loc == second.loc && first.loc != Loc::NONE => {
                let place = self.graph.place(first.loc);
                let position = |thread: usize| place.position(Id::new(thread, index));
                position(self.older).cmp(&position(self.younger))
            }
            _ => Ordering::Equal,
        }
    }

    /// The event in its place when the twins are exchanged.
    fn exchanged(&self, id: Id) -> Id {
        match id {
            id if id.is_init() => id,
            id if id.thread() == self.older => Id::new(self.younger, id.index()),
            id if id.thread() == self.younger => Id::new(self.older, id.index()),
            id => id,
        }
    }
}

/// Threads that have twins.
pub fn twins(graph: &Graph<'_>) -> impl Iterator<Item = usize> {
    let is_twin =
        |thread: &ThreadGraph<'_>| thread.older_twin.is_some() || thread.younger_twin.is_some();
    (0..graph.threads.len()).filter(move |number| is_twin(&graph.threads[*number]))
}

/// Whether someone can distinguish twins in a complete graph.
pub fn is_broken(graph: &Graph<'_>) -> bool {
    let stands_out = |number: usize| {
        let thread = &graph.threads[number];
        let differs = |event: &Event| matches!(event.kind, Kind::Alloc | Kind::Choice { .. });
        let meets = |now: &Standing<'_>| {
            matches!(now.at, At::Spawn { .. } | At::Join { .. }) || now.has_asked
        };
        thread.events.iter().any(differs) || thread.standings.iter().any(meets)
    };
    let distinguishes = |parent: usize| {
        let family = Family { graph, parent };
        family.acts_between(|at| matches!(at, At::Spawn { .. }))
            || family.acts_between(|at| matches!(at, At::Join { .. }))
            || family.joins_others()
    };
    graph.has_twins && (twins(graph).any(stands_out) || (0..graph.threads.len()).any(distinguishes))
}

/// A thread and the twins that it has started.
struct Family<'a, 'p> {
    graph: &'a Graph<'p>,
    parent: usize,
}

impl Family<'_, '_> {
    /// The twin that a step of the parent starts or joins.
    fn child(&self, index: usize) -> Option<usize> {
        let thread = &self.graph.threads[self.parent];
        let child = match &thread.standings[index].at {
            At::Spawn { .. } => thread.events[index].value.unsigned() as usize,
            At::Join { thread } => usize::try_from(*thread).ok()?,
            _ => return None,
        };
        let twins = self.graph.threads.get(child)?;
        (twins.older_twin.is_some() || twins.younger_twin.is_some()).then_some(child)
    }

    /// Whether the parent does something that others see between the first and the last such
    /// step for twins, or after the first one where some were left out.
    fn acts_between(&self, wanted: impl Fn(&At<'_>) -> bool) -> bool {
        let thread = &self.graph.threads[self.parent];
        let is_wanted =
            |index: &usize| wanted(&thread.standings[*index].at) && self.child(*index).is_some();
        let found: Vec<usize> = (0..thread.events.len()).filter(is_wanted).collect();
        let Some(first) = found.first().copied() else {
            return false;
        };
        let started = self.graph.threads.iter().filter(|thread| {
            !thread.spawned_by.is_init()
                && thread.spawned_by.thread() == self.parent
                && (thread.older_twin.is_some() || thread.younger_twin.is_some())
        });
        let last = match found.len() < started.count() {
            true => thread.events.len(),
            false => found.last().copied().unwrap_or(first),
        };
        (first..last).any(|index| !found.contains(&index) && self.is_seen(index))
    }

    /// Whether others see a step of the parent.
    fn is_seen(&self, index: usize) -> bool {
        let event: &Event = &self.graph.threads[self.parent].events[index];
        let own = |id: &Id| id.thread() == self.parent;
        match event.kind {
            Kind::Fence => true,
            Kind::Read | Kind::Write if event.loc != Loc::NONE => {
                let place = self.graph.place(event.loc);
                !place.co.iter().chain(&place.reads).all(own)
            }
            Kind::Read | Kind::Write => {
                !matches!(self.graph.threads[self.parent].standings[index].at, At::End)
            }
            _ => false,
        }
    }

    /// Whether the thread joins twins that another one has started.
    fn joins_others(&self) -> bool {
        let thread = &self.graph.threads[self.parent];
        (0..thread.events.len()).any(|index| {
            let joins = matches!(thread.standings[index].at, At::Join { .. });
            let child = self.child(index).filter(|_| joins);
            child.is_some_and(|child| {
                let by = self.graph.threads[child].spawned_by;
                by.is_init() || by.thread() != self.parent
            })
        })
    }
}

#[cfg(test)]
pub mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;

    use parallax_memory::Model;
    use parallax_program::{Program, parse_program};
    use proptest::prelude::*;

    use super::*;
    use crate::graph::Place;
    use crate::{Options, Reductions, explore};

    thread_local! {
        /// The complete graphs that were explored last, up to exchanging the first threads.
        static GRAPHS: RefCell<(usize, BTreeMap<Vec<u32>, u32>)> = RefCell::default();
    }

    /// Notes a complete graph.
    pub fn record(graph: &Graph<'_>) {
        GRAPHS.with_borrow_mut(|(twins, graphs)| {
            let keys = permutations(*twins).into_iter().map(|order| key(graph, &order));
            *graphs.entry(keys.min().unwrap_or_default()).or_default() += 1;
        });
    }

    fn permutations(count: usize) -> Vec<Vec<usize>> {
        let Some(last) = count.checked_sub(1) else {
            return vec![vec![]];
        };
        let smaller = permutations(last);
        let with = |order: &Vec<usize>, at: usize| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        };
        smaller.iter().flat_map(|order| (0..count).map(move |at| with(order, at))).collect()
    }

    /// All there is to a graph, where thread `order[n]` takes the place of thread n.
    fn key(graph: &Graph<'_>, order: &[usize]) -> Vec<u32> {
        let thread = |number: usize| order.get(number).copied().unwrap_or(number);
        let place = |number: usize| order.iter().position(|n| *n == number).unwrap_or(number);
        let name = |id: Id| match id.is_init() {
            true => u32::MAX,
            false => (place(id.thread()) * 1000 + id.index()) as u32,
        };
        let mut key = Vec::new();
        for number in (0..graph.threads.len()).map(thread) {
            let waits = graph.now(number).is_some_and(|now| matches!(now.at, At::Waiting));
            key.extend([u32::MAX - 1, u32::from(waits)]);
            for event in &graph.threads[number].events {
                // In which order threads come to a barrier is nothing that there is to it.
                let is_seen = !event.marks.is_at_barrier();
                let rf = if event.is_read() && is_seen { name(event.rf) } else { 0 };
                let value = if is_seen { event.value.unsigned() as u32 } else { 0 };
                key.extend([event.loc.0, value, rf]);
            }
        }
        let arrives = |id: &Id| graph.event(*id).marks.arrives();
        let is_seen = |place: &Place| !place.co.is_empty() && !place.co.iter().any(arrives);
        for (loc, place) in graph.places.iter().enumerate().filter(|(_, place)| is_seen(place)) {
            key.extend([u32::MAX - 2, loc as u32]);
            key.extend(place.co.iter().map(|id| name(*id)));
        }
        key
    }

    pub fn graphs(
        program: &Program,
        model: &str,
        twins: usize,
        reductions: &str,
    ) -> BTreeMap<Vec<u32>, u32> {
        GRAPHS.set((twins, BTreeMap::new()));
        let model = Model::builtin(model).expect("a model").expect("a right model");
        let reductions = Reductions::parse(reductions).expect("reductions");
        let options =
            Options { properties: Vec::new(), all: true, reductions, ..Options::default() };
        explore(program, &model, &options).expect("explored");
        GRAPHS.take().1
    }

    fn line() -> impl Strategy<Value = String> {
        let order = || prop::sample::select(vec!["RLX", "ACQ", "REL", "SC"]);
        let place = || prop::sample::select(vec!["x", "x", "y"]);
        prop_oneof![
            3 => (place(), order()).prop_map(|(x, o)| format!("r0 = load.4 &{x} [A, {o}]")),
            2 => (place(), order()).prop_map(|(x, o)| format!("store.4 &{x}, 1:32 [A, {o}]")),
            2 => place().prop_map(|x| format!("store.4 &{x}, r0 + 1:32 [A, RLX]")),
            2 => (place(), order())
                .prop_map(|(x, o)| format!("r0 = rmw.add.4 &{x}, 1:32 [A, {o}]")),
            2 => (place(), 0..2u32).prop_map(|(x, e)| {
                format!("r0, ok = cas.4 &{x}, {e}:32, 2:32 [A, ACQ] [A, ACQ] [A, RLX]")
            }),
            2 => (place(), 0..2u32).prop_map(|(x, e)| {
                format!("r0, ok = cas.weak.4 &{x}, {e}:32, 2:32 [A, ACQ] [A, ACQ] [A, RLX]")
            }),
            1 => (place(), 0..2u32)
                .prop_map(|(x, v)| format!("r0 = load.4 &{x} [A, ACQ]\nok = r0 == {v}:32\nwait ok")),
            1 => place().prop_map(|x| {
                format!("_, ok = cas.4 &{x}, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok")
            }),
            1 => Just("fence [SC]".to_string()),
        ]
    }

    pub fn body(lines: usize) -> impl Strategy<Value = String> {
        prop::collection::vec(line(), 1..lines + 1).prop_map(|lines| lines.join("\n"))
    }

    fn program(twin: &str, twins: usize, others: &[String]) -> Program {
        let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\n");
        text += &format!("fn twin() {{\nvar r0: 32, ok: 1\n{twin}\n}}\n");
        for (number, other) in others.iter().enumerate() {
            text += &format!("fn f{number}() {{\nvar r0: 32, ok: 1\n{other}\n}}\n");
        }
        (0..twins).for_each(|number| text += &format!("thread T{number} = twin()\n"));
        (0..others.len()).for_each(|number| text += &format!("thread P{number} = f{number}()\n"));
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    /// There are fewer twins than this.
    fn most() -> usize {
        if cases() > 1000 { 5 } else { 4 }
    }

    pub fn cases() -> u32 {
        std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn each_execution_once_up_to_names(
            twin in body(3),
            twins in 2..most(),
            others in prop::collection::vec(body(2), 0..2),
        ) {
            let program = program(&twin, twins, &others);
            for model in ["sc", "tso", "pso", "ra", "rc11"] {
                let all = graphs(&program, model, twins, "none");
                for (reductions, base) in [("symmetry", None), ("spin-loops,waits,symmetry", Some("spin-loops,waits"))] {
                    let whole = base.map(|base| graphs(&program, model, twins, base));
                    let expected = whole.as_ref().unwrap_or(&all);
                    let found = graphs(&program, model, twins, reductions);
                    let lost = expected.keys().filter(|graph| !found.contains_key(*graph)).count();
                    let twice = found.values().filter(|count| **count != 1).count();
                    prop_assert_eq!((lost, twice), (0, 0), "{} under {}", reductions, model);
                }
            }
        }
    }

    #[test]
    fn additions_of_the_same_are_one() {
        let program = program("rmw.add.4 &x, 1:32 [A, RLX]", 4, &[]);
        for model in ["sc", "tso", "rc11"] {
            assert_eq!(graphs(&program, model, 4, "none").len(), 1);
            let found = graphs(&program, model, 4, "symmetry");
            assert_eq!(found.into_values().collect::<Vec<_>>(), [1]);
        }
    }

    /// A program whose main thread starts two like threads, with lines of its own in between.
    fn family(between: &str, after: &str, twin: &str) -> Program {
        let text = format!(
            "program p pointers 64\nglobal x: 4\nglobal y: 4\nfn twin() {{\nvar r0: 32, ok: 1\n\
             {twin}\n}}\nfn main() {{\nvar a: 32, b: 32, r: 32\na = spawn twin()\n{between}\n\
             b = spawn twin()\njoin a\n{after}\njoin b\n}}\nthread main = main()\n"
        );
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    #[test]
    fn twins_that_can_be_distinguished_are_none() {
        let add = "r0 = rmw.add.4 &x, 1:32 [A, RLX]";
        let load = "r = load.4 &x [A, RLX]";
        let own = "store.4 &y, 1:32 [A, RLX]";
        let cases = [
            ("", "", add, 1),
            (own, own, add, 1),
            (load, "", add, 3),
            ("", load, add, 3),
            ("", "", "r0 = threadid\nr0 = rmw.add.4 &x, 1:32 [A, RLX]", 2),
            ("", "", "r0 = choose 1:32\nr0 = rmw.add.4 &x, 1:32 [A, RLX]", 1),
        ];
        for (between, after, twin, expected) in cases {
            let program = family(between, after, twin);
            let found: u32 = graphs(&program, "rc11", 0, "symmetry").into_values().sum();
            assert_eq!(found, expected, "{between} {after} {twin}");
        }
    }
}
