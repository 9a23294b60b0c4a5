//! Random programs: the same answers as exploration and as the search through states give, property by
//! property, in whatever order threads are tried, along paths and with states matched.
//!
//! `PARALLAX_CASES` and `PARALLAX_SEED` say how many programs there are and which is the first; `SHOW`
//! has those told that only the others answer.

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
    let (c, d) = (random.below(3), random.below(4));
    let tags = random.pick(&["[NA]", "[A, SC]", "[A, RLX]"]);
    match random.below(18) {
        0..=2 => "i = nondet\n".to_string(),
        3 => {
            let (then, other) = (plain(random, n * 10 + 1), plain(random, n * 10 + 2));
            format!(
                "branch i == {c}:32, then{n}, else{n}\nthen{n}:\n{then}jump end{n}\n\
                 else{n}:\n{other}end{n}:\n"
            )
        }
        4 => format!("store.4 &{g}, i {tags}\n"),
        5 => "assume i != 1:32\n".to_string(),
        6 => format!("store.4 &a + zext(i, 64) * 4:64, {c}:32 {tags}\n"),
        7 => format!("r = load.4 &a + zext(i, 64) * 4:64 {tags}\n"),
        8 => format!("assert i + r != {c}:32, \"sum\"\n"),
        9 => format!("s, ok = cas.4 &{g}, i, {c}:32 [A, SC] [A, SC] [A, SC]\nwait ok\n"),
        // Bytes of what others see as words, at places that inputs say.
        10 => format!("store.1 &{g} + zext(i, 64), {d}:8 {tags}\n"),
        11 => format!("b = load.1 &a + zext(i, 64) + {d}:64 {tags}\nr = zext(b, 32)\n"),
        12 => format!("h = load.2 &a + zext(i, 64) * 2:64 {tags}\nr = zext(h, 32)\n"),
        13 => format!("store.2 &a + zext(i, 64), extract(r, 0, 16) {tags}\n"),
        // Objects of a size that is an input.
        14 => format!(
            "p = alloc.heap.zeroed zext(i, 64) + 1:64 align 8\nstore.1 p + {c}:64, {d}:8 [NA]\n\
             b = load.1 p + zext(i, 64) [NA]\nassert b != {d}:8, \"byte\"\n"
        ),
        // A weak compare-and-swap of an input, and a section that inputs decide.
        15 => format!("s, ok = cas.weak.4 &{g}, i, {d}:32 [A, SC] [A, SC] [A, RLX]\n"),
        16 => format!(
            "atomic begin\nr = load.4 &{g} [NA]\nbranch r == i, then{n}, else{n}\nthen{n}:\n\
             store.4 &{g}, {c}:32 [NA]\nelse{n}:\natomic end\n"
        ),
        // A loop that takes an input in each round.
        _ => {
            let inner = plain(random, n * 10 + 1);
            format!(
                "loop{n}:\ni = nondet\nbranch i == {c}:32, end{n}, body{n}\nbody{n}:\n{inner}\
                 jump loop{n}\nend{n}:\n"
            )
        }
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
        let vars = "r: 32, s: 32, i: 32, n: 32, ok: 1, p: 64, b: 8, h: 16";
        text += &format!("fn P{thread}() {{\nvar {vars}\n{body}return\n}}\n");
    }
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = P{thread}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
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

fn explored(program: &Program, model: &Model, property: Property) -> Verdict {
    let options = explore::Options {
        properties: vec![property],
        unroll: Some(6),
        nondet: RANGE,
        control: limits(0),
        ..Default::default()
    };
    explore::explore(program, model, &options).expect("explored")
}

fn searched(program: &Program, model: &Model, property: Property) -> Verdict {
    let options = states::Options {
        properties: vec![property],
        nondet: RANGE,
        control: limits(0),
        ..Default::default()
    };
    states::search(program, model, &options).expect("searched")
}

fn executed(
    program: &Program,
    model: &Model,
    property: Property,
    seed: Option<u64>,
    steps: u64,
) -> Verdict {
    let options = symbolic::Options {
        properties: vec![property],
        nondet: RANGE,
        shuffles: seed.is_some(),
        steps,
        control: limits(seed.unwrap_or(0)),
        ..Default::default()
    };
    symbolic::search(program, model, &options)
}

/// What was compared.
#[derive(Default)]
struct Tally {
    compared: u64,
    bad: u64,
    open: u64,
}

impl Tally {
    /// All engines on one program.
    fn compare(
        &mut self,
        seed: u64,
        text: &str,
        program: &Program,
        name: &str,
        property: Property,
    ) {
        let shown = || format!("seed {seed}, {name}, {property}:\n{text}");
        let model = &model(name);
        let is_path = name == "sc";
        let is_race = property == Property::Race;
        let usual = symbolic::Options::STEPS;
        let straight = executed(program, model, property, None, usual);
        let ours = answer(&straight, &shown);
        let others = [
            is_path.then(|| executed(program, model, property, Some(seed + 1), usual)),
            (is_path && !is_race).then(|| executed(program, model, property, None, 0)),
            is_path.then(|| executed(program, model, property, None, 3)),
            Some(explored(program, model, property)),
            (!is_race).then(|| searched(program, model, property)),
        ];
        let names = ["in another order", "with states matched", "to a depth", "explore", "states"];
        for (name, verdict) in names.into_iter().zip(&others) {
            let theirs = verdict.as_ref().and_then(|verdict| answer(verdict, &shown));
            let (Some(ours), Some(theirs)) = (ours, theirs) else {
                self.open += u64::from(ours.is_none());
                if ours.is_none() && theirs.is_some() && std::env::var("SHOW").is_ok() {
                    println!("{name} {theirs:?}, {:?}: {}", straight.reason, shown());
                }
                continue;
            };
            self.compared += 1;
            self.bad += u64::from(theirs);
            assert_eq!(ours, theirs, "{name} says {theirs}: {}", shown());
        }
    }
}

#[test]
fn engines_agree() {
    let mut tally = Tally::default();
    for seed in first()..first() + cases(100) {
        let (text, program) = program(&mut Random::new(seed));
        for property in [
            Property::Assert,
            Property::Race,
            Property::Deadlock,
            Property::Memory,
            Property::Liveness,
            Property::Lock,
        ] {
            tally.compare(seed, &text, &program, "sc", property);
        }
    }
    let Tally { compared, bad, open } = tally;
    println!("{compared} comparisons, {bad} of them of violations, {open} open");
    assert!(compared > cases(100) * 4 && bad > cases(100) / 4);
}

#[test]
fn engines_agree_where_stores_are_late() {
    let mut tally = Tally::default();
    for seed in first()..first() + cases(60) {
        let (text, program) = program(&mut Random::new(seed));
        let name = if seed % 2 == 0 { "tso" } else { "pso" };
        for property in [Property::Assert, Property::Deadlock, Property::Memory, Property::Lock] {
            tally.compare(seed, &text, &program, name, property);
        }
    }
    let Tally { compared, bad, open } = tally;
    println!("{compared} comparisons, {bad} of them of violations, {open} open");
    assert!(compared > cases(60) * 2 && bad > cases(60) / 8);
}
