//! Accesses of machines that have orders of their own: which forms an instruction has, and how
//! one is written in the place of another.
//!
//! AArch64: the Arm Architecture Reference Manual (DDI 0487), load-acquire and store-release; those
//! have no address but a register. RISC-V: the instruction set manual, volume I, the bits `aq` and
//! `rl` of the extension for atomics; of those for reservations, only loads acquire alone and only
//! stores release alone.

use std::ops::Range;

use crate::repertoire::{Dialect, Kind, kind};

const LOADS: &[Kind] =
    &[kind("ldr", &[], 0, 0), kind("ldapr", &["Q"], 1, 1), kind("ldar", &["A"], 3, 2)];
const STORES: &[Kind] = &[kind("str", &[], 0, 0), kind("stlr", &["L"], 1, 1)];
const EXCLUSIVE_LOADS: &[Kind] = &[kind("ldxr", &[], 0, 0), kind("ldaxr", &["A"], 1, 2)];
const EXCLUSIVE_STORES: &[Kind] = &[kind("stxr", &[], 0, 0), kind("stlxr", &["L"], 1, 1)];

const RESERVING: &[Kind] =
    &[kind("lr", &[], 0, 0), kind("lr.aq", &["Acq"], 1, 1), kind("lr.aqrl", &["AcqRel"], 3, 2)];
const CONDITIONAL: &[Kind] =
    &[kind("sc", &[], 0, 0), kind("sc.rl", &["Rel"], 2, 1), kind("sc.aqrl", &["AcqRel"], 3, 2)];
const UPDATES: &[Kind] = &[
    kind("amo", &[], 0, 0),
    kind("amo.aq", &["Acq"], 1, 1),
    kind("amo.rl", &["Rel"], 2, 1),
    kind("amo.aqrl", &["AcqRel"], 3, 2),
];

/// The forms that accesses of a language have, in groups; weakest first.
pub fn families(dialect: Dialect) -> &'static [&'static [Kind]] {
    match dialect {
        Dialect::AArch64 => &[LOADS, STORES, EXCLUSIVE_LOADS, EXCLUSIVE_STORES],
        Dialect::RiscV => &[RESERVING, CONDITIONAL, UPDATES],
        _ => &[],
    }
}

/// The name of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mnemonic {
    /// All forms that it can have, and the one that it has.
    pub forms: &'static [Kind],
    pub present: Kind,
    name: Range<usize>,
}

impl Mnemonic {
    /// Of the instruction in a part of a text. None if there is no other form of it.
    pub fn of(dialect: Dialect, text: &str, instruction: Range<usize>) -> Option<Mnemonic> {
        let whole = text.get(instruction.clone())?;
        let length = whole.find(char::is_whitespace).unwrap_or(whole.len());
        let (name, operands) = whole.split_at(length);
        let name_range = instruction.start..instruction.start + length;
        let lower = name.to_ascii_lowercase();
        let has = |forms: &&&'static [Kind]| forms.iter().any(|form| stem(form, &lower).is_some());
        let forms = *families(dialect).iter().find(has)?;
        let present = *forms.iter().find(|form| stem(form, &lower).is_some())?;
        let is_plain = dialect != Dialect::AArch64 || has_plain_address(operands);
        is_plain.then_some(Mnemonic { forms, present, name: name_range })
    }

    /// Where the name is, and what it is in another form.
    pub fn changed(&self, text: &str, to: &str) -> Option<(Range<usize>, String)> {
        let to = self.forms.iter().find(|form| form.name == to)?;
        let old = text.get(self.name.clone())?;
        let (before, behind) = stem(&self.present, &old.to_ascii_lowercase())?;
        let new = match to.name.split_once('.') {
            Some((_, order)) => format!("{before}.{order}"),
            None if behind.is_empty() && before.contains('.') => before,
            None => format!("{}{behind}", to.name),
        };
        let is_capital = old.chars().any(|c| c.is_ascii_uppercase());
        Some((self.name.clone(), if is_capital { new.to_ascii_uppercase() } else { new }))
    }
}

/// The parts of a name around the order that it has, if it is of this form: for RISC-V all before
/// the order, for AArch64 the size behind it.
fn stem(form: &Kind, name: &str) -> Option<(String, String)> {
    let (base, order) = form.name.split_once('.').unwrap_or((form.name, ""));
    if !matches!(base, "lr" | "sc" | "amo") {
        let size = name.strip_prefix(base)?;
        return matches!(size, "" | "b" | "h").then(|| (base.to_string(), size.to_string()));
    }
    let mut parts = name.split('.');
    let operation = parts.next()?;
    let width = parts.next().filter(|width| matches!(*width, "w" | "d"))?;
    let own: String = parts.collect();
    let is_it = if base == "amo" { operation.starts_with("amo") } else { operation == base };
    (is_it && own == order).then(|| (format!("{operation}.{width}"), String::new()))
}

/// Whether the address is a register and nothing else.
fn has_plain_address(operands: &str) -> bool {
    let inside = operands.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.is_some_and(|(address, rest)| !address.contains(',') && rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(dialect: Dialect, text: &str, to: &str) -> Option<String> {
        let (range, new) = Mnemonic::of(dialect, text, 0..text.len())?.changed(text, to)?;
        Some(format!("{new}{}", &text[range.end..]))
    }

    #[test]
    fn names_are_changed_and_the_rest_is_kept() {
        for (dialect, text, to, expected) in [
            (Dialect::AArch64, "LDR W0,[X1]", "ldar", "LDAR W0,[X1]"),
            (Dialect::AArch64, "ldrb w0, [x1]", "ldapr", "ldaprb w0, [x1]"),
            (Dialect::AArch64, "STLR W0,[X1]", "str", "STR W0,[X1]"),
            (Dialect::AArch64, "STXR W2,W0,[X1]", "stlxr", "STLXR W2,W0,[X1]"),
            (Dialect::RiscV, "lr.w x5,(x6)", "lr.aq", "lr.w.aq x5,(x6)"),
            (Dialect::RiscV, "amoadd.d.aq x0,x5,(x6)", "amo.aqrl", "amoadd.d.aqrl x0,x5,(x6)"),
            (Dialect::RiscV, "amoswap.w.aq.rl x0,x5,(x6)", "amo", "amoswap.w x0,x5,(x6)"),
        ] {
            assert_eq!(changed(dialect, text, to).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_instructions_have_one_form() {
        for (dialect, text) in [
            (Dialect::AArch64, "LDR W0,[X1,X2]"),
            (Dialect::AArch64, "LDR W0,[X1],#4"),
            (Dialect::AArch64, "LDRSW X0,[X1]"),
            (Dialect::AArch64, "LDP W0,W1,[X2]"),
            (Dialect::AArch64, "MOV W0,#1"),
            (Dialect::RiscV, "lw x5,0(x6)"),
            (Dialect::RiscV, "sc x5,x6,(x7)"),
            (Dialect::Power, "lwz r1,0(r2)"),
            (Dialect::AArch64, ""),
        ] {
            assert_eq!(Mnemonic::of(dialect, text, 0..text.len()), None, "{text}");
        }
    }
}
