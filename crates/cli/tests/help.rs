//! Help, completions and manual pages.

use crate::support;

use std::path::Path;

use support::{Folder, run_in};

const COMMANDS: [&str; 7] =
    ["litmus", "verify", "validate", "check-proof", "models", "completions", "man"];

#[test]
fn every_command_has_help_with_two_examples_that_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for command in COMMANDS {
        let help = run_in(&root, &[command, "--help"]);
        help.ends_with(0).says("Usage: parallax");
        let (_, examples) = help.stdout.split_once("Examples:\n").expect("examples");
        let examples: Vec<&str> = examples.lines().map(str::trim).collect();
        assert_eq!(examples.len(), 2, "{command}");
        let folder = Folder::new();
        for example in examples {
            // What shells redirect is read from the pipe instead.
            let words = example.split(" > ").next().unwrap_or("");
            let mut words: Vec<String> = words.split(' ').map(str::to_string).collect();
            assert_eq!(words.remove(0), "parallax");
            for word in &mut words {
                if word.starts_with("examples") {
                    *word = root.join(&*word).display().to_string();
                }
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            folder.run(&words).ends_with(0);
        }
    }
}

#[test]
fn wrong_usage_is_an_error() {
    let folder = Folder::new();
    for arguments in [
        &[][..],
        &["dance"],
        &["litmus"],
        &["litmus", "--jobs", "0", "a"],
        &["litmus", "--timeout", "never", "a"],
        &["litmus", "--quiet", "--verbose", "a"],
        &["litmus", "--expect", "e.csv", "--model", "sc"],
        &["litmus", "--sketch", "--format", "json", "a"],
        &["completions", "cmd"],
        &["verify"],
        &["verify", "--property", "fun", "a.program"],
        &["verify", "--engine", "steam", "a.program"],
        &["verify", "--reductions", "most", "a.program"],
        &["verify", "--nondet", "3..1", "a.program"],
        &["verify", "--graph", "a.png", "a.program"],
        &["verify", "--jobs", "0", "a.program"],
        &["verify", "--engine", "bounded", "--emit", "a.txt", "a.program"],
        &["verify", "--engine", "bounded", "--solver", "oracle", "a.program"],
        &["verify", "--memory-limit", "0", "a.program"],
        &["verify", "--quiet", "--verbose", "a.program"],
    ] {
        folder.run(arguments).ends_with(2);
    }
}

#[test]
fn version_is_shown() {
    let version = format!("parallax {}\n", env!("CARGO_PKG_VERSION"));
    let run = Folder::new().run(&["--version"]);
    assert_eq!(run.ends_with(0).stdout, version);
}

#[test]
fn manual_pages_are_written() {
    let folder = Folder::new();
    folder.run(&["man"]).ends_with(0).says(".TH parallax 1");
    folder.run(&["man", "a/b"]).ends_with(0);
    for page in ["parallax.1", "parallax-litmus.1", "parallax-verify.1"] {
        assert!(folder.path().join("a/b").join(page).is_file(), "{page}");
    }
}

#[test]
fn completions_know_the_options() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        folder.run(&["completions", shell]).ends_with(0).says("expect");
    }
}
