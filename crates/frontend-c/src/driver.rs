//! From files to modules in LLVM's textual form: runs clang and LLVM's tools.
//!
//! A file of C takes two runs. What clang says has to be changed before `opt` sees it (see
//! [`crate::undefined`] and [`without_native_integers`]), and LLVM has no way to do so in between but a library
//! loaded into clang, which would have to be built for each version. So what they make is [kept](cache).

mod cache;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use parallax_files::{Arguments, MOST_TEXT, Scratch, is_taken_for_list, plain, run};
use parallax_program::{Diagnostic, Diagnostics, SourceFile};

pub use self::cache::usual_cache;
use self::cache::{Cache, Includes};
use crate::dialect::translated;
use crate::headers;
use crate::undefined::marked;
use crate::{DataModel, Input, Options, rust};

/// The version of LLVM that the tools should be of.
const VERSION: &str = "19";

/// How clang is run. Its own optimiser is off: see the top of the crate.
const CLANG_ARGS: [&str; 18] = [
    "-S",
    "-emit-llvm",
    "-g",
    "-U__OPTIMIZE__",
    "-Xclang",
    "-disable-llvm-passes",
    "-ffp-contract=off",
    "-w",
    "-fno-color-diagnostics",
    "-fno-caret-diagnostics",
    "-D__PARALLAX__",
    // Programs that were written before C99 declare functions by calling them.
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=return-mismatch",
    "-o",
    "-",
];

/// What only C++ gets: the standard library checks what it asks of its users, and so texts come with their
/// bodies.
/// Two counts next to one another are not read as one.
const CXX_ARGS: [&str; 2] = ["-D_GLIBCXX_ASSERTIONS", "-D_GLIBCXX_TSAN=1"];

/// How files of C++ end.
pub const CXX: [&str; 3] = ["cpp", "cc", "cxx"];

/// What no argument of the user takes back: where the lives of variables end, and which accesses are the
/// source's own, clang says only here.
const LAST_ARGS: [&str; 2] = ["-O1", "-fstrict-aliasing"];

/// Where overflow is checked: the sign of a shift shows only to clang.
const SHIFT_ARGS: [&str; 2] = ["-fsanitize=shift-base", "-fsanitize-trap=shift-base"];

/// Registers for local variables, and nothing else.
const PASSES: &str = "-passes=sroa<preserve-cfg>";

/// Reads files of any kind that is known.
pub fn read_all(paths: &[PathBuf], options: &Options) -> Result<Vec<Input>, Diagnostics> {
    let mut inputs = Vec::new();
    let mut errors = Vec::new();
    rust::check_alone(paths)?;
    for path in paths {
        match read(path, options) {
            Ok(more) => inputs.extend(more),
            Err(more) => errors.extend(more),
        }
    }
    match (errors.is_empty(), inputs.is_empty()) {
        (false, _) => Err(errors),
        (true, true) => Err(vec![Diagnostic::new("there is no input file")]),
        (true, false) => Ok(inputs),
    }
}

fn read(path: &Path, options: &Options) -> Result<Vec<Input>, Diagnostics> {
    let name = path.display().to_string();
    let unreadable =
        |error: io::Error| vec![Diagnostic::new(format!("cannot read {name}: {error}"))];
    match path.extension().and_then(OsStr::to_str) {
        Some(kind) if matches!(kind, "c" | "i") || CXX.contains(&kind) => {
            parallax_files::check(path, MOST_TEXT).map_err(unreadable)?;
            let text = compile(path, options)?;
            Ok(vec![Input { name, text, is_source: false }])
        }
        Some("rs") => {
            parallax_files::check(path, MOST_TEXT).map_err(unreadable)?;
            rust::compile(path, options)
        }
        Some("ll") => {
            let bytes = parallax_files::read(path, MOST_TEXT).map_err(unreadable)?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(vec![Input { name, text, is_source: true }])
        }
        Some("bc") => {
            parallax_files::check(path, MOST_TEXT).map_err(unreadable)?;
            let args = Arguments::default().options(["-o", "-", "--"]).path(path);
            let text = run_tool("llvm-dis", "llvm-19", &args, options)?;
            Ok(vec![Input { name, text, is_source: true }])
        }
        _ => Err(vec![
            Diagnostic::new(format!("{name}: neither C, C++, Rust nor LLVM"))
                .with_help("files of these kinds are read: .c .i .cpp .cc .cxx .rs .ll .bc"),
        ]),
    }
}

