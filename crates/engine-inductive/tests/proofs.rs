//! Proofs of operation structures: what is proved is true, and what the dissertation proves is
//! proved.

use std::fs;
use std::path::Path;

use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, Obligation, prove};
use parallax_frontend_ops::syntax::Structures;
use parallax_frontend_ops::{Judging, Lowered, Meaning, induction, lower, parse};
use parallax_memory::Model;
use parallax_program::Property;
use proptest::prelude::*;

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

/// `proved`, `vacuous`, or what could not be shown.
fn answer(structures: &Structures, model: &str) -> &'static str {
    let induction = induction(structures).expect("the method is for it");
    let lowered = lower(&induction.structures, Judging::ByQuestion).expect("it lowers");
    let ended = induction.ended(&lowered);
    let Lowered { program, question, .. } = lowered;
    let refuted = question.expect("there is a question");
    let model = Model::builtin(model).expect("the model is there").expect("it is a model");
    let obligation = Obligation { program: &program, refuted: &refuted, ended: &ended };
    let proof = prove(&obligation, &model, &Options::default()).expect("it runs");
    match proof.conclusion {
        Conclusion::Proved { vacuous: false } => "proved",
        Conclusion::Proved { vacuous: true } => "vacuous",
        Conclusion::Unknown(reason) => panic!("{}", reason.message),
        Conclusion::NotProved(execution) => {
            let failed = execution.final_state.iter().find_map(|value| {
                let thread = value.name.strip_suffix(":failed")?;
                let number = value.bits.unsigned().checked_sub(1)?;
                induction.meaning(thread, number as usize)
            });
            match failed {
                Some(Meaning::AtFirst) => "at first",
                Some(Meaning::Kept) => "kept",
                Some(Meaning::Asserted) => "asserted",
                None => panic!("nothing has failed"),
            }
        }
    }
}

fn answers(text: &str) -> [&'static str; 3] {
    let structures = parse("t.ops", text).expect("it reads");
    MODELS.map(|model| answer(&structures, model))
}

#[test]
fn examples_are_proved_where_they_are_right() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ops");
    let expected = [
        ("message-passing-loop.ops", ["proved", "proved", "asserted"]),
        ("message-passing-loop-stbar.ops", ["proved", "proved", "proved"]),
        ("peterson.ops", ["vacuous", "asserted", "asserted"]),
        ("toppers-spinlock-loop.ops", ["vacuous", "vacuous", "vacuous"]),
    ];
    for (name, expected) in expected {
        let text = fs::read_to_string(folder.join(name)).expect("it is there");
        assert_eq!(answers(&text), expected, "{name}");
    }
}

/// A loop that changes a register must not look as if it never ended.
#[test]
fn registers_change_in_loops() {
    let text = "reg r1; loc [x];
        thread P1 {
          do { instr{ val := r1; val := val + 1; r1 := val } <T> } while(val < 4);
          assert(F)
        }";
    assert_eq!(answers(text), ["asserted"; 3]);
}

/// Two iterations have different values, also where the invariant relates them to memory.
#[test]
fn each_iteration_has_values_of_its_own() {
    let text = |assertion: &str| {
        format!(
            "loc [X];
            thread P1 {{
              instr{{ v := 0 }};
              do {{ instr{{ v := v + 1; [X] := v }} <v < 5 /\\ [X] = v> }} while(v < 4)
            }}
            thread P2 {{ instr{{ u := [X] }}; instr{{ w := [X] }}; assert({assertion}) }}"
        )
    };
    assert_eq!(answers(&text("not(u = 2 /\\ w = 4)")), ["asserted"; 3]);
    assert_eq!(answers(&text("u < 5 /\\ w < 5")), ["proved"; 3]);
}

#[test]
fn invariants_that_do_not_hold_prove_nothing() {
    let text = |invariant: &str| {
        format!(
            "loc [X];
            thread P1 {{ instr{{ v := 0 }}; do {{ instr{{ v := v + 1 }} <{invariant}> }} while(v < 4);
              assert(F) }}"
        )
    };
    assert_eq!(answers(&text("F")), ["at first"; 3]);
    assert_eq!(answers(&text("v = 1")), ["kept"; 3]);
}

#[test]
fn endless_loops_prove_nothing_of_what_follows() {
    let text = "loc [X]; thread P1 { do { instr{ v := [X] } <T> } while(T); assert(F) }";
    assert_eq!(answers(text), ["vacuous"; 3]);
}

#[test]
fn what_the_method_is_not_for_is_refused() {
    let refused = |body: &str| {
        let text = format!("loc [x]; thread P {{ {body} }}");
        let structures = parse("t.ops", &text).expect("it reads");
        induction(&structures).expect_err("it is refused").remove(0).message
    };
    let inner = "do { instr{ a := [x] } <T> } while(a = 0)";
    assert!(refused(&format!("do {{ {inner} <T> }} while(T)")).contains("inside of a loop"));
    assert!(refused("do { instr{ a := [x] } } while(a = 0)").contains("no invariant"));
    assert!(refused("label(L); instr{ branch(T, label(L)) }").contains("labels"));
    assert!(refused("instr{ a := [x] }; assume(a = 0)").contains("assumptions"));
    assert!(refused("do { instr{ sc(a, [x], 1) } <T> } while(a = 1)").contains("iteration"));
}

#[test]
fn weaker_models_have_no_proofs() {
    let text = "loc [x]; thread P { instr{ [x] := 1 } }";
    let structures = parse("t.ops", text).expect("it reads");
    let induction = induction(&structures).expect("the method is for it");
    let lowered = lower(&induction.structures, Judging::ByQuestion).expect("it lowers");
    let ended = induction.ended(&lowered);
    let refuted = lowered.question.clone().expect("there is a question");
    let model = Model::builtin("arm").expect("the model is there").expect("it is a model");
    let obligation = Obligation { program: &lowered.program, refuted: &refuted, ended: &ended };
    let proof = prove(&obligation, &model, &Options::default()).expect("it runs");
    assert!(matches!(proof.conclusion, Conclusion::Unknown(_)));
}

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
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The loops run three times, so the search through states can tell.
    #[test]
    fn what_is_proved_is_true(
        first in looped(),
        second in prop_oneof![looped(), straight()],
        model in prop::sample::select(MODELS.to_vec()),
    ) {
        let text =
            format!("loc [x], [y]; reg r; thread P1 {{ {first} }} thread P2 {{ {second} }}");
        let structures = parse("t.ops", &text).expect("it reads");
        if matches!(answer(&structures, model), "proved" | "vacuous") {
            let program = lower(&structures, Judging::AtOnce).expect("it lowers").program;
            let model = Model::builtin(model).expect("the model is there").expect("it is a model");
            let options = parallax_engine_states::Options {
                properties: vec![Property::Assert],
                ..Default::default()
            };
            let verdict = parallax_engine_states::search(&program, &model, &options);
            let conclusion = verdict.expect("it runs").conclusion;
            prop_assert_eq!(conclusion, parallax_verdict::Conclusion::Safe, "{}", text);
        }
    }
}
