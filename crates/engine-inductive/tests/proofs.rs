//! Proofs of operation structures: what is proved is true, and what the dissertation proves is
//! proved.

use std::fs;
use std::path::Path;

use parallax_engine_bounded::Options;
use parallax_engine_inductive::{Conclusion, MARK, Obligation, Order, Proof, prove};
use parallax_frontend_ops::syntax::{Element, ElementKind, Structures};
use parallax_frontend_ops::{marked, parse};
use parallax_memory::Model;

const MODELS: [&str; 3] = ["sc", "tso", "pso"];

fn proof(structures: &Structures, model: &str) -> Proof {
    let program = marked(structures, MARK).expect("proofs are for it");
    let model = Model::builtin(model).expect("the model is there").expect("it is a model");
    prove(&program, &model, Order::Unsigned, &Options::default()).expect("it runs")
}

/// `proved`, `vacuous`, or what could not be shown.
fn answer(structures: &Structures, model: &str) -> &'static str {
    match proof(structures, model).conclusion {
        Conclusion::Proved { vacuous: false } => "proved",
        Conclusion::Proved { vacuous: true } => "vacuous",
        Conclusion::Unknown(reason) => panic!("{}", reason.message),
        Conclusion::NotProved(unproved) => match unproved.obligation {
            Obligation::AtFirst => "at first",
            Obligation::Kept => "kept",
            Obligation::Asserted => "asserted",
        },
    }
}

fn answers(text: &str) -> [&'static str; 3] {
    let structures = parse("t.ops", text).expect("it reads");
    MODELS.map(|model| answer(&structures, model))
}

/// What is proved of the examples, under SC, TSO and PSO.
const EXAMPLES: [(&str, [&str; 3]); 9] = [
    ("dekker.ops", ["vacuous", "asserted", "asserted"]),
    ("dekker-loop.ops", ["vacuous", "asserted", "asserted"]),
    ("message-passing-loop.ops", ["proved", "proved", "asserted"]),
    ("message-passing-loop-stbar.ops", ["proved", "proved", "proved"]),
    ("peterson.ops", ["vacuous", "asserted", "asserted"]),
    ("sparc-spinlock.ops", ["vacuous", "vacuous", "vacuous"]),
    ("sparc-spinlock-loop.ops", ["proved", "proved", "proved"]),
    ("toppers-spinlock-loop.ops", ["vacuous", "vacuous", "vacuous"]),
    ("counter-bound.ops", ["proved", "proved", "proved"]),
];

fn example(name: &str) -> Structures {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ops");
    let text = fs::read_to_string(folder.join(name)).expect("it is there");
    parse(name, &text).expect("it reads")
}

#[test]
fn examples_are_proved_where_they_are_right() {
    for (name, expected) in EXAMPLES {
        let structures = example(name);
        assert_eq!(MODELS.map(|model| answer(&structures, model)), expected, "{name}");
    }
}

fn without_invariants(list: &mut [Element]) {
    for element in list {
        match &mut element.kind {
            ElementKind::DoWhile { body, invariant, .. } => {
                *invariant = None;
                without_invariants(body);
            }
            ElementKind::IfBranch(_, body) => without_invariants(body),
            _ => {}
        }
    }
}

#[test]
fn nobody_has_to_write_their_invariants() {
    for (name, expected) in EXAMPLES {
        let mut structures = example(name);
        for thread in &mut structures.threads {
            without_invariants(&mut thread.elements);
        }
        assert_eq!(MODELS.map(|model| answer(&structures, model)), expected, "{name}");
    }
}

#[test]
fn what_was_found_is_said() {
    let text = "loc [X];
        thread P1 { instr{ v := 0 }; do { instr{ v := v + 1; [X] := v } } while(v < 4) }
        thread P2 { instr{ u := [X] }; assert(u <= 4) }";
    let structures = parse("t.ops", text).expect("it reads");
    let proof = proof(&structures, "tso");
    assert!(matches!(proof.conclusion, Conclusion::Proved { vacuous: false }));
    let [invariant] = &proof.invariants[..] else { panic!("one loop, one invariant") };
    assert_eq!(invariant.proposed, Some(vec!["v <= 3".to_string()]));
    assert_eq!(invariant.place.line, 2);
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
    let nested = "reg r1; loc [x];
        thread P1 {
          instr{ n := 0 };
          do {
            instr{ n := n + 1; r1 := 0 };
            do { instr{ val := r1; val := val + 1; r1 := val } <T> } while(val < 4)
            <T>
          } while(n < 3);
          assert(F)
        }";
    assert_eq!(answers(nested), ["asserted"; 3]);
}

/// Two iterations have different values, also where the invariant relates them to memory, and where
/// the loop is inside of another.
#[test]
fn each_iteration_has_values_of_its_own() {
    let reader = |assertion: &str| {
        format!("thread P2 {{ instr{{ u := [X] }}; instr{{ w := [X] }}; assert({assertion}) }}")
    };
    let inner = "instr{ v := 0 };
        do { instr{ v := v + 1; [X] := v } <v < 5 /\\ [X] = v> } while(v < 4)";
    let alone = |assertion: &str| format!("loc [X]; thread P1 {{ {inner} }} {}", reader(assertion));
    let nested = |assertion: &str| {
        format!(
            "loc [X]; thread P1 {{ instr{{ n := 0 }};
               do {{ instr{{ n := n + 1 }}; {inner} <n < 3 /\\ v = 4> }} while(n < 2) }} {}",
            reader(assertion)
        )
    };
    assert_eq!(answers(&alone("not(u = 2 /\\ w = 4)")), ["asserted"; 3]);
    assert_eq!(answers(&nested("not(u = 2 /\\ w = 4)")), ["asserted"; 3]);
    assert_eq!(answers(&nested("not(u = 4 /\\ w = 2)")), ["asserted"; 3]);
    assert_eq!(answers(&alone("u < 5 /\\ w < 5")), ["proved"; 3]);
    assert_eq!(answers(&nested("u < 5 /\\ w < 5")), ["proved"; 3]);
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
    let inside = "loc [X]; thread P1 {
        do { do { instr{ v := [X] } <T> } while(T); assert(F) <T> } while(v < 1) }";
    assert_eq!(answers(inside), ["vacuous"; 3]);
}

#[test]
fn what_the_method_is_not_for_is_refused() {
    let read =
        |body: &str| parse("t.ops", &format!("loc [x]; thread P {{ {body} }}")).expect("it reads");
    let assumed = marked(&read("instr{ a := [x] }; assume(a = 0)"), MARK);
    assert!(assumed.expect_err("it is refused")[0].message.contains("assumptions"));
    let apart = read("do { instr{ sc(a, [x], 1) } <T> } while(a = 1)");
    let Conclusion::Unknown(reason) = proof(&apart, "sc").conclusion else {
        panic!("there is no answer");
    };
    assert!(reason.message.contains("iteration"));
    assert_eq!(reason.place.map(|place| place.line), Some(1));
}

#[test]
fn weaker_models_have_no_proofs() {
    let structures = parse("t.ops", "loc [x]; thread P { instr{ [x] := 1 } }").expect("it reads");
    assert!(matches!(proof(&structures, "arm").conclusion, Conclusion::Unknown(_)));
}
