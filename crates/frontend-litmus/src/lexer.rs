//! Words and signs of the initial state and of the final condition.

use parallax_program::parsing::{self, Scanner};
use parallax_program::{Diagnostic, SourceFile, Span};

/// Names borrow from the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    Name(&'a str),
    /// A number as written, with its value.
    Number(&'a str, i128),
    /// A name with `%` before it: `%rax`.
    Percent(&'a str),
    /// One of `; : , = == <> => /\ \/ ~ & * + - [ ] ( ) { }`; `!=` is read as `<>`.
    Sign(&'static str),
    End,
}

pub type Spanned<'a> = parsing::Spanned<Token<'a>>;

impl parsing::Token for Token<'_> {
    const END: Self = Token::End;

    fn symbol(&self) -> Option<&str> {
        if let Token::Sign(sign) = self { Some(sign) } else { None }
    }

    fn word(&self) -> Option<&str> {
        if let Token::Name(name) = self { Some(name) } else { None }
    }

    fn shown(&self) -> String {
        match self {
            Token::Name(text)
            | Token::Number(text, _)
            | Token::Percent(text)
            | Token::Sign(text) => format!("'{text}'"),
            Token::End => "the end of the section".to_string(),
        }
    }
}

const SIGNS: [&str; 24] = [
    "/\\", "\\/", "&&", "||", "==", "=>", "<>", "!=", "=", ";", ":", ",", "~", "!", "&", "*", "+",
    "-", "[", "]", "(", ")", "{", "}",
];

/// One spelling for each meaning.
fn meant(sign: &'static str) -> &'static str {
    match sign {
        "&&" => "/\\",
        "||" => "\\/",
        "!=" => "<>",
        "!" => "~",
        _ => sign,
    }
}

/// The tokens of a section whose comments have been blanked out, and the end; `text` is the whole
/// file.
pub fn tokens<'a>(
    source: &SourceFile,
    text: &'a str,
    section: Span,
) -> Result<Vec<Spanned<'a>>, Diagnostic> {
    let mut scanner = Scanner::within(text, section.start as usize..section.end as usize);
    let mut tokens: Vec<Spanned<'a>> = Vec::new();
    loop {
        scanner.take_while(char::is_whitespace);
        let start = scanner.position();
        let Some(first) = scanner.first() else { break };
        let Some(token) = token(&mut scanner, first) else {
            let span = Span::new(start, start + first.len_utf8());
            return Err(source.error(span, format!("unexpected character '{first}'")));
        };
        tokens.push(Spanned { token, span: scanner.since(start) });
    }
    let end = tokens.last().map_or(section.start, |last| last.span.end);
    tokens.push(Spanned { token: Token::End, span: Span { start: end, end } });
    Ok(tokens)
}

/// The next token, unless nothing starts so.
fn token<'a>(scanner: &mut Scanner<'a>, first: char) -> Option<Token<'a>> {
    if first.is_ascii_digit() {
        let spelling = scanner.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
        return Some(Token::Number(spelling, parse_number(spelling)?));
    }
    if is_name_start(first) {
        return Some(Token::Name(scanner.take(name_length(scanner.rest()))));
    }
    if first == '%' {
        let length = 1 + name_length(scanner.rest().get(1..)?);
        let name = Some(scanner.take(length)).filter(|name| name.len() > 1);
        return name.map(Token::Percent);
    }
    if first == '\'' {
        let spelling = scanner.take(3);
        return match spelling.as_bytes() {
            [_, letter, b'\''] => Some(Token::Number(spelling, i128::from(*letter))),
            _ => None,
        };
    }
    scanner.take_longest(SIGNS).map(|sign| Token::Sign(meant(sign)))
}

/// The value of a decimal, hexadecimal, octal (`0o17`) or binary number, with C's suffixes.
pub fn parse_number(spelling: &str) -> Option<i128> {
    let digits = spelling.trim_end_matches(['u', 'U', 'l', 'L']);
    i128::try_from(parsing::number(digits)?).ok()
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '.' | '$')
}

/// Length of the name at the start of `text`. Slashes, dots and dashes belong to names, but
/// `x/\…` is a name and a conjunction.
fn name_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let next = bytes.get(length + 1);
        let inside = match byte {
            b'/' => next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'_'),
            b'-' => next.is_some_and(u8::is_ascii_alphanumeric),
            byte => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'),
        };
        if !inside {
            break;
        }
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<Token<'_>> {
        let source = SourceFile::new("t", text);
        let tokens = tokens(&source, text, Span::new(0, text.len())).expect("tokens");
        tokens.into_iter().map(|spanned| spanned.token).collect()
    }

    #[test]
    fn names_numbers_and_signs() {
        use Token::*;
        assert_eq!(
            lex("0:EAX=-0x1f /\\x<>y/\\ %rax!='a'"),
            vec![
                Number("0", 0),
                Sign(":"),
                Name("EAX"),
                Sign("="),
                Sign("-"),
                Number("0x1f", 31),
                Sign("/\\"),
                Name("x"),
                Sign("<>"),
                Name("y"),
                Sign("/\\"),
                Percent("%rax"),
                Sign("<>"),
                Number("'a'", 97),
                End,
            ]
        );
    }

    #[test]
    fn numbers_in_every_base() {
        assert_eq!(parse_number("42"), Some(42));
        assert_eq!(parse_number("42UL"), Some(42));
        assert_eq!(parse_number("4x"), None);
        assert_eq!(parse_number(&"9".repeat(60)), None);
    }
}
