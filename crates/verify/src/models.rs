//! Which memory model a program is looked at under: by name, from a file, or by architecture.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use parallax_engine_bounded::Machine;
use parallax_frontend_litmus::{Arch, LitmusTest};
use parallax_memory::{Language, Model};
use parallax_program::{Diagnostic, Diagnostics, Help, InstKind, Program, Setting, Span};

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
                self.get(&ModelChoice::BuiltIn(usual_model(test.arch).to_string()))
            }
            ModelChoice::BuiltIn(_) | ModelChoice::File(_) => {
                let model = self.get(choice)?;
                match suits(&model, test) {
                    true => Ok(model),
                    false => Err(vec![wrong_architecture(&model, test)]),
                }
            }
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
                let help = of_your_own(Setting::Variant);
                Err(vec![Diagnostic::new(message).with_help(help)])
            }
            ModelChoice::BuiltIn(name) if self.bell.is_some() => {
                let message = format!("the built-in model '{name}' needs no bell file");
                let help = of_your_own(Setting::Bell);
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

/// Some settings are for models of the user's own.
fn of_your_own(setting: Setting) -> Help {
    Help::LeaveOut(vec![setting]).and(Help::with(
        Setting::Model,
        "FILE.cat",
        "is a model of your own, which may have it",
    ))
}

pub fn unknown_model(name: &str) -> Diagnostic {
    let names: Vec<&str> = Model::builtin_names().map(|(name, _, _)| name).collect();
    Diagnostic::new(format!("there is no built-in model '{name}'")).with_help(format!(
        "built-in models are {}; a model of your own is given as a file, FILE.cat",
        names.join(", ")
    ))
}

fn wrong_architecture(model: &Model, test: &LitmusTest) -> Diagnostic {
    let (name, found) = (model.name(), arch_name(test.arch));
    let default = usual_model(test.arch);
    let message = format!(
        "wrong architecture for model '{name}': the test is written in {found}, the model is \
         for {}",
        listed(model)
    );
    let others = Model::builtin_where(|model| model.speaks(language(test.arch)));
    let help = format!(
        "models for {found} are {others}, and '{default}' is the usual one; a model is for the \
         languages whose tags it uses, and for the one that its first line names"
    );
    let source = &test.program.source;
    source.error(Span::new(0, 0), message).with_help(help)
}

/// The languages that a model is for.
fn listed(model: &Model) -> String {
    let names: Vec<String> = model.languages().iter().map(Language::to_string).collect();
    names.join(" and ")
}

/// The machine that a program in that language has to be compiled for, so that the model speaks of
/// it. The error is that there is no way.
pub fn compiled_for(model: &Model, language: Language) -> Result<Option<Machine>, Diagnostic> {
    if model.speaks(language) {
        return Ok(None);
    }
    if language == Language::C
        && let Some(machine) = Machine::of_model(model)
    {
        return Ok(Some(machine));
    }
    let (name, spoken) = (model.name(), listed(model));
    let message = match language {
        Language::C => format!(
            "the model '{name}' speaks of other accesses and fences than C11 has (those of \
             {spoken}), and it is not known how to compile C11 to them"
        ),
        _ => format!(
            "the model '{name}' does not speak of the accesses and fences of {language}, but of \
             those of {spoken}"
        ),
    };
    let help = match language {
        Language::C => {
            let is_for_c =
                |model: &Model| model.speaks(Language::C) || Machine::of_model(model).is_some();
            format!(
                "C is verified under {}, and .cat files for C or for one of these machines; a model \
                 is for C where it uses a tag of C (RLX, ACQ, REL, ACQ_REL, SC)",
                Model::builtin_where(is_for_c)
            )
        }
        _ => {
            "a model is for the languages whose tags it uses, and for the one that its first line \
              names; 'parallax models' lists those that are built in"
                .to_string()
        }
    };
    Err(Diagnostic::new(message).with_help(help))
}

/// The languages that the tags of a program belong to.
pub fn spoken(program: &Program) -> BTreeSet<Language> {
    let mut tags: BTreeSet<String> = BTreeSet::new();
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    for inst in blocks.flat_map(|block| &block.insts) {
        inst.kind.clone().for_each_tags(&mut |own| {
            tags.extend(own.iter().map(|tag| tag.as_str().to_string()));
        });
    }
    Language::of_tags(tags.iter().map(String::as_str))
}

/// The model that describes the machine or the language of a test.
pub fn usual_model(arch: Arch) -> &'static str {
    language(arch).usual_model()
}

fn language(arch: Arch) -> Language {
    match arch {
        Arch::X86 | Arch::X86_64 => Language::X86,
        Arch::AArch64 => Language::AArch64,
        Arch::Arm => Language::Arm,
        Arch::Ppc => Language::Power,
        Arch::RiscV => Language::RiscV,
        Arch::C => Language::C,
        Arch::Lkmm => Language::Kernel,
    }
}

fn suits(model: &Model, test: &LitmusTest) -> bool {
    let is_kernel = model.speaks(Language::Kernel);
    model.speaks(language(test.arch))
        || is_kernel && test.arch == Arch::C && has_plain_accesses_only(&test.program)
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
