//! The fast enumeration agrees with the slow one, on random programs and every kind of model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use parallax_memory::Model;
use parallax_program::{Bits, Prop, Question};
use parallax_verdict::{Confirmed, Ending, EventKind, Execution, Outcomes, replay};

use crate::random::{
    Dialect, Statement, build, threads, threads_with_halves, threads_with_pointers,
};
use crate::{Coherence, Options, enumerate, reference};

const X86: Dialect =
    Dialect { plain: &[], strong_load: &[], strong_store: &[], fence: &["MFENCE"] };
const AARCH64: Dialect =
    Dialect { plain: &[], strong_load: &["A"], strong_store: &["L"], fence: &["DMB.SY"] };
const RISCV: Dialect =
    Dialect { plain: &[], strong_load: &["Acq"], strong_store: &["Rel"], fence: &["Fence.rw.rw"] };
const POWER: Dialect =
    Dialect { plain: &[], strong_load: &[], strong_store: &[], fence: &["LWSYNC"] };
const C11: Dialect = Dialect {
    plain: &["A", "RLX"],
    strong_load: &["A", "ACQ"],
    strong_store: &["A", "SC"],
    fence: &["SC"],
};

const MODELS: [(&str, Dialect); 9] = [
    ("sc", X86),
    ("tso", X86),
    ("pso", X86),
    ("rmo", X86),
    ("aarch64", AARCH64),
    ("riscv", RISCV),
    ("power", POWER),
    ("c11", C11),
    ("rc11", C11),
];

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a built-in model").expect("a model without errors")
}

fn counts(outcomes: &Outcomes) -> BTreeMap<Vec<Bits>, u64> {
    let state = |state: &parallax_verdict::FinalState| {
        (state.values.iter().map(|value| value.bits).collect(), state.executions)
    };
    outcomes.states.iter().map(state).collect()
}

fn agree(statements: &[Vec<Statement>], name: &str, dialect: Dialect) {
    let model = model(name);
    let (program, question) = build(statements, dialect);
    let expected = reference::states(&program, &question, &model);
    let run = |coherence| {
        let options = Options { coherence, witnesses: 5, ..Options::default() };
        enumerate(&program, &question, &model, &options).expect("a supported program")
    };
    let total = run(Coherence::Total);
    assert_eq!(total.ending, Ending::Complete);
    assert_eq!(counts(&total), expected, "{name}: {statements:?}");
    let needed = run(Coherence::Needed);
    let states = |counts: BTreeMap<Vec<Bits>, u64>| counts.into_keys().collect::<Vec<_>>();
    assert_eq!(states(counts(&needed)), states(expected), "{name}: {statements:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn with_the_product_enumeration(statements in threads(), which in 0..MODELS.len()) {
        let (name, dialect) = MODELS[which];
        agree(&statements, name, dialect);
    }

    #[test]
    fn where_addresses_depend_on_reads(
        statements in threads_with_pointers(),
        which in 0..MODELS.len(),
    ) {
        let (name, dialect) = MODELS[which];
        agree(&statements, name, dialect);
    }

    #[test]
    fn where_accesses_of_two_sizes_meet(statements in threads_with_halves()) {
        agree(&statements, "aarch64", AARCH64);
    }
}

#[test]
fn on_store_buffering() {
    let thread = |mine, other| {
        vec![
            Statement::Store { location: mine, value: 1, strong: false },
            Statement::Load { location: other, register: 0, strong: false },
        ]
    };
    let statements = [thread(0, 1), thread(1, 0)];
    for (name, dialect) in MODELS {
        agree(&statements, name, dialect);
    }
    let (program, question) = build(&statements, X86);
    let states = |name| {
        let outcomes = enumerate(&program, &question, &model(name), &Options::default());
        outcomes.expect("a supported program").states.len()
    };
    assert_eq!((states("sc"), states("tso")), (3, 4));
}

