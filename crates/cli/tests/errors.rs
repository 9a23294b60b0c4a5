//! Bad input: a clear error with its place, exit code 2, and the rest of the batch goes on.

use crate::support;

use serde_json::Value;
use support::{Folder, SB};

#[test]
fn broken_tests_are_refused_with_their_place() {
    let truncated = &SB[..SB.len() - 12];
    let unknown_arch = SB.replacen("X86", "Z80", 1);
    let unknown_instruction = SB.replace("MOV EAX,[y]", "JUMPY EAX");
    let unknown_register = SB.replace("1:EAX=0", "1:EQX=0");
    let unknown_thread = SB.replace("1:EAX=0", "7:EAX=0");
    let mut garbage = SB.as_bytes().to_vec();
    garbage.extend([0xff, 0xfe, 0x00]);
    let cases: [(&[u8], &str, &str); 7] = [
        (b"", "t.litmus:1:1: error: ", ""),
        (truncated.as_bytes(), "t.litmus:", "error: "),
        (&garbage, "t.litmus:7:1: error: ", "not UTF-8"),
        (unknown_arch.as_bytes(), "t.litmus:1:1: error: ", "Z80"),
        (unknown_instruction.as_bytes(), "t.litmus:5:2: error: ", "JUMPY"),
        (unknown_register.as_bytes(), "t.litmus:6:20: error: ", "EQX"),
        (unknown_thread.as_bytes(), "t.litmus:6:20: error: ", "7"),
    ];
    for (content, place, what) in cases {
        let folder = Folder::new();
        folder.write("t.litmus", content);
        let run = folder.run(&["litmus", "t.litmus"]);
        run.ends_with(2).complains(place).complains(what);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_together() {
    let folder = Folder::new();
    let text = SB.replace("MOV [x],$1", "HOP").replace("MOV EAX,[x]", "SKIP EAX");
    folder.write("t.litmus", text);
    let run = folder.run(&["litmus", "t.litmus"]);
    run.ends_with(2).complains("HOP").complains("SKIP");
}

#[test]
fn other_files_go_on() {
    let folder = Folder::new();
    folder.write("a.litmus", "nonsense").write("b.litmus", SB);
    let run = folder.run(&["litmus", "."]);
    run.ends_with(2).says("Test SB Allowed").complains("a.litmus:1:1: error: ");
}

#[test]
fn errors_are_objects_in_json() {
    let folder = Folder::new();
    folder.write("a.litmus", SB.replace("MOV [x],$1", "HOP")).write("b.litmus", SB);
    let run = folder.run(&["litmus", "--format", "json", "."]);
    assert_eq!(run.ends_with(2).stderr, "");
    let lines: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["file"], "./a.litmus");
    assert_eq!(lines[0]["error"]["line"], 4);
    assert_eq!(lines[0]["error"]["column"], 2);
    assert!(lines[0]["error"]["message"].as_str().is_some_and(|m| m.contains("HOP")));
    assert_eq!(lines[1]["test"], "SB");
}

#[test]
fn missing_files_and_empty_folders() {
    let folder = Folder::new();
    folder.write("empty/readme", "");
    let missing = folder.run(&["litmus", "nowhere.litmus"]);
    missing.ends_with(2).complains("'nowhere.litmus'");
    let empty = folder.run(&["litmus", "empty"]);
    empty.ends_with(2).complains("no litmus tests");
}

#[test]
fn a_missing_file_does_not_stop_the_others() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let run = folder.run(&["litmus", "nowhere.litmus", "SB.litmus"]);
    run.ends_with(2).complains("nowhere.litmus").says("Test SB");
}

#[test]
fn a_model_for_another_architecture_is_refused() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let run = folder.run(&["litmus", "--model", "power", "SB.litmus"]);
    run.ends_with(2).complains("SB.litmus:1:1: error: wrong architecture for model 'power'");
    folder.run(&["litmus", "--model", "pso", "SB.litmus"]).ends_with(0);
}

#[test]
fn c_without_atomics_is_kernel_c_too() {
    let plain = "C plain\n{ x=0; }\nP0(int *x) { *x = 1; }\nP1(int *x) { int r0 = *x; }\n\
        exists (1:r0=1)\n";
    let atomic = plain.replace("*x = 1", "atomic_store(x, 1)");
    let folder = Folder::new();
    folder.write("plain.litmus", plain).write("atomic.litmus", atomic);
    let run = |model, test| folder.run(&["litmus", "--model", model, test]);
    run("lkmm", "plain.litmus").ends_with(0);
    run("lkmm", "atomic.litmus").ends_with(2).complains("wrong architecture");
    run("rc11", "atomic.litmus").ends_with(0);
}

#[test]
fn broken_models_are_refused_with_their_place() {
    let folder = Folder::new();
    folder
        .write("SB.litmus", SB)
        .write("type.cat", "m\nlet a = [po]\nacyclic a\n")
        .write("name.cat", "m\nacyclic po | fred\n")
        .write("one.cat", "m\ninclude \"two.cat\"\nacyclic po\n")
        .write("two.cat", "include \"one.cat\"\n");
    for (model, place) in [
        ("type.cat", "type.cat:2:"),
        ("name.cat", "name.cat:2:"),
        ("one.cat", ".cat:"),
        ("gone.cat", "gone.cat"),
        ("fancy", "there is no built-in model 'fancy'"),
    ] {
        let run = folder.run(&["litmus", "--model", model, "SB.litmus"]);
        run.ends_with(2).complains(place);
        assert_eq!(run.stdout, "", "{model}");
    }
}

#[test]
fn an_unknown_model_has_no_file() {
    let run = Folder::new().run(&["models", "fancy"]);
    run.ends_with(2).complains("built-in models are sc, ");
}

#[test]
fn models_are_listed_and_printed() {
    let folder = Folder::new();
    let list = folder.run(&["models"]);
    let names: Vec<&str> = list.ends_with(0).stdout.lines().collect();
    assert_eq!(names.len(), 16);
    assert!(names.iter().all(|line| line.split("  ").count() >= 2));
    folder.run(&["models", "tso"]).ends_with(0).says("acyclic");
}
