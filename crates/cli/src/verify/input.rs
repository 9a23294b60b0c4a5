//! What can be said about the program to look at.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum, ValueHint};
use parallax_verify::{DataModel, Externs, Input, Reading, usual_cache};

/// What is to be read, and how.
#[derive(Args, Clone, Debug)]
pub struct InputArguments {
    /// The program; several C files or modules are linked
    #[arg(value_name = "INPUT", required = true, value_hint = ValueHint::FilePath)]
    pub inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub reading: ReadingArguments,
}

/// How a program is read.
#[derive(Args, Clone, Debug, Default)]
pub struct ReadingArguments {
    /// Arguments for clang
    #[arg(value_name = "CLANG-ARGS", last = true)]
    pub clang: Vec<String>,

    /// Define a macro, as for clang; may be repeated
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    pub define: Vec<String>,

    /// Undefine a macro, as for clang; may be repeated
    #[arg(short = 'U', value_name = "NAME")]
    pub undefine: Vec<String>,

    /// Look for headers there, as clang does; may be repeated
    #[arg(short = 'I', value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub include: Vec<String>,

    /// The standard of C, as for clang; also -std=NAME
    #[arg(long, value_name = "NAME")]
    pub std: Option<String>,

    /// An argument for the program (machine code); may be repeated
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub arg: Vec<String>,

    /// Let the library stand in for a function whose code is there (machine code); a * at the
    /// end stands for anything; may be repeated
    #[arg(long, value_name = "NAME")]
    pub model_function: Vec<String>,

    /// Let threads that wait for a condition variable wake up only by a signal
    #[arg(long)]
    pub no_spurious_wakeups: bool,

    /// Let threads that wait for a condition variable wake up without a signal; this is so anyway
    #[arg(long, conflicts_with = "no_spurious_wakeups")]
    pub spurious_wakeups: bool,

    /// Let weak compare-and-swaps fail only where they do not find what they expect
    #[arg(long)]
    pub no_spurious_failures: bool,

    /// How wide the types of C are [default: what clang takes them for]
    #[arg(long, value_enum, value_name = "MODEL")]
    pub data_model: Option<DataModelName>,

    /// Run clang in any case, and keep nothing of what it makes
    #[arg(long)]
    pub no_cache: bool,

    /// What functions of C do that nobody defines
    #[arg(long = "extern", value_enum, value_name = "WHAT", default_value_t)]
    pub externs: ExternsName,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DataModelName {
    /// int, long and pointers have 32 bits
    Ilp32,
    /// long and pointers have 64 bits
    Lp64,
}

impl DataModelName {
    pub fn model(self) -> DataModel {
        match self {
            DataModelName::Ilp32 => DataModel::Ilp32,
            DataModelName::Lp64 => DataModel::Lp64,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum ExternsName {
    /// Nobody knows: the answer is unknown where one is called
    #[default]
    Unknown,
    /// They give any value of their type, and do nothing else
    Nondet,
}

impl InputArguments {
    /// The only input of most kinds.
    pub fn first(&self) -> &Path {
        self.inputs.first().map_or(Path::new(""), |path| path.as_path())
    }

    /// Other programs may take so long over it.
    pub fn within(&self, timeout: Option<Duration>) -> Input {
        Input { files: self.inputs.clone(), reading: self.reading.reading(), timeout }
    }
}

impl ReadingArguments {
    /// What clang gets: what has options here too, and then what comes after `--`.
    fn clang_arguments(&self) -> Vec<String> {
        let all = |option: &str, values: &[String]| -> Vec<String> {
            values.iter().map(|value| format!("{option}{value}")).collect()
        };
        let std = self.std.iter().map(|name| format!("-std={name}")).collect();
        let own =
            [all("-D", &self.define), all("-U", &self.undefine), all("-I", &self.include), std];
        own.into_iter().flatten().chain(self.clang.iter().cloned()).collect()
    }

    /// The same options once more, for another process; those for clang and the standard go apart.
    pub fn words(&self) -> Vec<String> {
        let each = |option: &str, values: &[String]| -> Vec<String> {
            values.iter().map(|value| format!("{option}{value}")).collect()
        };
        let flags = [
            (self.no_spurious_wakeups, "--no-spurious-wakeups"),
            (self.spurious_wakeups, "--spurious-wakeups"),
            (self.no_spurious_failures, "--no-spurious-failures"),
            (self.data_model == Some(DataModelName::Ilp32), "--data-model=ilp32"),
            (self.data_model == Some(DataModelName::Lp64), "--data-model=lp64"),
            (self.externs == ExternsName::Nondet, "--extern=nondet"),
        ];
        let flags = flags.into_iter().filter(|(is_said, _)| *is_said);
        let named = [
            each("-D", &self.define),
            each("-U", &self.undefine),
            each("-I", &self.include),
            each("--arg=", &self.arg),
            each("--model-function=", &self.model_function),
        ];
        named.into_iter().flatten().chain(flags.map(|(_, flag)| flag.to_string())).collect()
    }

    pub fn reading(&self) -> Reading {
        Reading {
            clang: self.clang_arguments(),
            arguments: self.arg.clone(),
            modelled: self.model_function.clone(),
            no_spurious_wakeups: self.no_spurious_wakeups,
            no_spurious_failures: self.no_spurious_failures,
            data_model: self.data_model.map(DataModelName::model),
            externs: match self.externs {
                ExternsName::Unknown => Externs::Unknown,
                ExternsName::Nondet => Externs::Nondet,
            },
            integers: false,
            cache: (!self.no_cache).then(usual_cache).flatten(),
        }
    }
}
