//! Answers to many questions, as a table: for a terminal, as CSV, as JSON and as a page.

use std::fmt::{self, Write};

use parallax_program::visible_line;
use serde::{Deserialize, Serialize};

use crate::json::to_line;
use crate::picture::escape;

/// A question, and what was found out.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct BatchRow {
    pub input: String,
    pub model: String,
    pub property: String,
    /// `safe`, `unsafe` or `unknown`, where somebody has said what to expect.
    pub expected: Option<String>,
    /// The same, or `error`.
    pub verdict: String,
    /// What is wrong, why nothing is known, or what the error is.
    pub message: String,
    pub engine: String,
    pub scope: Option<String>,
    pub executions: u64,
    pub states: u64,
    pub time_s: f64,
    pub peak_rss_kib: u64,
}

impl BatchRow {
    /// Whether it is as expected; None where nobody has said what to expect.
    pub fn is_right(&self) -> Option<bool> {
        self.expected.as_ref().map(|expected| *expected == self.verdict)
    }

    fn mark(&self) -> &'static str {
        match self.is_right() {
            None => "",
            Some(true) => "right",
            Some(false) if self.verdict == "unknown" || self.verdict == "error" => "missed",
            Some(false) => "WRONG",
        }
    }
}

/// How wide the columns of a table are, which is known before there are answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchColumns {
    input: usize,
    model: usize,
    property: usize,
    is_compared: bool,
}

impl BatchColumns {
    pub fn of(rows: &[BatchRow]) -> BatchColumns {
        let width = |text: fn(&BatchRow) -> &str| {
            rows.iter().map(|row| visible_line(text(row)).chars().count()).max().unwrap_or(0)
        };
        BatchColumns {
            input: width(|row| &row.input),
            model: width(|row| &row.model),
            property: width(|row| &row.property),
            is_compared: rows.iter().any(|row| row.expected.is_some()),
        }
    }
}

/// A line of the table, with its end.
pub fn batch_line(row: &BatchRow, columns: BatchColumns) -> String {
    let BatchColumns { input, model, property, is_compared } = columns;
    let mark = if is_compared { format!("{:<6}  ", row.mark()) } else { String::new() };
    let line = format!(
        "{mark}{:<input$}  {:<model$}  {:<property$}  {:<7}  {}",
        visible_line(&row.input),
        visible_line(&row.model),
        visible_line(&row.property),
        row.verdict,
        visible_line(&row.message)
    );
    line.trim_end().to_string() + "\n"
}

/// How many there are of each, with its end.
pub fn batch_summary(rows: &[BatchRow]) -> String {
    let count = |name: &str| rows.iter().filter(|row| row.verdict == name).count();
    let errors = match count("error") {
        1 => "1 error".to_string(),
        errors => format!("{errors} errors"),
    };
    let mut text = format!(
        "{}: {} safe, {} unsafe, {} unknown, {errors}",
        if rows.len() == 1 {
            "1 question".to_string()
        } else {
            format!("{} questions", rows.len())
        },
        count("safe"),
        count("unsafe"),
        count("unknown"),
    );
    if rows.iter().any(|row| row.expected.is_some()) {
        let marked = |mark: &str| rows.iter().filter(|row| row.mark() == mark).count();
        let (right, wrong, missed) = (marked("right"), marked("WRONG"), marked("missed"));
        // Writing to a string does not fail.
        let _ = write!(text, "; {right} as expected, {wrong} not, {missed} without an answer");
    }
    text + "\n"
}

/// One object, without an end of line.
pub fn batch_json(row: &BatchRow) -> String {
    to_line(row)
}

const HEADINGS: [&str; 12] = [
    "input",
    "model",
    "property",
    "expected",
    "verdict",
    "message",
    "engine",
    "scope",
    "executions",
    "states",
    "time_s",
    "peak_rss_kib",
];

/// As RFC 4180 has it, with a line of headings.
pub fn batch_csv(rows: &[BatchRow]) -> String {
    let mut text = HEADINGS.join(",") + "\n";
    for row in rows {
        let fields: Vec<String> = fields(row).iter().map(|field| quoted(field)).collect();
        text += &(fields.join(",") + "\n");
    }
    text
}

fn fields(row: &BatchRow) -> [String; 12] {
    [
        row.input.clone(),
        row.model.clone(),
        row.property.clone(),
        row.expected.clone().unwrap_or_default(),
        row.verdict.clone(),
        row.message.clone(),
        row.engine.clone(),
        row.scope.clone().unwrap_or_default(),
        row.executions.to_string(),
        row.states.to_string(),
        format!("{:.3}", row.time_s),
        row.peak_rss_kib.to_string(),
    ]
}

