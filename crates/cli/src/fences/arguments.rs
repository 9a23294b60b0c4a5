//! What can be said to `parallax fences`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use parallax_fences::Weights;
use parallax_verify::Properties;

use crate::args::{Format, seconds};
use crate::verify::arguments::{Rounds, range};
use crate::verify::input::InputArguments;

/// Find the cheapest fences, or memory orders, that make a program correct.
///
/// Inputs are C files, litmus tests, and assembler files for x86-64. The answer on stdout is a unified
/// diff, which `patch` applies; what each change is for goes to stderr. The changed program has been
/// verified.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct FencesArguments {
    #[command(flatten)]
    pub input: InputArguments,

    /// A built-in model or a cat file [default: rc11; of .s files tso; of a litmus test its
    /// architecture's]
    #[arg(long, short, value_name = "NAME|FILE.cat")]
    pub model: Option<String>,

    /// How to collect bad executions. The answer is the cheapest in any case
    #[arg(long, value_enum, default_value_t = Mode::Fast)]
    pub mode: Mode,

    /// What may be changed
    #[arg(long, value_enum, default_value_t = RepairChoice::Fences)]
    pub repair: RepairChoice,

    /// Make the fences and memory orders of a correct program as weak, and as few, as can be
    #[arg(long, conflicts_with = "repair")]
    pub relax: bool,

    /// What is cheaper than what
    #[arg(long, value_enum, default_value_t = ObjectiveChoice::Count)]
    pub objective: ObjectiveChoice,

    /// What kinds of fences and orders cost, such as rel=1,acq=1,acq_rel=2,sc=3
    #[arg(long, value_name = "NAME=N,…", value_parser = Weights::parse)]
    pub weights: Option<Weights>,

    /// Check that each change is needed: removed or weakened, the program is wrong again
    #[arg(long)]
    pub check: bool,

    /// What to look for, as with verify [default: all but leak]
    #[arg(long, short, value_name = "NAME,…|FILE.prp")]
    pub property: Option<Properties>,

    /// Repeat loops so often at most; auto: as often as is needed, in litmus tests twice
    #[arg(long, value_name = "N|auto", default_value = "auto", allow_negative_numbers = true)]
    pub unroll: Rounds,

    /// Which values inputs may have, both ends included, such as 0..3
    #[arg(long, value_name = "LO..HI", value_parser = range, allow_hyphen_values = true)]
    pub nondet: Option<(i128, i128)>,

    /// How many threads search
    #[arg(long, short, value_name = "N", default_value = "1", allow_negative_numbers = true)]
    pub jobs: NonZeroUsize,

    /// Stop after so long; what was found so far is not confirmed then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// Stop when the search has taken so much memory
    #[arg(long, value_name = "MIB", default_value = crate::MEMORY_LIMIT)]
    #[arg(allow_negative_numbers = true)]
    pub memory_limit: NonZeroU32,

    /// Write the changed text to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with = "in_place")]
    pub output: Option<PathBuf>,

    /// Change the files themselves
    #[arg(long)]
    pub in_place: bool,

    /// Change headers too, where accesses are in them
    #[arg(long)]
    pub edit_headers: bool,

    /// How to print the answer: a diff, or one object
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Draw, for each change, an execution that is there without it
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub graph: Option<PathBuf>,

    /// Nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Exit codes:
  0  fixed, or correct already
  1  nothing that may be changed helps
  2  bad input or usage
  3  unknown: something is not supported, or a limit or Ctrl-C stopped the search

Examples:
  parallax fences examples/c/store-buffering.c
  parallax fences --repair orders --format json examples/c/message-passing.c";

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Mode {
    /// One by one, each against the best repair so far
    Fast,
    /// All of the program, before the first repair is tried
    Optimal,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum RepairChoice {
    /// Insert fences, and strengthen those that are there
    Fences,
    /// Strengthen the memory orders of accesses and fences that are there
    Orders,
    /// Whichever is cheaper
    Both,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ObjectiveChoice {
    /// Fewer fences, then less weight
    Count,
    /// Less weight, then fewer fences
    Weight,
}
