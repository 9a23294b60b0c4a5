//! `parallax translate`: a program in another language.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use parallax_frontend_ops::translate;
use parallax_program::Diagnostics;

use crate::Exit;
use crate::output;
use parallax_verify::text::{read, shown};

/// Translate a program: assembly code for ARM, SPARC, Power or x86 to operation structures.
///
/// The input has a line 'isa NAME', lines 'loc [NAME] = VALUE', and threads: a line 'thread NAME:'
/// and then instructions, one a line. Lines 'assume' and 'assert' have conditions on registers.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct TranslateArguments {
    /// The program
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,

    /// The language to translate to
    #[arg(long, value_enum)]
    pub to: Language,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Language {
    /// Operation structures
    Ops,
}

const EXAMPLES: &str = "\
Exit codes:
  0  translated
  2  bad input or usage

Examples:
  parallax translate examples/ops/message-passing.asm --to ops
  parallax translate examples/ops/sparc-spinlock.asm --to ops > spinlock.ops";

pub fn run(options: &TranslateArguments) -> Exit {
    let translated = match options.to {
        Language::Ops => to_structures(options),
    };
    match translated {
        Ok(text) => match output::print_for_programs(&text).is_break() {
            true => Exit::Unknown,
            false => Exit::Fine,
        },
        Err(errors) => {
            errors.iter().for_each(output::report);
            Exit::BadInput
        }
    }
}

fn to_structures(options: &TranslateArguments) -> Result<String, Diagnostics> {
    translate(&shown(&options.input), &read(&options.input)?)
}
