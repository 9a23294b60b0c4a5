//! The program to look at: what kind of input a file is, by its name, and how it is read.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_frontend_c::{DataModel, Errors, Externs, Options, load};
use parallax_machine::settle_retries;
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Setting, parse_program};

use crate::text::{read, shown};

/// What is to be read, and how.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Several C files or modules are linked.
    pub files: Vec<PathBuf>,
    pub reading: Reading,
    /// How long other programs may take over it.
    pub timeout: Option<Duration>,
}

/// How a program is read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Arguments for clang.
    pub clang: Vec<String>,
    /// Arguments for the program, where it is machine code.
    pub arguments: Vec<String>,
    /// Functions of machine code that the library stands in for; a `*` at the end stands for
    /// anything.
    pub modelled: Vec<String>,
    /// Condition variables wake threads only by signals.
    pub no_spurious_wakeups: bool,
    /// Weak compare-and-swaps fail only where they do not find what they expect.
    pub no_spurious_failures: bool,
    /// How wide the types of C are; None for what clang takes them for.
    pub data_model: Option<DataModel>,
    /// What functions of C do that neither the program nor the library has.
    pub externs: Externs,
    /// Whether executions of C are followed only as long as words hold what integers would be.
    pub integers: bool,
    /// The folder in which modules are kept that clang has made; none if none are.
    pub cache: Option<PathBuf>,
}

impl Input {
    /// The only input of most kinds.
    pub fn first(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |path| path.as_path())
    }

    /// The same, where variables have the names that the source has for them, as far as clang knows.
    pub fn with_names(mut self) -> Input {
        self.reading.clang.push("-fno-discard-value-names".to_string());
        self
    }

    /// Whether clang says of all arithmetic if it has a sign: where signed numbers are to wrap around, and in modules that others
    /// have made, nobody does.
    pub fn check_signs(&self) -> Result<(), Diagnostics> {
        let wraps = ["-fwrapv", "-ftrapv", "-fno-strict-overflow"];
        let wraps = self.reading.clang.iter().find(|it| wraps.contains(&it.as_str()));
        let is_source = |file: &&PathBuf| {
            matches!(file.extension().and_then(|it| it.to_str()), Some("c" | "i"))
        };
        let module = self.files.iter().find(|file| !is_source(file));
        let what = match (wraps, module) {
            (Some(argument), _) => format!("with {argument}"),
            (None, Some(module)) => format!("in '{}'", shown(module)),
            (None, None) => return Ok(()),
        };
        let message = format!("{what} it is not known which numbers have a sign, as integers need");
        let help = Help::LeaveOut(vec![Setting::Integers]);
        Err(vec![Diagnostic::new(message).with_help(help)])
    }

    /// What all inputs are. What is asked for has to go with that.
    pub fn kind(&self) -> Result<Kind, Diagnostics> {
        let kind = kind(&self.files)?;
        let Reading { clang, arguments, modelled, data_model, externs, .. } = &self.reading;
        if kind != Kind::C && !clang.is_empty() {
            return Err(vec![Diagnostic::new("arguments for clang are for C files only")]);
        }
        if kind != Kind::C && (data_model.is_some() || *externs != Externs::default()) {
            let message = "data models, and what functions without a body do, are for C files only";
            let help = Help::LeaveOut(vec![Setting::DataModel, Setting::Extern]);
            return Err(vec![Diagnostic::new(message).with_help(help)]);
        }
        if kind != Kind::Machine && !(arguments.is_empty() && modelled.is_empty()) {
            let message =
                "arguments of the entry, and models of functions, are for machine code only";
            let help = Help::LeaveOut(vec![Setting::Argument, Setting::ModelFunction]);
            return Err(vec![Diagnostic::new(message).with_help(help)]);
        }
        Ok(kind)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C, preprocessed or not, C++, Rust, and LLVM modules.
    C,
    /// x86-64: executables, objects, files for the assembler.
    Machine,
    /// The text form of the intermediate language.
    Text,
    Litmus,
    /// Operation structures.
    Structures,
}

const KNOWN: &str = "inputs are .c, .i, .cpp, .cc, .cxx, .rs, .ll, .bc, .program, .litmus, .ops or .s files, and ELF files for x86-64";

/// How ELF files start.
const ELF: &[u8] = b"\x7fELF";

/// What all inputs are.
fn kind(inputs: &[PathBuf]) -> Result<Kind, Diagnostics> {
    let mut kinds = Vec::new();
    let mut errors = Vec::new();
    for input in inputs {
        match kind_of(input) {
            Ok(kind) => kinds.push(kind),
            Err(error) => errors.push(error),
        }
    }
    match kinds.as_slice() {
        _ if !errors.is_empty() => Err(errors),
        [first, rest @ ..] if rest.iter().any(|kind| kind != first) => {
            Err(vec![Diagnostic::new("inputs of different kinds do not go together")])
        }
        [Kind::Text | Kind::Litmus | Kind::Machine | Kind::Structures, _, ..] => {
            let message = "only C files and LLVM modules can be linked: one input, please";
            Err(vec![Diagnostic::new(message)])
        }
        [first, ..] => Ok(*first),
        [] => Err(vec![Diagnostic::new("there is no input").with_help(KNOWN)]),
    }
}

