//! Random programs with loops and inputs: no other answers than exploration and the search through
//! states give, whatever the domain, the order and the reduction.

#[path = "../../engine-states/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use std::sync::Arc;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract as abstraction;
use parallax_engine_abstract::{
    Domain, Order, Parts, Pruning, Reduction, Refinements, Scope, Tuning,
};
use parallax_engine_bounded as bounded;
use parallax_engine_explore as explore;
use parallax_engine_states as states;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope as Searched, Verdict};
use random::Random;

/// How many programs are tried; more when asked for.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(usual)
}

fn first() -> u64 {
    let asked = std::env::var("PARALLAX_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.unwrap_or(0)
}

/// A statement; `n` makes its labels different from others'.
fn statement(random: &mut Random, is_weak: bool, n: u64, depth: u32) -> String {
    let (g, h) = (random.pick(&["x", "y"]), random.pick(&["x", "y"]));
    let (c, d) = (random.below(3), random.below(3));
    if is_weak && random.below(5) == 0 {
        return weak_statement(random, g, c);
    }
    let order = random.pick(&["[NA]", "[A, SC]"]);
    match random.below(if depth == 0 { 17 } else { 24 }) {
        0 => format!("store.4 &{g}, {c}:32 {order}\n"),
        1 => format!("r = load.4 &{g} {order}\n"),
        2 => format!("s = load.4 &{h} {order}\n"),
        3 => format!("store.4 &{g}, r + {c}:32 {order}\n"),
        4 => format!("r = rmw.add.4 &{g}, {c}:32 [A, SC] [A, SC]\n"),
        5 => {
            let weak = random.pick(&["", ".weak"]);
            format!("s, ok = cas{weak}.4 &{g}, {c}:32, {d}:32 [A, SC] [A, SC] [A, SC]\n")
        }
        6 => "i = nondet\n".to_string(),
        7 => format!("store.4 &{g}, i {order}\n"),
        8 => match random.below(2) {
            0 => format!("assume i != {c}:32\n"),
            // The thread goes no further, and has done something before.
            _ => format!("store.4 &{g}, {d}:32 {order}\nassume i == {}:32\n", 7 - c),
        },
        9 => format!("assert r != {c}:32, \"r\"\n"),
        10 => format!("assert (r != {c}:32) | (s != {d}:32), \"both\"\n"),
        11 => format!("assert i + r != {d}:32, \"sum\"\n"),
        12 => format!("store.4 &a + zext(i, 64) * 4:64, {c}:32 [NA]\n"),
        13 => "r = load.4 &a + zext(i, 64) * 4:64 [NA]\n".to_string(),
        14 => format!("store.1 &{g} + {c}:64, {d}:8 [NA]\n"),
        15 => format!("r = load.4 &{g} [A, SC]\nwait r != {c}:32\n"),
        16 => {
            format!("atomic begin\nr = load.4 &{g} [NA]\nstore.4 &{h}, r + 1:32 [NA]\natomic end\n")
        }
        17 => {
            let (one, other) = (
                statement(random, is_weak, n * 10 + 1, depth - 1),
                statement(random, is_weak, n * 10 + 2, depth - 1),
            );
            let condition = random.pick(&["i ==", "r ==", "i <u", "s <u"]);
            format!(
                "branch {condition} {c}:32, then{n}, else{n}\nthen{n}:\n{one}jump end{n}\n\
                 else{n}:\n{other}end{n}:\n"
            )
        }
        18 => {
            let inner = statement(random, is_weak, n * 10 + 1, depth - 1);
            format!(
                "k = 0:32\nloop{n}:\n{inner}k = k + 1:32\n\
                 branch k == {}:32, end{n}, loop{n}\nend{n}:\n",
                1 + c
            )
        }
        // As often as an input wants.
        19 => {
            let inner = statement(random, is_weak, n * 10 + 1, depth - 1);
            format!(
                "k = 0:32\njump loop{n}\nloop{n}:\nbranch k <u i, body{n}, end{n}\nbody{n}:\n\
                 {inner}k = k + 1:32\njump loop{n}\nend{n}:\n"
            )
        }
        20 => format!(
            "wait{n}:\nr = load.4 &{g} [A, SC]\nbranch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        21 => {
            let inner = statement(random, is_weak, n * 10 + 1, depth - 1);
            format!(
                "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\nwait ok\n\
                 {inner}store.4 &l, 0:32 [A, REL, UNLOCK]\n"
            )
        }
        22 => format!("n = spawn helper({c}:32)\nr = load.4 &{g} [A, SC]\njoin n\n"),
        _ => match random.below(3) {
            0 => "p = alloc.heap.zeroed 8:64 align 8\nstore.8 &q, p [A, SC]\n".to_string(),
            1 => format!(
                "p = load.8 &q [A, SC]\nbranch p == 0:64, end{n}, use{n}\nuse{n}:\n\
                 r = load.4 p [A, SC]\nstore.4 p + 4:64, {d}:32 [A, SC]\nend{n}:\n"
            ),
            _ => format!(
                "p = rmw.swap.8 &q, 0:64 [A, SC] [A, SC]\nbranch p == 0:64, end{n}, use{n}\n\
                 use{n}:\nr = load.4 p + 4:64 [A, SC]\nfree.heap p\nend{n}:\n"
            ),
        },
    }
}

/// What matters where stores wait in buffers.
fn weak_statement(random: &mut Random, global: &str, number: u64) -> String {
    match random.below(6) {
        0 => format!("fence {}\n", random.pick(&["[MFENCE]", "[SFENCE]", "[F, SC]", "[F, REL]"])),
        1 => format!("store.4 &{global}, {number}:32 [A, REL]\n"),
        2 => format!("store.4 &{global}, {number}:32 [A, RLX]\nr = load.4 &y [A, RLX]\n"),
        3 => format!("r = load.4 &{global} [A, RLX]\ns = load.4 &x [A, ACQ]\n"),
        4 => format!("r = rmw.add.4 &{global}, 1:32 [A, RLX] [A, RLX]\n"),
        _ => format!("s, ok = cas.4 &{global}, 0:32, {number}:32 [A, RLX] [A, RLX] [A, RLX]\n"),
    }
}

fn program(random: &mut Random, is_weak: bool) -> (String, Program) {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal l: 4\nglobal a: 16\n\
         global q: 8\nfn helper(c: 32) {\nvar r: 32\nr = load.4 &x [A, SC]\n\
         store.4 &y, c + r [NA]\n}\n",
    );
    let threads = 1 + random.below(3);
    for thread in 0..threads {
        let most = [0, 6, 4, 2][threads as usize];
        let mut body = String::new();
        for number in 1..=1 + random.below(most) {
            body += &statement(random, is_weak, number, 2);
        }
        let vars = "r: 32, s: 32, i: 32, k: 32, n: 32, ok: 1, p: 64";
        text += &format!("fn P{thread}() {{\nvar {vars}\n{body}return\n}}\n");
    }
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = P{thread}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

fn limits() -> Control<'static> {
    Control::lasting(Duration::from_millis(1500))
}

