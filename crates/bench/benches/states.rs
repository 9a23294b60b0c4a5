//! Search through states over rising sizes: states, steps, final states, states a second, bytes of
//! memory for each state, with the reduction and without it.
//!
//! `PARALLAX_MODELS` names other machines, `PARALLAX_FAMILY` a part of the name of the families to
//! run, `PARALLAX_SIZES` other sizes, `PARALLAX_REDUCTION` one of `none` and `order`.

use std::time::{Duration, Instant};

use parallax_bench::machines::MACHINE_FAMILIES;
use parallax_bench::{ask, query};
use parallax_control::Control;
use parallax_program::{Program, Property};
use parallax_query::{Extensions, Query, Reductions, Subject};
use parallax_verify::registry::named;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Larger ones are left out.
const PATIENCE: Duration = Duration::from_secs(60);

fn main() {
    let setting =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let models = setting("PARALLAX_MODELS", "sc,tso");
    let (only, sizes) = (setting("PARALLAX_FAMILY", ""), setting("PARALLAX_SIZES", ""));
    let which = setting("PARALLAX_REDUCTION", "order,none");
    println!(
        "{:<10} {:>3} {:<5} {:<5} {:>10} {:>11} {:>7} {:>9} {:>11} {:>7}",
        "family",
        "n",
        "model",
        "red.",
        "states",
        "steps",
        "finals",
        "seconds",
        "states/s",
        "B/state"
    );
    for family in MACHINE_FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        let asked: Vec<usize> = sizes.split(',').filter_map(|size| size.parse().ok()).collect();
        let sizes = if asked.is_empty() { family.sizes } else { &asked };
        for name in models.split(',') {
            for (word, reductions) in [("order", Reductions::ALL), ("none", Reductions::NONE)] {
                if !which.contains(word) {
                    continue;
                }
                for size in sizes {
                    let row = format!("{:<10} {size:>3} {name:<5} {word:<5}", family.name);
                    if !measure(&row, (family.program)(*size), name, reductions) {
                        break;
                    }
                }
            }
        }
    }
}

/// False if it took too long.
fn measure(row: &str, program: Program, name: &str, reductions: Reductions) -> bool {
    let subject = Subject::of(program);
    let extensions = Extensions::default().with(reductions);
    let engine = named("states").expect("the engine");
    let is_usual = |property: &Property| *property != Property::Leak && engine.looks_for(*property);
    let properties = Property::ALL.into_iter().filter(is_usual).collect();
    let query = Query { properties, extensions, ..query(&subject, name) };
    forget_peak_memory();
    let before = resident();
    let start = Instant::now();
    let verdict = ask("states", &query, &Control::lasting(PATIENCE)).verdict;
    let seconds = start.elapsed().as_secs_f64();
    let counts = verdict.counts;
    if let Some(reason) = verdict.reason {
        println!("{row} {}", reason.message);
        return false;
    }
    let bytes = (peak_memory() - before).max(0.0) / counts.states as f64;
    println!(
        "{row} {:>10} {:>11} {:>7} {seconds:>9.3} {:>11.0} {bytes:>7.0}",
        counts.states,
        counts.events,
        counts.executions + counts.blocked,
        counts.states as f64 / seconds,
    );
    true
}

/// From here on, peaks are counted anew (Linux, proc(5)).
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A number of KiB that the system says of this process, in bytes; 0 where it does not.
fn status(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0
}

fn peak_memory() -> f64 {
    status("VmHWM")
}

fn resident() -> f64 {
    status("VmRSS")
}
