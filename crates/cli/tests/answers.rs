//! Answers of `parallax litmus`, in both formats.

use crate::support;

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;
use support::{Folder, MP, SB, command};

fn without_time(log: &str) -> String {
    let lines = log.lines().filter(|line| !line.starts_with("Time "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_text_is_a_herd_log() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let run = folder.run(&["litmus", "SB.litmus"]);
    assert_eq!(run.ends_with(0).stderr, "");
    let expected = "\
Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\\ 1:EAX=0)
Observation SB Sometimes 1 3

";
    assert_eq!(without_time(&run.stdout), expected);
    run.says("\nTime SB 0.0");
}

#[test]
fn json_has_the_fields_that_scripts_read() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let run = folder.run(&["litmus", "--format", "json", "--model", "sc", "SB.litmus"]);
    let answer: Value = serde_json::from_str(&run.ends_with(0).stdout).expect("JSON");
    assert_eq!(answer["test"], "SB");
    assert_eq!(answer["file"], "SB.litmus");
    assert_eq!(answer["arch"], "X86");
    assert_eq!(answer["model"], "sc");
    assert_eq!(answer["condition"], "no");
    assert_eq!(answer["observation"], "never");
    assert_eq!(answer["positive"], 0);
    assert_eq!(answer["states"].as_array().map(Vec::len), Some(3));
    assert!(answer["states"][0]["0:EAX"].is_string());
    assert_eq!(answer["executions"], answer["negative"]);
    assert_eq!(answer["flags"], Value::Array(Vec::new()));
    assert_eq!(answer["scope"], "complete");
    assert!(answer["time_s"].is_f64());
}

#[test]
fn answers_come_in_the_order_of_the_input() {
    let folder = Folder::new();
    let names: Vec<String> = (0..40).map(|n| format!("T{n:02}")).collect();
    for (number, name) in names.iter().enumerate() {
        let text = if number % 3 == 0 { SB } else { MP };
        let text = text.replacen("X86 SB", &format!("X86 {name}"), 1);
        let text = text.replacen("X86 MP", &format!("X86 {name}"), 1);
        folder.write(&format!("{name}.litmus"), text);
    }
    let tests = |jobs| {
        let run = folder.run(&["litmus", "--jobs", jobs, "."]);
        without_time(&run.ends_with(0).stdout)
    };
    let log = tests("7");
    let found: Vec<&str> = log.lines().filter_map(|l| l.strip_prefix("Test ")).collect();
    let expected: Vec<String> = names.iter().map(|name| format!("{name} Allowed")).collect();
    assert_eq!(found, expected);
    assert_eq!(log, tests("1"));
}

#[test]
fn lists_and_folders_are_followed() {
    let folder = Folder::new();
    folder
        .write("a/SB.litmus", SB)
        .write("b/MP.litmus", MP)
        .write("b/notes.txt", "nothing")
        .write("all", "# both\nb\na/SB.litmus\n");
    let run = folder.run(&["litmus", "@all"]);
    run.ends_with(0).says("Test MP").says("Test SB");
}

#[test]
fn a_model_of_ones_own_is_used() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB).write("mine.cat", "mine\nacyclic po | rf | co | fr as sc\n");
    let run = folder.run(&["litmus", "--model", "mine.cat", "SB.litmus"]);
    run.ends_with(0).says("\nNo\n");
}

#[test]
fn pictures_are_drawn_and_named() {
    let folder = Folder::new();
    folder.write("1.litmus", SB).write("2.litmus", SB).write("3.litmus", MP);
    let run = folder.run(&["litmus", "--graph", "out/pictures", "."]);
    run.ends_with(0).complains("SB-1.svg").complains("SB.2-1.svg");
    let mut names: Vec<String> = std::fs::read_dir(folder.path().join("out/pictures"))
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["SB-1.dot", "SB-1.svg", "SB.2-1.dot", "SB.2-1.svg"]);
}

#[test]
fn a_sketch_follows_the_answer() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let run = folder.run(&["litmus", "--sketch", "SB.litmus"]);
    run.ends_with(0).says("  a: W x=1").says("fr   b → c, d → a");
}

#[test]
fn verbose_and_quiet() {
    let folder = Folder::new();
    folder.write("SB.litmus", SB);
    let verbose = folder.run(&["litmus", "-v", "SB.litmus"]);
    verbose.complains("SB: X86 under tso: 4 executions, 4 final states, complete");
    let quiet = folder.run(&["litmus", "-q", "--graph", "g", "SB.litmus"]);
    assert_eq!(quiet.ends_with(0).stderr, "");
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let folder = Folder::new();
    for number in 0..300 {
        folder.write(&format!("{number}.litmus"), SB);
    }
    let mut child = command()
        .current_dir(folder.path())
        .args(["litmus", "--jobs", "2", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let mut stderr = String::new();
    let mut pipe = child.stderr.take().expect("a pipe");
    pipe.read_to_string(&mut stderr).expect("text");
    assert_eq!(stderr, "");
    assert_eq!(child.wait().expect("an end").code(), Some(3));
}

#[test]
fn numbers_are_not_taken_for_addresses() {
    let folder = Folder::new();
    for bit in 0..31 {
        let value = 1u32 << bit;
        let text = format!(
            "X86 bit\n{{ x=0; }}\n P0 ;\n MOV [x],${value} ;\n MOV EAX,[x] ;\n\
             exists (0:EAX=0)\n"
        );
        folder.write("1.litmus", text);
        let run = folder.run(&["litmus", "1.litmus"]);
        run.ends_with(0).says(&format!("\n0:EAX={value};\n"));
    }
}
