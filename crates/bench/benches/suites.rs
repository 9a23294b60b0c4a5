//! Whole suites on one thread, reading and parsing included: a folder of litmus tests for each
//! architecture, under its default model. The folder is `PARALLAX_SUITES`, or the project's
//! own corpus.

use std::path::{Path, PathBuf};
use std::time::Instant;

use parallax_bench::run;
use parallax_frontend_litmus::parse;
use parallax_memory::Model;
use parallax_verify::models::usual_model;

fn litmus_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            litmus_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            files.push(path);
        }
    }
}

fn main() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let root = std::env::var_os("PARALLAX_SUITES").map_or(own, PathBuf::from);
    let mut suites: Vec<PathBuf> = std::fs::read_dir(&root)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    suites.sort();
    println!(
        "{:<12} {:>6} {:>10} {:>12} {:>12}  slowest test",
        "suite", "tests", "total ms", "executions", "exec/s"
    );
    for suite in suites.iter().filter(|suite| suite.is_dir()) {
        measure(suite);
    }
}

fn measure(suite: &Path) {
    let mut files = Vec::new();
    litmus_files(suite, &mut files);
    let mut executions = 0;
    let mut slowest = (0.0, String::new());
    let started = Instant::now();
    for file in &files {
        let begun = Instant::now();
        let Ok(text) = std::fs::read_to_string(file) else {
            continue;
        };
        let Ok(test) = parse(&file.display().to_string(), &text) else {
            continue;
        };
        let Some(Ok(model)) = Model::builtin(usual_model(test.arch)) else {
            continue;
        };
        let outcomes = run(&test, &model);
        executions += outcomes.positive + outcomes.negative;
        let seconds = begun.elapsed().as_secs_f64();
        if seconds > slowest.0 {
            slowest = (seconds, test.name.clone());
        }
    }
    let total = started.elapsed().as_secs_f64();
    println!(
        "{:<12} {:>6} {:>10.1} {:>12} {:>12.0}  {:.1} ms {}",
        suite.file_name().unwrap_or_default().to_string_lossy(),
        files.len(),
        total * 1e3,
        executions,
        executions as f64 / total,
        slowest.0 * 1e3,
        slowest.1
    );
}
