//! The parser's place in the tokens, and the small steps that everything else is made of.

use std::collections::HashMap;

use super::MOST_ERRORS;
use super::lexer::{Spanned, Token};
use crate::{BlockId, Diagnostic, Diagnostics, FunctionId, GlobalId, SourceFile, Span, Var, VarId};

/// A step of the parser: the first error of a line ends the line.
pub type Parsed<T> = Result<T, Diagnostic>;

pub struct Parser<'a> {
    pub source: &'a SourceFile,
    pub tokens: &'a [Spanned],
    pub at: usize,
    pub errors: Diagnostics,
    /// How many parentheses and prefix operators are open.
    pub nesting: u32,
    pub names: Names,
    pub scope: Scope,
}

/// What is defined outside functions.
#[derive(Default)]
pub struct Names {
    pub globals: HashMap<String, GlobalId>,
    pub functions: HashMap<String, FunctionId>,
    pub pointer_width: u32,
    pub registers: Vec<Var>,
}

/// What is defined in the function at hand.
#[derive(Default)]
pub struct Scope {
    pub vars: HashMap<String, VarId>,
    pub declared: Vec<Var>,
    pub labels: HashMap<String, BlockId>,
}

impl<'a> Parser<'a> {
    pub fn peek(&self) -> &'a Token {
        self.peek_after(0)
    }

    pub fn peek_after(&self, tokens: usize) -> &'a Token {
        self.tokens.get(self.at + tokens).map_or(&Token::End, |spanned| &spanned.token)
    }

    pub fn span(&self) -> Span {
        let last = self.tokens.get(self.at).or(self.tokens.last());
        last.map_or(Span::default(), |spanned| spanned.span)
    }

    pub fn previous_span(&self) -> Span {
        let previous = self.tokens.get(self.at.wrapping_sub(1));
        previous.map_or(Span::default(), |spanned| spanned.span)
    }

    pub fn next(&mut self) {
        self.at += 1;
    }

    pub fn error_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.source.error(span, message)
    }

    /// "expected …, found …" at the next token.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            Token::Word(word) => format!("'{word}'"),
            Token::Quoted(_) => "a string".to_string(),
            Token::Number(number) => format!("'{number}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::Newline => "the end of the line".to_string(),
            Token::End => "the end of the file".to_string(),
        };
        self.error_at(self.span(), format!("expected {what}, found {found}"))
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(s) if *s == symbol);
        self.at += usize::from(found);
        found
    }

    pub fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        match self.accept(symbol) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{symbol}'"))),
        }
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub fn keyword(&mut self, word: &str) -> Parsed<()> {
        match self.accept_word(word) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{word}'"))),
        }
    }

    pub fn name(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Token::Word(name) | Token::Quoted(name) => {
                self.next();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Quoted(text) => {
                self.next();
                Ok(text.clone())
            }
            _ => Err(self.expected("a quoted string")),
        }
    }

    pub fn number<T: TryFrom<u128>>(&mut self, what: &str) -> Parsed<T> {
        let Token::Number(number) = self.peek() else {
            return Err(self.expected(what));
        };
        let Ok(number) = T::try_from(*number) else {
            return Err(self.error_at(self.span(), format!("{number} is too large for {what}")));
        };
        self.next();
        Ok(number)
    }

    /// A width of a bit-vector: 1 to 128.
    pub fn width(&mut self) -> Parsed<u32> {
        let span = self.span();
        let width = self.number("a width in bits")?;
        match width {
            1..=128 => Ok(width),
            _ => Err(self.error_at(span, "widths go from 1 to 128")),
        }
    }

    /// One or more, separated by commas.
    pub fn separated<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(…, …)`
    pub fn parenthesised<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.symbol("(")?;
        if self.accept(")") {
            return Ok(Vec::new());
        }
        let items = self.separated(item)?;
        self.symbol(")")?;
        Ok(items)
    }

    pub fn end_of_line(&mut self) -> Parsed<()> {
        match self.peek() {
            Token::Newline => {
                self.next();
                Ok(())
            }
            Token::End => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }

    pub fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.next();
        }
    }

    /// Goes to the start of the next line.
    pub fn skip_line(&mut self) {
        while !matches!(self.peek(), Token::Newline | Token::End) {
            self.next();
        }
        self.skip_newlines();
    }

    /// Notes the error of a line and goes on after it.
    pub fn recover(&mut self, line: Parsed<()>) {
        let line = line.and_then(|()| self.end_of_line());
        if let Err(error) = line {
            self.errors.push(error);
            self.skip_line();
        }
    }

    pub fn gives_up(&self) -> bool {
        *self.peek() == Token::End || self.errors.len() >= MOST_ERRORS
    }
}
