//! Repairs: from a program to the cheapest changes that make it correct.

mod engines;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parallax_control::Control;
use parallax_engine_bounded::{Machine, compile};
use parallax_fences::source::{Document, Language};
use parallax_fences::{
    Collecting, Compile, Dialect, Helpers, Job, Means, Objective, Repair, Repaired, Weights, repair,
};
use parallax_frontend_litmus::{Arch, parse};
use parallax_memory::{INTERLEAVING, Model};
use parallax_program::{Diagnostic, Diagnostics, Program, Property, SourceFile};

use crate::input::{Checks, Input, Kind, load_assembly, load_edited, settle};
use crate::models::{ModelChoice, Models, compiled_for};
use crate::properties::Properties;
use crate::request::{check_machine_model, check_machine_properties};
use crate::text::{read, shown};
use crate::{C_MODEL, MACHINE_MODEL};
use engines::{Asked, Enumerating, Whole};

/// A program to repair, and how.
#[derive(Clone)]
pub struct RepairRequest {
    pub input: Input,
    /// A built-in model or a cat file; None for the one that the input usually has.
    pub model: Option<String>,
    /// None for those that inputs of the kind are usually checked for.
    pub properties: Option<Properties>,
    /// How often loops are repeated at most; None for as often as is needed.
    pub unroll: Option<u32>,
    /// Which values inputs may have, both ends included; None for any.
    pub nondet: Option<(i128, i128)>,
    pub repair: Repair,
    pub objective: Objective,
    pub collecting: Collecting,
    pub weights: Weights,
    /// Whether each change is shown to be needed.
    pub check: bool,
    /// Whether headers may be changed, too.
    pub edit_headers: bool,
}

/// The result, and what it was found with.
pub struct Mended {
    pub repaired: Repaired,
    pub model: String,
    /// Who has answered last under the model.
    pub engine: &'static str,
}

impl RepairRequest {
    /// Looks for the cheapest repair.
    pub fn mend(&self, control: &Control<'_>) -> Result<Mended, Diagnostics> {
        let kind = self.input.kind()?;
        // Places are known by name, and edits are made at places.
        if let Some(path) = self.input.files.iter().find(|path| path.to_str().is_none()) {
            let message = format!("{}: the name of the file is not UTF-8", path.display());
            return Err(vec![Diagnostic::new(message).with_help("rename it, or link to it")]);
        }
        match kind {
            Kind::Litmus => self.litmus(control),
            Kind::C => self.c(control),
            Kind::Machine if is_assembly(self.input.first()) => self.assembly(control),
            Kind::Text | Kind::Machine | Kind::Structures => {
                let message = "there is no source here to put fences into";
                let help = "inputs are .c, .i, .s and .litmus files";
                Err(vec![Diagnostic::new(message).with_help(help)])
            }
        }
    }

    /// The model that was asked for, or else the usual one.
    fn model_choice(&self, usual: ModelChoice) -> ModelChoice {
        let asked = self.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
        asked.unwrap_or(usual)
    }

