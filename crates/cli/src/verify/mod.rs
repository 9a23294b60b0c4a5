//! `parallax verify`: one program, one verdict, in the form that was asked for.

pub mod arguments;
mod bounded;
mod engine;
mod explored;
mod inductive;
pub mod input;
mod integers;
pub mod litmus;
pub mod output;
mod progress;
pub mod properties;
mod stateful;
pub mod structures;

use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use parallax_engine_bounded::Machine;
use parallax_machine::settle_retries;
use parallax_memory::{Language, Model};
use parallax_program::{Diagnostic, Diagnostics, Program, Property};
use parallax_report::SolverWork;
use parallax_verdict::{Conclusion, Reason, Verdict, Violation};

pub use arguments::VerifyArguments;
use arguments::{FrameworkName, SolverName};
use engine::Engine;
use input::Kind;
use properties::Wanted;

use crate::models::{ModelChoice, Models, compiled_for, spoken};
use crate::{Exit, interrupt};

/// Deeply nested input makes deep recursion; address space costs nothing until it is used.
pub const STACK_BYTES: usize = 256 << 20;

/// The model of C, and that of x86.
pub const C_MODEL: &str = "rc11";
pub const MACHINE_MODEL: &str = "tso";

/// So long a solver is asked what exploration could not tell, where no other time is given.
pub const SECOND_TRY: Duration = Duration::from_secs(60);

/// What an engine has found out.
pub struct Answer {
    pub verdict: Verdict,
    pub model: String,
    pub engine: &'static str,
    /// Whether the search went on after the first violation.
    pub all: bool,
    /// The schedule of the first violation.
    pub witness: Option<String>,
    /// What it took, where a solver was asked.
    pub solver: Option<SolverWork>,
    /// What may be wrong, where the answer is unknown.
    pub candidate: Option<Box<Violation>>,
}

impl Answer {
    /// An answer with nothing beside the verdict.
    pub fn new(verdict: Verdict, model: &str, engine: &'static str) -> Answer {
        Answer {
            verdict,
            model: model.to_string(),
            engine,
            all: false,
            witness: None,
            solver: None,
            candidate: None,
        }
    }
}

pub fn run(options: &VerifyArguments) -> Exit {
    let mut options = options.clone();
    options.input.timeout = options.timeout;
    let options = &options;
    let (answer, time) = match timed(|| noted(options)) {
        Ok(answered) => answered,
        Err(exit) => return exit,
    };
    let exit = match answer.verdict.conclusion() {
        Conclusion::Safe => Exit::Fine,
        Conclusion::Unsafe => Exit::Missed,
        Conclusion::Unknown => Exit::Unknown,
    };
    // What was found before Ctrl-C is shown, but the run did not come to its end.
    let exit = if interrupt::interrupted() { Exit::Unknown } else { exit };
    match output::deliver(options, &answer, time) {
        Ok(()) => exit,
        Err(failed) => failed,
    }
}

/// An answer, and how long it took. Where there is none, the errors have been told.
pub fn timed<T: Send>(
    answer: impl FnOnce() -> Result<T, Diagnostics> + Send,
) -> Result<(T, Duration), Exit> {
    interrupt::install();
    let started = Instant::now();
    match with_stack(answer) {
        Ok(Ok(answer)) => Ok((answer, started.elapsed())),
        Ok(Err(errors)) => {
            errors.iter().for_each(crate::output::report);
            Err(Exit::BadInput)
        }
        Err(broken) => {
            crate::output::report(&broken);
            Err(Exit::Unknown)
        }
    }
}

/// Runs with a large stack; a panic becomes an error.
pub fn with_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    let result = thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work)?;
        Ok(worker.join())
    });
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(Diagnostic::new("internal error while verifying")
            .with_help("this is a bug in parallax; please report it with the program")),
        Err(error) => {
            let error: std::io::Error = error;
            Err(Diagnostic::new(format!("cannot start a thread: {error}")))
        }
    }
}

/// The answer, with what was assumed because that was asked for.
fn noted(options: &VerifyArguments) -> Result<Answer, Diagnostics> {
    let reading = &options.input.reading;
    let assumed = [
        (reading.no_spurious_failures, "weak compare-and-swaps fail only where the values differ"),
        (reading.no_spurious_wakeups, "condition variables wake threads only by signals"),
    ];
    let mut answer = answer(options)?;
    for (_, note) in assumed.into_iter().filter(|(is_asked, _)| *is_asked) {
        answer.verdict = answer.verdict.restricted(Some(format!("assumed: {note}")));
    }
    Ok(answer)
}

fn answer(options: &VerifyArguments) -> Result<Answer, Diagnostics> {
    options.engine.check().map_err(|error| vec![error])?;
    let kind = options.input.kind()?;
    let usual = || Wanted::usual_of(kind);
    let properties = options.property.clone().unwrap_or_else(usual).properties_of(kind)?;
    let answer = searched(kind, properties.clone(), options)?;
    let is_by_name = options.property.as_ref().is_some_and(Wanted::is_by_name);
    Ok(answered(answer, &properties, is_by_name))
}

