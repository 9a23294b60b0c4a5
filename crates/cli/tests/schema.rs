//! What `verify --format json` prints is what `docs/src/verdict.schema.json` describes.
//!
//! The checker knows the part of JSON Schema that the file uses, and refuses any other word.

use crate::support;

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::run_in;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema() -> Value {
    let text = std::fs::read_to_string(root().join("docs/src/verdict.schema.json"));
    serde_json::from_str(&text.expect("a schema")).expect("JSON")
}

/// What is wrong with a value, with the way to it.
fn errors(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, wanted) in schema.as_object().expect("an object") {
        let is_right = match word.as_str() {
            "$schema" | "title" | "description" | "$defs" | "required" => true,
            "$ref" => {
                let path = wanted.as_str().and_then(|path| path.strip_prefix('#'));
                let target = path.and_then(|path| root.pointer(path)).expect("a definition");
                found.extend(errors(value, target, root, at));
                true
            }
            "const" => value == wanted,
            "enum" => wanted.as_array().expect("a list").contains(value),
            "anyOf" => {
                let mut ways = wanted.as_array().expect("a list").iter();
                ways.any(|way| errors(value, way, root, at).is_empty())
            }
            "type" => match wanted {
                Value::String(name) => is_of_type(value, name),
                _ => {
                    let mut names = wanted.as_array().expect("a list").iter();
                    names.any(|name| is_of_type(value, name.as_str().expect("a name")))
                }
            },
            "minimum" => value.as_f64().is_none_or(|number| Some(number) >= wanted.as_f64()),
            "minItems" => value.as_array().is_none_or(|v| Some(v.len() as u64) >= wanted.as_u64()),
            "maxItems" => value.as_array().is_none_or(|v| Some(v.len() as u64) <= wanted.as_u64()),
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(errors(item, wanted, root, &format!("{at}/{number}")));
                }
                true
            }
            "properties" => {
                for (name, own) in value.as_object().into_iter().flatten() {
                    if let Some(wanted) = wanted.get(name) {
                        found.extend(errors(own, wanted, root, &format!("{at}/{name}")));
                    }
                }
                true
            }
            "additionalProperties" => {
                assert_eq!(wanted, &Value::Bool(false));
                let mut names = value.as_object().into_iter().flat_map(|object| object.keys());
                names.all(|name| schema["properties"].get(name).is_some())
            }
            word => panic!("the checker does not know '{word}'"),
        };
        if !is_right {
            found.push(format!("{at}: {word} {wanted}, not {value}"));
        }
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().expect("a name");
        if value.get(name).is_none() {
            found.push(format!("{at}: no '{name}'"));
        }
    }
    found
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        name => panic!("the checker does not know the type '{name}'"),
    }
}

#[test]
fn verdicts_are_as_the_schema_says() {
    let schema = schema();
    let asked: [&[&str]; 8] = [
        &["examples/tutorial/store-buffering.c"],
        &["examples/tutorial/message-passing-fixed.c"],
        &["--all", "--model", "tso", "examples/c/dekker.c"],
        &["--engine", "states", "--model", "sc", "examples/c/peterson.c"],
        &["--engine", "bounded", "--model", "aarch64", "examples/tutorial/message-passing.c"],
        &["--engine", "inductive", "--model", "rc11", "examples/c/peterson.c"],
        &["examples/store-buffering.litmus"],
        &["examples/ops/store-buffering.ops"],
    ];
    let mut verdicts = Vec::new();
    for arguments in asked {
        let arguments = [&["verify", "--format", "json"], arguments].concat();
        let run = run_in(&root(), &arguments);
        let answer: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", run.stdout));
        let wrong = errors(&answer, &schema, &schema, "");
        assert!(wrong.is_empty(), "{arguments:?}: {}", wrong.join("\n"));
        verdicts.push(answer["verdict"].clone());
    }
    for verdict in ["safe", "unsafe", "unknown"] {
        assert!(verdicts.contains(&Value::from(verdict)), "{verdict} is not among {verdicts:?}");
    }
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let schema = schema();
    let run = run_in(&root(), &["verify", "--format", "json", "examples/store-buffering.litmus"]);
    let right: Value = serde_json::from_str(&run.stdout).expect("JSON");
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut answer = right.clone();
        change(&mut answer);
        assert!(!errors(&answer, &schema, &schema, "").is_empty(), "{answer}");
    };
    wrong(&|answer| answer["verdict"] = Value::from("maybe"));
    wrong(&|answer| answer["version"] = Value::from(2));
    wrong(&|answer| answer["more"] = Value::from(1));
    wrong(&|answer| answer["executions"] = Value::from(-1));
    wrong(&|answer| answer["violations"][0]["execution"]["rf"][0] = Value::from(vec![1]));
    wrong(&|answer| {
        answer["violations"][0].as_object_mut().expect("a violation").remove("message");
    });
}
