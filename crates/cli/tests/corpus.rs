//! The project's own corpus: every answer is the expected one, and every execution that is
//! drawn replays.

use crate::support;

use std::path::Path;

use support::{Folder, run_in};

#[test]
fn every_answer_is_the_expected_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let run = run_in(&root, &["litmus", "--expect", "tests/corpus/expected.csv"]);
    run.ends_with(0).says(" 0 differ, 0 failed");
}

#[test]
fn every_execution_that_is_drawn_replays() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let corpus = corpus.display().to_string();
    let run = Folder::new().run(&["litmus", "--quiet", "--graph", "pictures", &corpus]);
    assert_eq!(run.ends_with(0).stderr, "");
}
