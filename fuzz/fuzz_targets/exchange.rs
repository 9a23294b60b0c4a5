//! Any text is a task definition, or a witness, or an error with a place.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use parallax_verify::{task, witness};

fuzz_target!(|text: &str| {
    match task::parse(Path::new("c/fuzz.yml"), text) {
        Ok(task) => {
            assert!(!task.files.is_empty() && !task.properties.is_empty());
            assert!(task.files.iter().all(|file| file.starts_with("c")));
        }
        Err(error) => assert!(error.location.is_some()),
    }
    if let Err(error) = witness::parse("fuzz", text) {
        assert!(error.location.is_some());
    }
});
