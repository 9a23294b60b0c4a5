//! Words, numbers, strings and symbols of the text form. Lines matter: the end of a line is
//! a token.

use std::borrow::Cow;

use super::{BINARY_OPS, MOST_ERRORS, continues_word, starts_word};
use crate::parsing::{self, Comment, Scanner, number};
use crate::{Diagnostics, SourceFile};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'t> {
    /// A bare word: a name, a keyword or an instruction such as `load.4`.
    Word(&'t str),
    /// A name or message as it is between its quotes; [`unescaped`] is what it stands for.
    Quoted(&'t str),
    Number(u128),
    Symbol(&'static str),
    /// One or more line ends.
    Newline,
    End,
}

pub type Spanned<'t> = parsing::Spanned<Token<'t>>;

impl parsing::Token for Token<'_> {
    const END: Self = Token::End;

    fn symbol(&self) -> Option<&str> {
        if let Token::Symbol(symbol) = self { Some(symbol) } else { None }
    }

    fn word(&self) -> Option<&str> {
        if let Token::Word(word) = self { Some(word) } else { None }
    }

    fn shown(&self) -> String {
        match self {
            Token::Word(word) => format!("'{word}'"),
            Token::Quoted(_) => "a string".to_string(),
            Token::Number(number) => format!("'{number}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::Newline => "the end of the line".to_string(),
            Token::End => "the end of the file".to_string(),
        }
    }
}

/// Symbols beside the binary operators.
const PUNCTUATION: &[&str] = &["->", "{", "}", "(", ")", "[", "]", ",", ":", "=", "~", "&", "@"];

/// All tokens of the file, the last of which is [`Token::End`].
pub fn tokens<'t>(source: &'t SourceFile, errors: &mut Diagnostics) -> Vec<Spanned<'t>> {
    let scanner = Scanner::new(source.text());
    let mut lexer = Lexer { source, scanner, errors, tokens: Vec::new() };
    while lexer.errors.len() < MOST_ERRORS {
        // A comment of one line needs no end.
        let is_blank = |c: char| c.is_whitespace() && c != '\n';
        let _ = lexer.scanner.skip_blanks(is_blank, &[Comment::Line("//")]);
        match lexer.scanner.first() {
            Some(first) => lexer.next(first),
            None => break,
        }
    }
    let end = lexer.scanner.position();
    lexer.push(end, Token::Newline);
    lexer.push(end, Token::End);
    lexer.tokens
}

struct Lexer<'t, 'e> {
    source: &'t SourceFile,
    scanner: Scanner<'t>,
    errors: &'e mut Diagnostics,
    tokens: Vec<Spanned<'t>>,
}

impl<'t> Lexer<'t, '_> {
    fn next(&mut self, first: char) {
        let start = self.scanner.position();
        match first {
            '\n' => {
                self.scanner.take_first();
                self.push(start, Token::Newline);
            }
            '"' => self.quoted(start),
            _ if first.is_ascii_digit() => self.number(start),
            _ if starts_word(first) => {
                let word = self.scanner.take_while(continues_word);
                self.push(start, Token::Word(word));
            }
            '%' if self.scanner.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                let digits = self.scanner.rest()[1..].bytes().take_while(u8::is_ascii_digit);
                let word = self.scanner.take(1 + digits.count());
                self.push(start, Token::Word(word));
            }
            _ => self.symbol(start, first),
        }
    }

    /// What was taken since then is a token.
    fn push(&mut self, start: usize, token: Token<'t>) {
        let after_newline = self.tokens.last().is_none_or(|t| t.token == Token::Newline);
        if token != Token::Newline || !after_newline {
            let span = self.scanner.since(start);
            self.tokens.push(Spanned { token, span });
        }
    }

    /// What was taken since then is wrong.
    fn error(&mut self, start: usize, message: impl Into<String>) {
        self.errors.push(self.source.error(self.scanner.since(start), message));
    }

    fn number(&mut self, start: usize) {
        let text = self.scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let digits = text.replace('_', "");
        match number(&digits) {
            Some(value) => self.push(start, Token::Number(value)),
            None => self.error(start, format!("'{digits}' is no number below 2^128")),
        }
    }

    fn symbol(&mut self, start: usize, first: char) {
        let operators = BINARY_OPS.iter().map(|(_, text, _)| *text);
        let all = operators.chain(PUNCTUATION.iter().copied());
        let rest = self.scanner.rest();
        if let Some(text) = self.scanner.take_longest(all.filter(|text| ends(rest, text))) {
            return self.push(start, Token::Symbol(text));
        }
        self.scanner.take_first();
        let message = match first {
            '<' | '>' | '/' | '%' => format!(
                "'{first}' needs to say whether it is signed: the operators are \
                 <u <s <=u <=s >>u >>s /u /s %u %s"
            ),
            _ => format!("unexpected character {first:?}"),
        };
        self.error(start, message);
    }

    fn quoted(&mut self, start: usize) {
        self.scanner.take_first();
        let rest = self.scanner.rest();
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    let text = self.scanner.take(at);
                    self.scanner.take_first();
                    return self.push(start, Token::Quoted(text));
                }
                '\n' => {
                    self.scanner.take(at);
                    return self.error(start, "this string has no end on its line");
                }
                '\\' if escaped(&mut chars).is_none() => {
                    self.scanner.take(at + 1);
                    let message = "unknown escape: there are \\\" \\\\ \\n \\r \\t \\u{…}";
                    return self.error(start, message);
                }
                _ => {}
            }
        }
        self.scanner.take(rest.len());
        self.error(start, "this string has no end");
    }
}

/// Whether an operator that ends in a letter ends there: `<u` does not start `<up`.
fn ends(rest: &str, operator: &str) -> bool {
    rest.strip_prefix(operator).is_some_and(|after| {
        !operator.ends_with(char::is_alphabetic) || !after.starts_with(continues_word)
    })
}

/// What a quoted text stands for.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut chars = text.char_indices();
    let mut value = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            '\\' => value.extend(escaped(&mut chars)),
            _ => value.push(c),
        }
    }
    Cow::Owned(value)
}

/// What `char::escape_debug` writes after a backslash, read back.
fn escaped(chars: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
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

    fn lex(text: &str) -> (Vec<Token<'static>>, Vec<String>) {
        let source: &'static SourceFile = Box::leak(Box::new(SourceFile::new("t", text)));
        let mut errors = Vec::new();
        let tokens = tokens(source, &mut errors);
        (
            tokens.into_iter().map(|t| t.token).collect(),
            errors.into_iter().map(|e| e.message).collect(),
        )
    }

    #[test]
    fn a_line_of_each_kind_of_token() {
        let (tokens, errors) = lex("\n\nr0 = load.4 %7 <=u 0x1f // c\n\"a\\\"\\u{e9}\"");
        assert!(errors.is_empty());
        use Token::*;
        let expected = [
            Word("r0"),
            Symbol("="),
            Word("load.4"),
            Word("%7"),
            Symbol("<=u"),
            Number(31),
            Newline,
            Quoted("a\\\"\\u{e9}"),
            Newline,
            End,
        ];
        assert_eq!(tokens, expected);
        assert_eq!(unescaped("a\\\"\\u{e9}"), "a\"é");
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
