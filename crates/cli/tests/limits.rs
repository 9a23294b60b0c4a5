//! Runs that come to an early end: time limits and Ctrl-C.

use crate::support;

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use support::{Folder, SB, command, endless};

#[test]
fn a_time_limit_leaves_the_answer_open() {
    let folder = Folder::new();
    folder.write("1.litmus", endless()).write("2.litmus", SB);
    let run = folder.run(&["litmus", "--timeout", "0.2", "."]);
    run.ends_with(3).says("\n??\n").says("\nStopped endless ").says("Test SB Allowed");
    let run = folder.run(&["litmus", "--timeout", "0.2", "--format", "json", "1.litmus"]);
    run.ends_with(3).says(r#""condition":null"#).says(r#""ending":"stopped""#);
}

#[test]
fn an_open_answer_is_not_an_expected_one() {
    let folder = Folder::new();
    folder.write("1.litmus", endless()).write("e.csv", "file,model,condition\n1.litmus,tso,no\n");
    let run = folder.run(&["litmus", "--timeout", "0.2", "--expect", "e.csv"]);
    run.ends_with(1).says("0 agree, 0 differ, 1 failed\n");
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_what_was_found_so_far() {
    let folder = Folder::new();
    folder.write("1.litmus", SB).write("2.litmus", endless());
    let mut child = command()
        .current_dir(folder.path())
        .args(["litmus", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The first answer shows that the batch is under way.
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, "Test SB Allowed\n");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill runs").success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).expect("text");
    assert!(rest.contains("\nTest endless Allowed\n"), "{rest}");
    assert_eq!(child.wait().expect("an end").code(), Some(3));
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_no_success() {
    let folder = Folder::new();
    folder.write("1.litmus", SB);
    let full = std::fs::File::create("/dev/full").expect("a device that takes nothing");
    let status = command()
        .current_dir(folder.path())
        .args(["litmus", "--quiet", "1.litmus"])
        .stdout(full)
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.expect("the command starts").code(), Some(3));
}
