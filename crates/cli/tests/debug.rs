//! The debugger from end to end: files of commands, with what is printed beside them.
//!
//! Each `tests/debug/NAME.cmd` names its arguments in the first line; `NAME.out` has what stdout
//! and stderr show, and the exit code. With `UPDATE_DEBUG=1` in the environment the latter are
//! rewritten instead.

use crate::support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Folder, SB, run_in};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn scripts_print_what_they_did() {
    let folder = root().join("crates/cli/tests/debug");
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "cmd");
    let mut scripts: Vec<PathBuf> = entries.filter(is_script).collect();
    scripts.sort();
    assert!(scripts.len() > 5);
    let mut wrong = Vec::new();
    for script in scripts {
        let found = run_script(&script);
        let expected = script.with_extension("out");
        if std::env::var_os("UPDATE_DEBUG").is_some() {
            fs::write(&expected, &found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", expected.display()));
        }
    }
    assert!(wrong.is_empty(), "UPDATE_DEBUG=1 rewrites these:\n{}", wrong.join("\n"));
}

fn run_script(script: &Path) -> String {
    let text = fs::read_to_string(script).unwrap();
    let first = text.lines().next().unwrap_or("");
    let arguments = first.strip_prefix("# arguments: ").expect("a line with arguments");
    let name = script.file_name().unwrap().to_str().unwrap();
    let relative = format!("crates/cli/tests/debug/{name}");
    let mut all = vec!["debug", "-x", &relative];
    all.extend(arguments.split_whitespace());
    let run = run_in(&root(), &all);
    format!("{}{}exit {}\n", run.stdout, run.stderr, run.code)
}

const WITNESS: &str = "parallax schedule 1\ninput sb.litmus\nmodel tso\n";

#[test]
fn schedules_are_saved_loaded_and_replayed() {
    let folder = Folder::new();
    folder.write("sb.litmus", SB);
    folder.write("go.cmd", "step\nthread 1\nstep\nsave half\nstep\nflush 0\nload half\nschedule\n");
    folder.run(&["debug", "sb.litmus", "-x", "go.cmd"]).ends_with(0).says("2 actions written");
    let half = fs::read_to_string(folder.path().join("half")).unwrap();
    assert!(half.starts_with(&format!("{WITNESS}step 0 ")), "{half}");
    folder.run(&["replay", "half"]).ends_with(0).says("2 actions have happened.");
    folder.write("whole", format!("{half}step 0\nstep 1\nflush 0\nflush 1\n"));
    folder.run(&["replay", "whole"]).ends_with(1).says("Violation (assert)");
    folder.write("look.cmd", "back\nwhat\n");
    let run = folder.run(&["debug", "sb.litmus", "--schedule", "whole", "-x", "look.cmd"]);
    run.ends_with(0).says("6 actions have happened.").says("Position 0 of 6.");
}

#[test]
fn schedules_that_do_not_fit_are_refused_with_their_line() {
    let folder = Folder::new();
    folder.write("sb.litmus", SB);
    for (actions, complaint) in [
        ("flush 0\n", "s:4:1: error: this cannot happen here: the buffer of P0 is empty"),
        ("step 0\nstep 7\n", "s:5:1: error: this cannot happen here: there is no thread #7"),
        ("step 0 3\n", "s:4:1: error: this cannot happen here: P0 has choices from 0 to 0"),
        ("step\n", "s:4:1: error: expected an action"),
    ] {
        folder.write("s", format!("{WITNESS}{actions}"));
        folder.run(&["replay", "s"]).ends_with(2).complains(complaint);
        folder.run(&["debug", "sb.litmus", "--schedule", "s"]).ends_with(2).complains(complaint);
    }
    folder.write("s", WITNESS.replace("sb.litmus", "gone.litmus"));
    folder.run(&["replay", "s"]).ends_with(2).complains("cannot read 'gone.litmus'");
    folder.write("s", WITNESS);
    let run = folder.run(&["debug", "sb.litmus", "--schedule", "s", "--model", "sc"]);
    run.ends_with(2).complains("the schedule is for the model tso, not sc");
}

#[test]
fn schedules_remember_how_the_program_was_read() {
    let folder = Folder::new();
    folder.write("a.c", "#include <assert.h>\nint x = N;\nint main(void) { assert(x != 3); }\n");
    folder.run(&["verify", "-m", "sc", "-DN=3", "--witness", "w", "a.c"]).ends_with(1);
    let text = fs::read_to_string(folder.path().join("w")).unwrap();
    assert!(text.contains("\nclang -DN=3\nmodel sc\n"), "{text}");
    folder.run(&["replay", "w"]).ends_with(1).says("Violation (assert)");
    folder.write("load.cmd", "load w\nsave v\n");
    folder.run(&["debug", "-m", "sc", "-DN=3", "-x", "load.cmd", "a.c"]).ends_with(1);
    assert_eq!(fs::read_to_string(folder.path().join("v")).unwrap(), text);
    folder.write("w", text.replace("-DN=3", "-fplugin=./evil.so"));
    let run = folder.run(&["replay", "w"]);
    run.ends_with(2).complains("w:3:1: error: this argument is not taken from a schedule");
}

#[test]
fn models_without_a_machine_are_refused() {
    let folder = Folder::new();
    folder.write("sb.litmus", SB);
    let run = folder.run(&["debug", "sb.litmus", "--model", "rc11"]);
    run.ends_with(2).complains("there is no machine for the model 'rc11'");
    let program = root().join("examples/c/store-buffering.c");
    let run = folder.run(&["verify", program.to_str().unwrap(), "--witness", "w"]);
    run.ends_with(2).complains("there is no machine for the model 'rc11'");
    let run = folder.run(&["verify", "sb.litmus", "--engine", "explore", "--witness", "w"]);
    run.ends_with(2).complains("the engine 'explore' has no use for: witness");
}

/// What `verify --witness` writes ends at the violation that it has found.
#[test]
fn witnesses_of_the_examples_are_confirmed() {
    let folder = Folder::new();
    let examples = root().join("examples");
    for (input, model) in [
        ("store-buffering.litmus", "tso"),
        ("c/store-buffering.c", "tso"),
        ("c/message-passing.c", "pso"),
        ("c/philosophers-deadlock.c", "sc"),
        ("c/treiber-stack-free.c", "tso"),
        ("c/spin-flag-never-set.c", "tso"),
        ("c/null-dereference.c", "tso"),
    ] {
        let input = examples.join(input).to_str().unwrap().to_string();
        let run = folder.run(&["verify", &input, "--model", model, "--witness", "w"]);
        run.ends_with(1);
        folder.run(&["replay", "w"]).ends_with(1).says("Violation");
    }
    let safe = examples.join("store-buffering-fenced.litmus");
    let run = folder.run(&["verify", safe.to_str().unwrap(), "--witness", "none"]);
    run.ends_with(0).complains("safe: there is no schedule to write");
    assert!(!folder.path().join("none").exists());
}
