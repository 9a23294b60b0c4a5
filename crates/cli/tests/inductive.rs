//! Proofs of C programs: the answers are those of `examples/c-inductive/expected.csv`.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Folder, run_in};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn answer(engine: &str, model: &str, file: &str) -> Value {
    let arguments = ["verify", "--engine", engine, "--model", model, "--property", "assert"];
    let arguments = [&arguments[..], &["--format", "json", "--quiet", file]].concat();
    serde_json::from_str(&run_in(&root(), &arguments).stdout).expect("it is JSON")
}

#[test]
fn answers_are_as_expected() {
    let folder = root().join("examples/c-inductive");
    let table = fs::read_to_string(folder.join("expected.csv")).expect("it is there");
    for line in table.lines().skip(1) {
        let [file, model, verdict, says] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("a line without four fields: {line}");
        };
        let found = answer("inductive", model, &format!("examples/c-inductive/{file}"));
        assert_eq!(found["verdict"], verdict, "{line}: {found}");
        let said = format!("{} {}", found["reason"], found["notes"]);
        assert!(said.contains(says), "{line}: {said}");
        if verdict == "unknown" {
            assert!(model == "rc11" || found["reason_place"]["line"].is_u64(), "{line}");
            let is_tried = said.contains("not proved");
            assert_eq!(
                found["candidate"]["execution"]["events"].is_array(),
                is_tried,
                "{line}: {found}"
            );
        }
    }
}

/// To the others an invariant is nothing, whatever it says.
#[test]
fn other_engines_do_not_mind_invariants() {
    for engine in ["explore", "states", "bounded"] {
        let found = answer(engine, "sc", "examples/c-inductive/spinlock.c");
        assert_eq!(found["verdict"], "safe", "{engine}");
    }
}

/// Classic algorithms in which an assertion fails are refuted, and right ones proved, with no invariant.
#[test]
fn algorithms_without_invariants() {
    for (file, model, verdict) in [
        ("dekker.c", "tso", "safe"),
        ("dekker-release-acquire.c", "tso", "unsafe"),
        ("ttas-lock.c", "tso", "safe"),
        ("ttas-lock-relaxed.c", "pso", "unsafe"),
        ("ticket-lock.c", "pso", "safe"),
    ] {
        let found = answer("inductive", model, &format!("examples/c/{file}"));
        assert_eq!(found["verdict"], verdict, "{file}: {found}");
    }
}

/// A proof is for all inputs; a violation has to be one with the inputs that are asked about.
#[test]
fn what_is_wrong_is_so_for_the_inputs_asked_about() {
    let folder = Folder::new();
    let text = "#include <assert.h>\nint __VERIFIER_nondet_int(void);\n\
                int main(void) { assert(__VERIFIER_nondet_int() != 7); }\n";
    folder.write("input.c", text);
    for (inputs, expected) in [("0..3", "unknown"), ("0..9", "unsafe")] {
        let said = ["--engine", "inductive", "--model", "sc", "--nondet", inputs, "input.c"];
        folder.run(&[&["verify", "--property", "assert"], &said[..]].concat()).says(expected);
    }
}
