//! The answer does not depend on how many threads search: `verify --jobs` gives the same bytes for
//! 1, 2 and 8, times aside, again and again. Programs of `examples/c` are tried as well: a few of
//! those in which something is found, and with `PARALLAX_LONG=1` all of them, by exploration and by all
//! engines beside one another.

#[allow(dead_code)]
mod support;

use std::path::Path;

use support::{Folder, run_in, without_times};

const ROUNDS: usize = 3;

/// Asks with 1, 2 and 8 threads, and gives the one answer that there is.
fn answer(folder: &Path, arguments: &[&str]) -> String {
    let ask = |jobs: &str| {
        let run = run_in(folder, &[&["verify", "--quiet", "--jobs", jobs], arguments].concat());
        without_times(&run)
    };
    let alone = ask("1");
    for jobs in ["1", "2", "8"].into_iter().cycle().take(3 * ROUNDS).skip(1) {
        let other = ask(jobs);
        assert!(alone == other, "{arguments:?} with --jobs {jobs}:\n{other}\nnot\n{alone}");
    }
    alone
}

/// Threads that each do these lines, with variables `a` to `d`.
fn program(threads: &[&str]) -> String {
    let mut text = String::from("program p pointers 64\nglobal x: 4\nglobal y: 4\nglobal z: 8\n");
    for (number, lines) in threads.iter().enumerate() {
        let lines = lines.replace("; ", "\n");
        text += &format!("fn f{number}() {{\nvar a: 32, b: 32, c: 32, d: 64, g: 1\n{lines}\n}}\n");
        text += &format!("thread T{number} = f{number}()\n");
    }
    text
}

/// Enough executions for several threads, with violations of several kinds in many of them.
fn many_violations() -> String {
    let add = |x: &str| format!("a = rmw.add.4 &{x}, 1:32 [A, RLX]");
    let look = "b = load.4 &x [A, RLX]; c = load.4 &y [A, RLX]";
    program(&[
        &format!("{}; {}; {look}; assert b != c, \"differ\"", add("x"), add("y")),
        &format!("{}; {}; assert a != 2:32, \"third\"", add("y"), add("x")),
        &format!("{look}; {}; {}; store.4 &z, 1:32 [NA]", add("y"), add("x")),
        &format!("{look}; branch b == 3:32, yes, no; yes:; d = load.8 &z [NA]; no:; {}", add("y")),
    ])
}

/// What cannot be followed, in some executions only.
fn gaps() -> String {
    let look = "a = rmw.add.4 &x, 1:32 [A, RLX]; b = load.4 &y [A, RLX]";
    let what = |value: u32, what: &str| {
        format!(
            "{look}; branch a == {value}:32, yes, no; yes:; unsupported \"{what}\"; no:; \
             store.4 &y, a [A, RLX]"
        )
    };
    program(&[&what(3, "one"), &what(2, "two"), &what(2, "three"), &what(1, "four")])
}

#[test]
fn programs_have_one_answer() {
    let folder = Folder::new();
    folder.write("many.program", many_violations()).write("gaps.program", gaps());
    for format in ["text", "json", "sarif"] {
        let ask = |arguments: &[&str]| {
            let rest = ["--engine", "explore", "--format", format];
            answer(folder.path(), &[arguments, &rest[..]].concat())
        };
        assert!(ask(&["many.program"]).starts_with('1'));
        assert!(ask(&["many.program", "--all", "--model", "sc"]).starts_with('1'));
        assert!(ask(&["gaps.program"]).starts_with('3'));
    }
}

#[test]
fn engines_have_one_answer() {
    let folder = Folder::new();
    folder.write("many.program", many_violations()).write("gaps.program", gaps());
    let engines = ["auto", "states", "symbolic", "abstract", "bounded", "static"];
    for engine in engines {
        let ask = |arguments: &[&str]| {
            let rest = ["--engine", engine, "--model", "sc", "--format", "json"];
            answer(folder.path(), &[arguments, &rest[..]].concat())
        };
        let many = ask(&["many.program"]);
        assert!(many.starts_with(['1', '3']), "{engine}: {many}");
        assert!(ask(&["gaps.program"]).starts_with(['0', '3']), "{engine}");
        if engine == "bounded" {
            assert!(ask(&["many.program", "--all"]).starts_with('1'));
        }
    }
}

#[test]
fn examples_have_one_answer() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    let table = std::fs::read_to_string(examples.join("expected.csv")).expect("a table");
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    let is_long = std::env::var_os("PARALLAX_LONG").is_some();
    let (step, only) = if is_long { (1, "") } else { (15, "rc11") };
    let rows = rows.filter(|row| is_long || row[4] != "safe").filter(|row| row[2].contains(only));
    for row in rows.step_by(step) {
        let options: Vec<&str> = row[3].split_whitespace().collect();
        let clang: Vec<&str> = match row[1] {
            "" => Vec::new(),
            arguments => ["--"].into_iter().chain(arguments.split_whitespace()).collect(),
        };
        for engine in ["auto", "explore"] {
            let arguments = [row[0], "--engine", engine, "--model", row[2], "--format", "json"];
            answer(&examples, &[&arguments[..], &options, &clang].concat());
        }
    }
}

/// Endless loops over inputs, which only a proof without a bound covers. It is not asked last.
#[test]
fn proofs_without_a_bound_have_one_answer() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c-abstract");
    let arguments = ["hand-over.c", "--model", "rc11", "--property", "assert", "--timeout", "60"];
    let said = answer(&examples, &arguments);
    assert!(said.starts_with('0') && said.contains("engine abstract"), "{said}");
}
