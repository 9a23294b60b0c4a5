//! Any text is a table of expected answers, or an error with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_report::parse_expectations;

fuzz_target!(|text: &str| {
    if let Err(errors) = parse_expectations("fuzz.csv", text) {
        assert!(!errors.is_empty());
    }
});
