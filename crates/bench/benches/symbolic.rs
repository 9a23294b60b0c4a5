//! Symbolic execution over rising sizes: instructions a second where inputs decide little, states a second
//! where they decide much, and how many questions reach the solver.
//!
//! `PARALLAX_FAMILY` is a part of the name of the families to run, `PARALLAX_MODELS` names other machines.

use std::time::{Duration, Instant};

use parallax_bench::{ask, query};
use parallax_control::Control;
use parallax_program::{Program, parse_program};
use parallax_query::Subject;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Larger ones are left out.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs of rising size.
struct Family {
    name: &'static str,
    sizes: &'static [u64],
    text: fn(u64) -> String,
    /// Instructions of a path of that size, about; zero where there are many paths.
    instructions: fn(u64) -> u64,
}

const FAMILIES: [Family; 4] = [
    Family {
        name: "compute",
        sizes: &[100_000, 1_000_000],
        text: compute,
        instructions: |n| 5 * n,
    },
    Family { name: "memory", sizes: &[100_000, 400_000], text: memory, instructions: |n| 6 * n },
    Family { name: "threads", sizes: &[2, 3, 4, 5], text: threads, instructions: |_| 0 },
    Family { name: "loops", sizes: &[1, 2, 3, 4], text: loops, instructions: |_| 0 },
];

/// One input, and a long computation beside it.
fn compute(rounds: u64) -> String {
    format!(
        "fn main() {{\nvar i: 32, k: 32, n: 32\nn = nondet\ni = 0:32\nloop:\nk = k + i * 3:32\n\
         k = k ^ (k >> 3:32)\ni = i + 1:32\nbranch i == {rounds}:32, end, loop\nend:\n\
         branch n == 5:32, then, last\nthen:\nk = k + 1:32\nlast:\nassert (k != 7:32) | (n != 9:32), \"k\"\n\
         return\n}}\nthread P = main()\n"
    )
}

/// The same, in memory.
fn memory(rounds: u64) -> String {
    format!(
        "fn main() {{\nvar i: 32, k: 32, n: 32\nn = nondet\nstore.4 &g, n [NA]\ni = 0:32\nloop:\n\
         k = load.4 &h [NA]\nstore.4 &h, k + i [NA]\ni = i + 1:32\n\
         branch i == {rounds}:32, end, loop\nend:\nk = load.4 &g [NA]\nassert k == n, \"k\"\n\
         return\n}}\nthread P = main()\n"
    )
}

/// Threads that compare an input with what they share, in critical sections.
fn threads(count: u64) -> String {
    let body = "fn f() {\nvar n: 32, k: 32, ok: 1\nn = nondet\n\
        _, ok = cas.4 &l, 0:32, 1:32 [A, ACQ] [A, ACQ, LOCK_WRITE] [A, RLX]\nwait ok\n\
        k = load.4 &g [NA]\nbranch n == k, then, end\nthen:\nstore.4 &g, k + 1:32 [NA]\nend:\n\
        store.4 &l, 0:32 [A, REL, UNLOCK]\nassert k != 100:32, \"k\"\n}\n";
    let all = (0..count).map(|number| format!("thread P{number} = f()\n"));
    format!("{body}{}", all.collect::<String>())
}

/// Threads that take an input in each round, for ever.
fn loops(count: u64) -> String {
    let body = "fn f() {\nvar n: 32, k: 32\nloop:\nn = nondet\nbranch n == 0:32, end, more\nmore:\n\
        store.4 &g, n [A, SC]\nk = load.4 &g [A, SC]\nassert k != 0:32, \"k\"\njump loop\nend:\nreturn\n}\n";
    let all = (0..count).map(|number| format!("thread P{number} = f()\n"));
    format!("{body}{}", all.collect::<String>())
}

fn main() {
    let setting =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let (models, only) = (setting("PARALLAX_MODELS", "sc,tso"), setting("PARALLAX_FAMILY", ""));
    println!(
        "{:<10} {:>8} {:<5} {:>9} {:>9} {:>9} {:>11} {:>12}  inputs",
        "family", "n", "model", "states", "steps", "seconds", "states/s", "instr./s"
    );
    for family in FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        for name in models.split(',') {
            for size in family.sizes {
                let globals = "program p pointers 64\nglobal g: 4\nglobal h: 4\nglobal l: 4\n";
                let text = format!("{globals}{}", (family.text)(*size));
                let program = parse_program(family.name, &text).expect("a program");
                let row = format!("{:<10} {size:>8} {name:<5}", family.name);
                if !measure(&row, program, name, (family.instructions)(*size)) {
                    break;
                }
            }
        }
    }
}

/// False if it took too long.
fn measure(row: &str, program: Program, name: &str, instructions: u64) -> bool {
    let subject = Subject::of(program);
    let start = Instant::now();
    let control = Control::lasting(PATIENCE);
    let verdict = ask("symbolic", &query(&subject, name), &control).verdict;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(reason) = verdict.reason {
        println!("{row} {}", reason.message);
        return false;
    }
    let counts = verdict.counts;
    let notes = verdict.notes.join("; ");
    println!(
        "{row} {:>9} {:>9} {seconds:>9.3} {:>11.0} {:>12.0}  {notes}",
        counts.states,
        counts.events,
        counts.states as f64 / seconds,
        instructions as f64 / seconds,
    );
    true
}
