//! Random C litmus tests of many shapes: atomic accesses of all orders, read-modify-writes, fences,
//! dependencies and branches.

use super::Random;
use parallax_frontend_litmus::{LitmusTest, parse};

const READS: [&str; 3] = ["relaxed", "acquire", "seq_cst"];
const WRITES: [&str; 3] = ["relaxed", "release", "seq_cst"];
const BOTH: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// A register of its own for each value.
fn register(registers: &mut u64) -> String {
    *registers += 1;
    format!("int r{}", *registers - 1)
}

/// A value that may depend on what was read.
fn value(random: &mut Random, registers: u64) -> String {
    let plain = random.below(3);
    if registers == 0 {
        return plain.to_string();
    }
    let known = random.below(registers);
    match random.below(6) {
        0 => format!("r{known}"),
        1 => format!("(r{known} ^ r{known}) + {plain}"),
        2 => format!("r{known} + 1"),
        _ => plain.to_string(),
    }
}

/// A place, whose address may depend on what was read.
fn place(random: &mut Random, registers: u64) -> String {
    let place = random.pick(&["x", "x", "x", "y"]);
    match random.below(4) {
        0 if registers > 0 => {
            let known = random.below(registers);
            format!("{place} + (r{known} ^ r{known})")
        }
        _ => place.to_string(),
    }
}

fn statement(random: &mut Random, registers: &mut u64, is_nested: bool) -> String {
    let place = place(random, *registers);
    let (read, write) = (random.pick(&READS), random.pick(&WRITES));
    let order = random.pick(&BOTH);
    let put = value(random, *registers);
    let kind = random.below(if is_nested { 4 } else { 12 });
    match kind {
        0..=3 => format!("atomic_store_explicit({place}, {put}, memory_order_{write});\n"),
        4..=6 => {
            let register = register(registers);
            format!("{register} = atomic_load_explicit({place}, memory_order_{read});\n")
        }
        7 => {
            let change = random.pick(&["fetch_add", "exchange", "fetch_or"]);
            let register = register(registers);
            format!(
                "{register} = atomic_{change}_explicit({place}, {put}, memory_order_{order});\n"
            )
        }
        8 => {
            let (number, expected) = (*registers, random.below(3));
            let strength = random.pick(&["strong", "weak"]);
            let register = register(registers);
            format!(
                "int e{number} = {expected};\n{register} = \
                 atomic_compare_exchange_{strength}_explicit({place}, &e{number}, {put}, \
                 memory_order_{order}, memory_order_relaxed);\n"
            )
        }
        9 => format!("atomic_thread_fence(memory_order_{});\n", random.pick(&BOTH[1..])),
        _ if *registers > 0 => {
            let (known, wanted) = (random.below(*registers), random.below(3));
            let inner = statement(random, registers, true);
            format!("if (r{known} == {wanted}) {{\n{inner}}}\n")
        }
        _ => String::new(),
    }
}

/// A thread, and how many registers it has.
fn thread(random: &mut Random, most: u64) -> (String, u64) {
    let (mut body, mut registers) = (String::new(), 0);
    for _ in 0..2 + random.below(most) {
        body += &statement(random, &mut registers, false);
    }
    (body, registers)
}

/// What final states are told apart by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// Some registers and a place.
    Some,
    /// All registers and places.
    All,
}

/// What a test asks for.
fn condition(random: &mut Random, registers: &[u64], observed: Observed) -> String {
    let is_all = observed == Observed::All;
    let mut parts = vec![format!("{}={}", random.pick(&["x", "y"]), random.below(3))];
    if is_all {
        parts.extend(["x=0".to_string(), "y=0".to_string()]);
    }
    for (thread, count) in registers.iter().enumerate() {
        for register in 0..*count {
            if is_all || random.below(3) > 0 {
                parts.push(format!("{thread}:r{register}={}", random.below(3)));
            }
        }
    }
    parts.join(" /\\ ")
}

/// A random test, and its text.
pub fn random_test(seed: u64, observed: Observed) -> (String, LitmusTest) {
    let mut random = Random::new(seed);
    let mut text = String::from("C shape\n{}\n");
    let threads = 2 + random.below(2);
    let mut registers = Vec::new();
    for number in 0..threads {
        let (body, count) = thread(&mut random, 5 - threads);
        text += &format!("P{number}(atomic_int* x, atomic_int* y) {{\n{body}}}\n");
        registers.push(count);
    }
    text += &format!("exists ({})\n", condition(&mut random, &registers, observed));
    let test = parse("shape", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, test)
}
