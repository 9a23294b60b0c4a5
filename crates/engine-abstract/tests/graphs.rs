//! Random programs with all memory orders: where executions are graphs, no other answers than exploration
//! gives, whatever the model and whenever graphs are judged.

#[path = "../../engine-states/tests/common/random.rs"]
#[allow(dead_code)]
mod random;

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract as abstraction;
use parallax_engine_abstract::proof::{Checked, check};
use parallax_engine_abstract::{Analysis, Judge, Tuning};
use parallax_engine_explore as explore;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, Scope, Verdict};
use random::Random;

/// How many programs are tried, and from which on; more when asked for.
fn asked(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// A statement of the programs that models of memory are asked about: all orders, and what each is for.
fn statement(random: &mut Random, n: u64, depth: u32) -> String {
    let (g, h) = (random.pick(&["x", "y"]), random.pick(&["x", "y"]));
    let (c, d) = (random.below(3), random.below(3));
    let read = random.pick(&["[NA]", "[A, RLX]", "[A, ACQ]", "[A, SC]"]);
    let write = random.pick(&["[NA]", "[A, RLX]", "[A, REL]", "[A, SC]"]);
    match random.below(if depth == 0 { 14 } else { 22 }) {
        0 | 1 => format!("store.4 &{g}, {c}:32 {write}\n"),
        2 | 3 => format!("r = load.4 &{g} {read}\n"),
        4 | 5 => format!("s = load.4 &{h} {read}\n"),
        6 => format!("store.4 &{g}, r + {c}:32 {write}\n"),
        7 => format!("r = rmw.add.4 &{g}, {c}:32 {read} {write}\n").replace("NA", "A, RLX"),
        8 => {
            let weak = random.pick(&["", ".weak"]);
            format!("s, ok = cas{weak}.4 &{g}, {c}:32, {d}:32 {read} {write} [A, RLX]\n")
                .replace("NA", "A, RLX")
        }
        9 => "i = nondet\nassume i <u 3:32\n".to_string(),
        10 => format!("store.4 &{g}, i {write}\n"),
        11 => {
            let order = random.pick(&["SC", "ACQ_REL", "ACQ", "REL"]);
            format!("fence [{order}]\n")
        }
        12 => {
            let inner = format!("r = load.4 &{g} {read}\nstore.4 &{h}, r + 1:32 {write}\n");
            format!("atomic begin\n{inner}atomic end\n")
        }
        13 => format!("assert (r != {c}:32) | (s != {d}:32), \"both\"\n"),
        14 => {
            let (one, other) = (
                statement(random, n * 10 + 1, depth - 1),
                statement(random, n * 10 + 2, depth - 1),
            );
            let condition = random.pick(&["i ==", "r ==", "i <u", "s <u"]);
            format!(
                "branch {condition} {c}:32, then{n}, else{n}\nthen{n}:\n{one}jump end{n}\n\
                 else{n}:\n{other}end{n}:\n"
            )
        }
        15 => {
            let inner = statement(random, n * 10 + 1, depth - 1);
            format!(
                "k = 0:32\nloop{n}:\n{inner}k = k + 1:32\n\
                 branch k == {}:32, end{n}, loop{n}\nend{n}:\n",
                1 + c
            )
        }
        16 => format!(
            "wait{n}:\nr = load.4 &{g} {read}\nbranch r == {c}:32, end{n}, wait{n}\nend{n}:\n"
        ),
        17 => {
            let inner = statement(random, n * 10 + 1, depth - 1);
            format!(
                "_, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\nwait ok\n\
                 {inner}store.4 &l, 0:32 [A, REL, UNLOCK]\n"
            )
        }
        18 => {
            let inner = statement(random, n * 10 + 1, depth - 1);
            format!(
                "k = 0:32\njump loop{n}\nloop{n}:\nbranch k <u i, body{n}, end{n}\nbody{n}:\n\
                 {inner}k = k + 1:32\njump loop{n}\nend{n}:\n"
            )
        }
        19 | 20 => format!("n = spawn late({c}:32)\n"),
        _ => format!("n = spawn helper({c}:32)\nr = load.4 &{g} {read}\njoin n\n"),
    }
}

fn program(random: &mut Random) -> (String, Program) {
    let mut text = String::from(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal l: 4\nfn helper(c: 32) {\n\
         var r: 32\nr = load.4 &x [A, SC]\nstore.4 &y, c + r [NA]\n}\nfn late(c: 32) {\nvar r: 32\n\
         r = load.4 &x [A, RLX]\nassert r != c + 1:32, \"late\"\n}\n",
    );
    let threads = 1 + random.below(3);
    for thread in 0..threads {
        let most = [0, 6, 4, 2][threads as usize];
        let mut body = String::new();
        for number in 1..=1 + random.below(most) {
            body += &statement(random, number, 2);
        }
        // What the thread has read last decides.
        let (c, d) = (random.below(3), random.below(3));
        body += &format!("assert (r != {c}:32) | (s != {d}:32), \"last\"\n");
        let vars = "r: 32, s: 32, i: 32, k: 32, n: 32, ok: 1";
        text += &format!("fn P{thread}() {{\nvar {vars}\n{body}return\n}}\n");
    }
    (0..threads).for_each(|thread| text += &format!("thread P{thread} = P{thread}()\n"));
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, program)
}

const RANGE: Option<(i128, i128)> = Some((0, 3));

fn limits() -> Control<'static> {
    Control::lasting(Duration::from_millis(1500))
}

