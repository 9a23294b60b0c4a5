//! Any bytes are an ELF file that becomes a well-formed program, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_frontend_x86::{Options, translate};

fuzz_target!(|bytes: &[u8]| match translate("fuzz", bytes, &Options::default()) {
    Ok(program) => assert!(program.check().is_ok()),
    Err(errors) => assert!(!errors.is_empty()),
});
