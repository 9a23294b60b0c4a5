//! Races of C under models of machines that run one access after the other.

use parallax_engine_bounded::{Options, verify};
use parallax_memory::Model;
use parallax_program::{Property, parse_program};
use parallax_verdict::Conclusion;

/// Whether one thread that does this races with another that does that.
fn race(one: &str, other: &str, model: &str) -> Conclusion {
    let text = format!(
        "program p pointers 64\nglobal x: 4\n\
         fn f() {{\nvar r: 32\n{one}\nreturn\n}}\nfn g() {{\nvar r: 32\n{other}\nreturn\n}}\n\
         thread f = f()\nthread g = g()\n"
    );
    let program = parse_program("p", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let model = Model::builtin(model).expect("a model").expect("a right model");
    let model = model.with_races_of_c().expect("a right model");
    let options = Options { properties: vec![Property::Race], ..Options::default() };
    verify(&program, &model, &options).expect("a verdict").verdict.conclusion()
}

#[test]
fn reads_race_with_writes_and_writes_with_one_another() {
    let (read, write) = ("r = load.4 &x [NA]", "store.4 &x, 1:32 [NA]");
    let (atomic_read, atomic_write) = ("r = load.4 &x [A, RLX]", "store.4 &x, 1:32 [A, RLX]");
    for model in ["tso", "pso"] {
        for (one, other) in
            [(read, write), (write, write), (atomic_read, write), (read, atomic_write)]
        {
            assert_eq!(race(one, other, model), Conclusion::Unsafe, "{one}, {other}: {model}");
        }
        for (one, other) in [(read, read), (atomic_read, atomic_write), (read, atomic_read)] {
            assert_eq!(race(one, other, model), Conclusion::Safe, "{one}, {other}: {model}");
        }
    }
}
