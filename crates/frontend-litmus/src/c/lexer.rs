//! The words of C, with their places in the litmus file.
//!
//! Bodies of litmus tests are C without a preprocessor: inside of braces comments are C's two
//! kinds (`(*x)` is an expression there, not the start of a litmus comment), and a `#` is an
//! error. Between functions, litmus comments `(* … *)` may stand as well.

use std::ops::Range;

use parallax_program::{Diagnostic, SourceFile, Span};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenKind<'a> {
    /// Keywords included.
    Name(&'a str),
    Number(Number),
    Punctuation(&'static str),
    /// Closes every list of tokens.
    End,
}

/// An integer literal and what its suffix and value say about its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    pub value: u64,
    pub unsigned: bool,
    /// `l` or `ll`, or too big for an `int`.
    pub long: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub span: Span,
}

/// Longer ones first, so that the first match is the right one.
const PUNCTUATION: &[&str] = &[
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "=", "?", ":", ";", ",", ".", "(", ")", "{", "}", "[", "]",
];

/// The tokens of a part of a file. What cannot be read is reported and left out.
pub fn tokens<'a>(
    source: &'a SourceFile,
    range: Range<usize>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Token<'a>> {
    let end = range.end.min(source.text().len());
    let text = source.text().get(..end).unwrap_or("");
    let mut lexer = Lexer { source, text, at: range.start.min(end), braces: 0, errors };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens.push(Token { kind: TokenKind::End, span: Span::new(end.saturating_sub(1), end) });
    tokens
}

struct Lexer<'a, 'e> {
    source: &'a SourceFile,
    text: &'a str,
    at: usize,
    /// How many are open.
    braces: u32,
    errors: &'e mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&mut self, start: usize, message: impl Into<String>) {
        let span = Span::new(start, self.at);
        self.errors.push(self.source.error(span, message));
    }

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            self.skip_blanks();
            let start = self.at;
            let first = self.rest().chars().next()?;
            let kind = if first.is_ascii_alphabetic() || first == '_' {
                Some(TokenKind::Name(self.word()))
            } else if first.is_ascii_digit() {
                Some(TokenKind::Number(self.number(start)))
            } else if first == '\'' {
                self.character(start).map(TokenKind::Number)
            } else {
                self.punctuation(start, first)
            };
            if let Some(kind) = kind {
                let span = Span::new(start, self.at);
                return Some(Token { kind, span });
            }
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(body) = trimmed.strip_prefix("/*") {
                self.skip_comment(body.find("*/").map(|length| length + 4));
            } else if self.braces == 0 && trimmed.starts_with("(*") {
                self.skip_comment(litmus_comment(trimmed));
            } else {
                return;
            }
        }
    }

    /// Skips a comment of that length, if it has an end.
    fn skip_comment(&mut self, length: Option<usize>) {
        let start = self.at;
        match length {
            Some(length) => self.at += length,
            None => {
                self.at += 2;
                self.error(start, "comment without end");
                self.at = self.text.len();
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let length =
            rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or("")
    }

    fn number(&mut self, start: usize) -> Number {
        let word = self.word();
        if self.rest().starts_with('.') {
            self.at += 1;
            self.word();
            self.error(start, "floating-point numbers are not supported");
        }
        let number = parse_number(word);
        if number.is_none() {
            self.error(start, format!("'{word}' is no integer of at most 64 bits"));
        }
        number.unwrap_or(Number { value: 0, unsigned: false, long: false })
    }

    fn character(&mut self, start: usize) -> Option<Number> {
        let mut chars = self.rest().char_indices().skip(1);
        let (escaped, first) = match chars.next() {
            Some((_, '\\')) => (true, chars.next()),
            other => (false, other),
        };
        let close = chars.next();
        let (Some((_, c)), Some((end, '\''))) = (first, close) else {
            self.at += 1;
            self.error(start, "character literal without end");
            return None;
        };
        self.at += end + 1;
        let value = match (escaped, c) {
            (true, '0') => 0,
            (true, 'n') => 10,
            (true, 't') => 9,
            (_, c) if c.is_ascii() => c as u64,
            _ => {
                self.error(start, "only ASCII characters are supported");
                return None;
            }
        };
        Some(Number { value, unsigned: false, long: false })
    }

    fn punctuation(&mut self, start: usize, first: char) -> Option<TokenKind<'a>> {
        let rest = self.rest();
        if let Some(found) = PUNCTUATION.iter().find(|p| rest.starts_with(**p)) {
            self.at += found.len();
            match *found {
                "{" => self.braces += 1,
                "}" => self.braces = self.braces.saturating_sub(1),
                _ => {}
            }
            return Some(TokenKind::Punctuation(found));
        }
        self.at += first.len_utf8();
        match first {
            '#' => {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                self.error(start, "preprocessor directives are not supported");
            }
            '"' => {
                let rest = self.rest();
                self.at += rest.find('"').map_or(rest.len(), |end| end + 1);
                self.error(start, "string literals are not supported");
            }
            _ => self.error(start, format!("unexpected character '{first}'")),
        }
        None
    }
}

