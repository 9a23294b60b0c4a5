//! SPARC. The instruction after a branch runs before control moves: the condition is kept in a
//! temporary, the instruction is done, and then control moves by the temporary. A branch with
//! `,a` annuls that instruction where it is not taken; `ba,a` always does.

use parallax_program::Diagnostic;

use super::line::{Line, Operand, read_both};
use super::{Done, Translator};
use crate::isa::Isa;

/// A branch whose delay slot comes next.
pub struct Delayed {
    label: String,
    /// Where it is conditional, its temporary is 1 where it is taken.
    is_conditional: bool,
    annuls: bool,
    text: String,
}

/// The temporary that holds whether a branch is taken.
const TAKEN: &str = "taken";

impl Translator<'_> {
    pub(super) fn sparc(&mut self, line: &Line<'_>) -> Done {
        let mut words = line.mnemonic.split(',');
        let name = words.next().unwrap_or("");
        let marks: Vec<&str> = words.collect();
        let is_branch = matches!(name, "ba" | "b" | "be" | "bz" | "bne" | "bnz" | "brz" | "brnz");
        match (self.delayed.take(), is_branch) {
            (Some(_), true) => Err(line.error("a branch after a delayed branch is not supported")),
            (Some(branch), false) => self.slot(line, name, &branch),
            (None, true) => self.delayed_branch(line, name, &marks),
            (None, false) => {
                if let Some(body) = self.sparc_body(line, name)? {
                    self.instr(body, line.text);
                }
                Ok(())
            }
        }
    }

    /// Computes the condition; the slot does the rest.
    fn delayed_branch(&mut self, line: &Line<'_>, name: &str, marks: &[&str]) -> Done {
        if let Some(unknown) = marks.iter().find(|mark| !matches!(**mark, "a" | "pt" | "pn")) {
            return Err(line.error(format!("unknown mark '{unknown}' of a branch")));
        }
        let annuls = marks.contains(&"a");
        let (label, holds) = match name {
            "brz" | "brnz" => {
                let [register, label] = line.take()?;
                let register = self.register(line, register)?;
                let test = if name == "brz" { "val = 0" } else { "val != 0" };
                (
                    label,
                    Some(format!("{}; {TAKEN} := ({test}) ? 1 : 0", self.value(&register, "val"))),
                )
            }
            "be" | "bz" => {
                (one(line)?, Some(format!("{}; {TAKEN} := val_z", self.read_flags(&["z"]))))
            }
            "bne" | "bnz" => {
                (one(line)?, Some(format!("{}; {TAKEN} := 1 - val_z", self.read_flags(&["z"]))))
            }
            _ => (one(line)?, None),
        };
        let is_conditional = holds.is_some();
        if let Some(body) = holds {
            self.instr(body, line.text);
        }
        let (label, text) = (self.target(line, label)?, line.text.to_string());
        self.delayed = Some(Delayed { label, is_conditional, annuls, text });
        Ok(())
    }

    fn slot(&mut self, line: &Line<'_>, name: &str, branch: &Delayed) -> Done {
        let body = self.sparc_body(line, name)?;
        match (body, branch.annuls, branch.is_conditional) {
            (None, ..) | (_, true, false) => {}
            (Some(body), true, true) => {
                self.instr(format!("if({TAKEN} = 1){{ {body} }}"), line.text);
            }
            (Some(body), false, _) => self.instr(body, line.text),
        }
        let label = &branch.label;
        let condition = match branch.is_conditional {
            true => format!("{TAKEN} = 1"),
            false => "T".to_string(),
        };
        self.instr(format!("branch({condition}, label({label}))"), &branch.text);
        Ok(())
    }

    /// The operation that reads a register; the one that is always zero is no register.
    fn value(&self, register: &str, temporary: &str) -> String {
        match register {
            "g0" | "r0" => format!("{temporary} := 0"),
            _ => format!("{temporary} := {register}"),
        }
    }

    /// The operation that writes a register, after a semicolon.
    fn result(&self, register: &str) -> String {
        match register {
            "g0" | "r0" => String::new(),
            _ => format!("; {register} := val"),
        }
    }

    fn source(&self, line: &Line<'_>, text: &str) -> Result<Operand, Diagnostic> {
        let operand = self.operand(line, text)?;
        Ok(match operand {
            Operand::Register(name) if matches!(name.as_str(), "g0" | "r0") => Operand::Number(0),
            other => other,
        })
    }

    /// None where there is nothing to do.
    fn sparc_body(&self, line: &Line<'_>, name: &str) -> Result<Option<String>, Diagnostic> {
        Ok(Some(match name {
            "nop" => return Ok(None),
            "mov" => {
                let [source, rd] = line.take()?;
                let (source, rd) = (self.source(line, source)?, self.register(line, rd)?);
                format!("{}{}", source.read("val"), self.result(&rd))
            }
            "ld" | "ldub" | "lduw" => {
                let [address, rd] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}val := {place}{}", self.result(&rd))
            }
            "st" | "stb" | "stw" => {
                let [rs, address] = line.take()?;
                let rs = self.register(line, rs)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}{}; {place} := val", self.value(&rs, "val"))
            }
            "add" | "sub" => {
                let [first, second, rd] = line.take()?;
                let (first, second) = (self.source(line, first)?, self.source(line, second)?);
                let rd = self.register(line, rd)?;
                let sign = if name == "add" { "+" } else { "-" };
                let reads = read_both(&first, "rt", &second, "rd");
                format!("{reads}; val := rt {sign} rd{}", self.result(&rd))
            }
            "cmp" => {
                let [first, second] = line.take()?;
                let (first, second) = (self.source(line, first)?, self.source(line, second)?);
                let reads = read_both(&first, "rt", &second, "rd");
                format!("{reads}{}", self.set_flags(&[("z", "(rt = rd) ? 1 : 0".to_string())]))
            }
            "ldstub" => {
                let [address, rd] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}atom(val := {place}); atom({place} := 255){}", self.result(&rd))
            }
            "swap" => {
                let [address, rd] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, address)?;
                let new = self.value(&rd, "new");
                format!(
                    "{before}{new}; atom(val := {place}); atom({place} := new){}",
                    self.result(&rd)
                )
            }
            "cas" => {
                let [address, compared, rd] = line.take()?;
                let (compared, rd) = (self.register(line, compared)?, self.register(line, rd)?);
                let (before, place) = self.address(line, address)?;
                let (expected, new) = (self.value(&compared, "expected"), self.value(&rd, "new"));
                format!(
                    "{before}{expected}; {new}; atom(val := {place}); \
                     if(val = expected){{ atom({place} := new) }}{}",
                    self.result(&rd)
                )
            }
            "stbar" => "stbar".to_string(),
            "membar" => return membar(line),
            _ => return Err(line.unsupported(Isa::Sparc)),
        }))
    }
}

fn one<'a>(line: &Line<'a>) -> Result<&'a str, Diagnostic> {
    let [label] = line.take()?;
    Ok(label)
}

/// The fences that a mask stands for. Loads keep their place under every model of SPARC but RMO;
/// there, nothing stands for a mask that only orders loads.
fn membar(line: &Line<'_>) -> Result<Option<String>, Diagnostic> {
    let (mut stores, mut loads_after, mut loads) = (false, false, 0);
    for word in line.rest.split('|').map(str::trim) {
        match word.to_ascii_lowercase().as_str() {
            "#storestore" => stores = true,
            "#storeload" => loads_after = true,
            "#loadload" | "#loadstore" => loads += 1,
            "#sync" | "#memissue" => return Ok(Some("membar".to_string())),
            _ => return Err(line.error(format!("unknown mask '{word}' of membar"))),
        }
    }
    Ok(match (stores, loads_after) {
        (true, true) if loads >= 2 => Some("membar".to_string()),
        (true, true) => Some("membar(wr); stbar".to_string()),
        (true, false) => Some("stbar".to_string()),
        (false, true) => Some("membar(wr)".to_string()),
        (false, false) => None,
    })
}
