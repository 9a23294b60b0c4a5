//! Circuits for floating-point numbers against the processor, which programs are run by too. The
//! pattern of a result that is no number is that of this processor.

#![cfg(target_arch = "x86_64")]

use parallax_program::{BinaryOp, Bits, UnaryOp};
use parallax_solver::{Answer, Blaster, Cadical, Control, Literal, Solver, Term, Terms};

const BINARY: [BinaryOp; 8] = [
    BinaryOp::FAdd,
    BinaryOp::FSub,
    BinaryOp::FMul,
    BinaryOp::FDiv,
    BinaryOp::FEq,
    BinaryOp::FLt,
    BinaryOp::FLe,
    BinaryOp::FUnordered,
];

const UNARY: [UnaryOp; 9] = [
    UnaryOp::FSqrt,
    UnaryOp::F32ToF64,
    UnaryOp::F64ToF32,
    UnaryOp::F64ToS64,
    UnaryOp::F64ToU64,
    UnaryOp::S64ToF64,
    UnaryOp::U64ToF64,
    UnaryOp::S64ToF32,
    UnaryOp::U64ToF32,
];

/// Numbers at the edges of what there is, and others in between.
fn patterns(width: u32) -> Vec<u64> {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1.5,
        3.0,
        0.1,
        -0.3,
        1e-40,
        5e-324,
        -2.2e-308,
        1e300,
        -1e38,
        3.4e38,
        1e19,
        -9.3e18,
        4.5,
        16777217.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let mut patterns: Vec<u64> = numbers
        .iter()
        .map(|&number: &f64| match width {
            32 => u64::from((number as f32).to_bits()),
            _ => number.to_bits(),
        })
        .collect();
    let quiet = if width == 32 { 0x7fc0_0000 } else { f64::NAN.to_bits() };
    let signalling = if width == 32 { 0xff80_0001 } else { 0x7ff0_0000_0000_0001 };
    patterns.extend([quiet, quiet | 5, signalling, 1, 3, u64::MAX, 1 << 63, (1 << 53) + 1]);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..12 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Close exponents, so that digits meet.
        let narrow =
            if width == 32 { random & 0xc3ff_ffff } else { random & 0xc03f_ffff_ffff_ffff };
        patterns.extend([random, narrow]);
    }
    patterns
}

/// Each row of operands must give the value that the processor gives, and no other.
fn check(width: u32, make: impl Fn(&mut Terms, [Term; 2]) -> Term, rows: &[([Bits; 2], Bits)]) {
    let mut terms = Terms::new();
    let operands = [terms.variable(width), terms.variable(width)];
    let term = make(&mut terms, operands);
    let (mut solver, mut blaster) = (Cadical::new(), Blaster::new());
    blaster.bits_of(&terms, term, &mut solver);
    assert!(blaster.open().is_empty());
    let inputs: Vec<Vec<Literal>> = operands
        .iter()
        .map(|&operand| blaster.bits_of(&terms, operand, &mut solver).to_vec())
        .collect();
    for (values, expected) in rows {
        let pinned = inputs.iter().zip(values).flat_map(|(bits, value)| {
            let bits = bits.iter().enumerate();
            bits.map(|(place, &bit)| if value.unsigned() >> place & 1 == 1 { bit } else { !bit })
        });
        let pinned: Vec<Literal> = pinned.collect();
        assert_eq!(solver.solve(&pinned, &Control::default()), Answer::Satisfiable);
        let value = blaster.value(&terms, term, &solver);
        assert_eq!(value, *expected, "{:?} of {values:x?}", terms.node(term));
    }
}

#[test]
fn operators_on_two_numbers() {
    for width in [32, 64] {
        let patterns = patterns(width);
        for op in BINARY {
            let mut rows = Vec::new();
            for (index, &a) in patterns.iter().enumerate() {
                // More pairs of what is special, fewer of the others.
                for &b in patterns.iter().skip(index % 4).step_by(if index < 14 { 4 } else { 9 }) {
                    let values = [a, b].map(|bits| Bits::new(width, u128::from(bits)));
                    rows.push((values, parallax_machine::binary(op, values[0], values[1])));
                }
            }
            check(width, |terms, [x, y]| terms.binary(op, x, y), &rows);
        }
    }
}

#[test]
fn roots_and_conversions() {
    for width in [32, 64] {
        for op in UNARY.into_iter().filter(|op| op.takes(width)) {
            let mut patterns = patterns(width);
            if op == UnaryOp::F32ToF64 {
                patterns = self::patterns(32);
            }
            let rows = patterns.iter().map(|&bits| {
                let value = Bits::new(width, u128::from(bits));
                ([value, value], parallax_machine::unary(op, value))
            });
            check(width, |terms, [x, _]| terms.unary(op, x), &rows.collect::<Vec<_>>());
        }
    }
}

/// The remainder has no circuit, and says so.
#[test]
fn what_has_no_circuit_is_left_open() {
    let mut terms = Terms::new();
    let (x, y) = (terms.variable(64), terms.variable(64));
    let term = terms.binary(BinaryOp::FRem, x, y);
    let mut blaster = Blaster::new();
    blaster.bits_of(&terms, term, &mut Cadical::new());
    assert_eq!(blaster.open(), [term]);
}
