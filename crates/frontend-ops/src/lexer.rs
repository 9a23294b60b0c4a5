//! Words, numbers and symbols. Line ends mean nothing; comments are those of C.

use parallax_program::parsing::{self, Comment, Scanner};
use parallax_program::{Diagnostics, SourceFile};

use crate::MOST_ERRORS;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    Word(&'a str),
    Number(u32),
    Symbol(&'static str),
    End,
}

pub type Spanned<'a> = parsing::Spanned<Token<'a>>;

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
            Token::Number(number) => format!("'{number}'"),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end of the file".to_string(),
        }
    }
}

const SYMBOLS: [&str; 23] = [
    ":=", "||", "/\\", "\\/", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ";", ",", "=", "<",
    ">", "+", "-", "?", ":", "*",
];

const COMMENTS: [Comment; 2] = [Comment::Line("//"), Comment::Block("/*", "*/")];

/// All tokens of the file, the last of which is [`Token::End`].
pub fn tokens<'a>(source: &'a SourceFile, errors: &mut Diagnostics) -> Vec<Spanned<'a>> {
    let mut scanner = Scanner::new(source.text());
    let mut tokens = Vec::new();
    while errors.len() < MOST_ERRORS {
        if let Err(span) = scanner.skip_blanks(char::is_whitespace, &COMMENTS) {
            errors.push(source.error(span, "this comment has no end"));
        }
        let start = scanner.position();
        let Some(token) = next(&mut scanner) else { break };
        let span = scanner.since(start);
        match token {
            Ok(token) => tokens.push(Spanned { token, span }),
            Err(message) => errors.push(source.error(span, message)),
        }
    }
    let end = scanner.since(scanner.position());
    tokens.push(Spanned { token: Token::End, span: end });
    tokens
}

/// The next token, or what is wrong with it.
fn next<'a>(scanner: &mut Scanner<'a>) -> Option<Result<Token<'a>, String>> {
    let first = scanner.first()?;
    if first.is_ascii_digit() {
        return Some(number(scanner.take_while(|c| c.is_ascii_alphanumeric())));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let goes_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '\'');
        return Some(Ok(Token::Word(scanner.take_while(goes_on))));
    }
    Some(match scanner.take_longest(SYMBOLS) {
        Some(symbol) => Ok(Token::Symbol(symbol)),
        None => {
            scanner.take_first();
            Err(format!("unexpected character {first:?}"))
        }
    })
}

fn number(digits: &str) -> Result<Token<'_>, String> {
    match parsing::number(digits).map(u32::try_from) {
        Some(Ok(value)) => Ok(Token::Number(value)),
        Some(Err(_)) => Err(format!("{digits} does not fit into a word: values are below 2^32")),
        None => Err(format!("'{digits}' is no number below 2^32")),
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
