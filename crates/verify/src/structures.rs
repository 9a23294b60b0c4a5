//! Operation structures: the forms of the program that engines take, and the models that speak of
//! them.

use std::sync::Arc;

use parallax_engine_inductive::MARK;
use parallax_frontend_ops::isa::{Fence, Isa};
use parallax_frontend_ops::syntax::{OpKind, Structures};
use parallax_frontend_ops::{Assertion, Judging, Lowered, lower, marked, parse};
use parallax_memory::{Facts, Language};
use parallax_program::{Diagnostic, Diagnostics, Program, SourceFile};
use parallax_query::{Final, Marked, NumberOrder, Subject, Wording};
use parallax_verdict::Execution;

use crate::input::Input;
use crate::text::{read, shown};

/// Reads a file of operation structures.
pub fn load(input: &Input) -> Result<Structures, Diagnostics> {
    let path = input.first();
    parse(&shown(path), &read(path)?)
}

/// The model of the machine that structures are for.
pub fn usual_model(structures: &Structures) -> &'static str {
    let language = match structures.isa {
        Some(Isa::Arm) => Language::Arm,
        Some(Isa::Power) => Language::Power,
        // SPARC has the total store order too.
        Some(Isa::X86 | Isa::Sparc) | None => Language::X86,
    };
    language.usual_model()
}

/// The program that engines with assertions run.
pub fn lowered(structures: &Structures) -> Result<Lowered, Diagnostics> {
    lower(structures, Judging::of(structures))
}

/// All forms of the program, that for proofs only where it is needed.
pub fn subject(
    structures: &Structures,
    name: String,
    is_proved: bool,
) -> Result<Subject, Diagnostics> {
    let program = lowered(structures)?.program;
    let marked = match is_proved {
        true => Some(marked(structures, MARK)?),
        false => None,
    };
    Ok(Subject {
        name,
        program: Some(program),
        finals: finals(structures)?,
        marked: marked.map(|program| Marked { program, order: NumberOrder::Unsigned }),
        is_machine_code: false,
        is_judged_at_end: Judging::of(structures) != Judging::AtOnce,
    })
}

/// Final states say whether an assertion has failed.
fn finals(structures: &Structures) -> Result<Option<Final>, Diagnostics> {
    let Lowered { program, question, assertions } = lower(structures, Judging::ByQuestion)?;
    let Some(bad) = question else { return Ok(None) };
    let wording = wording(&program, assertions);
    Ok(Some(Final { program, bad, wording }))
}

fn wording(program: &Program, assertions: Vec<Assertion>) -> Wording {
    let source: SourceFile = program.source.clone();
    Wording(Arc::new(move |execution| {
        let failed = failed_assertion(&assertions, execution);
        let message = failed.map_or("an assertion fails", |failed| &failed.message).to_string();
        (message, failed.map(|failed| source.location(failed.span)))
    }))
}

/// The final state says which assertion has failed.
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

/// Fences have to mean something to the model, and no more than they mean to the machine.
pub fn check_model(structures: &Structures, model: &str) -> Result<(), Diagnostics> {
    let Some(facts) = Facts::of(model) else { return Ok(()) };
    if !facts.is_for_structures {
        let message = format!("the model '{model}' does not speak of operation structures");
        let names = Facts::names(|facts| facts.is_for_structures);
        let help = format!("models for them are {names}, and cat files of your own");
        return Err(vec![Diagnostic::new(message).with_help(help)]);
    }
    if facts.keeps_all_but_store_load() {
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
