//! A line of assembly code, taken apart.

use parallax_program::{Diagnostic, SourceFile, Span};

use crate::isa::Isa;

#[derive(Clone, Copy)]
pub struct Line<'a> {
    pub source: &'a SourceFile,
    /// Without comment and white space at its ends.
    pub text: &'a str,
    pub span: Span,
    pub mnemonic: &'a str,
    pub rest: &'a str,
}

impl<'a> Line<'a> {
    pub fn new(source: &'a SourceFile, text: &'a str, span: Span, isa: Option<Isa>) -> Line<'a> {
        let code = text.split("//").next().unwrap_or("");
        let code = match isa {
            Some(Isa::Arm) => code.split('@').next(),
            Some(Isa::Sparc) => code.split('!').next(),
            Some(Isa::Power | Isa::X86) => code.split('#').next(),
            None => Some(code),
        };
        Line::part(source, code.unwrap_or(""), span.start as usize)
    }

    /// `code` starts at that place of the source.
    fn part(source: &'a SourceFile, code: &'a str, start: usize) -> Line<'a> {
        let start = start + code.len() - code.trim_start().len();
        let text = code.trim();
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let span = Span::new(start, start + text.len());
        Line { source, text, span, mnemonic, rest: rest.trim() }
    }

    /// The label at its start, and what follows.
    pub fn label(&self) -> Option<(&'a str, Line<'a>)> {
        let (label, rest) = self.text.split_once(':')?;
        let is_label = super::is_label(label) && self.mnemonic != "thread";
        let start = self.span.start as usize + label.len() + 1;
        is_label.then(|| (label, Line::part(self.source, rest, start)))
    }

    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.source.error(self.span, message)
    }

    pub fn unsupported(&self, isa: Isa) -> Diagnostic {
        self.error(format!("unsupported instruction '{}' of {isa}", self.mnemonic))
    }

    /// What commas separate, where brackets keep commas together.
    pub fn operands(&self) -> Vec<&'a str> {
        if self.rest.is_empty() {
            return Vec::new();
        }
        let mut depth = 0u32;
        let pieces = self.rest.split(|c| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        });
        pieces.map(str::trim).collect()
    }

    /// The operands, which must be `N`.
    pub fn take<const N: usize>(&self) -> Result<[&'a str; N], Diagnostic> {
        let operands = self.operands();
        <[&str; N]>::try_from(operands.as_slice()).map_err(|_| {
            let found = operands.len();
            self.error(format!("'{}' takes {N} operands, not {found}", self.mnemonic))
        })
    }
}

/// A register or a number.
pub enum Operand {
    Register(String),
    Number(u32),
}

impl Operand {
    /// The operation that brings its value into a temporary.
    pub fn read(&self, temporary: &str) -> String {
        match self {
            Operand::Register(name) => format!("{temporary} := {name}"),
            Operand::Number(number) => format!("{temporary} := {number}"),
        }
    }

    pub fn is_register(&self) -> bool {
        matches!(self, Operand::Register(_))
    }
}

/// Reads two operands into temporaries; the order makes no difference.
pub fn read_both(first: &Operand, one: &str, second: &Operand, other: &str) -> String {
    let (first, second) = ((first, first.read(one)), (second, second.read(other)));
    match first.0.is_register() && second.0.is_register() {
        true => format!("({} || {})", first.1, second.1),
        false => format!("{}; {}", first.1, second.1),
    }
}

/// The name of a location as the parser has it: numbers in their shortest hexadecimal form.
pub fn location(name: &str) -> String {
    let number = match name.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => name.parse::<u32>().ok().filter(|_| !name.starts_with('+')),
    };
    number.map_or(name.to_string(), |number| format!("{number:#x}"))
}

/// An expression by which numbers with a sign compare as they do without one.
pub fn signed(temporary: &str) -> String {
    format!("{temporary} + {}", 1u32 << 31)
}
