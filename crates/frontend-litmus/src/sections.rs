//! Cutting a test into its sections: header, initial state, code, final condition.
//!
//! The cuts are made on the text before anything is parsed, as herd7 makes them: the initial
//! state is the first `{ … }`, the code ends at the first word that opens a condition, and
//! `<<` ends the test. Comments `(* … *)` nest; they are blanked out (byte by byte, so that
//! places stay what they are), save inside C code, where `(*` is an expression.

use parallax_program::{Diagnostic, SourceFile, Span};

use crate::Arch;

/// A test cut into sections.
pub struct Sections {
    pub arch: Arch,
    pub name: String,
    pub doc: Option<String>,
    pub metadata: Vec<(String, String)>,
    /// Between the braces.
    pub init: Span,
    pub code: Span,
    /// From the first word that opens a condition on; may be empty.
    pub condition: Span,
    /// The file's text with comments blanked out.
    pub text: String,
}

impl Sections {
    /// The code as it stands in the file, comments included.
    pub fn code_text<'a>(&self, source: &'a SourceFile) -> &'a str {
        let range = self.code.start as usize..self.code.end as usize;
        source.text().get(range).unwrap_or("")
    }
}

/// Words that open the part after the code.
const CONDITION_WORDS: &[&str] =
    &["exists", "forall", "final", "filter", "locations", "observed", "Observed"];

pub fn split(source: &SourceFile) -> Result<Sections, Diagnostic> {
    let whole = source.text();
    let (arch, name, rest) = first_line(source)?;
    let is_c = matches!(arch, Arch::C | Arch::Lkmm);
    let header = header(source, rest)?;

    let mut text = whole.as_bytes().to_vec();
    let init_end = blank_init(source, &mut text, header.end)?;
    let code_start = init_end + 1;
    let code_end = if is_c {
        end_of_functions(source, code_start)?
    } else {
        blank_comments(source, &mut text, code_start, whole.len())?;
        first_condition_word(&text, code_start)
    };
    let mut condition_end = whole.len();
    if is_c {
        blank_comments(source, &mut text, code_end, whole.len())?;
    }
    let tail = text.get(code_end..).unwrap_or(&[]);
    if let Some(end) = tail.windows(2).position(|pair| pair == b"<<") {
        condition_end = code_end + end;
    }
    let text = String::from_utf8(text)
        .map_err(|_| Diagnostic::new("a comment that does not end on a character"))?;
    Ok(Sections {
        arch,
        name,
        doc: header.doc,
        metadata: header.metadata,
        init: Span::new(header.end + 1, init_end),
        code: Span::new(code_start, code_end),
        condition: Span::new(code_end, condition_end),
        text,
    })
}

/// Architecture and name, and the offset of what follows them.
fn first_line(source: &SourceFile) -> Result<(Arch, String, usize), Diagnostic> {
    let text = source.text();
    let start = text.len() - text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
    let rest = text.get(start..).unwrap_or("");
    if rest.is_empty() {
        let error = source.error(Span::new(start, start), "empty file");
        return Err(error.with_help("a test starts with its architecture and name: X86 SB"));
    }
    let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let arch_name = rest.get(..word).unwrap_or("");
    let Some(arch) = Arch::named(arch_name) else {
        let error = source
            .error(Span::new(start, start + word), format!("unknown architecture '{arch_name}'"));
        return Err(error.with_help(format!("known: {}", Arch::NAMES)));
    };
    let after = rest.get(word..).unwrap_or("");
    let line = after.split('\n').next().unwrap_or("");
    let name = line
        .trim_start()
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '{'))
        .next()
        .unwrap_or("");
    if name.is_empty() {
        let end = start + word;
        return Err(source.error(Span::new(end, end), "expected the name of the test"));
    }
    let indent = line.len() - line.trim_start().len();
    Ok((arch, name.to_string(), start + word + indent + name.len()))
}

/// What stands between the name of a test and its initial state.
struct Header {
    doc: Option<String>,
    metadata: Vec<(String, String)>,
    /// Offset of the brace that opens the initial state.
    end: usize,
}

/// Reads the header: a quoted line, `Key=value` lines, comments, and words that mean nothing.
fn header(source: &SourceFile, from: usize) -> Result<Header, Diagnostic> {
    let text = source.text();
    let mut header = Header { doc: None, metadata: Vec::new(), end: from };
    let mut at = from;
    let mut line_start = false;
    while let Some(byte) = text.as_bytes().get(at).copied() {
        let rest = text.as_bytes().get(at..).unwrap_or(&[]);
        if rest.starts_with(b"(*") {
            at = comment_end(source, at)?;
            continue;
        }
        if line_start && is_metadata(rest) {
            let line = text.get(at..at + line_length(rest)).unwrap_or("");
            let (key, value) = line.split_once('=').unwrap_or((line, ""));
            let pair = (key.trim().to_string(), value.trim().to_string());
            header.metadata.push(pair);
            at += line.len();
            continue;
        }
        if byte == b'{' {
            header.end = at;
            return Ok(header);
        }
        if byte == b'"' {
            let quoted = text.get(at + 1..).and_then(|rest| rest.split_once('"'));
            if let Some((quoted, _)) = quoted {
                let words: Vec<&str> = quoted.split_whitespace().collect();
                header.doc.get_or_insert_with(|| words.join(" "));
                at += quoted.len() + 1;
            }
        }
        line_start = byte == b'\n' || (line_start && byte.is_ascii_whitespace());
        at += 1;
    }
    let end = Span::new(text.len(), text.len());
    let error = source.error(end, "the file ends before the initial state");
    Err(error.with_help("write { } where every location starts as zero"))
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())
}

