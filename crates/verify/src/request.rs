//! From what a person asks to a query that engines understand.

use std::path::Path;
use std::sync::Arc;

use parallax_engine_bounded::{Asking, Machine};
use parallax_engine_static::Defined;
use parallax_frontend_c::{Formula, Formulas};
use parallax_frontend_litmus::parse;
use parallax_memory::{Facts, Language, Model};
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Setting};
use parallax_query::{Engine, Extensions, Query, Subject, Tracked, Wanted};

use crate::checkpoint::Keeping;
use crate::cluster::Cluster;
use crate::input::{self, Input, Kind};
use crate::models::{ModelChoice, Models, compiled_for, spoken};
use crate::properties::Properties;
use crate::registry::{Choice, ENGINES};
use crate::text::{read, shown};
use crate::{C_MODEL, MACHINE_MODEL, litmus, structures};

/// What a person asks.
#[derive(Clone, Default)]
pub struct Request {
    pub input: Input,
    /// A built-in model or a cat file; None for the one that the input usually has.
    pub model: Option<String>,
    pub engine: Choice,
    /// None for those that inputs of the kind are usually checked for.
    pub properties: Option<Properties>,
    /// How often loops are repeated at most; None for as often as is needed.
    pub unroll: Option<u32>,
    /// Which values inputs may have, both ends included; None for any.
    pub nondet: Option<(i128, i128)>,
    /// Whether to go on after a violation.
    pub all: bool,
    /// What only some engines know.
    pub extensions: Extensions,
    /// Where the search is kept.
    pub keeping: Keeping,
    /// Which other processes take part.
    pub cluster: Option<Cluster>,
}

/// A request whose input was read.
pub struct Prepared {
    pub kind: Kind,
    pub subject: Subject,
    pub model: Arc<Model>,
    pub properties: Vec<Property>,
    pub(crate) is_compiled: bool,
    /// Whether each property has to be answered.
    pub(crate) is_by_name: bool,
    /// Whether stores of attempts that fail are left out.
    pub(crate) is_settled: bool,
    /// What a property file of SV-COMP says, where one was asked for.
    pub(crate) formulas: Option<Formulas>,
    pub(crate) request: Request,
}

impl Request {
    /// Reads the input and the model.
    pub fn prepare(mut self) -> Result<Prepared, Diagnostics> {
        let kind = self.input.kind()?;
        self.take_integers(kind)?;
        let wanted = self.properties.clone().unwrap_or_else(|| Properties::usual_of(kind));
        let properties = wanted.properties_of(kind)?;
        let mut prepared = match kind {
            Kind::Litmus => self.litmus(&properties)?,
            Kind::Structures => self.structures()?,
            Kind::Text => {
                let program = input::load_text(&self.input)?;
                self.program(kind, program, C_MODEL, &properties)?
            }
            Kind::Machine => {
                check_machine_model(self.model.as_deref())?;
                check_machine_properties(&properties)?;
                let program = input::load_machine(&self.input, &wanted.checks()?)?;
                self.program(kind, program, MACHINE_MODEL, &properties)?
            }
            Kind::C => self.c(&wanted, &properties)?,
        };
        prepared.is_by_name =
            prepared.request.properties.as_ref().is_some_and(Properties::is_by_name);
        prepared.properties = properties;
        prepared.formulas = wanted.formulas()?;
        Ok(prepared)
    }

