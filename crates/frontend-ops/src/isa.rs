//! Instruction sets: the names of their registers and fences.
//!
//! A fence carries the tags by which the models of all machines know it: its own, and those of
//! the fences of other machines that order no more than it does. So a program for one machine can
//! be asked about on another. See the table in `models/README.md`.

use std::fmt;

/// The machines that programs are written for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isa {
    Arm,
    Sparc,
    Power,
    X86,
}

impl Isa {
    pub const ALL: [Isa; 4] = [Isa::Arm, Isa::Sparc, Isa::Power, Isa::X86];

    pub fn name(self) -> &'static str {
        match self {
            Isa::Arm => "arm",
            Isa::Sparc => "sparc",
            Isa::Power => "power",
            Isa::X86 => "x86",
        }
    }

    pub fn named(name: &str) -> Option<Isa> {
        Isa::ALL.into_iter().find(|isa| isa.name() == name)
    }

    pub fn has_register(self, name: &str) -> bool {
        let numbered = |prefix: &str, count: u32| {
            let number = name.strip_prefix(prefix).filter(|digits| !digits.starts_with('+'));
            let number = number.and_then(|digits| digits.parse::<u32>().ok());
            number.is_some_and(|number| number < count && name == format!("{prefix}{number}"))
        };
        match self {
            Isa::Arm => numbered("r", 16) || matches!(name, "sp" | "lr" | "z" | "n" | "c" | "v"),
            Isa::Sparc => {
                ["g", "o", "l", "i"].into_iter().any(|window| numbered(window, 8))
                    || numbered("r", 32)
                    || matches!(name, "z" | "n" | "c" | "v")
            }
            Isa::Power => numbered("r", 32) || matches!(name, "lt" | "gt" | "eq"),
            Isa::X86 => matches!(
                name,
                "eax" | "ebx" | "ecx" | "edx" | "esi" | "edi" | "ebp" | "esp" | "zf" | "sf" | "cf"
            ),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A fence, by its number in the table of all.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fence(u8);

struct Known {
    name: &'static str,
    isa: Isa,
    tags: &'static [&'static str],
}

/// Everything before against everything after.
const FULL: &[&str] = &["DMB", "DMB.SY", "MFENCE", "SYNC"];
/// Writes before against writes after.
const STORES: &[&str] = &["DMB.ST", "EIEIO", "SFENCE"];

const KNOWN: [Known; 15] = [
    Known { name: "dmb", isa: Isa::Arm, tags: FULL },
    Known { name: "dsb", isa: Isa::Arm, tags: &["DSB", "DSB.SY", "MFENCE", "SYNC"] },
    Known { name: "dmb.st", isa: Isa::Arm, tags: STORES },
    Known { name: "dsb.st", isa: Isa::Arm, tags: &["DSB.ST", "EIEIO", "SFENCE"] },
    Known { name: "isb", isa: Isa::Arm, tags: &["ISB", "ISYNC"] },
    Known { name: "stbar", isa: Isa::Sparc, tags: STORES },
    Known { name: "membar", isa: Isa::Sparc, tags: FULL },
    Known { name: "sync", isa: Isa::Power, tags: FULL },
    Known { name: "lwsync", isa: Isa::Power, tags: &["DMB.LD", "DMB.ST", "LWSYNC", "SFENCE"] },
    Known { name: "eieio", isa: Isa::Power, tags: STORES },
    Known { name: "isync", isa: Isa::Power, tags: &["ISB", "ISYNC"] },
    Known { name: "mfence", isa: Isa::X86, tags: FULL },
    Known { name: "sfence", isa: Isa::X86, tags: STORES },
    Known { name: "lfence", isa: Isa::X86, tags: &["LFENCE"] },
    Known { name: "membar(wr)", isa: Isa::Sparc, tags: &["MFENCE"] },
];

impl Fence {
    /// The fence of that name, in capitals or not.
    pub fn named(name: &str) -> Option<Fence> {
        let found = KNOWN.iter().position(|known| known.name.eq_ignore_ascii_case(name));
        found.map(|number| Fence(number as u8))
    }

    /// Those of an instruction set, or of all.
    pub fn names(isa: Option<Isa>) -> impl Iterator<Item = &'static str> {
        let fits = move |known: &&Known| isa.is_none_or(|isa| isa == known.isa);
        KNOWN.iter().filter(fits).map(|known| known.name)
    }

    pub fn name(self) -> &'static str {
        self.known().map_or("", |known| known.name)
    }

    pub fn isa(self) -> Option<Isa> {
        self.known().map(|known| known.isa)
    }

    pub fn tags(self) -> &'static [&'static str] {
        self.known().map_or(&[], |known| known.tags)
    }

    fn known(self) -> Option<&'static Known> {
        KNOWN.get(usize::from(self.0))
    }
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_one_name_each() {
        assert!(Isa::Arm.has_register("r15") && Isa::Arm.has_register("z"));
        for wrong in ["r16", "r01", "r+1", "r", "R1", "val"] {
            assert!(!Isa::Arm.has_register(wrong), "{wrong}");
        }
        assert!(Isa::Sparc.has_register("g0") && !Isa::Sparc.has_register("g8"));
    }

    #[test]
    fn every_fence_is_found_by_its_name() {
        for isa in Isa::ALL {
            for name in Fence::names(Some(isa)) {
                let fence = Fence::named(&name.to_uppercase());
                assert_eq!(fence.map(Fence::name), Some(name));
                assert_eq!(fence.and_then(Fence::isa), Some(isa));
            }
        }
        assert_eq!(Fence::names(None).count(), KNOWN.len());
        assert_eq!(Fence::named("fence"), None);
    }
}