#[test]
fn the_replayer_refuses_what_is_not_an_execution() {
    let thread = |mine, other| {
        vec![
            Statement::Store { location: mine, value: 1, strong: false },
            Statement::Load { location: other, register: 0, strong: false },
            Statement::Fake { location: mine, register: 0 },
        ]
    };
    let (program, question) = build(&[thread(0, 1), thread(1, 0)], X86);
    let options = Options { witnesses: 1_000, ..Options::default() };
    let tso = model("tso");
    let outcomes = enumerate(&program, &question, &tso, &options).expect("a supported program");
    let buffered = |execution: &&Confirmed<Execution>| {
        let registers = execution.final_state.iter().filter(|value| value.name.ends_with(":r0"));
        registers.clone().count() == 2 && registers.clone().all(|value| value.bits.is_zero())
    };
    let confirmed = outcomes.witnesses.iter().find(buffered).expect("allowed").clone();
    let execution = confirmed.clone().into_inner();
    let refused = |execution: &Execution, name: &str| {
        let replayed = replay(&program, &question, execution.clone(), &model(name));
        replayed.expect_err("refused")
    };

    assert_eq!(replay(&program, &question, execution.clone(), &tso), Ok(confirmed));
    assert!(refused(&execution, "sc").contains("forbids"));

    let mut other = execution.clone();
    other.data.clear();
    assert!(refused(&other, "tso").contains("data"));

    let mut other = execution.clone();
    other.co.pop();
    assert!(refused(&other, "tso").contains("order"));

    let mut other = execution.clone();
    other.rf.swap_remove(0);
    assert!(refused(&other, "tso").contains("source"));

    let mut other = execution.clone();
    for event in &mut other.events {
        if let EventKind::Read { value, .. } = &mut event.kind {
            *value = Bits::new(32, 1);
        }
    }
    other.final_state.clear();
    assert!(refused(&other, "tso").contains("source"));

    let mut other = execution.clone();
    other.events.pop();
    assert!(refused(&other, "tso").contains("more events"));

    let mut other = execution.clone();
    other.po.pop();
    assert!(refused(&other, "tso").contains("program order"));

    let mut other = execution.clone();
    for event in &mut other.events {
        if let (None, EventKind::Write { value, .. }) = (event.thread, &mut event.kind) {
            *value = Bits::new(32, 1);
        }
    }
    assert!(refused(&other, "tso").contains("from the start"));

    let mut other = execution.clone();
    other.events[2].place = other.events[3].place.clone();
    assert!(refused(&other, "tso").contains("another instruction"));

    for at in 0..execution.final_state.len() {
        let mut other = execution.clone();
        other.final_state[at].bits = Bits::new(32, 77);
        assert!(refused(&other, "tso").contains("in the end"), "{}", other.final_state[at].name);
    }

    let never = Question { prop: Prop::Not(Box::new(question.prop.clone())), ..question.clone() };
    let refused = replay(&program, &never, execution.clone(), &tso).expect_err("another question");
    assert!(refused.contains("none that is asked for"), "{refused}");
    let never = Question { filter: Some(Prop::False), ..question.clone() };
    assert!(replay(&program, &never, execution, &tso).is_err());
}

#[test]
fn the_replayer_finds_what_was_picked() {
    let load = |location| Statement::Load { location, register: 0, strong: false };
    let first = vec![
        load(0),
        Statement::Select { register: 0 },
        Statement::Fake { location: 1, register: 1 },
    ];
    let second = vec![load(1), Statement::Store { location: 0, value: 1, strong: true }];
    let (program, question) = build(&[first, second], AARCH64);
    let options = Options { witnesses: 1_000, ..Options::default() };
    let run = |name: &str| {
        let found = enumerate(&program, &question, &model(name), &options);
        found.expect("a supported program").witnesses
    };
    // The store that is picked waits for the load, which only one of the two models knows.
    let (strong, weak) = (run("aarch64"), run("rmo"));
    assert_eq!((strong.len(), weak.len()), (3, 4));
    let allowed = |execution: &&Confirmed<Execution>| {
        let execution = Execution::clone(execution);
        replay(&program, &question, execution, &model("aarch64")).is_ok()
    };
    assert_eq!(strong.iter().filter(allowed).count(), 3);
    assert_eq!(weak.iter().filter(allowed).count(), 3);
}
