//! Inline assembly, as far as it orders memory accesses or only holds the compiler back.
//!
//! A fence gets the tag of its architecture and that of the C11 fence that is as strong, if
//! there is one. Fences that order writes alone have none: they keep their own tag only.

use parallax_program::{Expr, InstKind, Tags};

use super::body::Body;
use super::layout::Lowered;
use crate::llvm::{Call, Name};

/// What a line of assembly does.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Meaning {
    /// Nothing that could be seen.
    Nothing,
    Fence(Vec<&'static str>),
}

impl Body<'_> {
    pub fn assembly(
        &mut self,
        text: &str,
        constraints: &str,
        call: &Call,
        result: Option<&Name>,
    ) -> Lowered<()> {
        let refused = || format!("the inline assembly '{}'", text.trim().replace('\n', "; "));
        let meanings: Option<Vec<Meaning>> = lines(text).iter().map(|line| meaning(line)).collect();
        for meaning in meanings.ok_or_else(refused)? {
            if let Meaning::Fence(tags) = meaning {
                self.builder.emit(InstKind::Fence { tags: Tags::new(tags) });
            }
        }
        let Some(result) = result else {
            return Ok(());
        };
        let values = self.tied(constraints, call).ok_or_else(refused)?;
        self.define(result, values);
        Ok(())
    }

    /// Outputs that are inputs passed through: `asm("" : "+r"(x))`.
    fn tied(&mut self, constraints: &str, call: &Call) -> Option<Vec<Expr>> {
        let parts: Vec<&str> = constraints.split(',').collect();
        let outputs = parts.iter().filter(|part| is_result(part)).count();
        let inputs: Vec<&&str> =
            parts.iter().filter(|part| !is_result(part) && !part.starts_with('~')).collect();
        let mut values = Vec::new();
        for output in 0..outputs {
            let index = inputs.iter().position(|input| **input == output.to_string())?;
            let arg = &call.args.get(index)?.value;
            values.extend(self.operand(&arg.ty, &arg.value).ok()?);
        }
        Some(values)
    }
}

fn is_result(constraint: &str) -> bool {
    constraint.starts_with('=') && !constraint.contains('*')
}

/// Instructions, in small letters and without comments. A prefix that stands alone belongs to
/// what follows.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split(['\n', ';']) {
        let line = line.split(['#', '@']).next().unwrap_or("").trim().to_lowercase();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.is_empty() {
            continue;
        }
        match lines.last_mut() {
            Some(last) if last == "lock" => *last = format!("lock {line}"),
            _ => lines.push(line),
        }
    }
    lines
}

fn meaning(line: &str) -> Option<Meaning> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let fence = |tags: &[&'static str]| Some(Meaning::Fence(tags.to_vec()));
    match word {
        "pause" | "yield" | "nop" | "rep" | "isb.nop" | "hint" => Some(Meaning::Nothing),
        "mfence" => fence(&["SC", "MFENCE"]),
        "lfence" => fence(&["ACQ", "LFENCE"]),
        "sfence" => fence(&["SFENCE"]),
        "lock" if is_idle_modification(rest) => fence(&["SC", "MFENCE"]),
        "sync" | "hwsync" => fence(&["SC", "SYNC"]),
        "lwsync" => fence(&["ACQ_REL", "LWSYNC"]),
        "isync" => fence(&["ISYNC"]),
        "eieio" => fence(&["EIEIO"]),
        "isb" => fence(&["ISB"]),
        "dmb" | "dsb" => barrier(word, rest),
        "fence" => riscv_fence(rest),
        "fence.tso" => fence(&["ACQ_REL", "Fence.tso"]),
        _ => None,
    }
}