const RANGE: Option<(i128, i128)> = Some((0, 3));

/// Whether an assertion is violated, where the answer says that of all executions.
fn answer(verdict: &Verdict, shown: &dyn Fn() -> String) -> Option<bool> {
    if let Some(reason) = &verdict.reason {
        let is_wrong = reason.message.contains("replayed") || reason.message.contains("repeated");
        let is_wrong = is_wrong && !reason.message.contains("out of time");
        assert!(!is_wrong, "{}: {}", shown(), reason.message);
    }
    match (verdict.conclusion(), verdict.scope) {
        (Conclusion::Unsafe, _) => Some(true),
        (Conclusion::Safe, Some(Searched::Complete | Searched::Restricted)) => Some(false),
        _ => None,
    }
}

fn explored(program: &Program, model: &Model) -> Verdict {
    let options = explore::Options {
        properties: vec![Property::Assert],
        unroll: Some(6),
        nondet: RANGE,
        control: limits(),
        ..Default::default()
    };
    explore::explore(program, model, &options).expect("explored")
}

fn solved(program: &Program, model: &Model) -> Verdict {
    let options = bounded::Options {
        properties: vec![Property::Assert],
        unroll: Some(6),
        nondet: RANGE,
        control: limits(),
        ..Default::default()
    };
    bounded::verify(program, model, &options).expect("answered").verdict
}

