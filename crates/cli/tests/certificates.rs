//! That nothing is wrong with an example is proved, and the proof is checked: for the quick ones,
//! and with `PARALLAX_LONG=1` for all of them.

use std::path::{Path, PathBuf};
use std::process::Command;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(examples().join(name)).expect("a table");
    text.lines().map(|line| line.split(',').map(str::to_string).collect()).collect()
}

/// A file that is safe under a model.
struct Safe {
    file: PathBuf,
    arguments: String,
    model: String,
}

fn is_long() -> bool {
    std::env::var_os("PARALLAX_LONG").is_some()
}

fn locks() -> Vec<Safe> {
    let rows = table("locks/expected.csv").into_iter().skip(1);
    let rows = rows.filter(|row| row[3] == "complete" && (row[1].is_empty() || is_long()));
    let safe = rows.map(|row| Safe {
        file: examples().join("locks").join(&row[0]),
        arguments: row[1].clone(),
        model: row[2].clone(),
    });
    safe.collect()
}

fn structures() -> Vec<Safe> {
    let rows = table("ops/expected.csv");
    let models = &rows[0];
    let mut all = Vec::new();
    for row in &rows[1..] {
        let cells = models.iter().zip(row).skip(1);
        for (model, _) in cells.filter(|(model, cell)| !model.contains(' ') && *cell == "safe") {
            let file = examples().join("ops").join(&row[0]);
            all.push(Safe { file, arguments: String::new(), model: model.clone() });
        }
    }
    all
}

/// The programs in C, without options of their own.
fn programs() -> Vec<Safe> {
    let rows = table("c/expected.csv").into_iter().skip(1);
    let rows = rows.filter(|row| row[4] == "safe" && row[3].is_empty() && is_long());
    let safe = rows.map(|row| Safe {
        file: examples().join("c").join(&row[0]),
        arguments: row[1].clone(),
        model: row[2].clone(),
    });
    safe.collect()
}

/// What is wrong with the answer, if something is. What takes too long is no proof that fails.
fn complaint(safe: &Safe) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(["verify", "--engine", "bounded", "--certify", "--unroll", "2"]);
    command.args(["--timeout", "60", "--model", &safe.model]).arg(&safe.file);
    if !safe.arguments.is_empty() {
        command.arg("--").args(safe.arguments.split_whitespace());
    }
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) if text.contains("certified: ") => None,
        Some(3) if is_long() && !text.contains("the solver gave up") => {
            println!("{} {}: {text}", safe.file.display(), safe.model);
            None
        }
        _ => Some(format!("{} under {}: {text}{errors}", safe.file.display(), safe.model)),
    }
}

#[test]
fn proofs_that_examples_are_safe_hold() {
    let all: Vec<Safe> = locks().into_iter().chain(structures()).chain(programs()).collect();
    assert!(all.len() > 60, "{}", all.len());
    let complaints: Vec<String> = all.iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
