//! Places in source files, and errors that name them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::help::{Help, Voice};
use crate::visible::{visible, visible_line};

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

/// A text with a name, and the line starts needed to turn a [`Span`] into a place. It may be put
/// together from several files; spans then point into the whole, and places name the file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    text: Arc<str>,
    line_starts: Arc<[u32]>,
    /// At least one.
    files: Arc<[FilePart]>,
    /// Where lines of a listing come from, by their numbers in the whole.
    origins: Arc<BTreeMap<u32, (Arc<str>, u32)>>,
}

/// A file within the whole text.
#[derive(Clone, Debug)]
struct FilePart {
    name: Arc<str>,
    /// Number of its first line in the whole, from 0.
    first_line: u32,
}

impl SourceFile {
    /// Lines longer than this are not shown: nobody finds a place in them by looking.
    const LONGEST_EXCERPT: usize = 1_000;

    pub fn new(name: &str, text: &str) -> SourceFile {
        SourceFile::several([(name, text)])
    }

    /// Several files, by name and text.
    pub fn several<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> SourceFile {
        let mut whole = String::new();
        let mut parts: Vec<FilePart> = Vec::new();
        let mut line_starts: Vec<u32> = vec![0];
        for (name, text) in files {
            if !parts.is_empty() {
                whole.push('\n');
                line_starts.push(whole.len() as u32);
            }
            parts.push(FilePart { name: name.into(), first_line: line_starts.len() as u32 - 1 });
            let start = whole.len();
            let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            line_starts.extend(ends.map(|(at, _)| (start + at + 1) as u32));
            whole.push_str(text);
        }
        if parts.is_empty() {
            parts.push(FilePart { name: "".into(), first_line: 0 });
        }
        SourceFile {
            text: whole.into(),
            line_starts: line_starts.into(),
            files: parts.into(),
            origins: Arc::default(),
        }
    }

    /// The same files, and others after them.
    pub fn and<'a>(&'a self, more: impl IntoIterator<Item = (&'a str, &'a str)>) -> SourceFile {
        let whole = SourceFile::several(self.files().chain(more));
        SourceFile { origins: self.origins.clone(), ..whole }
    }

    /// A listing, in which these spans come from lines of other files.
    pub fn with_origins<'a>(
        self,
        origins: impl IntoIterator<Item = (Span, &'a str, u32)>,
    ) -> SourceFile {
        let origins = origins.into_iter();
        let origins = origins
            .map(|(span, file, line)| (self.line_of(span.start) as u32, (file.into(), line)));
        SourceFile { origins: Arc::new(origins.collect()), ..self }
    }

    /// The name of the first file.
    pub fn name(&self) -> &str {
        &self.files[0].name
    }

    /// Names and texts of the files, in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let end = |number: usize| match self.files.get(number + 1) {
            Some(next) => self.line_starts[next.first_line as usize] as usize - 1,
            None => self.text.len(),
        };
        self.files.iter().enumerate().map(move |(number, file)| {
            let start = self.line_starts[file.first_line as usize] as usize;
            (&*file.name, self.text.get(start..end(number)).unwrap_or(""))
        })
    }

    /// Where in the whole a file starts, by its number.
    pub fn start_of(&self, file: usize) -> Option<u32> {
        self.files.get(file).map(|file| self.line_starts[file.first_line as usize])
    }

    /// The span of a place in one of the files: from the column (or, for column 0, from the
    /// first character that is no blank) to the end of the line.
    pub fn span_at(&self, file: usize, line: u32, column: u32) -> Span {
        let Some(part) = self.files.get(file) else {
            return Span::default();
        };
        let number = part.first_line as usize + line.saturating_sub(1) as usize;
        let Some(start) = self.line_starts.get(number).map(|start| *start as usize) else {
            return Span::default();
        };
        let text = self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let skipped = match column {
            0 => text.len() - text.trim_start().len(),
            _ => (column as usize - 1).min(text.len()),
        };
        Span::new(start + skipped, start + text.len())
    }

    fn file_of_line(&self, line: usize) -> &FilePart {
        let after = self.files.partition_point(|file| file.first_line as usize <= line);
        &self.files[after.max(1) - 1]
    }

    /// The line that an offset is in, counted from 0 in the whole.
    fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).max(1) - 1
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    pub fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.line_of(offset);
        let start = self.line_starts[line] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count());
        (line as u32 - self.file_of_line(line).first_line + 1, column as u32 + 1)
    }

    pub fn location(&self, span: Span) -> Location {
        let (line, column) = self.position(span.start);
        let file = self.file_of_line(self.line_of(span.start)).name.clone();
        Location { file, line, column }
    }

    /// Where people should look for a span: for a line of a listing, where that comes from, if
    /// it is known.
    pub fn origin(&self, span: Span) -> Location {
        match self.origins.get(&(self.line_of(span.start) as u32)) {
            Some((file, line)) => Location { file: file.clone(), line: *line, column: 1 },
            None => self.location(span),
        }
    }

    /// The text of the line that a span starts in, without its end.
    pub fn line_at(&self, span: Span) -> &str {
        let start = self.line_starts[self.line_of(span.start)] as usize;
        self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("")
    }

    pub fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        let location = self.location(span);
        let text = self.line_at(span);
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

