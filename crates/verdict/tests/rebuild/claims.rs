//! Claims written down by hand.

use std::sync::Arc;

use parallax_memory::Model;
use parallax_program::{Bits, Program, parse_program};
use parallax_verdict::{
    Claim, Confirmed, Execution, Source, Step, StepId, ThreadClaim, ThreadEnding, rebuild,
};

pub fn model(name: &str) -> Arc<Model> {
    Model::builtin(name).expect("a built-in model").expect("a model without mistakes")
}

/// A program from its lines after the first.
pub fn program(text: &str) -> Program {
    let text = format!("program p pointers 64\n{text}");
    parse_program("test.program", &text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A claim. Each thread is its steps and how it ends:
/// `begin:0.2 R=init R4=1.0 W W4 F spawn:1 join:1.3 alloc:0x9000 free choice:1/8 ( ) end | ended`.
/// Each order is steps: `0.1 1.0`. The schedule is thread numbers; without one, the threads come
/// one after the other.
pub fn claim(threads: &[&str], orders: &[&str], schedule: &str) -> Claim {
    let threads: Vec<ThreadClaim> = threads.iter().map(|text| thread(text)).collect();
    let mut steps: Vec<u32> = schedule.split_whitespace().map(number).collect();
    if steps.is_empty() {
        let of = |(number, thread): (u32, &ThreadClaim)| vec![number; thread.steps.len()];
        steps = (0u32..).zip(&threads).flat_map(of).collect();
    }
    let order = |text: &&str| text.split_whitespace().map(step_id).collect();
    Claim { co: orders.iter().map(order).collect(), threads, schedule: steps, ..Claim::default() }
}

fn thread(text: &str) -> ThreadClaim {
    let (steps, ending) = text.split_once('|').expect("steps | ending");
    let ending = match ending.trim().split_once(':') {
        Some((_, from)) => ThreadEnding::Spinning { from: number(from) },
        None => match ending.trim() {
            "ended" => ThreadEnding::Ended,
            "waiting" => ThreadEnding::Waiting,
            "stopped" => ThreadEnding::Stopped,
            "failed" => ThreadEnding::Failed,
            other => panic!("no ending: {other}"),
        },
    };
    ThreadClaim { steps: steps.split_whitespace().map(step).collect(), ending }
}

fn step(word: &str) -> Step {
    let (name, argument) = word.split_once([':', '=']).unwrap_or((word, ""));
    let bytes = name.get(1..).and_then(|bytes| bytes.parse().ok());
    match (name.get(..1), name) {
        (_, "begin") => Step::Begin { by: step_id(argument) },
        (_, "spawn") => Step::Spawn { child: number(argument) },
        (_, "join") => Step::Join { of: step_id(argument) },
        (_, "alloc") => Step::Alloc { address: address(argument) },
        (_, "free") => Step::Free,
        (_, "choice") => {
            let (value, width) = argument.split_once('/').expect("value/width");
            Step::Choice { value: Bits::new(number(width), u128::from(number(value))) }
        }
        (_, "(") => Step::AtomicBegin,
        (_, ")") => Step::AtomicEnd,
        (_, "end") => Step::End,
        (_, "F") => Step::Fence,
        (Some("W"), _) => Step::Write { bytes },
        (Some("R"), _) => {
            let source = match argument {
                "init" => Source::Initial,
                step => Source::Step(step_id(step)),
            };
            Step::Read { source, bytes }
        }
        _ => panic!("no step: {word}"),
    }
}

fn step_id(text: &str) -> StepId {
    let (thread, index) = text.split_once('.').expect("thread.step");
    StepId { thread: number(thread), index: number(index) }
}

fn number(text: &str) -> u32 {
    text.parse().expect("a number")
}

fn address(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("an address")
}

/// Rebuilds a claim under a model.
pub fn check(program: &Program, claim: &Claim, name: &str) -> Result<Execution, String> {
    rebuild(program, claim, &model(name)).map(Confirmed::into_inner)
}

/// The message with which a claim is refused.
pub fn refusal(program: &Program, threads: &[&str], orders: &[&str], schedule: &str) -> String {
    match check(program, &claim(threads, orders, schedule), "sc") {
        Ok(_) => "accepted".to_string(),
        Err(message) => message,
    }
}