/// A field that no table takes for two, nor for a formula.
fn quoted(field: &str) -> String {
    let field = visible_line(field);
    let is_formula = field.starts_with(['=', '+', '-', '@']);
    match field.contains(['"', ',', '\n', '\r', '\t']) || is_formula {
        true => {
            let blank = if is_formula { " " } else { "" };
            format!("\"{blank}{}\"", field.replace('"', "\"\""))
        }
        false => field.into_owned(),
    }
}

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, \"DejaVu Sans\", sans-serif; margin: 1.5rem; }
h1 { font-size: 1.2rem; } p { color: GrayText; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13.5px; min-width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem; border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
th { position: sticky; top: 0; background: Canvas; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
td.v { font-weight: 600; } .safe .v { color: light-dark(#1b7a43, #5fce8c); } .unsafe .v { color: light-dark(#c62828, #ff7b72); }
.unknown .v, .error .v { color: light-dark(#946200, #e3b341); } .wrong td { background: light-dark(#ffe3e0, #4a1f1c); }
td.m { overflow-wrap: anywhere; min-width: 16rem; }
";

/// The table as a page that needs nothing else.
pub fn batch_html(rows: &[BatchRow], title: &str, command: &str) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write_page(&mut out, rows, title, command);
    out
}

fn write_page(out: &mut String, rows: &[BatchRow], title: &str, command: &str) -> fmt::Result {
    let title = escape(title);
    writeln!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    )?;
    writeln!(out, "<p>{}</p>", escape(batch_summary(rows).trim_end()))?;
    let headings = [
        "program",
        "model",
        "looked for",
        "verdict",
        "expected",
        "",
        "engine",
        "executions",
        "states",
        "seconds",
        "MiB",
    ];
    writeln!(out, "<div class=\"wide\"><table>\n<thead><tr>")?;
    for heading in headings {
        writeln!(out, "<th>{heading}</th>")?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")?;
    for row in rows {
        let known = ["safe", "unsafe", "unknown", "error"];
        let class = known.into_iter().find(|name| *name == row.verdict).unwrap_or("error");
        let wrong = if row.mark() == "WRONG" { " wrong" } else { "" };
        let count = |count: u64| if count == 0 { String::new() } else { count.to_string() };
        writeln!(
            out,
            "<tr class=\"{class}{wrong}\"><td>{}</td><td>{}</td><td>{}</td><td class=\"v\">{}</td>\
             <td>{}</td><td class=\"m\">{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{:.2}</td><td class=\"n\">{}</td></tr>",
            escape(&row.input),
            escape(&row.model),
            escape(&row.property),
            escape(&row.verdict),
            escape(row.expected.as_deref().unwrap_or("")),
            escape(&row.message),
            escape(&row.engine),
            count(row.executions),
            count(row.states),
            row.time_s,
            row.peak_rss_kib / 1024
        )?;
    }
    writeln!(out, "</tbody></table></div>")?;
    writeln!(
        out,
        "<p><code>{}</code> · parallax {}</p>\n</body>\n</html>",
        escape(command),
        env!("CARGO_PKG_VERSION")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(input: &str, expected: Option<&str>, verdict: &str) -> BatchRow {
        let expected = expected.map(str::to_string);
        let (input, verdict) = (input.to_string(), verdict.to_string());
        let model = "sc".to_string();
        BatchRow { input, model, expected, verdict, ..BatchRow::default() }
    }

    #[test]
    fn answers_are_compared() {
        let rows = [
            row("a.c", Some("safe"), "safe"),
            row("long.c", Some("safe"), "unsafe"),
            row("b.c", Some("safe"), "unknown"),
            row("c.c", None, "error"),
        ];
        let columns = BatchColumns::of(&rows);
        let text: String = rows.iter().map(|row| batch_line(row, columns)).collect();
        assert_eq!(
            text,
            "right   a.c     sc    safe\nWRONG   long.c  sc    unsafe\n\
             missed  b.c     sc    unknown\n        c.c     sc    error\n"
        );
        let summary = batch_summary(&rows);
        assert!(summary.starts_with("4 questions: 1 safe, 1 unsafe, 1 unknown, 1 error; "));
        assert!(summary.ends_with("1 as expected, 1 not, 1 without an answer\n"));
    }

    #[test]
    fn names_stay_names() {
        let mut bad = row("=1+1,\"<b>", None, "unsafe");
        bad.message = "two\nlines".to_string();
        let csv = batch_csv(std::slice::from_ref(&bad));
        assert_eq!(csv.lines().count(), 2);
        assert!(csv.contains("\" =1+1,\"\"<b>\""), "{csv}");
        let page = batch_html(std::slice::from_ref(&bad), "<t>", "&");
        assert!(!page.contains("<b>") && !page.contains("<t>") && page.contains("&lt;b&gt;"));
        let back: BatchRow = serde_json::from_str(&batch_json(&bad)).expect("JSON");
        assert_eq!(back, bad);
    }
}
