//! The bounded engine and the exploration give the same verdicts on the examples.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_control::Control;
use parallax_engine_bounded::{Options, verify};
use parallax_frontend_c::load;
use parallax_machine::settle_retries;
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::{Conclusion, Scope};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// One line of the list: what exploration answers.
struct Expected {
    file: String,
    model: String,
    verdict: String,
    property: String,
    /// Whether leaks are looked for, too.
    all: bool,
}

impl Expected {
    fn name(&self) -> String {
        format!("{},{}{}", self.file, self.model, if self.all { ",all" } else { "" })
    }
}

fn expected() -> Vec<Expected> {
    let text = std::fs::read_to_string(examples().join("expected.csv")).expect("a list");
    let mut all = Vec::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let leaks = fields[3] == "--property all";
        if fields[1].is_empty() && (fields[3].is_empty() || leaks) && fields[4] != "unknown" {
            let [file, model, verdict, property] = [0, 2, 4, 5].map(|at| fields[at].to_string());
            all.push(Expected { file, model, verdict, property, all: leaks });
        }
    }
    all
}

/// How the answer differs; the time that it took is printed.
fn difference(expected: &Expected, unroll: Option<u32>) -> Result<Option<String>, String> {
    let started = Instant::now();
    let clang = parallax_frontend_c::Options {
        overflow: true,
        spurious_wakeups: true,
        ..Default::default()
    };
    let mut program =
        load(&[examples().join(&expected.file)], &clang).map_err(|error| error[0].to_string())?;
    settle_retries(&mut program, true);
    let model = Model::builtin(&expected.model).expect("a model").expect("a right model");
    let options = Options {
        unroll,
        properties: Property::ALL
            .into_iter()
            .filter(|property| expected.all || *property != Property::Leak)
            .collect(),
        control: Control::lasting(Duration::from_secs(30)),
        ..Options::default()
    };
    let verified = verify(&program, &model, &options).map_err(|error| error[0].to_string())?;
    let verdict = &verified.verdict;
    let found: Vec<&str> = verdict.violations.iter().map(|v| v.property.name()).collect();
    let scope = match verdict.scope {
        Some(Scope::Complete) => "complete".to_string(),
        Some(Scope::Bounded(bound)) => format!("up to {bound}"),
        Some(Scope::Restricted) => "restricted".to_string(),
        None => String::new(),
    };
    let reason = verdict.reason.as_ref().map_or("", |reason| reason.message.as_str());
    let (name, figures) = (verdict.conclusion().name(), verified.figures);
    println!(
        "{} {} {name} {scope} {found:?} {reason} | {} events, encoded in {:.2} s, solved in {:.2} s, {:.2} s in all",
        expected.file,
        expected.model,
        figures.events,
        figures.encoding.as_secs_f64(),
        figures.solving.as_secs_f64(),
        started.elapsed().as_secs_f64(),
    );
    Ok(match verdict.conclusion() {
        Conclusion::Unknown => None,
        _ if name != expected.verdict => Some(format!("{name}, not {}", expected.verdict)),
        _ => None,
    })
}

/// Those that stand for the others.
const FEW: [&str; 15] = [
    "ttas-lock.c,rc11",
    "ttas-lock-relaxed.c,pso",
    "mcs-lock.c,tso",
    "clh-lock.c,imm",
    "clh-lock-reuse.c,sc",
    "recursive-spinlock.c,rc11",
    "two-locks-deadlock.c,tso",
    "double-free.c,rc11",
    "message-passing.c,ra",
    "division-by-zero.c,sc",
    "leak.c,tso,all",
    "keys-leak.c,rc11,all",
    "two-observers.c,rc11",
    "out-of-bounds.c,rc11",
    "chase-lev-deque.c,tso",
];

#[test]
fn some_examples_have_the_same_verdicts() {
    let mut compared = 0;
    for line in expected() {
        let name = line.name();
        if FEW.contains(&name.as_str()) {
            compared += 1;
            assert_eq!(difference(&line, None), Ok(None), "{name}");
        }
    }
    assert_eq!(compared, FEW.len());
}

#[test]
#[ignore = "all of them take long"]
fn all_examples_have_the_same_verdicts() {
    let only = std::env::var("PARALLAX_ONLY").unwrap_or_default();
    let mut differ = Vec::new();
    for line in expected() {
        let name = line.name();
        if !name.contains(&only) {
            continue;
        }
        match difference(&line, None) {
            Ok(None) => {}
            Ok(Some(how)) => differ.push(format!("{name}: {how} ({})", line.property)),
            Err(error) => differ.push(format!("{name}: {error}")),
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
