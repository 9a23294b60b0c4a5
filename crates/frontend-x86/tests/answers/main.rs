//! Programs whose answers are known, compiled here and now by GCC and Clang at all levels, then
//! run by the machine of Parallax as lifted code. They trap where an answer is wrong. Nothing that
//! is compiled is ever run natively.

mod sequential;

use std::path::{Path, PathBuf};
use std::process::Command;

use sequential::run;

const COMPILERS: [&str; 2] = ["gcc", "clang-19"];

const FLAGS: [&[&str]; 7] = [
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["-O3"],
    &["-Os"],
    &["-O3", "-funroll-loops", "-march=x86-64-v2"],
    &["-O2", "-mbmi", "-mbmi2", "-mpopcnt", "-mlzcnt", "-mmovbe"],
];

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind is among temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is wrong with a program, for each way to compile it that gives a wrong answer.
fn wrong_answers(name: &str) -> Vec<String> {
    let folder = format!("parallax-answers-{name}-{}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(folder));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers").join(name);
    let mut wrong = Vec::new();
    for (compiler, flags) in COMPILERS.iter().flat_map(|one| FLAGS.map(|flags| (one, flags))) {
        let binary = folder.0.join("program");
        let mut command = Command::new(compiler);
        command.args(["-w", "-ffp-contract=off"]).args(flags).arg(&source);
        let Ok(compiled) = command.arg("-o").arg(&binary).output() else {
            eprintln!("skipped: there is no compiler {compiler}");
            continue;
        };
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{compiler} {flags:?}: {said}");
        let options = parallax_frontend_x86::Options::default();
        let program = match parallax_frontend_x86::load(&binary, &options) {
            Ok(program) => program,
            Err(errors) => panic!("{compiler} {flags:?}: {}", errors[0]),
        };
        if let Err(message) = run(&program) {
            wrong.push(format!("{compiler} {flags:?}: {message}"));
        }
    }
    wrong
}

fn check(name: &str) {
    let wrong = wrong_answers(name);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrong_answers_are_noticed() {
    let wrong = wrong_answers("wrong.c");
    assert!(wrong.len() >= FLAGS.len(), "{wrong:?}");
    assert!(wrong.iter().all(|message| message.contains("ud2")), "{wrong:?}");
}

#[test]
fn hashes() {
    check("hashes.c");
}

#[test]
fn integers() {
    check("integers.c");
}

#[test]
fn floats() {
    check("floats.c");
}

#[test]
fn arrays() {
    check("arrays.c");
}

#[test]
fn atomics() {
    check("atomics.c");
}
