//! The files of `tests/mutations` fit the tree: each names a text that occurs just once.

use std::path::Path;

/// What is between two words, both on lines of their own.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

#[test]
fn mutations_fit_the_tree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("tests/mutations")).expect("a folder") {
        let file = entry.expect("a file").path();
        let mutation = std::fs::read_to_string(&file).expect("a text");
        let path = between(&mutation, "path: ", "\n").expect("a path");
        let find = between(&mutation, "\n<<<<\n", "\n====\n").expect("a text to find");
        let text = std::fs::read_to_string(root.join(path)).expect("the file to break");
        assert_eq!(text.matches(find).count(), 1, "{} in {path}", file.display());
        count += 1;
    }
    assert!(count >= 40, "{count}");
}
