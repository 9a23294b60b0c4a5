//! Which memory model a test runs under: by name, from a file, or by architecture; and the
//! command that lists the built-in ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parallax_frontend_litmus::{Arch, LitmusTest};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, InstKind, Program, Span};

use crate::Exit;
use crate::args::ModelsArguments;
use crate::output;

/// A model as people ask for it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ModelChoice {
    /// The one that the test's architecture has.
    ByArchitecture,
    BuiltIn(String),
    File(PathBuf),
}

impl ModelChoice {
    /// `tso`, or a path, taken relative to `folder`.
    pub fn parse(text: &str, folder: &Path) -> ModelChoice {
        if text.ends_with(".cat") || text.contains(['/', '\\']) {
            ModelChoice::File(folder.join(text))
        } else {
            ModelChoice::BuiltIn(text.to_string())
        }
    }
}

/// The models of a run, each read once.
pub struct Models {
    variants: Vec<String>,
    bell: Option<PathBuf>,
    loaded: Mutex<HashMap<ModelChoice, Loaded>>,
}

type Loaded = Result<Arc<Model>, Diagnostics>;

impl Models {
    pub fn new(variants: &[String], bell: Option<&Path>) -> Models {
        Models {
            variants: variants.to_vec(),
            bell: bell.map(Path::to_path_buf),
            loaded: Mutex::default(),
        }
    }

    /// The model for a test, if it knows the test's language.
    pub fn for_test(&self, choice: &ModelChoice, test: &LitmusTest) -> Loaded {
        match choice {
            ModelChoice::ByArchitecture => {
                self.get(&ModelChoice::BuiltIn(test.arch.usual_model().to_string()))
            }
            ModelChoice::BuiltIn(name) => {
                let model = self.get(choice)?;
                match language_of(name) {
                    Some(arch) if !suits(arch, test) => Err(vec![wrong_architecture(name, test)]),
                    _ => Ok(model),
                }
            }
            ModelChoice::File(_) => self.get(choice),
        }
    }

    /// A model by itself, to see whether there is anything wrong with it.
    pub fn get(&self, choice: &ModelChoice) -> Loaded {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.get(choice) {
            return known.clone();
        }
        let model = self.load(choice);
        loaded.insert(choice.clone(), model.clone());
        model
    }

    fn load(&self, choice: &ModelChoice) -> Loaded {
        match choice {
            ModelChoice::ByArchitecture => Err(vec![unknown_model("")]),
            ModelChoice::BuiltIn(name) if !self.variants.is_empty() => {
                let message = format!("the built-in model '{name}' has no variants");
                let help = "--variant is for models of your own: --model FILE.cat";
                Err(vec![Diagnostic::new(message).with_help(help)])
            }
            ModelChoice::BuiltIn(name) if self.bell.is_some() => {
                let message = format!("the built-in model '{name}' needs no bell file");
                let help = "--bell is for models of your own: --model FILE.cat";
                Err(vec![Diagnostic::new(message).with_help(help)])
            }
            ModelChoice::BuiltIn(name) => {
                Model::builtin(name).unwrap_or_else(|| Err(vec![unknown_model(name)]))
            }
            ModelChoice::File(path) => {
                Model::load(path, self.bell.as_deref(), &self.variants).map(Arc::new)
            }
        }
    }
}

fn unknown_model(name: &str) -> Diagnostic {
    let names: Vec<&str> = Model::builtin_names().map(|(name, _, _)| name).collect();
    Diagnostic::new(format!("there is no built-in model '{name}'")).with_help(format!(
        "built-in models are {}; a model of your own is given as a file, FILE.cat",
        names.join(", ")
    ))
}

fn wrong_architecture(model: &str, test: &LitmusTest) -> Diagnostic {
    let known = language_of(model).map_or("another", arch_name);
    let found = arch_name(test.arch);
    let default = test.arch.usual_model();
    let message = format!(
        "wrong architecture for model '{model}': the test is written in {found}, the model is \
         for {known}"
    );
    let help = format!("'{default}' is for {found}; sc, tso, pso and rmo are for all");
    let source = &test.program.source;
    source.error(Span::new(0, 0), message).with_help(help)
}

/// The one language whose tags a model knows; none for models that make sense for all.
fn language_of(model: &str) -> Option<Arch> {
    match model {
        "power" => Some(Arch::Ppc),
        "arm" => Some(Arch::Arm),
        "aarch64" => Some(Arch::AArch64),
        "riscv" => Some(Arch::RiscV),
        "c11" | "ra" | "rc11" | "imm" => Some(Arch::C),
        "lkmm" => Some(Arch::Lkmm),
        _ => None,
    }
}

fn suits(known: Arch, test: &LitmusTest) -> bool {
    known == test.arch
        || known == Arch::Lkmm && test.arch == Arch::C && has_plain_accesses_only(&test.program)
}

/// Such a test in C is C11 and kernel C alike.
fn has_plain_accesses_only(program: &Program) -> bool {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    let mut instructions = blocks.flat_map(|block| &block.insts);
    instructions.all(|instruction| match &instruction.kind {
        InstKind::Load { tags, .. } | InstKind::Store { tags, .. } => {
            tags.iter().all(|tag| tag.as_str() == "NA")
        }
        InstKind::Rmw { .. } | InstKind::Cas { .. } | InstKind::Fence { .. } => false,
        _ => true,
    })
}

/// As the first word of a test has it, except for kernel C.
pub fn arch_name(arch: Arch) -> &'static str {
    match arch {
        Arch::X86 => "X86",
        Arch::X86_64 => "X86_64",
        Arch::AArch64 => "AArch64",
        Arch::Arm => "ARM",
        Arch::Ppc => "PPC",
        Arch::RiscV => "RISCV",
        Arch::C => "C",
        Arch::Lkmm => "LKMM",
    }
}

/// `parallax models`
pub fn run(options: &ModelsArguments) -> Exit {
    let text = match &options.name {
        None => list(),
        Some(name) => match Model::builtin_names().find(|(known, _, _)| known == name) {
            Some((_, _, source)) => source.to_string(),
            None => {
                output::report(&unknown_model(name));
                return Exit::BadInput;
            }
        },
    };
    if output::print(&text).is_break() {
        return Exit::Unknown;
    }
    Exit::Fine
}

fn list() -> String {
    let width = Model::builtin_names().map(|(name, _, _)| name.len()).max();
    let width = width.unwrap_or(0);
    let lines =
        Model::builtin_names().map(|(name, summary, _)| format!("{name:width$}  {summary}\n"));
    lines.collect()
}
