//! Random programs: the same answers as exploration and as the search through states give, property by
//! property, in whatever order threads are tried.

#[path = "../../engine-states/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use std::sync::Arc;
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_explore as explore;
use parallax_engine_states as states;
use parallax_engine_symbolic as symbolic;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};
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

const LOCK: &str = "[A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]";

/// What every thread may do; `n` makes its labels different from others'.
fn plain(random: &mut Random, n: u64) -> String {
    let (g, m) = (random.pick(&["x", "y"]), random.pick(&["l", "m"]));
    let (c, d) = (random.below(3), random.below(3));
    match random.below(14) {
        0 | 1 => format!("store.4 &{g}, {c}:32 [NA]\n"),
        2 => format!("r = load.4 &{g} [NA]\n"),
        3 => format!("store.4 &{g}, {c}:32 [A, SC]\n"),
        4 => format!("r = load.4 &{g} [A, SC]\n"),
        5 => format!("r = rmw.add.4 &{g}, {c}:32 [A, SC] [A, SC]\n"),
        6 => {
            let weak = random.pick(&["", ".weak"]);
            format!("s, ok = cas{weak}.4 &{g}, {c}:32, {d}:32 [A, SC] [A, SC] [A, SC]\n")
        }
        7 => format!("_, ok = cas.4 &{m}, 0:32, 1:32 {LOCK}\nwait ok\n"),
        8 | 9 => {
            let (one, other) = (plain(random, n * 10 + 1), plain(random, n * 10 + 2));
            format!(
                "_, ok = cas.4 &{m}, 0:32, 1:32 {LOCK}\nwait ok\n{one}{other}\
                 store.4 &{m}, 0:32 [A, REL, UNLOCK]\n"
            )
        }
        10 => {
            let inner = plain(random, n * 10 + 1);
            format!("branch r == {c}:32, then{n}, end{n}\nthen{n}:\n{inner}end{n}:\n")
        }
        11 => format!("assert r != {c}:32, \"r\"\n"),
        12 => format!("assert (r != {c}:32) | (s != {d}:32), \"both\"\n"),
        _ => format!("store.1 &{g} + {c}:64, {d}:8 [NA]\n"),
    }
}

/// Inputs, and what depends on them.
fn with_inputs(random: &mut Random, n: u64) -> String {
    let g = random.pick(&["x", "y"]);
    let c = random.below(3);
    match random.below(10) {
        0..=2 => "i = nondet\n".to_string(),
        3 => {
            let (then, other) = (plain(random, n * 10 + 1), plain(random, n * 10 + 2));
            format!(
                "branch i == {c}:32, then{n}, else{n}\nthen{n}:\n{then}jump end{n}\n\
                 else{n}:\n{other}end{n}:\n"
            )
        }
        4 => format!("store.4 &{g}, i {}\n", random.pick(&["[NA]", "[A, SC]"])),
        5 => "assume i != 1:32\n".to_string(),
        6 => format!("store.4 &a + zext(i, 64) * 4:64, {c}:32 [NA]\n"),
        7 => "r = load.4 &a + zext(i, 64) * 4:64 [NA]\n".to_string(),
        8 => format!("assert i + r != {c}:32, \"sum\"\n"),
        _ => format!("s, ok = cas.4 &{g}, i, {c}:32 [A, SC] [A, SC] [A, SC]\nwait ok\n"),
    }
}

/// Loops that wait, sections, objects and threads.
fn rich(random: &mut Random, n: u64) -> String {
    let (g, h) = (random.pick(&["x", "y"]), random.pick(&["x", "y"]));
    let (c, d) = (random.below(3), random.below(3));
    match random.below(12) {
        0 => format!(
            "wait{n}:\nr = load.4 &{g} [A, SC]\nbranch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        1 => format!(
            "wait{n}:\nr = load.4 &{g} [A, SC]\ns = load.4 &{h} [A, SC]\n\
             branch (r == {c}:32) | (s == {d}:32), end{n}, wait{n}\nend{n}:\n"
        ),
        2 => format!(
            "wait{n}:\nr, ok = cas.weak.4 &{g}, {c}:32, {d}:32 [A, SC] [A, SC] [A, SC]\n\
             branch ok, end{n}, wait{n}\nend{n}:\n"
        ),
        3 => {
            let inner = plain(random, n * 10 + 1);
            format!(
                "wait{n}:\nr = rmw.swap.4 &l, 1:32 [A, SC] [A, SC]\n\
                 branch r == 0:32, end{n}, wait{n}\nend{n}:\n{inner}store.4 &l, 0:32 [A, SC]\n"
            )
        }
        4 => {
            format!("atomic begin\nr = load.4 &{g} [NA]\nstore.4 &{h}, r + 1:32 [NA]\natomic end\n")
        }
        5 => format!("n = spawn helper({c}:32)\nr = load.4 &{g} [A, SC]\njoin n\n"),
        6 => format!("n = spawn helper({c}:32)\n"),
        7 => "p = alloc.heap.zeroed 8:64 align 8\nstore.8 &q, p [A, SC]\n".to_string(),
        8 => format!(
            "p = load.8 &q [A, SC]\nbranch p == 0:64, end{n}, use{n}\nuse{n}:\n\
             r = load.4 p [A, SC]\nstore.4 p + 4:64, {d}:32 [A, SC]\nend{n}:\n"
        ),
        9 => format!(
            "p = rmw.swap.8 &q, 0:64 [A, SC] [A, SC]\nbranch p == 0:64, end{n}, use{n}\n\
             use{n}:\nr = load.4 p + 4:64 [A, SC]\nfree.heap p\nend{n}:\n"
        ),
        10 => format!("r = load.4 &{g} [A, SC]\nwait r != {c}:32\n"),
        _ => {
            let inner = plain(random, n * 10 + 1);
            format!(
                "i = 0:32\nloop{n}:\n{inner}i = i + 1:32\n\
                 branch i == 2:32, end{n}, loop{n}\nend{n}:\n"
            )
        }
    }
}