/// Whether an assertion is violated, where the answer says that of all executions.
fn answer(verdict: &Verdict, shown: &dyn Fn() -> String) -> Option<bool> {
    if let Some(reason) = &verdict.reason {
        let is_wrong = reason.message.contains("replayed") || reason.message.contains("repeated");
        // What may fall into an atomic section is not believed, nor is what a limit has cut short.
        let is_open = ["atomic section", "is not known", "out of time"]
            .iter()
            .any(|why| reason.message.contains(why));
        let is_wrong = is_wrong && !is_open;
        assert!(!is_wrong, "{}: {}", shown(), reason.message);
    }
    match (verdict.conclusion(), verdict.scope) {
        (Conclusion::Unsafe, _) => Some(true),
        (Conclusion::Safe, Some(Scope::Complete | Scope::Restricted)) => Some(false),
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

/// By graphs, under models that have a machine and under others; judged early and late. What is safe has a proof that holds.
#[test]
fn graphs_agree_with_exploration() {
    let (mut compared, mut bad, mut open, mut confirmed) = (0, 0, 0, 0);
    let tells = std::env::var("SHOW").is_ok();
    let (first, count) = (asked("PARALLAX_SEED", 0), asked("PARALLAX_CASES", 150));
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let (text, program) = program(&mut random);
        let name = random.pick(&["sc", "tso", "pso", "ra", "rc11", "rc11", "rc20"]);
        let analysis = if random.below(3) == 0 { Analysis::Lazy } else { Analysis::Eager };
        let judge = match seed % 8 {
            0 | 1 => Judge::Sat,
            2 => Judge::Functions,
            3 | 4 => Judge::Datalog,
            _ => Judge::Saturation,
        };
        let shown = || format!("seed {seed} under {name} {analysis:?} {judge:?}:\n{text}");
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let theirs = answer(&explored(&program, &model), &shown);
        let options = abstraction::Options {
            properties: vec![Property::Assert],
            nondet: RANGE,
            control: limits(),
            tuning: Tuning { analysis, judge, proves: true, ..Tuning::default() },
        };
        let (verdict, proof) = abstraction::prove(&program, &model, &options);
        if let Some(proof) = proof {
            match check(&program, "a.proof", &proof, &limits()) {
                Ok(Checked::Confirmed { .. }) => confirmed += 1,
                Ok(Checked::Unknown(_)) => {}
                found => panic!("{found:?}: {}", shown()),
            }
        }
        let ours = answer(&verdict, &shown);
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            open += u64::from(ours.is_none() && theirs.is_some());
            if ours.is_none() && theirs.is_some() && tells {
                println!("{theirs:?} {:?} {:?}: {}", verdict.reason, verdict.notes, shown());
            }
            continue;
        };
        compared += 1;
        bad += u64::from(theirs);
        assert_eq!(ours, theirs, "exploration says {theirs}: {}", shown());
    }
    println!(
        "{compared} comparisons, {bad} of them of violations, {open} open, {confirmed} proofs"
    );
    assert!(compared > count / 2 && bad > count / 8 && confirmed > count / 8);
}

/// The answer for two threads under a model.
fn of_two(name: &str, one: &str, other: &str) -> Conclusion {
    let text = format!(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\n\
         fn P0() {{\nvar r: 32\n{one}\n}}\nfn P1() {{\nvar r: 32\n{other}\n}}\n\
         thread P0 = P0()\nthread P1 = P1()\n"
    );
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let model = Model::builtin(name).expect("a model").expect("a right model");
    let tuning = Tuning { analysis: Analysis::Eager, ..Tuning::default() };
    let control = Control::lasting(Duration::from_secs(60));
    let options = abstraction::Options { control, tuning, ..Default::default() };
    abstraction::verify(&program, &model, &options).conclusion()
}

