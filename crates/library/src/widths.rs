//! The texts of the library for the two data models.
//!
//! Texts are written for pointers of 64 bits, and so are their numbers: a width of 64 is that of
//! pointers, sizes and `long`, and an access of 8 bytes is to one of these. What has 64 bits on every
//! machine is written `W64` and `.W8`; `WORD` is the number of bytes of a pointer, and `KIND` is where
//! glibc has the kind of a mutex. Functions that differ otherwise come in a variant `[ilp32]`.

/// What the words in capitals stand for: with pointers of 64 bits and of 32 bits.
const WORDS: [(&str, &str, &str); 4] =
    [("W64", "64", "64"), ("W8", "8", "8"), ("WORD", "8", "4"), ("KIND", "16", "12")];

/// A text as it is for pointers of that width.
pub(crate) fn with_pointers_of(width: u32, text: &str) -> String {
    let is_short = width == 32;
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        // Numbers that objects hold at first, unless they are addresses.
        let is_data = (line.starts_with("global") || line.trim_start().starts_with(digit))
            && !line.contains('&');
        let ends = [line.find('"'), line.find("//")];
        match ends.into_iter().flatten().min() {
            _ if is_data => result.push_str(line),
            Some(end) if line.trim_start().starts_with("fn ") && line[end..].starts_with('"') => {
                // The name of a function, with the variant that it is for.
                let name = line[end + 1..].find('"').map_or(line.len(), |length| end + 2 + length);
                result.push_str(&line[..name]);
                adapt(&line[name..], is_short, &mut result);
            }
            Some(end) => {
                adapt(&line[..end], is_short, &mut result);
                result.push_str(&line[end..]);
            }
            None => adapt(line, is_short, &mut result),
        }
    }
    result
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Puts the numbers and words of a piece of code in their place.
fn adapt(code: &str, is_short: bool, result: &mut String) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = code;
    while let Some(start) = rest.find(is_word) {
        let before = &rest[..start];
        result.push_str(before);
        let length = rest[start..].find(|c| !is_word(c)).unwrap_or(rest.len() - start);
        let (word, after) = rest[start..].split_at(length);
        result.push_str(replacement(result, word, after, is_short));
        rest = after;
    }
    result.push_str(rest);
}

fn replacement<'w>(before: &str, word: &'w str, after: &str, is_short: bool) -> &'w str {
    if let Some((_, long, short)) = WORDS.iter().find(|(name, ..)| *name == word) {
        return if is_short { short } else { long };
    }
    let is_value = after.starts_with(':') || before.ends_with("align ");
    match word {
        "64" if is_short && !is_value => "32",
        "8" if is_short && before.ends_with('.') => "4",
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_and_accesses_become_short() {
        let text = "program p pointers 64\n// 64\nglobal g: 64\n  0: 1:64\nfn \"f [64]\"(p: 64) -> 64 {\n  \
                    x = load.8 p + WORD:64 [NA]\n  branch x <u 64:64, a, b\n  \
                    y = alloc.heap 64:64 align 64\n  unsupported \"64\"\n  \
                    z = load.W8 zext(x, W64) / 2:64 // 64\n";
        let short = "program p pointers 32\n// 64\nglobal g: 64\n  0: 1:64\nfn \"f [64]\"(p: 32) -> 32 {\n  \
                     x = load.4 p + 4:32 [NA]\n  branch x <u 64:32, a, b\n  \
                     y = alloc.heap 64:32 align 64\n  unsupported \"64\"\n  \
                     z = load.8 zext(x, 64) / 2:32 // 64\n";
        assert_eq!(with_pointers_of(32, text), short);
        let long = text.replace("WORD", "8").replace("W64", "64").replace("W8", "8");
        assert_eq!(with_pointers_of(64, text), long);
    }
}
