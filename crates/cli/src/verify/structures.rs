//! Operation structures: which engine and which form of the program fit them.
//!
//! The machines of sc, tso and pso are searched state by state. Other models, and structures with
//! load-linked and store-conditional, go through the enumeration of executions, which repeats
//! loops a number of times.

use std::path::Path;
use std::sync::Arc;

use parallax_engine_enumerate::{Options, enumerate};
use parallax_engine_inductive::{MARK, Order};
use parallax_frontend_ops::isa::Fence;
use parallax_frontend_ops::syntax::{OpKind, Structures};
use parallax_frontend_ops::{Assertion, Judging, Lowered, lower, marked, parse};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property, Question, SourceFile};
use parallax_verdict::{
    Conclusion, Counts, Ending, Execution, Gaps, Outcomes, Reason, Scope, Searched, Verdict,
    Violation, replay,
};

use super::engine::Engine;
use super::litmus::{USUAL_BOUND, no_final_state};
use super::{
    Answer, MACHINE_MODEL, VerifyArguments, bounded, explored, inductive, integers, model_choice,
    stateful,
};
use crate::interrupt;
use crate::models::{ModelChoice, Models};
use crate::one_test::{not_replayed, read, shown};

/// Models of machines whose fences the structures can have.
const MODELS: [&str; 7] = ["sc", "tso", "pso", "rmo", "arm", "aarch64", "power"];

/// Reads a file of operation structures.
pub fn load(path: &Path) -> Result<Structures, Diagnostics> {
    parse(&shown(path), &read(path)?)
}

/// The model of the machine that structures are for.
pub fn usual_model(structures: &Structures) -> &'static str {
    structures.isa.map_or(MACHINE_MODEL, |isa| isa.usual_model())
}

/// The program that engines with assertions run.
pub fn lowered(structures: &Structures) -> Result<Lowered, Diagnostics> {
    lower(structures, Judging::of(structures))
}

pub fn verify(
    path: &Path,
    properties: Vec<Property>,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let structures = load(path)?;
    let usual = usual_model(&structures);
    let model = options.model.as_deref().unwrap_or(usual);
    check_model(&structures, model)?;
    let lowered = lowered(&structures)?;
    check_engine(&lowered, options)?;
    let program = &lowered.program;
    let has_machine = matches!(model, "sc" | "tso" | "pso") && !lowered.has_reservations();
    let answer = match options.engine {
        Engine::Explore => explored::verify(program, usual, properties, options)?,
        Engine::States => stateful::verify(program, usual, properties, options)?,
        // How many executions there are is not counted by engines that ask a solver; these look for
        // assumptions that nothing passes themselves.
        Engine::Bounded if options.integers => {
            return integers::verify(program, usual, properties, options);
        }
        Engine::Bounded => return bounded::verify(program, usual, properties, options),
        Engine::Inductive => {
            let model = chosen_model(usual, options)?;
            let marked = marked(&structures, MARK)?;
            return inductive::verify(&marked, program, &model, Order::Unsigned, options);
        }
        _ if options.witness.is_some() => stateful::verify(program, usual, properties, options)?,
        _ if !has_machine => enumerated(&structures, usual, options)?,
        _ if options.unroll.0.is_some() => explored::verify(program, usual, properties, options)?,
        _ => stateful::verify(program, usual, properties, options)?,
    };
    Ok(without_vacuity(&structures, answer))
}

