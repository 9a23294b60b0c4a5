//! Any text is a litmus test or an error with a place; the program of a test is well formed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match parallax_frontend_litmus::parse("fuzz.litmus", text) {
        Ok(test) => assert_eq!(test.program.check(), Ok(())),
        Err(errors) => assert!(!errors.is_empty()),
    }
});
