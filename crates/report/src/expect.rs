//! Expected answers: a CSV file with the columns `file,model,condition`, and what differs
//! from it. Fields may be quoted as RFC 4180 has it.

use std::fmt;

use parallax_program::{Diagnostics, SourceFile, Span};

use crate::json::to_line;

/// One row: what the condition of a test should be under a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expectation {
    /// As the row has it: relative to the CSV file.
    pub file: String,
    pub model: String,
    pub holds: bool,
}

/// What a run said about a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Holds(bool),
    /// No answer, and why.
    Failed(String),
}

/// A row that did not come out as expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    pub expectation: Expectation,
    pub answer: Answer,
}

/// How many rows came out how.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    pub agree: u64,
    pub differ: u64,
    pub failed: u64,
}

impl Tally {
    pub fn add(&mut self, difference: Option<&Difference>) {
        match difference.map(|difference| &difference.answer) {
            None => self.agree += 1,
            Some(Answer::Holds(_)) => self.differ += 1,
            Some(Answer::Failed(_)) => self.failed += 1,
        }
    }

    pub fn all_agree(&self) -> bool {
        self.differ == 0 && self.failed == 0
    }

    /// One JSON object, without a line end.
    pub fn to_json(&self) -> String {
        serde_json::json!({"agree": self.agree, "differ": self.differ, "failed": self.failed})
            .to_string()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} agree, {} differ, {} failed", self.agree, self.differ, self.failed)
    }
}

impl Difference {
    /// One JSON object, without a line end.
    pub fn to_json(&self) -> String {
        let expected = word(self.expectation.holds);
        let mut object = serde_json::json!({
            "file": self.expectation.file,
            "model": self.expectation.model,
            "expected": expected,
        });
        match &self.answer {
            Answer::Holds(holds) => object["found"] = word(*holds).into(),
            Answer::Failed(reason) => object["failed"] = reason.as_str().into(),
        }
        to_line(&object)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expectation { file, model, holds } = &self.expectation;
        write!(f, "{file} ({model}): expected {}, ", word(*holds))?;
        match &self.answer {
            Answer::Holds(holds) => write!(f, "found {}", word(*holds)),
            Answer::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}

fn word(holds: bool) -> &'static str {
    if holds { "ok" } else { "no" }
}

/// None where the answer is the expected one.
pub fn compare(expectation: &Expectation, answer: Answer) -> Option<Difference> {
    (answer != Answer::Holds(expectation.holds))
        .then(|| Difference { expectation: expectation.clone(), answer })
}

/// Reads a whole CSV file; all its errors together.
pub fn parse_expectations(name: &str, text: &str) -> Result<Vec<Expectation>, Diagnostics> {
    let source = SourceFile::new(name, text);
    let mut errors = Diagnostics::new();
    let mut records = Records { text, at: 0 };
    let mut rows = Vec::new();
    let mut first = true;
    while let Some(record) = records.next_record() {
        let heading = std::mem::replace(&mut first, false);
        match record {
            Err((span, message)) => errors.push(source.error(span, message)),
            Ok((_, fields)) if heading => {
                if fields != ["file", "model", "condition"] {
                    let message = "expected the heading 'file,model,condition'";
                    errors.push(source.error(Span::new(0, text.find('\n').unwrap_or(0)), message));
                }
            }
            Ok((_, fields)) if fields == [""] => {}
            Ok((span, fields)) => match expectation(&fields) {
                Ok(row) => rows.push(row),
                Err(message) => errors.push(source.error(span, message)),
            },
        }
    }
    if first {
        let message = "the file is empty: expected the heading 'file,model,condition'";
        errors.push(source.error(Span::new(0, 0), message));
    } else if rows.is_empty() && errors.is_empty() {
        let message = "there is no row below the heading, so nothing is expected";
        errors.push(source.error(Span::new(0, 0), message));
    }
    if errors.is_empty() { Ok(rows) } else { Err(errors) }
}

fn expectation(fields: &[String]) -> Result<Expectation, String> {
    let [file, model, condition] = fields else {
        return Err(format!("expected 3 fields (file,model,condition), found {}", fields.len()));
    };
    let holds = match condition.to_ascii_lowercase().as_str() {
        "ok" => true,
        "no" => false,
        other => {
            return Err(format!("expected the condition 'ok' or 'no', found '{other}'"));
        }
    };
    Ok(Expectation { file: file.clone(), model: model.clone(), holds })
}

/// The records of a CSV text, one after another.
struct Records<'a> {
    text: &'a str,
    at: usize,
}

