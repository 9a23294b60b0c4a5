//! Measures the case studies of machine code, and writes the table of the page that is the second
//! argument; the first one is the command. Beside the figures stand those that were published for
//! programs of the same names: A. A. Bharadwaj, "XAVIER", Master's thesis, Virginia Tech, 2020, table
//! of the evaluation (Intel i7-8700K, 3.7 GHz). `make figures`.
//!
//! `PARALLAX_SECONDS` is how long one program may take; those that take longer are left out.

use std::collections::{BTreeSet, HashSet};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use parallax_frontend_x86::{Options, load};
use parallax_program::{Callee, FunctionId, InstKind, Program};

/// States, seconds and final states as they were published.
type Published = Option<(u64, f64, u64)>;

/// Name, source, flags, functions that threads run, published figures.
type Study = (&'static str, &'static str, &'static str, &'static [&'static str], Published);

const LOCK: &[&str] = &["thread"];
const STACK: &[&str] = &["producer", "consumer"];
const QUEUE: &[&str] = &["enqueuer", "dequeuer"];
const TABLE: &[&str] = &["writer", "reader"];

const STUDIES: [Study; 21] = [
    ("DEK(2)", "dekker.c", "", LOCK, Some((156, 0.24, 2))),
    ("LAM(2)", "lamport.c", "", LOCK, Some((103, 0.21, 2))),
    ("PET(2)", "peterson.c", "", LOCK, Some((872, 1.08, 4))),
    ("FIB(5)", "fibonacci.c", "-DN=5", LOCK, Some((2798, 5.57, 5))),
    ("FIB(7)", "fibonacci.c", "-DN=7", LOCK, Some((11789, 104.3, 7))),
    ("FIB(9)", "fibonacci.c", "-DN=9", LOCK, Some((42477, 1261.3, 9))),
    ("FIB(11)", "fibonacci.c", "-DN=11", LOCK, None),
    ("FIB(13)", "fibonacci.c", "-DN=13", LOCK, None),
    ("CLH(4)", "clh.c", "-DN=4", LOCK, Some((7423, 47.56, 4))),
    ("CLH(6)", "clh.c", "-DN=6", LOCK, Some((21687, 396.5, 6))),
    ("CLH(8)", "clh.c", "-DN=8", LOCK, Some((59882, 2186.0, 8))),
    ("CLH(9)", "clh.c", "-DN=9", LOCK, None),
    ("WFS(1,1)", "wfstack.c", "", STACK, Some((1814, 2.6, 2))),
    ("WFS(1,2)", "wfstack.c", "-DCONSUMERS=2", STACK, Some((11383, 64.23, 3))),
    ("WFS(2,1)", "wfstack.c", "-DPRODUCERS=2", STACK, Some((53134, 868.42, 4))),
    ("LFS(1,1)", "lfstack.c", "-DPUSHES=2 -DPOPS=2", STACK, Some((1708, 1.88, 6))),
    ("LFS(1,2)", "lfstack.c", "-DPUSHES=2 -DPOPS=2 -DCONSUMERS=2", STACK, Some((21482, 41.09, 31))),
    (
        "LFS(2,2)",
        "lfstack.c",
        "-DPUSHES=2 -DPOPS=2 -DPRODUCERS=2 -DCONSUMERS=2",
        STACK,
        Some((125_000, 1953.0, 154)),
    ),
    ("LFS(3,2)", "lfstack.c", "-DPUSHES=2 -DPOPS=2 -DPRODUCERS=3 -DCONSUMERS=2", STACK, None),
    ("LFQ(1,1)", "lfqueue.c", "", QUEUE, None),
    ("LFH", "lfhash.c", "", TABLE, None),
];

const HEADING: &str = "\
| program | instructions | per thread | final states | paths | states | s | states/s | MiB | \
published: final states | states | s | states/s |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
";

const MARKS: [&str; 2] = ["<!-- case studies:begin -->\n", "<!-- case studies:end -->"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(command), Some(page)) = (arguments.next(), arguments.next()) else {
        return Err("usage: case_studies PARALLAX PAGE.md".into());
    };
    let seconds = env::var("PARALLAX_SECONDS").unwrap_or_else(|_| "600".to_string());
    let mut table = HEADING.to_string();
    for study in &STUDIES {
        let row = measure(study, &command, &seconds)?;
        print!("{row}");
        table += &row;
    }
    let old = fs::read_to_string(&page)?;
    let parts = old.split_once(MARKS[0]).zip(old.split_once(MARKS[1]));
    let ((before, _), (_, after)) = parts.ok_or("the page has no marks for the table")?;
    fs::write(page, format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1]))?;
    Ok(())
}