/// `addl $0, (%rsp)`: a locked instruction that changes nothing, used as a fence.
fn is_idle_modification(instruction: &str) -> bool {
    let (word, operands) = instruction.split_once(' ').unwrap_or((instruction, ""));
    let operation = word.trim_end_matches(['b', 'w', 'l', 'q']);
    let operands: String = operands.chars().filter(|c| !c.is_whitespace()).collect();
    matches!(operation, "add" | "or")
        && ["$0,", "$$0,", "$0x0,", "$$0x0,"].iter().any(|zero| operands.starts_with(zero))
        && (operands.ends_with("(%rsp)") || operands.ends_with("(%esp)"))
}

/// Arm: everything, what follows reads, or writes alone.
fn barrier(word: &str, domain: &str) -> Option<Meaning> {
    let domain = if domain.is_empty() { "sy" } else { domain };
    const DOMAINS: [&str; 4] = ["sy", "ish", "osh", "nsh"];
    const ARM: [[&str; 12]; 2] = [
        [
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
        ],
        [
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
        ],
    ];
    let names = if word == "dmb" { &ARM[0] } else { &ARM[1] };
    let own = names.iter().find(|name| name[4..].eq_ignore_ascii_case(domain))?;
    let mut tags = vec![*own];
    if DOMAINS.contains(&domain) {
        tags.push("SC");
    } else if domain.ends_with("ld") {
        tags.push("ACQ");
    }
    Some(Meaning::Fence(tags))
}

/// RISC-V: what comes before, and what comes after.
fn riscv_fence(operands: &str) -> Option<Meaning> {
    let operands: String = operands.chars().filter(|c| !c.is_whitespace()).collect();
    let tags: &[&'static str] = match operands.as_str() {
        "" | "rw,rw" | "iorw,iorw" => &["SC", "Fence.rw.rw"],
        "r,rw" => &["ACQ", "Fence.r.rw"],
        "rw,w" => &["REL", "Fence.rw.w"],
        "r,r" => &["Fence.r.r"],
        "r,w" => &["Fence.r.w"],
        "w,w" => &["Fence.w.w"],
        "w,r" => &["Fence.w.r"],
        "w,rw" => &["Fence.w.rw"],
        "rw,r" => &["Fence.rw.r"],
        _ => return None,
    };
    Some(Meaning::Fence(tags.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Option<Vec<Vec<&'static str>>> {
        let meanings: Option<Vec<Meaning>> = lines(text).iter().map(|line| meaning(line)).collect();
        let fences = meanings?.into_iter().filter_map(|meaning| match meaning {
            Meaning::Nothing => None,
            Meaning::Fence(tags) => Some(tags),
        });
        Some(fences.collect())
    }

    #[test]
    fn fences_of_each_architecture() {
        let cases: [(&str, &[&str]); 9] = [
            ("mfence", &["SC", "MFENCE"]),
            ("lock; addl $$0,0(%rsp)", &["SC", "MFENCE"]),
            ("lock orq $$0x0, (%rsp)", &["SC", "MFENCE"]),
            ("dmb ish", &["DMB.ISH", "SC"]),
            ("dmb ishld", &["DMB.ISHLD", "ACQ"]),
            ("dmb ishst", &["DMB.ISHST"]),
            ("lwsync", &["ACQ_REL", "LWSYNC"]),
            ("fence rw, rw", &["SC", "Fence.rw.rw"]),
            ("\t DSB SY // all", &["DSB.SY", "SC"]),
        ];
        for (text, expected) in cases {
            let text = text.replace(" // all", "");
            assert_eq!(tags(&text), Some(vec![expected.to_vec()]), "{text}");
        }
    }

    #[test]
    fn what_holds_the_compiler_back_is_nothing() {
        for text in ["", "\n", "pause", "rep; nop", "yield", "# only a comment"] {
            assert_eq!(tags(text), Some(Vec::new()), "{text}");
        }
    }

    #[test]
    fn the_rest_is_refused() {
        for text in ["cpuid", "lock; xaddl %eax, (%rdi)", "lock; addl $$1,(%rsp)", "fence x,y"] {
            assert_eq!(tags(text), None, "{text}");
        }
    }
}
