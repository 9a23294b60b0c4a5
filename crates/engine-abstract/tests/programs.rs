//! The programs in `examples/c-abstract`, whose verdicts are in `expected.csv` there.
//!
//! `PROGRAMS=folder` looks at another folder, and prints more; `MODEL=name` looks at one model.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_abstract::{Options, Order, Refinements, Tuning, verify};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::Property;

const PATIENCE: Duration = Duration::from_secs(20);

fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-abstract");
    std::env::var("PROGRAMS").map_or(own, PathBuf::from)
}

/// `ORDER=bfs` and `ORDER=err` look at states in other orders.
fn order() -> Order {
    match std::env::var("ORDER").as_deref() {
        Ok("bfs") => Order::BreadthFirst,
        Ok("err") => Order::ErrorFirst,
        _ => Order::DepthFirst,
    }
}

#[test]
fn programs_have_the_expected_verdicts() {
    let reports_rounds = std::env::var("PROGRAMS").is_ok();
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let mut lines = text.lines();
    let head = lines.next().expect("a head");
    let models: Vec<&str> = head.split(',').skip(1).filter(|it| *it != "slow").collect();
    let asked = std::env::var("MODEL").ok();
    let mut wrong = Vec::new();
    let is_long = reports_rounds || std::env::var("PARALLAX_LONG").is_ok();
    for (number, line) in lines.enumerate() {
        let mut row = line.split(',');
        let file = row.next().expect("a file");
        let program = load(&[folder().join(file)], &Default::default());
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        for (name, verdict) in models.iter().zip(row) {
            let is_slow = line.rsplit(',').next().is_some_and(|slow| slow.contains(name));
            // Half of them, and one in eight under models with store buffers.
            let every = if *name == "sc" { 2 } else { 8 };
            let is_chosen = number < 12 || (number / 2).is_multiple_of(every);
            if asked.as_ref().is_some_and(|asked| asked != name)
                || !is_long && (is_slow || !is_chosen)
            {
                continue;
            }
            let model = Model::builtin(name).expect("a model").expect("a good model");
            let options = Options {
                properties: vec![Property::Assert],
                control: Control::lasting(PATIENCE),
                tuning: Tuning { reports_rounds, order: order(), ..Tuning::default() },
                ..Options::default()
            };
            let start = Instant::now();
            let found = verify(&program, &model, &options);
            let answer = found.conclusion().name();
            let reason = found.reason.map(|reason| reason.message);
            let notes = found.notes.join("\n");
            let line =
                format!("{file} under {name}: {answer}, expected {verdict} {reason:?} \n{notes}");
            if reports_rounds {
                println!("{line} {:?}", start.elapsed());
            }
            if answer != verdict {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What two threads have stored is compared by way of an input that both bound.
#[test]
fn inputs_between_two_bounds_are_no_end_of_refinement() {
    let program = load(&[folder().join("not-largest.c")], &Default::default()).expect("a program");
    for name in ["sc", "tso", "pso"] {
        let model = Model::builtin(name).expect("a model").expect("a good model");
        let options = Options { control: Control::lasting(PATIENCE), ..Options::default() };
        let found = verify(&program, &model, &options);
        assert_eq!(found.conclusion().name(), "unsafe", "{name}: {:?}", found.reason);
    }
}

#[test]
fn conditions_are_kept_together_where_they_do_not_suffice_one_by_one() {
    let program = load(&[folder().join("votes.c")], &Default::default()).expect("a program");
    let model = Model::builtin("tso").expect("a model").expect("a good model");
    let tuning = Tuning { reports_rounds: true, ..Tuning::default() };
    let control = Control::lasting(PATIENCE);
    let found = verify(&program, &model, &Options { control, tuning, ..Options::default() });
    assert_eq!(found.conclusion().name(), "safe", "{:?}", found.reason);
    let is_told = |note: &String| note.contains("states that differ in a condition are kept apart");
    assert!(found.notes.iter().any(is_told), "{:?}", found.notes);
}

/// Failures that are reached in one round may have the same reason.
#[test]
fn one_reason_for_several_failures_is_no_end_of_refinement() {
    let program = load(&[folder().join("bounded-counter.c")], &Default::default());
    let program = program.expect("a program");
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let tuning = Tuning { refinement: Refinements::All, ..Tuning::default() };
    let control = Control::lasting(PATIENCE);
    let found = verify(&program, &model, &Options { control, tuning, ..Options::default() });
    assert_eq!(found.conclusion().name(), "safe", "{:?}", found.reason);
}
