//! What is known of the built-in models beside their text: the one table of such facts.
//!
//! Engines have shortcuts for some models: a machine that runs them, rules in place of the file, what
//! a file implies that no analysis finds. Each is a fact about the model, stated here once. An engine
//! asks for the fact and never for the name, so a new model is a cat file and a row of this table. Of a
//! model that a user has written nothing is known but its text.

use parallax_machine::system::MemoryKind;

use crate::languages::Language;
use crate::model::Model;

/// Rules of exploration that stand for the cat file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    Sc,
    Tso,
    Pso,
    /// Release and acquire: every atomic access is both.
    Ra,
    Rc11,
    /// The same with the release sequences of C++20.
    Rc20,
    /// IMM as far as program order and reads-from make no cycle. Where seq_cst fences and such a
    /// cycle of reads and writes meet, its file decides.
    Imm,
}

impl Native {
    /// Whether happens-before decides what may be read.
    pub fn by_happens_before(self) -> bool {
        matches!(self, Native::Ra | Native::Rc11 | Native::Rc20 | Native::Imm)
    }

    /// Whether it is a model of a language, in which races are errors.
    pub fn is_of_language(self) -> bool {
        self == Native::Sc || self.by_happens_before() && self != Native::Imm
    }
}

/// What a model keeps of program order, as people explain it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProgramOrder {
    /// A store may wait in a buffer while later loads are done …
    StoreBuffer,
    /// … and stores to other places too.
    StoreBuffers,
    /// What the memory orders of C ask for.
    MemoryOrders,
    /// The same with every access a release or an acquire.
    ReleaseAcquire,
}

/// What is known of a model. Tests hold each of them, as far as it can be tested, to the cat file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The operational machine that has the executions of the model.
    pub machine: Option<MemoryKind>,
    /// The same where reads and writes are issued first and performed later, which only those follow who take
    /// the machine as it is.
    pub publishing: Option<MemoryKind>,
    pub native: Option<Native>,
    /// Rules whose happens-before is a part of that of the file. What they forbid is forbidden, and
    /// what comes last in all orders of the file never closes a cycle.
    pub refines: Option<Native>,
    /// Whether no value comes from itself by way of dependencies and reads.
    pub is_grounded: bool,
    /// Whether the fences of operation structures mean something to it.
    pub is_for_structures: bool,
    pub program_order: Option<ProgramOrder>,
}

impl Facts {
    /// Of a model of which nothing is known.
    pub const NONE: Facts = Facts {
        machine: None,
        publishing: None,
        native: None,
        refines: None,
        is_grounded: false,
        is_for_structures: false,
        program_order: None,
    };

    /// Whether nothing but the order from a store to a later load is ever lost: then a fence
    /// between the two is as good as a full one.
    pub fn keeps_all_but_store_load(&self) -> bool {
        matches!(self.machine, Some(MemoryKind::Sc | MemoryKind::Tso))
    }

    /// The machine that has the executions of the model, of whatever kind.
    pub fn any_machine(&self) -> Option<MemoryKind> {
        self.machine.or(self.publishing)
    }

    /// Of the built-in model of that name.
    pub fn of(name: &str) -> Option<&'static Facts> {
        TABLE.iter().find(|(known, _)| *known == name).map(|(_, facts)| facts)
    }

    /// The names of the built-in models of which something holds, with commas between them.
    pub fn names(holds: impl Fn(&Facts) -> bool) -> String {
        let found = TABLE.iter().filter(|(_, facts)| holds(facts)).map(|(name, _)| *name);
        found.collect::<Vec<_>>().join(", ")
    }
}

const GROUNDED: Facts = Facts { is_grounded: true, ..Facts::NONE };

