//! Random programs whose accesses are of different sizes and overlap: the bounded engine and the
//! search through states give the same verdicts.
//!
//! All that a thread reads goes into one number, which is asserted to be what some execution gives:
//! a single wrong byte shows.

mod common;

use common::{Random, cases};
use parallax_engine_bounded::{Options, verify};
use parallax_engine_states::search;
use parallax_memory::Model;
use parallax_program::{Program, Property, parse_program};
use parallax_verdict::{Conclusion, EventKind, Verdict};

/// Who accesses the objects: one thread, one after the other, or two at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Alone,
    Joined,
    Together,
}

/// An access of 1, 2, 4 or 8 bytes to one of three objects of 16 bytes, one of them by a pointer
/// that is chosen only when the program runs.
fn access(random: &mut Random) -> String {
    let bytes = 1u64 << random.below(4);
    let offset = bytes * random.below(16 / bytes);
    let place = format!("{} + {offset}:64", random.pick(&["&a", "&a", "p", "q"]));
    let bits = bytes * 8;
    match random.below(4) {
        0 | 1 => {
            let value = [1, 0x0102_0304_0506_0708, 0xfff0, u64::MAX, 0][random.below(5) as usize];
            let value = value & (u64::MAX >> (64 - bits));
            format!("store.{bytes} {place}, {value}:{bits} [A, RLX]\n")
        }
        2 => format!("store.{bytes} {place}, extract(h, 0, {bits}) [A, RLX]\n")
            .replace("extract(h, 0, 64)", "h"),
        _ => format!(
            "v{bits} = load.{bytes} {place} [A, RLX]\nh = (h * 31:64) ^ zext(v{bits}, 64)\n"
        )
        .replace("zext(v64, 64)", "v64"),
    }
}

fn body(random: &mut Random, length: u64) -> String {
    let mut text = String::new();
    for number in 0..length {
        match random.below(6) {
            0 => {
                let (then, otherwise) = (access(random), access(random));
                text += &format!(
                    "branch extract(h, 0, 1), then{number}, else{number}\nthen{number}:\n{then}\
                     jump end{number}\nelse{number}:\n{otherwise}end{number}:\n"
                );
            }
            1 => {
                text += "branch extract(h, 0, 1), first, second\nfirst:\nq = &a\njump both\n\
                     second:\nq = &b\nboth:\n"
                    .replace("first", &format!("first{number}"))
                    .replace("second", &format!("second{number}"))
                    .replace("both", &format!("both{number}"))
                    .as_str()
            }
            _ => text += &access(random),
        }
    }
    text
}

/// The program, which asserts that what was read makes a certain number.
fn random_program(seed: u64, shape: Shape) -> String {
    let mut random = Random::new(seed);
    let vars = "var h: 64, q: 64, v8: 8, v16: 16, v32: 32, v64: 64, n: 32\nq = &b\n";
    let mut text = String::from("program p pointers 64\n");
    text += "global a: 16 align 16 = { 0: 72623859790382856:64 }\n";
    text += "global b: 16 align 16\nglobal c: 16 align 16\nglobal out: 8\n";
    let (own, other) = match shape {
        Shape::Together => (2, 2),
        _ => (4 + random.below(5), 3),
    };
    let helper = body(&mut random, other);
    text += &format!("fn helper(p: 64) {{\n{vars}{helper}return\n}}\n");
    let start = "n = spawn helper(&c)\n";
    let (before, between, after) = match shape {
        Shape::Alone => (String::new(), String::new(), body(&mut random, own)),
        Shape::Joined => {
            let before = body(&mut random, own);
            let after = body(&mut random, own);
            (before, format!("{start}join n\n"), renamed(&after))
        }
        Shape::Together => (start.to_string(), body(&mut random, own), "join n\n".to_string()),
    };
    let last = "v64 = load.8 &a [A, RLX]\nh = (h * 31:64) ^ v64\n\
                v64 = load.8 &b + 8:64 [A, RLX]\nh = (h * 31:64) ^ v64\n";
    text += &format!(
        "fn main(p: 64) {{\n{vars}{before}{between}{after}{last}store.8 &out, h [A, RLX]\n\
         assert h == WANTED:64, \"all is read as it was written\"\nreturn\n}}\n"
    );
    text += "thread main = main(&b)\n";
    if shape == Shape::Together { text } else { text.replace("[A, RLX]", "[NA]") }
}

/// The labels of a second body in the same function.
fn renamed(body: &str) -> String {
    ["then", "else", "end", "first", "second", "both"]
        .iter()
        .fold(body.to_string(), |text, label| text.replace(label, &format!("late_{label}")))
}

fn searched(program: &Program, model: &Model) -> Verdict {
    let options = parallax_engine_states::Options {
        properties: vec![Property::Assert],
        ..Default::default()
    };
    search(program, model, &options).expect("a verdict")
}

fn parsed(text: &str) -> Program {
    parse_program("p", text).unwrap_or_else(|errors| panic!("{text}\n{errors:?}"))
}

/// What an execution makes of all that was read, which is not 12345.
fn number(verdict: &Verdict) -> Option<u64> {
    let violation = verdict.violations.first()?;
    let written = violation.execution.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Write { location, value, .. } if location == "out" => Some(*value),
        _ => None,
    });
    written.map(|bits| bits.unsigned() as u64)
}

fn model(name: &str) -> std::sync::Arc<Model> {
    Model::builtin(name).expect("a model").expect("a right model")
}

#[test]
fn the_search_through_states_agrees() {
    let mut compared = [0, 0];
    for seed in 0..cases(120) {
        let (shape, models) = [
            (Shape::Alone, &["sc", "rc11", "aarch64"][..]),
            (Shape::Joined, &["tso", "rc11", "ra"][..]),
            (Shape::Together, &["sc", "tso"][..]),
        ][seed as usize % 3];
        let text = random_program(seed, shape);
        for name in models {
            // Where nothing is shared at the same time, all models are the same.
            let machine = model(if shape == Shape::Together { name } else { "sc" });
            let with = |wanted: u64| text.replace("WANTED", &wanted.to_string());
            let Some(number) = number(&searched(&parsed(&with(12345)), &machine)) else { continue };
            for wanted in [number ^ 1, number] {
                let program = parsed(&with(wanted));
                let slow = searched(&program, &machine).conclusion();
                let options = Options {
                    properties: vec![Property::Assert, Property::Race],
                    unroll: Some(2),
                    ..Options::default()
                };
                let fast = verify(&program, &model(name), &options).expect("a verdict").verdict;
                let reason = fast.reason.as_ref().map_or("", |reason| reason.message.as_str());
                assert_eq!(
                    fast.conclusion(),
                    slow,
                    "seed {seed}, {name}, {reason}:\n{}",
                    with(wanted)
                );
                compared[usize::from(slow == Conclusion::Safe)] += 1;
            }
        }
    }
    assert!(compared.iter().all(|count| *count > 80), "{compared:?}");
}
