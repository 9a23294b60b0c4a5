//! From what an engine has found to what it reports.

use parallax_control::Control;
use parallax_memory::Model;
use parallax_program::{InstKind, Program, Property, Question};

use crate::rebuild::{rebuild_unjudged, rebuild_violation};
use crate::refusal::Refusal;
use crate::{Claim, Claimed, Execution, Reason, StepId, ThreadEnding, Violation, replay};

/// Something wrong with an execution, as an engine sees it.
pub struct Suspicion {
    pub property: Property,
    pub message: String,
    /// The thread that fails, where one does.
    pub failed: Option<usize>,
    pub claim: Claim,
    /// What it is about.
    pub involved: Vec<StepId>,
}

/// Nothing is reported that the replayer does not confirm, within the limits of the search.
pub fn confirm(
    program: &Program,
    model: &Model,
    suspicion: Suspicion,
    control: &Control<'_>,
) -> Result<Violation, Reason> {
    let execution = rebuild_violation(program, &suspicion, model, None, &control.finishing());
    violation(suspicion, execution)
}

/// The same of an execution whose final state is wrong: it is among those that the question asks
/// for.
pub fn confirm_final(
    program: &Program,
    model: &Model,
    suspicion: Suspicion,
    question: &Question,
    control: &Control<'_>,
) -> Result<Violation, Reason> {
    let execution =
        rebuild_violation(program, &suspicion, model, Some(question), &control.finishing());
    violation(suspicion, execution)
}

/// A violation whose execution somebody has changed, so that it is one of this program now. The
/// error says why it is not.
pub fn confirm_again(
    program: &Program,
    model: &Model,
    claimed: Claimed,
) -> Result<Violation, String> {
    let Violation { property, message, place, execution, involved } = claimed;
    if execution.schedule.is_empty() {
        let execution = replay::replay_unasked(program, execution, model)?;
        return Ok(Violation { property, message, place, execution, involved });
    }
    let steps: Option<Vec<StepId>> =
        involved.iter().map(|event| execution.step_of(*event)).collect();
    let has_failed = |number: &usize| {
        execution.standings.get(*number).is_some_and(|it| it.ending == ThreadEnding::Failed)
    };
    let suspicion = Suspicion {
        property,
        message,
        failed: (0..execution.threads.len()).find(has_failed),
        claim: Claim::of(&execution)?,
        involved: steps.ok_or("it is about a write that no thread makes")?,
    };
    let execution = rebuild_violation(program, &suspicion, model, None, &Control::default())?;
    Ok(Violation { property, message: suspicion.message, place, execution, involved })
}

/// For whoever asks the model anyway: the replayer confirms that the program can do it, and not
/// that the model allows it. So nobody gets to see it.
pub fn follow(program: &Program, model: &Model, suspicion: Suspicion) -> Result<Claimed, Reason> {
    let execution = rebuild_unjudged(program, &suspicion, model);
    violation(suspicion, execution)
}

fn violation<E: AsRef<Execution>>(
    suspicion: Suspicion,
    execution: Result<E, Refusal>,
) -> Result<Violation<E>, Reason> {
    let execution = execution.map_err(|refusal| refusal.reason(&suspicion))?;
    let Suspicion { property, message, failed, involved, .. } = suspicion;
    let shown = execution.as_ref();
    let involved: Vec<u32> = involved.into_iter().filter_map(|step| shown.event_of(step)).collect();
    let place = match (failed, involved.first()) {
        (Some(thread), _) => {
            shown.standings.get(thread).and_then(|standing| standing.place().cloned())
        }
        (None, Some(event)) => shown.events[*event as usize].place.clone(),
        (None, None) => None,
    };
    Ok(Violation { property, message, place, execution, involved })
}

/// That inputs had values of a range only, where there are some.
pub fn inputs_tried(program: &Program, nondet: Option<(i128, i128)>) -> Option<String> {
    let (low, high) = nondet?;
    // A single bit may be both in any case.
    let mut inputs = program.functions.iter().flat_map(|function| {
        let kinds = function.blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.kind);
        kinds.filter_map(|kind| match kind {
            InstKind::Nondet { dst } => function.vars.get(dst.0 as usize),
            _ => None,
        })
    });
    inputs
        .any(|input| input.width > 1)
        .then(|| format!("only inputs from {low} to {high} were tried"))
}
