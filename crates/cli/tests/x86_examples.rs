//! The programs in `examples/x86`, compiled here and now by GCC, Clang and rustc at several levels,
//! and verified by the command as machine code: `expected.csv` has the answers. The litmus tests
//! among them must have the outcomes that `parallax litmus` finds in the tests of the same names.
//!
//! `EXAMPLES=part-of-a-name` runs a part and prints more; `PARALLAX_LONG=1` runs the rows that are
//! marked `long`, too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use serde_json::Value;

const COLUMNS: &str = "program,flags,builds,model,engines,verdict,property,finals,when";

/// More than any row takes on a slow machine.
const PATIENCE: &str = "600";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/x86")
}

/// A file for a compiled program, removed in the end.
struct Binary(PathBuf);

impl Binary {
    fn new() -> Binary {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("parallax-x86-example-{}-{number}", std::process::id());
        Binary(std::env::temp_dir().join(name))
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A way to compile a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Build {
    compiler: &'static str,
    level: &'static str,
}

impl Build {
    /// What a field of the table stands for.
    fn named(text: &str, program: &str) -> Vec<Build> {
        let levels = |compiler| ["0", "2", "3"].map(|level| Build { compiler, level }).to_vec();
        match text {
            "all" if program.ends_with(".rs") => levels("rustc"),
            "all" => ["gcc", "clang"].into_iter().flat_map(levels).collect(),
            "gcc -O2" => vec![Build { compiler: "gcc", level: "2" }],
            other => panic!("'{other}' is no way to compile"),
        }
    }

    /// The program as it comes out; a panic if it does not.
    fn compile(self, source: &str, flags: &str, to: &Path) {
        let output = Command::new("sh")
            .current_dir(folder())
            .args(["./build", self.compiler, self.level, source])
            .arg(to)
            .args(flags.split_whitespace())
            .output()
            .expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{source} by {self:?}: {errors}");
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
struct Row {
    program: String,
    flags: String,
    builds: Vec<Build>,
    model: String,
    /// Whether exploration is asked beside the search through states.
    is_explored: bool,
    verdict: String,
    property: String,
    /// How many final states there are, where the engine 'states' is asked and it matters.
    finals: String,
    is_long: bool,
}

impl Row {
    fn parse(line: &str) -> Row {
        let fields: Vec<&str> = line.split(',').collect();
        let Ok([program, flags, builds, model, engines, verdict, property, finals, when]) =
            <[&str; 9]>::try_from(fields)
        else {
            panic!("a line without nine fields: {line}");
        };
        Row {
            program: program.to_string(),
            flags: flags.to_string(),
            builds: Build::named(builds, program),
            model: model.to_string(),
            is_explored: match engines {
                "both" => true,
                "states" => false,
                other => panic!("'{other}' is no engine"),
            },
            verdict: verdict.to_string(),
            property: property.to_string(),
            finals: finals.to_string(),
            is_long: match when {
                "" => false,
                "long" => true,
                other => panic!("'{other}' is no time"),
            },
        }
    }

    /// Exploration repeats a loop without end if it stores anything, and loops that wait keep their
    /// variables in memory where code is not optimised.
    fn engines_for(&self, build: Build) -> Vec<&'static str> {
        match self.is_explored && build.level != "0" {
            true => vec!["states", "explore"],
            false => vec!["states"],
        }
    }
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("expected.csv")).expect("a table");
    let (first, lines) = text.split_once('\n').expect("lines");
    assert_eq!(first, COLUMNS);
    lines.lines().map(Row::parse).collect()
}

/// What the command answers about a binary.
fn verify(binary: &Path, model: &str, engine: &str, arguments: &[String]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["verify", "--quiet", "--format", "json", "--model", model, "--engine", engine])
        .args(["--timeout", PATIENCE])
        .args(arguments.iter().flat_map(|argument| ["--arg", argument]))
        .arg(binary)
        .output()
        .expect("the command");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    })
}

/// The differences that jobs find, which all processors do.
fn differences<J: Sync>(jobs: &[J], work: impl Fn(&J) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let worker = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.lock().unwrap().extend(work(job));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(worker))));
    found.into_inner().unwrap()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// What is not as a row says of a way to compile its program.
