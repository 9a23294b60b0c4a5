//! Abstraction refinement over rising bounds of loops, threads and variables: how many states its rounds build, with what
//! the last round has left and without.
//!
//! `PARALLAX_FAMILY` is a part of the name of the families to run.

use std::time::{Duration, Instant};

use parallax_bench::{ask, query};
use parallax_control::Control;
use parallax_program::{Program, parse_program};
use parallax_query::{Extensions, Query, Subject};
use parallax_verify::{Abstraction, Pruning};

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
}

const FAMILIES: [Family; 3] = [
    Family { name: "bound", sizes: &[10, 20, 40, 80], text: bound },
    Family { name: "threads", sizes: &[2, 3, 4, 5], text: threads },
    Family { name: "variables", sizes: &[10, 20, 40, 80], text: variables },
];

/// An input that matters after so many rounds of a loop.
fn bound(rounds: u64) -> String {
    format!(
        "fn main() {{\nvar i: 32, j: 32, k: 32\nk = nondet\nassume k != {}:32\ni = 0:32\nj = k\njump loop\nloop:\n\
         branch i <s {rounds}:32, body, end\nbody:\ni = i + 1:32\nj = j + 3:32\njump loop\nend:\n\
         assert j != i, \"j\"\n}}\nthread P = main()\n",
        (1u64 << 32) - 2 * rounds
    )
}

/// Threads that compare an input twice, for as long as inputs want.
fn threads(count: u64) -> String {
    let body = "fn f() {\nvar n: 32\nloop:\nn = nondet\nbranch n <s 5:32, less, end\nless:\n\
        store.4 &g, n [A, SC]\nstore.4 &h, 0:32 [A, SC]\nassert n <s 7:32, \"n\"\njump loop\nend:\n}\n";
    let all = (0..count).map(|number| format!("thread P{number} = f()\n"));
    format!("{body}{}", all.collect::<String>())
}

/// So many inputs that are compared twice, one after the other.
fn variables(count: u64) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("i{number}: 32")).collect();
    let part = |n: u64| {
        format!(
            "i{n} = nondet\nbranch i{n} <s 5:32, less{n}, end{n}\nless{n}:\nstore.4 &g, 1:32 [A, SC]\n\
             assert i{n} <s 7:32, \"both\"\nend{n}:\n"
        )
    };
    let parts: String = (0..count).map(part).collect();
    format!(
        "fn main() {{\nvar {}\n{parts}}}\nfn reader() {{\nvar r: 32\nloop:\nr = load.4 &g [A, SC]\n\
         jump loop\n}}\nthread P = main()\nthread R = reader()\n",
        names.join(", ")
    )
}

fn main() {
    let only = std::env::var("PARALLAX_FAMILY").unwrap_or_default();
    println!(
        "{:<10} {:>4} {:<6} {:>7} {:>9} {:>9} {:>9} {:>9}",
        "family", "n", "prune", "rounds", "in all", "first", "last", "seconds"
    );
    for family in FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        for (name, pruning) in [("lazy", Pruning::Lazy), ("full", Pruning::Full)] {
            for size in family.sizes {
                let text = format!(
                    "program p pointers 64\nglobal g: 4\nglobal h: 4\n{}",
                    (family.text)(*size)
                );
                let program = parse_program(family.name, &text).expect("a program");
                let row = format!("{:<10} {size:>4} {name:<6}", family.name);
                if !measure(&row, program, pruning) {
                    break;
                }
            }
        }
    }
}

/// False if it took too long.
fn measure(row: &str, program: Program, pruning: Pruning) -> bool {
    let subject = Subject::of(program);
    let tuning = Abstraction { pruning, reports_rounds: true, ..Abstraction::default() };
    let query = Query { extensions: Extensions::default().with(tuning), ..query(&subject, "sc") };
    let start = Instant::now();
    let verdict = ask("abstract", &query, &Control::lasting(PATIENCE)).verdict;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(reason) = verdict.reason {
        println!("{row} {}", reason.message);
        return false;
    }
    let made: Vec<u64> = verdict.notes.iter().filter_map(|note| made(note)).collect();
    // The first and the last quarter of the rounds, on average.
    let quarter = made.len().div_ceil(4);
    let mean = |part: &[u64]| part.iter().sum::<u64>() as f64 / part.len().max(1) as f64;
    let (first, last) = (mean(&made[..quarter]), mean(&made[made.len() - quarter..]));
    println!(
        "{row} {:>7} {:>9} {first:>9.1} {last:>9.1} {seconds:>9.3}",
        made.len(),
        made.iter().sum::<u64>(),
    );
    true
}

/// How many states a round has made, by its report.
fn made(note: &str) -> Option<u64> {
    let (_, rest) = note.strip_prefix("round ")?.split_once(" states, ")?;
    rest.split_once(" new")?.0.parse().ok()
}
