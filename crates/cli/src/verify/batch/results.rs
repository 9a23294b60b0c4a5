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
        let mut is_torn = false;
        if path.exists() {
            let bytes = read(path, MOST_TEXT).map_err(|error| {
                vec![Diagnostic::new(format!("cannot read '{}': {error}", shown(path)))]
            })?;
            let text = String::from_utf8_lossy(&bytes);
            is_torn = !text.is_empty() && !text.ends_with('\n');
            for (number, line) in text.lines().enumerate() {
                match entry(line) {
                    Some((key, row)) => {
                        rows.insert(key, row);
                    }
                    // The last line of a process that was ended.
                    None if is_torn && number + 1 == text.lines().count() => {}
                    None => {
                        let place = format!("{}:{}", shown(path), number + 1);
                        let error = Diagnostic::new(format!("{place}: this is no kept answer"));
                        return Err(vec![error.with_help(
                            "--results takes a file of an earlier batch, or a new one",
                        )]);
                    }
                }
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        let mut file = file.map_err(|error| vec![unwritten(path, &error)])?;
        if is_torn {
            file.write_all(b"\n").map_err(|error| vec![unwritten(path, &error)])?;
        }
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