impl Location {
    /// Whether the place is in code that was linked to the program, such as a library's: the name
    /// of the file is no path then, but starts as `<library>` does.
    pub fn is_linked(&self) -> bool {
        self.file.starts_with('<')
    }
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
    pub help: Option<Help>,
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

    pub fn with_help(mut self, help: impl Into<Help>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// With its help as a sentence.
    pub fn worded(&self, voice: &dyn Voice) -> Diagnostic {
        let help = self.help.as_ref().map(|help| help.worded(voice).into());
        Diagnostic { help, ..self.clone() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = &self.location {
            write!(f, "{}: ", visible_line(&location.to_string()))?;
        }
        write!(f, "error: {}", visible(&self.message))?;
        if let (Some(location), Some((line, width))) = (&self.location, &self.excerpt) {
            let number = location.line.to_string();
            let margin = " ".repeat(number.len());
            let indent: String = line
                .chars()
                .take(location.column as usize - 1)
                .flat_map(|c| match c {
                    '\t' => vec!['\t'],
                    c => vec![' '; visible_line(c.encode_utf8(&mut [0; 4])).chars().count()],
                })
                .collect();
            let underline = "^".repeat(*width as usize);
            let line = visible_line(line);
            write!(f, "\n{margin} |\n{number} | {line}\n{margin} | {indent}{underline}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {}", visible(&help.to_string()))?;
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
    fn lines_of_a_listing_say_where_they_come_from() {
        let listing = SourceFile::new("a.out", "main:\n  ret\n");
        let (first, second) = (listing.span_at(0, 1, 1), listing.span_at(0, 2, 1));
        let listing = listing.with_origins([(second, "a.c", 7)]).and([("more", "text")]);
        assert_eq!(listing.origin(first).to_string(), "a.out:1:1");
        assert_eq!(listing.origin(second).to_string(), "a.c:7:1");
        assert_eq!(listing.location(second).to_string(), "a.out:2:1");
    }

    #[test]
    fn places_name_the_file() {
        let whole = SourceFile::several([("a.c", "one\ntwo"), ("b.c", "  three\n"), ("c.c", "")]);
        let span = whole.span_at(1, 1, 0);
        assert_eq!(whole.location(span).to_string(), "b.c:1:3");
        assert_eq!(whole.line_at(span), "  three");
        assert_eq!(whole.location(whole.span_at(0, 2, 2)).to_string(), "a.c:2:2");
        let files: Vec<_> = whole.files().collect();
        assert_eq!(files, [("a.c", "one\ntwo"), ("b.c", "  three\n"), ("c.c", "")]);
        assert_eq!(whole.span_at(9, 1, 1), Span::default());
    }

    #[test]
    fn an_error_obeys_nobody() {
        let file = SourceFile::new("a\n\x1b.c", "x\x1b[2J \u{202e}y\n");
        let error = file.error(Span::new(9, 10), "no '\x1b'").with_help("\u{9b}");
        assert_eq!(
            error.to_string(),
            "a\\u{a}\\u{1b}.c:1:8: error: no '\\u{1b}'\n  |\n1 | x\\u{1b}[2J \\u{202e}y\n  | \
             \x20                  ^\n  help: \\u{9b}"
        );
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
