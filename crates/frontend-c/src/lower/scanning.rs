//! Formatted input (C17, 7.21.6.2): what `scanf` and its relatives store for a constant format. Input
//! may be anything, so each item is any value of its type, and as many are stored as the input is good
//! for.

use parallax_program::Expr;

use super::body::Body;
use super::layout::Lowered;
use crate::llvm::{Call, Name};

/// Which argument is the format of a function that reads a file.
fn position(name: &str) -> Option<usize> {
    match name {
        "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => Some(0),
        "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" => Some(1),
        _ => None,
    }
}

impl Body<'_> {
    /// A call of a function that reads by a format, if it is one.
    pub fn input(&mut self, name: &str, call: &Call, result: Option<&Name>) -> Option<Lowered<()>> {
        let position = position(name)?;
        Some(self.scan_items(name, position, call, result))
    }

    fn scan_items(
        &mut self,
        name: &str,
        position: usize,
        call: &Call,
        result: Option<&Name>,
    ) -> Lowered<()> {
        let format = call.args.get(position);
        let text = format.and_then(|arg| self.constant_text(&arg.value.value));
        let text =
            text.ok_or_else(|| format!("what '{name}' stores by a format that is not constant"))?;
        let sizes = sizes(&text, self.pointer_width() / 8)
            .map_err(|what| format!("what '{name}' stores for '{what}'"))?;
        let places = call.args.get(position + 1..).unwrap_or_default();
        if places.len() < sizes.len() {
            return Err(format!("a call of '{name}' with too few arguments"));
        }
        let number = |number: usize| Expr::constant(32, number as u128);
        let count = self.builder.temp(32);
        self.call_external("scan.count", Some(count), vec![number(sizes.len())]);
        for (index, (bytes, place)) in sizes.iter().zip(places).enumerate() {
            let item = match bytes {
                1 => "scan.byte",
                2 => "scan.half",
                4 => "scan.single",
                _ => "scan.double",
            };
            let address = self.address(&place.value.value)?;
            self.call_external(item, None, vec![address, number(index), Expr::Var(count)]);
        }
        if let Some(result) = result {
            self.define(result, vec![Expr::Var(count)]);
        }
        Ok(())
    }
}

/// How many bytes each item of a format stores, where a `long` has so many; or an item of which that
/// is not known.
fn sizes(format: &[u8], long: u32) -> Result<Vec<u32>, String> {
    let mut sizes = Vec::new();
    let mut rest = format;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            continue;
        }
        if let Some(after) = rest.strip_prefix(b"%") {
            rest = after;
            continue;
        }
        let is_last =
            |byte: &u8| *byte == b'[' || byte.is_ascii_alphabetic() && !b"hlqjztLm".contains(byte);
        let length = rest.iter().position(is_last).map_or(rest.len(), |last| last + 1);
        let (item, after) = rest.split_at(length);
        rest = after;
        let text = String::from_utf8_lossy(item);
        let size = size(&text, long).ok_or_else(|| format!("%{text}"))?;
        if !text.starts_with('*') {
            sizes.push(size);
        }
    }
    Ok(sizes)
}

/// What follows a `%`: `*`, a width, a length, and the letter.
fn size(item: &str, long: u32) -> Option<u32> {
    let item = item.strip_prefix('*').unwrap_or(item);
    let plain = item.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_width = plain.len() < item.len();
    let letter = plain.chars().last()?;
    let modifier = &plain[..plain.len() - letter.len_utf8()];
    match (letter, modifier) {
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X', "") => Some(4),
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X', "h") => Some(2),
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X', "hh") => Some(1),
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X', "l" | "z" | "t") => Some(long),
        ('d' | 'i' | 'u' | 'o' | 'x' | 'X', "ll" | "q" | "j") => Some(8),
        ('f' | 'e' | 'g' | 'a' | 'F' | 'E' | 'G', "") => Some(4),
        ('f' | 'e' | 'g' | 'a' | 'F' | 'E' | 'G', "l") => Some(8),
        ('p', "") => Some(long),
        ('c', "") if !has_width => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_sizes() {
        assert_eq!(sizes(b"%d %hu%% x%*5d%lf,%3ld%c", 8), Ok(vec![4, 2, 8, 8, 1]));
        assert_eq!(sizes(b"%ld%lld", 4), Ok(vec![4, 8]));
        assert_eq!(sizes(b"", 8), Ok(vec![]));
        for other in ["%s", "%10s", "%[abc]", "%n", "%Lf", "%5c", "%ms", "%"] {
            assert!(sizes(other.as_bytes(), 8).is_err(), "{other}");
        }
    }
}
