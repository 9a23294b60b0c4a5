//! Classic tests of x86: the machines and the cat files allow the same final states.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{MACHINES, finals};
use parallax_engine_enumerate::enumerate;
use parallax_engine_states::{Options, Reduction, search};
use parallax_frontend_litmus::{LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::{Place, VarId};
use parallax_verdict::{Conclusion, Ending, FinalState};

fn tests() -> Vec<LitmusTest> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/x86");
    let entries = std::fs::read_dir(folder).expect("the corpus");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let litmus = files.iter().filter(|file| file.extension().is_some_and(|end| end == "litmus"));
    let read = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).expect("a text");
        parse(&file.display().to_string(), &text).unwrap_or_else(|errors| panic!("{}", errors[0]))
    };
    litmus.map(read).collect()
}

#[test]
fn the_corpus_has_the_same_final_states() {
    let tests = tests();
    assert!(tests.len() > 20);
    for test in &tests {
        let shown: Vec<Place> =
            test.question.shown().iter().map(|observable| observable.place.clone()).collect();
        let variable = |place: &Place| match place {
            Place::Variable { thread, var, .. } => Some((*thread, *var)),
            Place::Memory { .. } => None,
        };
        let observed: Vec<(u32, VarId)> = shown.iter().filter_map(variable).collect();
        for memory in MACHINES {
            let model = Model::builtin(memory.name()).expect("a model").expect("a right model");
            let outcomes = enumerate(&test.program, &test.question, &model, &Default::default());
            let outcomes = outcomes.unwrap_or_else(|errors| panic!("{}", errors[0]));
            if test.question.filter.is_some() || outcomes.ending != Ending::Complete {
                continue;
            }
            let values = |state: &FinalState| {
                state.values.iter().map(|value| value.bits.unsigned()).collect::<Vec<u128>>()
            };
            let expected: BTreeSet<Vec<u128>> = outcomes.states.iter().map(values).collect();
            let (found, _) = finals(&test.program, memory, Reduction::Order, &observed, &shown);
            assert_eq!(found.values, expected, "{} {memory:?}", test.name);
        }
    }
}

#[test]
fn what_can_be_reached_is_shown() {
    for test in tests() {
        for memory in MACHINES {
            let model = Model::builtin(memory.name()).expect("a model").expect("a right model");
            let outcomes = enumerate(&test.program, &test.question, &model, &Default::default());
            let outcomes = outcomes.unwrap_or_else(|errors| panic!("{}", errors[0]));
            let question = Some(test.question.clone());
            let options = Options { question, ..Options::default() };
            let verdict = search(&test.program, &model, &options).expect("a verdict");
            let expected = match outcomes.positive {
                0 => Conclusion::Safe,
                _ => Conclusion::Unsafe,
            };
            assert_eq!(
                verdict.conclusion(),
                expected,
                "{} {memory:?} {:?}",
                test.name,
                verdict.reason
            );
        }
    }
}