/// In the order in which models are listed.
const TABLE: [(&str, Facts); 16] = [
    (
        INTERLEAVING,
        Facts {
            machine: Some(MemoryKind::Sc),
            native: Some(Native::Sc),
            is_for_structures: true,
            ..GROUNDED
        },
    ),
    (
        "tso",
        Facts {
            machine: Some(MemoryKind::Tso),
            native: Some(Native::Tso),
            is_for_structures: true,
            program_order: Some(ProgramOrder::StoreBuffer),
            ..GROUNDED
        },
    ),
    (
        "pso",
        Facts {
            machine: Some(MemoryKind::Pso),
            native: Some(Native::Pso),
            is_for_structures: true,
            program_order: Some(ProgramOrder::StoreBuffers),
            ..GROUNDED
        },
    ),
    ("rmo", Facts { is_for_structures: true, ..GROUNDED }),
    ("power", Facts { is_for_structures: true, ..GROUNDED }),
    ("arm", Facts { is_for_structures: true, ..GROUNDED }),
    ("aarch64", Facts { is_for_structures: true, ..GROUNDED }),
    ("riscv", GROUNDED),
    ("c11", Facts { program_order: Some(ProgramOrder::MemoryOrders), ..Facts::NONE }),
    (
        "ra",
        Facts {
            native: Some(Native::Ra),
            program_order: Some(ProgramOrder::ReleaseAcquire),
            ..GROUNDED
        },
    ),
    (
        "rc11",
        Facts {
            native: Some(Native::Rc11),
            program_order: Some(ProgramOrder::MemoryOrders),
            ..GROUNDED
        },
    ),
    (
        "rc20",
        Facts {
            native: Some(Native::Rc20),
            program_order: Some(ProgramOrder::MemoryOrders),
            ..GROUNDED
        },
    ),
    ("c11-mca", Facts { program_order: Some(ProgramOrder::MemoryOrders), ..GROUNDED }),
    (
        "rc11-mca",
        Facts {
            publishing: Some(MemoryKind::Mca),
            refines: Some(Native::Rc11),
            program_order: Some(ProgramOrder::MemoryOrders),
            ..GROUNDED
        },
    ),
    ("imm", Facts { refines: Some(Native::Imm), ..GROUNDED }),
    ("lkmm", Facts::NONE),
];

/// The model in which threads take turns, which every language has.
pub const INTERLEAVING: &str = "sc";

impl Language {
    /// The model that programs in the language usually have.
    pub const fn usual_model(self) -> &'static str {
        match self {
            Language::C => "rc11",
            Language::Kernel => "lkmm",
            Language::X86 => "tso",
            Language::AArch64 => "aarch64",
            Language::Arm => "arm",
            Language::Power => "power",
            Language::RiscV => "riscv",
        }
    }
}

impl Model {
    /// What is known of the model beside its text: nothing, if a user has written it.
    pub fn facts(&self) -> &'static Facts {
        let known = Facts::of(self.name()).filter(|_| self.is_builtin());
        known.unwrap_or(&Facts::NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_model_has_its_row() {
        let listed: Vec<&str> = Model::builtin_names().map(|(name, ..)| name).collect();
        assert_eq!(listed, TABLE.map(|(name, _)| name));
    }

    #[test]
    fn nothing_is_known_of_a_user_s_model_of_the_same_name() {
        let model = Model::parse("tso", "mine\nacyclic po | rf\n", &|_| None).expect("a model");
        assert_eq!(*model.facts(), Facts::NONE);
    }

    #[test]
    fn the_usual_model_of_a_language_speaks_of_it() {
        use Language::{AArch64, Arm, C, Kernel, Power, RiscV, X86};
        for language in [C, Kernel, X86, AArch64, Arm, Power, RiscV] {
            let model = Model::builtin(language.usual_model()).expect("a model").expect("a model");
            assert!(model.speaks(language), "{language}");
        }
    }

    #[test]
    fn rules_and_machines_are_for_models_that_are_grounded() {
        for (name, facts) in TABLE {
            let has_shortcut = facts.machine.is_some() || facts.native.is_some();
            assert!(facts.is_grounded || !has_shortcut, "{name}");
            let model = Model::builtin(name).expect("a model").expect("a right model");
            assert!(model.implies_coherence() || !has_shortcut, "{name}");
        }
    }

    #[test]
    fn rules_by_happens_before_are_for_models_that_define_it() {
        for (name, facts) in TABLE {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            let by_it = [facts.native, facts.refines].into_iter().flatten();
            let by_it = by_it.filter(|rules| rules.by_happens_before()).count() > 0;
            assert!(model.happens_before().is_some() || !by_it, "{name}");
        }
    }
}
