//! The programs in `examples/c` under the models that have a machine: the same answers as
//! `expected.csv` has, which the exploring engine gives.
//!
//! `EXAMPLES=part-of-a-name` runs a part and prints more.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_states::{Options, search};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::{Conclusion, Verdict};

/// No example takes nearly as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs, each read once.
type Loaded = HashMap<(String, String, bool, bool), Program>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// Verdict and property of a row, where the engine is to give an answer.
fn verify(row: &[&str], all: bool, loaded: &mut Loaded) -> Verdict {
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
                asked.properties = named.unwrap_or_else(|| Options::PROPERTIES.to_vec());
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
    let key = (file.to_string(), arguments.to_string(), spurious_wakeups, overflow);
    let program = loaded.entry(key).or_insert_with(|| {
        load(&[folder().join(file)], &c).unwrap_or_else(|errors| panic!("{file}: {}", errors[0]))
    });
    let model = Model::builtin(model).expect("a model").expect("a good model");
    search(program, &model, &asked).unwrap_or_else(|errors| panic!("{file}: {}", errors[0]))
}

fn has(verdict: &Verdict, property: &str) -> bool {
    verdict.violations.iter().any(|violation| violation.property.name() == property)
}

#[test]
fn examples_give_the_expected_verdicts() {
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let part = std::env::var("EXAMPLES").ok();
    let (mut wrong, mut loaded) = (Vec::new(), Loaded::new());
    for line in text.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        let (model, verdict, property) = (row[2], row[4], row[5]);
        let is_asked = part.as_ref().is_none_or(|part| line.contains(part));
        if !is_asked || !["sc", "tso", "pso"].contains(&model) {
            continue;
        }
        let start = Instant::now();
        let found = verify(&row, false, &mut loaded);
        let first = found.violations.first().map(|violation| violation.property.name());
        let answer = found.conclusion().name();
        if part.is_some() {
            println!("{line}: {answer} {first:?} {:?} {:?}", found.counts, start.elapsed());
        }
        // Races are no notion of the machines.
        let is_fine = match property {
            "race" => found.conclusion() != Conclusion::Unknown,
            // Where there are several errors, another one may be the first.
            _ if answer == "unsafe" && verdict == "unsafe" => {
                has(&verify(&row, true, &mut loaded), property)
            }
            _ => answer == verdict,
        };
        if !is_fine {
            let message = found.violations.first().map(|violation| violation.message.clone());
            let reason = found.reason.map(|reason| reason.message);
            wrong.push(format!(
                "{line}: {answer} {first:?} {message:?} {reason:?} {:?}",
                start.elapsed()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