/// Whether a file is a program, by its name or how it starts.
pub fn is_known(path: &Path) -> bool {
    kind_of(path).is_ok()
}

fn kind_of(path: &Path) -> Result<Kind, Diagnostic> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("c" | "i" | "cpp" | "cc" | "cxx" | "rs" | "ll" | "bc") => Ok(Kind::C),
        Some("program") => Ok(Kind::Text),
        Some("litmus") => Ok(Kind::Litmus),
        Some("ops") => Ok(Kind::Structures),
        Some("s" | "S" | "o") => Ok(Kind::Machine),
        _ if is_elf(path) => Ok(Kind::Machine),
        Some("yml") => {
            let message = format!("'{}': a task definition is no program", shown(path));
            let help =
                "'parallax verify' takes tasks alone: what else is given is for their programs";
            Err(Diagnostic::new(message).with_help(help))
        }
        _ => {
            let message = format!("'{}': it is not known what this is", shown(path));
            Err(Diagnostic::new(message).with_help(KNOWN))
        }
    }
}

fn is_elf(path: &Path) -> bool {
    let mut start = [0; ELF.len()];
    let read = parallax_files::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == ELF
}

/// What a program is made ready to be checked for, beyond what every program is.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Arithmetic that C leaves undefined.
    pub overflow: bool,
    /// Whether nobody asks for decisions by variables that are given no value.
    pub any_values: bool,
    /// Calls that are errors.
    pub errors: Errors,
}

/// A program in machine code, with what it uses of the library.
pub fn load_machine(input: &Input, checks: &Checks) -> Result<Program, Diagnostics> {
    parallax_frontend_x86::load(input.first(), &machine_options(input, checks))
}

/// The same, where this text is taken for the contents of the file for the assembler.
pub fn load_assembly(input: &Input, text: &str) -> Result<Program, Diagnostics> {
    let options = machine_options(input, &Checks::default());
    parallax_frontend_x86::load_text(input.first(), text, &options)
}

fn machine_options(input: &Input, checks: &Checks) -> parallax_frontend_x86::Options {
    let options = &input.reading;
    parallax_frontend_x86::Options {
        arguments: options.arguments.clone(),
        modelled: options.modelled.clone(),
        spurious_wakeups: !options.no_spurious_wakeups,
        errors: checks.errors.clone(),
    }
}

/// A program in C, with what it uses of the library.
pub fn load_c(input: &Input, checks: &Checks) -> Result<Program, Diagnostics> {
    load_edited(input, checks, Vec::new())
}

/// The same, where these texts are taken for the contents of files.
pub fn load_edited(
    input: &Input,
    checks: &Checks,
    texts: Vec<(PathBuf, String)>,
) -> Result<Program, Diagnostics> {
    let options = &input.reading;
    let clang = Options {
        clang_args: options.clang.clone(),
        data_model: options.data_model,
        externs: options.externs,
        spurious_wakeups: !options.no_spurious_wakeups,
        overflow: checks.overflow,
        integers: options.integers,
        any_values: checks.any_values,
        errors: checks.errors.clone(),
        texts,
        until: input.timeout.map(|time| Instant::now() + time),
        cache: options.cache.clone(),
    };
    let mut program = load(&input.files, &clang)?;
    if options.no_spurious_failures {
        program.make_compare_and_swaps_strong();
    }
    settle_retries(&mut program, false);
    Ok(program)
}

/// Stores that an attempt of a weak compare-and-swap repeats are taken to race with nothing. Returns
/// whether there are such.
pub fn settle(program: &mut Program) -> bool {
    settle_retries(program, true) > 0
}

/// A program in the text form of the intermediate language.
pub fn load_text(input: &Input) -> Result<Program, Diagnostics> {
    let path = input.first();
    let mut program = parse_program(&shown(path), &read(path)?)?;
    program.check()?;
    parallax_layout::guard(&mut program);
    if input.reading.no_spurious_failures {
        program.make_compare_and_swaps_strong();
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_kind() {
        let kind = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            kind(&paths).map_err(|errors| errors[0].message.clone())
        };
        assert_eq!(kind(&["a.c", "b.ll"]), Ok(Kind::C));
        assert_eq!(kind(&["a.litmus"]), Ok(Kind::Litmus));
        assert_eq!(kind(&["a.s"]), Ok(Kind::Machine));
        assert_eq!(kind(&["a.ops"]), Ok(Kind::Structures));
        for wrong in [&["a"][..], &["a.c", "b.litmus"], &["a.litmus", "b.litmus"], &["a.yml"], &[]]
        {
            assert!(kind(wrong).is_err(), "{wrong:?}");
        }
    }
}
