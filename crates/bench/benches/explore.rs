//! Exploration of execution graphs over rising sizes: executions, time for each, events a second.
//! `PARALLAX_MODELS` names other models, `PARALLAX_JOBS` other numbers of threads.

use std::time::Instant;

use parallax_bench::programs::FAMILIES;
use parallax_engine_explore::{Options, Reductions, explore};
use parallax_memory::Model;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let setting =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let models = setting("PARALLAX_MODELS", "sc,tso,rc11");
    let jobs = setting("PARALLAX_JOBS", "1").parse().expect("a number of jobs");
    let only = setting("PARALLAX_FAMILY", "");
    println!(
        "{:<12} {:>4} {:<6} {:>12} {:>10} {:>10} {:>14}",
        "family", "n", "model", "executions", "seconds", "µs each", "events/s"
    );
    for family in FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        for size in family.sizes {
            let program = (family.program)(*size);
            for name in models.split(',') {
                let model = Model::builtin(name).expect("a model").expect("a right model");
                let options = Options {
                    properties: Vec::new(),
                    reductions: Reductions::NONE,
                    all: true,
                    jobs,
                    ..Options::default()
                };
                let start = Instant::now();
                let verdict = explore(&program, &model, &options).expect("explored");
                let seconds = start.elapsed().as_secs_f64();
                let counts = verdict.counts;
                println!(
                    "{:<12} {:>4} {:<6} {:>12} {:>10.3} {:>10.2} {:>14.0}",
                    family.name,
                    size,
                    name,
                    counts.executions,
                    seconds,
                    seconds * 1e6 / counts.executions as f64,
                    counts.events as f64 / seconds
                );
            }
        }
    }
}
