//! The number of executions, compared with closed formulas and with brute-force enumeration.

use std::sync::Arc;

use parallax_control::Control;
use parallax_engine_enumerate::{Coherence, enumerate};
use parallax_engine_explore::{Options, Reductions, estimate, explore};
use parallax_memory::Model;
use parallax_program::{Program, Prop, Property, Quantifier, Question, parse_program};
use parallax_verdict::{Conclusion, Verdict};
use proptest::prelude::*;

const NATIVE: [&str; 6] = ["sc", "tso", "pso", "ra", "rc11", "rc20"];

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn all(program: &Program, name: &str) -> Verdict {
    explored(program, &model(name), 1)
}

fn explored(program: &Program, model: &Model, jobs: usize) -> Verdict {
    reduced(program, model, jobs, Reductions::NONE)
}

fn reduced(program: &Program, model: &Model, jobs: usize, reductions: Reductions) -> Verdict {
    let jobs = std::num::NonZeroUsize::new(jobs).expect("a thread");
    let control = Control { jobs, ..Control::default() };
    let options =
        Options { properties: Vec::new(), all: true, reductions, control, ..Options::default() };
    explore(program, model, &options).expect("explored")
}

/// The same model, known only by its text.
fn as_text(name: &str) -> Model {
    let builtin = Model::builtin_names().find(|(builtin, _, _)| *builtin == name);
    let (_, _, text) = builtin.expect("a model");
    Model::parse("mine", text, &|_| None).expect("a right model")
}

/// Executions, by enumeration of all candidates.
fn enumerated(program: &Program, name: &str) -> u64 {
    let question = Question {
        quantifier: Quantifier::Exists,
        prop: Prop::True,
        text: String::new(),
        locations: Vec::new(),
        filter: None,
    };
    let options =
        parallax_engine_enumerate::Options { coherence: Coherence::Total, ..Default::default() };
    let outcomes = enumerate(program, &question, &model(name), &options).expect("enumerated");
    outcomes.states.iter().map(|state| state.executions).sum()
}

