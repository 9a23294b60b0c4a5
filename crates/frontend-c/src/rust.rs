//! Programs in Rust, by way of rustc.
//!
//! A file is compiled by the user's rustc, without any optimisation, to LLVM's textual form, which is put
//! into the words of LLVM 19 ([`newer`](crate::newer)). Generic and inline functions of `std` come with it.
//! What `std` has as machine code only is threads and locks, and these have [stand-ins](STAND_INS), a crate
//! that is compiled before the program, and that the program finds under the name `std`: all of the real
//! `std` is in it, with two modules replaced. So programs need no change, and nothing depends on how a
//! version of `std` is made inside. Panics, memory and output go by names of functions of which there are
//! few ([`names`](crate::rust_names)).
//!
//! rustc is asked for what only unstable options give: that generic functions of `std` come with the program
//! although somebody else has compiled them, and that the compiler's own optimiser leaves accesses alone. It
//! takes such options from a stable toolchain where `RUSTC_BOOTSTRAP` says so.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use parallax_files::{Arguments, MOST_TEXT, Scratch, run};
use parallax_program::{Diagnostic, Diagnostics};

use crate::{Input, Options, driver, newer, rust_types};

/// What takes the place of `std`.
const STAND_INS: &str = include_str!("../include/std.rs");

/// Versions of LLVM whose text is read.
const VERSIONS: std::ops::RangeInclusive<u32> = 19..=22;

/// How rustc is run.
const ARGS: [&str; 17] = [
    "--error-format=short",
    "--color=never",
    "-Awarnings",
    "-g",
    "-Copt-level=1",
    "-Cno-prepopulate-passes",
    "-Cpanic=abort",
    "-Ccodegen-units=1",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
    "-Zshare-generics=no",
    "-Zmir-opt-level=0",
    "-Zinline-mir=no",
    // Memory is watched over by the engines.
    "-Zub-checks=no",
    "-Zmir-enable-passes=-CheckAlignment,-CheckNull",
    "--cfg=parallax",
    "--check-cfg=cfg(parallax)",
];

/// Options of rustc that decide where it writes, or what: not for users.
const FORBIDDEN: [&str; 6] = ["-o", "--out-dir", "--emit", "--crate-type", "--print", "--target"];

/// What clang is asked for names by; rustc gives them anyway.
const NAMES: &str = "-fno-discard-value-names";

/// The modules that a file of Rust comes to: the stand-ins, and the program.
pub fn compile(path: &Path, options: &Options) -> Result<Vec<Input>, Diagnostics> {
    refuse_arguments(options)?;
    check_version(options)?;
    let failed = |error: std::io::Error| {
        vec![Diagnostic::new(format!("cannot write a temporary file: {error}"))]
    };
    let scratch = Scratch::new().map_err(failed)?;
    let source = scratch.path().join("std.rs");
    std::fs::write(&source, STAND_INS).map_err(failed)?;
    let library = scratch.path().join("libstd.rlib");
    let text = scratch.path().join("std.ll");
    let mut remap = std::ffi::OsString::from("--remap-path-prefix=");
    remap.push(scratch.path());
    remap.push("=/rustc/parallax");
    // Otherwise it writes some files where its caller is, under names that others may use, too.
    let mut temporary = std::ffi::OsString::from("-Ztemps-dir=");
    temporary.push(scratch.path());
    let args = Arguments::default()
        .options(ARGS)
        .options([&temporary])
        .options(["--edition=2021", "--crate-name=std", "--crate-type=rlib", "-Cmetadata=parallax"])
        .options([remap, emitted("link", &library), emitted("llvm-ir", &text)])
        .options(["--"])
        .path(&source);
    rustc(&args, options)?;
    let stand_ins = module("<library>/std.rs", &text, options)?;

    let text = scratch.path().join("program.ll");
    let mut args = Arguments::default().options(ARGS).options([&temporary]);
    let is_edition = |arg: &String| arg.starts_with("--edition");
    if !options.clang_args.iter().any(is_edition) {
        args = args.options(["--edition=2021"]);
    }
    let mut library_option = std::ffi::OsString::from("--extern=std=");
    library_option.push(&library);
    let args = args
        .options(options.clang_args.iter().filter(|arg| *arg != NAMES))
        .options(["--crate-type=bin", "--crate-name=program"])
        .options([library_option, emitted("llvm-ir", &text)])
        .options(["--"])
        .path(path);
    rustc(&args, options)?;
    let program = module(&path.display().to_string(), &text, options)?;
    Ok(vec![program, stand_ins])
}

/// `--emit=llvm-ir=PATH`
fn emitted(kind: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--emit={kind}="));
    option.push(path);
    option
}

fn refuse_arguments(options: &Options) -> Result<(), Diagnostics> {
    let is_forbidden = |arg: &&String| {
        FORBIDDEN.iter().any(|option| arg.split('=').next() == Some(option))
            || (arg.starts_with("-o") && !arg.starts_with("--"))
    };
    match options.clang_args.iter().find(is_forbidden) {
        Some(arg) => {
            let message = format!("'{arg}': what rustc writes is not for others to decide");
            Err(vec![Diagnostic::new(message)])
        }
        None => Ok(()),
    }
}

