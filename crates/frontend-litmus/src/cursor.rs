//! Walking over the tokens of a section.

use parallax_program::parsing::{Descent, Tokens};
use parallax_program::{Diagnostic, SourceFile, Span};

use crate::lexer::{Spanned, Token};

pub struct Cursor<'a> {
    source: &'a SourceFile,
    tokens: Tokens<'a, Token<'a>>,
}

impl<'a> Descent<'a> for Cursor<'a> {
    type Token = Token<'a>;
    type Error = Diagnostic;

    const DEEPEST: u32 = 256;

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

impl<'a> Cursor<'a> {
    pub fn new(source: &'a SourceFile, tokens: &'a [Spanned<'a>]) -> Cursor<'a> {
        Cursor { source, tokens: Tokens::new(tokens) }
    }

    pub fn name(&mut self, what: &str) -> Result<&'a str, Diagnostic> {
        match self.peek() {
            Token::Name(name) => {
                self.next();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number, with a sign before it or not.
    pub fn signed_number(&mut self) -> Result<i128, Diagnostic> {
        let negative = self.accept("-");
        match self.peek() {
            Token::Number(_, value) => {
                self.next();
                Ok(if negative { -value } else { value })
            }
            _ => Err(self.expected("a number")),
        }
    }

    pub fn unsigned(&mut self) -> Result<u64, Diagnostic> {
        let span = self.span();
        let value = self.signed_number()?;
        u64::try_from(value).map_err(|_| self.error_at(span, "this number is too big, or negative"))
    }

    /// Goes on after the next `;` outside all brackets, to find more errors.
    pub fn skip_past_semicolon(&mut self) {
        let mut depth = 0usize;
        while !self.is_at_end() {
            let token = self.peek();
            self.next();
            match token {
                Token::Sign("{" | "(" | "[") => depth += 1,
                Token::Sign("}" | ")" | "]") => depth = depth.saturating_sub(1),
                Token::Sign(";") if depth == 0 => return,
                _ => {}
            }
        }
    }
}
