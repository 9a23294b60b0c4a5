//! A place in a text, and the small steps that lexers are made of.

use std::ops::Range;

use crate::Span;

/// What is left of a text, and where that is.
#[derive(Clone)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

/// How a language writes what is for people only.
#[derive(Clone, Copy, Debug)]
pub enum Comment {
    /// From the mark up to the end of the line.
    Line(&'static str),
    /// From one mark to the next of the other kind.
    Block(&'static str, &'static str),
    /// The same, where comments may be inside of comments.
    Nested(&'static str, &'static str),
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    /// A part of a text. Places are those in the whole.
    pub fn within(text: &'t str, range: Range<usize>) -> Scanner<'t> {
        let text = text.get(..range.end).unwrap_or(text);
        Scanner { text, at: range.start.min(text.len()) }
    }

    pub fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub fn first(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub fn position(&self) -> usize {
        self.at
    }

    /// From a position to here.
    pub fn since(&self, start: usize) -> Span {
        Span::new(start, self.at)
    }

    /// The next so many bytes.
    pub fn take(&mut self, length: usize) -> &'t str {
        let rest = self.rest();
        let taken = rest.get(..length).unwrap_or(rest);
        self.at += taken.len();
        taken
    }

    /// The characters from here on that belong to something.
    pub fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        self.take(rest.find(|c| !belongs(c)).unwrap_or(rest.len()))
    }

    /// The rest of the line, without its end.
    pub fn take_line(&mut self) -> &'t str {
        self.take_while(|c| c != '\n')
    }

    /// One character, whichever it is.
    pub fn take_first(&mut self) -> Option<char> {
        let first = self.first()?;
        self.at += first.len_utf8();
        Some(first)
    }

    /// The longest of these that comes next.
    pub fn take_longest(
        &mut self,
        symbols: impl IntoIterator<Item = &'static str>,
    ) -> Option<&'static str> {
        let found = symbols.into_iter().filter(|symbol| self.rest().starts_with(symbol));
        let longest = found.max_by_key(|symbol| symbol.len())?;
        self.at += longest.len();
        Some(longest)
    }

    /// Goes past blanks and comments. A comment without an end is the rest of the text; the error is
    /// where its mark stands.
    pub fn skip_blanks(
        &mut self,
        is_blank: impl Fn(char) -> bool,
        comments: &[Comment],
    ) -> Result<(), Span> {
        loop {
            self.take_while(&is_blank);
            let start = self.at;
            let Some(comment) = comments.iter().find(|it| self.rest().starts_with(it.mark()))
            else {
                return Ok(());
            };
            if !self.skip_comment(*comment) {
                self.at = self.text.len();
                return Err(Span::new(start, start + comment.mark().len()));
            }
        }
    }

    /// Whether the comment that starts here has an end.
    fn skip_comment(&mut self, comment: Comment) -> bool {
        let (open, close, nests) = match comment {
            Comment::Line(_) => {
                self.take_line();
                return true;
            }
            Comment::Block(open, close) => (open, close, false),
            Comment::Nested(open, close) => (open, close, true),
        };
        self.at += open.len();
        let mut depth = 1u32;
        while depth > 0 {
            if self.rest().starts_with(close) {
                self.at += close.len();
                depth -= 1;
            } else if nests && self.rest().starts_with(open) {
                self.at += open.len();
                depth = depth.saturating_add(1);
            } else if self.take_first().is_none() {
                return false;
            }
        }
        true
    }
}

impl Comment {
    fn mark(self) -> &'static str {
        match self {
            Comment::Line(mark) | Comment::Block(mark, _) | Comment::Nested(mark, _) => mark,
        }
    }
}

/// A number to the base of 10, or of 16, 8 or 2 after `0x`, `0o` or `0b`.
pub fn number(text: &str) -> Option<u128> {
    let lower = text.to_ascii_lowercase();
    let bases = [("0x", 16), ("0o", 8), ("0b", 2), ("", 10)];
    let (digits, base) =
        bases.iter().find_map(|(mark, base)| Some((lower.strip_prefix(mark)?, *base)))?;
    let is_number = digits.chars().all(|digit| digit.is_digit(base));
    u128::from_str_radix(digits, base).ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_symbol_is_taken() {
        let mut scanner = Scanner::new("<=>é");
        assert_eq!(scanner.take_longest(["<", "<=", "=>"]), Some("<="));
        assert_eq!(scanner.take_longest(["<", "=>"]), None);
        assert_eq!((scanner.take_first(), scanner.first()), (Some('>'), Some('é')));
        assert_eq!(scanner.since(0), Span::new(0, 3));
    }

    #[test]
    fn comments_nest_where_the_language_says_so() {
        let comments = [Comment::Line("//"), Comment::Nested("(*", "*)")];
        let mut scanner = Scanner::new(" // a (*\n (* b (* c *) *) d");
        assert_eq!(scanner.skip_blanks(char::is_whitespace, &comments), Ok(()));
        assert_eq!(scanner.rest(), "d");
        let mut open = Scanner::new("x (* (* *)");
        open.take_first();
        let error = open.skip_blanks(char::is_whitespace, &comments);
        assert_eq!((error, open.rest()), (Err(Span::new(2, 4)), ""));
        let mut flat = Scanner::new("/* /* */ */");
        assert_eq!(flat.skip_blanks(char::is_whitespace, &[Comment::Block("/*", "*/")]), Ok(()));
        assert_eq!(flat.rest(), "*/");
    }

    #[test]
    fn a_part_of_a_text_has_the_places_of_the_whole() {
        let mut scanner = Scanner::within("aé bcd", 4..6);
        assert_eq!((scanner.position(), scanner.take(9), scanner.rest()), (4, "bc", ""));
        assert_eq!(Scanner::within("abc", 7..9).rest(), "");
    }

    #[test]
    fn numbers_in_every_base() {
        assert_eq!(number("42"), Some(42));
        assert_eq!(number("0x2A"), Some(42));
        assert_eq!(number("0b101010"), Some(42));
        assert_eq!(number("0o52"), Some(42));
        for wrong in ["", "0x", "4x", "+1", "0x+1", &"9".repeat(60)] {
            assert_eq!(number(wrong), None, "{wrong}");
        }
    }
}
