//! Lines of a file as it is, and as its line markers (`# 12 "a.c"`) have them.
//!
//! Witnesses speak of lines of the file that was given. Debug information speaks of the lines that the
//! preprocessor had before it.

use std::collections::HashMap;

/// How the lines of a file are called.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// For each line, from 1, the file that it is of, where markers say so, and its number there.
    presumed: Vec<(Option<String>, u32)>,
}

impl Lines {
    pub fn of(text: &str) -> Lines {
        let mut file = None;
        let mut next = 1;
        let mut presumed = Vec::new();
        for line in text.lines() {
            presumed.push((file.clone(), next));
            next += 1;
            if let Some((number, name)) = marker(line) {
                (file, next) = (Some(name), number);
            }
        }
        Lines { presumed }
    }

    /// What debug information calls a line; None for the file where it is the given one.
    pub fn presumed(&self, line: u32) -> (Option<&str>, u32) {
        let known = line.checked_sub(1).and_then(|line| self.presumed.get(line as usize));
        known.map_or((None, line), |(file, line)| (file.as_deref(), *line))
    }

    /// From what debug information says to the first line that is called so. Empty where there are no
    /// markers.
    pub fn physical(&self) -> HashMap<(String, u32), u32> {
        let mut physical = HashMap::new();
        for (place, (file, line)) in (1u32..).zip(&self.presumed) {
            if let Some(file) = file {
                physical.entry((file.clone(), *line)).or_insert(place);
            }
        }
        physical
    }
}

/// `# 12 "a.c" 2` and `#line 12 "a.c"`
fn marker(line: &str) -> Option<(u32, String)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(char::is_whitespace)?;
    let name = rest.trim_start().strip_prefix('"')?.split('"').next()?;
    Some((number.parse().ok()?, name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_followed() {
        let lines = Lines::of("int a;\n# 40 \"x.h\" 1\nint b;\n#line 3 \"m.c\"\nint c;\nint d;\n");
        assert_eq!(lines.presumed(1), (None, 1));
        assert_eq!(lines.presumed(3), (Some("x.h"), 40));
        assert_eq!(lines.presumed(6), (Some("m.c"), 4));
        assert_eq!(lines.presumed(99), (None, 99));
        assert_eq!(lines.physical().get(&("m.c".to_string(), 4)), Some(&6));
        assert!(Lines::of("# define X\n#pragma once\nint a;\n").physical().is_empty());
    }
}
