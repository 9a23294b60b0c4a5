//! Types, declarations of variables, and function definitions.

use parallax_program::parsing::Descent;

use super::super::ast::{Declaration, FunctionDef};
use super::super::types::CType;
use super::{Parsed, Parser};
use crate::c::lexer::Token;

/// The words of a type, counted as they come: `unsigned long int` in any order.
#[derive(Default)]
struct Specifiers {
    named: Option<CType>,
    signed: bool,
    unsigned: bool,
    char: bool,
    short: bool,
    int: bool,
    long: u32,
}

impl Specifiers {
    fn has_keywords(&self) -> bool {
        self.signed || self.unsigned || self.char || self.short || self.int || self.long > 0
    }

    /// Takes a keyword of arithmetic types; false if the word is none.
    fn keyword(&mut self, word: &str) -> bool {
        match word {
            "signed" | "__signed__" => self.signed = true,
            "unsigned" => self.unsigned = true,
            "char" => self.char = true,
            "short" => self.short = true,
            "int" => self.int = true,
            "long" => self.long += 1,
            _ => return false,
        }
        true
    }

    fn into_type(self) -> Option<CType> {
        if !self.has_keywords() {
            return self.named;
        }
        if self.named.is_some() {
            return None;
        }
        let contradictory = self.signed && self.unsigned
            || self.char && (self.short || self.int || self.long > 0)
            || self.short && self.long > 0
            || self.long > 2;
        let width = match (self.char, self.short, self.long) {
            (true, ..) => 8,
            (_, true, _) => 16,
            (_, _, 0) => 32,
            _ => 64,
        };
        (!contradictory).then_some(CType::Int { width, signed: !self.unsigned })
    }
}

impl<'a> Parser<'a> {
    /// Whether a type starts here.
    pub(super) fn at_type(&self) -> bool {
        self.name().is_some_and(starts_type)
    }

    /// Whether a type starts behind the next token.
    pub(super) fn type_follows(&self) -> bool {
        matches!(self.peek_after(1), Token::Name(name) if starts_type(name))
    }

    /// A type without the name it may declare: `volatile int *`.
    pub(super) fn full_type(&mut self) -> Parsed<CType> {
        let base = self.base_type()?;
        Ok(self.pointers(base))
    }

    fn pointers(&mut self, base: CType) -> CType {
        let mut ty = base;
        loop {
            if self.accept("*") {
                ty = ty.pointer();
            } else if !self.name().is_some_and(is_qualifier) {
                return ty;
            } else {
                self.next();
            }
        }
    }

    fn base_type(&mut self) -> Parsed<CType> {
        let start = self.span();
        let mut words = Specifiers::default();
        while let Some(word) = self.name() {
            let wraps = word == "_Atomic" && self.peek_after(1) == Token::Punctuation("(");
            if !wraps && is_qualifier(word) || words.keyword(word) {
                self.next();
            } else if words.named.is_some() || words.has_keywords() {
                break;
            } else if wraps {
                self.next();
                self.symbol("(")?;
                words.named = Some(self.nested(|parser| parser.full_type())?);
                self.symbol(")")?;
            } else if word == "struct" || word == "union" || word == "enum" {
                words.named = Some(self.structure(word)?);
            } else if let Some(named) = CType::named(word) {
                self.next();
                words.named = Some(named);
            } else {
                break;
            }
        }
        let span = self.since(start);
        let found = span != start || self.at_type();
        match words.into_type() {
            Some(ty) => Ok(ty),
            None if found => Err(self.error_at(span, "these words name no type")),
            None => Err(self.expected("a type")),
        }
    }

    fn structure(&mut self, keyword: &str) -> Parsed<CType> {
        let start = self.span();
        self.next();
        if keyword == "struct" && self.accept_word("srcu_struct") {
            return Ok(CType::Srcu);
        }
        let name = self.name().unwrap_or("");
        let message = format!("type '{keyword} {name}' is not supported");
        Err(self.error_at(start.to(self.span()), message))
    }

    /// One variable of a declaration, its type given so far.
    pub(super) fn declarator(&mut self, base: CType) -> Parsed<Declaration> {
        let ty = self.pointers(base);
        let (name, span) = self.identifier("the name of a variable")?;
        if self.is_next("[") {
            return Err(self.error_at(self.span(), "arrays are not supported here"));
        }
        if ty == CType::Void {
            return Err(self.error_at(span, format!("variable '{name}' has type 'void'")));
        }
        Ok(Declaration { ty, name, span, init: None })
    }

    /// `int r1 = 0, *p`, without the semicolon.
    pub(super) fn declaration(&mut self) -> Parsed<Vec<Declaration>> {
        let base = self.base_type()?;
        let mut list = Vec::new();
        loop {
            let mut declared = self.declarator(base.clone())?;
            if self.accept("=") {
                if self.is_next("{") {
                    return Err(self.error_at(self.span(), "lists of values are not supported"));
                }
                declared.init = Some(self.assignment()?);
            }
            list.push(declared);
            if !self.accept(",") {
                return Ok(list);
            }
        }
    }

    /// A thread, `P0(int *x) { … }`, or a function that threads call.
    pub(super) fn function(&mut self) -> Parsed<FunctionDef> {
        let result = self.at_type().then(|| self.full_type()).transpose()?;
        let (name, span) = self.identifier("a thread or a function")?;
        if !self.is_next("(") {
            let message = format!("'{name}': declarations outside of functions are not supported");
            let help = "shared variables belong in the init section";
            return Err(self.error_at(span, message).with_help(help));
        }
        self.next();
        let params = self.parameters()?;
        if !self.is_next("{") {
            return Err(self.expected("the body of the function, '{'"));
        }
        let body = self.block()?;
        Ok(FunctionDef { name, span, result, params, body })
    }

    fn parameters(&mut self) -> Parsed<Vec<Declaration>> {
        let mut params = Vec::new();
        let only_void =
            self.name() == Some("void") && self.peek_after(1) == Token::Punctuation(")");
        if only_void {
            self.next();
        }
        if self.accept(")") {
            return Ok(params);
        }
        loop {
            let base = self.base_type()?;
            params.push(self.declarator(base)?);
            if self.accept(")") {
                return Ok(params);
            }
            if !self.accept(",") {
                return Err(self.expected("',' or ')'"));
            }
        }
    }
}

fn starts_type(name: &str) -> bool {
    let structure = matches!(name, "struct" | "union" | "enum");
    structure
        || is_qualifier(name)
        || Specifiers::default().keyword(name)
        || CType::named(name).is_some()
}

/// Words that change nothing here; accesses are what they are called, not how the place that
/// they touch was declared.
fn is_qualifier(name: &str) -> bool {
    matches!(
        name,
        "const"
            | "volatile"
            | "_Atomic"
            | "restrict"
            | "__restrict"
            | "register"
            | "auto"
            | "static"
            | "inline"
            | "__inline"
            | "extern"
            | "__rcu"
            | "__user"
    )
}
