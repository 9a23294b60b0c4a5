//! Examples with pieces cut out, doubled and exchanged: everything is read, or is an error with a
//! place; what is read lowers, or is an error with a place.

use std::fs;
use std::path::Path;

use parallax_frontend_ops::{Judging, lower, marked, parse, translate};
use proptest::prelude::*;

fn examples(extension: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ops");
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == extension));
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).expect("it reads")).collect()
}

/// Cuts, doubles and exchanges words.
fn changed(text: &str, changes: &[(usize, usize, u8)]) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ';', '(', ')', '[', ']']).collect();
    for (first, second, what) in changes {
        let (first, second) = (first % words.len(), second % words.len());
        match what {
            0 => words[first] = "",
            1 => words[first] = words[second],
            2 => words.swap(first, second),
            _ => words.insert(first, words[second]),
        }
    }
    words.concat()
}

fn changes() -> impl Strategy<Value = Vec<(usize, usize, u8)>> {
    prop::collection::vec((any::<usize>(), any::<usize>(), 0u8..4), 1..4)
}

proptest! {
    #[test]
    fn broken_structures_are_read_or_refused(
        text in prop::sample::select(examples("ops")),
        changes in changes(),
    ) {
        match parse("t.ops", &changed(&text, &changes)) {
            Err(errors) => prop_assert!(errors.iter().all(|error| error.location.is_some())),
            Ok(structures) => {
                let again = parse("again.ops", &structures.to_string());
                prop_assert_eq!(again.as_ref(), Ok(&structures));
                for judging in [Judging::AtOnce, Judging::AtEnd, Judging::ByQuestion] {
                    let lowered = lower(&structures, judging).err().unwrap_or_default();
                    prop_assert!(lowered.iter().all(|error| error.location.is_some()));
                }
                let marked = marked(&structures, "mark").err().unwrap_or_default();
                prop_assert!(marked.iter().all(|error| error.location.is_some()));
            }
        }
    }

    #[test]
    fn broken_code_is_translated_or_refused(
        text in prop::sample::select(examples("asm")),
        changes in changes(),
    ) {
        let errors = translate("t.asm", &changed(&text, &changes)).err().unwrap_or_default();
        prop_assert!(errors.iter().all(|error| error.location.is_some()));
    }
}
