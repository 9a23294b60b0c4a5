//! `parallax validate`: whether a witness of SV-COMP shows what it says.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use parallax_control::{Cancel, Control};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_verify::task::{Task, is_task};
use parallax_verify::validation::{Outcome, Validation, validate};
use parallax_verify::witness::Witness;
use parallax_verify::{Externs, Input, Properties, Reading, Request};

use crate::args::seconds;
use crate::output::Wording;
use crate::verify::input::DataModelName;
use crate::verify::timed;
use crate::{Exit, interrupt, output};

/// Check a witness of SV-COMP, of this or of another tool: is the violation where it says?
///
/// A witness of a violation leads a search through the program, under the model sc. It is confirmed
/// by an execution that comes by its places and shows the violation, and refuted if there is none.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ValidateArguments {
    /// The witness: YAML (format 2.x) or GraphML (1.0)
    #[arg(value_name = "WITNESS", value_hint = ValueHint::FilePath)]
    pub witness: PathBuf,

    /// The program, in C, or the task that it is of
    #[arg(value_name = "PROGRAM|TASK.yml", value_hint = ValueHint::FilePath, required = true)]
    pub inputs: Vec<PathBuf>,

    /// The property, as a property file of SV-COMP [default: that of the witness]
    #[arg(long, short, value_name = "FILE.prp", value_hint = ValueHint::FilePath)]
    pub property: Option<PathBuf>,

    /// How wide the types of C are [default: as the task or the witness says]
    #[arg(long, value_enum, ignore_case = true)]
    pub data_model: Option<DataModelName>,

    /// Stop after so long
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Exit codes:
  0  confirmed
  1  refuted
  2  bad input or usage: the witness cannot be read, too
  3  unknown

Examples:
  parallax validate examples/witnesses/lost-update.witness.yml examples/witnesses/lost-update.c
  parallax validate examples/witnesses/lost-update.graphml examples/witnesses/lost-update.task.yml";

pub fn run(options: &ValidateArguments) -> Exit {
    let cancel = interrupt::install();
    let (validation, _) = match timed(|| answer(options, &cancel), Wording::Text) {
        Ok(answered) => answered,
        Err(exit) => return exit,
    };
    show(&validation, options.quiet)
}

/// Says what was found out.
pub fn show(validation: &Validation, quiet: bool) -> Exit {
    let mut text = format!("{}: {}\n", validation.outcome.name(), validation.reason);
    if !quiet {
        text.extend(validation.notes.iter().map(|note| format!("note: {note}\n")));
    }
    if output::print(&text).is_break() {
        return Exit::Unknown;
    }
    match validation.outcome {
        Outcome::Confirmed => Exit::Fine,
        Outcome::Refuted => Exit::Missed,
        Outcome::Unknown => Exit::Unknown,
    }
}

fn answer(options: &ValidateArguments, cancel: &Cancel) -> Result<Validation, Diagnostics> {
    let witness = Witness::load(&options.witness)?;
    let control = Control::default().until(cancel.clone()).within(options.timeout);
    validate(request(options)?, &witness, &control)
}

fn request(options: &ValidateArguments) -> Result<Request, Diagnostics> {
    let data_model = options.data_model.map(DataModelName::model);
    let reading = Reading { data_model, externs: Externs::Nondet, ..Reading::default() };
    let input = Input { files: options.inputs.clone(), reading, timeout: options.timeout };
    let properties = options.property.clone().map(Properties::File);
    let mut request = Request { input, properties, ..Request::default() };
    match options.inputs.as_slice() {
        [task] if is_task(task) => {
            let task = Task::load(task)?;
            request.input.files = task.files;
            request.input.reading.data_model = data_model.or(Some(task.data_model));
        }
        inputs if inputs.iter().any(|input| is_task(input)) => {
            return Err(vec![Diagnostic::new("one task, please, or the files of a program")]);
        }
        _ => {}
    }
    Ok(request)
}