/// A module as rustc has written it, after the pass.
fn module(name: &str, text: &Path, options: &Options) -> Result<Input, Diagnostics> {
    let unreadable = |error: std::io::Error| vec![Diagnostic::new(format!("{name}: {error}"))];
    let bytes = parallax_files::read(text, MOST_TEXT).map_err(unreadable)?;
    let text = rust_types::typed(&newer::as_llvm_19(&String::from_utf8_lossy(&bytes)));
    let text = driver::promoted(&text, driver::Language::Rust, options)?;
    Ok(Input { name: name.to_string(), text, is_source: false })
}

/// That there is a rustc, and that it is none too new.
fn check_version(options: &Options) -> Result<(), Diagnostics> {
    let args = Arguments::default().options(["-vV"]);
    let output = run("rustc", &args, left(options)).map_err(|error| {
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => "cannot run rustc".to_string(),
            _ => format!("rustc: {error}"),
        };
        vec![Diagnostic::new(message).with_help("install it: see https://rustup.rs")]
    })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let line = |start: &str| said.lines().find_map(|line| line.strip_prefix(start));
    let (release, llvm) = (line("release: ").unwrap_or("?"), line("LLVM version: "));
    let major = llvm.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    match major {
        Some(major) if VERSIONS.contains(&major) => Ok(()),
        Some(_) => {
            let (first, last) = (VERSIONS.start(), VERSIONS.end());
            let llvm = llvm.unwrap_or("?");
            let message = format!(
                "rustc {release} has LLVM {llvm}, and what LLVM {first} to {last} write is read"
            );
            let help = "another toolchain: rustup default, or RUSTUP_TOOLCHAIN in the environment";
            Err(vec![Diagnostic::new(message).with_help(help)])
        }
        None => {
            let said = String::from_utf8_lossy(&output.stderr);
            let message = format!("rustc does not say which version it is: {}", said.trim());
            Err(vec![Diagnostic::new(message)])
        }
    }
}

fn left(options: &Options) -> Option<std::time::Duration> {
    options.until.map(|until| until.saturating_duration_since(Instant::now()))
}

fn rustc(args: &Arguments, options: &Options) -> Result<(), Diagnostics> {
    let whole = Arguments::default().options(["RUSTC_BOOTSTRAP=1", "rustc"]).options(args.get());
    match run("env", &whole, left(options)) {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(complaints(&output)),
        Err(error) => Err(vec![Diagnostic::new(format!("rustc: {error}"))]),
    }
}

/// `a.rs:3:5: error[E0425]: cannot find …`
fn complaints(output: &Output) -> Diagnostics {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut errors: Diagnostics = Vec::new();
    for line in said.lines() {
        let Some((place, rest)) = line.split_once("error") else { continue };
        let Some((code, message)) = rest.split_once(": ") else { continue };
        let is_code = code.is_empty() || (code.starts_with('[') && code.ends_with(']'));
        let is_start = place.is_empty() || place.ends_with(": ");
        if !is_code || !is_start || message.starts_with("aborting due to") {
            continue;
        }
        let message = format!("{message}{}{code}", if code.is_empty() { "" } else { " " });
        match place.strip_suffix(": ") {
            Some(place) => errors.push(driver::error_at(place, &message)),
            None => errors.push(Diagnostic::new(message)),
        }
    }
    if errors.is_empty() {
        let text = said.trim();
        let text = if text.is_empty() { "it failed" } else { text };
        errors.push(Diagnostic::new(format!("rustc: {text}")));
    }
    errors
}

/// Whether a path is one of a file of Rust.
pub fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "rs")
}

/// The files of Rust among several: there can be one, which is the root of its crate.
pub fn check_alone(paths: &[PathBuf]) -> Result<(), Diagnostics> {
    match paths.iter().filter(|path| is_rust(path)).nth(1) {
        Some(second) => {
            let message = format!("'{}': a second file of Rust", second.display());
            let help = "the file with 'main' is enough: others are its modules";
            Err(vec![Diagnostic::new(message).with_help(help)])
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustc_says_has_places() {
        let stderr = "no/such.rs:4:5: error[E0425]: cannot find value `x` in this scope\n\
                      error: aborting due to 1 previous error\nerror: unknown start\n";
        let stderr = stderr.as_bytes().to_vec();
        let output = Output { status: Default::default(), stdout: Vec::new(), stderr };
        let errors = complaints(&output);
        assert_eq!(errors.len(), 2);
        assert_eq!(errors[0].message, "cannot find value `x` in this scope [E0425]");
        assert_eq!(errors[0].location.as_ref().map(|place| place.line), Some(4));
        assert_eq!(errors[1].message, "unknown start");
    }

    #[test]
    fn rustc_writes_where_it_is_told() {
        let refused = |arg: &str| {
            let options = Options { clang_args: vec![arg.to_string()], ..Options::default() };
            refuse_arguments(&options).is_err()
        };
        assert!(refused("-o") && refused("-ox") && refused("--emit=link") && refused("--out-dir"));
        assert!(!refused("--cfg=small") && !refused("--edition=2018") && !refused("-Copt-level=2"));
    }
}
