//! Machine-readable answers: one JSON object a line, the fields that people script against.

use std::time::Duration;

use parallax_program::{Diagnostics, Help, Location, is_obeyed};
use parallax_verdict::{Ending, FinalState, Observation, Outcomes, Scope};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Which test, of which file, under which model.
#[derive(Clone, Copy, Debug)]
pub struct TestRun<'a> {
    pub test: &'a str,
    pub file: &'a str,
    pub arch: &'a str,
    pub model: &'a str,
    pub time: Duration,
}

/// The answer to one test, on one line without its end.
pub fn outcomes_json(run: TestRun<'_>, outcomes: &Outcomes) -> String {
    let (ending, scope, reason) = match &outcomes.ending {
        Ending::Complete => ("complete", Some("complete"), None),
        Ending::Bounded => ("bounded", Some("bounded"), None),
        Ending::Stopped { reason } => ("stopped", None, Some(reason.as_str())),
    };
    let condition = if outcomes.condition_holds() { "ok" } else { "no" };
    let answer = Answer {
        test: run.test,
        file: run.file,
        arch: run.arch,
        model: run.model,
        condition: outcomes.is_settled().then_some(condition),
        observation: match outcomes.observation() {
            Observation::Never => "never",
            Observation::Sometimes => "sometimes",
            Observation::Always => "always",
        },
        positive: outcomes.positive,
        negative: outcomes.negative,
        states: outcomes.states.iter().map(State).collect(),
        executions: outcomes.positive.saturating_add(outcomes.negative),
        flags: &outcomes.flags,
        ending,
        scope,
        reason,
        counts: if outcomes.counts_are_total { "total" } else { "needed" },
        time_s: run.time.as_secs_f64(),
    };
    to_line(&answer)
}

/// What is wrong with a test, on one line without its end. Readers that know only `error`
/// see the first error; `errors` has them all.
pub fn error_json(test: Option<&str>, file: &str, diagnostics: &Diagnostics) -> String {
    let errors: Vec<Problem> = diagnostics
        .iter()
        .map(|diagnostic| Problem {
            message: &diagnostic.message,
            file: diagnostic.location.as_ref().map(|l| l.file.as_ref()),
            line: diagnostic.location.as_ref().map(line),
            column: diagnostic.location.as_ref().map(column),
            help: diagnostic.help.as_ref().map(Help::to_string),
        })
        .collect();
    let failure = Failure { test, file, error: errors.first(), errors: &errors };
    to_line(&failure)
}

/// What an answer holds for, and the bound on loops if that is one.
pub fn scope(scope: Option<Scope>) -> (Option<&'static str>, Option<u32>) {
    match scope {
        Some(Scope::Complete) => (Some("complete"), None),
        Some(Scope::Bounded(bound)) => (Some("bounded"), Some(bound)),
        Some(Scope::Restricted) => (Some("restricted"), None),
        None => (None, None),
    }
}

fn line(location: &Location) -> u32 {
    location.line
}

fn column(location: &Location) -> u32 {
    location.column
}

/// A value on one line. What a terminal would obey is spelled out as JSON does it; outside of strings
/// there is none of that.
pub fn to_line(value: &impl Serialize) -> String {
    // Only maps with keys that are not strings can fail; there are none.
    let line = serde_json::to_string(value).unwrap_or_default();
    match line.contains(is_obeyed) {
        true => line.chars().flat_map(spelled_out).collect(),
        false => line,
    }
}

/// None of the characters that are obeyed needs more than four digits.
fn spelled_out(c: char) -> Vec<char> {
    match is_obeyed(c) {
        true => format!("\\u{:04x}", u32::from(c)).chars().collect(),
        false => vec![c],
    }
}

#[derive(Serialize)]
struct Answer<'a> {
    test: &'a str,
    file: &'a str,
    arch: &'a str,
    model: &'a str,
    /// Null where the search was stopped before the answer was settled.
    condition: Option<&'static str>,
    observation: &'static str,
    positive: u64,
    negative: u64,
    states: Vec<State<'a>>,
    executions: u64,
    flags: &'a [String],
    ending: &'static str,
    scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    counts: &'static str,
    time_s: f64,
}

struct State<'a>(&'a FinalState);

impl Serialize for State<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.values.len()))?;
        for value in &self.0.values {
            map.serialize_entry(&value.name, &value.shown)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Failure<'a> {
    test: Option<&'a str>,
    file: &'a str,
    error: Option<&'a Problem<'a>>,
    errors: &'a [Problem<'a>],
}

#[derive(Serialize)]
struct Problem<'a> {
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}
