//! Power. Comparisons and `stwcx.` set the field cr0, as the registers lt, gt and eq.

use parallax_program::Diagnostic;

use super::line::{Line, read_both, signed};
use super::{Done, Translator};
use crate::isa::{Fence, Isa};

impl Translator<'_> {
    pub(super) fn power(&mut self, line: &Line<'_>) -> Done {
        if line.mnemonic == "nop" {
            return Ok(());
        }
        // A hint, whether the branch will be taken.
        let name = line.mnemonic.strip_suffix(['-', '+']).unwrap_or(line.mnemonic);
        let body = match name {
            "b" => {
                let [label] = line.take()?;
                let label = self.target(line, label)?;
                format!("branch(T, label({label}))")
            }
            "beq" | "bne" | "blt" | "bge" | "bgt" | "ble" => self.conditional(line, name)?,
            _ => self.power_body(line)?,
        };
        self.instr(body, line.text);
        Ok(())
    }

    fn conditional(&mut self, line: &Line<'_>, name: &str) -> Result<String, Diagnostic> {
        let [label] = line.take()?;
        let label = self.target(line, label)?;
        let (flag, value) = match name {
            "beq" => ("eq", 1),
            "bne" => ("eq", 0),
            "blt" => ("lt", 1),
            "bge" => ("lt", 0),
            "bgt" => ("gt", 1),
            _ => ("gt", 0),
        };
        let read = self.read_flags(&[flag]);
        Ok(format!("{read}; branch(val_{flag} = {value}, label({label}))"))
    }

    fn power_body(&self, line: &Line<'_>) -> Result<String, Diagnostic> {
        Ok(match line.mnemonic {
            "li" | "mr" => {
                let [rd, source] = line.take()?;
                let (rd, source) = (self.register(line, rd)?, self.operand(line, source)?);
                format!("{}; {rd} := val", source.read("val"))
            }
            "lwz" | "lbz" => {
                let [rd, address] = line.take()?;
                let rd = self.register(line, rd)?;
                let (before, place) = self.address(line, without_offset(address))?;
                format!("{before}val := {place}; {rd} := val")
            }
            "stw" | "stb" => {
                let [rs, address] = line.take()?;
                let rs = self.register(line, rs)?;
                let (before, place) = self.address(line, without_offset(address))?;
                format!("{before}val := {rs}; {place} := val")
            }
            "addi" | "add" | "subi" => {
                let [rd, first, second] = line.take()?;
                let rd = self.register(line, rd)?;
                let (first, second) = (self.operand(line, first)?, self.operand(line, second)?);
                let sign = if line.mnemonic == "subi" { "-" } else { "+" };
                let reads = read_both(&first, "rt", &second, "rd");
                format!("{reads}; val := rt {sign} rd; {rd} := val")
            }
            "cmplw" | "cmplwi" | "cmpw" | "cmpwi" => {
                let [first, second] = line.take()?;
                let (first, second) = (self.operand(line, first)?, self.operand(line, second)?);
                let reads = read_both(&first, "rt", &second, "rd");
                let (one, other) = match line.mnemonic {
                    "cmpw" | "cmpwi" => (signed("rt"), signed("rd")),
                    _ => ("rt".to_string(), "rd".to_string()),
                };
                let flags = [
                    ("lt", format!("({one} < {other}) ? 1 : 0")),
                    ("gt", format!("({one} > {other}) ? 1 : 0")),
                    ("eq", "(rt = rd) ? 1 : 0".to_string()),
                ];
                format!("{reads}{}", self.set_flags(&flags))
            }
            "lwarx" => {
                let [rd, zero, address] = line.take()?;
                let rd = self.register(line, rd)?;
                no_base(line, zero)?;
                let (before, place) = self.address(line, address)?;
                format!("{before}ll(val, {place}); {rd} := val")
            }
            "stwcx." => {
                let [rs, zero, address] = line.take()?;
                let rs = self.register(line, rs)?;
                no_base(line, zero)?;
                let (before, place) = self.address(line, address)?;
                let flags = [("eq", "(result = 0) ? 1 : 0".to_string())];
                let flags = self.set_flags(&flags);
                format!("{before}val := {rs}; sc(result, {place}, val){flags}")
            }
            name => match Fence::named(name).filter(|fence| fence.isa() == Some(Isa::Power)) {
                Some(fence) => fence.name().to_string(),
                None => return Err(line.unsupported(Isa::Power)),
            },
        })
    }
}

/// `0(r1)` is `(r1)`.
fn without_offset(address: &str) -> &str {
    match address.strip_prefix('0') {
        Some(rest) if rest.starts_with('(') => rest,
        _ => address,
    }
}

fn no_base(line: &Line<'_>, zero: &str) -> Done {
    match zero {
        "0" | "r0" => Ok(()),
        _ => Err(line.error("only addresses in one register are supported, with 0 as the other")),
    }
}
