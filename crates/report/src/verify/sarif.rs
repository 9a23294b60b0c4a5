//! A verdict in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS standard),
//! which code hosts and editors show beside the source: each violation is a result, and its
//! execution a code flow with one thread flow a thread.

use parallax_program::{Diagnostic, Location, Property};
use parallax_verdict::{Conclusion, Verdict, Violation};
use serde_json::{Value, json};

use super::story::{Story, headline};
use super::trace::{Detail, Row, ThreadTrace};
use super::{Under, VerifyRun};
use crate::json::to_line;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One line without its end.
pub fn verdict_sarif(run: &VerifyRun<'_>, verdict: &Verdict) -> String {
    let results: Vec<Value> = verdict.violations.iter().map(|v| result(v, run.under)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "parallax",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": verdict.properties.iter().map(|p| rule(*p)).collect::<Vec<_>>(),
            }},
            "invocations": [invocation(verdict)],
            "results": results,
            "properties": {
                "verdict": verdict.conclusion().name(),
                "input": run.input,
                "model": run.under.model,
                "engine": run.engine,
                "executions": verdict.counts.executions,
                "blocked": verdict.counts.blocked,
            },
        }],
    });
    to_line(&log)
}

/// That there is no answer, and why; one line without its end.
pub fn error_sarif(input: &str, errors: &[Diagnostic]) -> String {
    let notifications = errors.iter().map(|error| {
        let text = match &error.help {
            Some(help) => format!("{} ({help})", error.message),
            None => error.message.clone(),
        };
        let mut notification = json!({ "level": "error", "message": { "text": text } });
        if let Some(place) = &error.location {
            notification["locations"] = json!([physical(place)]);
        }
        notification
    });
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "parallax", "version": env!("CARGO_PKG_VERSION") } },
            "invocations": [{
                "executionSuccessful": false,
                "toolConfigurationNotifications": notifications.collect::<Vec<_>>(),
            }],
            "results": [],
            "properties": { "input": input },
        }],
    });
    to_line(&log)
}

fn rule(property: Property) -> Value {
    let description = match property {
        Property::Assert => "An assertion of the program fails",
        Property::Race => "Conflicting accesses, one of them not atomic, that nothing orders",
        Property::Memory => "An access to memory that is not there, or was never written",
        Property::Leak => "An object that is never freed",
        Property::Deadlock => "Threads wait for one another",
        Property::Lock => "A lock is used wrongly",
        Property::Liveness => "A loop waits for a write that nobody makes",
        Property::Overflow => "Arithmetic that the language leaves undefined",
        Property::Layout => "Where objects lie in memory decides what happens",
    };
    json!({ "id": property.name(), "shortDescription": { "text": description } })
}

/// Not knowing is a notification, not a result.
fn invocation(verdict: &Verdict) -> Value {
    let mut notifications = Vec::new();
    if let Some(reason) = &verdict.reason {
        let mut notification = json!({ "level": "warning", "message": { "text": reason.message } });
        if let Some(place) = &reason.place {
            notification["locations"] = json!([physical(place)]);
        }
        notifications.push(notification);
    }
    json!({
        "executionSuccessful": verdict.conclusion() != Conclusion::Unknown,
        "toolExecutionNotifications": notifications,
    })
}

fn result(violation: &Violation, under: Under<'_>) -> Value {
    let story = Story::new(violation, under, Detail::Full);
    let mut text = vec![headline(violation)];
    text.extend(story.finding.iter().map(|finding| finding.text.clone()));
    let why = story.why.iter().flat_map(|why| &why.sentences);
    text.extend(why.map(|sentence| sentence.text.clone()));
    let flows: Vec<Value> =
        story.threads.iter().filter_map(|thread| thread_flow(thread, violation)).collect();
    let mut result = json!({
        "ruleId": violation.property.name(),
        "level": "error",
        "message": { "text": text.join(".\n") },
        "locations": violation.place.iter().map(physical).collect::<Vec<_>>(),
    });
    if !flows.is_empty() {
        result["codeFlows"] = json!([{ "threadFlows": flows }]);
    }
    result
}

/// None for a thread that does nothing: a flow has at least one location.
fn thread_flow(thread: &ThreadTrace, violation: &Violation) -> Option<Value> {
    let steps = thread.rows.iter().filter_map(|row| match row {
        Row::Step(step) => Some(step),
        _ => None,
    });
    let locations: Vec<Value> = steps
        .filter_map(|step| {
            let place = violation.execution.events[step.event as usize].place.as_ref()?;
            let mut location = physical(place);
            location["message"] = json!({ "text": step.words });
            let importance = if step.involved { "essential" } else { "important" };
            Some(json!({
                "location": location,
                "executionOrder": step.step,
                "importance": importance,
            }))
        })
        .collect();
    (!locations.is_empty()).then(|| json!({ "id": thread.name, "locations": locations }))
}

fn physical(place: &Location) -> Value {
    json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file) },
            "region": { "startLine": place.line.max(1), "startColumn": place.column.max(1) },
        },
    })
}

/// A path as a URI reference: what is no unreserved character of RFC 3986 is escaped.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            b'\\' => uri.push('/'),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(uri("/tmp/é.c"), "file:///tmp/%C3%A9.c");
    }
}
