//! Random C litmus tests of many shapes: the bounded engine reaches the states that the enumeration
//! lists and no others, under models with load buffering and without. What it reaches replays.

mod common;

use common::cases;
use common::shapes::{Observed, random_test};
use parallax_engine_bounded::{Finding, Options, check};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_litmus::LitmusTest;
use parallax_memory::Model;

const MODELS: [&str; 8] = ["imm", "imm", "c11-mca", "rc11-mca", "rc11", "rc20", "ra", "sc"];
/// Whether the engines agree that the state can be reached, if it can.
fn reached(test: &LitmusTest, model: &Model) -> Result<bool, String> {
    let slow = enumerate(&test.program, &test.question, model, &Default::default());
    let slow = slow.map_err(|errors| format!("{errors:?}"))?.positive > 0;
    let fast = check(&test.program, &test.question, model, &Options::default());
    match fast.map_err(|errors| format!("{errors:?}"))?.finding {
        Finding::Unreachable { .. } if !slow => Ok(false),
        Finding::Reachable(_) if slow => Ok(true),
        Finding::Unknown(reason) => Err(format!("unknown: {}", reason.message)),
        _ => Err(format!("reachable by enumeration: {slow}, and the solver disagrees")),
    }
}

#[test]
fn the_solver_reaches_what_enumeration_lists() {
    let first = std::env::var("PARALLAX_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut compared = [0, 0];
    for seed in first..first + cases(400) {
        let (text, test) = random_test(seed, Observed::Some);
        let name = MODELS[seed as usize % MODELS.len()];
        let model = Model::builtin(name).expect("a model").expect("a right model");
        match reached(&test, &model) {
            Ok(reached) => compared[usize::from(reached)] += 1,
            Err(how) => panic!("seed {seed}, {name}: {how}\n{text}"),
        }
    }
    assert!(compared.iter().all(|count| *count > 40), "{compared:?}");
}
