//! The programs in `examples/cpp` and `examples/rust`, compiled by clang and rustc and verified by the
//! command: `expected.csv` has the answers, with the line of the program that is to blame.
//!
//! `EXAMPLES=part-of-a-name` runs a part and prints more.

use crate::support;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use support::{Folder, run_in};

const COLUMNS: &str = "file,arguments,options,model,verdict,property,line";

/// More than any row takes on a slow machine.
const PATIENCE: &str = "300";

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn rows(folder: &Path) -> Vec<[String; 7]> {
    let text = std::fs::read_to_string(folder.join("expected.csv")).expect("the table");
    let (first, lines) = text.split_once('\n').expect("lines");
    assert_eq!(first, COLUMNS);
    let row = |line: &str| {
        let fields: Vec<String> = line.split(',').map(str::to_string).collect();
        fields.try_into().unwrap_or_else(|_| panic!("a line without seven fields: {line}"))
    };
    lines.lines().map(row).collect()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_string()
}

/// What is found, as in the table, and in words.
fn answer(folder: &Path, row: &[String; 7]) -> (String, String) {
    let [file, arguments, options, model, ..] = row;
    let mut words = vec!["verify", "--quiet", "--format", "json", "--timeout", PATIENCE];
    words.extend(["--model", model.as_str()]);
    words.extend(options.split_whitespace());
    words.push(file);
    if !arguments.is_empty() {
        words.push("--");
        words.extend(arguments.split_whitespace());
    }
    let run = run_in(folder, &words);
    let Ok(answer) = serde_json::from_str::<Value>(&run.stdout) else {
        return (String::new(), format!("{}{}", run.stdout, run.stderr));
    };
    let violation = &answer["violations"][0];
    let place = if violation.is_null() { &answer["reason_place"] } else { violation };
    let line = place["line"].as_u64().map(|line| line.to_string()).unwrap_or_default();
    let found = format!("{},{},{line}", text(&answer, "verdict"), text(violation, "property"));
    let why = format!("{}{}", text(violation, "message"), answer["reason"]);
    (found, why)
}

fn differences(name: &str) -> Vec<String> {
    let folder = folder(name);
    let part = std::env::var("EXAMPLES").ok();
    let is_asked = |row: &[String; 7]| part.as_ref().is_none_or(|part| row[0].contains(part));
    let rows: Vec<_> = rows(&folder).into_iter().filter(is_asked).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (answer, why) = answer(&folder, row);
            if part.is_some() {
                println!("{}: {answer} ({why})", row[..4].join(","));
            }
            // Where no line is given, any will do.
            let expected = row[4..].join(",");
            let is_right = match row[6].is_empty() && row[4] != "safe" {
                true => answer.starts_with(&expected),
                false => answer == expected,
            };
            if !is_right {
                let line = format!("{}: {answer} ({why})", row.join(","));
                found.lock().expect("a list").push(line);
            }
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..processors).for_each(|_| drop(scope.spawn(work))));
    let mut found = found.into_inner().expect("a list");
    found.sort();
    found
}

/// Every program is in the table, and says whether something is wrong with it.
fn check_table(name: &str, kinds: &[&str]) {
    let folder = folder(name);
    let rows = rows(&folder);
    for entry in std::fs::read_dir(&folder).expect("the programs") {
        let path = entry.expect("a file").path();
        let file = path.file_name().and_then(|name| name.to_str()).expect("a name").to_string();
        if !path.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known)) {
            continue;
        }
        let own = rows.iter().filter(|row| row[0] == file);
        assert!(own.clone().count() > 0, "{file} is not in expected.csv");
        let is_wrong = own.clone().any(|row| row[3] == "rc11" && row[4] == "unsafe");
        let text = std::fs::read_to_string(&path).expect("a text");
        assert_eq!(text.starts_with("// BUG: "), is_wrong, "{file}");
    }
}

#[test]
fn programs_in_cpp_have_the_expected_answers() {
    check_table("cpp", &["cpp", "cc", "cxx"]);
    assert_eq!(differences("cpp"), Vec::<String>::new());
}

#[test]
fn programs_in_rust_have_the_expected_answers() {
    check_table("rust", &["rs"]);
    assert_eq!(differences("rust"), Vec::<String>::new());
}

#[test]
fn names_are_those_of_the_source() {
    let run = run_in(&folder("cpp"), &["verify", "message-relaxed.cpp"]);
    run.ends_with(1).says("message-relaxed.cpp:21:13");
    assert!(!run.stdout.contains("_ZN") && !run.stdout.contains("/include/c++/"), "{}", run.stdout);
    let run = run_in(&folder("rust"), &["verify", "spinlock-relaxed.rs"]);
    run.ends_with(1).says("spinlock-relaxed.rs:31:");
    assert!(!run.stdout.contains("_RN") && !run.stdout.contains("/rustc/"), "{}", run.stdout);
}

#[test]
fn what_is_thrown_is_unknown_by_name() {
    let folder = Folder::new();
    folder
        .write("a.cpp", "#include <vector>\nint main() {\n  std::vector<int> v;\n  v.at(1);\n}\n");
    folder.run(&["verify", "a.cpp"]).ends_with(3).says("an exception is thrown").says("a.cpp:4");
    folder.write("b.cc", "struct E {};\nint main() {\n  try { throw E(); } catch (E &) {}\n}\n");
    folder.run(&["verify", "b.cc"]).ends_with(3).says("an exception is thrown").says("b.cc:3");
}

#[test]
fn sources_that_are_wrong_are_errors_with_places() {
    let folder = Folder::new();
    folder.write("a.cxx", "int main() {\n  return x;\n}\n");
    folder.run(&["verify", "a.cxx"]).ends_with(2).complains("a.cxx:2:10").complains("'x'");
    folder.write("b.cpp", "#include <no_such_header>\nint main() {}\n");
    folder.run(&["verify", "b.cpp"]).ends_with(2).complains("b.cpp:1").complains("file not found");
    folder.write("c.cpp", "#include <thread>\nint main() { std::jthread t; }\n");
    folder.run(&["verify", "c.cpp", "--", "-std=c++17"]).ends_with(2).complains("'jthread'");
    folder.write("d.rs", "fn main() {\n    x;\n}\n");
    folder.run(&["verify", "d.rs"]).ends_with(2).complains("d.rs:2:5").complains("E0425");
    folder.write("e.rs", "pub fn f() {}\n");
    folder.run(&["verify", "e.rs"]).ends_with(2).complains("main");
    folder.write("f.rs", "fn main() {}\n");
    folder.run(&["verify", "d.rs", "f.rs"]).ends_with(2).complains("a second file of Rust");
    folder.run(&["verify", "f.rs", "--", "--emit=link"]).ends_with(2).complains("--emit=link");
    folder.run(&["verify", "f.rs", "--", "--edition=1999"]).ends_with(2).complains("1999");
}

/// A file whose name would be an option for who compiles it.
#[test]
fn names_of_sources_are_no_options() {
    let folder = Folder::new();
    for name in ["-o.cpp", "@a.cpp", "-o.rs", "@a.rs"] {
        let text = if name.ends_with("rs") { "fn main() {}\n" } else { "int main() {}\n" };
        folder.write(name, text);
        folder.run(&["verify", &format!("./{name}")]).ends_with(0);
        folder.run(&["verify", "--", name]).ends_with(2);
    }
}
