//! Any text is a proof that holds or not, or an error with a place.

#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use parallax_control::Control;
use parallax_engine_abstract::proof::check;
use parallax_program::parse_program;

const PROGRAM: &str = include_str!("../../examples/programs/counter.program");

fuzz_target!(|text: &str| {
    let program = parse_program("counter.program", PROGRAM).expect("a program");
    let _ = check(&program, "fuzz.proof", text, &Control::lasting(Duration::from_secs(5)));
});
