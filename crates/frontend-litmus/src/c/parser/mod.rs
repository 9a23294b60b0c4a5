//! From tokens to syntax trees: recursive descent, with precedence climbing for expressions.
//!
//! An error in one statement does not hide those in the next: the parser reports it, skips to
//! the end of the statement and goes on. Nesting is limited, so no input exhausts the stack.

mod declarations;
mod expressions;
mod statements;

use std::ops::Range;

use parallax_program::parsing::{Descent, Tokens};
use parallax_program::{Diagnostic, SourceFile, Span};

use super::ast::{Expr, ExprKind, FunctionDef, MAX_DEPTH};
use super::lexer::{Token, tokens};

const MAX_ERRORS: usize = 100;

type Parsed<T> = Result<T, Diagnostic>;

/// The functions that a part of a file defines.
pub fn parse(
    source: &SourceFile,
    range: Range<usize>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<FunctionDef> {
    let tokens = tokens(source, range, errors);
    let mut parser = Parser { source, tokens: Tokens::new(&tokens), errors };
    parser.functions()
}

struct Parser<'a> {
    source: &'a SourceFile,
    tokens: Tokens<'a, Token<'a>>,
    errors: &'a mut Vec<Diagnostic>,
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

impl<'a> Parser<'a> {
    fn functions(&mut self) -> Vec<FunctionDef> {
        let mut functions = Vec::new();
        while !self.is_at_end() {
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

    /// The next token if it is a name or a keyword.
    fn name(&self) -> Option<&'a str> {
        if let Token::Name(name) = self.peek() { Some(name) } else { None }
    }

    /// A name that is not a keyword.
    fn identifier(&mut self, what: &str) -> Parsed<(String, Span)> {
        let span = self.span();
        match self.name() {
            Some(name) if !is_keyword(name) => {
                self.next();
                Ok((name.to_string(), span))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// An expression node, unless the tree becomes too deep.
    fn node(&self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let expr = Expr::new(kind, span);
        if expr.depth > MAX_DEPTH {
            return Err(self.error_at(span, "expression too long"));
        }
        Ok(expr)
    }

    /// What is wrong in a hundred places is not worth reading on.
    fn give_up_on_many_errors(&mut self) {
        if self.errors.len() >= MAX_ERRORS {
            self.go_to(self.tokens.all().len());
        }
    }

    /// To behind the function or declaration that could not be read.
    fn skip_function(&mut self) {
        while !self.is_at_end() && !self.is_next("{") {
            if self.accept(";") {
                return;
            }
            self.next();
        }
        self.skip_braces();
    }

    /// From an opening brace to behind its partner.
    fn skip_braces(&mut self) {
        let mut open = 0u32;
        while !self.is_at_end() {
            if self.is_next("{") {
                open += 1;
            } else if self.is_next("}") {
                open = open.saturating_sub(1);
            }
            self.next();
            if open == 0 {
                return;
            }
        }
    }

    /// To behind the next `;`, or before the `}` that closes the block. Always makes progress
    /// from `start`, where the statement began, unless a `}` stands there.
    fn skip_statement(&mut self, start: usize) {
        while !self.is_at_end() && !self.is_next("}") {
            if self.is_next("{") {
                self.skip_braces();
                return;
            }
            if self.accept(";") {
                return;
            }
            self.next();
        }
        if self.position() == start && !self.is_at_end() {
            self.next();
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