fn check(row: &Row, build: Build) -> Vec<String> {
    let binary = Binary::new();
    build.compile(&row.program, &row.flags, &binary.0);
    let mut wrong = Vec::new();
    for engine in row.engines_for(build) {
        let answer = verify(&binary.0, &row.model, engine, &[]);
        let property = text(&answer["violations"][0], "property");
        let mut found = format!("{} {property}", text(&answer, "verdict"));
        let mut expected = format!("{} {}", row.verdict, row.property);
        if engine == "states" && !row.finals.is_empty() {
            found = format!("{found} {}", answer["executions"]);
            expected = format!("{expected} {}", row.finals);
        }
        let Row { program, flags, model, .. } = row;
        let Build { compiler, level } = build;
        let name = format!("{program} {flags} ({compiler} -O{level}, {model}, {engine})");
        if std::env::var("EXAMPLES").is_ok() {
            println!("{name}: {found}, {} states, {} s", answer["states"], answer["time_s"]);
        }
        if found != expected {
            let (why, what) = (&answer["reason"], text(&answer["violations"][0], "message"));
            wrong.push(format!("{name}: {found}, not {expected}; {why} {what}"));
        }
    }
    wrong
}

#[test]
fn case_studies_have_the_expected_answers() {
    let part = std::env::var("EXAMPLES").unwrap_or_default();
    let long = std::env::var("PARALLAX_LONG").is_ok();
    let rows = rows();
    let asked = rows.iter().filter(|row| row.program.contains(&part) && (long || !row.is_long));
    let jobs: Vec<(&Row, Build)> =
        asked.flat_map(|row| row.builds.iter().map(move |build| (row, *build))).collect();
    let wrong = differences(&jobs, |(row, build)| check(row, *build));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Names of the sources in a folder.
fn sources(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().unwrap());
    let is_source = |name: &String| [".c", ".cpp", ".rs"].iter().any(|end| name.ends_with(end));
    let mut names: Vec<String> = names.filter(is_source).collect();
    names.sort();
    names
}

#[test]
fn every_program_is_in_the_table() {
    let rows = rows();
    for name in sources(&folder()) {
        assert!(rows.iter().any(|row| row.program == name), "{name} is not in expected.csv");
    }
}

/// Outcomes of the litmus test of some name in the corpus under tso, a digit for each thing that is
/// observed, by its name.
fn outcomes(name: &str) -> BTreeSet<String> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/x86");
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["litmus", "--quiet", "--model", "tso", "--format", "json"])
        .arg(corpus.join(format!("{name}.litmus")))
        .output()
        .expect("the command");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("an answer");
    let states = answer["states"].as_array().expect("states");
    let outcome = |state: &Value| {
        let mut values: Vec<(&String, &str)> = state
            .as_object()
            .expect("a state")
            .iter()
            .map(|(name, value)| (name, value.as_str().expect("a value")))
            .collect();
        values.sort();
        values.into_iter().map(|(_, value)| value).collect()
    };
    states.iter().map(outcome).collect()
}

/// A compiled litmus test that knows which outcomes are allowed is safe. It ends in as many
/// states as there are outcomes, so it has them all.
fn check_litmus(source: &str, build: Build) -> Vec<String> {
    let name = source.trim_end_matches(".c");
    let allowed: Vec<String> = outcomes(name).into_iter().collect();
    let binary = Binary::new();
    build.compile(&format!("litmus/{source}"), "", &binary.0);
    let states = verify(&binary.0, "tso", "states", &allowed);
    let explored = verify(&binary.0, "tso", "explore", &allowed);
    let mut wrong = Vec::new();
    let found = states["executions"].as_u64().unwrap_or_default() as usize;
    if text(&states, "verdict") != "safe" || found != allowed.len() {
        wrong.push(format!("{name} by {build:?}: {allowed:?}, but {states}"));
    }
    if text(&explored, "verdict") != "safe" {
        wrong.push(format!("{name} by {build:?}: {allowed:?}, but {explored}"));
    }
    wrong
}

#[test]
fn compiled_litmus_tests_have_the_outcomes_of_the_corpus() {
    let part = std::env::var("EXAMPLES").unwrap_or_default();
    let mut jobs = Vec::new();
    for source in sources(&folder().join("litmus")).into_iter().filter(|name| name.contains(&part))
    {
        jobs.extend(Build::named("all", &source).into_iter().map(|build| (source.clone(), build)));
    }
    let wrong = differences(&jobs, |(source, build)| check_litmus(source, *build));
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
