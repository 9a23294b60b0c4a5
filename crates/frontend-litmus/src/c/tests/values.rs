//! Local computation: types, conversions, operators and loops, run by the interpreter.

use parallax_machine::{Code, Concrete, Limits, Operation, Thread};
use parallax_program::{Bits, FunctionId, VarId};
use proptest::prelude::*;

use super::test;

/// Runs a thread that keeps to itself, and looks at one of its variables.
fn run(body: &str, variable: &str) -> i128 {
    let test = test(&format!("P0() {{ {body} }}"));
    let code = Code::new(&test.program);
    let mut thread = Thread::start(&code, FunctionId(0), Vec::new(), &mut Concrete);
    let limits = Limits { repeats: 100, ..Limits::default() };
    let end = thread.run(&code, &limits, &mut Concrete);
    assert!(matches!(end, Operation::End), "{body}: {end:?}");
    let vars = &test.program.functions[0].vars;
    let index = vars.iter().position(|var| var.name == variable);
    let var = VarId(index.expect("a variable") as u32);
    thread.variable(var).expect("a value").to_signed()
}

#[test]
fn arithmetic_is_that_of_c() {
    for (body, r) in [
        ("int r = 7 / -2;", -3),
        ("int r = -7 % 3;", -1),
        ("int r = 1 + 2 * 3 - 4 / 2;", 5),
        ("int r = 1 << 3 | 5 & 4 ^ 1;", 13),
        ("int r = 2 < 1 == 0;", 1),
        ("int r = -1 < 0u;", 0),
        ("long r = -1 < 1l;", 1),
        ("int r = (unsigned char)300;", 44),
        ("int r = (signed char)200;", -56),
        ("long r = (unsigned)-1;", 0xffff_ffff),
        ("long r = 2147483647 + 1u;", 0x8000_0000),
        ("char c = 200; int r = c >> 1;", -28),
        ("unsigned char c = 200; int r = ~c;", -201),
        ("_Bool b = 256; int r = b + b;", 2),
        ("int r = !5 + !0;", 1),
        ("int r = 3 && 0 || 2;", 1),
        ("int r = 0 ? 1 : 2 ? 3 : 4;", 3),
        ("int r = (1, 2);", 2),
        ("int i = 5; int r = i++ * 10 + i;", 56),
        ("int i = 5; int r = --i + i;", 8),
        ("int r = 6; r += 2; r <<= 2; r -= 1; r %= 10; r ^= 3;", 2),
        ("int r = sizeof(long) + sizeof(int *) + sizeof(unsigned short);", 18),
        ("int r = 0; for (int i = 0; i < 5; i++) { if (i == 3) continue; r += i; }", 7),
        ("int r = 0; while (1) { if (++r == 4) break; }", 4),
        ("int r = 0; do r += 2; while (r < 5);", 6),
        ("int r = 0; again: r++; if (r < 3) goto again;", 3),
        ("int *p = 0; long r = (long)(p + 3);", 12),
        ("long *p = 0; int *q = (int *)80; long r = (long *)q - p;", 10),
        ("int r = 'a' - 'A';", 32),
        ("r = 1; r = r == 1 ? -5 : 0x10;", -5),
    ] {
        assert_eq!(run(body, "r"), r, "{body}");
    }
}

#[test]
fn long_expressions_stay_shallow() {
    let mut condition = "1".to_string();
    for _ in 0..50 {
        condition = format!("((long)1 == {condition})");
    }
    assert_eq!(run(&format!("int r = {condition};"), "r"), 1);
    let sum = " + 1".repeat(120);
    assert_eq!(run(&format!("long r = 1{sum};"), "r"), 121);
}

proptest! {
    /// Operators on operands of any two types, against the same done in wide arithmetic.
    #[test]
    fn operators_agree_with_wide_arithmetic(
        left in 0..NAMES.len(), right in 0..NAMES.len(), a: i64, b: i64, op in 0usize..9,
    ) {
        let (a, b) = (wrap(a.into(), NAMES[left]), wrap(b.into(), NAMES[right]));
        let common = common_type(NAMES[left], NAMES[right]);
        let (x, y) = (wrap(a, common), wrap(b, common));
        let (symbol, wide) = match op {
            0 => ("+", x + y),
            1 => ("-", x - y),
            2 => ("*", x.wrapping_mul(y)),
            3 => ("&", x & y),
            4 => ("|", x | y),
            5 => ("^", x ^ y),
            6 => ("<", (x < y).into()),
            7 => (">=", (x >= y).into()),
            _ => ("==", (x == y).into()),
        };
        let result = if op < 6 { wrap(wide, common) } else { wide };
        let body = format!(
            "{} a = {a}; {} b = {b}; long r = a {symbol} b;",
            NAMES[left], NAMES[right]
        );
        prop_assert_eq!(run(&body, "r"), wrap(result, "long"), "{}", body);
    }
}

const NAMES: &[&str] =
    &["int8_t", "uint8_t", "int16_t", "uint16_t", "int", "unsigned", "long", "uint64_t"];

fn bits(name: &str) -> (u32, bool) {
    match name {
        "int8_t" => (8, true),
        "uint8_t" => (8, false),
        "int16_t" => (16, true),
        "uint16_t" => (16, false),
        "int" => (32, true),
        "unsigned" => (32, false),
        "long" => (64, true),
        _ => (64, false),
    }
}

/// The value that a type keeps of a number.
fn wrap(value: i128, name: &str) -> i128 {
    let (width, signed) = bits(name);
    let bits = Bits::signed(width, value);
    if signed { bits.to_signed() } else { bits.unsigned() as i128 }
}

fn common_type(left: &'static str, right: &'static str) -> &'static str {
    let rank = ["int", "unsigned", "long", "uint64_t"];
    let place = |name| rank.iter().position(|known| *known == name).unwrap_or(0);
    rank[place(left).max(place(right))]
}
