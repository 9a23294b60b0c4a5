//! `parallax fences`: from a program to its cheapest repair.

pub mod arguments;
mod engines;
mod output;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use arguments::FencesArguments;
use arguments::{Mode, ObjectiveChoice, RepairChoice};
use engines::{Clock, Enumerating, Exploring};
use parallax_fences::source::{Document, Language};
use parallax_fences::{
    BranchAndBound, Dialect, Helpers, Job, Means, Objective, Outcome, Repair, Repaired, Weights,
    repair,
};
use parallax_frontend_litmus::Arch;
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property};

use crate::models::{ModelChoice, Models};
use crate::one_test::{read, shown};
use crate::verify::input::{Kind, load_edited};
use crate::verify::properties::Wanted;
use crate::verify::{C_MODEL, with_stack};
use crate::{Exit, interrupt};

/// How many bad executions are asked for at a time, where as many as there are are wanted.
const MANY: usize = 10_000;

/// The result, and what it was found with.
pub struct Answer {
    pub repaired: Repaired,
    pub model: String,
    pub engine: &'static str,
}

pub fn run(options: &FencesArguments) -> Exit {
    interrupt::install();
    let started = Instant::now();
    let answer = match with_stack(|| answer(options)) {
        Ok(Ok(answer)) => answer,
        Ok(Err(errors)) => {
            errors.iter().for_each(crate::output::report);
            return Exit::BadInput;
        }
        Err(broken) => {
            crate::output::report(&broken);
            return Exit::Unknown;
        }
    };
    let exit = match answer.repaired.outcome {
        Outcome::Fixed | Outcome::AlreadySafe => Exit::Fine,
        Outcome::Unfixable => Exit::Missed,
        Outcome::Unknown => Exit::Unknown,
    };
    match output::deliver(options, &answer, started.elapsed()) {
        Ok(()) => exit,
        Err(failed) => failed,
    }
}

fn answer(options: &FencesArguments) -> Result<Answer, Diagnostics> {
    let kind = options.input.kind()?;
    let several = options.input.inputs.len() > 1;
    if options.output.is_some() && several {
        let message = "--output is for one file; --in-place changes several";
        return Err(vec![Diagnostic::new(message)]);
    }
    match kind {
        Kind::Litmus => litmus(options.input.first(), options),
        Kind::C => c(options),
        Kind::Text | Kind::Machine | Kind::Structures => {
            let message = "there is no source here to put fences into";
            Err(vec![Diagnostic::new(message).with_help("inputs are .c, .i and .litmus files")])
        }
    }
}

/// What was said about the search.
fn job<'a>(
    documents: Vec<Document>,
    dialect: Dialect,
    model: &'a Model,
    weights: &'a Weights,
    options: &FencesArguments,
) -> Result<Job<'a>, Diagnostics> {
    weights.check(&dialect.known_to(model)).map_err(|why| vec![Diagnostic::new(why)])?;
    let repair = match options.repair {
        _ if options.relax => Repair::Relax,
        RepairChoice::Fences => Repair::Fences,
        RepairChoice::Orders => Repair::Orders,
        RepairChoice::Both => Repair::Both,
    };
    Ok(Job {
        documents,
        means: Means { dialect, model, weights, repair },
        objective: match options.objective {
            ObjectiveChoice::Count => Objective::Count,
            ObjectiveChoice::Weight => Objective::Weight,
        },
        batch: if options.mode == Mode::Fast { 1 } else { MANY },
        check: options.check,
    })
}

