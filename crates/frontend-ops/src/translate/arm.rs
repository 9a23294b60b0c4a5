//! ARMv7. Every instruction may have a condition at its end. `cmp` sets all flags, `teq` only z and
//! n.

use parallax_program::Diagnostic;

use super::line::{Line, read_both, signed};
use super::{Done, Translator};
use crate::isa::Isa;

/// Instructions that make no difference here: hints, and what concerns interrupts.
const DROPPED: [&str; 8] = ["nop", "wfe", "wfi", "sev", "yield", "cpsie", "cpsid", "msr"];

const NAMES: [&str; 14] = [
    "mov", "ldr", "ldrb", "str", "strb", "add", "sub", "cmp", "teq", "ldrex", "strex", "dmb",
    "dsb", "isb",
];

/// Which flags a condition reads, and when it holds.
const CONDITIONS: [(&str, &[&str], &str); 14] = [
    ("eq", &["z"], "val_z = 1"),
    ("ne", &["z"], "val_z = 0"),
    ("cs", &["c"], "val_c = 1"),
    ("hs", &["c"], "val_c = 1"),
    ("cc", &["c"], "val_c = 0"),
    ("lo", &["c"], "val_c = 0"),
    ("hi", &["c", "z"], "val_c = 1 /\\ val_z = 0"),
    ("ls", &["c", "z"], "val_c = 0 \\/ val_z = 1"),
    ("mi", &["n"], "val_n = 1"),
    ("pl", &["n"], "val_n = 0"),
    ("lt", &["n", "v"], "val_n != val_v"),
    ("ge", &["n", "v"], "val_n = val_v"),
    ("gt", &["n", "v", "z"], "val_n = val_v /\\ val_z = 0"),
    ("le", &["n", "v", "z"], "val_n != val_v \\/ val_z = 1"),
];

type When = Option<(&'static [&'static str], &'static str)>;

/// A name, and when the instruction is done.
fn split(mnemonic: &str) -> Option<(String, When)> {
    let name = mnemonic.to_ascii_lowercase();
    let is_known = |name: &str| name == "b" || NAMES.contains(&name) || DROPPED.contains(&name);
    if is_known(&name) {
        return Some((name, None));
    }
    let (base, suffix) = name.split_at_checked(name.len().checked_sub(2)?)?;
    let (_, read, holds) = CONDITIONS.iter().find(|(known, ..)| *known == suffix)?;
    is_known(base).then(|| (base.to_string(), Some((*read, *holds))))
}

impl Translator<'_> {
    pub(super) fn arm(&mut self, line: &Line<'_>) -> Done {
        let unsupported = || line.unsupported(Isa::Arm);
        if matches!(line.mnemonic, "cbz" | "cbnz") {
            return self.compare_and_branch(line);
        }
        let (name, when) = split(line.mnemonic).ok_or_else(unsupported)?;
        if DROPPED.contains(&name.as_str()) {
            return Ok(());
        }
        if name == "b" {
            let [label] = line.take()?;
            let label = self.target(line, label)?;
            let body = match when {
                Some((flags, holds)) => {
                    let read = self.read_flags(flags);
                    format!("{read}; branch({holds}, label({label}))")
                }
                None => format!("branch(T, label({label}))"),
            };
            self.instr(body, line.text);
            return Ok(());
        }
        let body = self.arm_body(line, &name)?;
        let body = match when {
            Some((flags, holds)) => {
                let read = self.read_flags(flags);
                format!("{read}; if({holds}){{ {body} }}")
            }
            None => body,
        };
        self.instr(body, line.text);
        Ok(())
    }

    fn compare_and_branch(&mut self, line: &Line<'_>) -> Done {
        let [register, label] = line.take()?;
        let (register, label) = (self.register(line, register)?, self.target(line, label)?);
        let test = if line.mnemonic == "cbz" { "=" } else { "!=" };
        self.instr(format!("val := {register}; branch(val {test} 0, label({label}))"), line.text);
        Ok(())
    }

    fn arm_body(&self, line: &Line<'_>, name: &str) -> Result<String, Diagnostic> {
        Ok(match name {
            "mov" => {
                let [rd, source] = line.take()?;
                let (rd, source) = (self.register(line, rd)?, self.operand(line, source)?);
                format!("{}; {rd} := val", source.read("val"))
            }
            "ldr" | "ldrb" => {
                let [rd, address] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}val := {place}; {rd} := val")
            }
            "str" | "strb" => {
                let [rs, address] = line.take()?;
                let rs = self.register(line, rs)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}val := {rs}; {place} := val")
            }
            "add" | "sub" => {
                let operands = line.operands();
                let (rd, rn, last) = match operands.as_slice() {
                    [rd, rn, last] => (rd, rn, last),
                    [rd, last] => (rd, rd, last),
                    _ => return Err(line.error(format!("'{name}' takes 3 operands"))),
                };
                let rd = self.register(line, rd)?;
                let (rn, last) = (self.operand(line, rn)?, self.operand(line, last)?);
                let sign = if name == "add" { "+" } else { "-" };
                let reads = read_both(&rn, "rt", &last, "rd");
                format!("{reads}; val := rt {sign} rd; {rd} := val")
            }
            "cmp" | "teq" => {
                let [first, second] = line.take()?;
                let (first, second) = (self.operand(line, first)?, self.operand(line, second)?);
                let reads = read_both(&first, "rt", &second, "rd");
                format!("{reads}{}", self.set_flags(&flags(name)))
            }
            "ldrex" => {
                let [rd, address] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}ll(val, {place}); {rd} := val")
            }
            "strex" => {
                let [rd, rs, address] = line.take()?;
                let (rd, rs) = (self.register(line, rd)?, self.register(line, rs)?);
                let (before, place) = self.address(line, address)?;
                format!("{before}val := {rs}; sc(result, {place}, val); {rd} := result")
            }
            fence => barrier(line, fence)?,
        })
    }
}

/// What the flags are after a comparison of rt and rd.
fn flags(name: &str) -> Vec<(&'static str, String)> {
    let sign = 1u32 << 31;
    let zero = "(rt = rd) ? 1 : 0".to_string();
    if name == "teq" {
        let differ = format!("rt < {sign} /\\ rd >= {sign} \\/ rt >= {sign} /\\ rd < {sign}");
        return vec![("z", zero), ("n", format!("({differ}) ? 1 : 0"))];
    }
    let negative = format!("(rt - rd >= {sign}) ? 1 : 0");
    let less = format!("({} < {}) ? 1 : 0", signed("rt"), signed("rd"));
    vec![
        ("z", zero),
        ("c", "(rt >= rd) ? 1 : 0".to_string()),
        ("v", format!("(({negative}) != ({less})) ? 1 : 0")),
        ("n", negative),
    ]
}

/// `dmb` with its option: for stores only, or for everything.
fn barrier(line: &Line<'_>, name: &str) -> Result<String, Diagnostic> {
    match (name, line.rest.to_ascii_lowercase().as_str()) {
        (_, "" | "sy" | "ish" | "osh" | "nsh") => Ok(name.to_string()),
        ("dmb" | "dsb", "st" | "ishst" | "oshst" | "nshst") => Ok(format!("{name}.st")),
        (_, option) => Err(line.error(format!("'{name}' has no option '{option}'"))),
    }
}
