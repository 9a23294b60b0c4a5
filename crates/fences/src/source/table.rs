//! Fences in litmus tests of assembly: a row more in the table, with the fence in one column.

use std::ops::Range;

use super::c::line_end;
use super::edits::Edit;
use super::statements::Activity;

/// A table of instructions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// Names of threads first; for each row its cells, without the blanks around them.
    rows: Vec<Row>,
    /// Places for a fence: a column, and the row that it comes after.
    points: Vec<(usize, usize)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Row {
    /// With the blanks around them.
    segments: Vec<Range<usize>>,
    cells: Vec<Range<usize>>,
    /// Behind the semicolon.
    end: usize,
}

impl Table {
    /// The table in a part of a text.
    pub fn new(text: &str, code: Range<usize>) -> Table {
        let mut rows = Vec::new();
        let mut segments = Vec::new();
        let (mut start, mut depth) = (code.start, 0usize);
        let bytes = text.as_bytes();
        for at in code {
            match bytes.get(at..at + 2) {
                Some(b"(*") => depth += 1,
                Some(b"*)") => {
                    depth = depth.saturating_sub(1);
                    start = if depth == 0 && segments.is_empty() { at + 2 } else { start };
                }
                _ => {}
            }
            let byte = bytes.get(at).copied().unwrap_or(0);
            if depth > 0 || !matches!(byte, b'|' | b';') {
                continue;
            }
            let is_lock =
                text.get(start..at).is_some_and(|t| t.trim().eq_ignore_ascii_case("lock"));
            if byte == b';' && is_lock {
                continue;
            }
            segments.push(start..at);
            start = at + 1;
            if byte == b';' {
                let segments = std::mem::take(&mut segments);
                let cells = segments.iter().map(|segment| trimmed(text, segment)).collect();
                rows.push(Row { segments, cells, end: at + 1 });
            }
        }
        Table { rows, points: Vec::new() }
    }

    /// Before and after each access. Empty cells are nothing in between.
    pub fn find_points(&mut self, activity: &Activity) {
        let columns = self.rows.first().map_or(0, |row| row.cells.len());
        for column in 0..columns {
            for number in 1..self.rows.len() {
                let Some(cell) = self.rows[number].cells.get(column) else {
                    continue;
                };
                let first = activity.accesses.partition_point(|offset| *offset < cell.start);
                let access = activity.accesses.get(first).filter(|offset| **offset < cell.end);
                if access.is_some() {
                    let before = self.filled_before(column, number);
                    self.points.extend([(column, before), (column, number)]);
                }
            }
        }
        self.points.sort_unstable();
        self.points.dedup();
    }

    /// The last row before one in which a column has something.
    fn filled_before(&self, column: usize, row: usize) -> usize {
        let filled =
            |row: &usize| self.rows[*row].cells.get(column).is_some_and(|cell| !cell.is_empty());
        (0..row).rev().find(filled).unwrap_or(0)
    }

    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Where the instruction before a point is.
    pub fn offset_of(&self, point: usize) -> usize {
        let cell = self
            .points
            .get(point)
            .and_then(|(column, row)| self.rows.get(*row).and_then(|row| row.cells.get(*column)));
        cell.map_or(0, |cell| cell.start)
    }

    pub fn insertions(&self, text: &str, fences: &[(usize, u32, String)]) -> Vec<Edit> {
        let edits = fences.iter().filter_map(|(point, decision, fence)| {
            let (column, number) = self.points.get(*point)?;
            let row = self.rows.get(*number)?;
            let (new, lead) = self.row(text, *number, *column, fence);
            let edit = Edit::insert(row.end, new, *column as i64);
            Some(edit.of_at(*decision, lead))
        });
        edits.collect()
    }

    /// A row like another one, in which there is only the fence, and where that starts.
    fn row(&self, text: &str, like: usize, column: usize, fence: &str) -> (String, usize) {
        let mut new = line_end(text).to_string();
        let mut lead = 0;
        for (number, segment) in self.rows[like].segments.iter().enumerate() {
            // The first one starts on the line before.
            let old = text.get(segment.clone()).unwrap_or("");
            let old = old.rsplit(['\n', '\r']).next().unwrap_or("");
            let width = old.chars().count();
            let content = if number == column { fence } else { "" };
            if number == column {
                lead = new.len() + 1;
            }
            let filled = format!(" {content:<room$}", room = width.saturating_sub(1));
            new.push_str(&filled);
            if number == column && !filled.ends_with(' ') {
                new.push(' ');
            }
            new.push(if number + 1 == self.rows[like].segments.len() { ';' } else { '|' });
        }
        (new, lead)
    }

    /// The cell that an offset is in, from there on.
    pub fn cell(&self, offset: usize) -> Option<Range<usize>> {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells);
        let cell = cells.find(|cell| cell.start <= offset && offset < cell.end)?;
        Some(offset..cell.end)
    }
}

fn trimmed(text: &str, range: &Range<usize>) -> Range<usize> {
    let raw = text.get(range.clone()).unwrap_or("");
    let start = range.start + raw.len() - raw.trim_start().len();
    start..start + raw.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_a_row() {
        let text = "\n P0          | P1 (* | *)  ;\n MOV [x],$1  | MOV [y],$1  ;\n MOV EAX,[y] |             ;\n";
        let mut table = Table::new(text, 0..text.len());
        let accesses: Vec<usize> = text.match_indices("MOV").map(|(at, _)| at).collect();
        table.find_points(&Activity { accesses, busy: Vec::new() });
        assert_eq!(table.points, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]);
        let edits = table.insertions(text, &[(1, 7, "MFENCE".into()), (4, 8, "MFENCE".into())]);
        let edited = super::super::edits::edit(text, edits);
        let expected = "\n P0          | P1 (* | *)  ;\n MOV [x],$1  | MOV [y],$1  ;\n MFENCE      |             ;\n             \
                        | MFENCE      ;\n MOV EAX,[y] |             ;\n";
        assert_eq!(edited.text, expected);
        for (_, at) in edited.places {
            assert!(edited.text[at..].starts_with("MFENCE"));
        }
    }
}
