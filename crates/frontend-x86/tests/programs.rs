//! Programs in C, compiled here and now by GCC and Clang at several levels, then verified as
//! machine code. Nothing that is compiled is ever run.
//!
//! Each line `//! FLAGS => MODEL: VERDICT WORDS; …` at the top of a program in `programs/` is a way
//! to compile it, and what is to come out under a model, with words that the message has. Both
//! engines have to say so. Exploration does not answer where accesses of different sizes overlap
//! in a way that its rules for the model do not cover; that, too, is `unknown`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parallax_control::Control;
use parallax_engine_explore::explore;
use parallax_engine_states::search;
use parallax_frontend_x86::load;
use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::Verdict;

const LEVELS: [&str; 3] = ["-O0", "-O2", "-O3"];

/// A file that goes away with its owner.
struct Temporary(PathBuf);

impl Temporary {
    fn new(extension: &str) -> Temporary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-x86-{}-{number}{extension}", std::process::id());
        Temporary(std::env::temp_dir().join(name))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Compiles a file; what the compiler says where it fails.
fn compile(compiler: &str, source: &Path, flags: &[&str], to: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.args(["-g", "-w", "-pthread"]).args(flags).arg(source).arg("-o").arg(to);
    let output = command.output().map_err(|error| format!("{compiler}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug)]
enum Engine {
    Explore,
    States,
}

fn verify(program: &Program, model: &str, engine: Engine) -> Verdict {
    let model = Model::builtin(model).expect("a model").expect("a right model");
    let usual = |property: &Property| !matches!(property, Property::Leak | Property::Race);
    let properties = Property::ALL.into_iter().filter(usual).collect();
    let control = Control::lasting(PATIENCE);
    let verdict = match engine {
        Engine::Explore => {
            let usual = parallax_engine_explore::Options::default();
            let options = parallax_engine_explore::Options { properties, control, ..usual };
            explore(program, &model, &options)
        }
        Engine::States => {
            let usual = parallax_engine_states::Options::default();
            let options = parallax_engine_states::Options { properties, control, ..usual };
            search(program, &model, &options)
        }
    };
    verdict.expect("a program for the engine")
}

/// The verdict and what was said about it, in one line.
fn described(verdict: &Verdict) -> String {
    let violation = verdict.violations.first().map(|violation| violation.message.clone());
    let reason = verdict.reason.as_ref().map(|reason| reason.message.clone());
    let said = violation.or(reason).unwrap_or_default();
    format!("{} {said}", verdict.conclusion().name())
}

/// Flags, and what is expected under which model.
type Expectation<'s> = (Vec<&'s str>, Vec<(&'s str, &'s str)>);

/// What a file says about itself.
fn expectations(source: &str) -> Vec<Expectation<'_>> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("//!"));
    lines
        .map(|line| {
            let (flags, expected) = line.split_once("=>").expect("an arrow");
            let expected = expected.split(';').map(|one| one.split_once(':').expect("a colon"));
            let expected = expected.map(|(model, said)| (model.trim(), said.trim()));
            (flags.split_whitespace().collect(), expected.collect())
        })
        .collect()
}

/// Checks a program in all ways that it asks for; differences in lines.
fn check(name: &str, more: &[&str], levels: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let source = std::fs::read_to_string(&path).expect("a program");
    let compilers = match name.ends_with(".cpp") {
        true => ["g++", "clang++-19"],
        false => ["gcc", "clang-19"],
    };
    let mut wrong = String::new();
    for compiler in compilers {
        for level in levels {
            for (flags, expected) in expectations(&source) {
                let flags = [*level].into_iter().chain(flags).chain(more.iter().copied());
                let flags: Vec<&str> = flags.collect();
                for difference in check_one(compiler, &path, &flags, &expected) {
                    let _ = writeln!(wrong, "{compiler} {}: {difference}", flags.join(" "));
                }
            }
        }
    }
    wrong
}

/// Compiles and verifies; what is not as it should be.
fn check_one(
    compiler: &str,
    source: &Path,
    flags: &[&str],
    expected: &[(&str, &str)],
) -> Vec<String> {
    let binary = Temporary::new(".o");
    if let Err(error) = compile(compiler, source, flags, &binary.0) {
        return vec![error];
    }
    let program = match load(&binary.0, &parallax_frontend_x86::Options::default()) {
        Ok(program) => program,
        Err(errors) => return errors.iter().map(ToString::to_string).collect(),
    };
    let mut wrong = Vec::new();
    for (model, expected) in expected {
        for engine in [Engine::Explore, Engine::States] {
            let found = described(&verify(&program, model, engine));
            let (verdict, words) = expected.split_once(' ').unwrap_or((expected, ""));
            let right = found.split(' ').next() == Some(verdict) && found.contains(words);
            let says = |words: &str| found.contains(words);
            let beyond = matches!(engine, Engine::Explore)
                && (says("could not be replayed")
                    || says("others may interrupt")
                    || says("a barrier of all threads"));
            if !right && !beyond {
                wrong.push(format!("{engine:?}, {model}: {found}, not {expected}"));
            }
        }
    }
    wrong
}

macro_rules! programs {
    ($($name:ident),* $(,)?) => {$(
        #[test]
        fn $name() {
            let wrong = check(concat!(stringify!($name), ".c"), &[], &LEVELS);
            assert!(wrong.is_empty(), "\n{wrong}");
        }
    )*};
}

programs![
    canary,
    condition,
    constructors,
    daemon,
    faults,
    futex,
    membarrier,
    message_passing,
    mixed_sizes,
    mutex,
    once,
    pointers,
    recursion,
    spinlock,
    store_buffering,
    strings,
    tables,
    thread_local,
    unknown,
    without_libc,
];

/// What C++ needs besides: threads, guards, virtual functions.
#[test]
fn cplusplus() {
    let wrong = check("cplusplus.cpp", &[], &LEVELS);
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The same without a linker: relocatable objects.
#[test]
fn objects() {
    for name in ["store_buffering.c", "tables.c", "thread_local.c", "pointers.c", "strings.c"] {
        let wrong = check(name, &["-c"], &["-O2"]);
        assert!(wrong.is_empty(), "{name}\n{wrong}");
    }
}

/// Files for the assembler.
#[test]
fn assembler() {
    let source = Temporary::new(".s");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/store_buffering.c");
    for flags in [&["-S", "-O1", "-DA=0", "-DB=0"][..], &["-S", "-O1", "-DA=0", "-DB=0", "-DFENCE"]]
    {
        compile("gcc", &path, flags, &source.0).expect("assembly");
        let program = load(&source.0, &parallax_frontend_x86::Options::default());
        let program = program.expect("a program");
        let expected = if flags.len() == 4 { "unsafe" } else { "safe" };
        assert_eq!(verify(&program, "tso", Engine::States).conclusion().name(), expected);
        // The listing names the lines of the source.
        assert!(program.source.text().contains("; store_buffering.c:25"));
    }
}

/// Everything in one file: the library stands in for what it is asked to.
#[test]
fn static_executables() {
    let binary = Temporary::new("");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/store_buffering.c");
    let flags = ["-static", "-O2", "-DA=0", "-DB=0"];
    compile("gcc", &path, &flags, &binary.0).expect("an executable");
    let modelled = ["pthread_*", "__assert_fail"].map(str::to_string).to_vec();
    let options = parallax_frontend_x86::Options { modelled, ..Default::default() };
    let program = load(&binary.0, &options).expect("a program");
    let said = described(&verify(&program, "tso", Engine::States));
    assert!(said.starts_with("unsafe assertion failed"), "{said}");
    let plain = load(&binary.0, &parallax_frontend_x86::Options::default()).expect("a program");
    let said = described(&verify(&plain, "tso", Engine::States));
    assert!(said.starts_with("unknown"), "{said}");
}

/// Without symbols, `main` is found behind the start-up code.
#[test]
fn stripped_executables() {
    for (name, compiler) in [("tables.c", "gcc"), ("pointers.c", "clang-19"), ("futex.c", "gcc")] {
        let wrong = {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
            check_one(compiler, &path, &["-O2", "-s"], &[("tso", "safe")])
        };
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
}

/// Arguments of the command line.
#[test]
fn arguments() {
    let source = Temporary::new(".c");
    let text = "#include <assert.h>\n#include <string.h>\nint main(int c, char **v) {\n\
                assert(c == 3 && !strcmp(v[1], \"one\") && !strcmp(v[2], \"-2\") && !v[3]); }\n";
    std::fs::write(&source.0, text).expect("a file");
    let binary = Temporary::new("");
    compile("gcc", &source.0, &["-O2"], &binary.0).expect("an executable");
    for (given, expected) in [(&["one", "-2"][..], "safe"), (&["one"], "unsafe")] {
        let arguments = given.iter().map(ToString::to_string).collect();
        let options = parallax_frontend_x86::Options { arguments, ..Default::default() };
        let program = load(&binary.0, &options).expect("a program");
        assert_eq!(verify(&program, "tso", Engine::States).conclusion().name(), expected);
    }
}

/// Programs in Rust, with its standard library as it comes.
#[test]
fn rust() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/rust.rs");
    let plain = ["--edition", "2024", "-O", "-C", "panic=abort", "--cap-lints", "allow"];
    for (more, expected) in [(&[][..], "unsafe"), (&["--cfg", "fenced"], "safe")] {
        let binary = Temporary::new("");
        let mut command = Command::new("rustc");
        command.args(plain).args(more).arg(&source).arg("-o").arg(&binary.0);
        assert!(command.status().is_ok_and(|status| status.success()));
        let program = load(&binary.0, &parallax_frontend_x86::Options::default());
        let verdict = verify(&program.expect("a program"), "tso", Engine::States);
        assert_eq!(verdict.conclusion().name(), expected, "{}", described(&verdict));
    }
}
