//! Small programs whose answers, and what it takes to find them, are known.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::{Domain, Options, Reduction, Tuning, verify};
use parallax_memory::Model;
use parallax_program::parse_program;
use parallax_verdict::Verdict;

fn answer(body: &str, tuning: Tuning) -> Verdict {
    let text = format!(
        "program p pointers 64\nfn main() {{\nvar i: 32, j: 32, k: 32, r: 32\n{body}\n}}\n\
         thread main = main()\n"
    );
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let control = Control::lasting(Duration::from_secs(30));
    verify(&program, &model, &Options { tuning, control, ..Options::default() })
}

fn name(verdict: &Verdict) -> &'static str {
    println!("{:?} {:?} {:?}", verdict.conclusion(), verdict.reason, verdict.notes);
    verdict.conclusion().name()
}

/// What is divided by is zero for one input alone, after all rounds of a loop.
fn division(rounds: u32, but: i32) -> String {
    let but = but as u32;
    format!(
        "k = nondet\nassume k != {but}:32\ni = 2:32\nj = k + 5:32\njump loop\nloop:\n\
         branch i <s {rounds}:32, body, end\nbody:\ni = i + 1:32\nj = j + 3:32\njump loop\nend:\n\
         assert i != j, \"division by zero\""
    )
}

#[test]
fn one_input_of_all() {
    let usual = Tuning::default;
    assert_eq!(name(&answer(&division(10, 0), usual())), "unsafe");
    assert_eq!(name(&answer(&division(10, -19), usual())), "safe");
    assert_eq!(name(&answer(&division(100, 0), usual())), "unsafe");
}

/// Two conditions that exclude one another, with a step between them.
#[test]
fn one_predicate_is_enough() {
    let body = "i = nondet\nbranch i <s 5:32, less, end\nless:\nr = 1:32\n\
                branch 6:32 <s i, more, end\nmore:\nassert r != r, \"both\"\nend:";
    let tuning = Tuning { reduction: Reduction::Naive, ..Tuning::default() };
    let found = answer(body, Tuning { domain: Domain::Predicates, ..tuning });
    assert_eq!(name(&found), "safe");
    assert!(found.notes.iter().any(|note| note.contains(" 1 predicates")), "{:?}", found.notes);
    // No value of it says so.
    let found = answer(body, Tuning { domain: Domain::Explicit, most_values: 4, ..tuning });
    assert_eq!(name(&found), "unknown");
}

/// A part of an object that another thread is the first to use.
#[test]
fn what_nobody_has_written_is_anything() {
    let text = "program p pointers 64\nglobal q: 8\n\
                fn P0() {\nvar p: 64\np = alloc.heap 8:64 align 8\nstore.4 p, 1:32 [NA]\nstore.8 &q, p [A, SC]\n}\n\
                fn P1() {\nvar p: 64, r: 32\np = load.8 &q [A, SC]\nbranch p == 0:64, end, there\nthere:\n\
                r = load.4 p + 4:64 [NA]\nassert r != 2:32, \"found\"\nend:\n}\n\
                thread P0 = P0()\nthread P1 = P1()\n";
    let program = parse_program("p", text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    for model in ["sc", "tso", "pso", "rc11"] {
        let memory = Model::builtin(model).expect("a model").expect("a good model");
        let control = Control::lasting(Duration::from_secs(30));
        let found = verify(&program, &memory, &Options { control, ..Options::default() });
        assert_eq!(name(&found), "unsafe", "{model}");
    }
}
