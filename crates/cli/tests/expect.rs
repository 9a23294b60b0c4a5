//! `--expect`: answers held against a table.

use crate::support;

use support::{Folder, MP, SB};

fn folder(rows: &str) -> Folder {
    let folder = Folder::new();
    folder
        .write("suite/SB.litmus", SB)
        .write("suite/a,b/MP.litmus", MP)
        .write("suite/bad.litmus", "X86 bad\n")
        .write("suite/expected.csv", format!("file,model,condition\n{rows}"));
    folder
}

#[test]
fn everything_as_expected() {
    let rows = "SB.litmus,tso,ok\nSB.litmus,sc,no\n\"a,b/MP.litmus\",tso,no\n";
    let run = folder(rows).run(&["litmus", "--expect", "suite/expected.csv"]);
    assert_eq!(run.ends_with(0).stdout, "3 agree, 0 differ, 0 failed\n");
}

#[test]
fn differences_and_failures_are_reported() {
    let rows = "SB.litmus,tso,no\nbad.litmus,tso,ok\ngone.litmus,tso,ok\nSB.litmus,sc,no\n";
    let run = folder(rows).run(&["litmus", "--expect", "suite/expected.csv"]);
    let lines: Vec<&str> = run.ends_with(1).stdout.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "SB.litmus (tso): expected no, found ok");
    assert!(lines[1].starts_with("bad.litmus (tso): expected ok, failed: suite/bad.litmus:"));
    assert!(lines[2].starts_with("gone.litmus (tso): expected ok, failed: cannot read"));
    assert_eq!(lines[3], "1 agree, 1 differ, 2 failed");
}

#[test]
fn in_json_too() {
    let folder = folder("SB.litmus,tso,no\n");
    let run = folder.run(&["litmus", "--format", "json", "--expect", "suite/expected.csv"]);
    let expected = concat!(
        r#"{"expected":"no","file":"SB.litmus","found":"ok","model":"tso"}"#,
        "\n",
        r#"{"agree":0,"differ":1,"failed":0}"#,
        "\n"
    );
    assert_eq!(run.ends_with(1).stdout, expected);
}

#[test]
fn paths_choose_rows() {
    let folder = folder("SB.litmus,tso,no\n\"a,b/MP.litmus\",tso,no\n");
    let run = folder.run(&["litmus", "--expect", "suite/expected.csv", "suite/a,b"]);
    assert_eq!(run.ends_with(0).stdout, "1 agree, 0 differ, 0 failed\n");
    folder.write("other/SB.litmus", SB);
    let none = folder.run(&["litmus", "--expect", "suite/expected.csv", "other"]);
    none.ends_with(2).complains("no row");
}

#[test]
fn a_broken_table_is_bad_input() {
    let run = folder("SB.litmus,tso\n").run(&["litmus", "--expect", "suite/expected.csv"]);
    run.ends_with(2).complains("suite/expected.csv:2:1: error: expected 3 fields");
    let gone = Folder::new().run(&["litmus", "--expect", "gone.csv"]);
    gone.ends_with(2).complains("gone.csv");
}

#[test]
fn models_of_a_table_are_relative_to_it() {
    let folder = folder("SB.litmus,mine.cat,no\n");
    folder.write("suite/mine.cat", "mine\nacyclic po | rf | co | fr as sc\n");
    let run = folder.run(&["litmus", "--expect", "suite/expected.csv"]);
    assert_eq!(run.ends_with(0).stdout, "1 agree, 0 differ, 0 failed\n");
}
