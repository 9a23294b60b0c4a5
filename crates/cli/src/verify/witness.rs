//! `--witness FILE.yml|.graphml`: what SV-COMP takes for evidence.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parallax_files::{MOST_TEXT, sha256};
use parallax_program::Diagnostic;
use parallax_report::{WitnessLines, WitnessOf, WitnessTask, witness_graphml, witness_yaml};
use parallax_verify::text::shown;
use parallax_verify::validation::{Lines, Stretch};
use parallax_verify::{DataModel, Response, Ruling};

/// Whether a witness is one for the competition, by its name.
pub fn is_exchanged(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("yml" | "yaml" | "graphml"))
}

/// What was asked about.
pub struct Asked {
    pub files: Vec<PathBuf>,
    pub data_model: Option<DataModel>,
}

/// The witness of an answer; the error says why there is none.
pub fn text(path: &Path, asked: &Asked, response: &Response) -> Result<String, Diagnostic> {
    let Some(formulas) = &response.formulas else {
        let error = Diagnostic::new("witnesses of SV-COMP are for its properties");
        return Err(error.with_help("say --property FILE.prp, or give a task, TASK.yml"));
    };
    let of = match (&response.ruling, response.answer.verdict.violations.first()) {
        (Some(Ruling::True), _) => WitnessOf::Correctness,
        (Some(Ruling::False(_)), Some(violation)) => WitnessOf::Violation(violation),
        _ => return Err(Diagnostic::new("unknown: there is no witness to write")),
    };
    let mut task = WitnessTask {
        files: hashes(&asked.files)?,
        specification: formulas.text(),
        calls: formulas.calls(),
        data_model: asked.data_model.unwrap_or(DataModel::Lp64).name(),
        lines: lines(&asked.files)?,
        creation_time: String::new(),
        uuid: String::new(),
        version: env!("CARGO_PKG_VERSION"),
    };
    let is_graph = path.extension().is_some_and(|extension| extension == "graphml");
    let write = if is_graph { witness_graphml } else { witness_yaml };
    // The same witness has the same number: it is made of all the rest.
    task.uuid = uuid(&sha256(write(&task, of).as_bytes()));
    task.creation_time = creation_time();
    Ok(write(&task, of))
}

fn read(path: &Path) -> Result<Vec<u8>, Diagnostic> {
    parallax_files::read(path, MOST_TEXT)
        .map_err(|error| Diagnostic::new(format!("cannot read '{}': {error}", shown(path))))
}

fn hashes(files: &[PathBuf]) -> Result<Vec<(String, String)>, Diagnostic> {
    files.iter().map(|path| Ok((shown(path), sha256(&read(path)?)))).collect()
}

/// Where lines that debug information has are in the file that was given.
fn lines(files: &[PathBuf]) -> Result<Vec<WitnessLines>, Diagnostic> {
    let [only] = files else { return Ok(Vec::new()) };
    let stretches = Lines::of(&String::from_utf8_lossy(&read(only)?)).0.into_iter();
    let named = stretches.filter_map(|Stretch { file, named, line, count }| {
        Some(WitnessLines { file: file?, named, line, count })
    });
    Ok(named.collect())
}

/// A number of the form that UUIDs have, made of a hash (version 8 of RFC 9562).
fn uuid(hash: &str) -> String {
    let part = |from: usize, to: usize| hash.get(from..to).unwrap_or("0");
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(12, 15), part(15, 18), part(18, 30))
}

/// Now, or as `SOURCE_DATE_EPOCH` has it.
fn creation_time() -> String {
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date(given.unwrap_or_else(now))
}

/// Seconds since 1970 as ISO 8601 has them, in UTC.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut day) = (1970, days);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let length = |year: u64| if is_leap(year) { 366 } else { 365 };
    // No clock says more than that.
    while day >= length(year) && year < 9999 {
        day -= length(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn numbers_have_the_form_of_uuids() {
        let hash = sha256(b"");
        assert_eq!(uuid(&hash), "e3b0c442-98fc-81c1-849a-fbf4c8996fb9");
    }
}
