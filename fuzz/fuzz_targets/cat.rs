//! Any text is a memory model or an error with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_memory::Model;

fuzz_target!(|text: &str| {
    if let Err(errors) = Model::parse("fuzz.cat", text, &|_| None) {
        assert!(!errors.is_empty());
    }
});