/// The length of the comment that `text` starts with; comments nest.
fn litmus_comment(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let next = rest.find(['(', '*'])?;
        let mark = rest.get(next..)?;
        if mark.starts_with("(*") {
            depth += 1;
            at += next + 2;
        } else if mark.starts_with("*)") {
            depth -= 1;
            at += next + 2;
        } else {
            at += next + 1;
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

fn parse_number(word: &str) -> Option<Number> {
    let lower = word.to_ascii_lowercase();
    let (radix, digits) = if let Some(hex) = lower.strip_prefix("0x") {
        (16, hex)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        (2, binary)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, lower.get(1..)?)
    } else {
        (10, lower.as_str())
    };
    let suffix_start = digits.find(['u', 'l']).unwrap_or(digits.len());
    let (digits, suffix) = digits.split_at(suffix_start);
    let unsigned = match suffix {
        "" | "l" | "ll" => false,
        "u" | "ul" | "ull" | "lu" | "llu" => true,
        _ => return None,
    };
    let value = if digits.is_empty() && radix == 8 {
        0
    } else {
        u64::from_str_radix(digits, radix).ok()?
    };
    // A decimal literal without suffix is signed (C11 6.4.4.1); other radixes may become unsigned.
    let unsigned_int = unsigned || radix != 10;
    let int_limit = if unsigned_int { u64::from(u32::MAX) } else { i32::MAX as u64 };
    let long = suffix.contains('l') || value > int_limit;
    let signed_limit = if long { i64::MAX } else { i64::from(i32::MAX) };
    Some(Number { value, unsigned: unsigned || value > signed_limit as u64, long })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<String>, Vec<String>) {
        let source = SourceFile::new("t", text);
        let mut errors = Vec::new();
        let tokens = tokens(&source, 0..text.len(), &mut errors);
        let words = tokens.iter().map(|token| match &token.kind {
            TokenKind::Name(name) => name.to_string(),
            TokenKind::Number(number) => number.value.to_string(),
            TokenKind::Punctuation(p) => p.to_string(),
            TokenKind::End => "end".to_string(),
        });
        let errors = errors.into_iter().map(|error| error.message);
        (words.collect(), errors.collect())
    }

    #[test]
    fn words_numbers_and_the_longest_punctuation() {
        let (words, errors) = lex("*x1 <<= 0x10u+a->b /* no */ - 017; // end\n'a' ");
        let expected = "* x1 <<= 16 + a -> b - 15 ; 97 end";
        assert_eq!(words, expected.split(' ').collect::<Vec<_>>());
        assert!(errors.is_empty());
    }

    #[test]
    fn litmus_comments_between_functions() {
        let (words, errors) = lex("(* a (* b *) *) P0(x) { (*x); } (* c *)");
        let expected = "P0 ( x ) { ( * x ) ; } end";
        assert_eq!(words, expected.split(' ').collect::<Vec<_>>());
        assert!(errors.is_empty());
    }

    #[test]
    fn literals_have_the_type_that_c_gives_them() {
        let of = |word| {
            let number = parse_number(word).expect("a number");
            (number.value, number.unsigned, number.long)
        };
        assert_eq!(of("0"), (0, false, false));
        assert_eq!(of("2147483648"), (2147483648, false, true));
        assert_eq!(of("0x80000000"), (0x80000000, true, false));
        assert_eq!(of("1ULL"), (1, true, true));
        assert_eq!(of("0xffffffffffffffff"), (u64::MAX, true, true));
        assert_eq!(parse_number("12ab"), None);
        assert_eq!(parse_number("18446744073709551616"), None);
    }

    #[test]
    fn what_cannot_be_read_is_reported_and_skipped() {
        let (words, errors) = lex("#define A 1\nx @ \"s\" 1.5 'é' /* open");
        assert_eq!(words, ["x", "1", "end"]);
        assert_eq!(errors.len(), 6);
    }
}
