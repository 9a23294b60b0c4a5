//! As many classes as brute force finds: of all executions, those that differ in the value of some read.

use std::collections::BTreeSet;
use std::sync::Arc;

use parallax_control::Control;
use parallax_engine_enumerate::enumerate;
use parallax_engine_view::View;
use parallax_memory::Model;
use parallax_program::{
    Observable, Place, Program, Prop, Property, Quantifier, Question, VarId, parse_program,
};
use parallax_query::{Engine, Extensions, Query, Subject, Wanted};
use parallax_verdict::{Conclusion, Verdict};
use proptest::prelude::*;

/// Each read of a thread has a variable of its own, up to so many.
const READS: usize = 10;

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

/// Threads whose reads are `_ = load …`, which get variables from r0 on.
fn program(threads: &[String]) -> Program {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 4\n");
    for (number, body) in threads.iter().enumerate() {
        let vars = (0..READS).map(|r| format!("r{r}: 32")).collect::<Vec<_>>().join(", ");
        text += &format!("fn P{number}() {{\nvar {vars}, ok: 1\n{body}\nreturn\n}}\n");
    }
    for number in 0..threads.len() {
        text += &format!("thread P{number} = P{number}()\n");
    }
    parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

fn lines(threads: &[&[&str]]) -> Program {
    program(&threads.iter().map(|lines| lines.join("\n")).collect::<Vec<_>>())
}

/// The classes that the engine finds.
fn views(program: &Program, name: &str) -> u64 {
    let verdict = verdict(program, name);
    assert_eq!(verdict.conclusion(), Conclusion::Safe, "{:?}", verdict.reason);
    verdict.counts.executions
}

fn verdict(program: &Program, name: &str) -> Verdict {
    let subject = Subject { program: Some(program.clone()), ..Subject::default() };
    let query = Query {
        subject: &subject,
        model: model(name),
        is_compiled: false,
        properties: vec![Property::Assert],
        unroll: None,
        nondet: None,
        wanted: Wanted::First,
        extensions: Extensions::default(),
    };
    View.run(&query, &Control::default()).expect("an answer").verdict
}

#[test]
fn what_is_not_counted_is_no_answer() {
    let counts = "l:\nr0 = load.4 &x [A, RLX]\nstore.4 &y, r0 + 1:32 [A, RLX]\n\
        r1 = rmw.add.4 &z, 1:32 [A, RLX]\nbranch r0 == 0:32, l, e\ne:";
    let verdict = verdict(&lines(&[&[counts], &["store.4 &x, 1:32 [A, RLX]"]]), "sc");
    let reason = verdict.reason.as_ref().map_or("", |reason| &reason.message);
    assert!(reason.contains("were not counted"), "{reason}");
}

/// The classes of all executions, one after the other.
fn brute_force(program: &Program, name: &str) -> u64 {
    let variable = |thread: usize, register: usize| Observable {
        name: format!("{thread}:r{register}"),
        place: Place::Variable { thread: thread as u32, var: VarId(register as u32), width: 32 },
        signed: false,
    };
    let threads = 0..program.threads.len();
    let locations = threads.flat_map(|it| (0..READS).map(move |register| variable(it, register)));
    let question = Question {
        quantifier: Quantifier::Exists,
        prop: Prop::True,
        text: String::new(),
        locations: locations.collect(),
        filter: None,
    };
    let outcomes = enumerate(program, &question, &model(name), &Default::default());
    let states = outcomes.expect("enumerated").states;
    let classes: BTreeSet<String> =
        states.iter().map(|state| format!("{:?}", state.values)).collect();
    classes.len() as u64
}

fn write(place: &str, value: u32) -> String {
    format!("store.4 &{place}, {value}:32 [A, RLX]")
}

fn read(place: &str, register: usize) -> String {
    format!("r{register} = load.4 &{place} [A, RLX]")
}

/// S. Singh, figures 4.1, 4.4, 4.7, 4.8, and the program of six events in which enabling sequences that
/// name writes lose a class.
#[test]
fn published_programs() {
    let [x0, x1, x2] = [0, 1, 2].map(|value| write("x", value));
    let y1 = write("y", 1);
    let (rx, ry, then_rx) = (read("x", 0), read("y", 0), read("x", 1));
    let reads_twice = format!("{x1}\n{rx}\n{then_rx}");
    let cases: [(&[&str], u64); 5] = [
        (&[&x1, &format!("{ry}\n{x1}"), &format!("{rx}\n{y1}"), &y1], 4),
        (&[&x1, &rx, &format!("{ry}\n{then_rx}")], 4),
        (&[&x1, &x2, &format!("{ry}\n{then_rx}")], 3),
        (&[&x0, &x1, &x1, &x2, &rx], 3),
        (&[&format!("{x1}\n{x2}"), &x2, &reads_twice], 4),
    ];
    for (threads, expected) in cases {
        let threads: Vec<String> = threads.iter().map(|body| body.to_string()).collect();
        let program = program(&threads);
        assert_eq!(brute_force(&program, "sc"), expected, "{threads:?}");
        assert_eq!(views(&program, "sc"), expected, "{threads:?}");
    }
}

/// Small programs in which a store that nobody reads makes a difference to others.
#[test]
fn stores_that_are_passed() {
    let [x1, y0, y1] = [write("x", 1), write("y", 0), write("y", 1)];
    let back = format!("{y0}\n{y1}");
    let swaps = format!("r0 = rmw.swap.4 &y, 1:32 [A, RLX]\n{}", read("x", 1));
    let adds = format!("{x1}\nr0 = rmw.add.4 &x, 1:32 [A, RLX]");
    let cases: [(&[&str], u64); 2] = [(&[&back, &x1, &swaps], 4), (&[&write("x", 0), &adds], 2)];
    for (threads, expected) in cases {
        let threads: Vec<String> = threads.iter().map(|body| body.to_string()).collect();
        let program = program(&threads);
        assert_eq!(brute_force(&program, "sc"), expected, "{threads:?}");
        assert_eq!(views(&program, "sc"), expected, "{threads:?}");
    }
}

/// The program of figure 4.1 with its events repeated: 4 n classes (table 4.1), where graphs are exponentially many.
#[test]
fn classes_are_few_where_graphs_are_many() {
    for rounds in [1, 3, 5] {
        let times = |lines: &[String]| -> Vec<String> {
            (0..rounds).flat_map(|_| lines.iter().cloned()).collect()
        };
        let reads = |place: &str, other: &str| -> String {
            let lines = (0..rounds).flat_map(|round| [read(place, round), write(other, 1)]);
            lines.collect::<Vec<_>>().join("\n")
        };
        let threads = [
            times(&[write("x", 1)]).join("\n"),
            reads("y", "x"),
            reads("x", "y"),
            times(&[write("y", 1)]).join("\n"),
        ];
        let program = program(&threads);
        assert_eq!(views(&program, "sc"), 4 * rounds as u64, "{rounds}");
    }
}

#[test]
fn who_takes_a_lock_first_is_no_difference() {
    let body = [
        "_, ok = cas.4 &z, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]",
        "wait ok",
        "store.4 &x, 1:32 [A, RLX]",
        "store.4 &z, 0:32 [A, REL]",
    ];
    for threads in 2..5 {
        let program = lines(&vec![&body[..]; threads]);
        assert_eq!(views(&program, "rc11"), 1, "{threads}");
    }
}

/// Lines that do not know yet which register they read into.
fn line() -> impl Strategy<Value = String> {
    let place = || prop::sample::select(vec!["x", "y"]);
    let order = || prop::sample::select(vec!["RLX", "ACQ", "REL", "SC"]);
    prop_oneof![
        4 => (place(), order()).prop_map(|(x, o)| format!("R = load.4 &{x} [A, {o}]")),
        4 => (place(), order(), 0..3u32)
            .prop_map(|(x, o, v)| format!("store.4 &{x}, {v}:32 [A, {o}]")),
        1 => place().prop_map(|x| format!("store.4 &{x}, L + 1:32 [A, RLX]")),
        1 => (place(), order()).prop_map(|(x, o)| format!("R = rmw.add.4 &{x}, 1:32 [A, {o}]")),
        1 => (place(), order(), 0..2u32, 1..3u32).prop_map(|(x, o, e, v)| {
            format!("R, ok = cas.4 &{x}, {e}:32, {v}:32 [A, {o}] [A, {o}] [A, RLX]")
        }),
        1 => Just("IF".to_string()),
        1 => order().prop_map(|o| format!("fence [{o}]")),
    ]
}

/// A line of a program with more stores than looks, for executions by turns: what a store is worth depends on who looks
/// before the next one.
fn busy_line() -> impl Strategy<Value = String> {
    let place = || prop::sample::select(vec!["x", "y", "z"]);
    prop_oneof![
        4 => place().prop_map(|x| format!("R = load.4 &{x} [A, RLX]")),
        8 => (place(), 0..3u32).prop_map(|(x, v)| format!("store.4 &{x}, {v}:32 [A, RLX]")),
        1 => place().prop_map(|x| format!("store.4 &{x}, L + 1:32 [A, RLX]")),
        1 => place().prop_map(|x| format!("store.2 &{x}, 1:16 [A, RLX]")),
        1 => place().prop_map(|x| format!("R = rmw.add.4 &{x}, 1:32 [A, RLX]")),
        1 => (place(), 1..3u32).prop_map(|(x, v)| format!("R = rmw.swap.4 &{x}, {v}:32 [A, RLX]")),
        1 => (place(), 0..2u32, 1..3u32).prop_map(|(x, e, v)| {
            format!("R, ok = cas.4 &{x}, {e}:32, {v}:32 [A, RLX] [A, RLX] [A, RLX]")
        }),
        1 => (0..2u32).prop_map(|e| format!(
            "R, ok = cas.4 &z, {e}:32, 2:32 [A, RLX] [A, RLX] [A, RLX]\nwait ok"
        )),
        1 => Just("IF".to_string()),
    ]
}

/// A thread in which each read has a variable of its own.
fn threads(
    line: impl Fn() -> BoxedStrategy<String>,
    lines: std::ops::Range<usize>,
) -> impl Strategy<Value = String> {
    prop::collection::vec(line(), lines).prop_map(|lines| numbered(&lines))
}

fn numbered(lines: &[String]) -> String {
    let mut reads = 0;
    let mut text = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let last = format!("r{}", if reads == 0 { READS - 1 } else { reads - 1 });
        if line == "IF" {
            text.push(format!(
                "branch {last} == 0:32, a{number}, b{number}\na{number}:\n\
                 store.4 &z, 1:32 [A, RLX]\nr{reads} = load.4 &x [A, RLX]\nb{number}:"
            ));
            reads += 1;
            continue;
        }
        text.push(line.replacen('L', &last, usize::from(line.contains("L +"))));
        if line.starts_with('R') {
            let line = text.pop().unwrap_or_default();
            text.push(line.replacen('R', &format!("r{reads}"), 1));
            reads += 1;
        }
    }
    text.join("\n")
}

fn cases() -> u32 {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(cases()))]
    #[test]
    fn as_many_as_brute_force_finds(
        threads in prop::collection::vec(threads(|| line().boxed(), 1..5), 2..4),
    ) {
        let program = program(&threads);
        for name in ["sc", "tso", "pso", "ra", "rc11", "imm"] {
            prop_assert_eq!(views(&program, name), brute_force(&program, name), "under {}", name);
        }
    }
}

proptest! {
    #![proptest_config(config(cases() * 4))]
    #[test]
    fn as_many_as_brute_force_finds_where_stores_are_many(
        threads in prop::collection::vec(threads(|| busy_line().boxed(), 1..5), 2..5),
    ) {
        let program = program(&threads);
        let verdict = verdict(&program, "sc");
        // Nobody gets through one of the waits: there is nothing to count.
        prop_assume!(verdict.conclusion() == Conclusion::Safe);
        prop_assert!(verdict.counts.states > 0, "by a solver");
        prop_assert_eq!(verdict.counts.executions, brute_force(&program, "sc"));
    }
}
