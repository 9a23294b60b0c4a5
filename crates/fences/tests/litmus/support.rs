//! Litmus tests to repair, with the engine that enumerates their executions.

use parallax_engine_bounded::{Machine, compile};
use parallax_engine_enumerate::{Options, enumerate};
use parallax_fences::source::{Document, Language};
use parallax_fences::{
    Collecting, Dialect, Ending, Engine, Means, Objective, Prepared, Repair, Task, Weights,
    prepare, synthesize,
};
use parallax_frontend_litmus::{Arch, LitmusTest, parse};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property, Question};
use parallax_verdict::{Counts, Ending as Stop, Gaps, Scope, Searched, Verdict, Violation};

/// A litmus test whose final condition is a state that should not be there.
pub struct Enumerating<'a> {
    pub question: &'a Question,
    pub model: &'a Model,
    /// What C is compiled for first.
    pub machine: Option<Machine>,
}

/// What a machine runs of a program.
pub fn compiled(program: &Program, machine: Option<Machine>) -> Result<Program, Diagnostics> {
    match machine {
        Some(machine) => compile(program, machine).map_err(|error| vec![error]),
        None => Ok(program.clone()),
    }
}

impl Engine for Enumerating<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let options = Options { witnesses: most, ..Options::default() };
        let program = compiled(program, self.machine)?;
        let outcomes = enumerate(&program, self.question, self.model, &options)?;
        assert!(!matches!(outcomes.ending, Stop::Stopped { .. }));
        let violation = |execution| Violation {
            property: Property::Assert,
            message: String::new(),
            place: None,
            execution,
            involved: Vec::new(),
        };
        let violations: Vec<Violation> = outcomes.witnesses.into_iter().map(violation).collect();
        let searched = Searched {
            scope: Scope::Complete,
            all: false,
            gaps: Gaps::default(),
            properties: vec![Property::Assert],
            counts: Counts::default(),
            violations,
            notes: Vec::new(),
        };
        Ok(searched.conclude())
    }
}

pub fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("without errors")
}

/// How a test is to be repaired.
#[derive(Clone, Debug)]
pub struct Way {
    pub model: &'static str,
    pub repair: Repair,
    pub objective: Objective,
    pub weights: Weights,
    /// Whether a test in C is compiled for the machine of the model.
    pub is_compiled: bool,
}

impl Way {
    pub fn machine(&self) -> Option<Machine> {
        Machine::of_model(&model(self.model)).filter(|_| self.is_compiled)
    }

    pub fn usual(model: &'static str, repair: Repair) -> Way {
        let (objective, weights) = (Objective::Count, Weights::default());
        Way { model, repair, objective, weights, is_compiled: false }
    }
}

/// The fences of a test, and the language that it is written in.
fn language(test: &LitmusTest) -> (Dialect, Language) {
    let table = |capitals| Language::Table { capitals };
    match test.arch {
        Arch::C => (Dialect::C11, Language::C),
        Arch::Lkmm => (Dialect::Kernel, Language::C),
        Arch::X86 | Arch::X86_64 => (Dialect::X86, table(true)),
        Arch::AArch64 => (Dialect::AArch64, table(true)),
        Arch::Arm => (Dialect::Arm, table(true)),
        Arch::Ppc => (Dialect::Power, table(false)),
        Arch::RiscV => (Dialect::RiscV, table(false)),
    }
}

pub fn prepared(text: &str, model: &Model, way: &Way) -> (Prepared, Question) {
    let test = parse("t.litmus", text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    let code = test.code.start as usize..test.code.end as usize;
    let (dialect, language) = language(&test);
    let document = Document::new("t.litmus", text, language, code);
    let fences = match way.is_compiled {
        true => dialect.fences().to_vec(),
        false => dialect.known_to(model),
    };
    let means = Means { dialect, fences, model, weights: &way.weights, repair: way.repair };
    let load = |texts: &[String]| Ok(parse("t.litmus", &texts[0])?.program);
    (prepare(vec![document], &means, &load).expect("decisions"), test.question)
}

/// What is changed, as lines, or how it ended; and how much it costs.
pub fn repaired(text: &str, name: &'static str, repair: Repair) -> (Vec<String>, (u64, u64)) {
    let model = model(name);
    let (prepared, question) = prepared(text, &model, &Way::usual(name, repair));
    let task = Task {
        marked: &prepared.marked,
        decisions: &prepared.decisions,
        model: &model,
        objective: Objective::Count,
        compile: None,
        collecting: Collecting::OneByOne,
    };
    let mut engine = Enumerating { question: &question, model: &model, machine: None };
    let synthesis = synthesize(&task, &mut engine).expect("an answer");
    match synthesis.ending {
        Ending::Safe { plan, .. } => {
            let changes = prepared.changes(&plan).into_iter();
            let lines = changes
                .map(|change| format!("{}: {} -> {}", change.place.line, change.from, change.to));
            (lines.collect(), prepared.decisions.cost(&plan))
        }
        Ending::Hopeless { .. } => (vec!["hopeless".to_string()], (0, 0)),
        Ending::Unknown { reason, .. } => panic!("{}", reason.message),
    }
}
