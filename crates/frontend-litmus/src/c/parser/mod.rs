//! From tokens to syntax trees: recursive descent, with precedence climbing for expressions.
//!
//! An error in one statement does not hide those in the next: the parser reports it, skips to
//! the end of the statement and goes on. Nesting is limited, so no input exhausts the stack.

mod declarations;
mod expressions;
mod statements;

use std::ops::Range;

use parallax_program::{Diagnostic, SourceFile, Span};

use super::ast::{Expr, ExprKind, FunctionDef, MAX_DEPTH};
use super::lexer::{Token, TokenKind, tokens};

const MAX_ERRORS: usize = 100;

type Parsed<T> = Result<T, Diagnostic>;

/// The functions that a part of a file defines.
pub fn parse(
    source: &SourceFile,
    range: Range<usize>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<FunctionDef> {
    let tokens = tokens(source, range, errors);
    let mut parser = Parser { source, tokens: &tokens, at: 0, depth: 0, errors };
    parser.functions()
}

struct Parser<'a> {
    source: &'a SourceFile,
    tokens: &'a [Token<'a>],
    at: usize,
    /// How many statements and expressions are being read inside one another.
    depth: u32,
    errors: &'a mut Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn functions(&mut self) -> Vec<FunctionDef> {
        let mut functions = Vec::new();
        while !self.at_end() {
            if self.accept(";") {
                continue;
            }
            match self.function() {
                Ok(function) => functions.push(function),
                Err(error) => {
                    self.errors.push(error);
                    self.skip_function();
                    self.give_up_on_many_errors();
                }
            }
        }
        functions
    }

    fn token(&self) -> &'a Token<'a> {
        const END: &Token<'static> =
            &Token { kind: TokenKind::End, span: Span { start: 0, end: 0 } };
        let last = self.tokens.last().unwrap_or(END);
        self.tokens.get(self.at).unwrap_or(last)
    }

    fn ahead(&self, distance: usize) -> Option<&'a TokenKind<'a>> {
        self.tokens.get(self.at + distance).map(|token| &token.kind)
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// Where the token before this one ends.
    fn since(&self, start: Span) -> Span {
        let previous = self.tokens.get(self.at.wrapping_sub(1));
        start.to(previous.map_or(start, |token| token.span))
    }

    fn advance(&mut self) {
        self.at += 1;
    }

    fn at_end(&self) -> bool {
        self.token().kind == TokenKind::End
    }

    fn is(&self, punctuation: &str) -> bool {
        matches!(&self.token().kind, TokenKind::Punctuation(p) if *p == punctuation)
    }

    fn accept(&mut self, punctuation: &str) -> bool {
        let found = self.is(punctuation);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punctuation: &str) -> Parsed<()> {
        if self.accept(punctuation) {
            return Ok(());
        }
        Err(self.unexpected(&format!("'{punctuation}'")))
    }

    fn name(&self) -> Option<&'a str> {
        match &self.token().kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.name() == Some(word);
        if found {
            self.advance();
        }
        found
    }

    /// A name that is not a keyword.
    fn identifier(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.name() {
            Some(name) if !is_keyword(name) => {
                self.advance();
                Ok((name.to_string(), span))
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.source.error(span, message)
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let found = match &self.token().kind {
            TokenKind::Name(name) => format!("'{name}'"),
            TokenKind::Number(number) => format!("'{}'", number.value),
            TokenKind::Punctuation(p) => format!("'{p}'"),
            TokenKind::End => "the end of the program".to_string(),
        };
        self.error(self.span(), format!("expected {expected}, found {found}"))
    }

    /// Reads something that may contain itself.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(self.span(), "nested too deeply"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// An expression node, unless the tree becomes too deep.
    fn node(&self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let expr = Expr::new(kind, span);
        if expr.depth > MAX_DEPTH {
            return Err(self.error(span, "expression too long"));
        }
        Ok(expr)
    }

    /// What is wrong in a hundred places is not worth reading on.
    fn give_up_on_many_errors(&mut self) {
        if self.errors.len() >= MAX_ERRORS {
            self.at = self.tokens.len();
        }
    }

    /// To behind the function or declaration that could not be read.
    fn skip_function(&mut self) {
        while !self.at_end() && !self.is("{") {
            if self.accept(";") {
                return;
            }
            self.advance();
        }
        self.skip_braces();
    }

    /// From an opening brace to behind its partner.
    fn skip_braces(&mut self) {
        let mut open = 0u32;
        while !self.at_end() {
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                open = open.saturating_sub(1);
            }
            self.advance();
            if open == 0 {
                return;
            }
        }
    }

    /// To behind the next `;`, or before the `}` that closes the block. Always makes progress
    /// from `start`, where the statement began, unless a `}` stands there.
    fn skip_statement(&mut self, start: usize) {
        while !self.at_end() && !self.is("}") {
            if self.is("{") {
                self.skip_braces();
                return;
            }
            if self.accept(";") {
                return;
            }
            self.advance();
        }
        if self.at == start && !self.at_end() {
            self.advance();
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "if" | "else"
            | "while"
            | "do"
            | "for"
            | "break"
            | "continue"
            | "return"
            | "goto"
            | "switch"
            | "case"
            | "default"
            | "sizeof"
    )
}