/// A row of the table; nothing if the program takes too long.
fn measure(study: &Study, command: &str, seconds: &str) -> Result<String, Box<dyn Error>> {
    let (name, source, flags, threads, published) = study;
    let binary = Binary::compile(source, flags)?;
    let program = load(&binary.0, &Options::default()).map_err(|errors| errors[0].to_string())?;
    let all = instructions(&program, machine_functions(&program));
    let per_thread: usize = threads.iter().map(|entry| of_thread(&program, entry)).sum();
    let output = Command::new(command)
        .args(["verify", "--quiet", "--engine", "states", "--format", "json"])
        .args(["--timeout", seconds])
        .arg(&binary.0)
        .output()?;
    let answer = String::from_utf8(output.stdout)?;
    if !answer.contains("\"verdict\":\"safe\"") {
        return match answer.contains("\"reason\":\"out of time\"") {
            true => Ok(String::new()),
            false => Err(format!("{name}: {answer}").into()),
        };
    }
    let number = |key: &str| number(&answer, key).ok_or(format!("no {key} in {answer}"));
    let (states, time) = (number("states")?, number("time_s")?);
    let finals = number("executions")?;
    let mut row = format!(
        "| {name} | {all} | {} | {finals} | {} | {states} | {time:.2} | {:.0} | {:.0} |",
        per_thread / threads.len(),
        finals + number("blocked")? + number("redundant")?,
        states / time,
        number("peak_rss_kib")? / 1024.0,
    );
    match published {
        Some((states, time, finals)) => {
            writeln!(row, " {finals} | {states} | {time} | {:.0} |", *states as f64 / time)?;
        }
        None => row += " | | | |\n",
    }
    Ok(row)
}

/// A number of the answer in JSON.
fn number(answer: &str, key: &str) -> Option<f64> {
    let (_, rest) = answer.split_once(&format!("\"{key}\":"))?;
    rest.split([',', '}']).next()?.parse().ok()
}

/// A compiled program, removed in the end.
struct Binary(PathBuf);

impl Binary {
    fn compile(source: &str, flags: &str) -> Result<Binary, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/x86");
        let path = env::temp_dir().join(format!("parallax-case-study-{}", std::process::id()));
        let status = Command::new("sh")
            .current_dir(folder)
            .args(["./build", "gcc", "2", source])
            .arg(&path)
            .args(flags.split_whitespace())
            .status()?;
        match status.success() {
            true => Ok(Binary(path)),
            false => Err(format!("{source} does not compile").into()),
        }
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Functions that were made of machine code.
fn machine_functions(program: &Program) -> impl Iterator<Item = usize> {
    let is_machine = |number: &usize| {
        let function = &program.functions[*number];
        function.registers && function.address.is_some()
    };
    (0..program.functions.len()).filter(is_machine)
}

/// How many instructions some functions have.
fn instructions(program: &Program, functions: impl Iterator<Item = usize>) -> usize {
    let blocks = functions.flat_map(|number| &program.functions[number].blocks);
    let spans = blocks.flat_map(|block| &block.insts).map(|inst| inst.span.start);
    spans.collect::<BTreeSet<u32>>().len()
}

/// How many instructions the functions have that a thread may come to by direct calls.
fn of_thread(program: &Program, entry: &str) -> usize {
    let mut open: Vec<usize> = machine_functions(program)
        .filter(|number| program.functions[*number].name == entry)
        .collect();
    let mut known: HashSet<usize> = open.iter().copied().collect();
    while let Some(number) = open.pop() {
        let insts = program.functions[number].blocks.iter().flat_map(|block| &block.insts);
        for inst in insts {
            if let InstKind::Call { callee: Callee::Direct(FunctionId(called)), .. } = &inst.kind
                && known.insert(*called as usize)
            {
                open.push(*called as usize);
            }
        }
    }
    instructions(program, machine_functions(program).filter(|number| known.contains(number)))
}
