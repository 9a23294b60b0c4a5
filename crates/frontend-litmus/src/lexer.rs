//! Words and signs of the initial state and of the final condition.

use parallax_program::{Diagnostic, SourceFile, Span};

/// A token's meaning; names borrow from the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind<'a> {
    Name(&'a str),
    /// A number as written, with its value.
    Number(&'a str, i128),
    /// A name with `%` before it: `%rax`.
    Percent(&'a str),
    /// One of `; : , = == <> => /\ \/ ~ & * + - [ ] ( ) { }`; `!=` is read as `<>`.
    Sign(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub span: Span,
}

/// Longest first, so that `==` is not read as two signs.
const SIGNS: &[(&str, &str)] = &[
    ("/\\", "/\\"),
    ("\\/", "\\/"),
    ("&&", "/\\"),
    ("||", "\\/"),
    ("==", "=="),
    ("=>", "=>"),
    ("<>", "<>"),
    ("!=", "<>"),
    ("=", "="),
    (";", ";"),
    (":", ":"),
    (",", ","),
    ("~", "~"),
    ("!", "~"),
    ("&", "&"),
    ("*", "*"),
    ("+", "+"),
    ("-", "-"),
    ("[", "["),
    ("]", "]"),
    ("(", "("),
    (")", ")"),
    ("{", "{"),
    ("}", "}"),
];

/// The tokens of a section whose comments have been blanked out; `text` is the whole file.
pub fn tokens<'a>(
    source: &SourceFile,
    text: &'a str,
    section: Span,
) -> Result<Vec<Token<'a>>, Diagnostic> {
    let end = (section.end as usize).min(text.len());
    let mut at = section.start as usize;
    let mut tokens = Vec::new();
    while let Some(rest) = text.get(at..end) {
        let Some(first) = rest.chars().next() else {
            break;
        };
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let Some((kind, length)) = token(rest) else {
            let span = Span::new(at, at + first.len_utf8());
            return Err(source.error(span, format!("unexpected character '{first}'")));
        };
        tokens.push(Token { kind, span: Span::new(at, at + length) });
        at += length;
    }
    Ok(tokens)
}

/// The token at the start of `rest`, with its length in bytes.
fn token(rest: &str) -> Option<(TokenKind<'_>, usize)> {
    let first = rest.chars().next()?;
    if first.is_ascii_digit() {
        return number(rest);
    }
    if is_name_start(first) {
        let length = name_length(rest);
        return Some((TokenKind::Name(rest.get(..length)?), length));
    }
    if first == '%' {
        let length = 1 + name_length(rest.get(1..)?);
        let name = rest.get(..length).filter(|name| name.len() > 1)?;
        return Some((TokenKind::Percent(name), length));
    }
    if first == '\'' {
        let mut characters = rest.chars().skip(1);
        let letter = characters.next().filter(char::is_ascii)?;
        let spelling = rest.get(..3)?;
        return (characters.next() == Some('\''))
            .then_some((TokenKind::Number(spelling, letter as i128), 3));
    }
    let (spelling, sign) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign))?;
    Some((TokenKind::Sign(sign), spelling.len()))
}

fn number(rest: &str) -> Option<(TokenKind<'_>, usize)> {
    let word = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let spelling = rest.get(..word)?;
    let value = parse_number(spelling)?;
    Some((TokenKind::Number(spelling, value), word))
}

/// The value of a decimal, hexadecimal, octal (`0o17`) or binary number, with C's suffixes.
pub fn parse_number(spelling: &str) -> Option<i128> {
    let digits = spelling.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u128::from_str_radix(hex, 16)
    } else if let Some(binary) = lower.strip_prefix("0b") {
        u128::from_str_radix(binary, 2)
    } else if let Some(octal) = lower.strip_prefix("0o") {
        u128::from_str_radix(octal, 8)
    } else {
        lower.parse()
    };
    i128::try_from(value.ok()?).ok()
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

    fn kinds(text: &str) -> Vec<TokenKind<'_>> {
        let source = SourceFile::new("t", text);
        let tokens = tokens(&source, text, Span::new(0, text.len())).expect("tokens");
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn names_numbers_and_signs() {
        use TokenKind::*;
        assert_eq!(
            kinds("0:EAX=-0x1f /\\x<>y/\\ %rax!='a'"),
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
            ]
        );
    }

    #[test]
    fn numbers_in_every_base() {
        assert_eq!(parse_number("42"), Some(42));
        assert_eq!(parse_number("0x2A"), Some(42));
        assert_eq!(parse_number("0b101010"), Some(42));
        assert_eq!(parse_number("42UL"), Some(42));
        assert_eq!(parse_number("4x"), None);
        assert_eq!(parse_number(&"9".repeat(60)), None);
    }
}
