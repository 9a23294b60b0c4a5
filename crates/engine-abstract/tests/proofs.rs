//! Proofs are checked by somebody else, and refused where they are damaged.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_abstract::proof::{Checked, check};
use parallax_engine_abstract::{Options, Tuning, prove};
use parallax_frontend_c::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};

const PATIENCE: Duration = Duration::from_secs(60);

fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-abstract");
    std::env::var("PROGRAMS").map_or(own, PathBuf::from)
}

/// The program of a file, and its proof if it is safe.
fn proved(file: &str, tuning: Tuning) -> (Program, Option<String>) {
    let program = load(&[folder().join(file)], &Default::default());
    let program = program.unwrap_or_else(|errors| panic!("{file}: {}", errors[0]));
    let model = Model::builtin("sc").expect("a model").expect("a good model");
    let options = Options {
        properties: vec![Property::Assert],
        control: Control::lasting(PATIENCE),
        tuning: Tuning { proves: true, ..tuning },
        ..Options::default()
    };
    let (_, proof) = prove(&program, &model, &options);
    (program, proof)
}

fn checked(program: &Program, text: &str) -> Result<Checked, String> {
    let found = check(program, "a.proof", text, &Control::lasting(PATIENCE));
    found.map_err(|errors| errors[0].to_string())
}

fn safe_programs() -> Vec<String> {
    let table = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let rows = table.lines().filter_map(|line| line.strip_suffix(",safe"));
    rows.map(str::to_string).collect()
}

#[test]
fn proofs_are_confirmed() {
    for file in safe_programs() {
        for reduces in [true, false] {
            let (program, proof) = proved(&file, Tuning { reduces, ..Tuning::default() });
            let proof = proof.unwrap_or_else(|| panic!("{file} has no proof"));
            if let Ok(folder) = std::env::var("PROOFS") {
                std::fs::write(Path::new(&folder).join(format!("{file}.{reduces}")), &proof)
                    .expect("a file");
            }
            let found = checked(&program, &proof);
            println!("{file} {reduces}: {found:?}");
            assert!(matches!(found, Ok(Checked::Confirmed { .. })), "{file}: {found:?}");
        }
    }
}