/// A program of threads that each run one function.
fn program(threads: &[String]) -> Program {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 4\n");
    for (number, body) in threads.iter().enumerate() {
        let vars = (0..8).map(|r| format!("r{r}: 32")).collect::<Vec<_>>().join(", ");
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

/// Store buffering, where both threads look at their own store first: that says nothing to anybody else.
#[test]
fn own_stores_are_seen_early() {
    let thread = |own: &str, other: &str| {
        format!(
            "store.4 &{own}, 1:32 [A, RLX]\nr0 = load.4 &{own} [A, RLX]\n\
             r1 = load.4 &{other} [A, RLX]"
        )
    };
    let program = program(&[thread("x", "y"), thread("y", "x")]);
    for name in NATIVE {
        let expected = if name == "sc" { 3 } else { 4 };
        assert_eq!(all(&program, name).counts.executions, expected, "{name}");
        assert_eq!(enumerated(&program, name), expected, "{name}");
    }
}

/// Two seq_cst events are enough to need an order.
#[test]
fn two_fences_are_in_order() {
    let thread = |own: &str, other: &str| {
        format!("store.4 &{own}, 1:32 [A, RLX]\nfence [SC]\nr1 = load.4 &{other} [A, RLX]")
    };
    let program = program(&[thread("x", "y"), thread("y", "x")]);
    for name in NATIVE.into_iter().filter(|name| *name != "ra") {
        assert_eq!(all(&program, name).counts.executions, 3, "{name}");
        assert_eq!(enumerated(&program, name), 3, "{name}");
    }
}

/// With seq_cst fences between their reads, two readers agree which of two stores came first.
#[test]
fn fences_of_readers_are_in_order() {
    let store = |own: &str| format!("store.4 &{own}, 1:32 [A, RLX]");
    let loads = |first: &str, second: &str| {
        format!("r0 = load.4 &{first} [A, RLX]\nfence [SC]\nr1 = load.4 &{second} [A, RLX]")
    };
    let program = program(&[store("x"), store("y"), loads("x", "y"), loads("y", "x")]);
    for name in ["sc", "rc11", "rc20"] {
        assert_eq!(all(&program, name).counts.executions, 15, "{name}");
        assert_eq!(enumerated(&program, name), 15, "{name}");
    }
}

/// Load buffering, which acquiring reads forbid.
#[test]
fn acquiring_reads_hold_stores_back() {
    let thread = |from: &str, to: &str, order: &str| {
        format!("r0 = load.4 &{from} [A, {order}]\nstore.4 &{to}, 1:32 [A, RLX]")
    };
    for (order, expected) in [("ACQ", 3), ("RLX", 4)] {
        let program = program(&[thread("x", "y", order), thread("y", "x", order)]);
        assert_eq!(enumerated(&program, "imm"), expected, "{order}");
    }
}

#[test]
fn weak_compare_and_swaps_fail_for_no_reason() {
    let once = "r0, ok = cas.weak.4 &x, 0:32, 1:32 [A, RLX] [A, RLX] [A, RLX]";
    let retry = "loop:\nr0, ok = cas.weak.4 &x, 0:32, 1:32 [A, RLX] [A, RLX] [A, RLX]\n\
                 branch ok, end, loop\nend:";
    let give = "store.4 &x, 0:32 [A, RLX]";
    let cases: [(&[&[&str]], u64); 4] = [
        (&[&[once]], 2),
        // Each fails or not, and they succeed one after the other, of which the second cannot.
        (&[&[once], &[once]], 5),
        // Rounds in vain are not counted.
        (&[&[retry]], 1),
        (&[&[retry, give], &[retry, give]], 2),
    ];
    for (threads, count) in cases {
        let program = lines(threads);
        for name in NATIVE {
            let reductions = Reductions::parse("spin-loops").expect("reductions");
            let verdict = reduced(&program, &model(name), 1, reductions);
            assert_eq!(verdict.counts.executions, count, "{threads:?} under {name}");
        }
    }
}

#[test]
fn store_buffering() {
    let program = lines(&[
        &["store.4 &x, 1:32 [A, RLX]", "r0 = load.4 &y [A, RLX]"],
        &["store.4 &y, 1:32 [A, RLX]", "r0 = load.4 &x [A, RLX]"],
    ]);
    for (name, count) in [("sc", 3), ("tso", 4), ("pso", 4), ("ra", 4), ("rc11", 4), ("rc20", 4)] {
        let verdict = all(&program, name);
        assert_eq!(verdict.conclusion(), Conclusion::Safe);
        assert_eq!(verdict.counts.executions, count, "{name}");
    }
}

#[test]
fn load_buffering_is_seen_where_a_model_allows_it() {
    let thread = |read: &str, from: &str, to: &str, value: &str| {
        format!("r0 = load.4 &{from} [A, {read}]\nstore.4 &{to}, {value} [A, RLX]")
    };
    let cases = [
        ("RLX", "1:32", "1:32", Conclusion::Unknown),
        ("ACQ", "1:32", "1:32", Conclusion::Unknown),
        ("ACQ", "1:32", "r0", Conclusion::Safe),
        ("RLX", "r0", "r0", Conclusion::Safe),
    ];
    for (order, first, second, conclusion) in cases {
        let program = program(&[thread(order, "x", "y", first), thread("RLX", "y", "x", second)]);
        let verdict = all(&program, "imm");
        assert_eq!(verdict.conclusion(), conclusion, "{order} {first} {second}");
        assert_eq!(verdict.counts.executions, 3);
    }
}

/// Whether a store depends on a read may depend on what the thread was started with.
#[test]
fn load_buffering_is_seen_whatever_threads_are_started_with() {
    let text = "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 4\n\
                fn f(a: 32) {\nvar v: 32\nv = load.4 &x [A, RLX]\n\
                branch a == OTHER:32, dependent, free\n\
                dependent:\nstore.4 &y, (v & 0:32) | 1:32 [A, RLX]\nreturn\n\
                free:\nstore.4 &y, 1:32 [A, RLX]\nreturn\n}\n\
                fn main() {\nvar r: 32, t: 32\nr = load.4 &z [A, RLX]\nt = spawn f(r)\nreturn\n}\n\
                fn g() {\nvar v: 32\nv = load.4 &y [A, RLX]\nstore.4 &x, v [A, RLX]\nreturn\n}\n\
                fn h() {\nstore.4 &z, 1:32 [A, RLX]\nreturn\n}\n\
                thread main = main()\nthread g = g()\nthread h = h()\n";
    for other in ["0", "1"] {
        let text = text.replace("OTHER", other);
        let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(all(&program, "imm").conclusion(), Conclusion::Unknown, "{other}");
    }
}

#[test]
fn additions_come_in_every_order() {
    for (threads, count) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let add = "rmw.add.4 &x, 1:32 [A, RLX]".to_string();
        let program = program(&vec![add; threads]);
        for name in NATIVE {
            assert_eq!(all(&program, name).counts.executions, count, "{threads} under {name}");
        }
    }
}

#[test]
fn the_estimate_is_near() {
    let program = program(&vec!["rmw.add.4 &x, 1:32 [A, RLX]".to_string(); 5]);
    for name in NATIVE {
        let options = Options { reductions: Reductions::NONE, ..Options::default() };
        let estimated = estimate(&program, &model(name), &options).expect("a model");
        let (mean, deviation) = estimated.expect("an estimate").executions;
        assert!((mean - 120.0).abs() < 4.0 * deviation + 1.0, "{mean} ± {deviation} under {name}");
        assert!(deviation < 40.0, "{mean} ± {deviation} under {name}");
    }
}

#[test]
fn threads_share_the_work() {
    let add = "rmw.add.4 &x, 1:32 [A, RLX]\nr0 = load.4 &y [A, RLX]".to_string();
    let store = "store.4 &y, 1:32 [A, RLX]".to_string();
    let program = program(&[add.clone(), add.clone(), add.clone(), add, store]);
    for name in NATIVE {
        let alone = explored(&program, &model(name), 1).counts;
        for jobs in [2, 3, 8] {
            let counts = explored(&program, &model(name), jobs).counts;
            assert_eq!(counts.executions, alone.executions, "{jobs} under {name}");
            assert_eq!(counts.events, alone.events, "{jobs} under {name}");
        }
    }
}

fn order() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["RLX", "ACQ", "REL", "ACQ_REL", "SC"])
}

