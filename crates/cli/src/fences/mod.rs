//! `parallax fences`: from a program to its cheapest repair.

pub mod arguments;
mod output;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use arguments::FencesArguments;
use arguments::{Mode, ObjectiveChoice, RepairChoice};
use parallax_control::{Cancel, Control};
use parallax_fences::source::{Document, Language};
use parallax_fences::{
    Collecting, Compile, Dialect, Helpers, Job, Means, Objective, Outcome, Repair, Repaired,
    Weights, repair,
};
use parallax_frontend_litmus::Arch;
use parallax_memory::{INTERLEAVING, Model};
use parallax_program::{Diagnostic, Diagnostics, Program, Property, SourceFile};

use parallax_verify::input::{Checks, Kind, load_assembly, load_edited, settle};
use parallax_verify::models::{ModelChoice, Models, compiled_for};
use parallax_verify::repairs::{Asked, Enumerating, Whole, compiler, first_engine};
use parallax_verify::request::{check_machine_model, check_machine_properties};
use parallax_verify::text::{read, shown};
use parallax_verify::{C_MODEL, Input, MACHINE_MODEL, Properties};

use crate::verify::timed;
use crate::{Exit, interrupt};

/// The result, and what it was found with.
pub struct Answer {
    pub repaired: Repaired,
    pub model: String,
    pub engine: &'static str,
}

pub fn run(options: &FencesArguments) -> Exit {
    let cancel = interrupt::install();
    let (answer, time) = match timed(|| answer(options, &cancel)) {
        Ok(answered) => answered,
        Err(exit) => return exit,
    };
    let exit = match answer.repaired.outcome {
        Outcome::Fixed | Outcome::AlreadySafe => Exit::Fine,
        Outcome::Unfixable => Exit::Missed,
        Outcome::Unknown => Exit::Unknown,
    };
    match output::deliver(options, &answer, time) {
        Ok(()) => exit,
        Err(failed) => failed,
    }
}

/// What the engines are asked.
fn asked(
    model: &Arc<Model>,
    properties: &[Property],
    options: &FencesArguments,
    control: &Control<'static>,
) -> Asked<'static> {
    Asked {
        model: model.clone(),
        properties: properties.to_vec(),
        unroll: options.unroll.0,
        nondet: options.nondet,
        control: control.clone(),
    }
}

