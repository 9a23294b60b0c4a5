//! Random tests: the repair makes the bad state impossible, and no cheaper placement does.

use std::fmt::Write;

use crate::support::{Enumerating, model, prepared};
use parallax_engine_enumerate::{Options, enumerate};
use parallax_fences::{
    BranchAndBound, Collecting, Ending, Engine, Objective, Plan, Prepared, Repair, Task, apply,
    synthesize,
};
use parallax_frontend_litmus::parse;
use parallax_memory::Model;
use parallax_verdict::Conclusion;
use proptest::prelude::*;

/// One access: whether it writes, where, and how strongly.
type Access = (bool, u8, u8);

fn thread() -> impl Strategy<Value = Vec<Access>> {
    prop::collection::vec((any::<bool>(), 0..2u8, 0..4u8), 1..4)
}

fn text(threads: &[Vec<Access>], condition: &str) -> String {
    let mut text = "C random\n{}\n".to_string();
    for (number, accesses) in threads.iter().enumerate() {
        let _ = writeln!(text, "P{number}(atomic_int *x, atomic_int *y) {{");
        for (at, (writes, place, order)) in accesses.iter().enumerate() {
            let place = ["x", "y"][usize::from(*place)];
            let value = number * 3 + at + 1;
            let _ = match (writes, order) {
                (true, 3) => writeln!(
                    text,
                    "  atomic_store_explicit({place}, {value}, memory_order_release);"
                ),
                (true, _) => writeln!(
                    text,
                    "  atomic_store_explicit({place}, {value}, memory_order_relaxed);"
                ),
                (false, 3) => writeln!(
                    text,
                    "  int r{at} = atomic_load_explicit({place}, memory_order_acquire);"
                ),
                (false, _) => writeln!(
                    text,
                    "  int r{at} = atomic_load_explicit({place}, memory_order_relaxed);"
                ),
            };
        }
        let _ = writeln!(text, "}}");
    }
    text + "exists (" + condition + ")\n"
}

/// Everything that can be read.
fn observed(threads: &[Vec<Access>]) -> Vec<String> {
    let mut names = Vec::new();
    for (number, accesses) in threads.iter().enumerate() {
        let reads = accesses.iter().enumerate().filter(|(_, access)| !access.0);
        names.extend(reads.map(|(at, _)| format!("{number}:r{at}")));
    }
    names
}

/// A state that the model allows and sequential consistency does not, as a condition.
fn weak_state(threads: &[Vec<Access>], weak: &Model, sc: &Model) -> Option<String> {
    let names = observed(threads);
    if names.is_empty() {
        return None;
    }
    let all: Vec<String> = names.iter().map(|name| format!("{name}=0")).collect();
    let test = parse("t", &text(threads, &all.join(" /\\ "))).unwrap();
    let states = |model: &Model| {
        let outcomes =
            enumerate(&test.program, &test.question, model, &Options::default()).unwrap();
        let states = outcomes.states.iter().map(|state| {
            let values = state.values.iter().map(|value| format!("{}={}", value.name, value.shown));
            values.collect::<Vec<_>>().join(" /\\ ")
        });
        states.collect::<Vec<String>>()
    };
    let strong = states(sc);
    states(weak).into_iter().find(|state| !strong.contains(state))
}

/// All plans that cost less.
fn cheaper(prepared: &Prepared, cost: (u64, u64)) -> Vec<Plan> {
    let decisions = &prepared.decisions;
    let mut plans = vec![Plan(Vec::new())];
    for decision in &decisions.0 {
        let mut longer = Vec::new();
        for plan in &plans {
            for option in 0..decision.options.len() {
                let mut next = plan.clone();
                next.0.push(option as u8);
                if decisions.cost(&next) < cost {
                    longer.push(next);
                }
            }
        }
        plans = longer;
    }
    plans
}

/// Placements to try at most.
const MOST_PLANS: usize = 3_000;

fn check(threads: &[Vec<Access>], name: &str) -> Result<bool, TestCaseError> {
    let (weak, sc) = (model(name), model("sc"));
    let Some(state) = weak_state(threads, &weak, &sc) else {
        return Ok(false);
    };
    let (prepared, question) = prepared(&text(threads, &state), &weak, Repair::Fences);
    let task = Task {
        marked: &prepared.marked,
        decisions: &prepared.decisions,
        model: &weak,
        objective: Objective::Count,
        compile: None,
        collecting: Collecting::OneByOne,
    };
    let mut engine = Enumerating { question: &question, model: &weak };
    let synthesis = synthesize(&task, &mut engine, &mut BranchAndBound).unwrap();
    let mut is_safe = |plan: &Plan| {
        let program = apply(&prepared.marked, &prepared.decisions, plan);
        engine.search(&program, 1).unwrap().conclusion == Conclusion::Safe
    };
    match synthesis.ending {
        Ending::Safe { plan, .. } => {
            prop_assert!(is_safe(&plan));
            let written = parse("t.litmus", &prepared.texts(&plan)[0]).unwrap();
            let mut engine = Enumerating { question: &question, model: &weak };
            let verdict = engine.search(&written.program, 1).unwrap();
            prop_assert_eq!(verdict.conclusion, Conclusion::Safe);
            let mut is_safe = |plan: &Plan| {
                let program = apply(&prepared.marked, &prepared.decisions, plan);
                engine.search(&program, 1).unwrap().conclusion == Conclusion::Safe
            };
            let plans = cheaper(&prepared, prepared.decisions.cost(&plan));
            for cheaper in plans.iter().take(MOST_PLANS) {
                prop_assert!(!is_safe(cheaper), "{:?} is cheaper than {:?}", cheaper, plan);
            }
        }
        Ending::Hopeless { .. } => prop_assert!(!is_safe(&prepared.decisions.strongest())),
        Ending::Unknown { .. } => prop_assert!(false, "unknown"),
    }
    Ok(true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn repairs_are_right_and_the_cheapest(
        threads in prop::collection::vec(thread(), 2..4),
        name in prop::sample::select(vec!["rc11", "c11", "tso", "imm"]),
    ) {
        check(&threads, name)?;
    }
}

/// The generator does find something to repair.
#[test]
fn store_buffering_is_among_them() {
    let threads = [vec![(true, 0, 0), (false, 1, 0)], vec![(true, 1, 0), (false, 0, 0)]];
    assert!(check(&threads, "rc11").unwrap());
}
