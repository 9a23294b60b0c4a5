//! Text as a person should see it. Names, source lines and messages come from inputs, and a terminal
//! obeys what it is shown: escape sequences move the cursor, change what was printed before, or set
//! the clipboard; characters that change the direction of writing make a line read as another one
//! (Boucher and Anderson, "Trojan Source", USENIX Security 2023). Such characters are spelled out.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is obeyed rather than shown: all that control, the ends of lines and
/// tabulators among them, and those that change the direction of writing.
pub fn is_obeyed(c: char) -> bool {
    let directs = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || directs
}

/// Several lines, with what is obeyed spelled out: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| is_obeyed(c) && !matches!(c, '\n' | '\t'))
}

/// One line: its text cannot end it.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    spelled_out(text, |c| is_obeyed(c) && c != '\t')
}

fn spelled_out(text: &str, is_wrong: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_wrong) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ = match is_wrong(c) {
            true => write!(shown, "{}", c.escape_unicode()),
            false => write!(shown, "{c}"),
        };
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_terminals_obey_is_spelled_out() {
        assert_eq!(visible("a\x1b[2Jb\u{9b}c\rd\u{7f}"), "a\\u{1b}[2Jb\\u{9b}c\\u{d}d\\u{7f}");
        assert_eq!(visible("x\u{202e}y\u{2066}z"), "x\\u{202e}y\\u{2066}z");
        assert_eq!(visible("é → \\u{1b}\n\tσ"), "é → \\u{1b}\n\tσ");
        assert_eq!(visible_line("a\nsafe"), "a\\u{a}safe");
    }
}