/// Whether the line is `Key=value`.
fn is_metadata(line: &[u8]) -> bool {
    let word = line
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'/'))
        .count();
    let named = line.first().is_some_and(u8::is_ascii_alphabetic);
    let mut after = line.iter().skip(word).skip_while(|b| matches!(b, b' ' | b'\t'));
    named && after.next() == Some(&b'=')
}

/// Blanks the comments of the initial state; gives the offset of its closing brace.
fn blank_init(source: &SourceFile, text: &mut [u8], open: usize) -> Result<usize, Diagnostic> {
    let mut depth = 0usize;
    let mut at = open;
    while let Some(byte) = text.get(at).copied() {
        if text.get(at..at + 2) == Some(b"(*") {
            let end = comment_end(source, at)?;
            blank(text, at, end);
            at = end;
            continue;
        }
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return Ok(at),
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    let error = source.error(Span::new(open, open + 1), "the initial state never ends");
    Err(error.with_help("expected a closing }"))
}

fn blank_comments(
    source: &SourceFile,
    text: &mut [u8],
    from: usize,
    to: usize,
) -> Result<(), Diagnostic> {
    let mut at = from;
    while at < to {
        match text.get(at..at + 2) {
            Some(b"(*") => {
                let end = comment_end(source, at)?;
                blank(text, at, end);
                at = end;
            }
            Some(b"<<") => break,
            _ => at += 1,
        }
    }
    Ok(())
}

/// Replaces all but line ends by spaces.
fn blank(text: &mut [u8], from: usize, to: usize) {
    for byte in text.iter_mut().take(to).skip(from) {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The offset after the comment that starts at `start`. Comments nest.
fn comment_end(source: &SourceFile, start: usize) -> Result<usize, Diagnostic> {
    let bytes = source.text().as_bytes();
    let mut depth = 0usize;
    let mut at = start;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"(*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*)") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => at += 1,
        }
    }
    Err(source.error(Span::new(start, start + 2), "this comment never ends"))
}

/// Offset of the first condition word, or the end of the text.
fn first_condition_word(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        if !is_word(*byte) {
            at += 1;
            continue;
        }
        let length = word_length(text, at);
        if is_condition_word(text, at, length) {
            return with_negation(text, from, at);
        }
        at += length;
    }
    text.len()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_length(text: &[u8], at: usize) -> usize {
    let rest = text.iter().skip(at);
    rest.take_while(|b| is_word(**b) || matches!(b, b'.' | b'-')).count()
}

fn is_condition_word(text: &[u8], at: usize, length: usize) -> bool {
    let word = text.get(at..at + length).unwrap_or(&[]);
    CONDITION_WORDS.iter().any(|known| known.as_bytes() == word)
}

/// Takes the `~` or `not` before `exists` along.
fn with_negation(text: &[u8], from: usize, at: usize) -> usize {
    let before = text.get(from..at).unwrap_or(&[]).trim_ascii_end();
    if before.ends_with(b"~") {
        return from + before.len() - 1;
    }
    let apart = before.len().checked_sub(4).and_then(|n| before.get(n));
    if before.ends_with(b"not") && !apart.copied().is_some_and(is_word) {
        return from + before.len() - 3;
    }
    at
}

/// Where the functions of a C test end: at the first condition word outside all braces,
/// parentheses, comments and strings.
fn end_of_functions(source: &SourceFile, from: usize) -> Result<usize, Diagnostic> {
    let bytes = source.text().as_bytes();
    let mut open: Vec<usize> = Vec::new();
    let mut at = from;
    while let Some(byte) = bytes.get(at).copied() {
        let rest = bytes.get(at..).unwrap_or(&[]);
        if let Some(length) = c_skip(source, rest, at, open.is_empty())? {
            at += length;
            continue;
        }
        match byte {
            b'{' | b'(' => open.push(at),
            b'}' | b')' => {
                open.pop();
            }
            _ if is_word(byte) => {
                let length = word_length(bytes, at);
                if open.is_empty() && is_condition_word(bytes, at, length) {
                    return Ok(with_negation(bytes, from, at));
                }
                at += length;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    match open.first() {
        None => Ok(bytes.len()),
        Some(at) => Err(source.error(Span::new(*at, at + 1), "never closed")),
    }
}

/// Length of the comment or string at the start of `rest`, if there is one.
fn c_skip(
    source: &SourceFile,
    rest: &[u8],
    at: usize,
    outside: bool,
) -> Result<Option<usize>, Diagnostic> {
    let length = match rest {
        [b'/', b'/', ..] => line_length(rest),
        [b'/', b'*', ..] => {
            let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            let Some(end) = end else {
                return Err(source.error(Span::new(at, at + 2), "this comment never ends"));
            };
            end + 4
        }
        [b'(', b'*', ..] if outside => comment_end(source, at)? - at,
        [b'"', ..] => {
            let end = rest.iter().skip(1).position(|b| matches!(b, b'"' | b'\n'));
            end.map_or(rest.len(), |end| end + 2)
        }
        _ => return Ok(None),
    };
    Ok(Some(length))
}
