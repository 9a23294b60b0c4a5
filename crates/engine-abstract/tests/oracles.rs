//! Small programs whose answers, and what it takes to find them, are known.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::{Analysis, Domain, Options, Reduction, Tuning, verify};
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
    let control = Control::lasting(Duration::from_secs(120));
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

/// The answer for two threads under a model, by states of its machine if it has one, or by graphs.
fn of_two(name: &str, analysis: Analysis, threads: [&str; 2]) -> &'static str {
    let vars = "var a: 32, b: 32, i: 32, j: 32";
    let [one, other] = threads;
    let text = format!(
        "program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 8\n\
         fn P0() {{\n{vars}, s: 64\n{one}return\n}}\nfn P1() {{\n{vars}, s: 64\n{other}return\n}}\n\
         thread P0 = P0()\nthread P1 = P1()\n"
    );
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let model = Model::builtin(name).expect("a model").expect("a good model");
    let control = Control::lasting(Duration::from_secs(120));
    let tuning = Tuning { analysis, ..Tuning::default() };
    let found = verify(&program, &model, &Options { tuning, control, ..Options::default() });
    println!("{name} {analysis:?}: {:?} {:?}", found.conclusion(), found.reason);
    found.conclusion().name()
}

/// One thread publishes two inputs, as one of them and as their sum, another compares them: in words the sum may wrap around, in
/// numbers it does not (L. Bajczi, 2021).
#[test]
fn a_sum_is_no_less_than_its_parts_unless_it_wraps_around() {
    let begin = "a = nondet\nb = nondet\natomic begin\nstore.4 &x, a [A, RLX]\n";
    let words = format!("{begin}store.4 &y, a + b [A, RLX]\natomic end\n");
    let read = "atomic begin\ni = load.4 &y [A, RLX]\nj = load.4 &x [A, RLX]\natomic end\n";
    let compare = format!("{read}assert j <=u i, \"less\"\n");
    let sum = format!("{begin}store.8 &z, zext(a, 64) + zext(b, 64) [A, RLX]\natomic end\n");
    let read = "atomic begin\ns = load.8 &z [A, RLX]\nj = load.4 &x [A, RLX]\natomic end\n";
    let of_numbers = format!("{read}assert zext(j, 64) <=u s, \"less\"\n");
    // The halves of the section are seen in the wrong order without it.
    let apart = of_numbers.replace("atomic begin\n", "").replace("atomic end\n", "");
    for (name, analysis) in [
        ("sc", Analysis::Usual),
        ("sc", Analysis::Eager),
        ("sc", Analysis::Lazy),
        ("rc11", Analysis::Usual),
    ] {
        assert_eq!(of_two(name, analysis, [&words, &compare]), "unsafe", "{name} {analysis:?}");
        assert_eq!(of_two(name, analysis, [&sum, &of_numbers]), "safe", "{name} {analysis:?}");
        let found = of_two(name, analysis, [&sum, &apart]);
        assert!(
            found == "unsafe" || analysis != Analysis::Usual || name != "sc",
            "{name}: {found}"
        );
        assert_ne!(found, "safe", "{name} {analysis:?}");
    }
}

/// Two stores of one thread are seen in their order, or not, by two loads of another one.
#[test]
fn stores_are_seen_in_order_where_the_model_says_so() {
    let writer = "store.4 &x, 1:32 [A, RLX]\nstore.4 &y, 1:32 [A, RLX]\n";
    let reader = "i = load.4 &y [A, RLX]\nj = load.4 &x [A, RLX]\nassert i <=u j, \"overtaken\"\n";
    let plain = [writer, reader];
    let ordered = [
        writer.replace("&y, 1:32 [A, RLX]", "&y, 1:32 [A, REL]"),
        reader.replacen("RLX", "ACQ", 1),
    ];
    for (name, expected) in [("sc", "safe"), ("tso", "safe"), ("pso", "unsafe")] {
        for analysis in [Analysis::Usual, Analysis::Eager, Analysis::Lazy] {
            assert_eq!(of_two(name, analysis, plain), expected, "{name} {analysis:?}");
        }
    }
    for (name, expected) in [("ra", "safe"), ("rc11", "unsafe"), ("rc20", "unsafe")] {
        assert_eq!(of_two(name, Analysis::Usual, plain), expected, "{name}");
        assert_eq!(of_two(name, Analysis::Usual, [&ordered[0], &ordered[1]]), "safe", "{name}");
    }
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
        let control = Control::lasting(Duration::from_secs(120));
        let found = verify(&program, &memory, &Options { control, ..Options::default() });
        assert_eq!(name(&found), "unsafe", "{model}");
    }
}