fn place() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["x", "x", "y", "y", "z"])
}

/// A line of a thread. Values depend on what was read, so that reads matter.
fn line() -> impl Strategy<Value = String> {
    let register = 0..3u32;
    let value = 1..3u32;
    prop_oneof![
        4 => (place(), order(), register.clone())
            .prop_map(|(x, o, r)| format!("r{r} = load.4 &{x} [A, {o}]")),
        4 => (place(), order(), value.clone())
            .prop_map(|(x, o, v)| format!("store.4 &{x}, {v}:32 [A, {o}]")),
        1 => (place(), register.clone())
            .prop_map(|(x, r)| format!("store.4 &{x}, r{r} + 1:32 [A, RLX]")),
        2 => (place(), order(), register.clone())
            .prop_map(|(x, o, r)| format!("r{r} = rmw.add.4 &{x}, 1:32 [A, {o}]")),
        2 => (place(), order(), register.clone(), 0..3u32, value).prop_map(|(x, o, r, e, v)| {
            format!("r{r}, ok = cas.4 &{x}, {e}:32, {v}:32 [A, {o}] [A, {o}] [A, RLX]")
        }),
        2 => (place(), order(), register.clone(), 0..3u32, 1..3u32).prop_map(|(x, o, r, e, v)| {
            let swap = format!("cas.weak.4 &{x}, {e}:32, {v}:32 [A, {o}] [A, {o}] [A, RLX]");
            format!("r{r}, ok = {swap}\nr3 = r3 + zext(ok, 32)")
        }),
        1 => order().prop_map(|o| format!("fence [{o}]")),
        1 => Just("fence [MFENCE]".to_string()),
        1 => Just("fence [SFENCE]".to_string()),
    ]
}

/// A line that may have to wait: for a value, or for a lock.
fn waiting_line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => line(),
        2 => (place(), order(), 0..3u32).prop_map(|(x, o, v)| {
            format!("r4 = load.4 &{x} [A, {o}]\nok = r4 == {v}:32\nwait ok")
        }),
        2 => (place(), 1..3u32).prop_map(|(x, v)| {
            format!("_, ok = cas.4 &{x}, 0:32, {v}:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok")
        }),
        1 => (place(), 1..3u32).prop_map(|(x, v)| {
            format!("_, ok = cas.weak.4 &{x}, 0:32, {v}:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok")
        }),
        1 => (place(), order()).prop_map(|(x, o)| format!("store.4 &{x}, 0:32 [A, {o}]")),
        1 => (place(), order(), 0..3u32).prop_map(|(x, o, v)| {
            format!("r4 = load.4 &{x} [A, {o}]\nok = r4 == {v}:32\nassume ok")
        }),
    ]
}

/// Threads that take a lock each and write under it.
fn locking_threads() -> impl Strategy<Value = Vec<String>> {
    let lock = "_, ok = cas.4 &z, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n";
    let body = prop::collection::vec(line(), 0..2).prop_map(move |lines| {
        let lines: Vec<String> = lines.into_iter().filter(|line| !line.contains("&z")).collect();
        format!("{lock}{}\nstore.4 &z, 0:32 [A, REL]", lines.join("\n"))
    });
    prop::collection::vec(body, 2..most())
}

fn waiting_threads() -> impl Strategy<Value = Vec<String>> {
    let body = prop::collection::vec(waiting_line(), 1..most()).prop_map(|lines| lines.join("\n"));
    prop::collection::vec(body, 2..most())
}

fn threads() -> impl Strategy<Value = Vec<String>> {
    let body = prop::collection::vec(line(), 1..most()).prop_map(|lines| lines.join("\n"));
    prop::collection::vec(body, 2..most())
}

/// The same line, with a relaxed load or store as a plain one.
fn plain_access(line: &str) -> String {
    let is_access = line.contains(" = load.4 ") || line.starts_with("store.4 ");
    if is_access { line.replace("[A, RLX]", "[NA]") } else { line.to_string() }
}

