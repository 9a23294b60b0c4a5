//! Operands: registers, immediate values, and memory in Intel's or AT&T's form.

use parallax_program::{AccessSize, Diagnostic, Expr, InstKind, Tags};

use super::{Instruction, registers};
use crate::asm::Register;
use crate::lexer::parse_number;

pub struct Operand<'l> {
    pub kind: OperandKind,
    /// As written.
    pub text: &'l str,
}

pub enum OperandKind {
    Register(Register),
    Immediate(i128),
    /// `$x`: an address as a value.
    Address(Expr),
    /// What lies at the address; the width, where `dword ptr` or the like says it.
    Memory(Expr, Option<u32>),
}

impl Operand<'_> {
    /// The width, if the operand has one of its own.
    pub fn width(&self) -> Option<u32> {
        match &self.kind {
            OperandKind::Register(register) => Some(register.width),
            OperandKind::Memory(_, width) => *width,
            OperandKind::Immediate(_) | OperandKind::Address(_) => None,
        }
    }

    pub fn is_memory(&self) -> bool {
        matches!(self.kind, OperandKind::Memory(..))
    }
}

/// What a sum in an address is made of.
struct Term {
    value: Expr,
    negative: bool,
}

impl<'l> Instruction<'l, '_, '_> {
    pub(super) fn operand(&mut self, text: &'l str) -> Result<Operand<'l>, Diagnostic> {
        let kind = self.operand_kind(text)?;
        Ok(Operand { kind, text })
    }

    fn operand_kind(&mut self, text: &'l str) -> Result<OperandKind, Diagnostic> {
        if let Some(register) = self.register_named(text) {
            return Ok(OperandKind::Register(register));
        }
        if let Some(value) = text.strip_prefix('$') {
            return match signed_number(value) {
                Some(value) => Ok(OperandKind::Immediate(value)),
                None if is_symbol(value) => Ok(OperandKind::Address(self.symbol(value))),
                None => Err(self.lowering.expected("a number", text)),
            };
        }
        if let Some(value) = signed_number(text) {
            return Ok(OperandKind::Immediate(value));
        }
        let (place, width) = without_size(text);
        Ok(OperandKind::Memory(self.address(place)?, width))
    }

    /// The address in `[reg+4]`, `(x)`, `8(%rax,%rbx,4)`, `x(%rip)`.
    fn address(&mut self, text: &'l str) -> Result<Expr, Diagnostic> {
        let open = text.find(['[', '(']);
        let close = text.strip_suffix([']', ')']);
        let (Some(open), Some(close)) = (open, close) else {
            return Err(self.lowering.expected("a register, a number or memory", text));
        };
        let (displacement, inside) = (text.get(..open), close.get(open + 1..));
        let (displacement, inside) = (displacement.unwrap_or("").trim(), inside.unwrap_or(""));
        let mut terms = self.sum(inside)?;
        if !displacement.is_empty() {
            terms.extend(self.sum(displacement)?);
        }
        let mut terms = terms.into_iter();
        let Some(first) = terms.next() else {
            return Err(self.lowering.expected("an address", text));
        };
        let start = if first.negative {
            Expr::constant(self.pointer_width(), 0) - first.value
        } else {
            first.value
        };
        Ok(terms.fold(start, |sum, term| match term.negative {
            true => sum - term.value,
            false => sum + term.value,
        }))
    }

    /// `a+b-c` as Intel writes it, or `base,index,scale` as AT&T does.
    fn sum(&mut self, text: &'l str) -> Result<Vec<Term>, Diagnostic> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        match parts.as_slice() {
            [base, index, scale] => {
                let mut terms = self.optional_term(base)?;
                terms.push(self.scaled(index, scale)?);
                Ok(terms)
            }
            [base, index] => {
                let mut terms = self.optional_term(base)?;
                terms.push(self.term(index)?);
                Ok(terms)
            }
            _ => self.intel_sum(text),
        }
    }

    fn optional_term(&mut self, text: &'l str) -> Result<Vec<Term>, Diagnostic> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![self.term(text)?])
    }

    fn intel_sum(&mut self, text: &'l str) -> Result<Vec<Term>, Diagnostic> {
        let mut terms = Vec::new();
        let mut rest = text.trim();
        let mut negative = false;
        if let Some(after) = rest.strip_prefix('-') {
            negative = true;
            rest = after;
        }
        loop {
            let end = rest.find(['+', '-']).unwrap_or(rest.len());
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let part = part.trim();
            let mut term = match part.split_once('*') {
                Some((index, scale)) => self.scaled(index.trim(), scale.trim())?,
                None => self.term(part)?,
            };
            term.negative = negative;
            terms.push(term);
            let Some(sign) = after.chars().next() else {
                return Ok(terms);
            };
            negative = sign == '-';
            rest = after.get(1..).unwrap_or("");
        }
    }