/// Whether a file is one of C++.
fn is_cxx(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|kind| CXX.contains(&kind))
}

/// What clang and the one pass make of a file of C or C++.
fn compile(path: &Path, options: &Options) -> Result<String, Diagnostics> {
    let cache = Cache::of(path, options);
    if let Some(module) = cache.as_ref().and_then(Cache::find) {
        return Ok(module);
    }
    let failed =
        |error: io::Error| vec![Diagnostic::new(format!("cannot write a temporary file: {error}"))];
    let scratch = Scratch::new().map_err(failed)?;
    headers::write(scratch.path()).map_err(failed)?;
    let mut args = Arguments::default().options(CLANG_ARGS);
    if is_cxx(path) {
        args = args.options(CXX_ARGS);
    }
    if options.overflow {
        args = args.options(SHIFT_ARGS);
    }
    args = args.options(["-isystem"]).path(scratch.path());
    for remap in remaps(scratch.path(), options).map_err(failed)? {
        args = args.options(["-Xclang", "-remap-file", "-Xclang"]).options([remap]);
    }
    args = args.options(&options.clang_args).options(LAST_ARGS);
    args = args.options(width_args(options));
    let followed = cache.as_ref().and_then(|_| follow_clang(path, &scratch, &args, options));
    let (text, includes) = match followed {
        Some((text, includes)) => (text, includes),
        None => (run_clang(path, &scratch, args, options)?, None),
    };
    let module = promoted(&text, Language::C, options)?;
    if let (Some(cache), Some(includes)) = (cache, includes) {
        cache.keep(&includes, &module);
    }
    Ok(module)
}

/// What a module comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    /// All objects are so many bytes, and none is read before it is written, but by unsafe code.
    Rust,
}

/// A module after the one pass, with the marks that it needs.
pub fn promoted(text: &str, language: Language, options: &Options) -> Result<String, Diagnostics> {
    let failed =
        |error: io::Error| vec![Diagnostic::new(format!("cannot write a temporary file: {error}"))];
    let scratch = Scratch::new().map_err(failed)?;
    let module = scratch.path().join("module.ll");
    std::fs::write(&module, marked(&without_native_integers(text), language)).map_err(failed)?;
    let args = Arguments::default().options(["-S", PASSES, "-o", "-", "--"]).path(&module);
    run_tool("opt", "llvm-19", &args, options)
}

/// What clang makes of a file, and what it has read and where it has looked, if that can be told. None if
/// it refuses the file: what it says then is mixed with what it was asked for beside.
fn follow_clang(
    path: &Path,
    scratch: &Scratch,
    args: &Arguments,
    options: &Options,
) -> Option<(String, Option<Includes>)> {
    let rule = scratch.path().join("includes");
    let args = args.clone().options(["-v", "-MD", "-MT", "module", "-MF"]).path(&rule);
    let output = output_of("clang", &args.options(["--"]).path(path), options).ok()?;
    if !output.status.success() {
        return None;
    }
    let rule = parallax_files::read(&rule, MOST_TEXT).ok();
    let rule = rule.and_then(|rule| String::from_utf8(rule).ok());
    let said = String::from_utf8_lossy(&output.stderr);
    let includes = rule.and_then(|rule| Includes::read(&rule, &said, scratch.path()));
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), includes))
}

/// What clang makes of a file, and if it refuses it, of the same file in words that clang knows.
fn run_clang(
    path: &Path,
    scratch: &Scratch,
    args: Arguments,
    options: &Options,
) -> Result<String, Diagnostics> {
    let run = |args: Arguments, source: &Path| {
        run_tool("clang", "clang-19", &args.options(["--"]).path(source), options)
    };
    let failed =
        |error: io::Error| vec![Diagnostic::new(format!("cannot write a temporary file: {error}"))];
    // What the file includes is beside it, and not beside a copy.
    let beside =
        |args: Arguments| args.options(["-iquote"]).path(path.parent().unwrap_or(Path::new("")));
    let errors = match is_taken_for_list(path) {
        true => {
            let text = text(path, options).map_err(failed)?;
            let source = copy(path, scratch.path(), "", &text).map_err(failed)?;
            run(beside(args.clone()), &source)
        }
        false => run(args.clone(), path),
    };
    let errors = match errors {
        Ok(module) => return Ok(module),
        Err(errors) => errors,
    };
    if is_cxx(path) {
        return Err(errors.into_iter().map(with_cxx_help).collect());
    }
    let text = text(path, options).map_err(failed)?;
    let Some(translated) = translated(&String::from_utf8_lossy(&text), is_short(options)) else {
        return Err(errors);
    };
    let text = translated.text.as_bytes();
    let source = copy(path, scratch.path(), &translated.declarations, text).map_err(failed)?;
    run(beside(args), &source)
}

