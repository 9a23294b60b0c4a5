//! Any text is a property file of SV-COMP, with a formula for each line, or an error with a
//! place.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_frontend_c::parse_formulas;

fuzz_target!(|text: &str| {
    match parse_formulas("fuzz.prp", text) {
        Ok(formulas) => {
            assert!(!formulas.formulas.is_empty());
            assert!(formulas.properties().is_sorted());
            assert!(formulas.calls().iter().all(|name| text.contains(name.as_str())));
            let again = parse_formulas("fuzz.prp", &formulas.text());
            assert_eq!(again.as_ref(), Ok(&formulas));
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| error.location.is_some()));
        }
    }
});
