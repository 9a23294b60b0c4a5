//! Solvers over rising sizes: how large problems are, and how long it takes to make them, to solve
//! them, to certify the answer and to check the certificate. `clocks` is CaDiCaL with orders as
//! binary numbers instead of a propagator.
//!
//! `PARALLAX_FAMILY` names a part of the name of the families to run, `PARALLAX_SIZES` other sizes,
//! `PARALLAX_SOLVERS` some of `cadical,clocks,z3`.

use std::time::{Duration, Instant};

use parallax_bench::formulas::{FORMULA_FAMILIES, Formulas};
use parallax_solver::{Answer, Cadical, Control, Problem, Solver, Z3, check};

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Larger ones are left out.
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    let setting =
        |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_string());
    let (only, sizes) = (setting("PARALLAX_FAMILY", ""), setting("PARALLAX_SIZES", ""));
    let solvers = setting("PARALLAX_SOLVERS", "cadical,clocks,z3");
    println!(
        "{:<13} {:>3} {:<8} {:>8} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "family",
        "n",
        "solver",
        "vars",
        "clauses",
        "edges",
        "lemmas",
        "conflicts",
        "encode s",
        "solve s",
        "certify s",
        "check s"
    );
    for family in FORMULA_FAMILIES.iter().filter(|family| family.name.contains(&only)) {
        let asked: Vec<usize> = sizes.split(',').filter_map(|size| size.parse().ok()).collect();
        let sizes = if asked.is_empty() { family.sizes } else { &asked };
        for name in solvers.split(',') {
            for &size in sizes {
                if !measure(family, size, name) {
                    break;
                }
            }
        }
    }
}

/// False if it took too long.
fn measure(family: &Formulas, size: usize, name: &str) -> bool {
    let start = Instant::now();
    let (mut recording, mut z3) = (Cadical::recording(), Z3::new());
    let solver: &mut dyn Solver = if name == "z3" { &mut z3 } else { &mut recording };
    let expected = (family.encode)(size, solver);
    let mut flat = Cadical::new();
    let solver = match solver.problem() {
        Some(problem) if name == "clocks" => {
            fill(&problem.without_orders(), &mut flat);
            &mut flat
        }
        _ => solver,
    };
    let encoded = start.elapsed();
    let control = Control::lasting(PATIENCE);
    let answer = solver.solve(&[], &control);
    let solved = start.elapsed() - encoded;
    assert!(answer == expected || matches!(answer, Answer::Stopped(_)));
    let numbers = solver.statistics();
    print!(
        "{:<13} {size:>3} {name:<8} {:>8} {:>9} {:>7} {:>7} {:>8} {:>9.3} {:>8.3}",
        family.name,
        numbers.variables,
        numbers.clauses,
        numbers.edges,
        numbers.lemmas,
        numbers.conflicts,
        encoded.as_secs_f64(),
        solved.as_secs_f64()
    );
    if answer == Answer::Unsatisfiable && name == "cadical" {
        let start = Instant::now();
        if let Ok(certificate) = recording.certify(&[], &control) {
            let certified = start.elapsed();
            assert_eq!(check(&certificate), Ok(()));
            let checked = start.elapsed() - certified;
            print!(" {:>8.3} {:>8.3}", certified.as_secs_f64(), checked.as_secs_f64());
        }
    }
    println!();
    solved < PATIENCE
}

fn fill(problem: &Problem, solver: &mut dyn Solver) {
    for _ in 1..problem.variables {
        solver.literal();
    }
    for clause in problem.clauses.iter() {
        solver.clause(clause);
    }
}
