//! What machines do with compiled C is allowed by the models of C on multi-copy-atomic machines, and
//! what these allow, by the models of C alone: final states of random tests, by enumeration.

mod common;

use std::collections::BTreeSet;

use common::cases;
use common::shapes::{Observed, random_test};
use parallax_engine_bounded::{Machine, compile};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::Model;
use parallax_program::Program;
use parallax_verdict::Ending;

/// As text.
type States = BTreeSet<String>;

/// Of a program in C; compiled, if the model is one of a machine that C is compiled for.
fn states(test: &LitmusTest, name: &str) -> States {
    let model = Model::builtin(name).expect("a model").expect("a right model");
    let compiled: Option<Program> = Machine::of_model(&model)
        .map(|machine| compile(&test.program, machine).expect("a program"));
    let program = compiled.as_ref().unwrap_or(&test.program);
    let outcomes = enumerate(program, &test.question, &model, &Default::default());
    let outcomes = outcomes.unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    assert!(matches!(outcomes.ending, Ending::Complete), "{name}: {:?}", outcomes.ending);
    outcomes.states.iter().map(|state| format!("{:?}", state.values)).collect()
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
