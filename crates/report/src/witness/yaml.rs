//! Witnesses in format 2.x: YAML.
//!
//! A violation is a sequence of segments, each with one place to come by; the last has the target, or
//! both accesses of a race. Threads have numbers from version 2.2 on. Every text is quoted as JSON
//! does it, which YAML reads as it is.

use std::fmt::Write;

use super::path::{Path, Step, What};
use super::{WitnessOf, WitnessTask};

/// Programs with one thread need no number for it.
const SEQUENTIAL: &str = "2.0";
const CONCURRENT: &str = "2.2";

/// The witness as text.
pub fn witness_yaml(task: &WitnessTask, of: WitnessOf<'_>) -> String {
    match of {
        WitnessOf::Correctness => metadata(task, "invariant_set", SEQUENTIAL) + "  content: []\n",
        WitnessOf::Violation(violation) => {
            let path = Path::new(violation, &task.calls);
            let version = if path.is_concurrent { CONCURRENT } else { SEQUENTIAL };
            let mut text = metadata(task, "violation_sequence", version) + "  content:\n";
            for step in &path.steps {
                text += "  - segment:\n";
                waypoint(&mut text, task, step, path.is_concurrent, kind(step));
            }
            text += "  - segment:\n";
            for step in &path.targets {
                waypoint(&mut text, task, step, path.is_concurrent, ("target", None));
            }
            text
        }
    }
}

fn metadata(task: &WitnessTask, kind: &str, version: &str) -> String {
    let mut text = format!(
        "- entry_type: {kind}\n  metadata:\n    format_version: {}\n    uuid: {}\n    \
         creation_time: {}\n    producer:\n      name: \"Parallax\"\n      version: {}\n    task:\n      \
         input_files:\n",
        quoted(version),
        quoted(&task.uuid),
        quoted(&task.creation_time),
        quoted(task.version)
    );
    // Writing to a string does not fail.
    for (name, _) in &task.files {
        let _ = writeln!(text, "      - {}", quoted(name));
    }
    text += "      input_file_hashes:\n";
    for (name, hash) in &task.files {
        let _ = writeln!(text, "        {}: {}", quoted(name), quoted(hash));
    }
    let _ = writeln!(text, "      specification: {}", quoted(&task.specification));
    let _ = writeln!(text, "      data_model: {}\n      language: C", task.data_model);
    text
}

/// The type of a waypoint, and what must hold there: a text and its format.
fn kind(step: &Step) -> (&'static str, Option<(String, &'static str)>) {
    match &step.what {
        What::Visit | What::Create(_) => ("assumption", Some(("1".to_string(), "c_expression"))),
        What::Input { value, .. } => {
            ("function_return", Some((format!("\\result == {value}"), "acsl_expression")))
        }
    }
}

fn waypoint(
    text: &mut String,
    task: &WitnessTask,
    step: &Step,
    has_threads: bool,
    (kind, constraint): (&str, Option<(String, &str)>),
) {
    let _ = writeln!(text, "    - waypoint:\n        type: {kind}\n        action: follow");
    if has_threads {
        let _ = writeln!(text, "        thread_id: {}", step.thread);
    }
    if let Some((value, format)) = constraint {
        let value = quoted(&value);
        let _ = writeln!(
            text,
            "        constraint:\n          value: {value}\n          format: {format}"
        );
    }
    let (file, line) = task.place(step);
    let _ = writeln!(
        text,
        "        location:\n          file_name: {}\n          line: {}\n          function: {}",
        quoted(&file),
        line,
        quoted(&step.function)
    );
}

/// A text as JSON has it, which is YAML too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