/// What clang gets to know of the data model. Headers of C libraries for 64 bits know the types for 32
/// bits too, so a machine needs no others: they are looked at last, and what only says which functions
/// such a library lacks is [ours](headers).
fn width_args(options: &Options) -> Vec<&'static str> {
    let model = options.data_model.map(|model| match model {
        DataModel::Ilp32 => "-m32",
        DataModel::Lp64 => "-m64",
    });
    let headers = ["-idirafter", "/usr/include/x86_64-linux-gnu"];
    model.into_iter().chain(headers.into_iter().filter(|_| is_short(options))).collect()
}

/// Whether pointers have 32 bits.
fn is_short(options: &Options) -> bool {
    let asked = options.clang_args.iter().rfind(|arg| matches!(arg.as_str(), "-m32" | "-m64"));
    match options.data_model {
        Some(model) => model == DataModel::Ilp32,
        None => asked.is_some_and(|arg| arg == "-m32"),
    }
}

/// The contents of a file of C.
fn text(path: &Path, options: &Options) -> io::Result<Vec<u8>> {
    match options.texts.iter().find(|(edited, _)| edited == path) {
        Some((_, text)) => Ok(text.clone().into_bytes()),
        None => parallax_files::read(path, MOST_TEXT),
    }
}

/// A copy of a file under a name that clang takes for nothing else. A line ahead of it says what the
/// following ones are of, so that places, and `__FILE__`, are those of the file itself.
fn copy(path: &Path, folder: &Path, declarations: &str, text: &[u8]) -> io::Result<PathBuf> {
    let copy = folder.join("source").with_extension(path.extension().unwrap_or(OsStr::new("c")));
    let name = literal(plain(path).as_os_str().as_encoded_bytes());
    let ahead = format!("{declarations}\n# 1 \"{name}\"\n");
    std::fs::write(&copy, [ahead.as_bytes(), text].concat())?;
    Ok(copy)
}

/// Bytes within a literal of C.
fn literal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = match byte {
            b'"' | b'\\' | 0..=31 | 127.. => write!(text, "\\{byte:03o}"),
            _ => write!(text, "{}", char::from(*byte)),
        };
    }
    text
}

/// Writes the texts that stand in for files, and says so as clang takes it: two paths with a `;`
/// between them. A path that has one itself is given by a link to the file.
fn remaps(folder: &Path, options: &Options) -> io::Result<Vec<OsString>> {
    let has_separator = |path: &Path| path.as_os_str().as_encoded_bytes().contains(&b';');
    if has_separator(folder) && !options.texts.is_empty() {
        let message = format!("there is a ';' in the name of the folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let texts = options.texts.iter().enumerate().map(|(number, (path, text))| {
        let file = folder.join(format!("text-{number}.c"));
        std::fs::write(&file, text)?;
        let mut remap = plain(path);
        if has_separator(path) {
            remap = folder.join(format!("link-{number}.c"));
            std::os::unix::fs::symlink(std::fs::canonicalize(path)?, &remap)?;
        }
        let mut remap = remap.into_os_string();
        remap.push(";");
        remap.push(file);
        Ok(remap)
    });
    texts.collect()
}