fn answer(options: &FencesArguments, cancel: &Cancel) -> Result<Answer, Diagnostics> {
    let input = options.input.within(options.timeout);
    let kind = input.kind()?;
    let control = Control {
        memory_limit: options.memory_limit.map(|limit| u64::from(limit.get())),
        jobs: options.jobs,
        ..Control::default().until(cancel.clone()).within(options.timeout)
    };
    let several = options.input.inputs.len() > 1;
    if options.output.is_some() && several {
        let message = "--output is for one file; --in-place changes several";
        return Err(vec![Diagnostic::new(message)]);
    }
    // Places are known by name, and edits are made at places.
    if let Some(path) = options.input.inputs.iter().find(|path| path.to_str().is_none()) {
        let message = format!("{}: the name of the file is not UTF-8", path.display());
        return Err(vec![Diagnostic::new(message).with_help("rename it, or link to it")]);
    }
    match kind {
        Kind::Litmus => litmus(input.first(), options, &control),
        Kind::C => c(&input, options, &control),
        Kind::Machine if is_assembly(input.first()) => assembly(&input, options, &control),
        Kind::Text | Kind::Machine | Kind::Structures => {
            let message = "there is no source here to put fences into";
            Err(vec![Diagnostic::new(message).with_help("inputs are .c, .i, .s and .litmus files")])
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
    let is_compiled = dialect == Dialect::C11 && compiler(model).is_some();
    let fences = if is_compiled { dialect.fences().to_vec() } else { dialect.known_to(model) };
    weights.check(dialect, &fences).map_err(|why| vec![Diagnostic::new(why)])?;
    let repair = match options.repair {
        _ if options.relax => Repair::Relax,
        RepairChoice::Fences => Repair::Fences,
        RepairChoice::Orders => Repair::Orders,
        RepairChoice::Both => Repair::Both,
    };
    Ok(Job {
        documents,
        means: Means { dialect, fences, model, weights, repair },
        objective: match options.objective {
            ObjectiveChoice::Count => Objective::Count,
            ObjectiveChoice::Weight => Objective::Weight,
        },
        collecting: match options.mode {
            Mode::Fast => Collecting::OneByOne,
            Mode::Optimal => Collecting::All,
        },
        check: options.check,
    })
}

fn litmus(
    path: &Path,
    options: &FencesArguments,
    control: &Control<'static>,
) -> Result<Answer, Diagnostics> {
    let (name, text) = (shown(path), read(path)?);
    let test = parallax_frontend_litmus::parse(&name, &text)?;
    let choice = options.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
    let models = Models::new(&[], None);
    let model = models.for_test(&choice.unwrap_or(ModelChoice::ByArchitecture), &test)?;
    let sc = models.get(&ModelChoice::BuiltIn(INTERLEAVING.to_string()))?;
    let (dialect, language) = match test.arch {
        Arch::C => (Dialect::C11, Language::C),
        Arch::X86 | Arch::X86_64 => (Dialect::X86, Language::Table { capitals: true }),
        Arch::AArch64 => (Dialect::AArch64, Language::Table { capitals: true }),
        Arch::Arm => (Dialect::Arm, Language::Table { capitals: true }),
        Arch::Ppc => (Dialect::Power, Language::Table { capitals: false }),
        Arch::RiscV => (Dialect::RiscV, Language::Table { capitals: false }),
        Arch::Lkmm => (Dialect::Kernel, Language::C),
    };
    let code = test.code.start as usize..test.code.end as usize;
    let document = Document::new(&name, &text, language, code);
    let weights = options.weights.clone().unwrap_or_default();
    let job = job(vec![document], dialect, &model, &weights, options)?;
    let load = |texts: &[String]| -> Result<Program, Diagnostics> {
        let text = texts.first().map_or("", String::as_str);
        Ok(parallax_frontend_litmus::parse(&name, text)?.program)
    };
    let question = &test.question;
    let asked = |model| asked(model, &[Property::Assert], options, control);
    let mut engine = Enumerating { asked: asked(&model), question };
    let mut interleaving = Enumerating { asked: asked(&sc), question };
    let mut helpers = Helpers {
        load: &load,
        engine: &mut engine,
        compile: None,
        interleaving: &mut interleaving,
    };
    let repaired = repair(job, &mut helpers)?;
    Ok(Answer { repaired, model: model.name().to_string(), engine: "enumerate" })
}

fn c(
    input: &Input,
    options: &FencesArguments,
    control: &Control<'static>,
) -> Result<Answer, Diagnostics> {
    let usual = || Properties::usual_of(Kind::C);
    let wanted = options.property.clone().unwrap_or_else(usual);
    let (properties, checks) = (wanted.properties_of(Kind::C)?, wanted.checks()?);
    let choice = options.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
    let models = Models::new(&[], None);
    let choice = choice.unwrap_or_else(|| ModelChoice::BuiltIn(C_MODEL.to_string()));
    let model = models.get(&choice)?;
    compiled_for(&model, parallax_memory::Language::C).map_err(|error| vec![error])?;
    check_properties(&properties, &model, options)?;
    let sc = models.get(&ModelChoice::BuiltIn(INTERLEAVING.to_string()))?;
    let mut documents = Vec::new();
    for path in &input.files {
        if !path.extension().is_some_and(|extension| extension == "c" || extension == "i") {
            let message = format!("'{}': there is no source here to put fences into", shown(path));
            return Err(vec![Diagnostic::new(message)]);
        }
        let text = read(path)?;
        documents.push(Document::new(&shown(path), &text, Language::C, 0..text.len()));
    }
    if options.edit_headers {
        documents.extend(headers(input, &checks)?);
    }
    let paths: Vec<PathBuf> = documents.iter().map(|document| (&document.name).into()).collect();
    let races = properties.contains(&Property::Race);
    let load = |texts: &[String]| {
        let texts = paths.iter().cloned().zip(texts.iter().cloned()).collect();
        let mut program = load_edited(input, &checks, texts)?;
        if races {
            settle(&mut program);
        }
        Ok(program)
    };
    let weights = options.weights.clone().unwrap_or_default();
    let job = job(documents, Dialect::C11, &model, &weights, options)?;
    let mut interleaving = Whole(asked(&sc, &properties, options, control));
    let mut engine = Whole(asked(&model, &properties, options, control));
    let compile = compiler(&model);
    let compile = compile.as_ref().map(|compile| compile as &Compile<'_>);
    let (engine, interleaving) = (&mut engine, &mut interleaving);
    let mut helpers = Helpers { load: &load, engine, compile, interleaving };
    let repaired = repair(job, &mut helpers)?;
    Ok(Answer { repaired, model: model.name().to_string(), engine: first_engine(&model) })
}

/// A repair for a property that nothing looks for would be no repair.
fn check_properties(
    properties: &[Property],
    model: &Model,
    options: &FencesArguments,
) -> Result<(), Diagnostics> {
    let is_by_name = options.property.as_ref().is_some_and(Properties::is_by_name);
    let is_asked = is_by_name && properties.contains(&Property::Race);
    if is_asked && !model.flags_races() {
        let message = format!("the model '{}' does not say what a data race is", model.name());
        let for_c =
            |model: &Model| model.flags_races() && model.speaks(parallax_memory::Language::C);
        let names = Model::builtin_where(for_c);
        let help = format!("races are repaired under {names} and cat files that flag them");
        return Err(vec![Diagnostic::new(message).with_help(help)]);
    }
    Ok(())
}

fn is_assembly(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "s" || extension == "S")
}

/// A file for the assembler.
fn assembly(
    input: &Input,
    options: &FencesArguments,
    control: &Control<'static>,
) -> Result<Answer, Diagnostics> {
    check_machine_model(options.model.as_deref())?;
    let usual = || Properties::usual_of(Kind::Machine);
    let properties = options.property.clone().unwrap_or_else(usual).properties_of(Kind::Machine)?;
    check_machine_properties(&properties)?;
    let models = Models::new(&[], None);
    let choice = options.model.as_deref().unwrap_or(MACHINE_MODEL);
    let model = models.get(&ModelChoice::parse(choice, Path::new("")))?;
    let sc = models.get(&ModelChoice::BuiltIn(INTERLEAVING.to_string()))?;
    let path = input.first();
    let text = read(path)?;
    check_lines(path, &text)?;
    let document = Document::new(&shown(path), &text, Language::Assembly, 0..text.len());
    let load = |texts: &[String]| load_assembly(input, texts.first().map_or("", String::as_str));
    let weights = options.weights.clone().unwrap_or_default();
    let job = job(vec![document], Dialect::X86, &model, &weights, options)?;
    let mut engine = Whole(asked(&model, &properties, options, control));
    let mut interleaving = Whole(asked(&sc, &properties, options, control));
    let mut helpers = Helpers {
        load: &load,
        engine: &mut engine,
        compile: None,
        interleaving: &mut interleaving,
    };
    let repaired = repair(job, &mut helpers)?;
    Ok(Answer { repaired, model: model.name().to_string(), engine: "explore" })
}

/// Instructions are found by their lines, so these must be the lines of the file itself.
fn check_lines(path: &Path, text: &str) -> Result<(), Diagnostics> {
    let of_others = |line: &str| line.trim_start().starts_with(".loc ");
    match text.lines().position(of_others) {
        Some(line) => {
            let source = SourceFile::new(&shown(path), text);
            let message = "this says which line of another file its instructions come from";
            let error = source.error(source.span_at(0, line as u32 + 1, 0), message.to_string());
            Err(vec![error.with_help("have the compiler make it without -g")])
        }
        None => Ok(()),
    }
}

/// Whether a file is below the folder that the command runs in, or below that of an input. The
/// program says what its files are called, so these names may lead anywhere.
fn is_below_inputs(path: &Path, input: &Input) -> bool {
    let folders = input.files.iter().filter_map(|input| input.parent());
    let mut folders =
        folders.chain([Path::new("")]).filter_map(|folder| real(&Path::new(".").join(folder)));
    let path = real(path).filter(|_| !path.is_absolute());
    path.is_some_and(|path| folders.any(|folder| path.starts_with(folder)))
}

fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// The headers with code, as far as they can be read.
fn headers(input: &Input, checks: &Checks) -> Result<Vec<Document>, Diagnostics> {
    let program = load_edited(input, checks, Vec::new())?;
    let given = |name: &str| input.files.iter().any(|path| shown(path) == name);
    let mut documents = Vec::new();
    for (name, _) in program.source.files() {
        let is_own = !name.starts_with('<') && is_below_inputs(Path::new(name), input);
        if !given(name) && is_own {
            let text = read(Path::new(name))?;
            documents.push(Document::new(name, &text, Language::C, 0..text.len()));
        }
    }
    Ok(documents)
}
