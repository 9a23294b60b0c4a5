//! Read-modify-writes of whose results nobody makes use: the order among them makes no difference.
//!
//! Many threads may add to a counter, and one looks at it when they have ended. An *update* is a
//! read-modify-write that commutes with others of its kind, and whose result its thread does not use.
//! In which order updates come makes no difference to anybody who knows of none of them, or of all.
//! So an update is an event with nothing to choose: it reads the newest write, no other write makes it
//! read something else, and what it reads from does not come before it in any clock.
//!
//! That holds as long as these conditions do, which are looked at whenever an event is added
//! ([`noticed`]). Of updates in one place that are not ordered by other means:
//!
//! - all are of one kind: sums commute with sums, and not with maxima;
//! - whoever else uses the place comes before all of them or after all of them, in happens-before;
//! - whoever comes after one of them, by program order and reads-from, comes after all of them in
//!   happens-before, if it is *open*: a fence, the end of an object, or an access to a place that another
//!   thread accesses as well, neither before nor after it. That it has read what the other one wrote puts
//!   it after that one in this graph only: perhaps no other value was left in this order of updates.
//!   Nothing can be concluded from one of them then. What else a thread does finds the same in any order.
//!
//! Take an execution in which they hold, and put its updates of a place into another order. All other
//! events find the same, and a cycle of any order that a model forbids, if it leads through updates,
//! enters the first and leaves the last of them in one order as in the other. If they do not hold, there
//! is a first event by which they fail; up to there the execution is one that is explored, up to the
//! order of updates. So the failure is seen, and the exploration starts anew with the order of that
//! place kept.

use std::collections::HashSet;

use parallax_machine::{Live, Site};
use parallax_program::{BlockId, FunctionId, InstKind, Program, RmwOp};

use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;
use crate::standing::At;

/// Operations that commute are of one kind.
fn kind(op: RmwOp) -> Option<u8> {
    Some(match op {
        RmwOp::Add | RmwOp::Sub => 0,
        RmwOp::And | RmwOp::AndNot => 1,
        RmwOp::Or => 2,
        RmwOp::Xor => 3,
        RmwOp::SMin => 4,
        RmwOp::SMax => 5,
        RmwOp::UMin => 6,
        RmwOp::UMax => 7,
        RmwOp::Swap | RmwOp::Nand | RmwOp::ReverseSub => return None,
    })
}

/// The instructions of a program that are updates.
pub fn unused(program: &Program) -> HashSet<Site> {
    let mut sites = HashSet::new();
    for (function, body) in program.functions.iter().enumerate() {
        for (block, insts) in body.blocks.iter().enumerate() {
            for (index, inst) in insts.insts.iter().enumerate() {
                if matches!(&inst.kind, InstKind::Rmw { op, .. } if kind(*op).is_some()) {
                    let (function, block) = (FunctionId(function as u32), BlockId(block as u32));
                    sites.insert(Site { function, block, index: index as u32 });
                }
            }
        }
    }
    if !sites.is_empty() {
        let live = Live::of(program);
        sites.retain(|site| live.is_unused(*site));
    }
    sites
}

/// The places where somebody may notice the order of updates, now that an event was added.
pub fn noticed(graph: &Graph<'_>, id: Id, event: &Event) -> Vec<Loc> {
    if graph.updated.is_empty() || event.marks.is_life() {
        return Vec::new();
    }
    let view = View { graph };
    if event.marks.updates() {
        let is_noticed = event.kind == Kind::Write && view.is_update_noticed(id, event);
        return if is_noticed { vec![event.loc] } else { Vec::new() };
    }
    // By being there, an event may make others open.
    let partners = view.partners(id, event).chain([id]).filter(|id| view.is_open(*id));
    let open: Vec<Id> = partners.collect();
    let notices = |loc: &&Loc| {
        event.loc == **loc && view.uses_in_between(id, **loc)
            || open.iter().any(|id| view.notices(*id, **loc))
    };
    graph.updated.iter().filter(notices).copied().collect()
}

/// The places where the next event of a thread comes after an update, and not after the one that this
/// has read. Nobody can do without the one and keep the other.
pub fn torn(graph: &Graph<'_>, thread: usize) -> Vec<Loc> {
    let length = graph.threads[thread].events.len();
    let is_known = |id: &Id| graph.clocks.before_next(Clock::Prefix, *id, thread, length);
    let is_torn = |loc: &&Loc| {
        let view = View { graph };
        let mut updates = view.updates(**loc).skip_while(is_known);
        updates.any(|update| is_known(&update))
    };
    graph.updated.iter().filter(is_torn).copied().collect()
}

