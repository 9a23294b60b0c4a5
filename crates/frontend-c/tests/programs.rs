//! Small programs, each run by the interpreter: how it ends is said in its first line.

use crate::world;

use std::path::{Path, PathBuf};

use parallax_frontend_c::{DataModel, Options, load};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c"));
    paths.sort();
    paths
}

/// What follows `// name: ` on some line of a text.
fn said<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mark = format!("// {name}: ");
    text.lines().find_map(|line| line.strip_prefix(&mark)).map(str::trim)
}

fn run(path: &Path, data_model: DataModel) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let overflow = said(&text, "check") == Some("overflow");
    let options = Options { overflow, data_model: Some(data_model), ..Options::default() };
    let program = match load(&[path.to_path_buf()], &options) {
        Ok(program) => program,
        Err(errors) => return errors[0].to_string(),
    };
    if let Err(errors) = program.check() {
        return errors[0].to_string();
    }
    world::run(&program)
}

/// What is wrong with a program, if something is.
fn difference(path: &Path, data_model: DataModel) -> Option<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let expected = said(&text, "expect").expect("an expectation");
    let found = run(path, data_model);
    (found != expected).then(|| format!("{}: {found}, not {expected}", path.display()))
}

fn differences(paths: &[PathBuf], data_model: DataModel) -> Vec<String> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = paths.len().div_ceil(workers).max(1);
    std::thread::scope(|scope| {
        let check = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().filter_map(|path| difference(path, data_model)).collect()
        };
        let running: Vec<_> =
            paths.chunks(share).map(|paths| scope.spawn(move || check(paths))).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn programs_end_as_they_say() {
    let paths = programs();
    assert!(paths.len() >= 60);
    let wrong = differences(&paths, DataModel::Lp64);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All but those that say that their numbers are of 64 bits; every fourth of them unless
/// `PARALLAX_LONG` is set.
#[test]
fn programs_end_so_with_pointers_of_32_bits() {
    let is_for_both = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        said(&text, "data model") != Some("LP64")
    };
    let step = if std::env::var_os("PARALLAX_LONG").is_some() { 1 } else { 4 };
    let paths: Vec<PathBuf> = programs().into_iter().filter(is_for_both).step_by(step).collect();
    let wrong = differences(&paths, DataModel::Ilp32);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