/// Threads with branches, on which what follows depends.
fn branching_threads() -> impl Strategy<Value = Vec<String>> {
    let pointed = |r: u32| format!("select(r{r} == 0:32, &x, &y)");
    let line = prop_oneof![
        6 => line(),
        1 => (0..3u32).prop_map(|r| format!("if {r}")),
        1 => (0..3u32, 0..3u32)
            .prop_map(move |(r, q)| format!("r{r} = load.4 {} [A, RLX]", pointed(q))),
        1 => (0..3u32, 1..3u32)
            .prop_map(move |(q, v)| format!("store.4 {}, {v}:32 [A, RLX]", pointed(q))),
    ];
    let body = prop::collection::vec(line, 1..most()).prop_map(|lines| {
        let line = |(number, line): (usize, &String)| match line.strip_prefix("if ") {
            Some(register) => format!(
                "branch r{register} == 0:32, a{number}, b{number}\na{number}:\n\
                 store.4 &z, 1:32 [A, RLX]\nb{number}:"
            ),
            None => line.clone(),
        };
        lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    });
    prop::collection::vec(body, 2..most())
}

/// How many random programs: more on demand.
fn cases() -> u32 {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
}

/// Threads, and lines of each, are fewer than this.
fn most() -> usize {
    if cases() > 1000 { 5 } else { 4 }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn as_many_as_enumeration_finds(threads in threads()) {
        let program = program(&threads);
        for name in NATIVE {
            let verdict = all(&program, name);
            let expected = enumerated(&program, name);
            prop_assert_eq!(verdict.counts.executions, expected, "under {}", name);
            prop_assert_eq!(verdict.counts.blocked, 0, "under {}", name);
        }
    }

    #[test]
    fn as_many_by_the_text_of_the_model(threads in threads()) {
        let program = program(&threads);
        for name in NATIVE {
            let by_text = explored(&program, &as_text(name), 1);
            let expected = all(&program, name);
            prop_assert_eq!(by_text.counts.executions, expected.counts.executions, "{}", name);
        }
    }

    #[test]
    fn none_is_missed_where_loads_may_be_buffered(
        threads in prop_oneof![
            3 => branching_threads(),
            1 => waiting_threads(),
            1 => locking_threads(),
        ]
    ) {
        let program = program(&threads);
        let verdict = all(&program, "imm");
        let expected = enumerated(&program, "imm");
        prop_assert!(verdict.counts.executions <= expected);
        if verdict.conclusion() == Conclusion::Safe {
            prop_assert_eq!(verdict.counts.executions, expected);
        }
    }

    #[test]
    fn imm_is_as_its_text_has_it(
        threads in prop_oneof![
            1 => threads(),
            2 => branching_threads(),
            1 => waiting_threads(),
            1 => locking_threads(),
        ],
        is_plain in any::<bool>(),
    ) {
        let plain = |lines: &String| lines.lines().map(plain_access).collect::<Vec<_>>().join("\n");
        let threads = if is_plain { threads.iter().map(plain).collect() } else { threads };
        let program = program(&threads);
        let by_text = explored(&program, &as_text("imm"), 1);
        let by_rules = all(&program, "imm");
        prop_assert_eq!(by_rules.counts.executions, by_text.counts.executions);
        prop_assert_eq!(by_rules.conclusion(), by_text.conclusion());
        let races = |model: &Model| {
            let model = model.with_races_of_c().expect("a right model");
            let properties = vec![Property::Race];
            let options = Options { properties, all: true, ..Options::default() };
            let verdict = explore(&program, &model, &options).expect("explored");
            (verdict.conclusion(), verdict.violations.len())
        };
        prop_assert_eq!(races(&model("imm")), races(&as_text("imm")));
    }

    #[test]
    fn as_many_where_writes_are_published_to_everyone_at_once(
        threads in prop_oneof![
            1 => threads(),
            3 => branching_threads(),
            1 => waiting_threads(),
            1 => locking_threads(),
        ]
    ) {
        let program = program(&threads);
        let expected = enumerated(&program, "rc11-mca");
        prop_assert_eq!(all(&program, "rc11-mca").counts.executions, expected);
    }

    #[test]
    fn waiting_changes_no_count(
        threads in prop_oneof![2 => waiting_threads(), 1 => locking_threads()]
    ) {
        let program = program(&threads);
        for name in NATIVE {
            let expected = enumerated(&program, name);
            for reductions in ["none", "spin-loops,waits,symmetry,barriers"] {
                let reductions = Reductions::parse(reductions).expect("reductions");
                let counts = reduced(&program, &model(name), 1, reductions).counts;
                prop_assert_eq!(counts.executions, expected, "{:?} under {}", reductions, name);
            }
        }
    }
}
