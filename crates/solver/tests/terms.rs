//! Terms after simplification mean what they meant before, and their circuits compute it.

use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Answer, Blaster, Cadical, Control, Literal, Solver, Term, Terms};
use proptest::prelude::*;

const UNARY: [UnaryOp; 7] = [
    UnaryOp::Neg,
    UnaryOp::Not,
    UnaryOp::LeadingZeros,
    UnaryOp::TrailingZeros,
    UnaryOp::PopCount,
    UnaryOp::ByteSwap,
    UnaryOp::BitReverse,
];

const BINARY: [BinaryOp; 19] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::UDiv,
    BinaryOp::SDiv,
    BinaryOp::URem,
    BinaryOp::SRem,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
    BinaryOp::Shl,
    BinaryOp::LShr,
    BinaryOp::AShr,
    BinaryOp::Eq,
    BinaryOp::Ne,
    BinaryOp::Ult,
    BinaryOp::Ule,
    BinaryOp::Slt,
    BinaryOp::Sle,
];

/// One step of making a term: which operator, and numbers that pick its operands.
type Step = (u8, u32, u32, u32);

/// A term beside the value that it must have, computed as it was made.
struct Pair {
    term: Term,
    value: Bits,
}

/// Makes terms by steps. Every step picks operands among what was made before; values are computed
/// from values only, so that simplification has no part in them.
fn build(terms: &mut Terms, inputs: &[(u32, u128)], steps: &[Step]) -> (Vec<Bits>, Vec<Pair>) {
    let mut made: Vec<Pair> = Vec::new();
    let mut values = Vec::new();
    for &(width, value) in inputs {
        let value = Bits::new(width, value);
        values.push(value);
        made.push(Pair { term: terms.variable(width), value });
    }
    for &(kind, a, b, c) in steps {
        let pick = |number: u32| &made[number as usize % made.len()];
        let (x, y) = (pick(a), pick(b));
        let width = x.value.width();
        let next = match kind % 12 {
            0 => {
                let op = UNARY[c as usize % UNARY.len()];
                let term = terms.unary(op, x.term);
                Pair { term, value: parallax_machine::unary(op, x.value) }
            }
            1..=5 => {
                let op = BINARY[c as usize % BINARY.len()];
                let same = made.iter().filter(|other| other.value.width() == width);
                let same: Vec<&Pair> = same.collect();
                let y = same[b as usize % same.len()];
                let term = terms.binary(op, x.term, y.term);
                Pair { term, value: parallax_machine::binary(op, x.value, y.value) }
            }
            6 => {
                let low = b % width;
                let part = 1 + c % (width - low);
                let term = terms.extract(x.term, low, part);
                Pair { term, value: x.value.extract(low, part) }
            }
            7 if width + y.value.width() <= 128 => {
                let term = terms.concat(x.term, y.term);
                Pair { term, value: x.value.concat(y.value) }
            }
            8 => {
                let wide = width + c % (129 - width).min(20);
                let term = terms.zero_extend(x.term, wide);
                Pair { term, value: x.value.zero_extend(wide) }
            }
            9 => {
                let wide = width + c % (129 - width).min(20);
                let term = terms.sign_extend(x.term, wide);
                Pair { term, value: x.value.sign_extend(wide) }
            }
            10 => {
                let value =
                    Bits::new(width, [0, 1, 2, u128::MAX, 1 << (width - 1), 5][c as usize % 6]);
                Pair { term: terms.constant(value), value }
            }
            _ => {
                let conditions: Vec<&Pair> = made.iter().filter(|p| p.value.width() == 1).collect();
                let arms: Vec<&Pair> = made.iter().filter(|p| p.value.width() == width).collect();
                let Some(condition) = conditions.get(c as usize % conditions.len().max(1)) else {
                    continue;
                };
                let other = arms[b as usize % arms.len()];
                let term = terms.select(condition.term, x.term, other.term);
                let value = if condition.value.is_zero() { other.value } else { x.value };
                Pair { term, value }
            }
        };
        made.push(next);
    }
    (values, made)
}

fn inputs(widest: u32) -> impl Strategy<Value = Vec<(u32, u128)>> {
    let width = prop_oneof![Just(1), 1u32..=9, 1u32..=widest];
    let value =
        prop_oneof![0u128..4, any::<u128>(), Just(u128::MAX), (0u32..128).prop_map(|i| 1 << i)];
    prop::collection::vec((width, value), 2..5)
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((any::<u8>(), any::<u32>(), any::<u32>(), any::<u32>()), 1..most)
}

fn literals(bits: &[Literal], value: Bits) -> impl Iterator<Item = Literal> + '_ {
    bits.iter().enumerate().map(
        move |(place, &bit)| {
            if value.unsigned() >> place & 1 == 1 { bit } else { !bit }
        },
    )
}

