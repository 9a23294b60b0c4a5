//! Any text is a program that prints and parses back, or an error with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_program::parse_program;

fuzz_target!(|text: &str| {
    match parse_program("fuzz.program", text) {
        Ok(program) => {
            let text = program.to_text();
            let again = parse_program("again.program", &text).map(|program| program.to_text());
            assert_eq!(again, Ok(text));
        }
        Err(errors) => assert!(!errors.is_empty()),
    }
});
