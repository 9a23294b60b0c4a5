//! Which questions are asked about a program, and which answers are compared.
//!
//! All questions would take minutes a program: models and properties are drawn at random, and all
//! engines are asked about those.

use parallax_program::Property;

use crate::check::Check;
use crate::query::{Compiler, Engine, Form, MODELS, Query};
use crate::random::Random;

/// Pairs of a model and one that allows all that it allows, of programs of C: what is compiled right is
/// allowed by the source. Models of languages that forbid what hardware does (`rc11` forbids load
/// buffering) are only above those that forbid it too.
const WEAKER: [(&str, &str); 20] = [
    ("sc", "tso"),
    ("sc", "pso"),
    ("sc", "rmo"),
    ("sc", "rc11"),
    ("sc", "rc20"),
    ("sc", "ra"),
    ("sc", "c11"),
    ("sc", "imm"),
    ("sc", "aarch64"),
    ("sc", "power"),
    ("sc", "riscv"),
    ("tso", "pso"),
    ("tso", "rc11"),
    ("pso", "rc11"),
    ("tso", "rc20"),
    ("pso", "rc20"),
    ("rc11", "rc20"),
    ("tso", "imm"),
    ("aarch64", "imm"),
    ("riscv", "imm"),
];

/// Properties whose violations a stronger model does not add. Waiting for ever is not among them: what
/// counts there is also what cannot happen any more.
const MONOTONE: [Property; 4] =
    [Property::Assert, Property::Memory, Property::Overflow, Property::Lock];

/// What questions are about; empty lists leave it to chance.
#[derive(Clone, Default)]
pub struct Focus {
    pub models: Vec<&'static str>,
    pub properties: Vec<Property>,
}

impl Focus {
    fn models(&self, random: &mut Random) -> Vec<&'static str> {
        match self.models.is_empty() {
            true => some(random, &MODELS, Vec::new()),
            false => self.models.clone(),
        }
    }

    fn properties(&self, random: &mut Random) -> Vec<Property> {
        match self.properties.is_empty() {
            true => some(random, &Property::ALL, vec![Property::Assert]),
            false => self.properties.clone(),
        }
    }
}

/// Three of many, each once.
fn some<T: Copy + PartialEq>(random: &mut Random, all: &[T], mut chosen: Vec<T>) -> Vec<T> {
    while chosen.len() < 3 {
        let one = *random.pick(all);
        if !chosen.contains(&one) {
            chosen.push(one);
        }
    }
    chosen
}

pub struct Plan {
    /// Questions that have one answer, whoever gives it.
    pub groups: Vec<Vec<Query>>,
    /// Further comparisons.
    pub checks: Vec<Check>,
}

impl Plan {
    pub fn has_machine_code(&self) -> bool {
        self.groups.iter().flatten().any(|query| matches!(query.form, Form::Machine(..)))
    }
}

/// What to ask about a program that may be a litmus test.
pub fn plan(random: &mut Random, is_litmus: bool, focus: &Focus) -> Plan {
    let mut plan = Plan { groups: Vec::new(), checks: Vec::new() };
    let (models, properties) = (focus.models(random), focus.properties(random));
    for model in &models {
        for property in &properties {
            plan.groups.push(group(random, model, *property, is_litmus));
        }
    }
    for property in properties.iter().filter(|property| MONOTONE.contains(property)) {
        inclusions(&mut plan, &models, *property);
    }
    if is_litmus {
        models.iter().for_each(|model| counts(&mut plan, model));
        let model = random.pick::<&'static str>(&models);
        finals(random, &mut plan, model);
    }
    if random.percent(20) {
        machine_code(random, &mut plan, focus);
    }
    if random.percent(15) {
        let query = *random.pick(&plan.groups[0]);
        plan.checks.push(Check::Repeated(query));
    }
    plan
}

fn form_for(property: Property) -> Form {
    if property == Property::Overflow { Form::CheckedC } else { Form::C }
}