    /// What the engines are asked.
    fn asked<'a>(
        &self,
        model: &Arc<Model>,
        properties: &[Property],
        control: &Control<'a>,
    ) -> Asked<'a> {
        Asked {
            answered_by: NOBODY,
            model: model.clone(),
            properties: properties.to_vec(),
            unroll: self.unroll,
            nondet: self.nondet,
            control: control.clone(),
        }
    }

    fn job<'a>(
        &'a self,
        documents: Vec<Document>,
        dialect: Dialect,
        model: &'a Model,
    ) -> Result<Job<'a>, Diagnostics> {
        let is_compiled = dialect == Dialect::C11 && Machine::of_model(model).is_some();
        let fences = if is_compiled { dialect.fences().to_vec() } else { dialect.known_to(model) };
        let weights = &self.weights;
        weights.check(dialect, &fences).map_err(|why| vec![Diagnostic::new(why)])?;
        Ok(Job {
            documents,
            means: Means { dialect, fences, model, weights, repair: self.repair },
            objective: self.objective,
            collecting: self.collecting,
            check: self.check,
        })
    }

    fn litmus(&self, control: &Control<'_>) -> Result<Mended, Diagnostics> {
        let path = self.input.first();
        let (name, text) = (shown(path), read(path)?);
        let test = parse(&name, &text)?;
        let models = Models::new(&[], None);
        let model = models.for_test(&self.model_choice(ModelChoice::ByArchitecture), &test)?;
        let sc = interleaving(&models)?;
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
        let job = self.job(vec![document], dialect, &model)?;
        let load = |texts: &[String]| -> Result<Program, Diagnostics> {
            let text = texts.first().map_or("", String::as_str);
            Ok(parse(&name, text)?.program)
        };
        let question = &test.question;
        let asked = |model| self.asked(model, &[Property::Assert], control);
        let mut engine = Enumerating { asked: asked(&model), question };
        let interleaving = &mut Enumerating { asked: asked(&sc), question };
        let mut helpers = Helpers { load: &load, engine: &mut engine, compile: None, interleaving };
        let repaired = repair(job, &mut helpers)?;
        Ok(Mended { repaired, model: model.name().to_string(), engine: engine.asked.answered_by })
    }

    fn c(&self, control: &Control<'_>) -> Result<Mended, Diagnostics> {
        let input = &self.input;
        let wanted = self.properties.clone().unwrap_or_else(|| Properties::usual_of(Kind::C));
        let (properties, checks) = (wanted.properties_of(Kind::C)?, wanted.checks()?);
        let models = Models::new(&[], None);
        let model = models.get(&self.model_choice(ModelChoice::BuiltIn(C_MODEL.to_string())))?;
        compiled_for(&model, parallax_memory::Language::C).map_err(|error| vec![error])?;
        self.check_properties(&properties, &model)?;
        let sc = interleaving(&models)?;
        let mut documents = Vec::new();
        for path in &input.files {
            if !path.extension().is_some_and(|extension| extension == "c" || extension == "i") {
                let message =
                    format!("'{}': there is no source here to put fences into", shown(path));
                return Err(vec![Diagnostic::new(message)]);
            }
            let text = read(path)?;
            documents.push(Document::new(&shown(path), &text, Language::C, 0..text.len()));
        }
        if self.edit_headers {
            documents.extend(headers(input, &checks)?);
        }
        let paths: Vec<PathBuf> =
            documents.iter().map(|document| (&document.name).into()).collect();
        let races = properties.contains(&Property::Race);
        let load = |texts: &[String]| {
            let texts = paths.iter().cloned().zip(texts.iter().cloned()).collect();
            let mut program = load_edited(input, &checks, texts)?;
            if races {
                settle(&mut program);
            }
            Ok(program)
        };
        let job = self.job(documents, Dialect::C11, &model)?;
        let interleaving = &mut Whole(self.asked(&sc, &properties, control));
        let mut engine = Whole(self.asked(&model, &properties, control));
        let machine = Machine::of_model(&model);
        let compile = machine.map(|machine| {
            move |program: &Program| compile(program, machine).map_err(|error| vec![error])
        });
        let compile = compile.as_ref().map(|compile| compile as &Compile<'_>);
        let mut helpers = Helpers { load: &load, engine: &mut engine, compile, interleaving };
        let repaired = repair(job, &mut helpers)?;
        Ok(Mended { repaired, model: model.name().to_string(), engine: engine.0.answered_by })
    }

    /// A file for the assembler.
    fn assembly(&self, control: &Control<'_>) -> Result<Mended, Diagnostics> {
        check_machine_model(self.model.as_deref())?;
        let usual = || Properties::usual_of(Kind::Machine);
        let properties = self.properties.clone().unwrap_or_else(usual);
        let properties = properties.properties_of(Kind::Machine)?;
        check_machine_properties(&properties)?;
        let models = Models::new(&[], None);
        let usual = ModelChoice::BuiltIn(MACHINE_MODEL.to_string());
        let model = models.get(&self.model_choice(usual))?;
        let sc = interleaving(&models)?;
        let path = self.input.first();
        let text = read(path)?;
        check_lines(path, &text)?;
        let document = Document::new(&shown(path), &text, Language::Assembly, 0..text.len());
        let load =
            |texts: &[String]| load_assembly(&self.input, texts.first().map_or("", String::as_str));
        let job = self.job(vec![document], Dialect::X86, &model)?;
        let mut engine = Whole(self.asked(&model, &properties, control));
        let interleaving = &mut Whole(self.asked(&sc, &properties, control));
        let mut helpers = Helpers { load: &load, engine: &mut engine, compile: None, interleaving };
        let repaired = repair(job, &mut helpers)?;
        Ok(Mended { repaired, model: model.name().to_string(), engine: engine.0.answered_by })
    }

    /// A repair for a property that nothing looks for would be no repair.
    fn check_properties(&self, properties: &[Property], model: &Model) -> Result<(), Diagnostics> {
        let is_by_name = self.properties.as_ref().is_some_and(Properties::is_by_name);
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
}

/// Where no engine has answered.
const NOBODY: &str = "none";

/// The model that repairs are compared with.
fn interleaving(models: &Models) -> Result<Arc<Model>, Diagnostics> {
    models.get(&ModelChoice::BuiltIn(INTERLEAVING.to_string()))
}

fn is_assembly(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "s" || extension == "S")
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
