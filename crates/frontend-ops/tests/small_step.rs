//! Lowered structures end in the same states, under sequential consistency, as the small-step
//! semantics says: a slow interpreter of the trees, after P. Maleehuan's dissertation, section
//! 3.2.4, with all interleavings.

use crate::common;
use crate::reference;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::{condition, element, exp, instr, move_operation, op, structures};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_ops::syntax::{
    Comparison, Condition, Element, ElementKind, Ex, Exp, Mark, OpKind, Place, Structures, Target,
};
use parallax_frontend_ops::{Judging, lower};
use parallax_memory::Model;
use parallax_program::{AccessSize, GlobalId, Observable, Program, Property, VarId};
use parallax_verdict::Conclusion;
use proptest::prelude::*;
use reference::{Final, finals};

fn sc() -> Arc<Model> {
    Model::builtin("sc").expect("the model is there").expect("it is a model")
}

/// Everything that a final state has: named variables and memory.
fn observables(program: &Program) -> Vec<Observable> {
    let mut all = Vec::new();
    for (thread, function) in program.functions.iter().enumerate() {
        for (number, var) in function.vars.iter().enumerate() {
            if !var.name.starts_with('%') {
                let (var_id, width) = (VarId(number as u32), var.width);
                let place =
                    parallax_program::Place::Variable { thread: thread as u32, var: var_id, width };
                let name = format!("{thread}:{}", var.name);
                all.push(Observable { name, place, signed: false });
            }
        }
    }
    for (number, global) in program.globals.iter().enumerate() {
        let place = parallax_program::Place::Memory {
            global: GlobalId(number as u32),
            offset: 0,
            size: AccessSize::WORD,
        };
        all.push(Observable { name: global.name.clone(), place, signed: false });
    }
    all
}

/// Final states by enumeration: values by name, and whether an assertion has failed.
fn enumerated(structures: &Structures) -> BTreeSet<Final> {
    let lowered = lower(structures, Judging::ByQuestion).expect("it lowers");
    let mut question = lowered.question.expect("there is a question");
    question.locations = observables(&lowered.program);
    let options = parallax_engine_enumerate::Options { bound: 4, ..Default::default() };
    let outcomes = enumerate(&lowered.program, &question, &sc(), &options).expect("it runs");
    let mut states = BTreeSet::new();
    for state in &outcomes.states {
        let values = state.values.iter().filter(|value| !value.name.ends_with(":failed"));
        let values = values.map(|value| (value.name.clone(), value.bits.unsigned() as u32));
        states.insert(Final { values: values.collect(), has_failed: state.satisfies });
    }
    states
}

/// The reference, with only the variables that the program has.
fn expected(structures: &Structures) -> BTreeSet<Final> {
    let lowered = lower(structures, Judging::ByQuestion).expect("it lowers");
    let names: BTreeSet<String> =
        observables(&lowered.program).into_iter().map(|observable| observable.name).collect();
    let mut states = BTreeSet::new();
    for mut state in finals(structures) {
        state.values.retain(|name, _| names.contains(name));
        states.insert(state);
    }
    states
}

fn named(name: &str) -> Target {
    Target::Named(name.to_string())
}

/// Atomic pairs of all shapes.
fn pair() -> impl Strategy<Value = Ex> {
    let place = || prop_oneof![Just(named("x")), Just(named("y"))];
    let test = prop_oneof![
        Just(Condition::Compare(Comparison::Equal, Exp::temporary("a"), Exp::Number(0))),
        Just(Condition::Compare(Comparison::Equal, Exp::temporary("b"), Exp::temporary("a"))),
        condition(false),
    ];
    let value = prop_oneof![
        Just(Exp::Add(Box::new(Exp::temporary("a")), Box::new(Exp::Number(1)))),
        Just(Exp::Sub(Box::new(Exp::temporary("a")), Box::new(Exp::temporary("b")))),
        exp(false),
    ];
    (place(), value, prop::option::of(test), exp(false)).prop_map(|(place, value, test, local)| {
        let place = Place::Memory(place);
        let read = OpKind::Read { dst: "a".to_string(), src: place.clone() };
        let write = Ex::Atom(op(OpKind::Write { dst: place, value }));
        let local = Ex::Op(op(OpKind::Compute { dst: "b".to_string(), value: local }));
        let write = match test {
            Some(test) => Ex::If(test, Box::new(write), Mark::default()),
            None => write,
        };
        Ex::Seq(vec![Ex::Atom(op(read)), local, write])
    })
}

