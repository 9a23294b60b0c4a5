//! Every test of the shared litmus suite is read without an error, where the suite is there.

use std::path::Path;

#[test]
fn the_shared_suite_is_read() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites/litmus");
    if !suite.is_dir() {
        return;
    }
    let (files, errors) = parallax_frontend_litmus::collect(&[&suite]);
    assert!(errors.is_empty(), "{errors:?}");
    let mut failures = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a readable test");
        if let Err(errors) = parallax_frontend_litmus::parse(&file.display().to_string(), &text) {
            failures.extend(errors.first().map(ToString::to_string));
        }
    }
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} files fail:\n{shown}", failures.len(), files.len());
}