struct View<'a, 'p> {
    graph: &'a Graph<'p>,
}

impl View<'_, '_> {
    fn happens_before(&self, one: Id, other: Id) -> bool {
        let clocks = &self.graph.clocks;
        let follows = clocks.follows_synchronisation();
        let kind = if follows { Clock::Happens } else { Clock::Prefix };
        Clocks::covers(clocks.get(kind, other), one)
    }

    /// Whether an event happens before another one whatever that reads. What it has read may be all that
    /// the order of some updates left to it.
    fn is_ahead(&self, one: Id, other: Id) -> bool {
        let event = self.graph.event(other);
        let own = 1 + usize::from(event.is_write() && event.marks.is_rmw());
        let last = other.index().checked_sub(own);
        last.is_some_and(|last| self.happens_before(one, Id::new(other.thread(), last)))
    }

    fn knows(&self, id: Id, of: Id) -> bool {
        Clocks::covers(self.graph.clocks.get(Clock::Prefix, id), of)
    }

    fn updates(&self, loc: Loc) -> impl Iterator<Item = Id> + Clone {
        let co = self.graph.place(loc).co.iter().copied();
        co.filter(|write| self.graph.event(*write).marks.updates())
    }

    /// Accesses of other threads to the place of an event, neither before nor after it, but for what one
    /// of the two has read.
    fn partners(&self, id: Id, event: &Event) -> impl Iterator<Item = Id> {
        let place = self.graph.places.get(event.loc.0 as usize);
        let others = place.into_iter().flat_map(|place| place.co.iter().chain(&place.reads));
        let is_apart = move |other: &Id| {
            other.thread() != id.thread()
                && !self.is_ahead(*other, id)
                && !self.is_ahead(id, *other)
        };
        others.copied().filter(is_apart)
    }

    fn is_open(&self, id: Id) -> bool {
        let event = self.graph.event(id);
        match event.kind {
            _ if event.marks.is_life() || event.marks.updates() => false,
            Kind::Fence | Kind::Free => true,
            Kind::Read | Kind::Write => self.partners(id, event).next().is_some(),
            Kind::Alloc | Kind::Choice { .. } | Kind::Query => false,
        }
    }

    /// Whether an event, which is no update, uses the place of some, and does not come after all.
    fn uses_in_between(&self, id: Id, loc: Loc) -> bool {
        self.updates(loc).any(|update| !self.happens_before(update, id))
    }

    /// Whether an event can conclude something from the order of the updates in a place.
    fn notices(&self, id: Id, loc: Loc) -> bool {
        let known = self.updates(loc).filter(|update| self.knows(id, *update));
        let mut open = self.updates(loc).filter(|update| !self.happens_before(*update, id));
        open.any(|open| {
            let is_before = |known: Id| known != open && self.happens_before(known, open);
            !known.clone().all(is_before)
        })
    }

    /// Whether an event is an update, and somebody can conclude something from its place among the
    /// others.
    fn is_update_noticed(&self, id: Id, event: &Event) -> bool {
        let place = self.graph.place(event.loc);
        let others = place.co.iter().chain(&place.reads).copied().filter(|other| *other != id);
        let mut open = others.filter(|other| !self.happens_before(*other, id));
        let is_of_another_kind = |other: Id| {
            !self.graph.event(other).marks.updates() || self.kind(other) != self.kind(id)
        };
        open.clone().any(is_of_another_kind) || open.any(|other| self.is_known(other))
    }

    fn kind(&self, update: Id) -> Option<u8> {
        match self.graph.standing(update).at {
            At::Rmw { op, .. } => kind(op),
            _ => None,
        }
    }

