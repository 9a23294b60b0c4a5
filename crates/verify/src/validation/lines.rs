//! Lines of a file as it is, and as its line markers (`# 12 "a.c"`) have them.
//!
//! Witnesses speak of lines of the file that was given. Debug information speaks of the lines that the
//! preprocessor had before it.

/// Lines in a row that belong together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The file that they are of, where a marker says so.
    pub file: Option<String>,
    /// What the first of them is called there.
    pub named: u32,
    /// Where it is, from 1.
    pub line: u32,
    pub count: u32,
}

/// How the lines of a file are called.
#[derive(Clone, Debug, Default)]
pub struct Lines(pub Vec<Stretch>);

impl Lines {
    pub fn of(text: &str) -> Lines {
        let mut stretches = vec![Stretch { file: None, named: 1, line: 1, count: 0 }];
        for (number, line) in (2u32..).zip(text.lines()) {
            if let Some(last) = stretches.last_mut() {
                last.count += 1;
            }
            if let Some((named, name)) = marker(line) {
                stretches.push(Stretch { file: Some(name), named, line: number, count: 0 });
            }
        }
        Lines(stretches)
    }

    /// What debug information calls a line; None for the file where it is the given one.
    pub fn presumed(&self, line: u32) -> (Option<&str>, u32) {
        let after = self.0.partition_point(|stretch| stretch.line <= line);
        let known = after.checked_sub(1).and_then(|before| self.0.get(before));
        let known = known.filter(|stretch| line - stretch.line < stretch.count);
        known.map_or((None, line), |stretch| {
            (stretch.file.as_deref(), stretch.named.saturating_add(line - stretch.line))
        })
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
        assert_eq!(lines.presumed(0), (None, 0));
        assert_eq!(Lines::of("# define X\n#pragma once\nint a;\n").0.len(), 1);
    }
}
