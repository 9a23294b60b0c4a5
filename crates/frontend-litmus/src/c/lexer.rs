//! The words of C, with their places in the litmus file.
//!
//! Bodies of litmus tests are C without a preprocessor: inside of braces comments are C's two
//! kinds (`(*x)` is an expression there, not the start of a litmus comment), and a `#` is an
//! error. Between functions, litmus comments `(* … *)` may stand as well.

use std::ops::Range;

use parallax_program::parsing::{self, Comment, Scanner};
use parallax_program::{Diagnostic, SourceFile, Span};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// Keywords included.
    Name(&'a str),
    Number(Number),
    Punctuation(&'static str),
    /// Closes every list of tokens.
    End,
}

pub type Spanned<'a> = parsing::Spanned<Token<'a>>;

impl parsing::Token for Token<'_> {
    const END: Self = Token::End;

    fn symbol(&self) -> Option<&str> {
        if let Token::Punctuation(sign) = self { Some(sign) } else { None }
    }

    fn word(&self) -> Option<&str> {
        if let Token::Name(name) = self { Some(name) } else { None }
    }

    fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("'{name}'"),
            Token::Number(number) => format!("'{}'", number.value),
            Token::Punctuation(sign) => format!("'{sign}'"),
            Token::End => "the end of the program".to_string(),
        }
    }
}

/// An integer literal and what its suffix and value say about its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    pub value: u64,
    pub unsigned: bool,
    /// `l` or `ll`, or too big for an `int`.
    pub long: bool,
}

const PUNCTUATION: [&str; 46] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!",
    "<", ">", "=", "?", ":", ";", ",", ".", "(", ")", "{", "}", "[", "]",
];

const COMMENTS: [Comment; 2] = [Comment::Line("//"), Comment::Block("/*", "*/")];

/// Those that may be between functions as well.
const OUTER_COMMENTS: [Comment; 3] =
    [Comment::Line("//"), Comment::Block("/*", "*/"), Comment::Nested("(*", "*)")];

/// The tokens of a part of a file. What cannot be read is reported and left out.
pub fn tokens<'a>(
    source: &'a SourceFile,
    range: Range<usize>,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Spanned<'a>> {
    let end = range.end.min(source.text().len());
    let scanner = Scanner::within(source.text(), range.start..end);
    let mut lexer = Lexer { source, scanner, braces: 0, errors };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next() {
        tokens.push(token);
    }
    tokens.push(Spanned { token: Token::End, span: Span::new(end.saturating_sub(1), end) });
    tokens
}

struct Lexer<'a, 'e> {
    source: &'a SourceFile,
    scanner: Scanner<'a>,
    /// How many are open.
    braces: u32,
    errors: &'e mut Vec<Diagnostic>,
}

impl<'a> Lexer<'a, '_> {
    fn error(&mut self, start: usize, message: impl Into<String>) {
        self.errors.push(self.source.error(self.scanner.since(start), message));
    }

    fn next(&mut self) -> Option<Spanned<'a>> {
        loop {
            self.skip_blanks();
            let start = self.scanner.position();
            let first = self.scanner.first()?;
            let token = if first.is_ascii_alphabetic() || first == '_' {
                Some(Token::Name(self.word()))
            } else if first.is_ascii_digit() {
                Some(Token::Number(self.number(start)))
            } else if first == '\'' {
                self.character(start).map(Token::Number)
            } else {
                self.punctuation(start, first)
            };
            if let Some(token) = token {
                return Some(Spanned { token, span: self.scanner.since(start) });
            }
        }
    }

    fn skip_blanks(&mut self) {
        let comments: &[Comment] = if self.braces == 0 { &OUTER_COMMENTS } else { &COMMENTS };
        if let Err(span) = self.scanner.skip_blanks(char::is_whitespace, comments) {
            self.errors.push(self.source.error(span, "this comment has no end"));
        }
    }

    fn word(&mut self) -> &'a str {
        self.scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    fn number(&mut self, start: usize) -> Number {
        let word = self.word();
        if self.scanner.rest().starts_with('.') {
            self.scanner.take_first();
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
        let mut chars = self.scanner.rest().char_indices().skip(1);
        let (escaped, first) = match chars.next() {
            Some((_, '\\')) => (true, chars.next()),
            other => (false, other),
        };
        let close = chars.next();
        let (Some((_, c)), Some((end, '\''))) = (first, close) else {
            self.scanner.take_first();
            self.error(start, "character literal without end");
            return None;
        };
        self.scanner.take(end + 1);
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

    fn punctuation(&mut self, start: usize, first: char) -> Option<Token<'a>> {
        if let Some(found) = self.scanner.take_longest(PUNCTUATION) {
            match found {
                "{" => self.braces += 1,
                "}" => self.braces = self.braces.saturating_sub(1),
                _ => {}
            }
            return Some(Token::Punctuation(found));
        }
        self.scanner.take_first();
        match first {
            '#' => {
                self.scanner.take_line();
                self.error(start, "preprocessor directives are not supported");
            }
            '"' => {
                self.scanner.take_while(|c| c != '"');
                self.scanner.take_first();
                self.error(start, "string literals are not supported");
            }
            _ => self.error(start, format!("unexpected character '{first}'")),
        }
        None
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
        let words = tokens.iter().map(|token| match &token.token {
            Token::Name(name) => name.to_string(),
            Token::Number(number) => number.value.to_string(),
            Token::Punctuation(p) => p.to_string(),
            Token::End => "end".to_string(),
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
