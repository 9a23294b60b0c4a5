//! What can be said to `parallax debug` and `parallax replay`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use parallax_verify::Properties;

use crate::verify::arguments::range;
use crate::verify::input::{InputArguments, ReadingArguments};

/// Step through a program, one thread, one instruction, one buffered store at a time, and back.
///
/// Inputs are those of `parallax verify`. Commands have the names that GDB gives them; `help`
/// lists them.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct DebugArguments {
    #[command(flatten)]
    pub input: InputArguments,

    /// The machine: sc, tso or pso [default: tso; of a litmus test its architecture's]
    #[arg(long, short, value_name = "NAME")]
    pub model: Option<String>,

    /// What to look for, as `parallax verify` has it
    #[arg(long, short, value_name = "NAME,…|FILE.prp")]
    pub property: Option<Properties>,

    /// Which values inputs may have, both ends included, such as 0..3
    #[arg(long, value_name = "LO..HI", value_parser = range, allow_hyphen_values = true)]
    pub nondet: Option<(i128, i128)>,

    /// Take the commands from a file, and end with it
    #[arg(long, short = 'x', value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub command: Option<PathBuf>,

    /// Let a schedule happen first
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub schedule: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Exit codes:
  0  as it should be, where it ended
  1  it ended at a violation
  2  bad input or usage, a wrong command in a file of commands included
  3  it ended at something that cannot be followed

Examples:
  parallax debug examples/store-buffering.litmus
  parallax debug --model sc -x commands.txt examples/c/dekker.c";

/// Let a schedule happen, and say whether it ends at a violation.
///
/// A schedule is what `verify --witness` writes, or `save` in the debugger. It names the program
/// and the model.
#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES)]
pub struct ReplayArguments {
    /// The schedule
    #[arg(value_name = "WITNESS", value_hint = ValueHint::FilePath)]
    pub witness: PathBuf,

    /// The program [default: the one that the schedule names]
    #[arg(value_name = "INPUT", value_hint = ValueHint::FilePath)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: ReadingArguments,

    /// What to look for, as `parallax verify` has it
    #[arg(long, short, value_name = "NAME,…|FILE.prp")]
    pub property: Option<Properties>,

    /// Which values inputs may have, both ends included, such as 0..3
    #[arg(long, value_name = "LO..HI", value_parser = range, allow_hyphen_values = true)]
    pub nondet: Option<(i128, i128)>,
}

const REPLAY_EXAMPLES: &str = "\
Exit codes:
  0  it ends, and nothing is wrong
  1  it ends at a violation
  2  the schedule does not fit the program, or bad input or usage
  3  it ends at something that cannot be followed

Examples:
  parallax verify --model tso --engine states --witness sb.schedule examples/c/store-buffering.c
  parallax replay sb.schedule";
