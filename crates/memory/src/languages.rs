//! The languages whose accesses and fences a model speaks of.
//!
//! A model sees a program through the tags of its events, and a tag that no event carries is the
//! empty set. So a model of one machine, asked about the program of another, finds no fences and no
//! strong accesses in it, and answers all the same. Whoever puts a model and a program together
//! asks here first: a model speaks of the languages that its tags belong to, and of the one that it
//! is named after in its first line. A model with neither (`sc` is one) takes all accesses for
//! alike and is right for every language.

use std::collections::BTreeSet;
use std::fmt;

use crate::model::Model;

/// A language that programs are written in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Language {
    C,
    /// The C of the Linux kernel.
    Kernel,
    X86,
    AArch64,
    /// ARMv7.
    Arm,
    Power,
    RiscV,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Language::C => "C",
            Language::Kernel => "Linux kernel C",
            Language::X86 => "x86",
            Language::AArch64 => "AArch64",
            Language::Arm => "ARM",
            Language::Power => "Power",
            Language::RiscV => "RISC-V",
        })
    }
}

impl Language {
    /// The only language that has the tag. None for tags of several languages, such as `A`, and for
    /// those that say nothing about order.
    pub fn of_tag(tag: &str) -> Option<Language> {
        Some(match tag {
            "RLX" | "CON" | "ACQ" | "REL" | "ACQ_REL" | "SC" => Language::C,
            "MFENCE" | "SFENCE" | "LFENCE" => Language::X86,
            "DMB" | "DSB" => Language::Arm,
            "L" | "Q" => Language::AArch64,
            "LWSYNC" | "SYNC" | "EIEIO" | "ISYNC" => Language::Power,
            "Acq" | "Rel" | "AcqRel" => Language::RiscV,
            "Once" | "Acquire" | "Release" | "Mb" | "Rmb" | "Wmb" | "Rcu-lock" | "Rcu-unlock"
            | "Sync-rcu" | "Before-atomic" | "After-atomic" => Language::Kernel,
            _ if tag.starts_with("Fence.") => Language::RiscV,
            _ if tag.starts_with("DMB.") || tag.starts_with("DSB.") => Language::AArch64,
            _ => return None,
        })
    }

    /// The languages of some tags. ARMv7 has most of the names of AArch64, and others beside them.
    pub fn of_tags<'a>(tags: impl Iterator<Item = &'a str>) -> BTreeSet<Language> {
        let (mut found, mut is_aarch64) = (BTreeSet::new(), false);
        for tag in tags {
            found.extend(Language::of_tag(tag));
            is_aarch64 |= tag == "Q" || tag.contains('.') && tag.ends_with("LD");
        }
        if found.contains(&Language::Arm) && !is_aarch64 {
            found.remove(&Language::AArch64);
        }
        found
    }

    /// The languages that a model with that title and those tags speaks of.
    pub(crate) fn of_model<'a>(
        title: Option<&str>,
        tags: impl Iterator<Item = &'a str>,
    ) -> BTreeSet<Language> {
        let mut languages = Language::of_tags(tags);
        languages.extend(title.and_then(Language::of_title));
        languages
    }

    /// The language that the title of a model names.
    fn of_title(title: &str) -> Option<Language> {
        let title = title.to_lowercase().replace(['-', ' '], "");
        let names = |words: &[&str]| words.iter().any(|word| title.contains(word));
        Some(match () {
            () if names(&["aarch64", "armv8", "armv9"]) => Language::AArch64,
            () if names(&["riscv", "rvwmo"]) => Language::RiscV,
            () if names(&["powerpc", "ppc"]) || title == "power" => Language::Power,
            () if names(&["x86"]) => Language::X86,
            () if names(&["armv7"]) || title == "arm" => Language::Arm,
            () if names(&["lkmm", "linux"]) => Language::Kernel,
            () if names(&["c11", "c++"]) => Language::C,
            () => return None,
        })
    }
}

impl Model {
    /// The languages that the model speaks of; none for one that fits all.
    pub fn languages(&self) -> &BTreeSet<Language> {
        &self.languages
    }

    /// Whether the model makes sense for programs in a language.
    pub fn speaks(&self, language: Language) -> bool {
        self.languages.is_empty() || self.languages.contains(&language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_models_speak_of_their_languages() {
        use Language::{AArch64, Arm, C, Kernel, Power, RiscV, X86};
        let expected: [(&str, &[Language]); 16] = [
            ("sc", &[]),
            ("tso", &[C, X86]),
            ("pso", &[C, X86]),
            ("rmo", &[C, X86]),
            ("ra", &[C]),
            ("rc11", &[C]),
            ("rc20", &[C]),
            ("c11", &[C]),
            ("c11-mca", &[C]),
            ("rc11-mca", &[C]),
            ("imm", &[C]),
            ("lkmm", &[Kernel]),
            ("aarch64", &[AArch64]),
            ("arm", &[Arm]),
            ("power", &[Power]),
            ("riscv", &[RiscV]),
        ];
        for (name, languages) in expected {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            assert_eq!(model.languages().iter().copied().collect::<Vec<_>>(), languages, "{name}");
        }
    }

    #[test]
    fn a_title_declares_a_language_and_tags_show_it() {
        let languages = |text: &str| {
            let model = Model::parse("mine", text, &|_| None).expect("a right model");
            model.languages().iter().copied().collect::<Vec<_>>()
        };
        assert_eq!(languages("mine\nacyclic po | rf | co | fr"), []);
        assert_eq!(languages("\"ARMv8 AArch64\"\nacyclic po-loc | rf"), [Language::AArch64]);
        assert_eq!(languages("mine\nacyclic [L]; po | rf"), [Language::AArch64]);
        assert_eq!(languages("mine\nacyclic [MFENCE]; po | rf"), [Language::X86]);
        assert_eq!(languages("mine\ninclude \"armfences.cat\"\nacyclic dmb | rf"), [Language::Arm]);
        let all = languages("mine\ninclude \"fences.cat\"\nacyclic mfence | rf");
        assert!([Language::X86, Language::Arm, Language::AArch64].iter().all(|l| all.contains(l)));
    }
}
