//! Random C litmus tests of many shapes: the bounded engine reaches the states that the enumeration
//! lists and no others, under models with load buffering and without. What it reaches replays.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Finding, Options, check};
use parallax_engine_enumerate::enumerate;
use parallax_frontend_litmus::{LitmusTest, parse};
use parallax_memory::Model;

const MODELS: [&str; 6] = ["imm", "imm", "rc11", "rc20", "ra", "sc"];
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

fn statement(random: &mut Random, registers: &mut u64, is_nested: bool) -> String {
    let place = random.pick(&["x", "x", "x", "y"]);
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
            let register = register(registers);
            format!(
                "int e{number} = {expected};\n{register} = \
                 atomic_compare_exchange_strong_explicit({place}, &e{number}, {put}, \
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

/// What a test asks for: values of some registers and of a place.
fn condition(random: &mut Random, registers: &[u64]) -> String {
    let mut parts = vec![format!("{}={}", random.pick(&["x", "y"]), random.below(3))];
    for (thread, count) in registers.iter().enumerate() {
        for register in 0..*count {
            if random.below(3) > 0 {
                parts.push(format!("{thread}:r{register}={}", random.below(3)));
            }
        }
    }
    parts.join(" /\\ ")
}

fn random_test(seed: u64) -> (String, LitmusTest) {
    let mut random = Random::new(seed);
    let mut text = String::from("C shape\n{}\n");
    let threads = 2 + random.below(2);
    let mut registers = Vec::new();
    for number in 0..threads {
        let (body, count) = thread(&mut random, 5 - threads);
        text += &format!("P{number}(atomic_int* x, atomic_int* y) {{\n{body}}}\n");
        registers.push(count);
    }
    text += &format!("exists ({})\n", condition(&mut random, &registers));
    let test = parse("shape", &text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"));
    (text, test)
}

/// Whether the engines agree that the state can be reached, if it can.
fn reached(test: &LitmusTest, model: &Model) -> Result<bool, String> {
    let slow = enumerate(&test.program, &test.question, model, &Default::default());
    let slow = slow.map_err(|errors| format!("{errors:?}"))?.positive > 0;
    let fast = check(&test.program, &test.question, model, &Options::default());
    match fast.map_err(|errors| format!("{errors:?}"))?.finding {
        Finding::Unreachable { .. } if !slow => Ok(false),
        Finding::Reachable(_) if slow => Ok(true),
        Finding::Unknown(reason) => Err(format!("unknown: {}", reason.message)),
        _ => Err(format!("reachable by enumeration: {slow}, and the solver disagrees")),
    }
}

#[test]
fn the_solver_reaches_what_enumeration_lists() {
    let first = std::env::var("PARALLAX_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let mut compared = [0, 0];
    for seed in first..first + cases(400) {
        let (text, test) = random_test(seed);
        let name = MODELS[seed as usize % MODELS.len()];
        let model = Model::builtin(name).expect("a model").expect("a right model");
        match reached(&test, &model) {
            Ok(reached) => compared[usize::from(reached)] += 1,
            Err(how) => panic!("seed {seed}, {name}: {how}\n{text}"),
        }
    }
    assert!(compared.iter().all(|count| *count > 40), "{compared:?}");
}
