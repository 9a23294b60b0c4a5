//! Fences in C: how a statement is put next to another in the style of the text around it.

use super::edits::Edit;
use super::statements::{Places, Point, Side, Wrap};

/// How statements are put into a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// On the line that is there, so that lines keep their numbers.
    Inline,
    /// On a line of its own, indented like its neighbour.
    Lines,
}

/// The changes that put statements to places. Each comes with the number of its decision.
pub fn insertions(
    text: &str,
    places: &Places,
    fences: &[(usize, u32, String)],
    style: Style,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut wraps: Vec<usize> = Vec::new();
    for (point, decision, fence) in fences {
        let Some(point) = places.points.get(*point) else {
            continue;
        };
        edits.push(insertion(text, point, fence, style).of(*decision));
        wraps.extend(point.wrap);
    }
    wraps.sort_unstable();
    wraps.dedup();
    for number in wraps {
        let Some(wrap) = places.wraps.get(number) else {
            continue;
        };
        let of_it = |point: &&Point| point.wrap == Some(number);
        let depth = places.points.iter().find(of_it).map_or(0, |point| point.depth);
        edits.extend(braces(text, wrap, depth, style));
    }
    edits
}

/// Among what is put at one offset behind a statement: fences before braces, inner ones before
/// outer ones.
fn rank(depth: usize, is_brace: bool) -> i64 {
    -2 * depth as i64 + i64::from(is_brace)
}

fn insertion(text: &str, point: &Point, fence: &str, style: Style) -> Edit {
    let Point { offset, depth, statement: (start, end), .. } = *point;
    let indent = indentation(text, start);
    let newline = line_end(text);
    match (point.side, style) {
        (Side::Instead, _) => {
            let removed = end - start;
            Edit { at: start, removed, text: fence.to_string(), rank: 0, of: None }
        }
        (Side::Before, Style::Lines) if is_first_on_line(text, offset) => {
            Edit::insert(offset, format!("{fence}{newline}{indent}"), i64::MAX)
        }
        (Side::Before, _) => Edit::insert(offset, format!("{fence} "), i64::MAX),
        (Side::After, Style::Lines) => match end_of_line(text, offset) {
            Some(end) if is_first_on_line(text, start) => {
                let fence = format!("{newline}{indent}{fence}");
                Edit::insert(end, fence, rank(depth, false))
            }
            _ => Edit::insert(offset, format!(" {fence}"), rank(depth, false)),
        },
        (Side::After, Style::Inline) => {
            Edit::insert(offset, format!(" {fence}"), rank(depth, false))
        }
    }
}

/// Braces around a body that has none.
fn braces(text: &str, wrap: &Wrap, depth: usize, style: Style) -> [Edit; 2] {
    let newline = line_end(text);
    let own_line = is_first_on_line(text, wrap.start);
    let rank = rank(depth, true);
    match (style, end_of_line(text, wrap.end)) {
        (Style::Lines, Some(end)) if own_line => {
            let indent = indentation(text, wrap.header);
            [
                Edit::insert(wrap.header_end, " {", 0),
                Edit::insert(end, format!("{newline}{indent}}}"), rank),
            ]
        }
        (_, end) => {
            let end = end.filter(|_| style == Style::Lines).unwrap_or(wrap.end);
            [Edit::insert(wrap.header_end, " {", 0), Edit::insert(end, " }", rank)]
        }
    }
}

fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// The blanks that the line of an offset starts with.
fn indentation(text: &str, offset: usize) -> &str {
    let line = text.get(line_start(text, offset)..).unwrap_or("");
    let blank = line.find(|c| !matches!(c, ' ' | '\t')).unwrap_or(line.len());
    line.get(..blank).unwrap_or("")
}

fn is_first_on_line(text: &str, offset: usize) -> bool {
    text.get(line_start(text, offset)..offset).is_some_and(|before| before.trim().is_empty())
}

/// How lines end in the text.
pub fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Where the line ends, if there is nothing between but blanks and a comment.
fn end_of_line(text: &str, offset: usize) -> Option<usize> {
    let rest = text.get(offset..)?;
    let line = rest.split('\n').next().unwrap_or("");
    let line = line.strip_suffix('\r').unwrap_or(line);
    let mut left = line.trim();
    while let Some(comment) = left.strip_prefix("/*") {
        left = comment.split_once("*/")?.1.trim();
    }
    let is_free = (left.is_empty() || left.starts_with("//")) && !line.ends_with('\\');
    is_free.then_some(offset + line.len())
}

/// Takes out a statement: with its line, if there is nothing else on it. The body of something is
/// left empty.
pub fn removal(text: &str, offset: usize) -> Option<Edit> {
    let length = text.get(offset..)?.find(';')? + 1;
    let before = text.get(..offset)?.trim_end();
    if before.ends_with(')') || before.ends_with("else") {
        return Some(Edit { at: offset, removed: length, text: ";".into(), rank: 0, of: None });
    }
    let end = offset + length;
    let line = line_start(text, offset);
    let rest = text.get(end..)?.split('\n').next().unwrap_or("");
    let (at, end) = match is_first_on_line(text, offset) && rest.trim().is_empty() {
        true => (line, (end + rest.len() + 1).min(text.len())),
        false => (offset, end),
    };
    Some(Edit { at, removed: end - at, text: String::new(), rank: 0, of: None })
}
