//! The programs in `examples/c` under sequential consistency: no other answers than `expected.csv` has,
//! and few of them unknown.
//!
//! `EXAMPLES=part-of-a-name` runs a part and prints more.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_symbolic::{Options, search};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::Verdict;

/// More than nearly all of them need.
const PATIENCE: Duration = Duration::from_millis(1000);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

fn verify(row: &[&str], all: bool) -> Verdict {
    let [file, arguments, model, options, ..] = row else {
        panic!("a short row: {row:?}");
    };
    let mut asked = Options { control: Control::lasting(PATIENCE), all, ..Options::default() };
    let mut spurious_wakeups = true;
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--no-spurious-wakeups" => spurious_wakeups = false,
            "--property" => {
                let name = words.next().expect("a property");
                let named = Property::named(name).map(|property| vec![property]);
                asked.properties = named.unwrap_or_else(|| Property::ALL.to_vec());
            }
            other => panic!("unknown option {other}"),
        }
    }
    let overflow = asked.properties.contains(&Property::Overflow);
    let clang_args = arguments.split_whitespace().map(str::to_string).collect();
    let c = parallax_frontend_c::Options {
        clang_args,
        spurious_wakeups,
        overflow,
        ..Default::default()
    };
    let program =
        load(&[folder().join(file)], &c).unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
    let model = Model::builtin(model).expect("a model").expect("a good model");
    search(&program, &model, &asked)
}

#[test]
#[ignore = "long"]
fn examples_give_the_expected_verdicts() {
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let part = std::env::var("EXAMPLES").ok();
    let (mut wrong, mut open, mut right) = (Vec::new(), Vec::new(), 0);
    for line in text.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        let (model, verdict, property) = (row[2], row[4], row[5]);
        let is_asked = part.as_ref().is_none_or(|part| line.contains(part));
        if !is_asked || model != "sc" {
            continue;
        }
        let start = Instant::now();
        let found = verify(&row, false);
        let first = found.violations.first().map(|violation| violation.property.name());
        let answer = found.conclusion().name();
        let reason = found.reason.map(|reason| reason.message);
        let said = format!("{line}: {answer} {first:?} {reason:?} {:?}", start.elapsed());
        if part.is_some() {
            println!("{said} {:?} {:?}", found.counts, found.notes);
        }
        match answer {
            _ if reason.is_some_and(|it| it.contains("replayed") || it.contains("repeated")) => {
                wrong.push(said);
            }
            "unknown" if verdict != "unknown" => open.push(said),
            _ if answer != verdict => wrong.push(said),
            // Where there are several errors, another one may be the first.
            "unsafe" if first != Some(property) => {
                let all = verify(&row, true).violations;
                match all.iter().any(|violation| violation.property.name() == property) {
                    true => right += 1,
                    false => open.push(said),
                }
            }
            _ => right += 1,
        }
    }
    println!("{right} right; open:\n{}", open.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(part.is_some() || open.len() < right, "{} open", open.len());
}
