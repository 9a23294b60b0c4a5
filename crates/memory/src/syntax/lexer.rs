//! Tokens of cat.

use parallax_program::Span;

use crate::place::{Place, Problem};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token<'t> {
    Name(&'t str),
    Keyword(&'t str),
    /// Without its quote.
    Tag(&'t str),
    /// Without its quotes.
    Text(&'t str),
    Symbol(&'static str),
    End,
}

const KEYWORDS: [&str; 36] = [
    "let",
    "rec",
    "and",
    "when",
    "acyclic",
    "irreflexive",
    "show",
    "unshow",
    "empty",
    "subset",
    "as",
    "fun",
    "in",
    "undefined_unless",
    "flag",
    "assert",
    "include",
    "begin",
    "end",
    "procedure",
    "call",
    "enum",
    "debug",
    "match",
    "with",
    "forall",
    "from",
    "do",
    "try",
    "if",
    "then",
    "else",
    "not",
    "yield",
    "instructions",
    "default",
];

/// Longer ones first.
const SYMBOLS: [&str; 25] = [
    "||", "&&", "++", "->", "-1", "(", ")", "{", "}", "[", "]", "_", "0", "|", "&", "*", "~", "+",
    "^", "\\", "?", "=", ";", ",", ":",
];

/// All tokens of a text with their places, the last one being [`Token::End`].
pub(crate) fn tokens(file: u32, text: &str) -> Result<Vec<(Token<'_>, Place)>, Problem> {
    let mut lexer = Lexer { file, text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let (token, place) = lexer.next()?;
        tokens.push((token, place));
        if token == Token::End {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    file: u32,
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn next(&mut self) -> Result<(Token<'t>, Place), Problem> {
        self.skip_blanks()?;
        let start = self.at;
        let token = self.token()?;
        Ok((token, self.place(start)))
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn place(&self, start: usize) -> Place {
        Place { file: self.file, span: Span::new(start, self.at) }
    }

    fn token(&mut self) -> Result<Token<'t>, Problem> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token::End);
        };
        if let Some(length) = name_length(rest) {
            let name = self.take(length);
            return Ok(if KEYWORDS.contains(&name) {
                Token::Keyword(name)
            } else {
                Token::Name(name)
            });
        }
        match first {
            '\'' => {
                self.at += 1;
                match name_length(self.rest()) {
                    Some(length) => Ok(Token::Tag(self.take(length))),
                    None => Err(self.problem(self.at - 1, "a tag's name must follow the quote")),
                }
            }
            '"' => self.text_token(),
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.at += symbol.len();
                    Ok(Token::Symbol(symbol))
                }
                None => {
                    self.at += first.len_utf8();
                    let message = format!("the character '{}' has no meaning here", first);
                    Err(self.problem(self.at - first.len_utf8(), message))
                }
            },
        }
    }

    fn text_token(&mut self) -> Result<Token<'t>, Problem> {
        let start = self.at;
        self.at += 1;
        match self.rest().find('"') {
            Some(length) => {
                let text = self.take(length);
                self.at += 1;
                Ok(Token::Text(text))
            }
            None => Err(self.problem(start, "this string has no end")),
        }
    }

    fn take(&mut self, length: usize) -> &'t str {
        let taken = self.rest().get(..length).unwrap_or("");
        self.at += length;
        taken
    }

    fn problem(&self, start: usize, message: impl Into<String>) -> Problem {
        let end = self.at.max(start + 1).min(start + 16);
        let span = Span::new(start, end);
        let file = self.file;
        Problem::new(Place { file, span }, message)
    }

    fn skip_blanks(&mut self) -> Result<(), Problem> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("(*") {
                self.skip_comment()?;
            } else if trimmed.starts_with("//") || trimmed.starts_with('#') {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else {
                return Ok(());
            }
        }
    }

    fn skip_comment(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        while let Some(pair) = bytes.get(self.at..self.at + 2) {
            match pair {
                b"(*" => depth += 1,
                b"*)" => depth -= 1,
                _ => {
                    self.at += 1;
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.problem(start, "this comment has no end"))
    }
}

/// The length of the name that the text starts with. Names may hold dots and dashes and may
/// end in a prime.
fn name_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let head = usize::from(bytes.first() == Some(&b'_'));
    if !bytes.get(head)?.is_ascii_alphabetic() {
        return None;
    }
    let inner = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let tail = bytes[head..].iter().take_while(|b| inner(b)).count();
    let prime = usize::from(bytes.get(head + tail) == Some(&b'\''));
    Some(head + tail + prime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token<'_>> {
        let tokens = tokens(0, text).expect("lexes");
        tokens.into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn names_hold_dashes_and_dots() {
        use Token::*;
        assert_eq!(
            words("po-loc^-1 dmb.sy _RMW _ x' 'rcu-lock"),
            [
                Name("po-loc"),
                Symbol("^"),
                Symbol("-1"),
                Name("dmb.sy"),
                Name("_RMW"),
                Symbol("_"),
                Name("x'"),
                Tag("rcu-lock"),
                End
            ]
        );
    }

    #[test]
    fn comments_nest() {
        use Token::*;
        assert_eq!(
            words("a (* x (* y *) z *) b // c\n# d\n\"e f\""),
            [Name("a"), Name("b"), Text("e f"), End]
        );
        assert!(tokens(0, "(* (* *)").is_err());
        assert!(tokens(0, "\"abc").is_err());
        assert!(tokens(0, "a é").is_err());
    }
}
