//! Many questions in one call.

use crate::support;

use serde_json::Value;
use support::{Folder, MP, SB, without_times};

const TASKS: &str = "\
model: [sc, tso]
tasks:
  - input: sb.litmus
    expect: {sc: safe, tso: unsafe}
  - input: [mp.litmus, none.litmus]
    model: tso
    expect: safe
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("d/sb.litmus", SB).write("d/mp.litmus", MP).write("d/tasks.yml", TASKS);
    folder
}

#[test]
fn every_question_is_a_row_and_a_bad_one_ends_nothing() {
    let folder = folder();
    let run = folder.run(&["verify", "-q", "--batch", "--jobs", "2", "d/tasks.yml"]);
    run.ends_with(2);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 5, "{}", run.stdout);
    assert!(lines[0].starts_with("right   d/sb.litmus") && lines[0].contains("safe"));
    assert!(lines[1].starts_with("right   d/sb.litmus") && lines[1].contains("unsafe"));
    assert!(lines[2].starts_with("right   d/mp.litmus"));
    assert!(lines[3].starts_with("missed  d/none.litmus") && lines[3].contains("error"));
    assert_eq!(
        lines[4],
        "4 questions: 2 safe, 1 unsafe, 0 unknown, 1 error; 3 as expected, 0 not, 1 without an answer"
    );
    let again = folder.run(&["verify", "-q", "--batch", "d/tasks.yml"]);
    assert_eq!(without_times(&run), without_times(&again));
}

#[test]
fn what_is_expected_decides_how_it_ends() {
    let folder = folder();
    let ends = |text: &str, code: i32| {
        folder.write("d/t.yml", text);
        folder.run(&["verify", "-q", "--batch", "d/t.yml"]).ends_with(code);
    };
    ends("tasks: [{input: sb.litmus, model: tso, expect: unsafe}]", 0);
    ends("tasks: [{input: sb.litmus, model: tso}]", 1);
    ends("tasks: [{input: sb.litmus, model: sc}]", 0);
    ends("tasks: [{input: sb.litmus, model: sc, expect: unsafe}]", 1);
    ends("tasks: [{input: sb.litmus, model: sc, expects: unsafe}]", 2);
}

#[test]
fn a_folder_is_a_batch_too() {
    let folder = folder();
    folder.write("d/notes.txt", "no program");
    let run = folder.run(&["verify", "-q", "--batch", "-m", "sc", "--format", "csv", "d"]);
    run.ends_with(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("input,model,property,expected,verdict,message,engine"));
    assert!(lines[1].starts_with("d/mp.litmus,sc,usual,,safe,"), "{}", lines[1]);
    assert!(lines[2].starts_with("d/sb.litmus,sc,usual,,safe,"), "{}", lines[2]);
    assert_eq!(lines.len(), 3);
    folder.run(&["verify", "--batch", "d/none"]).ends_with(2);
    folder.run(&["verify", "--format", "csv", "d/sb.litmus"]).ends_with(2).complains("--batch");
}

#[test]
fn what_is_done_is_not_done_again() {
    let folder = folder();
    folder.write("d/t.yml", "tasks: [{input: [sb.litmus, mp.litmus], model: tso}]");
    let words = ["verify", "-q", "--batch", "--format", "json", "--results", "kept", "d/t.yml"];
    let first = folder.run(&words);
    first.ends_with(1);
    let path = folder.path().join("kept");
    let kept = std::fs::read_to_string(&path).expect("answers");
    assert_eq!(kept.lines().count(), 2);
    // What is kept is believed, up to a line that was broken off.
    let forged = kept.lines().next().expect("a line").replace("\"unsafe\"", "\"unknown\"");
    std::fs::write(&path, format!("{forged}\n{{\"key\":\"12")).expect("a file");
    let second = folder.run(&words);
    let rows: Vec<Value> =
        second.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        (rows[0]["verdict"].as_str(), rows[1]["verdict"].as_str()),
        (Some("unknown"), Some("safe"))
    );
    // Another content is another question.
    folder.write("d/sb.litmus", SB.replace("SB", "SB2"));
    let third = folder.run(&words);
    assert!(third.stdout.lines().next().expect("a row").contains("\"verdict\":\"unsafe\""));
    // A file that is something else stays as it is.
    for (text, line) in [("nonsense\n", 1), ("nonsense", 1), ("\n{\"key\": 1", 2)] {
        std::fs::write(&path, text).expect("a file");
        folder
            .run(&["verify", "-q", "--batch", "--results", "kept", "d/t.yml"])
            .ends_with(2)
            .complains(&format!("kept:{line}: this is no kept answer"));
        assert_eq!(std::fs::read_to_string(&path).expect("the file"), text);
    }
}

#[test]
fn the_table_is_a_page_too() {
    let folder = folder();
    folder.write("d/<b>.litmus", MP);
    folder.run(&["verify", "-q", "--batch", "-m", "sc", "--report", "t.html", "d"]).ends_with(0);
    let page = std::fs::read_to_string(folder.path().join("t.html")).expect("a page");
    assert!(page.contains("d/&lt;b&gt;.litmus") && !page.contains("<b>"));
    assert!(page.contains("3 questions: 3 safe") && page.contains("parallax verify -q --batch"));
}