    fn scaled(&mut self, index: &'l str, scale: &'l str) -> Result<Term, Diagnostic> {
        let factor = signed_number(scale).filter(|n| matches!(n, 0 | 1 | 2 | 4 | 8));
        let Some(factor) = factor else {
            return Err(self.lowering.expected("a scale of 1, 2, 4 or 8", scale));
        };
        let mut term = self.term(index)?;
        term.value = term.value * Expr::signed(self.pointer_width(), factor);
        Ok(term)
    }

    fn term(&mut self, text: &'l str) -> Result<Term, Diagnostic> {
        let pointer_width = self.pointer_width();
        let value = if let Some(register) = self.register_named(text) {
            let value = self.lowering.value(&register);
            value.resize(register.width, pointer_width)
        } else if self.wide && text.trim_start_matches('%').eq_ignore_ascii_case("rip") {
            Expr::constant(pointer_width, 0)
        } else if let Some(number) = signed_number(text) {
            Expr::signed(pointer_width, number)
        } else if is_symbol(text) {
            self.symbol(text)
        } else {
            return Err(self.lowering.expected("a register or a location", text));
        };
        Ok(Term { value, negative: false })
    }

    fn register_named(&self, name: &str) -> Option<Register> {
        if self.wide { registers::wide(name) } else { registers::narrow(name) }
    }

    fn symbol(&mut self, name: &str) -> Expr {
        Expr::Address(self.lowering.thread.globals.get(name))
    }

    pub(super) fn pointer_width(&self) -> u32 {
        if self.wide { 64 } else { 32 }
    }

    pub(super) fn read_tagged(
        &mut self,
        operand: &Operand<'l>,
        width: u32,
        tags: Tags,
    ) -> Result<Expr, Diagnostic> {
        match &operand.kind {
            OperandKind::Register(register) => Ok(self.lowering.value(register)),
            OperandKind::Immediate(value) => {
                if !crate::init::fits(*value, width) {
                    let message = format!("`{}` does not fit into {width} bits", operand.text);
                    return Err(self.lowering.error(operand.text, message));
                }
                Ok(Expr::signed(width, *value))
            }
            OperandKind::Address(address) => {
                Ok(address.clone().resize(self.pointer_width(), width))
            }
            OperandKind::Memory(address, _) => {
                let size = self.access_size(operand, width)?;
                Ok(self.lowering.load(address.clone(), size, tags))
            }
        }
    }

    pub(super) fn write_tagged(
        &mut self,
        operand: &Operand<'l>,
        width: u32,
        value: Expr,
        tags: Tags,
    ) -> Result<(), Diagnostic> {
        match &operand.kind {
            OperandKind::Register(register) => {
                let value = self.merged(register, value);
                self.lowering.set(register, value);
                Ok(())
            }
            OperandKind::Memory(address, _) => {
                let size = self.access_size(operand, width)?;
                self.emit(InstKind::Store { address: address.clone(), value, size, tags });
                Ok(())
            }
            OperandKind::Immediate(_) | OperandKind::Address(_) => {
                Err(self.lowering.expected("a register or memory", operand.text))
            }
        }
    }

    pub(super) fn access_size(
        &self,
        operand: &Operand<'l>,
        width: u32,
    ) -> Result<AccessSize, Diagnostic> {
        let message = format!("no access has {width} bits");
        let size = AccessSize::from_bytes(width / 8);
        size.ok_or_else(|| self.lowering.error(operand.text, message))
    }

    /// The whole register after a part of it was given a value: 32-bit parts clear what is
    /// above them, smaller parts leave the rest alone.
    pub(super) fn merged(&mut self, register: &Register, value: Expr) -> Expr {
        if register.width == register.whole_width {
            return value;
        }
        if register.width == 32 {
            return value.zero_extend(register.whole_width);
        }
        let whole = Expr::Var(self.lowering.thread.register_var(register));
        let end = register.low + register.width;
        let above = whole.clone().extract(end, register.whole_width - end);
        let upper = above.concat(value);
        if register.low == 0 { upper } else { upper.concat(whole.extract(0, register.low)) }
    }
}

/// Takes `dword ptr` and the like off an operand.
fn without_size(text: &str) -> (&str, Option<u32>) {
    let Some((word, rest)) = text.split_once(char::is_whitespace) else {
        return (text, None);
    };
    let width = match word.to_ascii_lowercase().as_str() {
        "byte" => 8,
        "word" => 16,
        "dword" => 32,
        "qword" => 64,
        _ => return (text, None),
    };
    let rest = rest.trim_start();
    let place = match rest.split_at_checked(3) {
        Some((word, place)) if word.eq_ignore_ascii_case("ptr") => place.trim_start(),
        _ => rest,
    };
    (place, Some(width))
}

fn signed_number(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let first = digits.chars().next()?;
    if !first.is_ascii_digit() {
        return None;
    }
    let value = parse_number(digits)?;
    Some(if negative { -value } else { value })
}

fn is_symbol(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))
}
