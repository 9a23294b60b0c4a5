//! The table of instructions: a column for each thread, a row for each step.

use parallax_program::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::asm::AsmLine;

/// One thread's column, empty cells left out.
pub struct Column<'a> {
    /// 1 for `P1`.
    pub number: u32,
    pub lines: Vec<AsmLine<'a>>,
}

/// Reads the table in `section` of `text`, whose comments have been blanked out.
pub fn parse<'a>(
    source: &SourceFile,
    text: &'a str,
    section: Span,
) -> Result<Vec<Column<'a>>, Diagnostics> {
    let mut rows = rows(source, text, section)?.into_iter();
    let Some(header) = rows.next() else {
        let error = source.error(section, "there are no threads");
        return Err(vec![error.with_help("expected a table with the header P0 | P1 ;")]);
    };
    let mut columns = columns(source, &header).map_err(|error| vec![error])?;
    let mut errors = Vec::new();
    for row in rows {
        if row.len() != columns.len() {
            if errors.len() < crate::MAX_ERRORS {
                let message = format!("{} cells for {} threads", row.len(), columns.len());
                errors.push(source.error(row_span(&row), message));
            }
            continue;
        }
        for (cell, column) in row.into_iter().zip(&mut columns) {
            if !cell.text.is_empty() {
                column.lines.push(cell);
            }
        }
    }
    columns.sort_by_key(|column| column.number);
    if errors.is_empty() { Ok(columns) } else { Err(errors) }
}

fn row_span(row: &[AsmLine<'_>]) -> Span {
    let spans = row.iter().map(|cell| cell.span);
    spans.reduce(Span::to).unwrap_or_default()
}

/// The rows, cut at `;`, each cut at `|`. A `;` right before the header is let pass.
fn rows<'a>(
    source: &SourceFile,
    text: &'a str,
    section: Span,
) -> Result<Vec<Vec<AsmLine<'a>>>, Diagnostics> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut start = section.start as usize;
    let body = text.get(start..section.end as usize).unwrap_or("");
    for (offset, byte) in body.bytes().enumerate() {
        let at = section.start as usize + offset;
        if byte != b'|' && byte != b';' {
            continue;
        }
        let cell = cell(text, start, at);
        if byte == b';' && cell.text.eq_ignore_ascii_case("lock") {
            continue;
        }
        row.push(cell);
        start = at + 1;
        if byte == b';' {
            let empty_start = rows.is_empty() && row.iter().all(|cell| cell.text.is_empty());
            let finished = std::mem::take(&mut row);
            if !empty_start {
                rows.push(finished);
            }
        }
    }
    let rest = cell(text, start, section.end as usize);
    if !row.is_empty() || !rest.text.is_empty() {
        let error = source.error(rest.span, "this row does not end in ';'");
        return Err(vec![error]);
    }
    Ok(rows)
}

/// The text between two offsets, without the white space around it.
fn cell(text: &str, from: usize, to: usize) -> AsmLine<'_> {
    let raw = text.get(from..to).unwrap_or("");
    let trimmed = raw.trim();
    let start = from + (raw.len() - raw.trim_start().len());
    AsmLine { text: trimmed, span: Span::new(start, start + trimmed.len()) }
}

/// The header row: `P0 | P1:annotation`.
fn columns<'a>(source: &SourceFile, header: &[AsmLine<'_>]) -> Result<Vec<Column<'a>>, Diagnostic> {
    let mut columns: Vec<Column<'a>> = Vec::new();
    for cell in header {
        let name = cell.text.split(':').next().unwrap_or("").trim();
        let number = name.strip_prefix('P').and_then(|n| n.parse().ok());
        let Some(number) = number else {
            let message = format!("expected a thread such as P0, found '{}'", cell.text);
            return Err(source.error(cell.span, message));
        };
        if columns.iter().any(|column| column.number == number) {
            let message = format!("there is a second column for P{number}");
            return Err(source.error(cell.span, message));
        }
        columns.push(Column { number, lines: Vec::new() });
    }
    Ok(columns)
}
