//! Repairs of the programs in `examples/fences` over rising sizes: fences, weight, bad executions,
//! explorations, seconds.
//!
//! `PARALLAX_FAMILY` names a part of the names of the programs to repair.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_engine_explore::explore;
use parallax_fences::source::{Document, Language};
use parallax_fences::{
    BranchAndBound, Collecting, Dialect, Engine, Helpers, Job, Means, Objective, Repair, Weights,
    repair,
};
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program};
use parallax_verdict::Verdict;

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Larger ones are left out.
const PATIENCE: Duration = Duration::from_secs(60);

/// Programs, the macro that makes them larger, and its values.
const FAMILIES: [(&str, &str, &[u32]); 11] = [
    ("peterson", "ROUNDS", &[2, 3, 5]),
    ("barrier", "ROUNDS", &[5, 10, 100, 150, 200]),
    ("store-buffer", "ROUNDS", &[2, 4, 5, 6, 10]),
    ("dekker", "ROUNDS", &[2, 3]),
    ("dekker-fence", "ROUNDS", &[2, 3, 4]),
    ("burns", "ROUNDS", &[1, 2, 3]),
    ("burns-fence", "ROUNDS", &[2, 3]),
    ("linuxrwlocks", "READERS", &[2, 3]),
    ("seqlock", "READERS", &[1, 2, 3]),
    ("bakery", "ROUNDS", &[1, 2, 3]),
    ("flipper", "ROUNDS", &[5, 7, 10]),
];

struct Exploring<'a>(&'a Model);

impl Engine for Exploring<'_> {
    fn search(&mut self, program: &Program, most: usize) -> Result<Verdict, Diagnostics> {
        let options = parallax_engine_explore::Options {
            all: most > 1,
            timeout: Some(PATIENCE),
            ..parallax_engine_explore::Options::default()
        };
        explore(program, self.0, &options)
    }
}

fn main() {
    let only = std::env::var("PARALLAX_FAMILY").unwrap_or_default();
    println!(
        "{:<14} {:>4} {:>8} {:>6} {:>6} {:>6} {:>7} {:>9}",
        "program", "n", "result", "fences", "weight", "traces", "rounds", "seconds"
    );
    for (name, parameter, sizes) in FAMILIES {
        for size in sizes.iter().filter(|_| name.contains(&only)) {
            if !measure(name, parameter, *size) {
                break;
            }
        }
    }
}

/// False if it took too long.
fn measure(name: &str, parameter: &str, size: u32) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fences");
    let path: PathBuf = folder.join(format!("{name}.c"));
    let models = ["rc11", "sc"].map(|name| Model::builtin(name).and_then(Result::ok));
    let (Ok(text), [Some(model), Some(sc)]) = (std::fs::read_to_string(&path), models) else {
        println!("{name}: cannot be read");
        return false;
    };
    let load = |texts: &[String]| {
        let texts = texts.iter().map(|text| (path.clone(), text.clone())).collect();
        let clang_args = vec![format!("-D{parameter}={size}")];
        let options = parallax_frontend_c::Options { clang_args, texts, ..Default::default() };
        parallax_frontend_c::load(std::slice::from_ref(&path), &options)
    };
    let document = Document::new(&path.display().to_string(), &text, Language::C, 0..text.len());
    let weights = Weights::default();
    let (dialect, repair_by) = (Dialect::C11, Repair::Fences);
    let fences = dialect.known_to(&model);
    let means = Means { dialect, fences, model: &model, weights: &weights, repair: repair_by };
    let (documents, objective) = (vec![document], Objective::Count);
    let job = Job { documents, means, objective, collecting: Collecting::OneByOne, check: false };
    let mut helpers = Helpers {
        load: &load,
        engine: &mut Exploring(&model),
        compile: None,
        interleaving: &mut Exploring(&sc),
        cover: &mut BranchAndBound,
    };
    let started = Instant::now();
    let repaired = match repair(job, &mut helpers) {
        Ok(repaired) => repaired,
        Err(errors) => {
            println!("{name}: {}", errors.first().map_or("", |error| &error.message));
            return false;
        }
    };
    let seconds = started.elapsed();
    println!(
        "{name:<14} {size:>4} {:>8} {:>6} {:>6} {:>6} {:>7} {:>9.3}",
        repaired.outcome.name(),
        repaired.cost.0,
        repaired.cost.1,
        repaired.traces,
        repaired.iterations,
        seconds.as_secs_f64()
    );
    seconds < PATIENCE
}
