//! Answers that are kept in a file, a line each, so that a batch that was broken off goes on where it
//! was. An answer counts for the same question to the same version about files with the same content.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use parallax_files::{MOST_TEXT, read, sha256};
use parallax_program::{Diagnostic, Diagnostics};
use parallax_report::BatchRow;
use parallax_verify::batch::Question;
use parallax_verify::text::shown;
use serde_json::{Value, json};

use super::super::output::unwritten;
use crate::output;

pub struct Kept {
    path: PathBuf,
    rows: HashMap<String, BatchRow>,
    file: Mutex<File>,
}

impl Kept {
    /// Opens a file, which need not be there, and reads what is in it.
    pub fn open(path: &Path) -> Result<Kept, Diagnostics> {
        let mut rows = HashMap::new();
        let mut whole = None;
        if path.exists() {
            let bytes = read(path, MOST_TEXT).map_err(|error| {
                vec![Diagnostic::new(format!("cannot read '{}': {error}", shown(path)))]
            })?;
            // The last line of a process that was ended has no end.
            let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            whole = (end < bytes.len()).then_some(end as u64);
            let (text, rest) = bytes.split_at(end);
            if !(rest.starts_with(START) || START.starts_with(rest)) {
                return Err(vec![no_answer(path, text.split(|byte| *byte == b'\n').count())]);
            }
            let text = String::from_utf8_lossy(text);
            for (number, line) in text.lines().enumerate() {
                match entry(line) {
                    Some((key, row)) => {
                        rows.insert(key, row);
                    }
                    None => {
                        return Err(vec![no_answer(path, number + 1)]);
                    }
                }
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let cut = file.and_then(|file| {
            whole.map_or(Ok(()), |length| file.set_len(length))?;
            Ok(file)
        });
        let file = cut.map_err(|error| vec![unwritten(path, &error)])?;
        Ok(Kept { path: path.to_path_buf(), rows, file: Mutex::new(file) })
    }

    pub fn row(&self, key: &str) -> Option<BatchRow> {
        self.rows.get(key).cloned()
    }

    /// Errors are not kept: what was wrong may be right the next time.
    pub fn keep(&self, key: &str, row: &BatchRow) {
        if row.verdict == "error" {
            return;
        }
        let line = json!({ "key": key, "row": row }).to_string() + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written: io::Result<()> = file.write_all(line.as_bytes());
        if let Err(error) = written {
            output::report(&unwritten(&self.path, &error));
        }
    }
}

/// How the line of an answer begins.
const START: &[u8] = b"{\"key\":\"";

/// A file that is something else is not written to.
fn no_answer(path: &Path, line: usize) -> Diagnostic {
    let place = format!("{}:{line}", shown(path));
    let error = Diagnostic::new(format!("{place}: this is no kept answer"));
    error.with_help("--results takes a file of an earlier batch, or a new one")
}

fn entry(line: &str) -> Option<(String, BatchRow)> {
    if line.trim().is_empty() {
        return Some((String::new(), BatchRow::default()));
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let row = serde_json::from_value(value.get("row")?.clone()).ok()?;
    Some((value.get("key")?.as_str()?.to_string(), row))
}

/// What distinguishes questions.
pub fn key(words: &[String], question: &Question) -> String {
    let named = [question.model.as_deref(), question.property.as_deref()];
    let named = named.into_iter().flatten().filter(|name| is_file(name)).map(PathBuf::from);
    let mut text = env!("CARGO_PKG_VERSION").to_string();
    for word in words {
        text = text + "\0" + word;
    }
    for path in question.files.iter().cloned().chain(named) {
        let content = read(&path, MOST_TEXT).map_or_else(|_| String::new(), |bytes| sha256(&bytes));
        text = text + "\0" + &content;
    }
    sha256(text.as_bytes())
}

fn is_file(name: &str) -> bool {
    name.ends_with(".cat") || name.ends_with(".prp")
}