/// A module whose target has no favourite sizes of integers. With them, the pass would copy
/// small structures as single integers, and make one access of several.
fn without_native_integers(text: &str) -> String {
    let lines = text.lines().map(|line| match line.strip_prefix("target datalayout = \"") {
        Some(rules) => {
            let rules = rules.trim_end_matches('"').split('-');
            let kept: Vec<&str> = rules.filter(|rule| !is_native(rule)).collect();
            format!("target datalayout = \"{}\"\n", kept.join("-"))
        }
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// `n8:16:32:64`, unlike `ni:1`.
fn is_native(rule: &str) -> bool {
    rule.strip_prefix('n').is_some_and(|sizes| sizes.starts_with(|c: char| c.is_ascii_digit()))
}

/// Runs a tool of LLVM: with its version in its name, or else whichever there is if it is of that
/// version.
fn run_tool(
    tool: &str,
    package: &str,
    args: &Arguments,
    options: &Options,
) -> Result<String, Diagnostics> {
    match output_of(tool, args, options) {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(complaints(tool, &output)),
        Err(error) if is_absent(&error) => Err(missing(tool, package)),
        Err(error) => Err(vec![Diagnostic::new(format!("{tool}: {error}"))]),
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn output_of(tool: &str, args: &Arguments, options: &Options) -> io::Result<Output> {
    let left = options.until.map(|until| until.saturating_duration_since(Instant::now()));
    let run = |program: &str| run(program, args, left);
    match run(&format!("{tool}-{VERSION}")) {
        Err(error) if is_absent(&error) && is_right_version(tool) => run(tool),
        output => output,
    }
}

fn is_right_version(tool: &str) -> bool {
    let version = run(tool, &Arguments::default().options(["--version"]), None).ok();
    let text = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.is_some_and(|text| text.contains(&format!("version {VERSION}.")))
}

fn missing(tool: &str, package: &str) -> Diagnostics {
    let message = format!("cannot run {tool}-{VERSION}, nor a {tool} of version {VERSION}");
    let help = format!("install it: on Debian and Ubuntu, apt-get install {package}");
    vec![Diagnostic::new(message).with_help(help)]
}

/// What helps where not even the headers of C++ are there.
fn with_cxx_help(error: Diagnostic) -> Diagnostic {
    match error.help.is_none() && error.message.ends_with("file not found") {
        true => error.with_help(
            "headers of the standard library: on Debian and Ubuntu, apt-get install g++; \
             folders of your own go after '--', as -I",
        ),
        false => error,
    }
}

/// What a tool says, each error with its place and the notes that follow it.
fn complaints(tool: &str, output: &Output) -> Diagnostics {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut errors: Diagnostics = Vec::new();
    for line in said.lines() {
        if let Some((_, note)) = line.split_once(": note: ") {
            if let Some(error) = errors.last_mut() {
                error.help.get_or_insert_with(|| note.into());
            }
        } else if let Some(error) = complaint(line) {
            errors.push(error);
        }
    }
    if errors.is_empty() {
        let text = said.trim();
        let text = if text.is_empty() { "it failed" } else { text };
        errors.push(Diagnostic::new(format!("{tool}: {text}")));
    }
    errors
}

/// `a.c:3:5: error: message`, or an error of the tool as a whole.
fn complaint(line: &str) -> Option<Diagnostic> {
    let marks = [": fatal error: ", ": error: "];
    let (place, message) = marks.iter().find_map(|mark| line.split_once(mark))?;
    Some(error_at(place, message))
}

/// An error at `a.c:3:5`, or of the tool as a whole.
pub fn error_at(place: &str, message: &str) -> Diagnostic {
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next().and_then(|text| text.parse::<u32>().ok());
    let number = parts.next().and_then(|text| text.parse::<u32>().ok());
    match (parts.next(), number, column) {
        (Some(file), Some(number), Some(column)) => {
            let text = parallax_files::read(Path::new(file), MOST_TEXT).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let blank = "\n".repeat(number.min(1 << 20) as usize);
            let text = if text.is_empty() { &blank } else { text.as_ref() };
            let source = SourceFile::new(file, text);
            let mut span = source.span_at(0, number, column);
            span.end = span.start + 1;
            source.error(span, message)
        }
        _ => Diagnostic::new(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_integers_are_taken_out() {
        let text = "target datalayout = \"e-m:e-i64:64-n8:16:32:64-ni:1-S128\"\nrest\n";
        let expected = "target datalayout = \"e-m:e-i64:64-ni:1-S128\"\nrest\n";
        assert_eq!(without_native_integers(text), expected);
    }

    #[test]
    fn names_are_literals() {
        assert_eq!(literal("./@a \"\\\n\u{e9}.c".as_bytes()), r#"./@a \042\134\012\303\251.c"#);
    }

    #[test]
    fn errors_of_tools_have_places() {
        let error = complaint("no/such.c:3:5: error: use of undeclared identifier 'x'").unwrap();
        assert_eq!(error.message, "use of undeclared identifier 'x'");
        assert_eq!(error.location.map(|place| place.line), Some(3));
        let error = complaint("clang: error: no such file or directory: 'x.c'").unwrap();
        assert_eq!(error.location, None);
        assert_eq!(complaint("1 error generated."), None);
    }
}