/// Fences have to mean something to the model, and no more than they mean to the machine.
fn check_model(structures: &Structures, model: &str) -> Result<(), Diagnostics> {
    let is_built_in = Model::builtin_names().any(|(name, ..)| name == model);
    if is_built_in && !MODELS.contains(&model) {
        let message = format!("the model '{model}' does not speak of operation structures");
        let help = format!("models for them are {}, and cat files of your own", MODELS.join(", "));
        return Err(vec![Diagnostic::new(message).with_help(help)]);
    }
    if !is_built_in || matches!(model, "sc" | "tso") {
        return Ok(());
    }
    let only_loads = Fence::named("membar(wr)");
    let mut errors = Vec::new();
    structures.operations(&mut |op| {
        if matches!(op.kind, OpKind::Fence(fence) if Some(fence) == only_loads) {
            let message = format!("membar(wr) orders less than any fence of the model '{model}'");
            let error = structures.source.error(op.mark.0, message);
            errors.push(error.with_help("membar orders everything; stbar orders stores"));
        }
    });
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Few engines know load-linked and store-conditional.
fn check_engine(lowered: &Lowered, options: &VerifyArguments) -> Result<(), Diagnostics> {
    let is_asked = matches!(options.engine, Engine::Explore | Engine::States);
    if !(lowered.has_reservations() && (is_asked || options.witness.is_some())) {
        return Ok(());
    }
    let message = "this engine knows no load-linked and store-conditional";
    Err(vec![Diagnostic::new(message).with_help("leave out --engine and --witness")])
}

/// With assumptions, assertions are judged where all threads have ended. Where none gets there they say
/// nothing.
fn without_vacuity(structures: &Structures, answer: Answer) -> Answer {
    let verdict = &answer.verdict;
    let is_empty = verdict.conclusion() == Conclusion::Safe && verdict.counts.executions == 0;
    match is_empty && Judging::of(structures) != Judging::AtOnce {
        true => {
            let reason = no_final_state(&Ending::Complete);
            Answer { verdict: answer.verdict.withdrawn(reason), ..answer }
        }
        false => answer,
    }
}

fn chosen_model(usual: &str, options: &VerifyArguments) -> Result<Arc<Model>, Diagnostics> {
    let usual = || ModelChoice::BuiltIn(usual.to_string());
    let choice = model_choice(options).unwrap_or_else(usual);
    Models::new(&[], None).get(&choice)
}

fn enumerated(
    structures: &Structures,
    usual: &str,
    options: &VerifyArguments,
) -> Result<Answer, Diagnostics> {
    let model = chosen_model(usual, options)?;
    let Asked { program, question, assertions } = asked(structures)?;
    let bound = options.unroll.0.unwrap_or(USUAL_BOUND);
    let search = Options {
        bound,
        witnesses: 1,
        timeout: options.timeout,
        stop: Some(interrupt::stop_flag()),
        ..Options::default()
    };
    let outcomes = enumerate(&program, &question, &model, &search)?;
    for witness in &outcomes.witnesses {
        replay(&program, witness, &model)
            .map_err(|reason| vec![not_replayed(&program, &reason)])?;
    }
    let verdict = verdict(&program.source, &assertions, outcomes, bound);
    Ok(Answer { all: true, ..Answer::new(verdict, model.name(), "enumerate") })
}

/// A program whose final states tell whether an assertion has failed.
struct Asked {
    program: Program,
    question: Question,
    assertions: Vec<Assertion>,
}

fn asked(structures: &Structures) -> Result<Asked, Diagnostics> {
    let Lowered { program, question, assertions } = lower(structures, Judging::ByQuestion)?;
    match question {
        Some(question) => Ok(Asked { program, question, assertions }),
        None => Err(vec![Diagnostic::new("the structures ask no question")]),
    }
}

fn verdict(
    source: &SourceFile,
    assertions: &[Assertion],
    outcomes: Outcomes,
    bound: u32,
) -> Verdict {
    let mut gaps = Gaps::default();
    let scope = match &outcomes.ending {
        Ending::Complete => Scope::Complete,
        Ending::Bounded | Ending::Stopped { .. } => Scope::Bounded(bound),
    };
    if let Ending::Stopped { reason } = &outcomes.ending {
        gaps.add(Reason {
            message: format!("the search was stopped: {reason}"),
            place: None,
            help: None,
        });
    }
    let executions = outcomes.positive.saturating_add(outcomes.negative);
    if executions == 0 {
        gaps.add(no_final_state(&outcomes.ending));
    }
    let witnesses = outcomes.witnesses.into_iter();
    let violations: Vec<Violation> =
        witnesses.map(|witness| violation(source, assertions, witness)).collect();
    let searched = Searched {
        scope,
        all: true,
        gaps,
        properties: vec![Property::Assert],
        counts: Counts { executions, ..Counts::default() },
        violations,
        notes: Vec::new(),
    };
    searched.conclude()
}

/// The final state tells which assertion has failed.
fn failed_assertion<'a>(
    assertions: &'a [Assertion],
    execution: &Execution,
) -> Option<&'a Assertion> {
    execution.final_state.iter().find_map(|value| {
        let thread = value.name.strip_suffix(":failed")?;
        let number = usize::try_from(value.bits.unsigned()).ok()?.checked_sub(1)?;
        let mut own = assertions.iter().filter(|assertion| assertion.thread == thread);
        own.nth(number)
    })
}

fn violation(source: &SourceFile, assertions: &[Assertion], execution: Execution) -> Violation {
    let failed = failed_assertion(assertions, &execution);
    let message = failed.map_or("an assertion fails", |failed| &failed.message).to_string();
    Violation {
        property: Property::Assert,
        message,
        place: failed.map(|failed| source.location(failed.span)),
        execution,
        involved: Vec::new(),
    }
}
