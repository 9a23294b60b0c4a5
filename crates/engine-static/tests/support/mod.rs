//! Programs in C.

use std::path::Path;

use parallax_files::Scratch;
use parallax_frontend_c::{Errors, Options, load};
use parallax_program::Program;

/// A program as it is made ready for tasks: only one function is an error.
pub fn program(text: &str) -> Program {
    checked(text, false)
}

/// The same, where arithmetic may be checked.
pub fn checked(text: &str, overflow: bool) -> Program {
    let folder = Scratch::new().expect("a folder");
    let path = folder.path().join("program.c");
    std::fs::write(&path, text).expect("a file");
    load_with(&path, overflow)
}

pub fn load_file(path: &Path) -> Program {
    load_with(path, false)
}

fn load_with(path: &Path, overflow: bool) -> Program {
    let errors = Errors { functions: vec!["reach_error".to_string()], ..Errors::none() };
    let options = Options {
        any_values: true,
        errors,
        spurious_wakeups: true,
        overflow,
        ..Options::default()
    };
    let path = path.to_path_buf();
    load(&[path], &options).unwrap_or_else(|errors| panic!("{errors:?}"))
}
