//! Random programs: the reduction loses no final state, and the machines agree with the models.

mod common;

#[path = "common/random.rs"]
mod random;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{MACHINES, finals, globals, program, question, registers};
use parallax_engine_enumerate::enumerate;
use parallax_engine_states::Reduction;
use parallax_machine::system::MemoryKind;
use parallax_memory::Model;
use parallax_program::{Place, Program};
use random::{Random, Style, body};

/// How many programs are tried; more when asked for.
fn cases(usual: u64) -> u64 {
    let asked = std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok());
    asked.unwrap_or(usual)
}

fn first() -> u64 {
    let asked = std::env::var("PARALLAX_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.unwrap_or(0)
}

fn bodies(random: &mut Random, style: Style) -> Vec<String> {
    let (threads, statements) = match random.below(4) {
        0 => (2, 5),
        1 => (4, 2),
        _ => (3, 3),
    };
    (0..threads).map(|_| body(random, style, statements)).collect()
}

#[test]
fn the_reduction_loses_no_final_state() {
    let (mut all_states, mut reduced_states) = (0, 0);
    for seed in first()..first() + cases(1500) {
        let mut random = Random::new(seed);
        let styles = [Style::Straight, Style::Bytes, Style::Loops, Style::Objects];
        let style = styles[seed as usize % 4];
        let bodies = bodies(&mut random, style);
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let program = program(&["x", "y", "l"], &bodies);
        let observed = registers(&program);
        for memory in MACHINES {
            let places = globals(&program);
            let (all, counts) = finals(&program, memory, Reduction::None, &observed, &places);
            all_states += counts.states;
            let (reduced, counts) = finals(&program, memory, Reduction::Order, &observed, &places);
            reduced_states += counts.states;
            let shown = || format!("seed {seed}, {memory:?}:\n{}", bodies.join("\n--\n"));
            // Spawned threads are numbered in the order in which a search finds them.
            if style != Style::Objects {
                assert_eq!(all.fingerprints, reduced.fingerprints, "{}", shown());
            }
            assert_eq!(all.fingerprints.len(), reduced.fingerprints.len(), "{}", shown());
            assert_eq!((all.values, all.blocked), (reduced.values, reduced.blocked), "{}", shown());
            assert_eq!(all.has_trap, reduced.has_trap, "{}", shown());
        }
    }
    println!("{all_states} states, {reduced_states} with the reduction");
    assert!(reduced_states <= all_states);
}

fn model(memory: MemoryKind) -> Arc<Model> {
    Model::builtin(memory.name()).expect("a model").expect("a right model")
}

/// All final values, by enumeration of executions under the model's cat file.
fn enumerated(program: &Program, memory: MemoryKind, places: &[Place]) -> BTreeSet<Vec<u128>> {
    let question = question(places);
    let outcomes = enumerate(program, &question, &model(memory), &Default::default());
    let outcomes = outcomes.unwrap_or_else(|errors| panic!("{errors:?}"));
    let values = |state: &parallax_verdict::FinalState| {
        state.values.iter().map(|value| value.bits.unsigned()).collect()
    };
    outcomes.states.iter().map(values).collect()
}

#[test]
fn the_machines_agree_with_the_models() {
    for seed in first()..first() + cases(300) {
        let mut random = Random::new(seed + 1_000_000);
        let style = if seed % 3 == 0 { Style::Bytes } else { Style::Straight };
        let bodies: Vec<String> = (0..2 + seed % 2).map(|_| body(&mut random, style, 3)).collect();
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let program = program(&["x", "y"], &bodies);
        let observed = registers(&program);
        let variable = |(thread, var): &(u32, parallax_program::VarId)| Place::Variable {
            thread: *thread,
            var: *var,
            width: 32,
        };
        let places: Vec<Place> = observed.iter().map(variable).chain(globals(&program)).collect();
        for memory in MACHINES {
            let expected = enumerated(&program, memory, &places);
            let (found, _) = finals(&program, memory, Reduction::Order, &observed, &places);
            let shown = || format!("seed {seed}, {memory:?}:\n{}", bodies.join("\n--\n"));
            assert_eq!(found.values, expected, "{}", shown());
        }
    }
}
