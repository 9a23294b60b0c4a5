//! Words, numbers and symbols. Line ends mean nothing; comments are those of C.

use parallax_program::{Diagnostics, SourceFile, Span};

use crate::MOST_ERRORS;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    Word(&'a str),
    Number(u32),
    Symbol(&'static str),
    End,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spanned<'a> {
    pub token: Token<'a>,
    pub span: Span,
}

/// Longest first where one starts another.
const SYMBOLS: [&str; 23] = [
    ":=", "||", "/\\", "\\/", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ";", ",", "=", "<",
    ">", "+", "-", "?", ":", "*",
];

/// All tokens of the file, the last of which is [`Token::End`].
pub fn tokens<'a>(source: &'a SourceFile, errors: &mut Diagnostics) -> Vec<Spanned<'a>> {
    let text = source.text();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if errors.len() >= MOST_ERRORS {
            break;
        }
        let skipped = blank(rest);
        if skipped > 0 {
            at += skipped;
            continue;
        }
        let (length, token) = next(rest);
        let span = Span::new(at, at + length);
        match token {
            Ok(token) => tokens.push(Spanned { token, span }),
            Err(message) => errors.push(source.error(span, message)),
        }
        at += length;
    }
    tokens.push(Spanned { token: Token::End, span: Span::new(text.len(), text.len()) });
    tokens
}

/// How much white space and comment comes first.
fn blank(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if let Some(comment) = rest.strip_prefix("/*")
        && let Some(end) = comment.find("*/")
    {
        return end + 4;
    }
    rest.len() - rest.trim_start().len()
}

/// The length of the first token, and what it is.
fn next(rest: &str) -> (usize, Result<Token<'_>, String>) {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        return (length, number(&rest[..length]));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'');
        let length = rest.find(|c| !goes_on(c)).unwrap_or(rest.len());
        return (length, Ok(Token::Word(&rest[..length])));
    }
    if rest.starts_with("/*") {
        return (rest.len(), Err("this comment has no end".to_string()));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => (symbol.len(), Ok(Token::Symbol(symbol))),
        None => (first.len_utf8(), Err(format!("unexpected character {first:?}"))),
    }
}

fn number(digits: &str) -> Result<Token<'_>, String> {
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u128::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    match value.map(u32::try_from) {
        Ok(Ok(value)) => Ok(Token::Number(value)),
        Ok(Err(_)) => Err(format!("{digits} does not fit into a word: values are below 2^32")),
        Err(_) => Err(format!("'{digits}' is no number below 2^32")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> (Vec<Token<'static>>, usize) {
        let source: &'static SourceFile = Box::leak(Box::new(SourceFile::new("t", text)));
        let mut errors = Vec::new();
        let tokens = tokens(source, &mut errors);
        (tokens.into_iter().map(|spanned| spanned.token).collect(), errors.len())
    }

    #[test]
    fn a_token_of_each_kind() {
        use Token::*;
        let (tokens, errors) = lex("/* c */ val' := 0x1f || dmb.st // x\n\\/");
        assert_eq!(errors, 0);
        let expected = [
            Word("val'"),
            Symbol(":="),
            Number(31),
            Symbol("||"),
            Word("dmb.st"),
            Symbol("\\/"),
            End,
        ];
        assert_eq!(tokens, expected);
    }

    #[test]
    fn bad_characters_are_errors_and_the_rest_goes_on() {
        let (tokens, errors) = lex("é 4294967296 9z 7 /* open");
        assert_eq!((tokens, errors), (vec![Token::Number(7), Token::End], 4));
    }
}