/// Asks the solver for the values of all terms, with the inputs pinned, and that no other value is
/// possible for the last one.
fn check_circuits(terms: &Terms, values: &[Bits], made: &[Pair]) {
    let mut solver = Cadical::new();
    let mut blaster = Blaster::new();
    for pair in made {
        blaster.bits_of(terms, pair.term, &mut solver);
    }
    let mut pinned = Vec::new();
    for (&variable, &value) in terms.variables().iter().zip(values) {
        let bits = blaster.bits_of(terms, variable, &mut solver);
        pinned.extend(literals(bits, value));
    }
    assert_eq!(solver.solve(&pinned, &Control::default()), Answer::Satisfiable);
    for pair in made {
        let value = blaster.value(terms, pair.term, &solver);
        assert_eq!(value, pair.value, "{:?}", terms.node(pair.term));
    }
    if let Some(last) = made.last() {
        let bits = blaster.bits_of(terms, last.term, &mut solver);
        let other: Vec<Literal> = literals(bits, last.value).map(|literal| !literal).collect();
        solver.clause(&other);
        assert_eq!(solver.solve(&pinned, &Control::default()), Answer::Unsatisfiable);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn simplified_terms_mean_the_same(inputs in inputs(128), steps in steps(40)) {
        let mut terms = Terms::new();
        let (values, made) = build(&mut terms, &inputs, &steps);
        let variables = terms.variables().to_vec();
        let lookup = |term: Term| {
            values[variables.iter().position(|&variable| variable == term).unwrap_or(0)]
        };
        let mut evaluation = terms.evaluation(lookup);
        for pair in &made {
            prop_assert_eq!(terms.width(pair.term), pair.value.width());
            prop_assert_eq!(evaluation.value(pair.term), pair.value);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn circuits_compute_what_programs_do(inputs in inputs(20), steps in steps(12)) {
        let mut terms = Terms::new();
        let (values, made) = build(&mut terms, &inputs, &steps);
        check_circuits(&terms, &values, &made);
    }
}

/// Every operator at every small width, on all or many pairs of operands, and at the widths that
/// machines have.
#[test]
fn every_operator_has_its_circuit() {
    for width in [1, 2, 3, 4, 7, 8, 16, 33, 64, 128] {
        let patterns: Vec<u128> = match width {
            1 | 2 => (0..4).collect(),
            _ => {
                vec![0, 1, 2, 5, u128::MAX, u128::MAX - 1, 1 << (width - 1), 0x1234_5678_9abc_def0]
            }
        };
        let (a, b) =
            (patterns[width as usize % patterns.len()], patterns[(width as usize / 2) % 4]);
        for (a, b) in [(a, b), (u128::MAX - 6, 3), (1 << (width - 1), u128::MAX), (77, 0)] {
            let mut terms = Terms::new();
            let (a, b) = (Bits::new(width, a), Bits::new(width, b));
            let (x, y) = (terms.variable(width), terms.variable(width));
            let mut made = Vec::new();
            for op in UNARY {
                made.push(Pair { term: terms.unary(op, x), value: parallax_machine::unary(op, a) });
            }
            for op in BINARY {
                let term = terms.binary(op, x, y);
                made.push(Pair { term, value: parallax_machine::binary(op, a, b) });
            }
            check_circuits(&terms, &[a, b], &made);
        }
    }
}

/// Terms as deep as loops make them are neither evaluated nor translated by recursion.
#[test]
fn depth_is_no_matter() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable(4), terms.variable(4));
    let mut term = x;
    for step in 0..100_000 {
        let op = if step % 2 == 0 { BinaryOp::Add } else { BinaryOp::Xor };
        term = terms.binary(op, term, y);
    }
    let value = |variable| Bits::new(4, if variable == x { 3 } else { 5 });
    let expected = (0..100_000).fold(Bits::new(4, 3), |value, step| {
        let op = if step % 2 == 0 { BinaryOp::Add } else { BinaryOp::Xor };
        parallax_machine::binary(op, value, Bits::new(4, 5))
    });
    assert_eq!(terms.evaluate(term, value), expected);
    let mut solver = Cadical::new();
    assert_eq!(Blaster::new().bits_of(&terms, term, &mut solver).len(), 4);
}

#[test]
fn what_there_is_no_time_for_is_left_open() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable(32), terms.variable(32));
    let term = (0..1_000).fold(x, |term, _| terms.binary(BinaryOp::Mul, term, y));
    let control = Control::default();
    control.cancel.cancel();
    let mut solver = Cadical::new();
    let mut blaster = Blaster::new().within(&control);
    assert_eq!(blaster.bits_of(&terms, term, &mut solver).len(), 32);
    assert_eq!(blaster.open(), [term]);
    // Nothing is said of it, so that it may be anything, and nothing was made of its parts.
    assert_eq!(solver.statistics().clauses, 0);
    // A solver with the same limits does not answer.
    let bit = blaster.literal_of(&terms, term, &mut solver);
    assert!(matches!(solver.solve(&[bit], &control), Answer::Stopped(_)));
}