fn searched(
    kind: Kind,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    check_witness(options)?;
    check_solver(options)?;
    if options.engine == Engine::Inductive {
        inductive::check_kind(kind)?;
    }
    check_integers(kind, options)?;
    let usual = || Wanted::usual_of(kind);
    let checks = options.property.clone().unwrap_or_else(usual).checks()?;
    let first = options.input.first();
    match kind {
        Kind::Litmus => {
            litmus::check(&properties, options)?;
            litmus::verify(first, options)
        }
        Kind::Structures => structures::verify(first, properties, options),
        Kind::Text => search(&input::load_text(&options.input)?, C_MODEL, properties, options),
        Kind::Machine => {
            check_machine_model(options.model.as_deref())?;
            check_machine_properties(&properties)?;
            let program = input::load_machine(&options.input, &checks)?;
            if let Some(file) = &options.listing {
                let text = parallax_frontend_x86::listing(&program);
                output::write(file, text).map_err(|error| vec![error])?;
            }
            if options.engine == Engine::Auto && has_machine(options) {
                return stateful::verify(&program, MACHINE_MODEL, properties, options);
            }
            search(&program, MACHINE_MODEL, properties, options)
        }
        Kind::C if options.engine == Engine::Inductive => {
            let program = input::load_named(&options.input, checks.errors)?;
            inductive::verify_program(&program, &properties, options)
        }
        Kind::C => {
            let mut program = input::load_c(&options.input, &checks)?;
            let races = properties.contains(&Property::Race);
            let settled = races && settle_retries(&mut program, true) > 0;
            let mut answer = search(&program, C_MODEL, properties, options)?;
            if settled && !answer.verdict.properties.contains(&Property::Race) {
                let note = "stores that an attempt of a weak compare-and-swap repeats were taken to \
                            race with nothing";
                answer.verdict.notes.push(note.to_string());
            }
            Ok(answer)
        }
    }
}

/// Other programs look at the bits of their values.
fn check_integers(kind: Kind, options: &VerifyArguments) -> Result<(), Diagnostics> {
    if options.integers && kind != Kind::Structures {
        let error = Diagnostic::new("--integers is for operation structures (.ops)");
        let help = "other programs shift, mask and divide words, which integers cannot tell";
        return Err(vec![error.with_help(help)]);
    }
    Ok(())
}

/// Schedules are found by the engine that has a machine to run.
fn check_witness(options: &VerifyArguments) -> Result<(), Diagnostics> {
    let name = match options.engine {
        Engine::Explore => "explore",
        Engine::Bounded => "bounded",
        _ => return Ok(()),
    };
    if options.witness.is_some() {
        let error = Diagnostic::new(format!("the engine '{name}' knows no schedule to write"));
        let help = "leave out --engine, or say --engine states, with --model sc, tso or pso";
        return Err(vec![error.with_help(help)]);
    }
    Ok(())
}

/// Only one engine asks a solver, and only one solver gives proofs.
fn check_solver(options: &VerifyArguments) -> Result<(), Diagnostics> {
    let z3 = options.solver == SolverName::Z3;
    let asked = [
        (z3, "--solver"),
        (options.certify, "--certify"),
        (options.emit.is_some(), "--emit"),
        (options.framework != FrameworkName::Cat, "--framework"),
        (options.integers, "--integers"),
    ];
    let asked = asked.into_iter().find(|(asked, _)| *asked);
    match asked {
        Some((_, option)) if options.engine != Engine::Bounded => {
            let error = Diagnostic::new(format!("{option} is for the engine that asks a solver"));
            Err(vec![error.with_help("say --engine bounded")])
        }
        _ if (z3 || options.integers) && options.certify => {
            let error = Diagnostic::new("Z3 gives no proofs that could be checked");
            let other = if options.integers { "--integers" } else { "--solver" };
            Err(vec![error.with_help(format!("leave out {other}, or --certify"))])
        }
        _ => Ok(()),
    }
}