/// Two accesses in any order, on temporaries of their own.
fn unordered() -> impl Strategy<Value = Ex> {
    let access = |temporary: &'static str| {
        let place = prop_oneof![Just(named("x")), Just(named("y"))].prop_map(Place::Memory);
        (place, any::<bool>(), 0u32..3).prop_map(move |(place, is_read, number)| {
            let dst = temporary.to_string();
            let next = Exp::Add(Box::new(Exp::temporary(temporary)), Box::new(Exp::Number(number)));
            let change = Ex::Op(op(OpKind::Compute { dst: dst.clone(), value: next }));
            let access = match is_read {
                true => OpKind::Read { dst, src: place },
                false => OpKind::Write { dst: place, value: Exp::temporary(temporary) },
            };
            Ex::Seq(vec![Ex::Op(op(access)), change])
        })
    };
    (access("a"), access("b"), access("c"))
        .prop_map(|(first, second, third)| Ex::Par(vec![first, second, third]))
}

fn reserved() -> impl Strategy<Value = Vec<Element>> {
    (prop::option::of(Just(())), exp(false)).prop_map(|(link, value)| {
        let (dst, flag) = ("a".to_string(), "b".to_string());
        let linked = OpKind::LoadLinked { dst, location: named("x") };
        let stored = OpKind::StoreConditional { flag, location: named("x"), value };
        let linked = link.map(|()| instr(Ex::Op(op(linked))));
        linked.into_iter().chain([instr(Ex::Op(op(stored)))]).collect()
    })
}

fn counting() -> Vec<Element> {
    let next = Exp::Add(Box::new(Exp::temporary("n")), Box::new(Exp::Number(1)));
    let count = op(OpKind::Compute { dst: "n".to_string(), value: next });
    let place = Place::Memory(named("x"));
    let store = op(OpKind::Write { dst: place, value: Exp::temporary("n") });
    let body = vec![instr(Ex::Seq(vec![Ex::Op(count), Ex::Op(store)]))];
    let condition = Condition::Compare(Comparison::Less, Exp::temporary("n"), Exp::Number(2));
    vec![element(ElementKind::DoWhile { body, invariant: None, condition })]
}

fn chunk() -> BoxedStrategy<Vec<Element>> {
    let one = |strategy: BoxedStrategy<Element>| strategy.prop_map(|element| vec![element]).boxed();
    let plain = move_operation().prop_map(|op| instr(Ex::Op(op))).boxed();
    let predicated = (condition(false), move_operation())
        .prop_map(|(test, op)| instr(Ex::If(test, Box::new(Ex::Op(op)), Mark::default())))
        .boxed();
    let skipped = (condition(false), move_operation())
        .prop_map(|(test, op)| vec![element(ElementKind::IfBranch(test, vec![instr(Ex::Op(op))]))]);
    prop_oneof![
        6 => one(plain),
        1 => one(predicated),
        2 => one(pair().prop_map(instr).boxed()),
        1 => one(unordered().prop_map(instr).boxed()),
        1 => reserved(),
        1 => skipped,
        1 => Just(counting()),
        1 => one(condition(false).prop_map(|test| element(ElementKind::Assume(test))).boxed()),
        1 => one(condition(false).prop_map(|test| element(ElementKind::Assert(test))).boxed()),
    ]
    .boxed()
}

fn program() -> impl Strategy<Value = Structures> {
    let thread = || prop::collection::vec(chunk(), 1..3).prop_map(|chunks| chunks.concat());
    (thread(), thread()).prop_map(|(first, second)| structures(vec![first, second]))
}

/// What engines with assertions conclude; nothing where there are reservations, which they do not
/// know.
fn conclusions(structures: &Structures) -> Vec<Conclusion> {
    let lowered = lower(structures, Judging::of(structures)).expect("it lowers");
    if lowered.has_reservations() {
        return Vec::new();
    }
    let program = lowered.program;
    let explored = parallax_engine_explore::Options {
        properties: vec![Property::Assert],
        ..Default::default()
    };
    let searched = parallax_engine_states::Options {
        properties: vec![Property::Assert],
        ..Default::default()
    };
    let model = sc();
    let explored = parallax_engine_explore::explore(&program, &model, &explored).expect("it runs");
    let searched = parallax_engine_states::search(&program, &model, &searched).expect("it runs");
    vec![explored.conclusion(), searched.conclusion()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn final_states_are_those_of_the_small_steps(structures in program()) {
        prop_assert_eq!(enumerated(&structures), expected(&structures), "{}", structures);
    }

    #[test]
    fn assertions_fail_where_they_do_in_small_steps(structures in program()) {
        let finals = finals(&structures);
        let expected = match finals.iter().any(|state| state.has_failed) {
            true => Conclusion::Unsafe,
            // No execution passes the assumptions, so there was nothing to check.
            false if finals.is_empty() && structures.has_assumptions() => Conclusion::Unknown,
            false => Conclusion::Safe,
        };
        for conclusion in conclusions(&structures) {
            prop_assert_eq!(conclusion, expected, "{}", structures);
        }
    }
}
