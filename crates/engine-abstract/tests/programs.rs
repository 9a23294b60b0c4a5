//! The programs in `examples/c-abstract`, whose verdicts are in `expected.csv` there.
//!
//! `PROGRAMS=folder` looks at another folder, and prints more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_abstract::{Options, Order, Tuning, verify};
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
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let mut wrong = Vec::new();
    for line in text.lines().skip(1) {
        let [file, verdict, ..] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("a short row: {line}");
        };
        let program = load(&[folder().join(file)], &Default::default());
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
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
        let line =
            format!("{file}: {answer}, expected {verdict} {reason:?} \n{}", found.notes.join("\n"));
        if reports_rounds {
            println!("{line} {:?}", start.elapsed());
        }
        if answer != verdict {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
