//! Tests of a size that nobody writes by hand: an answer, or an error with its place, soon.

use crate::support;

use support::{Folder, SB};

/// A test of threads that run these lines.
fn test(threads: &[Vec<String>], condition: &str) -> String {
    let row = |row: usize| {
        let cell = |thread: &Vec<String>| thread.get(row).cloned().unwrap_or_default();
        let cells: Vec<String> = threads.iter().map(cell).collect();
        format!("{} ;\n", cells.join(" | "))
    };
    let names: Vec<String> = (0..threads.len()).map(|i| format!("P{i}")).collect();
    let longest = threads.iter().map(Vec::len).max().unwrap_or(0);
    let rows: String = (0..longest).map(row).collect();
    let names = names.join(" | ");
    format!("X86 large\n{{ }}\n{names} ;\n{rows}{condition}\n")
}

fn stores(lines: usize, shift: usize) -> Vec<String> {
    let store = |i| format!("MOV [x{}],$1", (i + shift) % 500);
    (0..lines).map(store).collect()
}

/// Each branch of a thread doubles its paths.
fn branches(count: usize) -> Vec<String> {
    let branch = |i| {
        let jump = format!("JNE L{i}");
        ["MOV EAX,[x]".into(), "CMP EAX,$0".into(), jump, format!("L{i}:")]
    };
    (0..count).flat_map(branch).collect()
}

#[test]
fn ten_thousand_lines() {
    let folder = Folder::new();
    let spread: Vec<Vec<String>> = (0..10).map(|thread| stores(1000, thread)).collect();
    let registers = vec!["INC EAX".to_string(); 10_000];
    folder
        .write("1.litmus", test(&[stores(10_000, 0)], "exists (x0=1)"))
        .write("2.litmus", test(&spread, "exists (x0=1)"))
        .write("3.litmus", test(&[branches(2500)], "exists (x=1)"))
        .write("4.litmus", test(&[registers], "exists (0:EAX=10000)"))
        .write("5.litmus", SB);
    let run = folder.run(&["litmus", "."]);
    run.ends_with(2)
        .complains("1.litmus:1:1: error: P0 needs more than 2000 events")
        .complains("2.litmus:1:1: error: executions have up to 10500 events")
        .complains("3.litmus:1:1: error: P0 ")
        .says("Observation large Always 1 0")
        .says("Observation SB Sometimes 1 3");
}

#[test]
fn a_hundred_threads() {
    let folder = Folder::new();
    let buffering = |i: usize| {
        let next = (i + 1) % 100;
        vec![format!("MOV [x{i}],$1"), format!("MOV EAX,[x{next}]")]
    };
    let threads: Vec<Vec<String>> = (0..100).map(buffering).collect();
    let zero: Vec<String> = (0..100).map(|i| format!("{i}:EAX=0")).collect();
    let condition = format!("exists ({})", zero.join(" /\\ "));
    folder.write("1.litmus", test(&threads, &condition));
    let run = folder.run(&["litmus", "--timeout", "1", "1.litmus"]);
    run.ends_with(3).says("Stopped large ");
}

#[test]
fn repeated_squares_in_a_model() {
    let folder = Folder::new();
    let square = |i| format!("let f{} x = f{i}(f{i}(x))\n", i + 1);
    let squares: String = (0..30).map(square).collect();
    let model = format!("\"squares\"\nlet f0 x = x; x\n{squares}acyclic f30(po)\n");
    folder.write("1.litmus", SB).write("squares.cat", model);
    let run = folder.run(&["litmus", "--model", "squares.cat", "1.litmus"]);
    run.ends_with(2).complains("squares.cat:").complains("the model defines too many relations");
    let few = "\"few\"\nlet f x = x; x\nacyclic f(f(f(f(f(f(po))))))\n";
    folder.write("few.cat", few);
    let run = folder.run(&["litmus", "--model", "few.cat", "1.litmus"]);
    run.ends_with(0).says("Observation SB Sometimes 1 3");
}

/// Each relation has all parts of the one before it.
#[test]
fn unions_that_grow_in_a_model() {
    let folder = Folder::new();
    let longer = |i| format!("let r{} = (r{i}; po) | r{i}\n", i + 1);
    let chain: String = (0..5_000).map(longer).collect();
    folder.write("chain.cat", format!("\"chain\"\nlet r0 = po\n{chain}acyclic r5000\n"));
    folder.write("1.litmus", SB);
    let run = folder.run(&["litmus", "--model", "chain.cat", "1.litmus"]);
    run.ends_with(2).complains("chain.cat:").complains("the model defines too many relations");
}

#[test]
fn many_errors_in_one_long_line() {
    let folder = Folder::new();
    let body = "if (r) {} else ".repeat(5_000);
    let text = format!("C many\n{{}}\nP0(int *x) {{ int r = 0; {body} r = 1; }}\nexists (x=0)\n");
    folder.write("1.litmus", text);
    let run = folder.run(&["litmus", "1.litmus"]);
    run.ends_with(2).complains("nested more than");
    assert!(run.stderr.len() < 100_000);
}

#[test]
fn lists_that_double_each_other() {
    let folder = Folder::new();
    for i in 0..30 {
        let next = i + 1;
        folder.write(&format!("list{i}"), format!("@list{next}\n@list{next}\n"));
    }
    folder.write("list30", "1.litmus\n").write("1.litmus", "");
    let run = folder.run(&["litmus", "--quiet", "@list0"]);
    run.ends_with(2).complains("more than 10000 lists");
}

#[test]
fn numbers_out_of_range() {
    let folder = Folder::new();
    folder.write("1.litmus", SB);
    for option in ["--timeout", "--bound", "--jobs"] {
        let run = folder.run(&["litmus", option, "-1", "1.litmus"]);
        run.ends_with(2).complains("invalid value '-1'");
    }
}