    /// Integers in place of words: programs in C are read in that way, for the engine that proves something
    /// of it. Other programs look at the bits of their values.
    fn take_integers(&mut self, kind: Kind) -> Result<(), Diagnostics> {
        let asking = self.extensions.get::<Asking>().copied().unwrap_or_default();
        if !asking.integers || kind == Kind::Structures {
            return Ok(());
        }
        if kind != Kind::C {
            let message = "integers are for operation structures (.ops) and programs in C";
            let why = "other programs shift, mask and divide words, which integers cannot express";
            let help = Help::LeaveOut(vec![Setting::Integers]).and(why);
            return Err(vec![Diagnostic::new(message).with_help(help)]);
        }
        let takes_integers = |engine: &&dyn Engine| engine.takes_integers();
        if !self.engine.named().is_some_and(|engine| takes_integers(&engine)) {
            let able = ENGINES.into_iter().filter(takes_integers).map(|engine| engine.name());
            let able: Vec<&str> = able.collect();
            let message =
                format!("integers in programs in C are for the engine '{}'", able.join("' or '"));
            return Err(vec![Diagnostic::new(message).with_help(Help::TryEngines(able))]);
        }
        self.input.check_signs()?;
        self.input.reading.integers = true;
        let words = Asking { integers: false, ..asking };
        self.extensions = std::mem::take(&mut self.extensions).with(words);
        Ok(())
    }

    /// Whether it is for proofs by invariants, which take a form of their own.
    fn is_proved(&self) -> bool {
        self.engine.named().is_some_and(|engine| engine.takes_marks())
    }

    /// The model that was asked for, or else the usual one.
    fn model_choice(&self, usual: ModelChoice) -> ModelChoice {
        let asked = self.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")));
        asked.unwrap_or(usual)
    }

    fn litmus(self, properties: &[Property]) -> Result<Prepared, Diagnostics> {
        litmus::check(properties, self.nondet)?;
        let path = self.input.first();
        let test = parse(&shown(path), &read(path)?)?;
        let choice = self.model_choice(ModelChoice::ByArchitecture);
        let model = Models::new(&[], None).for_test(&choice, &test)?;
        let subject = litmus::subject(shown(path), test);
        Ok(self.prepared(Kind::Litmus, subject, model, false))
    }

    fn structures(self) -> Result<Prepared, Diagnostics> {
        let structures = structures::load(&self.input)?;
        let usual = structures::usual_model(&structures);
        structures::check_model(&structures, self.model.as_deref().unwrap_or(usual))?;
        let subject =
            structures::subject(&structures, shown(self.input.first()), self.is_proved())?;
        let choice = self.model_choice(ModelChoice::BuiltIn(usual.to_string()));
        let model = Models::new(&[], None).get(&choice)?;
        Ok(self.prepared(Kind::Structures, subject, model, false))
    }

    fn c(self, wanted: &Properties, properties: &[Property]) -> Result<Prepared, Diagnostics> {
        let mut checks = wanted.checks()?;
        let mut named = self.input.clone();
        if self.is_proved() {
            // Proofs show the names that the source has, and are of assertions only.
            named = named.with_names();
            checks.overflow = false;
            checks.any_values = true;
        }
        let mut program = input::load_c(&named, &checks)?;
        let races = properties.contains(&Property::Race) && !self.is_proved();
        let is_settled = races && input::settle(&mut program);
        let prepared = self.program(Kind::C, program, C_MODEL, properties)?;
        Ok(Prepared { is_settled, ..prepared })
    }

    fn program(
        self,
        kind: Kind,
        program: Program,
        usual: &str,
        properties: &[Property],
    ) -> Result<Prepared, Diagnostics> {
        let choice = self.model_choice(ModelChoice::BuiltIn(usual.to_string()));
        let model = Models::new(&[], None).get(&choice)?;
        let (model, is_compiled) = match kind {
            // What models say of instructions was looked at before.
            Kind::Machine => (model, false),
            _ => model_of_c(&program, model, properties)?,
        };
        let name = shown(self.input.first());
        let is_machine_code = kind == Kind::Machine;
        let subject = Subject { name, is_machine_code, ..Subject::of(program) };
        Ok(self.prepared(kind, subject, model, is_compiled))
    }

    fn prepared(
        self,
        kind: Kind,
        subject: Subject,
        model: Arc<Model>,
        is_compiled: bool,
    ) -> Prepared {
        Prepared {
            kind,
            subject,
            model,
            properties: Vec::new(),
            is_compiled,
            is_by_name: false,
            is_settled: false,
            formulas: None,
            request: self,
        }
    }
}

