//! Random tests: the repair makes the bad state impossible, and no cheaper choice does.

use crate::generator::{Access, Threads, Tongue, observed, text, threads};
use crate::support::{Enumerating, Way, compiled, model, prepared};
use parallax_engine_bounded::Machine;
use parallax_engine_enumerate::{Options, enumerate};
use parallax_fences::{
    Collecting, Ending, Engine, Objective, Plan, Prepared, Repair, Task, Weights, apply, synthesize,
};
use parallax_frontend_litmus::parse;
use parallax_memory::Model;
use parallax_program::Program;
use parallax_verdict::Conclusion;
use proptest::prelude::*;

/// A state that the model allows and sequential consistency does not, as a condition.
fn weak_state(tongue: Tongue, threads: &Threads, way: &Way) -> Option<String> {
    let (weak, sc) = (model(way.model), model("sc"));
    let names = observed(tongue, threads);
    if names.is_empty() {
        return None;
    }
    let all: Vec<String> = names.iter().map(|name| format!("{name}=0")).collect();
    let shown = text(tongue, threads, &all.join(" /\\ "));
    let test = parse("t", &shown).unwrap_or_else(|errors| panic!("{shown}\n{errors:?}"));
    let states = |model: &Model, machine: Option<Machine>| {
        let program = compiled(&test.program, machine).unwrap();
        let outcomes = enumerate(&program, &test.question, model, &Options::default()).unwrap();
        let states = outcomes.states.iter().map(|state| {
            let values = state.values.iter().map(|value| format!("{}={}", value.name, value.shown));
            values.collect::<Vec<_>>().join(" /\\ ")
        });
        states.collect::<Vec<String>>()
    };
    let strong = states(&sc, None);
    states(&weak, way.machine()).into_iter().find(|state| !strong.contains(state))
}

/// All plans that cost less.
fn cheaper(prepared: &Prepared, objective: Objective, plan: &Plan) -> Vec<Plan> {
    let decisions = &prepared.decisions;
    let cost = |plan: &Plan| objective.of(decisions.cost(plan));
    let mut plans = vec![Plan(Vec::new())];
    for decision in &decisions.0 {
        let mut longer = Vec::new();
        for shorter in &plans {
            for option in 0..decision.options.len() {
                let mut next = shorter.clone();
                next.0.push(option as u8);
                if cost(&next) < cost(plan) {
                    longer.push(next);
                }
            }
        }
        plans = longer;
    }
    plans
}

/// Choices to try at most.
const MOST_PLANS: usize = 3_000;

fn is_safe(program: &Program, engine: &mut Enumerating<'_>) -> bool {
    engine.search(program, 1).unwrap().conclusion() == Conclusion::Safe
}

/// Repairs a test so that a state that only the weak model has is gone; false if there is none.
fn check(tongue: Tongue, threads: &Threads, way: &Way) -> Result<bool, TestCaseError> {
    let weak = model(way.model);
    let Some(state) = weak_state(tongue, threads, way) else {
        return Ok(false);
    };
    let (prepared, question) = prepared(&text(tongue, threads, &state), &weak, way);
    let machine = way.machine();
    let compile = |program: &Program| compiled(program, machine);
    let mut costs = Vec::new();
    for collecting in [Collecting::OneByOne, Collecting::All] {
        let task = Task {
            marked: &prepared.marked,
            decisions: &prepared.decisions,
            model: &weak,
            compile: machine.is_some().then_some(&compile),
            objective: way.objective,
            collecting,
        };
        let mut engine = Enumerating { question: &question, model: &weak, machine };
        let synthesis = synthesize(&task, &mut engine).unwrap();
        let mut safe =
            |plan: &Plan| is_safe(&apply(&prepared.marked, &prepared.decisions, plan), &mut engine);
        match synthesis.ending {
            Ending::Safe { plan, .. } => {
                prop_assert!(safe(&plan));
                let written = parse("t.litmus", &prepared.texts(&plan)[0]).unwrap();
                let mut engine = Enumerating { question: &question, model: &weak, machine };
                prop_assert!(is_safe(&written.program, &mut engine));
                costs.push(Some(prepared.decisions.cost(&plan)));
                if collecting == Collecting::OneByOne {
                    let plans = cheaper(&prepared, way.objective, &plan);
                    for cheaper in plans.iter().take(MOST_PLANS) {
                        prop_assert!(!safe(cheaper), "{cheaper:?} is cheaper than {plan:?}");
                    }
                }
            }
            Ending::Hopeless { .. } => {
                prop_assert!(!safe(&prepared.decisions.strongest()));
                costs.push(None);
            }
            Ending::Unknown { .. } => prop_assert!(false, "unknown"),
        }
    }
    prop_assert_eq!(costs[0], costs[1]);
    Ok(true)
}