    /// Whether an open event comes after an update.
    fn is_known(&self, update: Id) -> bool {
        self.graph.threads.iter().enumerate().any(|(number, thread)| {
            let ids = (0..thread.events.len()).rev().map(|index| Id::new(number, index));
            let mut after = ids.take_while(|id| *id != update && self.knows(*id, update));
            after.any(|id| self.is_open(id))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use parallax_memory::Model;
    use parallax_program::{Property, parse_program};
    use parallax_verdict::{Conclusion, Verdict};
    use proptest::prelude::*;

    use super::*;
    use crate::symmetry::tests::{cases, graphs};
    use crate::{Options, Reductions, explore};

    const MODELS: [&str; 6] = ["sc", "tso", "pso", "ra", "rc11", "rc20"];

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

    /// A program whose main thread starts these, does something in between, and waits for them; what
    /// it does at the end.
    fn program(threads: &[String], between: &str, end: &str) -> Program {
        let mut text = String::from("program p pointers 64\n");
        for name in ["x", "y", "z", "d"] {
            text += &format!("global {name}: 4\n");
        }
        let vars = "r0: 32, r1: 32, ok: 1";
        for (number, body) in threads.iter().enumerate() {
            text += &format!("fn f{number}() {{\nvar {vars}\n{body}\n}}\n");
        }
        let each =
            |line: &dyn Fn(usize) -> String| (0..threads.len()).map(line).collect::<String>();
        let same = |number: usize| threads.iter().position(|it| *it == threads[number]);
        let tids = each(&|number| format!(", t{number}: 32"));
        let spawns =
            each(&|number| format!("t{number} = spawn f{}()\n", same(number).unwrap_or(number)));
        let joins = each(&|number| format!("join t{number}\n"));
        text += &format!(
            "fn main() {{\nvar {vars}{tids}\n{spawns}{between}\n{joins}{end}\n}}\n\
             thread main = main()\n"
        );
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    fn order() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["RLX", "ACQ", "REL", "ACQ_REL", "SC"])
    }

    fn update() -> impl Strategy<Value = String> {
        let op = prop::sample::select(vec!["add", "add", "add", "sub", "or", "umax"]);
        let place = prop::sample::select(vec!["x", "x", "x", "y"]);
        (op, place, 1..3u32, order()).prop_map(|(op, place, value, order)| {
            format!("rmw.{op}.4 &{place}, {value}:32 [A, {order}]\n")
        })
    }

    fn other() -> impl Strategy<Value = String> {
        let place = || prop::sample::select(vec!["x", "z", "z", "z"]);
        prop_oneof![
            3 => (place(), order(), 0..2u32)
                .prop_map(|(x, o, r)| format!("r{r} = load.4 &{x} [A, {o}]\n")),
            3 => (place(), 1..3u32, order())
                .prop_map(|(x, v, o)| format!("store.4 &{x}, {v}:32 [A, {o}]\n")),
            1 => (place(), order())
                .prop_map(|(x, o)| format!("r0 = rmw.add.4 &{x}, 1:32 [A, {o}]\n")),
            2 => Just("r1 = load.4 &d [NA]\n".to_string()),
            1 => Just("store.4 &d, 1:32 [NA]\n".to_string()),
            1 => order().prop_map(|o| format!("fence [{o}]\n")),
            1 => (0..2u32, 1..3u32)
                .prop_map(|(r, v)| format!("assert r{r} != {v}:32, \"r{r} is {v}\"\n")),
            1 => (place(), order())
                .prop_map(|(x, o)| format!("r0 = load.4 &{x} [A, {o}]\nok = r0 == 1:32\nwait ok\n")),
        ]
    }

    fn thread() -> impl Strategy<Value = String> {
        let lines = prop::collection::vec(other(), 0..2);
        (lines, prop::collection::vec(update(), 1..3), prop::option::weighted(0.15, other()))
            .prop_map(|(before, updates, after)| {
                before.concat() + &updates.concat() + &after.unwrap_or_default()
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_found_does_not_depend_on_the_order_of_updates(
            threads in prop::collection::vec(thread(), 2..4),
            between in prop::option::weighted(0.3, prop_oneof![other(), update()]),
            sum in 0..7u32,
        ) {
            let end = format!("r0 = load.4 &x [A, RLX]\nassert r0 != {sum}:32, \"sum\"");
            let program = program(&threads, &between.unwrap_or_default(), &end);
            for name in MODELS {
                let expected = verify(&program, name, "spin-loops,waits");
                let found = verify(&program, name, "spin-loops,waits,updates");
                prop_assert_eq!(answer(&found), answer(&expected), "under {}", name);
                let (more, fewer) = (found.counts.executions, expected.counts.executions);
                prop_assert!(more <= fewer, "{} of {} under {}", more, fewer, name);
            }
        }

        #[test]
        fn nor_on_like_threads(
            twin in thread(), other in thread(), twins in 2..4usize, sum in 0..9u32,
        ) {
            let mut threads = vec![twin; twins];
            threads.push(other);
            let end = format!("r0 = load.4 &x [A, RLX]\nassert r0 != {sum}:32, \"sum\"");
            let program = program(&threads, "", &end);
            for name in ["sc", "tso", "rc11"] {
                let expected = verify(&program, name, "spin-loops,waits");
                let found = verify(&program, name, "all");
                prop_assert_eq!(answer(&found), answer(&expected), "under {}", name);
            }
        }
    }

    #[test]
    fn additions_come_in_no_order() {
        for order in ["RLX", "REL", "ACQ_REL", "SC"] {
            let add = |value: usize| format!("rmw.add.4 &x, {value}:32 [A, {order}]");
            let threads: Vec<String> = (1..7).map(add).collect();
            let end = "r0 = load.4 &x [A, RLX]\nassert r0 == 21:32, \"the sum\"";
            for name in MODELS {
                let all = program(&threads, "", end);
                let verdict = verify(&all, name, "updates");
                assert_eq!(answer(&verdict), (Conclusion::Safe, BTreeSet::new()), "{name}");
                assert_eq!(verdict.counts.executions, 1, "{order} {name}");
                // Somebody who looks while the others add sees in which order they do.
                let watched = program(&threads[..3], "r0 = load.4 &x [A, RLX]", end);
                let expected: u32 = graphs(&watched, name, 0, "none").values().sum();
                let found: u32 = graphs(&watched, name, 0, "updates").values().sum();
                assert_eq!(found, expected, "{order} {name}");
            }
        }
    }

    /// A thread may go on with what is its own, and its parent may wait for one after the other.
    #[test]
    fn who_keeps_to_itself_notices_nothing() {
        let text = "program p pointers 64\nglobal x: 4\nglobal t: 8\nglobal o: 8\n\
                    fn f(i: 64) {\nvar r: 32\nrmw.add.4 &x, 1:32 [A, SC]\n\
                    store.4 &o + i, 1:32 [NA]\nr = load.4 &o + i [NA]\n}\n\
                    fn main() {\nvar r: 32\nr = spawn f(0:64)\nstore.4 &t, r [NA]\n\
                    r = spawn f(4:64)\nstore.4 &t + 4:64, r [NA]\nr = load.4 &t [NA]\njoin r\n\
                    r = load.4 &t + 4:64 [NA]\njoin r\nr = load.4 &x [A, SC]\n\
                    assert r == 2:32, \"both\"\n}\nthread main = main()\n";
        let program = parse_program("p", text).expect("a program");
        for name in MODELS {
            let verdict = verify(&program, name, "updates");
            assert_eq!(answer(&verdict), (Conclusion::Safe, BTreeSet::new()), "{name}");
            assert_eq!(verdict.counts.executions, 1, "{name}");
        }
    }

    /// Who adds and then finds what another thread has written before it adds may as well have come first.
    #[test]
    fn who_reads_from_others_after_adding_notices_the_order() {
        let add = |place: &str| format!("rmw.add.4 &{place}, 1:32 [A, RLX]\n");
        let first = add("x") + &add("y");
        let after = [
            "rmw.umax.4 &x, 2:32 [A, RLX]\n".to_string(),
            "r0 = rmw.add.4 &x, 1:32 [A, ACQ_REL]\nassert r0 != 0:32, \"zero\"\n".to_string(),
            "r0 = load.4 &x [A, SC]\nassert r0 != 0:32, \"zero\"\n".to_string(),
        ];
        for after in after {
            let threads = [first.clone(), add("y") + &after];
            let program =
                program(&threads, "", "r0 = load.4 &x [A, RLX]\nassert r0 != 3:32, \"sum\"");
            for name in MODELS {
                let expected = answer(&verify(&program, name, "none"));
                assert_eq!(expected.0, Conclusion::Unsafe, "{after} {name}");
                assert_eq!(answer(&verify(&program, name, "updates")), expected, "{after} {name}");
            }
        }
    }

    /// What a thread does before it adds, and after it, is not seen in every order.
    #[test]
    fn who_goes_on_notices_the_order() {
        let thread = |own: &str, other: &str, order: &str| {
            format!(
                "store.4 &{own}, 1:32 [A, RLX]\nrmw.add.4 &x, 1:32 [A, {order}]\n\
                 r0 = load.4 &{other} [A, RLX]\nr1 = r0"
            )
        };
        for order in ["RLX", "ACQ_REL", "SC"] {
            let threads = [thread("y", "z", order), thread("z", "y", order)];
            let program = program(&threads, "", "");
            for name in MODELS {
                let expected = graphs(&program, name, 0, "none").len();
                assert_eq!(graphs(&program, name, 0, "updates").len(), expected, "{name}");
            }
        }
    }
}