/// Models of languages, and of other machines, say nothing about the instructions of x86-64.
pub fn check_machine_model(model: Option<&str>) -> Result<(), Diagnostics> {
    let asked = model.unwrap_or(MACHINE_MODEL);
    let mut others = Model::builtin_names().map(|(name, ..)| name);
    if matches!(asked, "sc" | "tso" | "pso") {
        return Ok(());
    }
    if !others.any(|name| name == asked) {
        let model = Models::new(&[], None).get(&ModelChoice::parse(asked, Path::new("")))?;
        return compiled_for(&model, Language::X86).map(|_| ()).map_err(|error| vec![error]);
    }
    let error = format!("the model '{asked}' does not speak of the instructions of x86-64");
    let help = "models of machine code are sc, tso and pso, and cat files of your own";
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

/// Whether the engine for machine code can do what is asked.
fn has_machine(options: &VerifyArguments) -> bool {
    let model = options.model.as_deref().unwrap_or(MACHINE_MODEL);
    matches!(model, "sc" | "tso" | "pso") && options.unroll.0.is_none()
}

/// Whether exploration cannot use the model of C, and the engine that asks a solver can.
pub fn is_for_solvers(model: &Model) -> bool {
    let is_weak = model.is_builtin() && matches!(model.name(), "c11" | "rmo");
    is_weak || Machine::of_model(model).is_some()
}

/// A program through the engine that was asked for.
fn search(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    match options.engine {
        Engine::Auto if options.witness.is_some() => {
            stateful::verify(program, usual_model, properties, options)
        }
        Engine::States => stateful::verify(program, usual_model, properties, options),
        Engine::Bounded => bounded::verify(program, usual_model, properties, options),
        Engine::Inductive => inductive::verify_program(program, &properties, options),
        Engine::Auto => {
            let (model, _) = chosen_model(program, usual_model, &properties, options)?;
            match usual_model == C_MODEL && is_for_solvers(&model) {
                true => bounded::verify(program, usual_model, properties, options),
                false => explore_or_solve(program, usual_model, properties, options),
            }
        }
        _ => explored::verify(program, usual_model, properties, options),
    }
}

/// Exploration, and where it cannot tell (inputs of any value, loads that are buffered) the engine
/// that asks a solver, in what is left of the time.
fn explore_or_solve(
    program: &Program,
    usual_model: &str,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let started = Instant::now();
    let explored = explored::verify(program, usual_model, properties.clone(), options)?;
    let left = options.timeout.map(|timeout| timeout.saturating_sub(started.elapsed()));
    let left = left.unwrap_or(SECOND_TRY);
    let Some(reason) = &explored.verdict.reason else { return Ok(explored) };
    let is_over = left.is_zero() || interrupt::interrupted();
    if explored.verdict.conclusion() != Conclusion::Unknown || is_over {
        return Ok(explored);
    }
    let limits = VerifyArguments { timeout: Some(left), ..options.clone() };
    let Ok(mut solved) = bounded::verify(program, usual_model, properties, &limits) else {
        return Ok(explored);
    };
    let mut asked = explored.verdict.properties.iter();
    let says_as_much = match solved.verdict.conclusion() {
        Conclusion::Unsafe => true,
        Conclusion::Safe => asked.all(|property| solved.verdict.properties.contains(property)),
        Conclusion::Unknown => false,
    };
    if !says_as_much {
        return Ok(explored);
    }
    let note = format!("a solver was asked, as exploration cannot tell: {}", reason.message);
    solved.verdict.notes.push(note);
    Ok(solved)
}

/// The model that was asked for, and the machine that the program has to be compiled for so that
/// the model speaks of it. Programs in C have races under every model, by the rules of C where the
/// model has none.
fn chosen_model(
    program: &Program,
    usual_model: &str,
    properties: &[Property],
    options: &VerifyArguments,
) -> Result<(Arc<Model>, Option<Machine>), Diagnostics> {
    let usual = || ModelChoice::BuiltIn(usual_model.to_string());
    let model = Models::new(&[], None).get(&model_choice(options).unwrap_or_else(usual))?;
    let spoken = spoken(program);
    let is_c = usual_model == C_MODEL && (spoken.is_empty() || spoken.contains(&Language::C));
    // Machine code was looked at before, and the fences of operation structures have the tags of
    // several machines.
    let language = match is_c {
        true => Some(Language::C),
        false => spoken.first().copied().filter(|_| usual_model == C_MODEL),
    };
    let machine = language.map(|language| compiled_for(&model, language)).transpose();
    let machine = machine.map_err(|error| vec![error])?.flatten();
    let model = match is_c && properties.contains(&Property::Race) && !model.flags_races() {
        true => Arc::new(model.with_races_of_c()?),
        false => model,
    };
    Ok((model, machine))
}

/// Who asks for a property gets an answer to it, or none: where the engine does not look for it
/// under the model, that nothing else is wrong is no success.
fn answered(answer: Answer, asked: &[Property], is_by_name: bool) -> Answer {
    let missing = asked.iter().filter(|property| !answer.verdict.properties.contains(property));
    let missing: Vec<&str> = missing.map(|property| property.name()).collect();
    let is_safe = answer.verdict.conclusion() == Conclusion::Safe;
    if missing.is_empty() || !is_safe || !is_by_name && !answer.verdict.properties.is_empty() {
        return answer;
    }
    let message = format!(
        "not checked by the engine '{}' under '{}': {}",
        answer.engine,
        answer.model,
        missing.join(", ")
    );
    let help = "another engine may; of what it does check, nothing is wrong";
    let help = (!answer.verdict.properties.is_empty()).then(|| help.to_string());
    let verdict = answer.verdict.withdrawn(Reason { message, place: None, help });
    Answer { verdict, ..answer }
}

/// The model that was asked for, if one was.
fn model_choice(options: &VerifyArguments) -> Option<ModelChoice> {
    options.model.as_deref().map(|name| ModelChoice::parse(name, Path::new("")))
}
