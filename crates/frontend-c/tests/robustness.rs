//! Damaged modules are errors or programs, never panics.

use parallax_frontend_c::{Input, Options, translate};
use proptest::prelude::*;

const MODULES: [&str; 3] = [
    include_str!("ll/unnamed.ll"),
    include_str!("ll/typed_pointers.ll"),
    include_str!("ll/broad.ll"),
];

/// Words that mean something somewhere.
const WORDS: [&str; 28] = [
    "i32",
    "ptr",
    "%0",
    "@x",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ",",
    "=",
    "-1",
    "i999",
    "undef",
    "poison",
    "call",
    "phi",
    "load atomic i32, ptr @x seq_cst",
    "!5",
    "zeroinitializer",
    "[99999999999 x i64]",
    "getelementptr",
    "[999999999999 x {}]",
    "{ i64, [9223372036854775807 x i16] }",
    "i128",
    "%struct.item",
];

fn translated(text: String) {
    let input = Input { name: "m.ll".into(), text, is_source: true };
    let options = Options { overflow: true, ..Options::default() };
    if let Ok(program) = translate(&[input], &options) {
        assert!(program.check().is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn words_are_replaced(
        module in 0..MODULES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..WORDS.len() + 2), 1..6),
    ) {
        let mut words: Vec<&str> = MODULES[module].split_inclusive([' ', '\n', ',', '(', ')']).collect();
        for (place, change) in changes {
            let at = place.index(words.len());
            match WORDS.get(change) {
                Some(word) => words[at] = word,
                None if change == WORDS.len() => words[at] = "",
                None => words.insert(at, words[at]),
            }
        }
        translated(words.concat());
    }

    #[test]
    fn bytes_are_cut(module in 0..MODULES.len(), from in any::<prop::sample::Index>(), length in 0usize..40) {
        let text = MODULES[module];
        let start = from.index(text.len());
        let end = (start + length).min(text.len());
        translated(format!("{}{}", &text[..start], &text[end..]));
    }
}