type Record = Result<(Span, Vec<String>), (Span, &'static str)>;

impl Records<'_> {
    fn next_record(&mut self) -> Option<Record> {
        if self.at >= self.text.len() {
            return None;
        }
        let start = self.at;
        let mut fields = Vec::new();
        loop {
            match self.field() {
                Ok(field) => fields.push(field),
                Err(error) => {
                    self.skip_line();
                    return Some(Err(error));
                }
            }
            if !self.skip(",") {
                break;
            }
        }
        let end = self.at;
        if !self.skip("\r\n") && !self.skip("\n") && self.at < self.text.len() {
            let span = Span::new(self.at, self.at + 1);
            self.skip_line();
            return Some(Err((span, "expected ',' or the end of the line here")));
        }
        Some(Ok((Span::new(start, end), fields)))
    }

    fn field(&mut self) -> Result<String, (Span, &'static str)> {
        if self.skip("\"") {
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let length = rest.find([',', '\n']).unwrap_or(rest.len());
        let field = rest[..length].trim_end_matches('\r');
        self.at += field.len();
        Ok(field.to_string())
    }

    /// The rest of a quoted field; `""` stands for a quote.
    fn quoted(&mut self) -> Result<String, (Span, &'static str)> {
        let open = self.at - 1;
        let mut field = String::new();
        loop {
            let rest = &self.text[self.at..];
            let Some(quote) = rest.find('"') else {
                return Err((Span::new(open, open + 1), "this quote is never closed"));
            };
            field.push_str(&rest[..quote]);
            self.at += quote + 1;
            if !self.skip("\"") {
                return Ok(field);
            }
            field.push('"');
        }
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find('\n').map_or(rest.len(), |end| end + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(file: &str, model: &str, holds: bool) -> Expectation {
        Expectation { file: file.to_string(), model: model.to_string(), holds }
    }

    #[test]
    fn rows_with_and_without_quotes() {
        let text = "file,model,condition\r\na.litmus,tso,ok\r\n\n\"b,\"\"1\"\".litmus\",sc,No";
        let rows = parse_expectations("e.csv", text).expect("a good file");
        assert_eq!(rows, [row("a.litmus", "tso", true), row("b,\"1\".litmus", "sc", false)]);
    }

    #[test]
    fn all_errors_have_places() {
        let text = "file,model\na,b,maybe\na,b\n\"a\"b,c\n\"open";
        let errors = parse_expectations("e.csv", text).expect_err("a bad file");
        let places: Vec<_> = errors.iter().flat_map(|e| &e.location).collect();
        let places: Vec<_> = places.iter().map(|l| (l.line, l.column)).collect();
        assert_eq!(places, [(1, 1), (2, 1), (3, 1), (4, 4), (5, 1)]);
        assert!(parse_expectations("e.csv", "").is_err());
    }

    #[test]
    fn differences_are_reported_and_counted() {
        let expected = row("a.litmus", "tso", true);
        assert_eq!(compare(&expected, Answer::Holds(true)), None);
        let differs = compare(&expected, Answer::Holds(false)).expect("differs");
        assert_eq!(differs.to_string(), "a.litmus (tso): expected ok, found no");
        let failed = compare(&expected, Answer::Failed("gone".into())).expect("fails");
        assert_eq!(
            failed.to_json(),
            r#"{"expected":"ok","failed":"gone","file":"a.litmus","model":"tso"}"#
        );
        let mut tally = Tally::default();
        tally.add(None);
        tally.add(Some(&differs));
        tally.add(Some(&failed));
        assert_eq!(tally.to_string(), "1 agree, 1 differ, 1 failed");
        assert!(!tally.all_agree());
    }
}