impl Prepared {
    pub(crate) fn query(&self) -> Query<'_> {
        let request = &self.request;
        let mut extensions = request.extensions.clone();
        if let Some(formulas) = &self.formulas {
            extensions = extensions.with(Defined);
            if !formulas.formulas.contains(&Formula::ValidMemcleanup) {
                extensions = extensions.with(Tracked);
            }
        }
        Query {
            subject: &self.subject,
            model: self.model.clone(),
            is_compiled: self.is_compiled,
            properties: self.properties.clone(),
            unroll: request.unroll,
            nondet: request.nondet,
            wanted: if request.all { Wanted::All } else { Wanted::First },
            extensions,
        }
    }

    /// The same question about the same program, to another engine under another model, without
    /// reading the input again. Litmus tests and operation structures are made for their models, and
    /// proofs have a form of their own: those are prepared by themselves.
    pub fn again(
        &self,
        model: &str,
        engine: Choice,
        extensions: Extensions,
    ) -> Result<Prepared, Diagnostics> {
        let model = Some(model.to_string());
        let request = Request { model, engine, extensions, ..self.request.clone() };
        let is_program = matches!(self.kind, Kind::C | Kind::Text | Kind::Machine);
        match &self.subject.program {
            Some(program) if is_program && request.is_proved() == self.request.is_proved() => {
                if self.kind == Kind::Machine {
                    check_machine_model(request.model.as_deref())?;
                }
                let again =
                    request.program(self.kind, program.clone(), C_MODEL, &self.properties)?;
                Ok(Prepared {
                    properties: self.properties.clone(),
                    is_by_name: self.is_by_name,
                    is_settled: self.is_settled,
                    formulas: self.formulas.clone(),
                    ..again
                })
            }
            _ => request.prepare(),
        }
    }

    /// The instructions of machine code that places in an answer point into.
    pub fn listing(&self) -> Option<&str> {
        let program = self.subject.program.as_ref().filter(|_| self.kind == Kind::Machine)?;
        Some(parallax_frontend_x86::listing(program))
    }
}

/// The model for a program in C, and whether the program has to be compiled for it. Programs in C have
/// races under every model, by the rules of C where the model has none.
pub fn model_of_c(
    program: &Program,
    model: Arc<Model>,
    properties: &[Property],
) -> Result<(Arc<Model>, bool), Diagnostics> {
    let spoken = spoken(program);
    let is_c = spoken.is_empty() || spoken.contains(&Language::C);
    let language = if is_c { Some(Language::C) } else { spoken.first().copied() };
    let machine = language.map(|language| compiled_for(&model, language)).transpose();
    let machine: Option<Machine> = machine.map_err(|error| vec![error])?.flatten();
    let model = match is_c && properties.contains(&Property::Race) && !model.flags_races() {
        true => Arc::new(model.with_races_of_c()?),
        false => model,
    };
    Ok((model, machine.is_some()))
}

/// Models of languages, and of other machines, say nothing about the instructions of x86-64.
pub fn check_machine_model(model: Option<&str>) -> Result<(), Diagnostics> {
    let asked = model.unwrap_or(MACHINE_MODEL);
    let Some(facts) = Facts::of(asked) else {
        let model = Models::new(&[], None).get(&ModelChoice::parse(asked, Path::new("")))?;
        return compiled_for(&model, Language::X86).map(|_| ()).map_err(|error| vec![error]);
    };
    if facts.machine.is_some() {
        return Ok(());
    }
    let error = format!("the model '{asked}' does not speak of the instructions of x86-64");
    let names = Facts::names(|facts| facts.machine.is_some());
    let help = format!("models of machine code are {names}, and cat files of your own");
    Err(vec![Diagnostic::new(error).with_help(help)])
}

/// Machine code does not say which accesses were meant to be atomic.
pub fn check_machine_properties(properties: &[Property]) -> Result<(), Diagnostics> {
    if properties.contains(&Property::Race) {
        let error = Diagnostic::new("machine code has no data races to look for");
        let help = "races are errors of the language that it was compiled from, and nothing here \
                    says which accesses were atomic there: leave out race";
        return Err(vec![error.with_help(help)]);
    }
    Ok(())
}
