//! Random programs: the bounded engine and the exploration give the same verdicts.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Machine, Options, compile, verify};
use parallax_engine_explore::explore;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::Conclusion;

const READS: [&str; 4] = ["[A, RLX]", "[A, ACQ]", "[A, SC]", "[NA]"];
const WRITES: [&str; 4] = ["[A, RLX]", "[A, REL]", "[A, SC]", "[NA]"];

fn statement(random: &mut Random, number: u64) -> String {
    let (g, c, d) = (random.pick(&["x", "y"]), random.below(3), random.below(3));
    let (r, s) = (random.below(3), random.below(3));
    let (read, write) = (random.pick(&READS), random.pick(&WRITES[..3]));
    match random.below(16) {
        0 | 1 => format!("store.4 &{g}, {c}:32 {write}\n"),
        2 => format!("store.4 &{g}, r{r} {write}\n"),
        3..=5 => format!("r{r} = load.4 &{g} {read}\n"),
        6 => {
            let op = random.pick(&["add", "swap", "or"]);
            format!("r{r} = rmw.{op}.4 &{g}, {c}:32 [A, ACQ_REL] [A, ACQ_REL]\n")
        }
        7 => format!("r{r}, ok = cas.4 &{g}, {c}:32, {d}:32 [A, ACQ] [A, ACQ] [A, RLX]\n"),
        8 => format!("fence {}\n", random.pick(&["[SC]", "[REL]", "[ACQ]", "[ACQ_REL]"])),
        9 => {
            let (then, other) =
                (statement(random, 1000 + number * 2), statement(random, 1001 + number * 2));
            format!(
                "branch r{r} == {c}:32, then{number}, else{number}\nthen{number}:\n{then}\
                 jump end{number}\nelse{number}:\n{other}end{number}:\n"
            )
        }
        10 => format!(
            "spin{number}:\nr{r} = load.4 &{g} [A, ACQ]\n\
             branch r{r} == {c}:32, spin{number}, end{number}\nend{number}:\n"
        ),
        11 => {
            let inner = statement(random, 1000 + number * 2);
            format!(
                "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n{inner}\
                 store.4 &l, 0:32 [A, REL]\n"
            )
        }
        12 => format!(
            "spin{number}:\nr{r} = rmw.swap.4 &l, 1:32 [A, ACQ] [A, ACQ]\n\
             branch r{r} == 1:32, spin{number}, end{number}\nend{number}:\n\
             r{s} = load.4 &{g} [A, RLX]\nstore.4 &l, 0:32 [A, REL]\n"
        ),
        // The same, as compilers rotate it.
        14 => format!(
            "r{r} = load.4 &{g} [A, ACQ]\nspin{number}:\n\
             branch r{r} == {c}:32, more{number}, end{number}\nmore{number}:\n\
             r{r} = load.4 &{g} [A, ACQ]\njump spin{number}\nend{number}:\n"
        ),
        13 => format!("n = spawn helper({c}:32)\nr{r} = load.4 &{g} [A, RLX]\njoin n\n"),
        // Deeper ones would count with the same variable.
        _ if number >= 1000 => String::new(),
        _ => {
            let inner = statement(random, 1000 + number * 2);
            format!(
                "k = 0:32\nloop{number}:\n{inner}k = k + 1:32\n\
                 branch k == 2:32, end{number}, loop{number}\nend{number}:\n"
            )
        }
    }
}

fn random_program(seed: u64) -> (String, Program) {
    let mut random = Random::new(seed);
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal l: 4\n");
    text += "fn helper(v: 32) {\nstore.4 &x, v [A, RLX]\nreturn\n}\n";
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let mut body = String::new();
        for number in 0..1 + random.below(4) {
            body += &statement(&mut random, number);
        }
        let [a, b] = [random.below(3), random.below(3)];
        body += &format!("assert ~((r0 == {a}:32) & (r1 == {b}:32)), \"final\"\n");
        text += &format!(
            "fn P{thread}() {{\nvar r0: 32, r1: 32, r2: 32, n: 32, k: 32, ok: 1\nr0 = 7:32\n{body}return\n}}\n"
        );
    }
    for thread in 0..threads {
        text += &format!("thread P{thread} = P{thread}()\n");
    }
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

/// What no execution of the intermediate model does, no machine does after compilation (A.
/// Podkopaev, O. Lahav, V. Vafeiadis, POPL 2019).
#[test]
fn machines_do_no_more_than_the_intermediate_model() {
    let mut compared = 0;
    for seed in 0..cases(40) {
        let (text, program) = random_program(seed + 5_000);
        let conclusion = |program: &Program, name: &str| {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let properties = vec![Property::Assert];
            let options = Options { properties, unroll: Some(2), ..Options::default() };
            verify(program, &model, &options).expect("a verdict").verdict.conclusion()
        };
        if conclusion(&program, "imm") != Conclusion::Safe {
            continue;
        }
        for name in ["aarch64", "power", "riscv"] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let machine = Machine::of_model(&model).expect("a machine");
            let compiled = compile(&program, machine).expect("a program");
            assert_ne!(
                conclusion(&compiled, name),
                Conclusion::Unsafe,
                "seed {seed}, {name}:\n{text}"
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn exploration_agrees() {
    let properties = [Property::Assert, Property::Race, Property::Deadlock, Property::Liveness];
    let mut compared = [0, 0];
    let first = std::env::var("PARALLAX_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    for seed in first..first + cases(60) {
        let (text, program) = random_program(seed);
        for name in ["sc", "tso", "pso", "ra", "rc11", "rc20", "imm"] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let model = model.with_races_of_c().expect("a right model");
            // Each property by itself: which is found first is for the engine to say.
            let property = properties[seed as usize % properties.len()];
            let options =
                Options { properties: vec![property], unroll: Some(4), ..Options::default() };
            let fast = verify(&program, &model, &options).expect("a verdict").verdict;
            let options = parallax_engine_explore::Options {
                properties: vec![property],
                unroll: Some(4),
                ..Default::default()
            };
            let slow = explore(&program, &model, &options).expect("a verdict");
            if slow.conclusion() == Conclusion::Unknown || slow.properties != fast.properties {
                continue;
            }
            let reason = fast.reason.as_ref().map_or("", |reason| reason.message.as_str());
            if fast.conclusion() == Conclusion::Unknown && !reason.contains("replayed") {
                continue;
            }
            assert_eq!(
                fast.conclusion(),
                slow.conclusion(),
                "seed {seed}, {name}, {property}, {reason}:\n{text}"
            );
            compared[usize::from(fast.conclusion() == Conclusion::Safe)] += 1;
        }
    }
    println!("{compared:?}");
    assert!(compared.iter().all(|count| *count > 20), "{compared:?}");
}
