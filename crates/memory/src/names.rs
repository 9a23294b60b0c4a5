//! The names that mean something without being defined: base sets and relations ([`crate::base`]), the
//! tags that events may carry, and functions.
//!
//! A tag that no event of a program carries is the empty set, so every tag of every
//! architecture is known at all times. A name that is not in these tables and not defined by
//! the model is an error.

use crate::base;
use crate::model::InputKind;

const X86_TAGS: &[&str] = &["X", "MFENCE", "SFENCE", "LFENCE", "LOCK", "NT"];

const ARM_TAGS: &[&str] = &[
    "A",
    "L",
    "Q",
    "N",
    "S",
    "NoRet",
    "ISB",
    "DMB",
    "DSB",
    "DMB.SY",
    "DMB.LD",
    "DMB.ST",
    "DMB.ISH",
    "DMB.ISHLD",
    "DMB.ISHST",
    "DMB.OSH",
    "DMB.OSHLD",
    "DMB.OSHST",
    "DMB.NSH",
    "DMB.NSHLD",
    "DMB.NSHST",
    "DSB.SY",
    "DSB.LD",
    "DSB.ST",
    "DSB.ISH",
    "DSB.ISHLD",
    "DSB.ISHST",
    "DSB.OSH",
    "DSB.OSHLD",
    "DSB.OSHST",
    "DSB.NSH",
    "DSB.NSHLD",
    "DSB.NSHST",
];

/// Effects that user-level programs do not have; models mention them all the same.
const SYSTEM_TAGS: &[&str] = &[
    "B",
    "T",
    "TLBI",
    "DC.CVAU",
    "IC.IALLU",
    "IC.IALLUIS",
    "IC.IVAU",
    "FAULT",
    "MMU",
    "TagCheck",
    "PTE",
    "PTEV",
    "PTEINV",
    "AF",
    "DB",
    "Instr",
    "EXC-ENTRY",
    "EXC-RET",
    "SPURIOUS",
    "Restricted-CMODX",
];

const POWER_AND_MIPS_TAGS: &[&str] = &["SYNC", "LWSYNC", "EIEIO", "ISYNC"];

const RISCV_TAGS: &[&str] = &[
    "Acq",
    "Rel",
    "AcqRel",
    "Sc",
    "EX",
    "Fence.r.r",
    "Fence.r.w",
    "Fence.r.rw",
    "Fence.w.r",
    "Fence.w.w",
    "Fence.w.rw",
    "Fence.rw.r",
    "Fence.rw.w",
    "Fence.rw.rw",
    "Fence.tso",
    "Fence.i",
];

const C_TAGS: &[&str] =
    &["RLX", "CON", "ACQ", "REL", "ACQ_REL", "SC", "NA", "LK", "LS", "LF", "UL"];

const LINUX_TAGS: &[&str] = &[
    "Once",
    "Acquire",
    "Release",
    "Noreturn",
    "Mb",
    "Rmb",
    "Wmb",
    "Barrier",
    "Rcu-lock",
    "Rcu-unlock",
    "Sync-rcu",
    "Before-atomic",
    "After-atomic",
    "Before-spinlock",
    "After-spinlock",
    "After-unlock-lock",
    "Srcu-lock",
    "Srcu-unlock",
    "Sync-srcu",
    "After-srcu-read-unlock",
    "LKR",
    "LKW",
    "RL",
    "RU",
];

const TAGS: [&[&str]; 7] =
    [X86_TAGS, ARM_TAGS, SYSTEM_TAGS, POWER_AND_MIPS_TAGS, RISCV_TAGS, C_TAGS, LINUX_TAGS];

/// Things that herd7 knows and that are refused here, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("iico_data", "the steps inside an instruction are not related here"),
    ("iico_ctrl", "the steps inside an instruction are not related here"),
    ("iico_order", "the steps inside an instruction are not related here"),
    ("partial", "it is not supported"),
    ("sm", "it is not supported; 'si' relates the parts of one access"),
    ("same-instr", "it is not supported; 'si' relates the parts of one access"),
    ("same-instance", "it is not supported; 'si' relates the parts of one access"),
    ("rf-reg", "reads and writes of registers are not events here"),
    ("PoD", "reads and writes of registers are not events here"),
    ("DATA", "reads and writes of registers are not events here"),
    ("ADDR", "reads and writes of registers are not events here"),
    ("NDATA", "reads and writes of registers are not events here"),
    ("inv-domain", "address translation is not modelled"),
    ("scl", "cache maintenance is not modelled"),
    ("lift", "relations on classes of events are not supported"),
    ("delift", "relations on classes of events are not supported"),
    ("deliftinter", "relations on classes of events are not supported"),
    ("bisimulation", "it is not supported"),
    ("same-oa", "address translation is not modelled"),
    ("oa-changes", "address translation is not modelled"),
    ("at-least-one-writable", "address translation is not modelled"),
    ("loc2events", "sets by name of a location are not supported"),
    ("tag2level", "scopes are not supported"),
    ("fromto", "it is not supported; 'fencerel' may do"),
    ("tag2fenced", "it is not supported; 'fencerel' may do"),
];

/// Whether a name is a base set (or a tag), or a base relation.
pub(crate) fn base(name: &str) -> Option<InputKind> {
    let by_tag = || TAGS.iter().any(|tags| tags.contains(&name)).then_some(InputKind::Set);
    let found = base::names().find(|(known, _)| *known == name);
    found.map(|(_, kind)| kind).or_else(by_tag)
}

pub(crate) fn refused(name: &str) -> Option<&'static str> {
    let found = REFUSED.iter().find(|(refused, _)| *refused == name);
    found.map(|(_, reason)| *reason)
}

/// All names in the tables.
pub(crate) fn known<'a>() -> impl Iterator<Item = &'a str> {
    let tags = TAGS.iter().copied().flatten();
    base::names().map(|(name, _)| name).chain(tags.copied())
}

/// The set of the events that carry a tag is named like the tag, with a capital.
pub(crate) fn set_of_tag(tag: &str) -> String {
    let mut letters = tag.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The candidate that looks most like `name`, if one does.
pub(crate) fn closest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (name.len() / 3).max(1);
    candidates
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.len())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, remove or replace to get from one word to the other; changing only the
/// case of a letter is free, so that it is suggested first.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables() {
        assert_eq!(base("W"), Some(InputKind::Set));
        assert_eq!(base("DMB.SY"), Some(InputKind::Set));
        assert_eq!(base("po"), Some(InputKind::Relation));
        assert_eq!(base("po-loc"), None);
        assert_eq!(set_of_tag("rcu-lock"), "Rcu-lock");
        assert!(refused("rf-reg").is_some());
    }

    #[test]
    fn suggestions() {
        assert_eq!(closest("po-lock", ["po-loc", "po"].into_iter()), Some("po-loc"));
        assert_eq!(closest("mfence", known()), Some("MFENCE"));
        assert_eq!(closest("zzzzzz", known()), None);
    }
}
