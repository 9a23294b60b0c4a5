//! Atomic sections: the bounded engine, the search through states and the exploration give the same
//! verdicts on random programs with sections, which threads may stay in, and accesses outside.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Options, verify};
use parallax_engine_explore::explore;
use parallax_engine_states::search;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Verdict};

fn access(random: &mut Random) -> String {
    let (g, c) = (random.pick(&["x", "y", "z"]), 1 + random.below(2));
    let (r, s) = (random.below(3), random.below(3));
    match random.below(8) {
        0..=2 => format!("store.4 &{g}, {c}:32 [A, RLX]\n"),
        3 => format!("store.4 &{g}, r{r} [A, RLX]\n"),
        4 => format!("r{r} = rmw.add.4 &{g}, {c}:32 [A, ACQ_REL] [A, ACQ_REL]\n"),
        5 => format!("r{r} = load.4 &{g} [A, RLX]\nr{s} = r{s} + r{r}\n"),
        _ => format!("r{r} = load.4 &{g} [A, RLX]\n"),
    }
}

/// What may end a way inside of a section.
fn end(random: &mut Random) -> String {
    let (r, c) = (random.below(3), random.below(3));
    match random.below(3) {
        0 => format!("assume r{r} != {c}:32\n"),
        1 => format!("assert r{r} != {c}:32, \"inside\"\n"),
        _ => String::new(),
    }
}

fn statement(random: &mut Random, number: u64) -> String {
    let (r, c) = (random.below(3), random.below(3));
    let [a, b, d] = [0; 3].map(|_| access(random));
    match random.below(12) {
        0..=2 => a,
        3..=5 => format!("atomic begin\n{a}{b}atomic end\n"),
        6 => format!("atomic begin\n{a}{}{b}{}atomic end\n", end(random), end(random)),
        7 => format!(
            "atomic begin\n{a}branch r{r} == {c}:32, then{number}, else{number}\nthen{number}:\n\
             {b}atomic end\njump end{number}\nelse{number}:\n{d}atomic end\nend{number}:\n"
        ),
        8 => format!(
            "branch r{r} == {c}:32, then{number}, else{number}\nthen{number}:\natomic begin\n{a}\
             jump end{number}\nelse{number}:\natomic begin\n{b}end{number}:\n{d}atomic end\n"
        ),
        9 => format!(
            "k = 0:32\nloop{number}:\natomic begin\n{a}{b}{}atomic end\nk = k + 1:32\n\
             branch k == 2:32, end{number}, loop{number}\nend{number}:\n",
            end(random)
        ),
        10 => format!("atomic begin\nn = spawn helper({c}:32)\n{a}atomic end\n{b}join n\n"),
        _ => format!(
            "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ] [A, RLX]\nwait ok\n\
             atomic begin\n{a}{b}atomic end\nstore.4 &l, 0:32 [A, REL]\n"
        ),
    }
}

fn random_program(seed: u64, mixes: bool) -> (String, Program) {
    let mut random = Random::new(seed);
    let mut text = String::from("program p pointers 64\n");
    for global in ["x", "y", "z", "l"] {
        text += &format!("global {global}: 4\n");
    }
    text += "fn helper(v: 32) {\natomic begin\nstore.4 &x, v [A, RLX]\natomic end\nreturn\n}\n";
    let threads = 2 + random.below(2);
    for thread in 0..threads {
        let mut body = String::new();
        for number in 0..1 + random.below(3) {
            let wrapped = |inside: String| match mixes || inside.contains("atomic") {
                true => inside,
                false => format!("atomic begin\n{inside}atomic end\n"),
            };
            body += &wrapped(statement(&mut random, number));
        }
        let [a, b] = [random.below(4), random.below(4)];
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

fn model(name: &str) -> Model {
    let model = Model::builtin(name).expect("a model").expect("a right model");
    model.with_races_of_c().expect("a right model")
}

fn bounded(program: &Program, model: &Model, property: Property) -> Verdict {
    let options = Options { properties: vec![property], unroll: Some(4), ..Options::default() };
    verify(program, model, &options).expect("a verdict").verdict
}

fn message(verdict: &Verdict) -> &str {
    verdict.reason.as_ref().map_or("", |reason| reason.message.as_str())
}

fn first_seed() -> u64 {
    std::env::var("PARALLAX_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

#[test]
fn states_agree() {
    let mut compared = [0, 0];
    for seed in first_seed()..first_seed() + cases(30) {
        let (text, program) = random_program(seed, true);
        for (name, property) in [
            ("sc", Property::Assert),
            ("tso", Property::Assert),
            ("pso", Property::Assert),
            ("sc", Property::Deadlock),
        ] {
            let model = model(name);
            let fast = bounded(&program, &model, property);
            let options = parallax_engine_states::Options {
                properties: vec![property],
                ..Default::default()
            };
            let slow = search(&program, &model, &options).expect("a verdict");
            let reason = message(&fast);
            if slow.conclusion() == Conclusion::Unknown {
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
    assert!(compared.iter().all(|count| *count > 12), "{compared:?}");
}

#[test]
fn exploration_agrees() {
    let mut compared = [0, 0];
    for seed in first_seed()..first_seed() + cases(30) {
        let (text, program) = random_program(seed, seed % 4 == 0);
        // Races: some accesses are plain.
        let plain = text.replacen("store.4 &z, 1:32 [A, RLX]", "store.4 &z, 1:32 [NA]", 9);
        let plain = plain.replacen("load.4 &z [A, RLX]", "load.4 &z [NA]", 9);
        let racy = parse_program("p", &plain).expect("a program");
        for (name, property) in [
            ("sc", Property::Race),
            ("tso", Property::Race),
            ("rc11", Property::Race),
            ("rc11", Property::Assert),
            ("ra", Property::Assert),
            ("sc", Property::Assert),
        ] {
            let (model, is_race) = (model(name), property == Property::Race);
            let (text, program) = if is_race { (&plain, &racy) } else { (&text, &program) };
            let fast = bounded(program, &model, property);
            let options = parallax_engine_explore::Options {
                properties: vec![property],
                unroll: Some(4),
                ..Default::default()
            };
            let slow = explore(program, &model, &options).expect("a verdict");
            let reason = message(&fast);
            let is_beyond =
                fast.conclusion() == Conclusion::Unknown && reason.contains("fall into");
            if slow.conclusion() == Conclusion::Unknown || is_beyond {
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
    assert!(compared.iter().all(|count| *count > 12), "{compared:?}");
}
