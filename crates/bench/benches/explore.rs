//! Exploration of execution graphs over rising sizes: executions, time for each, events a second,
//! peak memory. `make curves` draws the table that this prints.
//!
//! The families are counted with all reductions off; the structures are verified as a user would
//! verify them, `--all` included. `PARALLAX_MODELS` names other models, `PARALLAX_JOBS` another
//! number of threads, `PARALLAX_FAMILY` a part of the name of those to run.

use std::num::NonZeroUsize;
use std::time::Instant;

use parallax_bench::figures::Row;
use parallax_bench::programs::FAMILIES;
use parallax_bench::structures::STRUCTURES;
use parallax_bench::{ask, query};
use parallax_control::Control;
use parallax_query::{Extensions, Query, Reductions, Subject, Wanted};
use parallax_verdict::{Counts, Verdict};

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Explorations are run at least and at most so many times, short ones until they have taken so
/// many seconds; the fastest run counts.
const MOST_RUNS: u32 = 100;
const LEAST_RUNS: u32 = 4;
const ENOUGH: f64 = 0.2;

struct Settings {
    models: String,
    jobs: NonZeroUsize,
    only: String,
}

fn main() {
    let setting =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let settings = Settings {
        models: setting("PARALLAX_MODELS", "sc,tso,rc11"),
        jobs: setting("PARALLAX_JOBS", "1").parse().expect("a number of jobs"),
        only: setting("PARALLAX_FAMILY", ""),
    };
    println!("{}", Row::HEADING);
    for family in FAMILIES.iter().filter(|family| family.name.contains(&settings.only)) {
        for size in family.sizes {
            let subject = Subject::of((family.program)(*size));
            for model in settings.models.split(',') {
                let query = Query {
                    properties: Vec::new(),
                    wanted: Wanted::All,
                    extensions: Extensions::default().with(Reductions::NONE),
                    ..query(&subject, model)
                };
                let explore = |control: &Control<'_>| ask("explore", &query, control).verdict;
                measure(family.name, *size, model, &settings, &explore);
            }
        }
    }
    for structure in STRUCTURES.iter().filter(|structure| structure.name.contains(&settings.only)) {
        for size in structure.sizes {
            for model in settings.models.split(',') {
                match structure.prepared(*size, model) {
                    Ok(prepared) => {
                        let explore = |control: &Control<'_>| {
                            prepared.ask(control).expect("explored").answer.verdict
                        };
                        measure(structure.name, *size, model, &settings, &explore);
                    }
                    Err(reason) => eprintln!("{} {size}: left out: {reason}", structure.name),
                }
            }
        }
    }
}

fn measure(
    family: &str,
    n: usize,
    model: &str,
    settings: &Settings,
    explore: &dyn Fn(&Control<'_>) -> Verdict,
) {
    let control = Control { jobs: settings.jobs, ..Control::default() };
    forget_peak_memory();
    let (mut seconds, mut total, mut runs) = (f64::INFINITY, 0.0, 0);
    let mut counts = Counts::default();
    while runs < LEAST_RUNS || total < ENOUGH && runs < MOST_RUNS {
        let start = Instant::now();
        counts = explore(&control).counts;
        let elapsed = start.elapsed().as_secs_f64();
        seconds = seconds.min(elapsed);
        total += elapsed;
        runs += 1;
    }
    let row = Row {
        family: family.to_string(),
        n,
        model: model.to_string(),
        executions: counts.executions,
        blocked: counts.blocked,
        seconds,
        events: counts.events as f64 / seconds,
        peak_mib: peak_memory(),
    };
    println!("{row}");
}

/// From here on, peaks are counted anew (Linux, proc(5)).
fn forget_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that was resident, in MiB; 0 where the system does not say.
fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}