fn litmus(path: &Path, options: &FencesArguments) -> Result<Answer, Diagnostics> {
    let (name, text) = (shown(path), read(path)?);
    let test = parallax_frontend_litmus::parse(&name, &text)?;
    let asked = options.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
    let models = Models::new(&[], None);
    let model = models.for_test(&asked.unwrap_or(ModelChoice::ByArchitecture), &test)?;
    let sc = models.get(&ModelChoice::BuiltIn("sc".to_string()))?;
    let (dialect, language) = match test.arch {
        Arch::C => (Dialect::C11, Language::C),
        Arch::X86 | Arch::X86_64 => (Dialect::X86, Language::Table { capitals: true }),
        Arch::AArch64 => (Dialect::AArch64, Language::Table { capitals: true }),
        Arch::Arm => (Dialect::Arm, Language::Table { capitals: true }),
        Arch::Ppc => (Dialect::Power, Language::Table { capitals: false }),
        Arch::RiscV => (Dialect::RiscV, Language::Table { capitals: false }),
        Arch::Lkmm => {
            let error = Diagnostic::new("fences of the Linux kernel are not placed");
            return Err(vec![error.with_help("litmus tests in C11 and assembly are repaired")]);
        }
    };
    let code = test.code.start as usize..test.code.end as usize;
    let document = Document::new(&name, &text, language, code);
    let weights = options.weights.clone().unwrap_or_default();
    let job = job(vec![document], dialect, &model, &weights, options)?;
    let load = |texts: &[String]| -> Result<Program, Diagnostics> {
        let text = texts.first().map_or("", String::as_str);
        Ok(parallax_frontend_litmus::parse(&name, text)?.program)
    };
    let clock = Clock::new(options.timeout);
    let question = &test.question;
    let mut engine = Enumerating { model: &model, question, options, clock };
    let mut interleaving = Enumerating { model: &sc, question, options, clock };
    let mut helpers = Helpers {
        load: &load,
        engine: &mut engine,
        interleaving: &mut interleaving,
        cover: &mut BranchAndBound,
    };
    let repaired = repair(job, &mut helpers)?;
    Ok(Answer { repaired, model: model.name().to_string(), engine: "enumerate" })
}

fn c(options: &FencesArguments) -> Result<Answer, Diagnostics> {
    let usual = || Wanted::usual_of(Kind::C);
    let properties = options.property.clone().unwrap_or_else(usual).properties()?;
    let choice = options.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
    let models = Models::new(&[], None);
    let choice = choice.unwrap_or_else(|| ModelChoice::BuiltIn(C_MODEL.to_string()));
    let model = models.get(&choice)?;
    let sc = models.get(&ModelChoice::BuiltIn("sc".to_string()))?;
    let mut documents = Vec::new();
    for path in &options.input.inputs {
        if !path.extension().is_some_and(|extension| extension == "c" || extension == "i") {
            let message = format!("'{}': there is no source here to put fences into", shown(path));
            return Err(vec![Diagnostic::new(message)]);
        }
        let text = read(path)?;
        documents.push(Document::new(&shown(path), &text, Language::C, 0..text.len()));
    }
    let overflow = properties.contains(&Property::Overflow);
    if options.edit_headers {
        documents.extend(headers(options, overflow)?);
    }
    let paths: Vec<PathBuf> = documents.iter().map(|document| (&document.name).into()).collect();
    let load = |texts: &[String]| {
        let texts = paths.iter().cloned().zip(texts.iter().cloned()).collect();
        load_edited(&options.input, overflow, texts)
    };
    let weights = options.weights.clone().unwrap_or_default();
    let job = job(documents, Dialect::C11, &model, &weights, options)?;
    let clock = Clock::new(options.timeout);
    let mut engine = Exploring { model: &model, properties: properties.clone(), options, clock };
    let mut interleaving = Exploring { model: &sc, properties, options, clock };
    let mut helpers = Helpers {
        load: &load,
        engine: &mut engine,
        interleaving: &mut interleaving,
        cover: &mut BranchAndBound,
    };
    let repaired = repair(job, &mut helpers)?;
    Ok(Answer { repaired, model: model.name().to_string(), engine: "explore" })
}

/// The headers with code, as far as they can be read.
fn headers(options: &FencesArguments, overflow: bool) -> Result<Vec<Document>, Diagnostics> {
    let program = load_edited(&options.input, overflow, Vec::new())?;
    let given = |name: &str| options.input.inputs.iter().any(|path| shown(path) == name);
    let mut documents = Vec::new();
    for (name, _) in program.source.files() {
        if !given(name) && !name.starts_with('<') && !Path::new(name).is_absolute() {
            let text = read(Path::new(name))?;
            documents.push(Document::new(name, &text, Language::C, 0..text.len()));
        }
    }
    Ok(documents)
}
