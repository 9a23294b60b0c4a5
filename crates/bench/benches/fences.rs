//! Repairs of the programs in `examples/fences`, at the sizes that others have published times for
//! (S. Singh, Program analysis under relaxed memory concurrency, thesis, IIT Delhi, 2023, table 6.4):
//! fences, bad executions and seconds in both modes, and how many times sooner than published.
//!
//! It is the command that is measured, from start to end, compiler and verification included:
//! `target/release/parallax`, or what `PARALLAX` names. `PARALLAX_FAMILY` names a part of the
//! names of the programs to repair.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Longer runs are given up.
const PATIENCE: &str = "120";

fn main() {
    let only = std::env::var("PARALLAX_FAMILY").unwrap_or_default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fences");
    let Ok(table) = std::fs::read_to_string(folder.join("published.csv")) else {
        println!("there is no table of published times");
        return;
    };
    let Some(command) = command() else {
        println!("there is no command to measure: cargo build --release -p parallax-cli makes it");
        return;
    };
    println!(
        "{:<38} {:>8} {:>6} {:>6} | {:>8} {:>8} {:>6} | {:>8} {:>8} {:>7}",
        "program",
        "result",
        "fences",
        "theirs",
        "fast s",
        "theirs s",
        "times",
        "all s",
        "theirs s",
        "traces"
    );
    for row in table.lines().skip(1).filter(|row| row.contains(&only)) {
        let cells: Vec<&str> = row.split(',').collect();
        if let [program, arguments, optimal, fast, fences] = cells[..] {
            measure(&command, &folder, [program, arguments], [optimal, fast, fences]);
        }
    }
}

/// The command that was built beside this.
fn command() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("PARALLAX") {
        return Some(named.into());
    }
    let own = std::env::current_exe().ok()?;
    let built = own.parent()?.parent()?.join("parallax");
    built.exists().then_some(built)
}

fn measure(command: &Path, folder: &Path, row: [&str; 2], published: [&str; 3]) {
    let [program, arguments] = row;
    let [optimal, fast, fences] = published;
    let run = |mode: &str| -> Option<Value> {
        let mut run = Command::new(command);
        run.args(["fences", "--format", "json", "--timeout", PATIENCE, "--mode", mode]);
        run.arg(folder.join(format!("{program}.c"))).arg("--");
        run.args(arguments.split_whitespace());
        serde_json::from_slice(&run.output().ok()?.stdout).ok()
    };
    let Some(one) = run("fast") else {
        println!("{program}: no answer");
        return;
    };
    let all = run("optimal").unwrap_or_default();
    let length = |name: &str| one[name].as_array().map_or(0, Vec::len);
    let seconds = |answer: &Value| answer["time_s"].as_f64().unwrap_or(f64::NAN);
    let times = fast
        .parse::<f64>()
        .map_or("-".to_string(), |theirs| format!("{:.0}", theirs / seconds(&one)));
    let collected = match all["result"].as_str() {
        Some("unknown") | None => "-".to_string(),
        Some(_) => format!("{:.2}", seconds(&all)),
    };
    println!(
        "{:<38} {:>8} {:>6} {fences:>6} | {:>8.2} {fast:>8} {times:>6} | {collected:>8} {optimal:>8} {:>7}",
        format!("{program} {arguments}"),
        one["result"].as_str().unwrap_or("-"),
        length("inserted") + length("strengthened"),
        seconds(&one),
        all["traces"],
    );
}
