//! The plan says what the reference evaluator says, on random executions; executions that are
//! refused early are never allowed in the end; and what models are said to imply is true.

use crate::common;
#[path = "common/random.rs"]
mod random;

use std::sync::{Arc, OnceLock};

use common::{fill, set_co, set_rf};
use parallax_memory::{Checker, Model, Relation, reference};
use proptest::prelude::*;
use random::{Execution, execution};

/// Models with constructs that the built-in ones do not have.
const SMALL: [(&str, &str); 9] = [
    ("negated", "~acyclic po | rf | co as cyclic flag ~empty rf & ext as external"),
    ("closures", "irreflexive (po-loc | rf)+; (co | fr)* as a acyclic (rf; po)+ | co as b"),
    (
        "nested",
        "let rec a = po-loc | (a; b) and b = let rec c = rf | (c; a) in c | [W]
         irreflexive a; co as x acyclic b & ext as y",
    ),
    (
        "shrinking",
        "let rec left = R \\ domain(pairs) and pairs = pairs | ([left]; po; [W]) \\ (po; [left]; po)
         flag ~empty pairs & (rf^-1; co) as f empty pairs & (rf^-1; rf) & ext as g",
    ),
    ("complement", "empty (~(po | po^-1 | loc) & (W * R)) & fr as none acyclic ~(rf | ext) & po-loc"),
    ("final", "empty [FW]; po-loc; [W] as last undefined_unless empty FW & A"),
    (
        "sets",
        "let s = domain(rf & ext) | range(co \\ int) let t = M \\ s
         empty [t]; po; [t]; rf as st irreflexive [s]; (po?; com)+; [s]; po as ts",
    ),
    (
        "functions",
        "let between(s, r) = r; [s]; r let f r = fun x -> (x & r) | singlestep(r)
         procedure ordered(r) = acyclic r irreflexive between(W, r) as twice end
         call ordered(f po (po-loc | rf | co)) as first
         empty fencerel(F) & (fr; po) as fenced",
    ),
    ("rsw", "let rsw = rf^-1; rf let ppo = ([R]; po-loc; [R]) \\ rsw acyclic ppo | rfe | co | fr"),
];

fn models() -> &'static [Arc<Model>] {
    static MODELS: OnceLock<Vec<Arc<Model>>> = OnceLock::new();
    MODELS.get_or_init(|| {
        let shown = |name: &str, diagnostics: Vec<parallax_program::Diagnostic>| -> Arc<Model> {
            panic!("{name}: {}", diagnostics[0])
        };
        let built_in = Model::builtin_names().map(|(name, _, _)| {
            let model = Model::builtin(name).expect("is listed");
            model.unwrap_or_else(|diagnostics| shown(name, diagnostics))
        });
        let small = SMALL.iter().map(|(name, text)| {
            let model = Model::parse(name, text, &|_| None).map(Arc::new);
            model.unwrap_or_else(|diagnostics| shown(name, diagnostics))
        });
        built_in.chain(small).collect()
    })
}

/// Without some of its pairs.
fn part(relation: &Relation, keep: u64) -> Relation {
    let mut part = Relation::new(relation.events());
    for (index, (from, to)) in relation.iter().enumerate() {
        if keep >> (index % 64) & 1 == 1 {
            part.add(from, to);
        }
    }
    part
}

fn check(model: &Model, execution: &Execution, keep: (u64, u64)) -> Result<bool, TestCaseError> {
    assert!(model.is_compiled(), "{}", model.name());
    let expected = reference::evaluate(model, &execution.inputs)
        .unwrap_or_else(|diagnostic| panic!("{}: {diagnostic}", model.name()));
    let (rf, co) = (&execution.inputs.relations["rf"], &execution.inputs.relations["co"]);
    let mut checker = Checker::new(model);
    fill(model, &mut checker, &execution.inputs);
    // Incrementally: parts of rf and co first.
    set_rf(&mut checker, &part(rf, keep.0));
    let mut refused = !checker.may_be_allowed();
    set_co(&mut checker, &part(co, keep.1));
    refused |= !checker.may_be_allowed();
    set_rf(&mut checker, rf);
    refused |= !checker.may_be_allowed();
    checker.set_rf_complete(true);
    refused |= !checker.may_be_allowed();
    set_co(&mut checker, co);
    let name = model.name();
    prop_assert_eq!(checker.is_allowed(), expected.allowed, "{}", name);
    prop_assert_eq!(checker.violated(), expected.violated, "{}", name);
    prop_assert_eq!(checker.violated().is_none(), expected.allowed, "{}", name);
    prop_assert!(!(refused && expected.allowed), "{} refuses too early", name);
    if expected.allowed {
        prop_assert_eq!(checker.flags(), expected.flags, "{}", name);
    } else if let Some(axiom) = expected.violated {
        let negated = model.axioms()[axiom].negated;
        prop_assert!(negated || checker.cycle(axiom).is_some_and(|c| !c.is_empty()), "{}", name);
    }
    for relation in model.relations() {
        if let Some(by_reference) = expected.relations.get(relation)
            && expected.allowed
        {
            let by_plan = checker.relation(relation);
            prop_assert_eq!(by_plan.as_ref(), Some(by_reference), "{}", relation);
        }
    }
    prop_assert!(checker.failure().is_none());
    Ok(expected.allowed)
}

/// `coherent` and `atomic`, by the definition.
fn properties(execution: &Execution) -> (bool, bool) {
    let text = "acyclic po-loc | rf | co | fr as coherence flag ~empty rmw & (fre; coe) as broken";
    let model = Model::parse("definition", text, &|_| None).expect("parses");
    let evaluation = reference::evaluate(&model, &execution.inputs).expect("evaluates");
    let text = "empty (rmw \\ (po-loc; [W]; po-loc)) & (fre; coe) as atomicity";
    let model = Model::parse("definition", text, &|_| None).expect("parses");
    let atomic = reference::evaluate(&model, &execution.inputs).expect("evaluates");
    (evaluation.allowed, atomic.allowed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn plan_and_reference_agree(execution in execution(), keep in any::<(u64, u64)>()) {
        let (coherent, atomic) = properties(&execution);
        for model in models() {
            let allowed = check(model, &execution, keep)?;
            prop_assert!(!allowed || coherent || !model.implies_coherence(), "{}", model.name());
            prop_assert!(!allowed || atomic || !model.implies_atomicity(), "{}", model.name());
        }
    }
}

#[test]
fn what_small_models_observe() {
    let model = |name: &str| models().iter().find(|m| m.name() == name).cloned().expect("known");
    assert!(!model("sc").observes_coherence_fully());
    assert!(!model("rsw").observes_coherence_fully());
    assert!(model("negated").observes_coherence_fully());
    assert!(model("final").observes_coherence_fully());
}
