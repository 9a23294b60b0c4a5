//! What newer compilers write into preprocessed files and clang refuses.
//!
//! A file that went through the preprocessor of a newer gcc has the headers of its system in it, as that
//! gcc likes them: attributes with arguments that clang does not know, names of floating-point types, wide
//! integers where the target has none. Where clang refuses a file, it is tried once more with
//! these taken out or put into words that clang knows. Nothing moves to another line, and almost
//! nothing to another column.

use std::borrow::Cow;

/// Attributes that clang knows without arguments only.
const WITHOUT_ARGUMENTS: [&str; 2] = ["malloc", "__malloc__"];

/// Types that gcc knows by itself (ISO/IEC TS 18661-3), as glibc has them for other compilers. The
/// widest may be missing in clang too; it is only declared with then.
const TYPES: &str = "typedef float _Float32; typedef double _Float64; typedef double _Float32x; \
                     typedef long double _Float64x; typedef __float128 _Float128;";

/// Wide integers, for targets of 32 bits.
const WIDE: &str = "typedef _BitInt(128) __int128_t; typedef unsigned _BitInt(128) __uint128_t;";

/// The text in words that clang knows, with declarations to be put in front of it.
pub struct Translated {
    pub declarations: String,
    pub text: String,
}

/// None where there is nothing that could be put in other words.
pub fn translated(text: &str, is_short: bool) -> Option<Translated> {
    let mut translation = Translation { is_short, ..Translation::default() };
    let mut result = String::with_capacity(text.len());
    for token in (Tokens { rest: text }) {
        result.push_str(&translation.token(token));
    }
    let Translation { changes, has_types, has_wide, .. } = translation;
    if !(changes || has_types || has_wide) {
        return None;
    }
    let declared = [(has_types, TYPES), (has_wide, WIDE)];
    let declared = declared.into_iter().filter(|(is_used, _)| *is_used);
    let declarations = declared.map(|(_, text)| text).collect::<Vec<_>>().join(" ");
    Some(Translated { declarations, text: result })
}

#[derive(Default)]
struct Translation {
    is_short: bool,
    changes: bool,
    has_types: bool,
    has_wide: bool,
    /// How many parentheses are open since the word `__attribute__`, if they are not all closed.
    attribute: Option<u32>,
    /// Whether an attribute comes right before that takes no arguments.
    takes_none: bool,
    /// How many parentheses of arguments are open that are left out.
    left_out: u32,
}

impl Translation {
    fn token<'t>(&mut self, token: &'t str) -> Cow<'t, str> {
        let is_blank = token.starts_with(char::is_whitespace) || token.starts_with("/*");
        if self.left_out > 0 || (self.takes_none && token == "(") {
            return Cow::Owned(self.leave_out(token));
        }
        if is_blank {
            return Cow::Borrowed(token);
        }
        self.takes_none = self.attribute.is_some() && WITHOUT_ARGUMENTS.contains(&token);
        match (token, self.attribute) {
            ("__attribute__" | "__attribute", None) => self.attribute = Some(0),
            ("(", Some(open)) => self.attribute = Some(open + 1),
            (")", Some(open)) => self.attribute = open.checked_sub(1).filter(|open| *open > 0),
            (_, Some(0)) => self.attribute = None,
            _ => {}
        }
        match token {
            "_Float32" | "_Float64" | "_Float32x" | "_Float64x" | "_Float128" => {
                self.has_types = true;
            }
            "__int128_t" | "__uint128_t" if self.is_short => self.has_wide = true,
            "__int128" if self.is_short => {
                self.changes = true;
                return Cow::Borrowed("_BitInt(128)");
            }
            _ => {}
        }
        Cow::Borrowed(token)
    }

    /// Blanks in place of a part of the arguments.
    fn leave_out(&mut self, token: &str) -> String {
        match token {
            "(" => self.left_out += 1,
            ")" => self.left_out -= 1,
            _ => {}
        }
        self.takes_none = false;
        self.changes = true;
        token.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect()
    }
}

/// Words, literals, comments, blanks, and single other characters: together, they are the text.
struct Tokens<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Tokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let first = self.rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let while_all =
            |is_in: &dyn Fn(char) -> bool| self.rest.find(|c| !is_in(c)).unwrap_or(self.rest.len());
        let length = match first {
            '"' | '\'' => literal(self.rest, first),
            '/' if self.rest.starts_with("/*") => {
                self.rest[2..].find("*/").map_or(self.rest.len(), |end| end + 4)
            }
            '/' if self.rest.starts_with("//") => self.rest.find('\n').unwrap_or(self.rest.len()),
            c if is_word(c) => while_all(&is_word),
            c if c.is_whitespace() => while_all(&char::is_whitespace),
            c => c.len_utf8(),
        };
        let (token, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(token)
    }
}

/// The length of a literal, which ends with its line at the latest.
fn literal(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if !is_escaped => return at,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translate(text: &str) -> Option<String> {
        translated(text, true).map(|translated| translated.text)
    }

    #[test]
    fn arguments_of_attributes_become_blanks() {
        let text = "f __attribute__ ((__malloc__ (fclose,\n (1)), __cold__)) (x);";
        let expected = "f __attribute__ ((__malloc__         \n     , __cold__)) (x);";
        assert_eq!(translate(text), Some(expected.to_string()));
        let text = "f __attribute__((malloc/* */(g, 1))); malloc(2);";
        let expected = "f __attribute__((malloc/* */      )); malloc(2);";
        assert_eq!(translate(text), Some(expected.to_string()));
    }

    #[test]
    fn what_clang_knows_stays() {
        for text in [
            "p = malloc(4); __attribute__((__malloc__)) void *f(void); malloc (3);",
            "\"__attribute__((malloc(1)))\" /* __int128 */ // _Float32\n'\\'' \"\\\"__int128\" my__int128",
            "__attribute__((x(malloc))) (1)",
        ] {
            assert_eq!(translate(text), None, "{text}");
        }
    }

    #[test]
    fn types_are_declared() {
        let translated = |text| super::translated(text, false).map(|t| (t.declarations, t.text));
        let floats = "_Float32 f(_Float128);".to_string();
        assert_eq!(translated(&floats), Some((TYPES.to_string(), floats.clone())));
        assert_eq!(translated("__int128 x;"), None);
        assert_eq!(translate("unsigned __int128 x;").unwrap(), "unsigned _BitInt(128) x;");
        let wide = super::translated("__int128_t x;", true).unwrap();
        assert_eq!(wide.declarations, WIDE);
    }
}
