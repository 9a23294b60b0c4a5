//! Solvers against trying everything, on random problems that grow between questions.

use crate::support;

use parallax_control::{Gate, Stop as Outside};
use parallax_solver::{Answer, Cadical, Control, Literal, Problem, Solver, Stop, Z3};
use proptest::prelude::*;
use support::{has_model, is_model, run, steps};

/// Nobody else searches.
struct Open;

impl Gate for Open {
    fn spend(&self, _: u64) {}
}

fn judge(solver: &mut dyn Solver, problem: &Problem, assumed: &[Literal]) {
    // To take turns with others is another way through the solver.
    let gate: Option<&dyn Gate> = Some(&Open);
    let gate = gate.filter(|_| problem.clauses.len().is_multiple_of(2));
    let answer = solver.solve(assumed, &Control { gate, ..Control::default() });
    match answer {
        Answer::Satisfiable => {
            assert!(is_model(problem, assumed, |literal| solver.value(literal)), "{problem:?}");
        }
        Answer::Unsatisfiable => {
            assert!(!has_model(problem, assumed), "{problem:?} {assumed:?}");
            let needed = assumed.iter().copied().filter(|&literal| solver.failed(literal));
            let needed: Vec<Literal> = needed.collect();
            assert!(!has_model(problem, &needed), "{problem:?} {needed:?}");
        }
        Answer::Stopped(_) => panic!("{answer:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn cadical_is_right(steps in steps(90)) {
        run(&steps, &mut Cadical::new(), judge);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, ..ProptestConfig::default() })]

    #[test]
    fn z3_is_right(steps in steps(90)) {
        run(&steps, &mut Z3::new(), judge);
    }
}

/// Two threads that each write and then read what the other wrote: one of them is first.
#[test]
fn two_events_in_either_order() {
    let mut solver = Cadical::new();
    let order = solver.order(2);
    let (forth, back) = (solver.literal(), solver.literal());
    solver.edge(order, 0, 1, forth);
    solver.edge(order, 1, 0, back);
    solver.clause(&[forth, back]);
    assert_eq!(solver.solve(&[], &Control::default()), Answer::Satisfiable);
    assert_ne!(solver.value(forth), solver.value(back));
    assert_eq!(solver.solve(&[forth, back], &Control::default()), Answer::Unsatisfiable);
    assert!(solver.failed(forth) && solver.failed(back));
    assert_eq!(solver.solve(&[back], &Control::default()), Answer::Satisfiable);
    assert!(!solver.value(forth));
}

/// Places `count` things in a line, each pair one way or the other, and rules out the first of them
/// standing before the last.
fn line(solver: &mut dyn Solver, count: u32) -> Vec<Vec<Literal>> {
    let order = solver.order(count as usize);
    let mut before = vec![vec![Literal::FALSE; count as usize]; count as usize];
    for a in 0..count {
        for b in a + 1..count {
            let literal = solver.literal();
            solver.edge(order, a, b, literal);
            solver.edge(order, b, a, !literal);
            before[a as usize][b as usize] = literal;
            before[b as usize][a as usize] = !literal;
        }
    }
    before
}

#[test]
fn total_orders_are_transitive() {
    let mut solver = Cadical::new();
    let count = 30;
    let before = line(&mut solver, count);
    let chain: Vec<Literal> = (1..count as usize).map(|i| before[i - 1][i]).collect();
    assert_eq!(solver.solve(&chain, &Control::default()), Answer::Satisfiable);
    assert!(solver.value(before[0][count as usize - 1]));
    solver.clause(&[before[count as usize - 1][0]]);
    assert_eq!(solver.solve(&chain, &Control::default()), Answer::Unsatisfiable);
    assert!(chain.iter().all(|&literal| solver.failed(literal)));
    assert_eq!(solver.solve(&chain[1..], &Control::default()), Answer::Satisfiable);
}

#[test]
fn the_same_calls_give_the_same_model() {
    let model = || {
        let mut solver = Cadical::new();
        let before = line(&mut solver, 12);
        for window in before.windows(3) {
            solver.clause(&[window[0][5], window[1][7], window[2][2]]);
        }
        assert_eq!(solver.solve(&[], &Control::default()), Answer::Satisfiable);
        let values: Vec<bool> = before.iter().flatten().map(|&l| solver.value(l)).collect();
        (values, solver.statistics())
    };
    assert_eq!(model(), model());
}

/// What takes more than a quick look is searched on.
#[test]
fn a_quick_look_is_not_the_last() {
    for gate in [None, Some(&Open as &dyn Gate)] {
        let control = Control { gate, ..Control::default() };
        let mut solver = Cadical::new();
        pigeons(&mut solver, 7);
        assert_eq!(solver.solve(&[], &control), Answer::Unsatisfiable);
        assert!(solver.statistics().conflicts > 300);
    }
}

/// More pigeons than holes, which takes too long for any solver.
fn pigeons(solver: &mut dyn Solver, holes: usize) {
    let place: Vec<Vec<Literal>> =
        (0..=holes).map(|_| (0..holes).map(|_| solver.literal()).collect()).collect();
    for pigeon in &place {
        solver.clause(pigeon);
    }
    for hole in 0..holes {
        for a in 0..place.len() {
            for b in 0..a {
                solver.clause(&[!place[a][hole], !place[b][hole]]);
            }
        }
    }
}

#[test]
fn a_search_ends_when_it_is_said_to() {
    ends_when_asked(&mut Cadical::new());
    ends_when_asked(&mut Z3::new());
}

fn ends_when_asked(solver: &mut dyn Solver) {
    pigeons(solver, 14);
    let stopped = |stop| Answer::Stopped(Stop::Outside(stop));
    let cancelled = Control::default();
    cancelled.cancel.cancel();
    assert_eq!(solver.solve(&[], &cancelled), stopped(Outside::Cancelled));
    let late = Control::lasting(std::time::Duration::from_millis(50));
    assert_eq!(solver.solve(&[], &late), stopped(Outside::Deadline));
    let small = Control { memory_limit: Some(1), ..Control::default() };
    assert_eq!(solver.solve(&[], &small), stopped(Outside::MemoryLimit));
}

/// Larger problems than can be tried out: both back ends give the same answer.
#[test]
fn back_ends_agree() {
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: u32| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 33) as u32 % below
    };
    let mut answers = [0; 2];
    for _ in 0..40 {
        let (mut cadical, mut z3) = (Cadical::new(), Z3::new());
        let count = 8 + next(4);
        let before = line(&mut cadical, count);
        line(&mut z3, count);
        for _ in 0..count * 6 {
            let mut pick = || before[next(count) as usize][next(count) as usize];
            let clause = [pick(), pick(), pick()];
            cadical.clause(&clause);
            z3.clause(&clause);
        }
        let answer = cadical.solve(&[], &Control::default());
        assert_eq!(z3.solve(&[], &Control::default()), answer);
        answers[usize::from(answer == Answer::Satisfiable)] += 1;
    }
    assert!(answers.iter().all(|&count| count > 5), "{answers:?}");
}
