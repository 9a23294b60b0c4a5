//! The small steps that the rules of operation structures are made of.

use parallax_program::parsing::{Descent, Tokens};
use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

use super::Scope;
use crate::MOST_ERRORS;
use crate::lexer::Token;

/// A step of the parser: the first error of an element ends the element.
pub type Parsed<T> = Result<T, Diagnostic>;

pub struct Parser<'a> {
    pub source: &'a SourceFile,
    pub tokens: Tokens<'a, Token<'a>>,
    pub errors: Diagnostics,
    /// How many operators the expression at hand has.
    pub operators: u32,
    pub scope: Scope,
}

impl<'a> Descent<'a> for Parser<'a> {
    type Token = Token<'a>;
    type Error = Diagnostic;

    const DEEPEST: u32 = 40;

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
    /// Longer expressions are refused, so that walking over a tree may recurse.
    const MOST_OPERATORS: u32 = 100;

    /// A word that means nothing by itself.
    pub fn name(&mut self, what: &str) -> Parsed<&'a str> {
        match self.peek() {
            Token::Word(name) if is_reserved(name) => {
                let message = format!("'{name}' has a meaning of its own and cannot be {what}");
                Err(self.error_at(self.span(), message))
            }
            Token::Word(name) => {
                self.next();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    pub fn number(&mut self) -> Parsed<u32> {
        match self.peek() {
            Token::Number(number) => {
                self.next();
                Ok(number)
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// One more operator in this expression.
    pub fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        match self.operators > Self::MOST_OPERATORS {
            true => Err(self.error_at(self.previous_span(), "this expression is too long")),
            false => Ok(()),
        }
    }

    pub fn gives_up(&self) -> bool {
        self.is_at_end() || self.errors.len() >= MOST_ERRORS
    }

    /// Goes past the element that starts there, and the `;` after it, or to the brace that closes
    /// what it is in.
    pub fn skip_element(&mut self, start: usize) {
        self.go_to(start);
        let mut open = 0u32;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Symbol("{" | "(") => open += 1,
                Token::Symbol("}") if open == 0 => return,
                Token::Symbol("}" | ")") => open = open.saturating_sub(1),
                Token::Symbol(";") if open == 0 => return self.next(),
                _ => {}
            }
            self.next();
        }
    }

    /// Goes to the next declaration or thread after the one that starts there.
    pub fn skip_item(&mut self, start: usize) {
        self.go_to(start + 1);
        let mut open = 0u32;
        loop {
            match self.peek() {
                Token::End => return,
                Token::Word("isa" | "loc" | "reg" | "thread") if open == 0 => return,
                Token::Symbol("{") => open += 1,
                Token::Symbol("}") => open = open.saturating_sub(1),
                _ => {}
            }
            self.next();
        }
    }
}

const RESERVED: [&str; 18] = [
    "T", "F", "not", "instr", "label", "assume", "assert", "ifBr", "do", "while", "if", "atom",
    "branch", "ll", "sc", "nil", "thread", "any",
];

pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}
