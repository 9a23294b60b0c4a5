//! What `--format json` prints is what the schemas in `docs/src` describe.
//!
//! The checker knows the part of JSON Schema that the file uses, and refuses any other word.

use crate::support;

use std::path::{Path, PathBuf};

use parallax_program::Property;
use parallax_verify::registry::ENGINES;
use serde_json::Value;
use support::{Folder, SB, endless, run_in};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn schema(name: &str) -> Value {
    let path = root().join("docs/src").join(format!("{name}.schema.json"));
    let text = std::fs::read_to_string(path).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

/// What a command prints, one object a line, each as the schema says.
fn answers(folder: &Path, arguments: &[&str], schema: &Value) -> Vec<Value> {
    let run = run_in(folder, arguments);
    assert!(!run.stdout.is_empty(), "{arguments:?}: {}", run.stderr);
    let lines = run.stdout.lines().map(|line| {
        let answer: Value = serde_json::from_str(line)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {line}"));
        let wrong = errors(&answer, schema, schema, "");
        assert!(wrong.is_empty(), "{arguments:?}: {}", wrong.join("\n"));
        answer
    });
    lines.collect()
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
    let schema = schema("verdict");
    let asked: [&[&str]; 16] = [
        &["examples/tutorial/store-buffering.c"],
        &["examples/tutorial/message-passing-fixed.c"],
        &["--all", "--model", "tso", "examples/c/dekker.c"],
        &["--engine", "explore", "--model", "sc", "examples/c/peterson.c"],
        &["--engine", "states", "--model", "sc", "examples/c/peterson.c"],
        &["--engine", "symbolic", "--model", "tso", "examples/c/peterson.c"],
        &["--engine", "symbolic", "--model", "sc", "examples/c/peterson.c"],
        &["--engine", "abstract", "--model", "tso", "-p", "assert", "examples/c/peterson.c"],
        &["--engine", "view", "--model", "sc", "-p", "assert", "examples/c/peterson.c"],
        &["--engine", "static", "-p", "race", "examples/tutorial/message-passing-fixed.c"],
        &["--engine", "bounded", "--model", "aarch64", "examples/tutorial/message-passing.c"],
        &["--engine", "inductive", "--model", "rc11", "examples/c/peterson.c"],
        &["--engine", "enumerate", "examples/store-buffering.litmus"],
        &["--memory-limit", "1", "examples/c/peterson.c"],
        &["examples/store-buffering.litmus"],
        &["examples/ops/store-buffering.ops"],
    ];
    let (mut verdicts, mut engines) = (Vec::new(), Vec::new());
    for arguments in asked {
        let arguments = [&["verify", "--format", "json"], arguments].concat();
        let all = answers(&root(), &arguments, &schema);
        assert_eq!(all.len(), 1, "{arguments:?}");
        verdicts.push(all[0]["verdict"].clone());
        engines.push(all[0]["engine"].clone());
    }
    for verdict in ["safe", "unsafe", "unknown"] {
        assert!(verdicts.contains(&Value::from(verdict)), "{verdict} is not among {verdicts:?}");
    }
    let mut names: Vec<Value> = ENGINES.iter().map(|it| Value::from(it.name())).collect();
    for name in &names {
        assert!(engines.contains(name), "{name} has not answered: {engines:?}");
    }
    // Where there is nobody to ask.
    names.push(Value::from("none"));
    assert_eq!(schema["properties"]["engine"]["enum"], Value::from(names));
    let properties = Property::ALL.map(|property| Value::from(property.name()));
    assert_eq!(schema["$defs"]["property"]["enum"], Value::from(properties.to_vec()));
}

#[test]
fn tasks_are_as_the_schema_says() {
    let folder = Folder::new();
    folder.write("p.c", "void reach_error(void) {}\nint main(void) { reach_error(); }\n");
    folder.write("end.prp", "CHECK( init(main()), LTL(F end) )\n");
    folder.write("reach.prp", "CHECK( init(main()), LTL(G ! call(reach_error())) )\n");
    let schema = schema("verdict");
    for (property, verdict) in [("end.prp", "unknown"), ("reach.prp", "unsafe")] {
        let asked = ["verify", "--format", "json", "--property", property, "p.c"];
        let said = answers(folder.path(), &asked, &schema);
        assert_eq!(said[0]["verdict"], verdict, "{property}");
    }
}

#[test]
fn answers_about_litmus_tests_are_as_the_schema_says() {
    let folder = Folder::new();
    folder.write("1.litmus", SB).write("2.litmus", endless()).write("3.litmus", "X86 no\n{");
    let expected = "file,model,condition\n1.litmus,sc,ok\n2.litmus,tso,no\n3.litmus,tso,no\n";
    folder.write("e.csv", expected);
    let schema = schema("litmus");
    let usual = ["litmus", "--format", "json", "--timeout", "0.2"];
    let said = answers(folder.path(), &[&usual[..], &["."]].concat(), &schema);
    assert_eq!(said.len(), 3);
    assert!(said[0]["states"].is_array() && said[1]["reason"].is_string(), "{said:?}");
    assert!(said[2]["errors"].is_array(), "{said:?}");
    let said = answers(folder.path(), &[&usual[..], &["--expect", "e.csv"]].concat(), &schema);
    assert!(said.iter().any(|line| line["found"].is_string()), "{said:?}");
    assert!(said.iter().any(|line| line["failed"].is_string()), "{said:?}");
    assert!(said.last().is_some_and(|line| line["agree"].is_number()), "{said:?}");
}

#[test]
fn repairs_are_as_the_schema_says() {
    let schema = schema("repair");
    let asked: [(&[&str], &str); 5] = [
        (&["examples/tutorial/store-buffering.c"], "fixed"),
        (&["examples/tutorial/message-passing-fixed.c"], "already-safe"),
        (&["examples/store-buffering.litmus"], "fixed"),
        (&["--memory-limit", "1", "examples/tutorial/store-buffering.c"], "unknown"),
        (&["--relax", "--check", "examples/tutorial/message-passing-fixed.c"], "already-safe"),
    ];
    for (arguments, result) in asked {
        let arguments = [&["fences", "--format", "json"], arguments].concat();
        let said = answers(&root(), &arguments, &schema);
        assert_eq!(said[0]["result"], result, "{arguments:?}");
    }
    let folder = Folder::new();
    let strong = "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\natomic_int x;\n\
                  void *one(void *p) { atomic_store(&x, 1); return 0; }\n\
                  int main(void) { pthread_t t; pthread_create(&t, 0, one, 0);\n\
                  assert(atomic_load(&x) < 2); pthread_join(t, 0); }\n";
    folder.write("strong.c", strong);
    let asked = ["fences", "--format", "json", "--relax", "--check", "strong.c"];
    let said = answers(folder.path(), &asked, &schema);
    assert!(said[0]["strengthened"].as_array().is_some_and(|steps| !steps.is_empty()), "{said:?}");
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let schema = schema("verdict");
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
