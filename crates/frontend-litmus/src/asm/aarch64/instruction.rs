//! One instruction under translation: its text taken apart into a mnemonic and operands, which
//! are then taken one after the other, and the thread that it is added to.

use parallax_program::{BlockId, Diagnostic, Expr, Terminator, VarId};

use super::registers::{Reg, Which};
use crate::asm::{AsmLine, ThreadBuilder};

pub struct Instruction<'a, 't, 'g> {
    line: AsmLine<'a>,
    /// As written.
    pub mnemonic: &'a str,
    operands: Vec<&'a str>,
    /// How many operands have been taken.
    taken: usize,
    pub thread: &'t mut ThreadBuilder<'g>,
}

impl<'a, 't, 'g> Instruction<'a, 't, 'g> {
    pub fn new(
        line: AsmLine<'a>,
        thread: &'t mut ThreadBuilder<'g>,
    ) -> Result<Instruction<'a, 't, 'g>, Diagnostic> {
        let text = line.text.trim();
        let (mnemonic, rest) = text.split_once(|c: char| c.is_whitespace()).unwrap_or((text, ""));
        let mut ins = Instruction { line, mnemonic, operands: Vec::new(), taken: 0, thread };
        if !rest.trim().is_empty() {
            ins.operands = ins.split(rest)?;
        }
        Ok(ins)
    }

    /// The parts of `text` between commas that stand outside of brackets.
    pub fn split(&self, text: &'a str) -> Result<Vec<&'a str>, Diagnostic> {
        let mut parts = Vec::new();
        let mut opened = None;
        let mut start = 0;
        for (at, c) in text.char_indices() {
            match c {
                '[' if opened.is_some() => return Err(self.error(&text[at..], "unexpected '['")),
                '[' => opened = Some(at),
                ']' if opened.is_none() => return Err(self.error(&text[at..], "unexpected ']'")),
                ']' => opened = None,
                ',' if opened.is_none() => {
                    parts.push(&text[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if let Some(at) = opened {
            return Err(self.error(&text[at..], "unclosed '['"));
        }
        parts.push(&text[start..]);
        match parts.iter().find(|part| part.trim().is_empty()) {
            Some(part) => Err(self.error(part, "an operand is missing here")),
            None => Ok(parts.into_iter().map(str::trim).collect()),
        }
    }

    /// An error at a part of the instruction.
    pub fn error(&self, part: &str, message: impl Into<String>) -> Diagnostic {
        self.thread.error_at(self.line, part, message)
    }

    pub fn peek(&self) -> Option<&'a str> {
        self.operands.get(self.taken).copied()
    }

    /// The next operand.
    pub fn take(&mut self) -> Result<&'a str, Diagnostic> {
        let Some(operand) = self.peek() else {
            let message = format!("{} needs more operands", self.mnemonic);
            return Err(self.error(self.mnemonic, message));
        };
        self.taken += 1;
        Ok(operand)
    }

    /// Complains about operands that nothing has taken.
    pub fn finish(&self) -> Result<(), Diagnostic> {
        match self.peek() {
            None => Ok(()),
            Some(extra) => Err(self.error(extra, format!("unexpected operand '{extra}'"))),
        }
    }

    /// A general-purpose register or the zero register.
    pub fn register(&mut self) -> Result<Reg, Diagnostic> {
        let text = self.take()?;
        let reg = self.parse_register(text)?;
        if reg.which == Which::StackPointer {
            return Err(self.error(text, "the stack pointer cannot be used here"));
        }
        Ok(reg)
    }

    /// Any register.
    pub fn register_or_sp(&mut self) -> Result<Reg, Diagnostic> {
        let text = self.take()?;
        self.parse_register(text)
    }

    /// A register of the given width.
    pub fn register_of(&mut self, width: u32) -> Result<Reg, Diagnostic> {
        let text = self.peek().unwrap_or(self.mnemonic);
        let reg = self.register()?;
        self.require_width(text, reg, width)?;
        Ok(reg)
    }

    pub fn require_width(&self, text: &str, reg: Reg, width: u32) -> Result<(), Diagnostic> {
        if reg.width == width {
            return Ok(());
        }
        let kind = if width == 32 { 'W' } else { 'X' };
        Err(self.error(text, format!("expected a {kind} register, found '{text}'")))
    }

    pub fn parse_register(&self, text: &str) -> Result<Reg, Diagnostic> {
        Reg::parse(text)
            .ok_or_else(|| self.error(text, format!("'{text}' is not a general-purpose register")))
    }

    /// A number in the given range.
    pub fn immediate(&mut self, low: i128, high: i128) -> Result<i128, Diagnostic> {
        let text = self.take()?;
        self.parse_immediate(text, low, high)
    }

    pub fn parse_immediate(&self, text: &str, low: i128, high: i128) -> Result<i128, Diagnostic> {
        let value = parse_number(text)
            .ok_or_else(|| self.error(text, format!("expected a number, found '{text}'")))?;
        if (low..=high).contains(&value) {
            Ok(value)
        } else {
            let message = format!("{value} is out of range: expected {low} to {high}");
            Err(self.error(text, message))
        }
    }

    /// A number in 0..limit that counts bits.
    pub fn bit_count(&mut self, limit: u32) -> Result<u32, Diagnostic> {
        let value = self.immediate(0, i128::from(limit) - 1)?;
        Ok(value as u32)
    }

    /// The block of a label.
    pub fn label(&mut self) -> Result<BlockId, Diagnostic> {
        let text = self.take()?;
        if !is_label(text) {
            return Err(self.error(text, format!("expected a label, found '{text}'")));
        }
        Ok(self.thread.function.label_block(text))
    }

    /// The value of a register, as wide as the register.
    pub fn read(&mut self, reg: Reg) -> Expr {
        match reg.storage() {
            Some(register) => self.thread.read(&register),
            None => Expr::constant(reg.width, 0),
        }
    }

    /// Sets a register; a value for a `W` register clears the upper half.
    pub fn write(&mut self, reg: Reg, value: Expr) {
        if let Some(register) = reg.storage() {
            let var = self.thread.register_var(&register);
            let value = value.resize(reg.width, register.whole_width);
            self.thread.function.assign(var, value);
        }
    }

    /// Does one thing where the one-bit condition is 1 and another where it is 0; nothing after
    /// that depends on the condition by control.
    pub fn choose(
        &mut self,
        condition: Expr,
        then: impl FnOnce(&mut Self),
        otherwise: impl FnOnce(&mut Self),
    ) {
        let function = &mut self.thread.function;
        let arms = [function.new_block("then"), function.new_block("otherwise")];
        let join = function.new_block("join");
        function.terminate(Terminator::Branch {
            condition,
            then: arms[0],
            otherwise: arms[1],
            join: Some(join),
        });
        function.enter(arms[0]);
        then(self);
        self.thread.function.terminate(Terminator::Jump(join));
        self.thread.function.enter(arms[1]);
        otherwise(self);
        self.thread.function.enter(join);
    }

    /// A variable that holds `value` from here on, whatever happens to the registers in it.
    pub fn hold(&mut self, width: u32, value: Expr) -> VarId {
        let var = self.thread.function.temp(width);
        self.thread.function.assign(var, value);
        var
    }
}

fn is_label(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || "_.$/-".contains(c))
}

/// `#1`, `1`, `#-4`, `#0x1f`.
fn parse_number(text: &str) -> Option<i128> {
    let text = text.strip_prefix('#').unwrap_or(text).trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let (digits, radix) = match hexadecimal {
        Some(digits) => (digits, 16),
        None => (digits, 10),
    };
    // The parser of the standard library would take a second sign.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    Some(if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!(parse_number("#1"), Some(1));
        assert_eq!(parse_number("17"), Some(17));
        assert_eq!(parse_number("#-0x10"), Some(-16));
        assert_eq!(parse_number("#0XFFFFFFFFFFFFFFFF"), Some(u64::MAX.into()));
        for text in ["", "#", "x", "#--1", "-+1", "0x", "18446744073709551616", "1é"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    #[test]
    fn labels() {
        assert!(["L0", "_x", "Fail1", "l.1"].iter().all(|l| is_label(l)));
        assert!(["", "1f", ".+8", "é", "a b"].iter().all(|l| !is_label(l)));
    }
}