/// A thread that goes round for ever, alone or over shared memory, keeps nobody from failing.
#[test]
fn nobody_is_put_off_for_ever() {
    let fails = "assert r == 1:32, \"fails\"\nreturn";
    for round in ["", "r = load.4 &x [A, RLX]", "store.4 &x, 1:32 [A, RLX]"] {
        let forever = format!("jump again\nagain:\n{round}\njump again");
        for name in ["sc", "rc11"] {
            assert_eq!(of_two(name, &forever, fails), Conclusion::Unsafe, "{round} under {name}");
            assert_eq!(of_two(name, fails, &forever), Conclusion::Unsafe, "{round} under {name}");
        }
    }
}

/// What a thread writes before it starts another one, and what others have written by then, is there for that one, even if
/// nobody else reads it.
#[test]
fn threads_that_start_late_find_what_was_written() {
    let look = "fn look() {\nvar r: 32\nr = load.4 &x [A, RLX]\nassert r != 1:32, \"late\"\n}\n";
    let idle =
        "fn idle() {\nvar r: 32\njump again\nagain:\nr = load.4 &y [A, RLX]\njump again\n}\n";
    let pause = "jump more\nmore:\nr = load.4 &y [A, RLX]\nbranch r == 0:32, end, more\nend:\n";
    let starts = |body: &str, more: &str| {
        format!(
            "program p pointers 64\nglobal x: 4\nglobal y: 4\n{look}{idle}{more}\
             fn P0() {{\nvar r: 32, n: 32\n{body}}}\nthread P0 = P0()\nthread idle = idle()\n"
        )
    };
    let write = "store.4 &x, 1:32 [A, RLX]\n";
    let middle = format!("fn middle() {{\nvar r: 32, n: 32\n{pause}n = spawn look()\n}}\n");
    let child = starts(&format!("{write}{pause}n = spawn look()\n"), "");
    let grandchild = starts(&format!("{write}{pause}n = spawn middle()\n"), &middle);
    // Nobody comes after the second write.
    let twice = format!("{write}store.4 &x, 2:32 [A, RLX]\n{pause}n = spawn look()\n");
    let cases = [
        (child, Conclusion::Unsafe),
        (grandchild, Conclusion::Unsafe),
        (starts(&twice, ""), Conclusion::Safe),
    ];
    for (text, expected) in cases {
        let program =
            parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
        for name in ["sc", "rc11"] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let tuning = Tuning { analysis: Analysis::Eager, ..Tuning::default() };
            let control = Control::lasting(Duration::from_secs(60));
            let options = abstraction::Options { control, tuning, ..Default::default() };
            let found = abstraction::verify(&program, &model, &options);
            assert_eq!(found.conclusion(), expected, "{name}: {:?}\n{text}", found.reason);
        }
    }
}

/// Values that have no beginning are none.
#[test]
fn nothing_comes_out_of_thin_air() {
    let copy = |from: &str, to: &str| {
        format!(
            "r = load.4 &{from} [A, RLX]\nstore.4 &{to}, r [A, RLX]\nassert r == 0:32, \"thin air\"\nreturn"
        )
    };
    assert_eq!(of_two("rc11", &copy("x", "y"), &copy("y", "x")), Conclusion::Safe);
}

/// What an execution with graphs comes to under a model: the conclusion, and how many graphs were judged. None if a
/// limit was reached.
fn outcome(program: &Program, model: &Model, judge: Judge) -> Option<(Conclusion, String)> {
    let tuning = Tuning { analysis: Analysis::Eager, judge, ..Tuning::default() };
    let options = abstraction::Options {
        properties: vec![Property::Assert],
        nondet: RANGE,
        control: limits(),
        tuning,
    };
    let verdict = abstraction::verify(program, model, &options);
    let is_cut = verdict.reason.as_ref().is_some_and(|why| {
        why.message.contains("out of time") || why.message.contains("is not known")
    });
    let judged = verdict.notes.iter().find(|note| note.contains("judged"))?;
    (!is_cut).then(|| (verdict.conclusion(), judged.clone()))
}

