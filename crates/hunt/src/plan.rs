//! Which questions are asked about a program, and which answers are compared.
//!
//! All questions would take minutes a program: models and properties are drawn at random, and all
//! engines are asked about those.

use parallax_program::Property;
use parallax_verify::registry::{ENGINES, named};

use crate::check::Check;
use crate::query::{Asked, Compiler, Engine, Form, MODELS, Query, Setting};
use crate::random::Random;

/// Pairs of a model and one that allows all that it allows, of programs of C: what is compiled right is
/// allowed by the source. Models of languages that forbid what hardware does (`rc11` forbids load
/// buffering) are only above those that forbid it too.
const WEAKER: [(&str, &str); 24] = [
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
    ("sc", "rc11-mca"),
    ("tso", "rc11-mca"),
    ("pso", "rc11-mca"),
    ("rc11-mca", "rc11"),
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
            plan.groups.push(group(random, model, (*property).into(), is_litmus));
        }
    }
    together(random, &mut plan, &models, &properties);
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

/// Programs in C are asked about every engine there is, and some of them twice.
fn group(random: &mut Random, model: &'static str, asked: Asked, is_litmus: bool) -> Vec<Query> {
    let query = |form, engine| Query { form, engine, model, asked, counting: false };
    let mut engines = engines_for(asked);
    // What it answers is the bounded engine's answer, and it counts for long where inputs are open.
    if !random.percent(20) {
        engines.retain(|engine| *engine != Engine::VIEW);
    }
    let reduced: [&'static str; 8] = [
        "none",
        "spin-loops",
        "waits",
        "symmetry",
        "barriers",
        "locks",
        "updates",
        "spin-loops,waits",
    ];
    let reductions = Setting::Reductions(random.pick::<&'static str>(&reduced));
    engines.push(Engine::EXPLORE.with(reductions));
    let solved = |setting| Engine::BOUNDED.with(setting);
    let crew = Engine::EXPLORE.with(Setting::Crew);
    let mut others = vec![solved(Setting::Z3), solved(Setting::Certified), crew];
    if has_machine(model) {
        others.extend([ALL_STATES, solved(Setting::Gharachorloo)]);
    }
    engines.push(*random.pick(&others));
    let mut queries: Vec<Query> =
        engines.into_iter().map(|engine| query(Form::C, engine)).collect();
    if random.percent(15) {
        let narrow = [Engine::AUTO, Engine::EXPLORE, Engine::STATES, Engine::BOUNDED];
        queries.push(query(Form::NarrowC, *random.pick(&narrow)));
    }
    if is_litmus && asked == Property::Assert.into() {
        for engine in [Engine::ENUMERATE, Engine::BOUNDED, Engine::STATES] {
            queries.push(query(Form::Litmus, engine));
        }
    }
    queries
}

/// All states, those that make no difference too.
const ALL_STATES: Engine = Engine::STATES.with(Setting::Reductions("none"));

fn has_machine(model: &str) -> bool {
    matches!(model, "sc" | "tso" | "pso")
}

/// Who looks for all of this in programs, whatever the model: `auto`, and engines of the registry.
pub fn engines_for(asked: Asked) -> Vec<Engine> {
    let looks_for =
        |name: &'static str, property| named(name).is_some_and(|engine| engine.looks_for(property));
    let names = ENGINES.iter().map(|engine| engine.name());
    let able = names.filter(|name| {
        *name != Engine::ENUMERATE.name
            && asked.properties().into_iter().all(|property| looks_for(name, property))
    });
    [Engine::AUTO].into_iter().chain(able.map(Engine::usual)).collect()
}

/// Several properties at once, under one model, against each of them alone.
fn together(
    random: &mut Random,
    plan: &mut Plan,
    models: &[&'static str],
    properties: &[Property],
) {
    if properties.len() < 2 {
        return;
    }
    let model = random.pick::<&'static str>(models);
    let asked = Asked::of(properties);
    let engines = engines_for(asked);
    let query = |engine, asked| Query { form: Form::C, engine, model, asked, counting: false };
    plan.groups.push(engines.iter().map(|engine| query(*engine, asked)).collect());
    for property in properties {
        for engine in &engines {
            let part = query(*engine, (*property).into());
            plan.checks.push(Check::Joined(part, query(*engine, asked)));
        }
    }
}

fn inclusions(plan: &mut Plan, models: &[&'static str], property: Property) {
    for (strong, weak) in WEAKER {
        if !models.contains(&strong) || !models.contains(&weak) {
            continue;
        }
        for engine in [Engine::EXPLORE, Engine::BOUNDED] {
            let asked = property.into();
            let of = |model| Query { form: Form::C, engine, model, asked, counting: false };
            plan.checks.push(Check::Implied(of(strong), of(weak)));
        }
    }
}

/// Bad executions are not counted, so what is asked for is something that these programs have not.
fn counts(plan: &mut Plan, model: &'static str) {
    let query = |form, engine, property: Property| Query {
        form,
        engine,
        model,
        asked: property.into(),
        counting: property != Property::Assert,
    };
    let enumerated = query(Form::Litmus, Engine::ENUMERATE, Property::Assert);
    let unreduced = Engine::EXPLORE.with(Setting::Reductions("none"));
    for form in [Form::Text, Form::C] {
        let explored = query(form, unreduced, Property::Deadlock);
        plan.checks.push(Check::Counted(enumerated, explored));
    }
}

fn finals(random: &mut Random, plan: &mut Plan, model: &'static str) {
    let mut engines = vec![Engine::BOUNDED, Engine::BOUNDED.with(Setting::Z3)];
    if has_machine(model) {
        engines.extend([Engine::STATES, ALL_STATES]);
    }
    let query = |engine| Query {
        form: Form::Litmus,
        engine,
        model,
        asked: Property::Assert.into(),
        counting: false,
    };
    let other = query(*random.pick(&engines));
    plan.checks.push(Check::Finals(query(Engine::ENUMERATE), other));
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
    let asked = property.into();
    let query = |engine| Query { form, engine, model, asked, counting: false };
    let engines = engines_for(asked);
    plan.groups.push(engines.iter().map(|engine| query(*engine)).collect());
    if property == Property::Assert && model != "pso" {
        let source =
            Query { form: Form::C, engine: Engine::EXPLORE, model: "rc11", asked, counting: false };
        for engine in engines {
            plan.checks.push(Check::Compiled(query(engine), source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_of_the_registry_is_asked() {
        let mut asked: Vec<&str> = Vec::new();
        for number in 0..40 {
            let plan = plan(&mut Random::of(3, number), true, &Focus::default());
            asked.extend(plan.groups.iter().flatten().map(|query| query.engine.name));
        }
        for engine in ENGINES {
            assert!(asked.contains(&engine.name()), "nobody asks '{}'", engine.name());
        }
        assert!(asked.contains(&Engine::AUTO.name));
    }
}
