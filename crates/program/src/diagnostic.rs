//! Places in source files, and errors that name them.

use std::fmt;
use std::sync::Arc;

/// A half-open range of bytes in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A text with a name, and the line starts needed to turn a [`Span`] into a place.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    line_starts: Arc<[u32]>,
}

impl SourceFile {
    /// Lines longer than this are not shown: nobody finds a place in them by looking.
    const LONGEST_EXCERPT: usize = 1_000;

    pub fn new(name: &str, text: &str) -> SourceFile {
        let starts = std::iter::once(0).chain(
            text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1),
        );
        SourceFile { name: name.into(), text: text.into(), line_starts: starts.collect() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1) - 1;
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count());
        (line as u32 + 1, column as u32 + 1)
    }

    pub fn location(&self, span: Span) -> Location {
        let (line, column) = self.position(span.start);
        Location { file: self.name.clone(), line, column }
    }

    /// The text of a line (from 1), without its end.
    pub fn line(&self, line: u32) -> &str {
        let start = self.line_starts.get(line.saturating_sub(1) as usize);
        let rest = start.and_then(|start| self.text.get(*start as usize..));
        rest.and_then(|rest| rest.lines().next()).unwrap_or("")
    }

    pub fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let location = self.location(span);
        let text = self.line(location.line);
        let room = text.chars().count() as u32 + 1;
        let width = (span.end - span.start).max(1).min(room.saturating_sub(location.column).max(1));
        Diagnostic {
            location: Some(location),
            message: message.into(),
            help: None,
            excerpt: (text.len() <= Self::LONGEST_EXCERPT).then(|| (text.to_string(), width)),
        }
    }
}

/// A place for a person: file, line and column, both from 1.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Location {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong with an input, where, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub location: Option<Location>,
    pub message: String,
    pub help: Option<String>,
    /// The source line and how many characters to underline from the column on.
    pub excerpt: Option<(String, u32)>,
}

/// All that is wrong with an input, in source order.
pub type Diagnostics = Vec<Diagnostic>;

impl Diagnostic {
    /// An error that concerns no place in particular.
    pub fn new(message: impl Into<String>) -> Diagnostic {
        Diagnostic { location: None, message: message.into(), help: None, excerpt: None }
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{location}: ")?;
        }
        write!(f, "error: {}", self.message)?;
        if let (Some(location), Some((line, width))) = (&self.location, &self.excerpt) {
            let number = location.line.to_string();
            let margin = " ".repeat(number.len());
            let indent: String = line
                .chars()
                .take(location.column as usize - 1)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let underline = "^".repeat(*width as usize);
            write!(f, "\n{margin} |\n{number} | {line}\n{margin} | {indent}{underline}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_one_and_in_characters() {
        let file = SourceFile::new("t", "ab\nçd!\n");
        assert_eq!(file.position(0), (1, 1));
        assert_eq!(file.position(3), (2, 1));
        assert_eq!(file.position(5), (2, 2));
        assert_eq!(file.position(999), (3, 1));
    }

    #[test]
    fn an_error_shows_its_line() {
        let file = SourceFile::new("a.litmus", "X86 t\n bad op\n");
        let error = file.error(Span::new(7, 10), "unknown instruction 'bad'");
        assert_eq!(
            error.to_string(),
            "a.litmus:2:2: error: unknown instruction 'bad'\n  |\n2 |  bad op\n  |  ^^^"
        );
    }
}
