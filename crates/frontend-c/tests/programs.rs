//! Small programs, each run by the interpreter: how it ends is said in its first line.

mod world;

use std::path::{Path, PathBuf};

use parallax_frontend_c::{Options, load};

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

fn run(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let overflow = said(&text, "check") == Some("overflow");
    let options = Options { overflow, ..Options::default() };
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
fn difference(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let expected = said(&text, "expect").expect("an expectation");
    let found = run(path);
    (found != expected).then(|| format!("{}: {found}, not {expected}", path.display()))
}

#[test]
fn programs_end_as_they_say() {
    let paths = programs();
    assert!(paths.len() >= 60);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let share = paths.len().div_ceil(workers);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let check = |paths: &[PathBuf]| -> Vec<String> {
            paths.iter().filter_map(|path| difference(path)).collect()
        };
        let running: Vec<_> =
            paths.chunks(share).map(|paths| scope.spawn(move || check(paths))).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
