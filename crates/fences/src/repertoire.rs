//! The fences and memory orders that a language has, what they cost, and how they are written.

use parallax_memory::Model;

use crate::decision::Choice;
use crate::mnemonics::families;

/// What fences are written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    C11,
    X86,
    AArch64,
    Arm,
    Power,
    RiscV,
    /// The Linux kernel.
    Kernel,
}

/// A kind of fence, or a memory order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub tags: &'static [&'static str],
    /// See [`crate::decision`].
    pub features: u32,
    pub weight: u64,
}

const ACQUIRE: u32 = 1;
const RELEASE: u32 = 2;
const TOTAL: u32 = 4;

/// Weights as in the paper (ATVA 2022): `rel` and `acq` 1, `acq_rel` 2, `sc` 3.
const C11: &[Kind] = &[
    kind("acq", &["ACQ"], ACQUIRE, 1),
    kind("rel", &["REL"], RELEASE, 1),
    kind("acq_rel", &["ACQ_REL"], ACQUIRE | RELEASE, 2),
    kind("sc", &["SC"], ACQUIRE | RELEASE | TOTAL, 3),
];

const X86: &[Kind] = &[kind("sfence", &["SFENCE"], 1, 1), kind("mfence", &["MFENCE"], 3, 3)];

const AARCH64: &[Kind] = &[
    kind("dmb ld", &["DMB.LD"], 1, 1),
    kind("dmb st", &["DMB.ST"], 2, 1),
    kind("dmb sy", &["DMB.SY"], 7, 3),
];

const ARM: &[Kind] = &[kind("dmb st", &["DMB.ST"], 1, 1), kind("dmb", &["DMB"], 3, 3)];

const POWER: &[Kind] = &[
    kind("eieio", &["EIEIO"], 1, 1),
    kind("lwsync", &["LWSYNC"], 3, 2),
    kind("sync", &["SYNC"], 7, 3),
];

/// The four kinds of pairs that a fence keeps in order are its features.
const RISCV: &[Kind] = &[
    kind("fence r,r", &["Fence.r.r"], 1, 1),
    kind("fence r,w", &["Fence.r.w"], 2, 1),
    kind("fence w,w", &["Fence.w.w"], 4, 1),
    kind("fence r,rw", &["Fence.r.rw"], 1 | 2, 2),
    kind("fence rw,w", &["Fence.rw.w"], 2 | 4, 2),
    kind("fence.tso", &["Fence.tso"], 1 | 2 | 4, 2),
    kind("fence w,r", &["Fence.w.r"], 8, 3),
    kind("fence rw,rw", &["Fence.rw.rw"], 1 | 2 | 4 | 8, 3),
];

/// Barriers as `Documentation/memory-barriers.txt` of the kernel has them.
const KERNEL: &[Kind] = &[
    kind("smp_rmb", &["Rmb"], 1, 1),
    kind("smp_wmb", &["Wmb"], 2, 1),
    kind("smp_mb", &["Mb"], 7, 3),
];

pub(crate) const fn kind(
    name: &'static str,
    tags: &'static [&'static str],
    features: u32,
    weight: u64,
) -> Kind {
    Kind { name, tags, features, weight }
}

/// What an access can be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    Load,
    Store,
    Update,
}

impl Dialect {
    pub fn fences(self) -> &'static [Kind] {
        match self {
            Dialect::C11 => C11,
            Dialect::X86 => X86,
            Dialect::AArch64 => AARCH64,
            Dialect::Arm => ARM,
            Dialect::Power => POWER,
            Dialect::RiscV => RISCV,
            Dialect::Kernel => KERNEL,
        }
    }

    /// The fences that a model knows of, weakest first.
    pub fn known_to(self, model: &Model) -> Vec<Kind> {
        let is_known = |kind: &&Kind| kind.tags.iter().any(|tag| model.input(tag).is_some());
        self.fences().iter().filter(is_known).copied().collect()
    }
}

const RELAXED: Kind = kind("rlx", &["RLX"], 0, 0);

/// The orders that an atomic access of C11 can have, weakest first.
pub fn access_orders(access: AccessKind) -> Vec<Kind> {
    let fits = |kind: &&Kind| match access {
        AccessKind::Load => matches!(kind.name, "acq" | "sc"),
        AccessKind::Store => matches!(kind.name, "rel" | "sc"),
        AccessKind::Update => true,
    };
    std::iter::once(&RELAXED).chain(C11.iter().filter(fits)).copied().collect()
}

/// What each kind of fence or order costs; the weights above, unless the user says otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Weights(Vec<(String, u64)>);

impl Weights {
    /// `rel=1,acq=1,sc=10`. The error says what is wrong.
    pub fn parse(text: &str) -> Result<Weights, String> {
        let mut weights = Vec::new();
        for part in text.split(',').filter(|part| !part.trim().is_empty()) {
            let (name, weight) = part.split_once('=').ok_or("expected NAME=WEIGHT, …")?;
            let weight: u32 =
                weight.trim().parse().map_err(|_| format!("'{weight}' is no weight"))?;
            weights.push((name.trim().to_string(), u64::from(weight)));
        }
        Ok(Weights(weights))
    }

    /// Names that are none of the fences, nor of the orders of accesses, and kinds that cost less
    /// than weaker ones.
    pub fn check(&self, dialect: Dialect, fences: &[Kind]) -> Result<(), String> {
        let groups = || std::iter::once(fences).chain(families(dialect).iter().copied());
        for (name, _) in &self.0 {
            if !groups().flatten().any(|kind| kind.name == name) {
                let names: Vec<&str> = groups().flatten().map(|kind| kind.name).collect();
                return Err(format!("there is no '{name}' here, but {}", names.join(", ")));
            }
        }
        groups().try_for_each(|group| self.check_group(group))
    }

    fn check_group(&self, kinds: &[Kind]) -> Result<(), String> {
        for kind in kinds {
            let weaker = |other: &&Kind| other.features & !kind.features == 0;
            if let Some(other) = kinds.iter().filter(weaker).find(|o| self.of(o) > self.of(kind)) {
                let (strong, weak) = (kind.name, other.name);
                return Err(format!("'{strong}' is stronger than '{weak}' and must not cost less"));
            }
        }
        Ok(())
    }

    pub fn of(&self, kind: &Kind) -> u64 {
        let own = self.0.iter().rev().find(|(name, _)| name == kind.name);
        own.map_or(kind.weight, |(_, weight)| *weight)
    }
}

impl Kind {
    /// The kind as an option of a decision.
    pub fn choice(&self, count: u64, weight: u64) -> Choice {
        Choice {
            name: self.name.to_string(),
            tags: Some(self.tags.to_vec()),
            features: self.features,
            count,
            weight,
        }
    }
}
