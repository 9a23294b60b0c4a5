//! What is wrong with a file is reported with its place: `errors/NAME` has the file, `errors/NAME.txt`
//! what is said of it. With `UPDATE_EXPECTED=1` in the environment the second is written anew.

use std::fs;
use std::path::Path;

use parallax_frontend_ops::{Judging, lower, parse, translate};
use parallax_program::Diagnostics;

fn said(name: &str, text: &str) -> String {
    let errors: Diagnostics = match name.ends_with(".asm") {
        true => translate(name, text).err().unwrap_or_default(),
        false => match parse(name, text) {
            Ok(structures) => lower(&structures, Judging::AtOnce).err().unwrap_or_default(),
            Err(errors) => errors,
        },
    };
    errors.iter().map(|error| format!("{error}\n")).collect()
}

#[test]
fn errors_are_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/errors");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("the folder is there").flatten() {
        let name = entry.file_name().into_string().expect("names are text");
        if name.ends_with(".txt") {
            continue;
        }
        let found = said(&name, &fs::read_to_string(entry.path()).expect("it reads"));
        let place = folder.join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&place, &found).expect("it writes");
        }
        assert_eq!(found, fs::read_to_string(&place).unwrap_or_default(), "{name}");
        assert!(!found.is_empty(), "{name}");
        count += 1;
    }
    assert!(count >= 7);
}

/// Deep nesting and long expressions end in errors, not in an overflow of the stack.
#[test]
fn there_are_limits() {
    let parentheses = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    let sum = vec!["a"; 10_000].join(" + ");
    let negations = format!("{}T{}", "not(".repeat(10_000), ")".repeat(10_000));
    for exp in [parentheses, sum, format!("({negations}) ? 1 : 0")] {
        let text = format!("loc [x]; thread P {{ instr{{ a := {exp} }} }}");
        assert!(parse("t.ops", &text).is_err());
    }
    let loops = format!("{}{}", "do { ".repeat(10_000), "} while(T)".repeat(10_000));
    assert!(parse("t.ops", &format!("thread P {{ {loops} }}")).is_err());
    let unordered: Vec<String> = (0..9).map(|number| format!("t{number} := [x]")).collect();
    let text = format!("loc [x]; thread P {{ instr{{ {} }} }}", unordered.join(" || "));
    let structures = parse("t.ops", &text).expect("it reads");
    assert!(lower(&structures, Judging::AtOnce).is_err());
}
