//! `parallax fences`: from a program to its cheapest repair.

pub mod arguments;
mod output;

pub use arguments::FencesArguments;
use arguments::{Mode, ObjectiveChoice, RepairChoice};
use parallax_control::{Cancel, Control};
use parallax_fences::{Collecting, Objective, Outcome, Repair};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_verify::text::shown;
use parallax_verify::{Mended, RepairRequest};

use crate::args::Format;
use crate::output::Wording;
use crate::verify::timed;
use crate::{Exit, interrupt};

pub fn run(options: &FencesArguments) -> Exit {
    let cancel = interrupt::install();
    let (mended, time) = match timed(|| answer(options, &cancel), wording(options)) {
        Ok(answered) => answered,
        Err(exit) => return exit,
    };
    let exit = match mended.repaired.outcome {
        Outcome::Fixed | Outcome::AlreadySafe => Exit::Fine,
        Outcome::Unfixable => Exit::Missed,
        Outcome::Unknown => Exit::Unknown,
    };
    match output::deliver(options, &mended, time) {
        Ok(()) => exit,
        Err(failed) => failed,
    }
}

/// How errors are said.
fn wording(options: &FencesArguments) -> Wording {
    match options.format {
        Format::Json => Wording::Json(shown(options.input.first())),
        Format::Text => Wording::Text,
    }
}

fn answer(options: &FencesArguments, cancel: &Cancel) -> Result<Mended, Diagnostics> {
    if options.output.is_some() && options.input.inputs.len() > 1 {
        let message = "--output is for one file; --in-place changes several";
        return Err(vec![Diagnostic::new(message)]);
    }
    let control = Control {
        memory_limit: Some(u64::from(options.memory_limit.get())),
        jobs: options.jobs,
        ..Control::default().until(cancel.clone()).within(options.timeout)
    };
    request(options).mend(&control)
}

fn request(options: &FencesArguments) -> RepairRequest {
    RepairRequest {
        input: options.input.within(options.timeout),
        model: options.model.clone(),
        properties: options.property.clone(),
        unroll: options.unroll.0,
        nondet: options.nondet,
        repair: match options.repair {
            _ if options.relax => Repair::Relax,
            RepairChoice::Fences => Repair::Fences,
            RepairChoice::Orders => Repair::Orders,
            RepairChoice::Both => Repair::Both,
        },
        objective: match options.objective {
            ObjectiveChoice::Count => Objective::Count,
            ObjectiveChoice::Weight => Objective::Weight,
        },
        collecting: match options.mode {
            Mode::Fast => Collecting::OneByOne,
            Mode::Optimal => Collecting::All,
        },
        weights: options.weights.clone().unwrap_or_default(),
        check: options.check,
        edit_headers: options.edit_headers,
    }
}
