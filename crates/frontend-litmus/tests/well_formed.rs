//! Every program that the front end makes is well formed and survives its text form: for the
//! project's own corpus, and for the shared suite where it is there.

use std::path::Path;

use parallax_program::parse_program;

#[test]
fn every_litmus_test_becomes_a_well_formed_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [root.join("tests/corpus"), root.join("../shared/suites/litmus")];
    let folders: Vec<_> = folders.iter().filter(|folder| folder.is_dir()).collect();
    let (files, errors) = parallax_frontend_litmus::collect(&folders);
    assert!(errors.is_empty(), "{errors:?}");
    let failures: Vec<String> = files.iter().filter_map(|file| problem(file)).collect();
    let shown = failures[..failures.len().min(20)].join("\n");
    assert!(failures.is_empty(), "{} fail:\n{shown}", failures.len());
}

/// What is wrong with the program of a test, if anything is.
fn problem(file: &Path) -> Option<String> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).ok()?;
    let program = match parallax_frontend_litmus::parse(&name, &text) {
        Ok(test) => test.program,
        Err(errors) => return Some(errors.first()?.to_string()),
    };
    if let Err(errors) = program.check() {
        return Some(errors.first()?.to_string());
    }
    let text = program.to_text();
    match parse_program(&name, &text) {
        Ok(again) if again.to_text() == text => None,
        Ok(_) => Some(format!("{name}: the text form changes")),
        Err(errors) => Some(errors.first()?.to_string()),
    }
}
