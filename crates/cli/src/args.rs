//! What can be said on the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::check_proof::CheckProofArguments;
use crate::debug::{DebugArguments, ReplayArguments};
use crate::fences::FencesArguments;
use crate::translate::TranslateArguments;
use crate::validate::ValidateArguments;
use crate::verify::VerifyArguments;

/// Verifies concurrent programs against every order in which memory effects can be seen.
#[derive(Parser, Debug)]
#[command(name = "parallax", version, propagate_version = true)]
#[command(after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    Litmus(LitmusArguments),
    Verify(Box<VerifyArguments>),
    Fences(FencesArguments),
    Debug(DebugArguments),
    Replay(ReplayArguments),
    Translate(TranslateArguments),
    Validate(ValidateArguments),
    CheckProof(CheckProofArguments),
    Models(ModelsArguments),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

const EXIT_CODES: &str = "\
Exit codes:
  0  safe, or all as expected
  1  a violation was found, or an expectation was missed
  2  bad input or usage
  3  unknown: stopped by a limit or by Ctrl-C";

/// Run litmus tests and print all outcomes that the memory model allows.
///
/// The text format is the log format of herd7. Whether a test's condition holds is part of
/// the answer and does not change the exit code, except with --expect.
#[derive(Args, Debug)]
#[command(after_help = LITMUS_EXAMPLES)]
pub struct LitmusArguments {
    /// Tests, folders of tests, or @FILE with one path a line
    #[arg(value_name = "PATH", required_unless_present = "expect")]
    #[arg(value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,

    /// A built-in model or a cat file [default: by the test's architecture]
    #[arg(long, short, value_name = "NAME|FILE.cat", conflicts_with = "expect")]
    pub model: Option<String>,

    /// A bell file to read before the model's cat file, as the Linux kernel's has one
    #[arg(long, value_name = "FILE.bell", value_hint = ValueHint::FilePath)]
    pub bell: Option<PathBuf>,

    /// A variant for the model's cat file to test for, or ConstrainedUnpredictable: store
    /// exclusives of AArch64 succeed at any address; may be given several times
    #[arg(long, value_name = "NAME")]
    pub variant: Vec<String>,

    /// How often a loop may be repeated
    #[arg(long, value_name = "N", default_value_t = 2, allow_negative_numbers = true)]
    pub bound: u32,

    /// How many tests to run at once [default: the number of cores]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,

    /// How to print the answers
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,

    /// Draw executions that satisfy the condition, as SVG and DOT, up to 16 for each test
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub graph: Option<PathBuf>,

    /// Draw these relations of the model too
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', requires = "graph")]
    pub show: Vec<String>,

    /// Print, after each answer, an execution that satisfies the condition
    #[arg(long)]
    pub sketch: bool,

    /// Compare with expected answers: rows of file,model,condition, the files relative to
    /// the CSV; with PATHs, only the rows of these tests
    #[arg(long, value_name = "FILE.csv", value_hint = ValueHint::FilePath)]
    pub expect: Option<PathBuf>,

    /// Which coherence orders to count as executions of their own
    #[arg(long, value_enum, default_value_t = Coherence::Auto)]
    pub coherence: Coherence,

    /// Stop each test after so long, with what was found so far
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    #[arg(allow_negative_numbers = true)]
    pub timeout: Option<Duration>,

    /// No progress line, and nothing on stderr but errors
    #[arg(long, short, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say on stderr what is done with each test
    #[arg(long, short)]
    pub verbose: bool,
}

const LITMUS_EXAMPLES: &str = "\
Exit codes:
  0  every test ran (with --expect: and every answer is the expected one)
  1  with --expect: an answer differs, or a test failed
  2  bad input: some file or model could not be used
  3  some test was stopped by --timeout or Ctrl-C before everything was searched

Examples:
  parallax litmus examples/store-buffering.litmus
  parallax litmus --model sc --format json examples";

/// List the built-in memory models, or print one.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  parallax models
  parallax models tso")]
pub struct ModelsArguments {
    /// Print the cat file of this model
    pub name: Option<String>,
}

/// Print the completion script for a shell.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  parallax completions bash > parallax.bash
  parallax completions zsh > _parallax")]
pub struct CompletionsArguments {
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Print the manual page, or write one for each subcommand into a folder.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  parallax man > parallax.1
  parallax man share/man/man1")]
pub struct ManArguments {
    /// Where to write the pages; made if it does not exist
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    /// The log format of herd7
    Text,
    /// One object a line
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Coherence {
    /// Total where a test has few orders, needed where it has many
    Auto,
    /// Every total order
    Total,
    /// Only orders that the model or the final state distinguishes
    Needed,
}

pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected more than 0 seconds".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_positive() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["0", "-1", "inf", "NaN", "x", "1e99"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