fn program(random: &mut Random) -> (String, Program) {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal l: 4\nglobal m: 4\n\
         global a: 16\nglobal q: 8\nfn helper(c: 32) {\nvar r: 32\nr = load.4 &x [A, SC]\n\
         store.4 &y, c [NA]\n}\n",
    );
    let threads = 2 + random.below(2);
    let has_inputs = random.below(2) == 0;
    for thread in 0..threads {
        let most = if threads == 2 { 5 } else { 3 };
        let mut body = String::new();
        for number in 1..=1 + random.below(most) {
            body += &match random.below(3) {
                0 => plain(random, number),
                1 if has_inputs => with_inputs(random, number),
                1 => plain(random, number),
                _ => rich(random, number),
            };
        }
        let vars = "r: 32, s: 32, i: 32, n: 32, ok: 1, p: 64";
        text += &format!("fn P{thread}() {{\nvar {vars}\n{body}return\n}}\n");
    }
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = P{thread}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

fn model() -> Arc<Model> {
    Model::builtin("sc").expect("a model").expect("a right model")
}

fn limits(seed: u64) -> Control<'static> {
    Control { seed, ..Control::lasting(Duration::from_millis(1500)) }
}

const RANGE: Option<(i128, i128)> = Some((0, 3));

/// Whether the property is violated, where the answer says that of all executions.
fn answer(verdict: &Verdict, shown: &dyn Fn() -> String) -> Option<bool> {
    if let Some(reason) = &verdict.reason {
        let is_wrong = reason.message.contains("replayed") || reason.message.contains("repeated");
        assert!(!is_wrong, "{}: {}", shown(), reason.message);
    }
    match (verdict.conclusion(), verdict.scope) {
        (Conclusion::Unsafe, _) => Some(true),
        (Conclusion::Safe, Some(Scope::Complete | Scope::Restricted)) => Some(false),
        _ => None,
    }
}

fn explored(program: &Program, property: Property) -> Verdict {
    let options = explore::Options {
        properties: vec![property],
        unroll: Some(6),
        nondet: RANGE,
        control: limits(0),
        ..Default::default()
    };
    explore::explore(program, &model(), &options).expect("explored")
}

fn searched(program: &Program, property: Property) -> Verdict {
    let options = states::Options {
        properties: vec![property],
        nondet: RANGE,
        control: limits(0),
        ..Default::default()
    };
    states::search(program, &model(), &options).expect("searched")
}

fn executed(program: &Program, property: Property, seed: Option<u64>) -> Verdict {
    let options = symbolic::Options {
        properties: vec![property],
        nondet: RANGE,
        shuffles: seed.is_some(),
        control: limits(seed.unwrap_or(0)),
        ..Default::default()
    };
    symbolic::search(program, &model(), &options)
}

#[test]
fn engines_agree() {
    let (mut compared, mut bad, mut open) = (0, 0, 0);
    for seed in first()..first() + cases(250) {
        let mut random = Random::new(seed);
        let (text, program) = program(&mut random);
        for property in [
            Property::Assert,
            Property::Race,
            Property::Deadlock,
            Property::Memory,
            Property::Liveness,
            Property::Lock,
        ] {
            let shown = || format!("seed {seed}, {property}:\n{text}");
            let straight = executed(&program, property, None);
            let ours = answer(&straight, &shown);
            let shuffled = executed(&program, property, Some(seed + 1));
            let other = answer(&shuffled, &shown);
            let same = ours.is_none() || other.is_none() || ours == other;
            assert!(same, "{ours:?} or {other:?} by the order: {}", shown());
            let theirs = [
                Some(explored(&program, property)),
                (property != Property::Race).then(|| searched(&program, property)),
            ];
            for (name, verdict) in ["explore", "states"].into_iter().zip(&theirs) {
                let theirs = verdict.as_ref().and_then(|verdict| answer(verdict, &shown));
                let (Some(ours), Some(theirs)) = (ours, theirs) else {
                    open += u64::from(ours.is_none());
                    if ours.is_none() && theirs.is_some() && std::env::var("SHOW").is_ok() {
                        println!("{name} {theirs:?}, {:?}: {}", straight.reason, shown());
                    }
                    continue;
                };
                compared += 1;
                bad += u64::from(theirs);
                assert_eq!(ours, theirs, "{name} says {theirs}: {}", shown());
            }
        }
    }
    println!("{compared} comparisons, {bad} of them of violations, {open} open");
    assert!(compared > cases(250) * 4 && bad > cases(250) / 4);
}
