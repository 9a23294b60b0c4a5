//! Logs are what the schema of SARIF 2.1.0 asks for, as far as they use it: every property that is
//! written is one that the schema has there, with its type, and those that it requires are there.

use std::time::Duration;

use parallax_program::{Diagnostic, Property};
use parallax_report::{Under, VerifyRun, error_sarif, verdict_sarif};
use parallax_verdict::Reason;
use serde_json::Value;

use crate::verdicts::programs::{ended, execution, place, verdict, violation};

const RUN: VerifyRun<'static> = VerifyRun {
    input: "a b.c",
    under: Under { model: "sc", order: None },
    engine: "explore",
    engine_summary: "execution graphs, each once",
    counts_executions: true,
    all: false,
    time: Duration::from_millis(1),
    peak_rss_kib: 1,
    solver: None,
    candidate: None,
};

/// Objects by name: their properties, and what each holds: `text`, `number from N`, `truth`, `any`, `one of
/// …`, the name of an object, or a list of that in brackets. `!` is behind those that must be there.
const OBJECTS: [(&str, &[(&str, &str)]); 16] = [
    ("log", &[("$schema", "text"), ("version!", "one of 2.1.0"), ("runs!", "[run]")]),
    (
        "run",
        &[
            ("tool!", "tool"),
            ("invocations", "[invocation]"),
            ("results", "[result]"),
            ("properties", "any"),
        ],
    ),
    ("tool", &[("driver!", "component")]),
    ("component", &[("name!", "text"), ("version", "text"), ("rules", "[rule]")]),
    ("rule", &[("id!", "text"), ("shortDescription", "message")]),
    (
        "invocation",
        &[
            ("executionSuccessful!", "truth"),
            ("toolExecutionNotifications", "[notification]"),
            ("toolConfigurationNotifications", "[notification]"),
        ],
    ),
    ("notification", &[("message!", "message"), ("level", LEVEL), ("locations", "[location]")]),
    (
        "result",
        &[
            ("ruleId", "text"),
            ("level", LEVEL),
            ("message!", "message"),
            ("locations", "[location]"),
            ("codeFlows", "[flow]"),
        ],
    ),
    ("message", &[("text!", "text")]),
    ("flow", &[("threadFlows!", "[thread]+")]),
    ("thread", &[("id", "text"), ("locations!", "[step]+")]),
    (
        "step",
        &[
            ("location", "location"),
            ("executionOrder", "number from -1"),
            ("importance", "one of important essential unimportant"),
        ],
    ),
    ("location", &[("physicalLocation", "physical"), ("message", "message")]),
    ("physical", &[("artifactLocation", "artifact"), ("region", "region")]),
    ("artifact", &[("uri", "reference")]),
    ("region", &[("startLine", "number from 1"), ("startColumn", "number from 1")]),
];

const LEVEL: &str = "one of none note warning error";

fn object(value: &Value, name: &str, at: &str) {
    let known = OBJECTS.iter().find(|(known, _)| *known == name).expect("an object").1;
    let fields = value.as_object().unwrap_or_else(|| panic!("{at} is no object: {value}"));
    for (name, own) in fields {
        let field = known.iter().find(|(known, _)| known.trim_end_matches('!') == name);
        let (_, kind) = field.unwrap_or_else(|| panic!("{at} has no {name}"));
        holds(own, kind, &format!("{at}/{name}"));
    }
    for (name, _) in known {
        let required = name.strip_suffix('!');
        assert!(required.is_none_or(|name| fields.contains_key(name)), "{at} without {name}");
    }
}

fn holds(value: &Value, kind: &str, at: &str) {
    if let Some(inner) = kind.strip_prefix('[') {
        let (inner, rest) = inner.split_once(']').expect("a bracket");
        let items = value.as_array().unwrap_or_else(|| panic!("{at} is no list"));
        assert!(rest != "+" || !items.is_empty(), "{at} is empty");
        items.iter().enumerate().for_each(|(n, item)| holds(item, inner, &format!("{at}/{n}")));
        return;
    }
    if let Some(names) = kind.strip_prefix("one of ") {
        let word = value.as_str().unwrap_or_else(|| panic!("{at} is no text"));
        assert!(names.split(' ').any(|name| name == word), "{at}: {word}");
        return;
    }
    if let Some(least) = kind.strip_prefix("number from ") {
        let number = value.as_i64().unwrap_or_else(|| panic!("{at} is no number"));
        assert!(number >= least.parse().expect("a number"), "{at}: {number}");
        return;
    }
    match kind {
        "any" => {}
        "text" => assert!(value.is_string(), "{at}: {value}"),
        "truth" => assert!(value.is_boolean(), "{at}: {value}"),
        "reference" => {
            let text = value.as_str().unwrap_or_else(|| panic!("{at} is no text"));
            assert!(text.is_ascii() && !text.contains([' ', '<', '>', '"', '\\']), "{at}: {text}");
        }
        name => object(value, name, at),
    }
}

#[track_caller]
fn check(text: &str) {
    let log: Value = serde_json::from_str(text).expect("JSON");
    object(&log, "log", "");
    for run in log["runs"].as_array().expect("runs") {
        let rules = run["tool"]["driver"]["rules"].as_array();
        for result in run["results"].as_array().into_iter().flatten() {
            let is_rule = |rule: &Value| rule["id"] == result["ruleId"];
            assert!(rules.is_some_and(|rules| rules.iter().any(is_rule)), "{}", result["ruleId"]);
        }
    }
}

#[test]
fn logs_are_what_the_schema_asks_for() {
    let lines: &[&str] = &["7: reads count=0 ; count++;", "8: writes count=1 ; count++;"];
    let mut race = execution(&["count=0"], &[("one", lines, ended()), ("none", &[], ended())]);
    race.rf = vec![(0, 1)];
    race.co = vec![(0, 2)];
    let mut found = violation(Property::Race, "data race on count", 8, race, &[1, 2]);
    check(&verdict_sarif(&RUN, &verdict(vec![found.clone()])));
    found.place = None;
    check(&verdict_sarif(&RUN, &verdict(vec![found])));
    check(&verdict_sarif(&RUN, &verdict(Vec::new())));
    let reason =
        Reason { message: "why".to_string(), place: Some(place(3)), help: Some("what".into()) };
    check(&verdict_sarif(&RUN, &verdict(Vec::new()).withdrawn(reason)));
    let mut error = Diagnostic::new("no");
    check(&error_sarif("a.c", &[error.clone()]));
    error.location = Some(place(0));
    check(&error_sarif("a.c", &[error.with_help("yes")]));
}