fn objective() -> impl Strategy<Value = Objective> {
    prop::sample::select(vec![Objective::Count, Objective::Weight])
}

fn any_repair() -> impl Strategy<Value = Repair> {
    prop::sample::select(vec![Repair::Fences, Repair::Orders, Repair::Both])
}

/// Weights of C11 in which nothing costs less than what is weaker.
fn weights() -> impl Strategy<Value = Weights> {
    (1..5u32, 1..5u32, 0..4u32, 0..6u32).prop_map(|(acq, rel, more, most)| {
        let both = acq.max(rel) + more;
        let text = format!("acq={acq},rel={rel},acq_rel={both},sc={}", both + most);
        Weights::parse(&text).unwrap()
    })
}

proptest! {
    // Most tests have nothing to repair, and do not count.
    #![proptest_config(ProptestConfig {
        cases: 30,
        max_global_rejects: 100_000,
        ..ProptestConfig::default()
    })]
    #[test]
    fn repairs_by_fences_are_right_and_the_cheapest(
        threads in threads(3),
        name in prop::sample::select(vec!["rc11", "c11", "tso", "pso", "imm", "ra"]),
    ) {
        prop_assume!(check(Tongue::C, &threads, &Way::usual(name, Repair::Fences))?);
    }

    #[test]
    fn whatever_may_change_and_whatever_it_costs(
        threads in threads(2),
        name in prop::sample::select(vec!["rc11", "c11", "imm"]),
        repair in any_repair(),
        objective in objective(),
        weights in weights(),
    ) {
        prop_assume!(check(Tongue::C, &threads, &Way { model: name, repair, objective, weights, is_compiled: false })?);
    }

    #[test]
    fn machines_are_no_exception(
        threads in threads(2),
        (tongue, name) in prop::sample::select(vec![
            (Tongue::X86, "tso"),
            (Tongue::AArch64, "aarch64"),
            (Tongue::Power, "power"),
            (Tongue::RiscV, "riscv"),
            (Tongue::Kernel, "lkmm"),
        ]),
        repair in any_repair(),
        objective in objective(),
    ) {
        let weights = Weights::default();
        prop_assume!(check(tongue, &threads, &Way { model: name, repair, objective, weights, is_compiled: false })?);
    }

    #[test]
    fn programs_for_many_machines_are_right_on_each(
        threads in threads(2),
        model in prop::sample::select(vec!["aarch64", "power", "riscv"]),
        repair in any_repair(),
        objective in objective(),
    ) {
        let weights = Weights::default();
        let way = Way { model, repair, objective, weights, is_compiled: true };
        prop_assume!(check(Tongue::C, &threads, &way)?);
    }
}

fn access(writes: bool, place: usize) -> Access {
    Access { writes, place, order: 0 }
}

/// The generators do find something to repair.
#[test]
fn store_buffering_is_among_them() {
    let threads =
        vec![vec![access(true, 0), access(false, 1)], vec![access(true, 1), access(false, 0)]];
    for (tongue, name) in [
        (Tongue::C, "rc11"),
        (Tongue::X86, "tso"),
        (Tongue::AArch64, "aarch64"),
        (Tongue::Power, "power"),
        (Tongue::RiscV, "riscv"),
        (Tongue::Kernel, "lkmm"),
    ] {
        assert!(check(tongue, &threads, &Way::usual(name, Repair::Fences)).unwrap(), "{name}");
    }
}
