//! What machines do with compiled C is allowed by the models of C on multi-copy-atomic machines, and
//! what these allow, by the models of C alone: final states of random tests, by enumeration.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::cases;
use common::shapes::{Observed, random_test};
use parallax_engine_bounded::{Machine, compile};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_litmus::{LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::Program;
use parallax_verdict::Ending;

/// As text.
type States = BTreeSet<String>;

/// Of a program in C; compiled, if the model is one of a machine that C is compiled for.
fn states(test: &LitmusTest, name: &str) -> States {
    known_states(test, name).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same of tests that a machine may not have, or that do not end.
fn known_states(test: &LitmusTest, name: &str) -> Result<States, String> {
    let model = Model::builtin(name).expect("a model").expect("a right model");
    let machine = Machine::of_model(&model);
    let compiled = machine.map(|machine| compile(&test.program, machine)).transpose();
    let compiled: Option<Program> = compiled.map_err(|error| error.to_string())?;
    let program = compiled.as_ref().unwrap_or(&test.program);
    let outcomes = enumerate(program, &test.question, &model, &Default::default());
    let outcomes = outcomes.map_err(|errors| format!("{errors:?}"))?;
    if !matches!(outcomes.ending, Ending::Complete) {
        return Err(format!("{:?}", outcomes.ending));
    }
    Ok(outcomes.states.iter().map(|state| format!("{:?}", state.values)).collect())
}

/// Each allows no more than the next.
const CHAINS: [&[&str]; 6] = [
    &["sc", "rc11-mca", "rc11"],
    &["tso", "c11-mca", "c11"],
    &["tso", "pso", "rc11-mca"],
    &["pso", "c11-mca"],
    &["aarch64", "c11-mca"],
    &["riscv", "c11-mca"],
];

#[test]
fn machines_do_no_more_than_the_models_of_c_and_machines() {
    let first = std::env::var("PARALLAX_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut smaller = [0; CHAINS.len()];
    for seed in first..first + cases(300) {
        let (text, test) = random_test(seed, Observed::All);
        for (number, chain) in CHAINS.iter().enumerate() {
            let all: Vec<States> = chain.iter().map(|name| states(&test, name)).collect();
            for (pair, names) in all.windows(2).zip(chain.windows(2)) {
                let more: Vec<&String> = pair[0].difference(&pair[1]).collect();
                assert!(more.is_empty(), "seed {seed}: {names:?}: {more:?}\n{text}");
                smaller[number] += usize::from(pair[0].len() < pair[1].len());
            }
        }
    }
    // What C leaves to machines that are not multi-copy atomic; and store buffers keep more than C asks.
    assert!(smaller[..2].iter().all(|count| *count > 5), "{smaller:?}");
}

#[test]
fn classic_tests_do_no_more_either() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/c11");
    let entries = std::fs::read_dir(folder).expect("the corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let mut compared = [0; CHAINS.len()];
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "litmus")) {
        let text = std::fs::read_to_string(file).expect("a text");
        let test = parse(&file.display().to_string(), &text);
        let test = test.unwrap_or_else(|errors| panic!("{}", errors[0]));
        for (number, chain) in CHAINS.iter().enumerate() {
            let all: Result<Vec<States>, String> =
                chain.iter().map(|name| known_states(&test, name)).collect();
            let Ok(all) = all else { continue };
            for (pair, names) in all.windows(2).zip(chain.windows(2)) {
                let more: Vec<&String> = pair[0].difference(&pair[1]).collect();
                assert!(more.is_empty(), "{}: {names:?}: {more:?}", test.name);
            }
            compared[number] += 1;
        }
    }
    assert!(compared.iter().all(|count| *count > 30), "{compared:?}");
}
