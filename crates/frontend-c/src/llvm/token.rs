//! The words of LLVM's textual form (LLVM Language Reference, "Identifiers", "Syntax").

use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `%name`, `%7`
    Local,
    /// `@name`
    Global,
    /// `$name`
    Comdat,
    /// `!7`
    MetadataId,
    /// `!dbg`, `!DILocation`
    MetadataName,
    /// `#7`
    AttributeGroup,
    /// `#dbg_value`
    DebugRecord,
    /// `name:`, of a block or of a field of metadata
    Label,
    Word,
    Integer,
    /// Decimal or hexadecimal
    Float,
    /// `"…"`
    Text,
    /// `c"…"`
    Bytes,
    Punctuation(u8),
    Ellipsis,
    End,
}

/// A token. The text is what names it: without `%`, `@`, `!`, quotes and colon.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub start: u32,
    pub line: u32,
}

/// Cuts a text into tokens; a character that starts none is punctuation.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut lexer = Lexer { text, at: 0, line: 1 };
    let mut tokens = Vec::with_capacity(text.len() / 4);
    loop {
        let token = lexer.next();
        tokens.push(token);
        if token.kind == Kind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token<'a> {
        self.skip_blanks();
        let (start, line) = (self.at, self.line);
        let (kind, text) = self.scan();
        Token { kind, text, start: start as u32, line }
    }

    fn skip_blanks(&mut self) {
        while self.at < self.text.len() {
            match self.peek(0) {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b';' => {
                    while self.at + 1 < self.text.len() && self.peek(1) != b'\n' {
                        self.at += 1;
                    }
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    fn scan(&mut self) -> (Kind, &'a str) {
        if self.at >= self.text.len() {
            return (Kind::End, "");
        }
        match self.peek(0) {
            b'%' if self.name_follows() => self.named(Kind::Local),
            b'@' if self.name_follows() => self.named(Kind::Global),
            b'$' if self.name_follows() => self.named(Kind::Comdat),
            b'!' if self.peek(1).is_ascii_digit() => self.sigil(Kind::MetadataId),
            b'!' if in_word(self.peek(1)) || self.peek(1) == b'\\' => {
                self.sigil(Kind::MetadataName)
            }
            b'#' if self.peek(1).is_ascii_digit() => self.sigil(Kind::AttributeGroup),
            b'#' if in_word(self.peek(1)) => self.sigil(Kind::DebugRecord),
            b'"' => {
                let text = self.quoted();
                self.label_or(Kind::Text, text)
            }
            b'c' if self.peek(1) == b'"' => {
                self.at += 1;
                (Kind::Bytes, self.quoted())
            }
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => {
                self.at += 3;
                (Kind::Ellipsis, "...")
            }
            byte if byte.is_ascii_digit()
                || (matches!(byte, b'-' | b'+') && self.peek(1).is_ascii_digit()) =>
            {
                self.number()
            }
            byte if in_word(byte) && byte != b'$' => {
                let text = self.word();
                self.label_or(Kind::Word, text)
            }
            byte => {
                let start = self.at;
                let width = self.text[start..].chars().next().map_or(1, char::len_utf8);
                self.at += width;
                (Kind::Punctuation(byte), &self.text[start..self.at])
            }
        }
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        while in_word(self.peek(0)) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// After a sign of one byte.
    fn sigil(&mut self, kind: Kind) -> (Kind, &'a str) {
        self.at += 1;
        (kind, self.word())
    }

    fn name_follows(&self) -> bool {
        self.peek(1) == b'"' || in_word(self.peek(1))
    }

    fn named(&mut self, kind: Kind) -> (Kind, &'a str) {
        self.at += 1;
        match self.peek(0) {
            b'"' => (kind, self.quoted()),
            _ => (kind, self.word()),
        }
    }

    /// What stands between quotes; they hold no quote, only `\22`.
    fn quoted(&mut self) -> &'a str {
        let start = self.at + 1;
        let end = self.text[start..].find('"').map_or(self.text.len(), |length| start + length);
        self.line += self.text[start..end].bytes().filter(|byte| *byte == b'\n').count() as u32;
        self.at = (end + 1).min(self.text.len());
        &self.text[start..end]
    }

    fn label_or(&mut self, kind: Kind, text: &'a str) -> (Kind, &'a str) {
        if self.peek(0) == b':' && self.peek(1) != b':' {
            self.at += 1;
            return (Kind::Label, text);
        }
        (kind, text)
    }

    fn number(&mut self) -> (Kind, &'a str) {
        let start = self.at;
        if matches!(self.peek(0), b'-' | b'+') {
            self.at += 1;
        }
        let hexadecimal = self.peek(0) == b'0' && self.peek(1) == b'x';
        let mut kind = if hexadecimal { Kind::Float } else { Kind::Integer };
        while in_word(self.peek(0)) || (self.peek(0) == b'+' && !hexadecimal) {
            if matches!(self.peek(0), b'.' | b'e' | b'E') {
                kind = Kind::Float;
            }
            self.at += 1;
        }
        let text = &self.text[start..self.at];
        self.label_or(kind, text)
    }
}

/// The bytes that a quoted text stands for: `\5C` is one byte, `\\` a backslash.
pub fn unescape(text: &str) -> Cow<'_, [u8]> {
    if !text.contains('\\') {
        return Cow::Borrowed(text.as_bytes());
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut rest = text.as_bytes();
    let mut result = Vec::with_capacity(text.len());
    while let [byte, after @ ..] = rest {
        rest = after;
        match after {
            [b'\\', after @ ..] if *byte == b'\\' => rest = after,
            [high, low, after @ ..] if *byte == b'\\' => {
                if let (Some(high), Some(low)) = (digit(*high), digit(*low)) {
                    rest = after;
                    result.push((high * 16 + low) as u8);
                    continue;
                }
            }
            _ => {}
        }
        result.push(*byte);
    }
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_token() {
        let kinds: Vec<(Kind, &str)> = tokens(
            "%1 = add nsw i32 -5, @\"a b\" ; comment\nfor.end: c\"a\\00\" !dbg !7 #dbg_value( #0 \
             1.5e+00 0x3FF8 ... $c !{",
        )
        .iter()
        .map(|token| (token.kind, token.text))
        .collect();
        let expected = [
            (Kind::Local, "1"),
            (Kind::Punctuation(b'='), "="),
            (Kind::Word, "add"),
            (Kind::Word, "nsw"),
            (Kind::Word, "i32"),
            (Kind::Integer, "-5"),
            (Kind::Punctuation(b','), ","),
            (Kind::Global, "a b"),
            (Kind::Label, "for.end"),
            (Kind::Bytes, "a\\00"),
            (Kind::MetadataName, "dbg"),
            (Kind::MetadataId, "7"),
            (Kind::DebugRecord, "dbg_value"),
            (Kind::Punctuation(b'('), "("),
            (Kind::AttributeGroup, "0"),
            (Kind::Float, "1.5e+00"),
            (Kind::Float, "0x3FF8"),
            (Kind::Ellipsis, "..."),
            (Kind::Comdat, "c"),
            (Kind::Punctuation(b'!'), "!"),
            (Kind::Punctuation(b'{'), "{"),
            (Kind::End, ""),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn escapes_are_bytes() {
        assert_eq!(unescape("a\\00\\5C\\\\\\x").as_ref(), b"a\0\\\\\\x");
    }
}
