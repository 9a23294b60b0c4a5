//! Spin locks through the engine that asks a solver: right ones are right whatever the number of
//! rounds, and what is wrong with the others is found. `examples/locks/expected.csv` has the answers.

use std::path::Path;
use std::process::Command;

/// What the command finds: complete, bounded, unsafe or unknown.
fn answer(folder: &Path, file: &str, arguments: &str, model: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(["verify", "--engine", "bounded", "--timeout", "120", "--model", model]);
    command.arg(folder.join(file));
    if !arguments.is_empty() {
        command.arg("--").args(arguments.split_whitespace());
    }
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let says = |what: &str| text.contains(what);
    match output.status.code() {
        Some(0) if says("every execution was covered") => "complete".to_string(),
        Some(0) => "bounded".to_string(),
        Some(1) => "unsafe".to_string(),
        Some(3) => "unknown".to_string(),
        _ => String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn locks_are_verified_completely_and_their_bugs_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/locks");
    let table = std::fs::read_to_string(folder.join("expected.csv")).expect("a table");
    let mut wrong = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [file, arguments, model, expected] = fields[..] else {
            panic!("a line without four fields: {line}");
        };
        let found = answer(&folder, file, arguments, model);
        if found != expected {
            wrong.push(format!("{line}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
