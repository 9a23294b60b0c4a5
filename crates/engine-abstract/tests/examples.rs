//! The programs in `examples/c` under all models of the engine: of assertions, no other answers than
//! `expected.csv` has.
//!
//! `EXAMPLES=part-of-a-name` runs a part and prints more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_abstract::{Options, verify};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::Property;

/// More than nearly all of them need.
const PATIENCE: Duration = Duration::from_millis(1000);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

#[test]
#[ignore = "long"]
fn examples_give_the_expected_verdicts() {
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let part = std::env::var("EXAMPLES").ok();
    let is_known = |name: &str| ["sc", "tso", "pso", "ra", "rc11"].contains(&name);
    let (mut wrong, mut open, mut right) = (Vec::new(), Vec::new(), 0);
    for line in text.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        let [file, arguments, name, options, expected, property, ..] = row[..] else {
            panic!("a short row: {line}");
        };
        let is_asked = part.as_ref().is_none_or(|part| line.contains(part));
        if !is_asked || !is_known(name) {
            continue;
        }
        let model = Model::builtin(name).expect("a model").expect("a good model");
        let c = parallax_frontend_c::Options {
            clang_args: arguments.split_whitespace().map(str::to_string).collect(),
            spurious_wakeups: !options.contains("--no-spurious-wakeups"),
            ..Default::default()
        };
        let program = load(&[folder().join(file)], &c);
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        let options = Options {
            properties: vec![Property::Assert],
            control: Control::lasting(PATIENCE),
            ..Options::default()
        };
        let start = Instant::now();
        let found = verify(&program, &model, &options);
        let answer = found.conclusion().name();
        let reason = found.reason.map(|reason| reason.message);
        let told = format!("{line}: {answer} {reason:?} {:?}", start.elapsed());
        if part.is_some() {
            println!("{told} {:?}", found.notes);
        }
        let is_of_assertions = expected != "unsafe" || property == "assert";
        match answer {
            _ if reason.is_some_and(|it| it.contains("replayed") || it.contains("repeated")) => {
                wrong.push(told);
            }
            "unknown" => open.push(told),
            _ if is_of_assertions && expected != "unknown" && answer != expected => {
                wrong.push(told);
            }
            _ => right += 1,
        }
    }
    println!("{right} right; open:\n{}", open.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
