//! Terms as integers: small problems have the answers of trying all values, unbounded ones those of
//! arithmetic, and what is exported has the same answer.

use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Answer, Blaster, Cadical, Control, INTEGER_WIDTH, Solver, Term, Terms, Z3};
use proptest::prelude::*;

fn number(terms: &mut Terms, value: i128) -> Term {
    terms.constant(Bits::signed(INTEGER_WIDTH, value))
}

/// Whether a condition can hold, and the values of the variables where it does.
fn solve(terms: &Terms, condition: Term, variables: &[Term]) -> Option<Vec<i128>> {
    let (mut solver, mut blaster) = (Z3::new(), Blaster::with_integers());
    let literal = blaster.literal_of(terms, condition, &mut solver);
    assert!(blaster.open().is_empty());
    let answer = solver.solve(&[literal], &Control::default());
    let mut text = Vec::new();
    let problem = solver.problem().expect("it is kept");
    problem.write_smtlib(&[literal], &mut text).expect("it is written");
    assert_eq!(solve_smtlib(&String::from_utf8_lossy(&text)), answer == Answer::Satisfiable);
    let value = |variable: &Term| blaster.value(terms, *variable, &solver).to_signed();
    (answer == Answer::Satisfiable).then(|| variables.iter().map(value).collect())
}

fn solve_smtlib(text: &str) -> bool {
    z3::with_z3_config(&z3::Config::new(), || {
        let solver = z3::Solver::new();
        solver.from_string(text);
        solver.check() == z3::SatResult::Sat
    })
}

#[test]
fn integers_have_no_ends() {
    let mut terms = Terms::new();
    let x = terms.variable(INTEGER_WIDTH);
    let one = number(&mut terms, 1);
    let more = terms.binary(BinaryOp::Add, x, one);
    let wraps = terms.binary(BinaryOp::Sle, more, x);
    assert_eq!(solve(&terms, wraps, &[x]), None);
    let goes_on = terms.binary(BinaryOp::Slt, x, more);
    assert!(solve(&terms, goes_on, &[x]).is_some());
    let zero = number(&mut terms, 0);
    let negative = terms.binary(BinaryOp::Slt, x, zero);
    assert!(solve(&terms, negative, &[x]).is_some_and(|values| values[0] < 0));
    let large = number(&mut terms, 1 << 70);
    let beyond = terms.binary(BinaryOp::Slt, large, x);
    assert!(solve(&terms, beyond, &[]).is_some());
}

#[test]
fn what_integers_do_not_have_is_left_open() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable(INTEGER_WIDTH), terms.variable(INTEGER_WIDTH));
    let mask = terms.binary(BinaryOp::And, x, y);
    let equal = terms.equals(mask, x);
    let (mut solver, mut blaster) = (Z3::new(), Blaster::with_integers());
    blaster.literal_of(&terms, equal, &mut solver);
    assert_eq!(blaster.open(), [mask]);
    // A solver without integers knows nothing of comparisons.
    let (mut solver, mut blaster) = (Cadical::new(), Blaster::with_integers());
    let less = terms.binary(BinaryOp::Slt, x, y);
    let literal = blaster.literal_of(&terms, less, &mut solver);
    assert_eq!(blaster.open(), [less]);
    assert_eq!(solver.solve(&[literal], &Control::default()), Answer::Satisfiable);
}

#[test]
fn large_numbers_are_reported() {
    let mut terms = Terms::new();
    number(&mut terms, -5);
    terms.constant(Bits::new(64, u128::MAX));
    assert!(!terms.has_large_integers());
    number(&mut terms, -(1 << 101));
    assert!(terms.has_large_integers());
}

/// A step that makes another integer or condition of earlier ones, by their numbers.
#[derive(Clone, Debug)]
enum Step {
    Number(i128),
    Add(usize, usize),
    Subtract(usize, usize),
    Negate(usize),
    Choose(usize, usize, usize),
    OfBit(usize),
    Compare(BinaryOp, usize, usize),
    And(usize, usize),
    Not(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..40usize;
    let comparison = prop_oneof![
        Just(BinaryOp::Eq),
        Just(BinaryOp::Ne),
        Just(BinaryOp::Slt),
        Just(BinaryOp::Sle)
    ];
    prop_oneof![
        (-3i128..4).prop_map(Step::Number),
        (at(), at()).prop_map(|(a, b)| Step::Add(a, b)),
        (at(), at()).prop_map(|(a, b)| Step::Subtract(a, b)),
        at().prop_map(Step::Negate),
        (at(), at(), at()).prop_map(|(c, a, b)| Step::Choose(c, a, b)),
        at().prop_map(Step::OfBit),
        (comparison, at(), at()).prop_map(|(op, a, b)| Step::Compare(op, a, b)),
        (at(), at()).prop_map(|(a, b)| Step::And(a, b)),
        at().prop_map(Step::Not),
    ]
}

/// The last condition that the steps make, with both variables between -2 and 2.
fn condition(steps: &[Step], terms: &mut Terms, variables: [Term; 2]) -> Term {
    let mut integers = variables.to_vec();
    let mut bits = vec![terms.truth()];
    for step in steps {
        let integer = |at: &usize| integers[at % integers.len()];
        let bit = |at: &usize| bits[at % bits.len()];
        match step {
            Step::Number(value) => integers.push(number(terms, *value)),
            Step::Add(a, b) => integers.push(terms.binary(BinaryOp::Add, integer(a), integer(b))),
            Step::Subtract(a, b) => {
                integers.push(terms.binary(BinaryOp::Sub, integer(a), integer(b)));
            }
            Step::Negate(a) => integers.push(terms.unary(UnaryOp::Neg, integer(a))),
            Step::Choose(c, a, b) => integers.push(terms.select(bit(c), integer(a), integer(b))),
            Step::OfBit(a) => integers.push(terms.zero_extend(bit(a), INTEGER_WIDTH)),
            Step::Compare(op, a, b) => bits.push(terms.binary(*op, integer(a), integer(b))),
            Step::And(a, b) => bits.push(terms.and(bit(a), bit(b))),
            Step::Not(a) => bits.push(terms.not(bit(a))),
        }
    }
    let mut all = *bits.last().unwrap_or(&variables[0]);
    let (low, high) = (number(terms, -2), number(terms, 2));
    for variable in variables {
        let above = terms.binary(BinaryOp::Sle, low, variable);
        let below = terms.binary(BinaryOp::Sle, variable, high);
        let inside = terms.and(above, below);
        all = terms.and(all, inside);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn small_values_are_as_if_tried(steps in prop::collection::vec(step(), 1..20)) {
        let mut terms = Terms::new();
        let variables = [terms.variable(INTEGER_WIDTH), terms.variable(INTEGER_WIDTH)];
        let condition = condition(&steps, &mut terms, variables);
        let holds = |x: i128, y: i128| {
            let value = |variable| Bits::signed(INTEGER_WIDTH, if variable == variables[0] { x } else { y });
            !terms.evaluate(condition, value).is_zero()
        };
        let possible = (-2..=2).any(|x| (-2..=2).any(|y| holds(x, y)));
        match solve(&terms, condition, &variables) {
            None => prop_assert!(!possible),
            Some(values) => prop_assert!(holds(values[0], values[1])),
        }
    }
}
