//! Weak compare-and-swaps that fail for no reason, and rounds of loops in which one does.
//!
//! A weak compare-and-swap may fail though it finds what it expects. Most programs then try again:
//! the thread is back at the head of its loop as it was a round ago, and has changed nothing. Such a
//! round is *vain*. Without its events the execution is one in which the compare-and-swap was tried
//! later, which is explored too (the argument is that for spin loops), so no execution with a vain
//! round in it is counted. Nor does a thread wait for ever by failing for no reason again and again:
//! progress is assumed of compare-and-swaps.
//!
//! Where nothing comes after the failure in the round, what led to it is in other graphs as well,
//! and the graph is dropped at once. Otherwise the thread stays at the head of the loop while the
//! others go on: what it does after the failure may race with them, and its reads may be revisited.
//! The same goes for a thread that has woken up from a condition variable without a signal, and in
//! vain.

//!
//! A compare-and-swap that fails because it finds something else is in vain as well where the thread
//! then only tries again with what it has found, in place of what the read right before it had found.
//! Without that read the execution is one in which the thread has found the newer value at once; see
//! [`may_stand_for`]. The thread is *stale* and goes no further. It is not dropped, as its last read may
//! still be made to find what it expects.

use parallax_machine::{Code, Idle, Limits, Site};
use parallax_program::{BlockId, FunctionId, InstKind};

use crate::event::{Event, Loc};
use crate::graph::Graph;
use crate::standing::At;

/// The events of the last round of a thread that is back where the round began, from the last
/// compare-and-swap on that failed for no reason; None where there is none.
fn after_failure<'a>(graph: &'a Graph<'_>, thread: usize) -> Option<&'a [Event]> {
    let thread = &graph.threads[thread];
    let first = match thread.standings.last()?.at {
        At::Spinning { since } => thread.first_after(since),
        At::Waiting => thread.events.len().checked_sub(1)?,
        _ => return None,
    };
    let round = thread.events.get(first..)?;
    let failure = round.iter().rposition(|event| event.marks.is_spurious())?;
    round.get(failure + 1..)
}

/// Whether a thread has gone round, or has woken up, in vain.
pub fn has_failed(graph: &Graph<'_>, thread: usize) -> bool {
    graph.now(thread).is_some_and(|now| matches!(now.at, At::Vain { .. } | At::Stale))
        || after_failure(graph, thread).is_some()
}

/// Whether a thread has gone round in vain, and nothing can come of what it did after the failure.
pub fn is_vain(graph: &Graph<'_>, thread: usize) -> bool {
    after_failure(graph, thread).is_some_and(|rest| rest.is_empty())
}

/// Whether there may be compare-and-swaps that fail in vain because they find something else: there
/// are some in loops, and rounds in vain are left out.
pub fn may_be_stale(code: &Code<'_>, limits: &Limits) -> bool {
    limits.idle != Idle::All
        && code.program.functions.iter().enumerate().any(|(function, body)| {
            body.blocks.iter().enumerate().any(|(block, insts)| {
                let (function, block) = (FunctionId(function as u32), BlockId(block as u32));
                let is_swap = |kind: &InstKind| matches!(kind, InstKind::Cas { .. });
                insts.insts.iter().any(|inst| is_swap(&inst.kind))
                    && code.can_repeat(Site { function, block, index: 0 })
            })
        })
}

