//! Witnesses in format 1.0: an automaton, as GraphML.
//!
//! Ours is a single path. Each edge is a place that a thread comes by; the last one leads to the
//! violation.

use std::collections::HashSet;
use std::fmt::Write;

use super::path::{Path, Step, What};
use super::{WitnessOf, WitnessTask};

/// The keys that are used: name, type, and what they are of.
const KEYS: [(&str, &str, &str); 21] = [
    ("witness-type", "string", "graph"),
    ("sourcecodelang", "string", "graph"),
    ("producer", "string", "graph"),
    ("specification", "string", "graph"),
    ("programfile", "string", "graph"),
    ("programhash", "string", "graph"),
    ("architecture", "string", "graph"),
    ("creationtime", "string", "graph"),
    ("entry", "boolean", "node"),
    ("violation", "boolean", "node"),
    ("sink", "boolean", "node"),
    ("startline", "int", "edge"),
    ("endline", "int", "edge"),
    ("originfile", "string", "edge"),
    ("threadId", "string", "edge"),
    ("createThread", "string", "edge"),
    ("enterFunction", "string", "edge"),
    ("returnFromFunction", "string", "edge"),
    ("assumption", "string", "edge"),
    ("assumption.scope", "string", "edge"),
    ("assumption.resultfunction", "string", "edge"),
];

/// The witness as text.
pub fn witness_graphml(task: &WitnessTask, of: WitnessOf<'_>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n",
    );
    for (name, kind, of) in KEYS {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "  <key attr.name=\"{name}\" attr.type=\"{kind}\" for=\"{of}\" id=\"{name}\"/>"
        );
    }
    text += "  <graph edgedefault=\"directed\">\n";
    head(&mut text, task, of);
    text += "    <node id=\"N0\">\n      <data key=\"entry\">true</data>\n    </node>\n";
    if let WitnessOf::Violation(violation) = of {
        edges(&mut text, task, &Path::new(violation, &task.calls));
    }
    text + "  </graph>\n</graphml>\n"
}

fn head(text: &mut String, task: &WitnessTask, of: WitnessOf<'_>) {
    let kind = match of {
        WitnessOf::Violation(_) => "violation_witness",
        WitnessOf::Correctness => "correctness_witness",
    };
    let architecture = if task.data_model == "ILP32" { "32bit" } else { "64bit" };
    let hash = task.files.first().map_or("", |(_, hash)| hash);
    let producer = format!("Parallax {}", task.version);
    let data = [
        ("witness-type", kind),
        ("sourcecodelang", "C"),
        ("producer", &producer),
        ("specification", &task.specification),
        ("programfile", task.first_file()),
        ("programhash", hash),
        ("architecture", architecture),
        ("creationtime", &task.creation_time),
    ];
    for (key, value) in data {
        let _ = writeln!(text, "    <data key=\"{key}\">{}</data>", escaped(value));
    }
}

fn edges(text: &mut String, task: &WitnessTask, path: &Path) {
    let mut threads: HashSet<u32> = HashSet::new();
    let mut number = 0;
    let mut edge = |text: &mut String, data: &[(&str, String)], is_last: bool| {
        let _ = writeln!(text, "    <node id=\"N{}\">", number + 1);
        if is_last {
            text.push_str("      <data key=\"violation\">true</data>\n");
        }
        let _ = writeln!(text, "    </node>");
        let _ = writeln!(text, "    <edge source=\"N{number}\" target=\"N{}\">", number + 1);
        for (key, value) in data {
            let _ = writeln!(text, "      <data key=\"{key}\">{}</data>", escaped(value));
        }
        text.push_str("    </edge>\n");
        number += 1;
    };
    let start = [("createThread", "0".to_string()), ("enterFunction", "main".to_string())];
    edge(text, &start, false);
    threads.insert(0);
    for step in &path.steps {
        let mut data = place(task, step);
        if threads.insert(step.thread) {
            data.push(("enterFunction", step.function.clone()));
        }
        match &step.what {
            What::Visit => {}
            What::Create(child) => data.push(("createThread", child.to_string())),
            What::Input { function, value } => {
                data.push(("assumption", format!("\\result == {value};")));
                data.push(("assumption.scope", step.function.clone()));
                data.push(("assumption.resultfunction", function.clone()));
            }
        }
        edge(text, &data, false);
    }
    let count = path.targets.len();
    for (number, step) in path.targets.iter().enumerate() {
        let mut data = place(task, step);
        if let (Some(error), 1) = (task.calls.first(), count) {
            data.push(("enterFunction", error.clone()));
        }
        edge(text, &data, number + 1 == count);
    }
}

fn place(task: &WitnessTask, step: &Step) -> Vec<(&'static str, String)> {
    let (file, line) = task.place(step);
    vec![
        ("originfile", file),
        ("startline", line.to_string()),
        ("endline", line.to_string()),
        ("threadId", step.thread.to_string()),
    ]
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // Nothing else below a blank is allowed there.
            '\t' | '\n' => escaped.push(c),
            c if u32::from(c) < 32 => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}
