//! A place in the tokens of a module, and errors at it.

use std::rc::Rc;

use parallax_program::{Diagnostic, SourceFile, Span};

use super::module::Name;
use super::token::{Kind, Token, unescape};

/// Types and constants nest at most this deep.
const MAX_DEPTH: u32 = 100;

pub type Parsed<T> = Result<T, Box<Diagnostic>>;

pub struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    depth: u32,
    source: &'a SourceFile,
    /// The block that the instruction just read goes on in, where it ends its own.
    pub goes_on: Option<Name>,
}

impl<'a> Cursor<'a> {
    pub fn new(tokens: Vec<Token<'a>>, source: &'a SourceFile) -> Cursor<'a> {
        Cursor { tokens, at: 0, depth: 0, source, goes_on: None }
    }

    pub fn peek(&self) -> Token<'a> {
        self.ahead(0)
    }

    pub fn ahead(&self, distance: usize) -> Token<'a> {
        let end = Token { kind: Kind::End, text: "", start: 0, line: 0 };
        let last = self.tokens.last().copied().unwrap_or(end);
        self.tokens.get(self.at + distance).copied().unwrap_or(last)
    }

    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub fn error<T>(&self, expected: &str) -> Parsed<T> {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_string(),
            _ => format!("'{}'", token.text),
        };
        let span = Span::new(token.start as usize, token.start as usize + token.text.len());
        Err(Box::new(self.source.error(span, format!("expected {expected}, found {found}"))))
    }

    /// Runs `parse` one level deeper.
    pub fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error(&format!("at most {MAX_DEPTH} levels of nesting"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    pub fn is(&self, sign: u8) -> bool {
        self.peek().kind == Kind::Punctuation(sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Word && token.text == word
    }

    pub fn eat(&mut self, sign: u8) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, sign: u8) -> Parsed<()> {
        match self.eat(sign) {
            true => Ok(()),
            false => self.error(&format!("'{}'", char::from(sign))),
        }
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        match self.eat_word(word) {
            true => Ok(()),
            false => self.error(&format!("'{word}'")),
        }
    }

    pub fn word(&mut self) -> Parsed<&'a str> {
        match self.peek().kind {
            Kind::Word => Ok(self.next().text),
            _ => self.error("a word"),
        }
    }

    pub fn number(&mut self) -> Parsed<u64> {
        let token = self.peek();
        match (token.kind, token.text.parse()) {
            (Kind::Integer, Ok(number)) => {
                self.at += 1;
                Ok(number)
            }
            _ => self.error("a number"),
        }
    }

    /// A name of that kind: `%x`, `@x`.
    pub fn name(&mut self, kind: Kind, expected: &str) -> Parsed<Name> {
        match self.peek().kind == kind {
            true => Ok(name_of(self.next())),
            false => self.error(expected),
        }
    }

    pub fn text(&mut self) -> Parsed<Rc<str>> {
        match self.peek().kind {
            Kind::Text => Ok(name_of(self.next())),
            _ => self.error("a quoted text"),
        }
    }

    /// Passes over what stands between brackets, if a bracket opens here.
    pub fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek().kind {
                Kind::Punctuation(b'(' | b'[' | b'{') => depth += 1,
                Kind::Punctuation(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Kind::End => return,
                _ => {}
            }
            if depth == 0 {
                self.at += usize::from(self.is(b')') || self.is(b']') || self.is(b'}'));
                return;
            }
            self.at += 1;
        }
    }

    /// Passes over the rest of a line, and of brackets that open on it.
    pub fn skip_line(&mut self, line: u32) {
        while self.peek().line == line && self.peek().kind != Kind::End {
            match self.is(b'(') || self.is(b'[') || self.is(b'{') {
                true => self.skip_brackets(),
                false => self.at += 1,
            }
        }
    }
}

pub fn name_of(token: Token<'_>) -> Name {
    String::from_utf8_lossy(&unescape(token.text)).into()
}
