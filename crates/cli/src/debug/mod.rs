//! `parallax debug` and `parallax replay`: programs on the operational machines, step by step.

mod arguments;
mod dialogue;

use std::path::{Path, PathBuf};

use parallax_debugger::{MemoryKind, ProgramStanding, Schedule, Session, Subject, setup};
use parallax_frontend_litmus::parse;
use parallax_memory::Facts;
use parallax_program::{Diagnostic, Diagnostics, Program, Property, Question};

use parallax_verify::input::{self, Input, Kind};
use parallax_verify::models::usual_model;
use parallax_verify::stack::with_stack;
use parallax_verify::text::{read, shown};
use parallax_verify::{MACHINE_MODEL, Properties, structures};

pub use arguments::{DebugArguments, ReplayArguments};

use crate::Exit;
use crate::{interrupt, output};

/// A program that was read.
struct Loaded {
    program: Program,
    question: Option<Question>,
    memory: MemoryKind,
    properties: Vec<Property>,
}

pub fn run(options: &DebugArguments) -> Exit {
    interrupt::install_for_dialogue();
    settle(with_stack(|| debug(options)))
}

pub fn replay(options: &ReplayArguments) -> Exit {
    interrupt::install_for_dialogue();
    settle(with_stack(|| replay_witness(options)))
}

fn settle(result: Result<Result<Exit, Diagnostics>, Diagnostic>) -> Exit {
    match result {
        Ok(Ok(exit)) => exit,
        Ok(Err(errors)) => {
            errors.iter().for_each(output::report);
            Exit::BadInput
        }
        Err(broken) => {
            output::report(&broken);
            Exit::Unknown
        }
    }
}

fn debug(options: &DebugArguments) -> Result<Exit, Diagnostics> {
    let schedule = match &options.schedule {
        Some(path) => Some((shown(path), read(path)?)),
        None => None,
    };
    let script = match &options.command {
        Some(path) => Some((shown(path), read(path)?)),
        None => None,
    };
    let said = match &schedule {
        Some((name, text)) if options.model.is_none() => {
            let (schedule, _) = Schedule::parse(name, text).map_err(|error| vec![error])?;
            Some(schedule.memory)
        }
        _ => None,
    };
    let model = options.model.as_deref();
    let loaded = load(&options.input.within(None), model, said, options.property.as_ref())?;
    let name = shown(options.input.first());
    let subject =
        Subject { program: &loaded.program, question: loaded.question.as_ref(), input: &name };
    let setup = setup(&loaded.program, loaded.memory, loaded.properties.clone(), options.nondet)
        .map_err(|error| vec![error])?;
    let arguments = options.input.reading.reading().clang;
    let mut session = Session::new(&setup, subject).read_with(arguments);
    let mut greeting = session.greeting();
    if let Some((name, text)) = &schedule {
        session.load(name, text).map_err(|error| vec![error])?;
        greeting.push_str(&session.arrival());
    }
    if output::print(&greeting).is_break() {
        return Ok(Exit::Unknown);
    }
    match script {
        Some((name, text)) => dialogue::script(&mut session, &name, &text)?,
        None => dialogue::talk(&mut session),
    }
    Ok(exit(&session))
}

fn exit(session: &Session<'_, '_>) -> Exit {
    match session.standing() {
        ProgramStanding::Fine => Exit::Fine,
        ProgramStanding::Violation => Exit::Missed,
        ProgramStanding::Unknown => Exit::Unknown,
    }
}

fn replay_witness(options: &ReplayArguments) -> Result<Exit, Diagnostics> {
    let (name, text) = (shown(&options.witness), read(&options.witness)?);
    let (schedule, _) = Schedule::parse(&name, &text).map_err(|error| vec![error])?;
    let inputs = match options.inputs.is_empty() {
        true => vec![PathBuf::from(&schedule.input)],
        false => options.inputs.clone(),
    };
    let mut reading = options.reading.reading();
    if reading.clang.is_empty() {
        reading.clang = schedule.arguments.clone();
    }
    let input = Input { files: inputs, reading, timeout: None };
    let loaded = load(&input, None, Some(schedule.memory), options.property.as_ref())?;
    let subject = Subject {
        program: &loaded.program,
        question: loaded.question.as_ref(),
        input: &schedule.input,
    };
    let setup = setup(&loaded.program, loaded.memory, loaded.properties.clone(), options.nondet)
        .map_err(|error| vec![error])?;
    let mut session = Session::new(&setup, subject);
    session.load(&name, &text).map_err(|error| vec![error])?;
    match output::print(&session.arrival()).is_break() {
        true => Ok(Exit::Unknown),
        false => Ok(exit(&session)),
    }
}

/// Reads a program as `parallax verify` does. `said` is the machine that a schedule is for.
fn load(
    input: &Input,
    model: Option<&str>,
    said: Option<MemoryKind>,
    property: Option<&Properties>,
) -> Result<Loaded, Diagnostics> {
    let kind = input.kind()?;
    let usual = || Properties::usual_of(kind);
    let wanted = property.cloned().unwrap_or_else(usual);
    let (properties, checks) = (wanted.properties_of(kind)?, wanted.checks()?);
    let (program, question, usual) = match kind {
        Kind::Litmus => {
            let path: &Path = input.first();
            let test = parse(&shown(path), &read(path)?)?;
            let model = usual_model(test.arch);
            (test.program, Some(test.question), model)
        }
        Kind::Structures => {
            let structures = structures::load(input)?;
            let program = structures::lowered(&structures)?.program;
            (program, None, structures::usual_model(&structures))
        }
        Kind::Text => (input::load_text(input)?, None, MACHINE_MODEL),
        Kind::Machine => (input::load_machine(input, &checks)?, None, MACHINE_MODEL),
        Kind::C => (input::load_c(&input.clone().with_names(), &checks)?, None, MACHINE_MODEL),
    };
    let name = model.unwrap_or(usual);
    let memory = match (model, said) {
        (None, Some(memory)) => Some(memory),
        _ => Facts::of(name).and_then(|facts| facts.any_machine()),
    };
    let memory = memory.ok_or_else(|| {
        let error = Diagnostic::new(format!("there is no machine for the model '{name}'"));
        let names = Facts::names(|facts| facts.any_machine().is_some());
        vec![error.with_help(format!("machines are {names}: say which with --model"))]
    })?;
    Ok(Loaded { program, question, memory, properties })
}
