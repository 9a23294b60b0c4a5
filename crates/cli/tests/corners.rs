//! Corners of C and of its library, through several engines: `corners.txt` has the programs, each with
//! what is asked about it and the answer. What is asked without naming an engine has that answer; an
//! engine that is named may not know it, but says nothing else.

use crate::support;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::Folder;

const ASKED: [&[&str]; 5] = [
    &["--model", "rc11"],
    &["--model", "tso", "--engine", "states"],
    &["--model", "sc", "--engine", "bounded"],
    &["--model", "sc", "--engine", "symbolic"],
    &["--model", "sc", "--engine", "abstract"],
];

/// `== name: properties: answer options`, and the program.
struct Case<'t> {
    name: &'t str,
    properties: &'t str,
    answer: &'t str,
    options: Vec<&'t str>,
    program: String,
}

fn cases(text: &str) -> Vec<Case<'_>> {
    let mut parts = text.split("\n== ");
    let header = parts.next().expect("what all programs begin with");
    let case = |part| case(part, header);
    parts.map(case).collect()
}

fn case<'t>(part: &'t str, header: &str) -> Case<'t> {
    let (title, program) = part.split_once('\n').expect("a program");
    let fields: Vec<&str> = title.splitn(3, ": ").collect();
    let [name, properties, rest] = fields[..] else { panic!("three fields: {title}") };
    let mut words = rest.split_whitespace();
    let answer = words.next().expect("an answer");
    let program = format!("{header}\n{program}");
    Case { name, properties, answer, options: words.collect(), program }
}

/// What is wrong with the answers, if anything is.
fn wrong(case: &Case<'_>) -> Vec<String> {
    let folder = Folder::new();
    folder.write("case.c", &case.program);
    let ask = |asked: &&[&str]| {
        let options = ["verify", "case.c", "--property", case.properties, "--timeout", "60"];
        let run = folder.run(&[&options[..], asked, &case.options].concat());
        let said = run.stdout.lines().next().unwrap_or(&run.stderr).to_string();
        let is_open = said.starts_with("unknown: ");
        let is_named = asked.contains(&"--engine");
        let is_right = match case.answer {
            "open" => is_open || said.starts_with("unsafe: "),
            answer => (is_named && is_open) || said.starts_with(&format!("{answer}: ")),
        };
        (!is_right).then(|| format!("{} {}: {said}", case.name, asked.join(" ")))
    };
    // Abstraction refinement looks for nothing else.
    let is_for =
        |asked: &&&[&str]| !asked.contains(&"abstract") || case.properties.contains("assert");
    ASKED.iter().filter(is_for).filter_map(ask).collect()
}

#[test]
fn corners_are_answered_as_the_standards_have_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corners.txt");
    let text = std::fs::read_to_string(path).expect("the programs");
    let cases = cases(&text);
    assert!(cases.len() > 50, "{}", cases.len());
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.lock().expect("a list").extend(wrong(case));
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    let found = found.into_inner().expect("a list");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
