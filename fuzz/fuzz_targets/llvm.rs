//! Any text is a module that becomes a well-formed program, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_frontend_c::{Input, Options, translate};

fuzz_target!(|text: &str| {
    let input = Input { name: "fuzz.ll".into(), text: text.into(), is_source: true };
    let options = Options { overflow: true, ..Options::default() };
    match translate(&[input], &options) {
        Ok(program) => assert!(program.check().is_ok()),
        Err(errors) => assert!(!errors.is_empty()),
    }
});
