//! The programs in `examples/c-graphs`, under models that no machine has: the answers of `expected.csv`, for
//! any number of rounds and all inputs. The slow ones are tried when `PARALLAX_LONG` is set.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::{Options, verify};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::Property;
use parallax_verdict::Scope;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-graphs")
}

#[test]
fn examples_give_the_expected_answers() {
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let is_long = std::env::var("PARALLAX_LONG").is_ok();
    let mut tried = 0;
    for line in text.lines().skip(1) {
        let row: Vec<&str> = line.split(',').collect();
        let [file, name, expected, slow] = row[..] else { panic!("a short row: {line}") };
        if !slow.is_empty() && !is_long {
            continue;
        }
        let program = load(&[folder().join(file)], &Default::default());
        let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
        let model = Model::builtin(name).expect("a model").expect("a right model");
        let options = Options {
            properties: vec![Property::Assert],
            control: Control::lasting(Duration::from_secs(120)),
            ..Options::default()
        };
        let found = verify(&program, &model, &options);
        let reason = found.reason.as_ref().map(|reason| &reason.message);
        assert_eq!(found.conclusion().name(), expected, "{line}: {reason:?}");
        assert!(expected != "safe" || found.scope == Some(Scope::Complete), "{line}");
        tried += 1;
    }
    assert!(tried >= 9);
}
