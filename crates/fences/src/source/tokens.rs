//! The words of a C file, as far as they are needed to say where statements start and end.
//!
//! Comments, directives of the preprocessor and what is in quotes are no words. Macros are not
//! expanded: a person who reads the file, and gets a patch for it, sees the text before that.

use std::ops::Range;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'t> {
    pub text: &'t str,
    pub start: usize,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The words in a part of a text.
pub fn tokens(text: &str, range: Range<usize>) -> Vec<Token<'_>> {
    let mut scanner = Scanner { text, at: range.start, end: range.end.min(text.len()) };
    let mut tokens = Vec::new();
    let mut is_line_start = true;
    while let Some(byte) = scanner.peek(0) {
        match byte {
            b'\n' => {
                is_line_start = true;
                scanner.at += 1;
            }
            _ if byte.is_ascii_whitespace() => scanner.at += 1,
            b'\\' => scanner.at += 1,
            b'/' if matches!(scanner.peek(1), Some(b'/' | b'*')) => scanner.comment(),
            b'#' if is_line_start => scanner.directive(),
            b'"' | b'\'' => {
                scanner.quoted(byte);
                is_line_start = false;
            }
            _ => {
                tokens.extend(scanner.word());
                is_line_start = false;
            }
        }
    }
    tokens
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    end: usize,
}

impl<'t> Scanner<'t> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    /// Goes on behind a text, or to the end.
    fn skip_past(&mut self, end: &str) {
        let rest = self.text.get(self.at..self.end).unwrap_or("");
        self.at = rest.find(end).map_or(self.end, |found| self.at + found + end.len());
    }

    fn comment(&mut self) {
        let is_block = self.peek(1) == Some(b'*');
        self.at += 2;
        match is_block {
            true => self.skip_past("*/"),
            false => {
                self.skip_past("\n");
                self.at -= usize::from(self.at > 0 && self.text.as_bytes()[self.at - 1] == b'\n');
            }
        }
    }

    /// A directive goes on where its line ends in a backslash.
    fn directive(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                b'\\' => {
                    self.at += 1 + usize::from(self.peek(1) == Some(b'\r'));
                    self.at += usize::from(self.peek(0) == Some(b'\n'));
                }
                b'/' if matches!(self.peek(1), Some(b'/' | b'*')) => self.comment(),
                _ => self.at += 1,
            }
        }
    }

    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            self.at += 1 + usize::from(byte == b'\\');
            if byte == quote || byte == b'\n' {
                return;
            }
        }
        self.at = self.at.min(self.end);
    }

    fn word(&mut self) -> Option<Token<'t>> {
        let start = self.at;
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        self.at += 1;
        if self.text.as_bytes().get(start).copied().is_some_and(is_letter) {
            while self.peek(0).is_some_and(is_letter) {
                self.at += 1;
            }
        }
        self.text.get(start..self.at).map(|text| Token { text, start })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text, 0..text.len()).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_quotes_and_directives_are_no_words() {
        let text = "#define A(x) \\\n  { x; }\nint a; // b;\n/* c; */ f(\"d;\\\"\", ';');\r\n# if 0 /* \n */ e\ng";
        assert_eq!(words(text), ["int", "a", ";", "f", "(", ",", ")", ";", "g"]);
    }

    #[test]
    fn unfinished_text_ends() {
        for text in ["/*", "//", "\"abc", "'", "'\\", "#", "# \\", "\\"] {
            assert_eq!(words(text), Vec::<&str>::new(), "{text}");
        }
        assert_eq!(words("é x"), ["é", "x"]);
    }
}
