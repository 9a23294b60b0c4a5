//! Programs and what becomes of them, in the text form. With `UPDATE_EXPECTED=1` in the
//! environment, what is expected is written anew.

use std::path::{Path, PathBuf};

use parallax_frontend_c::{Options, load};

#[test]
fn programs_are_lowered_as_expected() {
    let mut wrong = Vec::new();
    for path in sources(Path::new("tests/lowering")) {
        let expected_path = path.with_extension("program");
        let program = load(std::slice::from_ref(&path), &Options::default()).unwrap();
        let found = program.to_string();
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(&expected_path, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expected_path).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}