/// All ways to judge graphs lead to the same answers, by way of the same graphs.
#[test]
fn all_ways_to_judge_lead_to_the_same() {
    let (first, count) = (asked("PARALLAX_SEED", 0), asked("PARALLAX_CASES", 150) / 10);
    let mut compared = [0, 0, 0];
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let (text, program) = program(&mut random);
        let name = random.pick(&["sc", "tso", "pso", "ra", "rc11", "rc20"]);
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let Some(usual) = outcome(&program, &model, Judge::Saturation) else { continue };
        let others = [Judge::Sat, Judge::Functions, Judge::Datalog];
        for (number, judge) in others.into_iter().enumerate() {
            let Some(other) = outcome(&program, &model, judge) else { continue };
            assert_eq!(usual, other, "seed {seed} under {name} by {judge:?}:\n{text}");
            compared[number] += 1;
        }
    }
    println!("{compared:?} compared");
    assert!(compared[0] > count / 4 && compared[1] > 0 && compared[2] > count / 8);
}

/// Atomic sections exclude one another; what may fall into one is not believed.
#[test]
fn sections_are_whole() {
    let add = |from: &str, to: &str| {
        format!("{from}r = load.4 &x [A, RLX]\nstore.4 &x, r + 1:32 [A, RLX]\n{to}")
    };
    let (begin, end) = ("atomic begin\n", "atomic end\n");
    let one = add(begin, end) + "return";
    let both = add(begin, end) + "assert r <u 2:32, \"twice\"\nreturn";
    for name in ["sc", "tso", "ra", "rc11"] {
        assert_eq!(of_two(name, &one, &both), Conclusion::Safe, "{name}");
        // It reads what the other has written.
        let late = both.replace("r <u 2:32", "r == 0:32");
        assert_eq!(of_two(name, &one, &late), Conclusion::Unsafe, "{name}");
        // Half of a section is seen from outside.
        let halves = "atomic begin\nstore.4 &x, 1:32 [A, RLX]\nstore.4 &y, 1:32 [A, RLX]\n\
                      store.4 &x, 0:32 [A, RLX]\natomic end\nreturn";
        let look = "r = load.4 &x [A, RLX]\nassert r == 0:32, \"half\"\nreturn";
        assert_eq!(of_two(name, halves, look), Conclusion::Unknown, "{name}");
    }
}

/// What nobody's assertion depends on costs nothing.
#[test]
fn memory_that_does_not_matter_is_left_out() {
    let counted = |counters: usize| {
        let mut globals = String::new();
        let mut uses = String::new();
        for number in 0..counters {
            globals += &format!("global s{number}: 4\n");
            uses += &format!("i = rmw.add.4 &s{number}, 1:32 [A, RLX] [A, RLX]\n");
        }
        let text = format!(
            "program p pointers 64\nglobal x: 4\nglobal y: 4\n{globals}\
             fn P0() {{\nvar i: 32\n{uses}store.4 &x, 1:32 [NA]\n{uses}store.4 &y, 1:32 [A, REL]\nreturn\n}}\n\
             fn P1() {{\nvar r: 32, i: 32\njump again\nagain:\n{uses}r = load.4 &y [A, ACQ]\n\
             branch r == 1:32, there, again\nthere:\nr = load.4 &x [NA]\n\
             assert r == 1:32, \"published\"\njump again\n}}\n\
             thread P0 = P0()\nthread P1 = P1()\n"
        );
        let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let model = Model::builtin("rc11").expect("a model").expect("a right model");
        let control = Control::lasting(Duration::from_secs(60));
        let options = abstraction::Options { control, ..Default::default() };
        let verdict = abstraction::verify(&program, &model, &options);
        assert_eq!(verdict.conclusion(), Conclusion::Safe, "{:?}", verdict.reason);
        verdict.counts.states
    };
    assert_eq!(counted(0), counted(3));
}

/// A thread that goes no further whatever it reads in memory that is left out keeps nobody from failing.
#[test]
fn who_stands_still_for_what_is_left_out_keeps_nobody() {
    let reads = "r = load.4 &x [A, RLX]\nassume r == 1:32\nassume r == 2:32\nreturn";
    let waits = "r = load.4 &x [A, RLX]\nwait r == 7:32\nreturn";
    let fails = "r = load.4 &y [A, RLX]\nassert r == 1:32, \"fails\"\nreturn";
    for still in [reads, waits] {
        for name in ["sc", "rc11"] {
            assert_eq!(of_two(name, still, fails), Conclusion::Unsafe, "{still} under {name}");
            assert_eq!(of_two(name, fails, still), Conclusion::Unsafe, "{still} under {name}");
        }
    }
}