/// Whether what a failed compare-and-swap has read might have been read by the read right before it.
/// It must know no less by that than the other one would.
pub fn may_stand_for(event: &Event, first: &Event) -> bool {
    let is_no_weaker = (event.marks.is_acquire() || !first.marks.is_acquire())
        && (event.marks.is_seq_cst() || !first.marks.is_seq_cst());
    let is_plain = |event: &Event| {
        event.is_read()
            && event.marks.is_atomic()
            && !event.marks.is_rmw()
            && !event.marks.is_part()
    };
    let is_one_place = event.loc != Loc::NONE && event.loc == first.loc;
    is_one_place && is_plain(event) && is_plain(first) && is_no_weaker && !event.marks.is_spurious()
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

    /// Tries to change x until nobody has come in between; `load` and `fail` are memory orders.
    fn change(number: usize, [load, fail]: [&str; 2], operation: &str) -> String {
        format!(
            "e = load.4 &x [A, {load}]\njump again{number}\nagain{number}:\n\
             f, ok = cas.4 &x, e, e {operation} [A, ACQ_REL] [A, ACQ_REL] [A, {fail}]\n\
             branch ok, done{number}, retry{number}\nretry{number}:\ne = f\n\
             jump again{number}\ndone{number}:\n"
        )
    }

    fn program(threads: &[String], end: &str) -> Program {
        let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\n");
        let vars = "e: 32, f: 32, r: 32, ok: 1";
        for (number, body) in threads.iter().enumerate() {
            text += &format!("fn f{number}() {{\nvar {vars}\n{body}\n}}\n");
        }
        let each =
            |line: &dyn Fn(usize) -> String| (0..threads.len()).map(line).collect::<String>();
        let tids = each(&|number| format!(", t{number}: 32"));
        let spawns = each(&|number| format!("t{number} = spawn f{number}()\n"));
        let joins = each(&|number| format!("join t{number}\n"));
        text += &format!(
            "fn main() {{\nvar {vars}{tids}\n{spawns}{joins}e = load.4 &x [A, RLX]\n{end}\n}}\n\
             thread main = main()\n"
        );
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    fn verify(program: &Program, name: &str, reductions: &str) -> Verdict {
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let model = model.with_races_of_c().expect("a right model");
        let reductions = Reductions::parse(reductions).expect("reductions");
        let properties = Property::ALL.to_vec();
        let options = Options { properties, all: true, reductions, ..Options::default() };
        explore(program, &model, &options).expect("explored")
    }

    type Answer = (Conclusion, BTreeSet<(Property, String)>);

    fn answer(verdict: &Verdict) -> Answer {
        let found = verdict.violations.iter().map(|it| (it.property, it.message.clone())).collect();
        (verdict.conclusion(), found)
    }

    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            2 => (0..3u32, prop::sample::select(vec!["A, RLX", "A, REL", "NA"]))
                .prop_map(|(v, tags)| format!("store.4 &x, {v}:32 [{tags}]\n")),
            1 => Just("r = load.4 &y [NA]\n".to_string()),
            1 => Just("store.4 &y, 1:32 [NA]\n".to_string()),
            1 => (0..3u32).prop_map(|v| format!("assert e != {v}:32, \"e is {v}\"\n")),
            1 => (0..3u32).prop_map(|v| format!("assert f != {v}:32, \"f is {v}\"\n")),
        ]
    }

    fn thread() -> impl Strategy<Value = String> {
        let order = || prop::sample::select(vec!["RLX", "RLX", "ACQ", "SC"]);
        let operation = prop::sample::select(vec!["+ 1:32", "^ 1:32"]);
        let lines = || prop::collection::vec(line(), 0..2);
        (lines(), prop::collection::vec((order(), order(), operation), 0..2), lines()).prop_map(
            |(before, changes, after)| {
                let changes = changes.iter().enumerate();
                let changes = changes
                    .map(|(number, (load, fail, how))| change(number, [*load, *fail], how))
                    .collect::<String>();
                before.concat() + &changes + &after.concat()
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn what_is_found_does_not_depend_on_attempts_in_vain(
            threads in prop::collection::vec(thread(), 2..4),
        ) {
            let program = program(&threads, "assert e != 2:32, \"two\"");
            for name in MODELS {
                let expected = verify(&program, name, "none");
                for reductions in ["spin-loops", "spin-loops,waits"] {
                    let found = verify(&program, name, reductions);
                    prop_assert_eq!(answer(&found), answer(&expected), "under {}", name);
                    let (more, fewer) = (found.counts.executions, expected.counts.executions);
                    prop_assert!(more <= fewer, "{} of {} under {}", more, fewer, name);
                }
            }
        }
    }

    /// Threads that add by compare-and-swap come in as many orders as those that add at once.
    #[test]
    fn attempts_in_vain_are_not_counted() {
        let adds = |count: usize| (0..count).map(|n| change(n, ["RLX"; 2], "+ 1:32")).collect();
        for (threads, each, orders) in [(2, 1, 2), (3, 1, 6), (2, 2, 6), (2, 3, 20)] {
            let threads: Vec<String> = vec![adds(each); threads];
            let end = format!("assert e == {}:32, \"all\"", threads.len() * each);
            let program = program(&threads, &end);
            for name in MODELS {
                let verdict = verify(&program, name, "spin-loops,waits");
                assert_eq!(answer(&verdict), (Conclusion::Safe, BTreeSet::new()), "{name}");
                assert_eq!(verdict.counts.executions, orders, "{} {each} {name}", threads.len());
            }
        }
    }
}
