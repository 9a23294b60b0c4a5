//! Any text is operation structures that print, read back as the same, and lower; or an error with a
//! place. The same text as assembly code translates to structures, or is an error with a place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_frontend_ops::{Judging, lower, parse, translate};

fuzz_target!(|text: &str| {
    match parse("fuzz.ops", text) {
        Ok(structures) => {
            let again = parse("again.ops", &structures.to_string());
            assert!(again.is_ok_and(|again| again == structures));
            for judging in [Judging::AtOnce, Judging::AtEnd, Judging::ByQuestion] {
                if let Err(errors) = lower(&structures, judging) {
                    assert!(errors.iter().all(|error| error.location.is_some()));
                }
            }
        }
        Err(errors) => assert!(errors.iter().all(|error| error.location.is_some())),
    }
    if let Err(errors) = translate("fuzz.asm", text) {
        assert!(errors.iter().all(|error| error.location.is_some()));
    }
});
