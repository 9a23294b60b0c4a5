//! The parser's place in the tokens, and the small steps that everything else is made of.

use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

use super::Scope;
use crate::MOST_ERRORS;
use crate::lexer::{Spanned, Token};

/// A step of the parser: the first error of an element ends the element.
pub type Parsed<T> = Result<T, Diagnostic>;

pub struct Parser<'a> {
    pub source: &'a SourceFile,
    pub tokens: &'a [Spanned<'a>],
    pub at: usize,
    pub errors: Diagnostics,
    /// How many braces and parentheses are open.
    pub nesting: u32,
    /// How many operators the expression at hand has.
    pub operators: u32,
    pub scope: Scope,
}

impl<'a> Parser<'a> {
    /// Nesting deeper than this is refused, so that walking a tree may recurse.
    const DEEPEST: u32 = 40;
    /// And so are longer expressions.
    const MOST_OPERATORS: u32 = 100;

    pub fn peek(&self) -> &'a Token<'a> {
        self.peek_after(0)
    }

    pub fn peek_after(&self, tokens: usize) -> &'a Token<'a> {
        self.tokens.get(self.at + tokens).map_or(&Token::End, |spanned| &spanned.token)
    }

    pub fn span(&self) -> Span {
        let last = self.tokens.get(self.at).or(self.tokens.last());
        last.map_or(Span::default(), |spanned| spanned.span)
    }

    pub fn previous_span(&self) -> Span {
        let previous = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
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
            Token::Number(number) => format!("'{number}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end of the file".to_string(),
        };
        self.error_at(self.span(), format!("expected {what}, found {found}"))
    }

    pub fn is_next(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.is_next(symbol);
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
        let found = matches!(self.peek(), Token::Word(found) if *found == word);
        self.at += usize::from(found);
        found
    }

    pub fn keyword(&mut self, word: &str) -> Parsed<()> {
        match self.accept_word(word) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{word}'"))),
        }
    }

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
                Ok(*number)
            }
            _ => Err(self.expected("a number")),
        }
    }

    /// What is inside braces or parentheses.
    pub fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= Self::DEEPEST {
            return Err(self.error_at(self.span(), "this is nested too deeply"));
        }
        self.nesting += 1;
        let result = inside(self);
        self.nesting -= 1;
        result
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
        *self.peek() == Token::End || self.errors.len() >= MOST_ERRORS
    }

    /// Goes past the element that starts there, and the `;` after it, or to the brace that closes
    /// what it is in.
    pub fn skip_element(&mut self, start: usize) {
        self.at = start;
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
        self.at = start + 1;
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
