//! Walking over tokens with errors that say what was expected.

use parallax_program::{Diagnostic, SourceFile, Span};

use crate::lexer::{Token, TokenKind};

pub struct Cursor<'a> {
    source: &'a SourceFile,
    tokens: &'a [Token<'a>],
    at: usize,
    /// Where the tokens end in the source.
    end: Span,
}

impl<'a> Cursor<'a> {
    pub fn new(source: &'a SourceFile, tokens: &'a [Token<'a>], section: Span) -> Cursor<'a> {
        let end = tokens.last().map_or(section.start, |last| last.span.end);
        Cursor { source, tokens, at: 0, end: Span { start: end, end } }
    }

    pub fn peek(&self) -> Option<TokenKind<'a>> {
        self.peek_at(0)
    }

    /// The token `ahead` places after the next one.
    pub fn peek_at(&self, ahead: usize) -> Option<TokenKind<'a>> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    /// Where the next token stands.
    pub fn span(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    /// Where the last token taken stands.
    pub fn last_span(&self) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        last.map_or(self.end, |token| token.span)
    }

    pub fn next(&mut self) -> Option<TokenKind<'a>> {
        let kind = self.peek()?;
        self.at += 1;
        Some(kind)
    }

    pub fn at_sign(&self, sign: &str) -> bool {
        self.sign_at(0, sign)
    }

    pub fn sign_at(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.peek_at(ahead), Some(TokenKind::Sign(found)) if found == sign)
    }

    /// Takes the sign if it comes next.
    pub fn eat(&mut self, sign: &str) -> bool {
        let found = self.at_sign(sign);
        self.at += usize::from(found);
        found
    }

    pub fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(TokenKind::Name(name)) if name == word)
    }

    /// Takes the word if it comes next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, sign: &str) -> Result<(), Diagnostic> {
        if self.eat(sign) { Ok(()) } else { Err(self.expected(&format!("'{sign}'"))) }
    }

    pub fn name(&mut self, what: &str) -> Result<&'a str, Diagnostic> {
        match self.peek() {
            Some(TokenKind::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A number, with a sign before it or not.
    pub fn signed_number(&mut self) -> Result<i128, Diagnostic> {
        let negative = self.eat("-");
        match self.peek() {
            Some(TokenKind::Number(_, value)) => {
                self.at += 1;
                Ok(if negative { -value } else { value })
            }
            _ => Err(self.expected("a number")),
        }
    }

    pub fn unsigned(&mut self) -> Result<u64, Diagnostic> {
        let span = self.span();
        let value = self.signed_number()?;
        u64::try_from(value).map_err(|_| self.error(span, "this number is too big, or negative"))
    }

    /// An error at the next token.
    pub fn expected(&self, what: &str) -> Diagnostic {
        let found = match self.peek() {
            None => "the end of the section".to_string(),
            Some(
                TokenKind::Name(text)
                | TokenKind::Number(text, _)
                | TokenKind::Percent(text)
                | TokenKind::Sign(text),
            ) => format!("'{text}'"),
        };
        self.error(self.span(), format!("expected {what}, found {found}"))
    }

    pub fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.source.error(span, message)
    }

    /// Goes on after the next `;` outside all brackets, to find more errors.
    pub fn skip_past_semicolon(&mut self) {
        let mut depth = 0usize;
        while let Some(kind) = self.next() {
            match kind {
                TokenKind::Sign("{" | "(" | "[") => depth += 1,
                TokenKind::Sign("}" | ")" | "]") => depth = depth.saturating_sub(1),
                TokenKind::Sign(";") if depth == 0 => return,
                _ => {}
            }
        }
    }
}