fn group(
    random: &mut Random,
    model: &'static str,
    property: Property,
    is_litmus: bool,
) -> Vec<Query> {
    let form = form_for(property);
    let query = |form, engine| Query { form, engine, model, property, counting: false };
    let mut engines = vec![Engine::Explore, Engine::States, Engine::Bounded];
    let reduced: [&'static str; 6] =
        ["none", "spin-loops", "waits", "symmetry", "barriers", "spin-loops,waits"];
    engines.push(Engine::Reduced(random.pick::<&'static str>(&reduced)));
    let mut others = vec![Engine::BoundedZ3, Engine::BoundedCertified, Engine::Crew];
    if matches!(model, "sc" | "tso" | "pso") {
        others.extend([Engine::AllStates, Engine::BoundedGharachorloo]);
    }
    engines.push(*random.pick(&others));
    if property == Property::Assert {
        engines.push(Engine::Inductive);
    }
    let mut queries: Vec<Query> = engines.into_iter().map(|engine| query(form, engine)).collect();
    if is_litmus && property == Property::Assert {
        queries.push(query(Form::Litmus, Engine::Enumerate));
        queries.push(query(Form::Litmus, Engine::Bounded));
        queries.push(query(Form::Litmus, Engine::States));
    }
    queries
}

fn inclusions(plan: &mut Plan, models: &[&'static str], property: Property) {
    let form = form_for(property);
    for (strong, weak) in WEAKER {
        if !models.contains(&strong) || !models.contains(&weak) {
            continue;
        }
        for engine in [Engine::Explore, Engine::Bounded] {
            let of = |model| Query { form, engine, model, property, counting: false };
            plan.checks.push(Check::Implied(of(strong), of(weak)));
        }
    }
}

fn counts(plan: &mut Plan, model: &'static str) {
    let query = |form, engine, counting| Query {
        form,
        engine,
        model,
        property: Property::Assert,
        counting,
    };
    let enumerated = query(Form::Litmus, Engine::Enumerate, false);
    for form in [Form::Litmus, Form::C] {
        let explored = query(form, Engine::Reduced("none"), true);
        plan.checks.push(Check::Counted(enumerated, explored));
    }
}

fn finals(random: &mut Random, plan: &mut Plan, model: &'static str) {
    let mut engines = vec![Engine::Bounded, Engine::BoundedZ3];
    if matches!(model, "sc" | "tso" | "pso") {
        engines.extend([Engine::States, Engine::AllStates]);
    }
    let query = |engine| Query {
        form: Form::Litmus,
        engine,
        model,
        property: Property::Assert,
        counting: false,
    };
    let other = query(*random.pick(&engines));
    plan.checks.push(Check::Finals(query(Engine::Enumerate), other));
}

fn machine_code(random: &mut Random, plan: &mut Plan, focus: &Focus) {
    let compiler = *random.pick(&[Compiler::Gcc, Compiler::Clang]);
    let form = Form::Machine(compiler, *random.pick(&[0, 2]));
    let mut models = vec!["tso", "tso", "sc", "pso"];
    models.retain(|model| focus.models.is_empty() || focus.models.contains(model));
    let mut properties = vec![Property::Assert, Property::Assert, Property::Deadlock];
    properties.retain(|one| focus.properties.is_empty() || focus.properties.contains(one));
    if models.is_empty() || properties.is_empty() {
        return;
    }
    let (model, property) = (*random.pick(&models), *random.pick(&properties));
    let query = |engine| Query { form, engine, model, property, counting: false };
    let engines = [Engine::States, Engine::Explore, Engine::Bounded];
    plan.groups.push(engines.into_iter().map(query).collect());
    if property == Property::Assert && model != "pso" {
        let source = Query {
            form: Form::C,
            engine: Engine::Explore,
            model: "rc11",
            property,
            counting: false,
        };
        for engine in engines {
            plan.checks.push(Check::Compiled(query(engine), source));
        }
    }
}
