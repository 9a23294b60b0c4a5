//! Random operation structures, with invariants that also speak of what was last written: what is
//! proved, the search through states finds nothing wrong with.

use std::time::Duration;

use parallax_control::Control;
use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, MARK, Order, prove};
use parallax_frontend_ops::{Judging, lower, marked, parse};
use parallax_memory::Model;
use parallax_program::Property;
use proptest::prelude::*;

/// Proofs that take longer are not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Operations of a thread with a counter `n` that ends its loop.
fn operations() -> impl Strategy<Value = String> {
    let operation = prop::sample::select(vec![
        "a := [x]",
        "b := [x]",
        "a := [y]",
        "[x] := n",
        "[x] := a",
        "[y] := 1",
        "[y] := n",
        "if(a = 1){ [x] := 2 }",
        "if(a = 0){ b := [y] }",
        "atom(a := [x]); atom([x] := n)",
        "atom(a := [x]); if(a = 0){ atom([x] := 1) }",
        "a := b",
        "r := a",
        "b := r",
        "stbar",
        "mfence",
    ]);
    let list = prop::collection::vec(operation, 1..3);
    list.prop_map(|list| {
        list.iter().map(|operation| format!("instr{{ {operation} }}; ")).collect::<String>()
    })
}

fn condition() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "T",
        "n < 3",
        "n < 4",
        "a < 3",
        "b < 3",
        "a = 0",
        "a = 0 \\/ a = 1",
        "[x] = n",
        "[x] < 3",
        "b < 2 /\\ n < 4",
        "not(a = 2)",
        "a <= b",
        "b = 0",
    ])
}

fn assertion() -> impl Strategy<Value = &'static str> {
    let without_memory = |text: &&str| !text.contains('[');
    condition().prop_filter("assertions are on temporaries", without_memory)
}

/// A thread with a loop, and an assertion in it or after it.
fn looped() -> impl Strategy<Value = String> {
    let parts = (operations(), operations(), condition(), assertion(), any::<bool>());
    parts.prop_map(|(first, body, invariant, assertion, is_inside)| {
        let (inside, after) = match is_inside {
            true => (format!("assert({assertion}); "), String::new()),
            false => (String::new(), format!("; assert({assertion})")),
        };
        let start = "instr{ n := 0; a := 0; b := 0 }; ";
        format!(
            "{start}{first}do {{ instr{{ n := n + 1 }}; {body}{inside}instr{{ a := a }} \
             <{invariant}> }} while(n < 3){after}"
        )
    })
}

/// A thread without one.
fn straight() -> impl Strategy<Value = String> {
    (operations(), operations(), assertion()).prop_map(|(first, second, assertion)| {
        format!("instr{{ n := 1; a := 0; b := 0 }}; {first}{second}assert({assertion})")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The loops run three times, so the search through states can decide.
    #[test]
    fn what_is_proved_is_true(
        first in looped(),
        second in prop_oneof![looped(), straight()],
        model in prop::sample::select(vec!["sc", "tso", "pso"]),
    ) {
        let text =
            format!("loc [x], [y]; reg r; thread P1 {{ {first} }} thread P2 {{ {second} }}");
        let structures = parse("t.ops", &text).expect("it reads");
        let program = marked(&structures, MARK).expect("proofs are for it");
        let model = Model::builtin(model).expect("the model is there").expect("it is a model");
        let options = Options { control: Control::lasting(PATIENCE), ..Options::default() };
        let proof = prove(&program, &model, Order::Unsigned, &options).expect("it runs");
        if let Conclusion::Proved { .. } = proof.conclusion {
            let program = lower(&structures, Judging::AtOnce).expect("it lowers").program;
            let options = parallax_engine_states::Options {
                properties: vec![Property::Assert],
                ..Default::default()
            };
            let verdict = parallax_engine_states::search(&program, &model, &options);
            let conclusion = verdict.expect("it runs").conclusion();
            prop_assert_eq!(conclusion, parallax_verdict::Conclusion::Safe, "{}", text);
        }
    }
}