fn searched(program: &Program, model: &Model) -> Verdict {
    let options = states::Options {
        properties: vec![Property::Assert],
        nondet: RANGE,
        control: limits(),
        ..Default::default()
    };
    states::search(program, model, &options).expect("searched")
}

/// The usual one, and one of the others.
fn tunings(seed: u64) -> [Tuning; 2] {
    let usual = Tuning::default();
    let boolean = Tuning { domain: Domain::Boolean, ..usual };
    let other = match seed % 17 {
        7 => boolean,
        8 => Tuning { domain: Domain::BooleanProduct, most_values: 2, ..usual },
        9 => Tuning { pruning: Pruning::Full, ..usual },
        10 => Tuning { refinement: Refinements::Sequence, ..usual },
        11 => Tuning { refinement: Refinements::All, ..usual },
        12 => Tuning { parts: Parts::Whole, domain: Domain::Predicates, ..usual },
        13 => Tuning { parts: Parts::Conjuncts, ..usual },
        14 => Tuning { parts: Parts::Atoms, ..boolean },
        15 => Tuning { scope: Scope::Local, ..usual },
        16 => Tuning { scope: Scope::Local, refinement: Refinements::Sequence, ..boolean },
        0 => Tuning { reduction: Reduction::Merged, ..usual },
        5 => Tuning { reduction: Reduction::Sets, ..usual },
        6 => Tuning { reduction: Reduction::Naive, ..usual },
        1 => Tuning { order: Order::BreadthFirst, ..usual },
        2 => Tuning { order: Order::ErrorFirst, most_values: 4, ..usual },
        3 => Tuning { domain: Domain::Predicates, ..usual },
        _ => Tuning { domain: Domain::Explicit, most_values: 4, ..usual },
    };
    [usual, other]
}

/// Compares the engines on programs under a model.
fn compare(name: &str, seeds: std::ops::Range<u64>, is_long: bool) {
    let (mut compared, mut bad, mut open) = (0, 0, 0);
    let tells = std::env::var("SHOW").is_ok();
    let (model, count) = (model(name), seeds.end - seeds.start);
    for seed in seeds {
        let mut random = Random::new(seed);
        let (text, program) = program(&mut random, name != "sc");
        let shown = || format!("seed {seed} under {name}:\n{text}");
        let mut theirs =
            vec![("explore", explored(&program, &model)), ("states", searched(&program, &model))];
        if is_long {
            theirs.push(("bounded", solved(&program, &model)));
        }
        for tuning in tunings(seed) {
            let options = abstraction::Options {
                properties: vec![Property::Assert],
                nondet: RANGE,
                control: limits(),
                tuning,
            };
            let verdict = abstraction::verify(&program, &model, &options);
            let ours = answer(&verdict, &shown);
            for (name, theirs) in &theirs {
                let theirs = answer(theirs, &shown);
                let (Some(ours), Some(theirs)) = (ours, theirs) else {
                    open += u64::from(ours.is_none() && theirs.is_some());
                    if ours.is_none() && theirs.is_some() && tells {
                        println!("{name} {theirs:?}, {tuning:?} {:?}: {}", verdict.reason, shown());
                    }
                    continue;
                };
                compared += 1;
                bad += u64::from(theirs);
                assert_eq!(ours, theirs, "{name} says {theirs}, {tuning:?}: {}", shown());
            }
        }
    }
    println!("{name}: {compared} comparisons, {bad} of them of violations, {open} open");
    assert!(compared > count && bad > count / 4 && open < compared / 2);
}

#[test]
fn engines_agree() {
    compare("sc", first()..first() + cases(200), false);
}

#[test]
fn engines_agree_under_tso() {
    compare("tso", first()..first() + cases(150), false);
}

#[test]
fn engines_agree_under_pso() {
    compare("pso", first()..first() + cases(150), false);
}

/// 2,100 programs, and the solver beside the others.
#[test]
#[ignore = "long"]
fn engines_agree_on_many() {
    for (name, start) in [("sc", 10_000), ("tso", 20_000), ("pso", 30_000)] {
        let start = start + first();
        compare(name, start..start + cases(700), true);
    }
}
