//! Barriers: the order in which threads arrive makes no difference to what they do afterwards.
//!
//! A thread arrives with a read-modify-write, and then only waits until enough have done so; when it
//! goes on, all that any of them did before the barrier has happened for it. So arriving and
//! departing are treated as events with nothing to choose, like the end of a thread and its being
//! joined: a thread that arrives reads the newest write, and one that departs reads the write that
//! completed its group. No read is made to read a write of an arrival, but for threads that were
//! left waiting for it; and both are always added in the default way (see
//! [`crate::search`]). After M. Kokologiannakis, V. Vafeiadis, BAM: efficient model checking for
//! barriers, NETYS 2021.
//!
//! That holds where nobody asks who was the last, which the library knows (it tags the accesses), and
//! where no more threads come than one group needs: with more, the order decides who is in which
//! group. It shows in a complete execution if more do, or if somebody looks into the barrier while
//! threads wait there; the exploration then starts anew without this reduction.

use std::collections::BTreeSet;

use parallax_program::{Bits, InstKind, Program};

use crate::event::Id;
use crate::graph::{Graph, Place};

/// Whether a program has barriers of which nobody asks who was the last.
pub fn are_in(program: &Program) -> bool {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    blocks.flat_map(|block| &block.insts).any(|inst| match &inst.kind {
        InstKind::Rmw { read_tags, .. } => read_tags.contains("ARRIVE"),
        _ => false,
    })
}

/// How many threads have arrived, and how many a group needs, by what is in the barrier.
fn arrived(value: Bits) -> (u128, usize) {
    (value.unsigned() & 0xff_ffff, (value.unsigned() >> 24 & 0xff) as usize)
}

/// Whether the order of arrival makes a difference in a complete graph.
pub fn is_broken(graph: &Graph<'_>) -> bool {
    graph.has_barriers && graph.places.iter().any(|place| is_broken_at(graph, place))
}

fn is_broken_at(graph: &Graph<'_>, place: &Place) -> bool {
    let arrivals = || place.co.iter().filter(|id| graph.event(**id).marks.arrives());
    let Some(first) = arrivals().next() else {
        return false;
    };
    let (_, needed) = arrived(graph.event(*first).value);
    let threads: BTreeSet<usize> = arrivals().map(|id| id.thread()).collect();
    let looks_inside = |read: &Id| {
        let event = graph.event(*read);
        let source = event.rf;
        !event.marks.is_at_barrier()
            && !source.is_init()
            && graph.event(source).marks.arrives()
            && !arrived(graph.event(source).value).0.is_multiple_of(needed.max(1) as u128)
    };
    threads.len() > needed || place.reads.iter().any(looks_inside)
}

#[cfg(test)]
mod tests {
    use parallax_program::parse_program;
    use proptest::prelude::*;

    use crate::symmetry::tests::{body, cases, graphs};

    use super::*;

    /// Threads that do something, meet, do something more, and so on; `needed` meet at a time.
    fn program(threads: &[Vec<String>], needed: usize) -> Program {
        let meet = format!(
            "o = rmw.add.4 &b, 1:32 [A, ACQ_REL, ARRIVE]\n\
             n = o - (o & 0xffffff:32) %u {needed}:32 + {needed}:32\n\
             o = load.4 &b [A, ACQ, DEPART]\nwait n <=u o\n"
        );
        let mut text = format!(
            "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal b: 4 = {{ 0: {}:32 }}\n",
            needed << 24
        );
        for (number, parts) in threads.iter().enumerate() {
            let body = parts.join(&format!("\n{meet}"));
            text += &format!("fn f{number}() {{\nvar r0: 32, ok: 1, o: 32, n: 32\n{body}\n}}\n");
        }
        for (number, parts) in threads.iter().enumerate() {
            let same = threads.iter().position(|other| other == parts).unwrap_or(number);
            text += &format!("thread T{number} = f{same}()\n");
        }
        parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
    }

    /// What a thread does between barriers, so many times at most.
    fn parts(most: usize) -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(prop_oneof![3 => body(1), 1 => Just(String::new())], 1..most + 1)
    }

    /// Two threads that meet up to two times, or three that meet once.
    fn threads() -> impl Strategy<Value = Vec<Vec<String>>> {
        prop_oneof![prop::collection::vec(parts(3), 2), prop::collection::vec(parts(2), 3)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn each_execution_once_up_to_arrivals(
            threads in threads(),
            missing in 0..2usize,
        ) {
            let program = program(&threads, threads.len() - missing.min(threads.len() - 2));
            for model in ["sc", "tso", "pso", "ra", "rc11"] {
                let expected = graphs(&program, model, 0, "spin-loops,waits");
                let found = graphs(&program, model, 0, "spin-loops,waits,barriers");
                let lost = expected.keys().filter(|graph| !found.contains_key(*graph)).count();
                let more = found.keys().filter(|graph| !expected.contains_key(*graph)).count();
                let twice = found.values().filter(|count| **count != 1).count();
                let twice = if missing == 0 { twice } else { 0 };
                prop_assert_eq!((lost, more, twice), (0, 0, 0), "under {}", model);
            }
        }

        #[test]
        fn like_threads_at_barriers(like in parts(2), other in parts(2), twins in 2..4usize) {
            prop_assume!(like != other);
            let mut threads = vec![like; twins];
            threads.push(other);
            let program = program(&threads, twins + 1);
            for model in ["sc", "tso", "rc11"] {
                let expected = graphs(&program, model, twins, "spin-loops,waits");
                let found = graphs(&program, model, twins, "spin-loops,waits,symmetry,barriers");
                let lost = expected.keys().filter(|graph| !found.contains_key(*graph)).count();
                let twice = found.values().filter(|count| **count != 1).count();
                prop_assert_eq!((lost, twice), (0, 0), "under {}", model);
            }
        }
    }

    #[test]
    fn the_order_of_arrival_is_left_out() {
        let parts = vec![String::new(), String::new(), String::new()];
        for threads in 2..5 {
            let program = program(&vec![parts.clone(); threads], threads);
            let found: u32 =
                graphs(&program, "rc11", 0, "spin-loops,waits,barriers").values().sum();
            assert_eq!(found, 1, "{threads} threads");
        }
    }
}
