//! The small steps that the rules of the text form are made of.

use std::borrow::Cow;
use std::collections::HashMap;

use super::MOST_ERRORS;
use super::lexer::{Token, unescaped};
use crate::check::MAX_DEPTH;
use crate::parsing::{Descent, Tokens};
use crate::{BlockId, Diagnostic, Diagnostics, FunctionId, GlobalId, SourceFile, Span, Var, VarId};

/// A step of the parser: the first error of a line ends the line.
pub type Parsed<T> = Result<T, Diagnostic>;

pub struct Parser<'a> {
    pub source: &'a SourceFile,
    pub tokens: Tokens<'a, Token<'a>>,
    pub errors: Diagnostics,
    pub names: Names,
    pub scope: Scope,
}

impl<'a> Descent<'a> for Parser<'a> {
    type Token = Token<'a>;
    type Error = Diagnostic;

    const DEEPEST: u32 = MAX_DEPTH;

    fn tokens(&self) -> &Tokens<'a, Token<'a>> {
        &self.tokens
    }

    fn tokens_mut(&mut self) -> &mut Tokens<'a, Token<'a>> {
        &mut self.tokens
    }

    fn error_at(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.source.error(span, message)
    }
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
    pub fn name(&mut self, what: &str) -> Parsed<Cow<'a, str>> {
        let name = name_of(self.peek()).ok_or_else(|| self.expected(what))?;
        self.next();
        Ok(name)
    }

    pub fn string(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Quoted(text) => {
                self.next();
                Ok(unescaped(text).into_owned())
            }
            _ => Err(self.expected("a quoted string")),
        }
    }

    pub fn number<T: TryFrom<u128>>(&mut self, what: &str) -> Parsed<T> {
        let Token::Number(number) = self.peek() else {
            return Err(self.expected(what));
        };
        let Ok(number) = T::try_from(number) else {
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
        while self.peek() == Token::Newline {
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
        self.is_at_end() || self.errors.len() >= MOST_ERRORS
    }
}

/// The name that a token is, if it is one.
pub fn name_of(token: Token<'_>) -> Option<Cow<'_, str>> {
    match token {
        Token::Word(name) => Some(Cow::Borrowed(name)),
        Token::Quoted(name) => Some(unescaped(name)),
        _ => None,
    }
}
