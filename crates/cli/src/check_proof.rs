//! `parallax check-proof`: whether a proof of the engine abstract proves what it says.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use parallax_control::{Cancel, Control};
use parallax_program::Diagnostics;
use parallax_verify::Request;
use parallax_verify::proofs::check_proof;
use parallax_verify::text::{read, shown};
use parallax_verify::validation::Validation;

use crate::args::seconds;
use crate::output::Wording;
use crate::verify::input::InputArguments;
use crate::verify::timed;
use crate::{Exit, interrupt, validate};

/// Check a proof that `parallax verify --engine abstract --proof FILE` has written.
///
/// The steps of all states in the proof are made anew from the program, and a solver says whether the
/// proof has all that follows. Nothing of the search that has found the proof is used.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckProofArguments {
    /// The proof
    #[arg(value_name = "PROOF", value_hint = ValueHint::FilePath)]
    pub proof: PathBuf,

    #[command(flatten)]
    pub input: InputArguments,

    /// Stop after so long
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Stop when the check has taken so much memory
    #[arg(long, value_name = "MIB", default_value = crate::MEMORY_LIMIT)]
    #[arg(allow_negative_numbers = true)]
    pub memory_limit: NonZeroU32,

    /// Nothing on stderr but errors, and no notes
    #[arg(long, short)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Exit codes:
  0  confirmed
  1  refuted
  2  bad input or usage: the proof cannot be read, too
  3  unknown

Examples:
  parallax verify --engine abstract --model sc --property assert --proof a.proof examples/c-abstract/hand-over.c
  parallax check-proof a.proof examples/c-abstract/hand-over.c";

pub fn run(options: &CheckProofArguments) -> Exit {
    let cancel = interrupt::install();
    match timed(|| answer(options, &cancel), Wording::Text) {
        Ok((validation, _)) => validate::show(&validation, options.quiet),
        Err(exit) => exit,
    }
}

fn answer(options: &CheckProofArguments, cancel: &Cancel) -> Result<Validation, Diagnostics> {
    let text = read(&options.proof)?;
    let control = Control {
        memory_limit: Some(u64::from(options.memory_limit.get())),
        ..Control::default().until(cancel.clone()).within(options.timeout)
    };
    let request = Request { input: options.input.within(options.timeout), ..Request::default() };
    check_proof(request, (&shown(&options.proof), &text), &control)
}
