//! Tokens of cat.

use parallax_program::Span;
use parallax_program::parsing::{self, Comment, Scanner};

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

pub(crate) type Spanned<'t> = parsing::Spanned<Token<'t>>;

impl parsing::Token for Token<'_> {
    const END: Self = Token::End;

    fn symbol(&self) -> Option<&str> {
        if let Token::Symbol(symbol) = self { Some(symbol) } else { None }
    }

    fn word(&self) -> Option<&str> {
        if let Token::Keyword(word) | Token::Name(word) = self { Some(word) } else { None }
    }

    fn shown(&self) -> String {
        match self {
            Token::Name(name) => format!("the name '{name}'"),
            Token::Keyword(word) => format!("'{word}'"),
            Token::Tag(tag) => format!("the tag ''{tag}'"),
            Token::Text(_) => "a string".to_string(),
            Token::Symbol(symbol) => format!("'{symbol}'"),
            Token::End => "the end of the file".to_string(),
        }
    }
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

const SYMBOLS: [&str; 25] = [
    "||", "&&", "++", "->", "-1", "(", ")", "{", "}", "[", "]", "_", "0", "|", "&", "*", "~", "+",
    "^", "\\", "?", "=", ";", ",", ":",
];

const COMMENTS: [Comment; 3] =
    [Comment::Nested("(*", "*)"), Comment::Line("//"), Comment::Line("#")];

/// All tokens of a text, the last one being [`Token::End`].
pub(crate) fn tokens(file: u32, text: &str) -> Result<Vec<Spanned<'_>>, Problem> {
    let problem = |span: Span, message: String| Problem::new(Place { file, span }, message);
    let mut scanner = Scanner::new(text);
    let mut tokens = Vec::new();
    loop {
        let skipped = scanner.skip_blanks(char::is_whitespace, &COMMENTS);
        skipped.map_err(|span| problem(span, "this comment has no end".to_string()))?;
        let start = scanner.position();
        let token =
            token(&mut scanner).map_err(|message| problem(scanner.since(start), message))?;
        tokens.push(Spanned { token, span: scanner.since(start) });
        if token == Token::End {
            return Ok(tokens);
        }
    }
}

/// The next token, or what is wrong with it.
fn token<'t>(scanner: &mut Scanner<'t>) -> Result<Token<'t>, String> {
    let Some(first) = scanner.first() else {
        return Ok(Token::End);
    };
    if let Some(length) = name_length(scanner.rest()) {
        let name = scanner.take(length);
        let is_keyword = KEYWORDS.contains(&name);
        return Ok(if is_keyword { Token::Keyword(name) } else { Token::Name(name) });
    }
    match first {
        '\'' => {
            scanner.take_first();
            let length = name_length(scanner.rest());
            let length = length.ok_or("a tag's name must follow the quote")?;
            Ok(Token::Tag(scanner.take(length)))
        }
        '"' => {
            scanner.take_first();
            let length = scanner.rest().find('"').ok_or("this string has no end")?;
            let text = scanner.take(length);
            scanner.take_first();
            Ok(Token::Text(text))
        }
        _ => match scanner.take_longest(SYMBOLS) {
            Some(symbol) => Ok(Token::Symbol(symbol)),
            None => {
                scanner.take_first();
                Err(format!("the character '{first}' has no meaning here"))
            }
        },
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
        tokens.into_iter().map(|spanned| spanned.token).collect()
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
