//! What is exported has the answer of what it was exported from.

use crate::support;

use parallax_solver::{Answer, Cadical, Control, Edge, Literal, Problem, Solver};
use proptest::prelude::*;
use support::{has_model, run, steps};

fn small() -> (Problem, Literal) {
    let mut problem = Problem::default();
    let (a, b) = (problem.literal(), problem.literal());
    problem.clauses.push(&[a, !b]);
    problem.order(2);
    problem.edge(0, Edge { from: 0, to: 1, when: a });
    (problem, b)
}

#[test]
fn dimacs_has_clocks() {
    let (problem, assumed) = small();
    let mut text = Vec::new();
    assert!(problem.write_dimacs(&[assumed], &mut text).is_ok());
    // Variables 4 and 5 are the clocks, 6 says that the rest of them must be less.
    let expected = "p cnf 6 7\n1 0\n3 0\n2 -3 0\n-2 -4 5 0\n-2 4 5 6 0\n-2 -4 -5 6 0\n-6 0\n";
    assert_eq!(String::from_utf8_lossy(&text), expected);
}

#[test]
fn smtlib_has_integers() {
    let (problem, assumed) = small();
    let mut text = Vec::new();
    assert!(problem.write_smtlib(&[assumed], &mut text).is_ok());
    let expected = "\
(set-logic QF_IDL)
(declare-const v0 Bool)
(declare-const v1 Bool)
(declare-const v2 Bool)
(declare-const o0n0 Int)
(declare-const o0n1 Int)
(assert v0)
(assert (or v1 (not v2)))
(assert (=> v1 (< o0n0 o0n1)))
(assert v2)
(check-sat)
";
    assert_eq!(String::from_utf8_lossy(&text), expected);
}

/// Solves a DIMACS file.
fn solve_dimacs(text: &str) -> Answer {
    let mut solver = Cadical::new();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    for _ in 1..header[2].parse::<u32>().unwrap_or(0) {
        solver.literal();
    }
    let mut count = 0;
    for line in lines {
        let numbers = line.split(' ').filter_map(|number| number.parse().ok());
        let clause: Vec<Literal> = numbers.filter_map(Literal::from_dimacs).collect();
        solver.clause(&clause);
        count += 1;
    }
    assert_eq!(header[3], count.to_string());
    solver.solve(&[], &Control::default())
}

fn solve_smtlib(text: &str) -> bool {
    z3::with_z3_config(&z3::Config::new(), || {
        let solver = z3::Solver::new();
        solver.from_string(text);
        solver.check() == z3::SatResult::Sat
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn exports_have_the_same_answer(steps in steps(90)) {
        let mut solver = Cadical::recording();
        run(&steps, &mut solver, |solver, problem, assumed| {
            assert_eq!(solver.problem(), Some(problem));
            let expected = has_model(problem, assumed);
            let (mut dimacs, mut smtlib) = (Vec::new(), Vec::new());
            assert!(problem.write_dimacs(assumed, &mut dimacs).is_ok());
            assert!(problem.write_smtlib(assumed, &mut smtlib).is_ok());
            let answer = solve_dimacs(&String::from_utf8_lossy(&dimacs));
            assert_eq!(answer == Answer::Satisfiable, expected);
            assert_eq!(solve_smtlib(&String::from_utf8_lossy(&smtlib)), expected);
        });
    }
}
