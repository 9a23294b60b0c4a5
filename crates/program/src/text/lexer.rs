//! Words, numbers, strings and symbols of the text form. Lines matter: the end of a line is
//! a token.

use super::{BINARY_OPS, MOST_ERRORS, continues_word, starts_word};
use crate::{Diagnostics, SourceFile, Span};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A bare word: a name, a keyword or an instruction such as `load.4`.
    Word(String),
    /// A quoted name or message.
    Quoted(String),
    Number(u128),
    Symbol(&'static str),
    /// One or more line ends.
    Newline,
    End,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanned {
    pub token: Token,
    pub span: Span,
}

/// Symbols beside the binary operators, longest first where one starts another.
const PUNCTUATION: &[&str] = &["->", "{", "}", "(", ")", "[", "]", ",", ":", "=", "~", "&", "@"];

/// All tokens of the file, the last of which is [`Token::End`].
pub fn tokens(source: &SourceFile, errors: &mut Diagnostics) -> Vec<Spanned> {
    let mut lexer = Lexer { source, rest: source.text(), errors, tokens: Vec::new() };
    while lexer.errors.len() < MOST_ERRORS {
        match lexer.rest.chars().next() {
            Some(first) => lexer.next(first),
            None => break,
        }
    }
    lexer.push(Token::Newline, 0);
    lexer.push(Token::End, 0);
    lexer.tokens
}

struct Lexer<'a> {
    source: &'a SourceFile,
    rest: &'a str,
    errors: &'a mut Diagnostics,
    tokens: Vec<Spanned>,
}

impl Lexer<'_> {
    fn next(&mut self, first: char) {
        match first {
            '\n' => self.push(Token::Newline, 1),
            '"' => self.quoted(),
            _ if first.is_whitespace() => self.skip(first.len_utf8()),
            _ if self.rest.starts_with("//") => {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            }
            _ if first.is_ascii_digit() => self.number(),
            _ if starts_word(first) => self.word(self.length_while(continues_word)),
            '%' if self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                let digits = self.rest[1..].bytes().take_while(u8::is_ascii_digit);
                self.word(1 + digits.count());
            }
            _ => self.symbol(first),
        }
    }

    fn position(&self) -> usize {
        self.source.text().len() - self.rest.len()
    }

    fn skip(&mut self, length: usize) {
        self.rest = &self.rest[length..];
    }

    fn push(&mut self, token: Token, length: usize) {
        let start = self.position();
        self.skip(length);
        let after_newline = self.tokens.last().is_none_or(|t| t.token == Token::Newline);
        if token != Token::Newline || !after_newline {
            let span = Span::new(start, start + length);
            self.tokens.push(Spanned { token, span });
        }
    }

    fn error(&mut self, length: usize, message: impl Into<String>) {
        let start = self.position();
        let span = Span::new(start, start + length);
        self.errors.push(self.source.error(span, message));
        self.skip(length);
    }

    fn length_while(&self, belongs: impl Fn(char) -> bool) -> usize {
        let end = self.rest.find(|c| !belongs(c));
        end.unwrap_or(self.rest.len())
    }

    fn word(&mut self, length: usize) {
        self.push(Token::Word(self.rest[..length].to_string()), length);
    }

    fn number(&mut self) {
        let length = self.length_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let digits = self.rest[..length].replace('_', "");
        let value = match digits.strip_prefix("0x") {
            Some(hex) => u128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        match value {
            Ok(value) => self.push(Token::Number(value), length),
            Err(_) => self.error(length, format!("'{digits}' is no number below 2^128")),
        }
    }

    fn symbol(&mut self, first: char) {
        let operators = BINARY_OPS.iter().map(|(_, text, _)| *text);
        let longest = operators
            .chain(PUNCTUATION.iter().copied())
            .filter(|text| self.starts_with_symbol(text))
            .max_by_key(|text| text.len());
        match longest {
            Some(text) => self.push(Token::Symbol(text), text.len()),
            None if matches!(first, '<' | '>' | '/' | '%') => {
                let message = format!(
                    "'{first}' needs to say whether it is signed: the operators are \
                     <u <s <=u <=s >>u >>s /u /s %u %s"
                );
                self.error(1, message);
            }
            None => self.error(first.len_utf8(), format!("unexpected character {first:?}")),
        }
    }

    /// Operators that end in a letter end there: `<u` does not start `<up`.
    fn starts_with_symbol(&self, text: &str) -> bool {
        self.rest.strip_prefix(text).is_some_and(|after| {
            !text.ends_with(char::is_alphabetic) || !after.starts_with(continues_word)
        })
    }

    fn quoted(&mut self) {
        let mut value = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return self.push(Token::Quoted(value), at + 1),
                '\n' => return self.error(at, "this string has no end on its line"),
                '\\' => match unescape(&mut chars) {
                    Some(c) => value.push(c),
                    None => {
                        let message = "unknown escape: there are \\\" \\\\ \\n \\r \\t \\u{…}";
                        return self.error(at + 1, message);
                    }
                },
                _ => value.push(c),
            }
        }
        self.error(self.rest.len(), "this string has no end");
    }
}

/// What `char::escape_debug` writes, read back.
fn unescape(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    match chars.next()?.1 {
        c @ ('"' | '\\' | '\'') => Some(c),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        'u' => {
            chars.next().filter(|(_, c)| *c == '{')?;
            let digits: String = chars.map(|(_, c)| c).take_while(|c| *c != '}').collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<Token>, Vec<String>) {
        let mut errors = Vec::new();
        let tokens = tokens(&SourceFile::new("t", text), &mut errors);
        (
            tokens.into_iter().map(|t| t.token).collect(),
            errors.into_iter().map(|e| e.message).collect(),
        )
    }

    fn word(text: &str) -> Token {
        Token::Word(text.to_string())
    }

    #[test]
    fn a_line_of_each_kind_of_token() {
        let (tokens, errors) = lex("\n\nr0 = load.4 %7 <=u 0x1f // c\n\"a\\\"\\u{e9}\"");
        assert!(errors.is_empty());
        use Token::*;
        let expected = [
            word("r0"),
            Symbol("="),
            word("load.4"),
            word("%7"),
            Symbol("<=u"),
            Number(31),
            Newline,
            Quoted("a\"é".to_string()),
            Newline,
            End,
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn bad_tokens_are_named_and_the_rest_goes_on() {
        let (tokens, errors) = lex("a < b\n\"open\n? 0xzz 1");
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert_eq!(tokens.iter().filter(|t| **t == Token::Number(1)).count(), 1);
        assert!(lex("\"\\u{110000}\"").1[0].contains("escape"));
        assert!(lex("\"\\").1[0].contains("escape"));
    }
}
