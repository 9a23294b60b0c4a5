//! The lifter against the processor that the test runs on.
//!
//! For every form of instruction that the decoder knows and the lifter accepts, random instances
//! are executed natively, one instruction at a time (`harness.c`), and by the machine of
//! Parallax on the lifted code. Registers, flags (undefined ones excepted), memory, the address of
//! the next instruction and whether there was a fault must be the same.
//!
//! `PARALLAX_CASES` says how many cases each form gets. A form that the processor lacks is
//! skipped, and the test says so. On other processors nothing is compared.

mod cases;
mod instances;
mod judge;
mod model;
mod processor;
mod random;
mod state;

use iced_x86::{Code, Decoder, DecoderOptions, Instruction};

use instances::Instance;
use judge::Findings;
use model::Lifted;
use processor::Processor;
use random::Random;

/// Each lifted instruction is run on so many states.
const STATES: usize = 6;
/// The processor gets so many cases at a time.
const BATCH: usize = 20_000;

fn cases_of_a_form() -> usize {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(36)
}

/// The instruction that bytes are, at the address where the harness puts them.
fn decode(bytes: &[u8]) -> Instruction {
    Decoder::with_ip(64, bytes, state::CODE, DecoderOptions::NONE).decode()
}

#[test]
fn lifted_instructions_do_what_the_processor_does() {
    let Some(processor) = Processor::build() else {
        return;
    };
    let mut random = Random::new(0x5eed_0000_0001);
    let (mut batch, mut findings) = (Vec::new(), Findings::default());
    let mut missing = Vec::new();
    for code in Code::values().filter(|code| instances::is_form(*code)) {
        if !lifts(code, &mut random) || judge::is_never_run(code) {
            continue;
        }
        if !processor::has(code) {
            missing.push(code);
            continue;
        }
        let mut run = 0;
        while run < cases_of_a_form() {
            let Some(instance) = Instance::random(code, &mut random) else {
                continue;
            };
            let Some(lifted) = Lifted::of(&instance) else {
                continue;
            };
            let lifted = std::rc::Rc::new(lifted);
            for _ in 0..STATES {
                let state = cases::state_for(&instance, &mut random);
                batch.push(judge::Case { lifted: lifted.clone(), state });
            }
            run += STATES;
            if batch.len() >= BATCH {
                judge::judge(&processor, &mut batch, &mut findings);
            }
        }
    }
    judge::judge(&processor, &mut batch, &mut findings);
    if !missing.is_empty() {
        eprintln!("not compared, for want of a processor that has them: {missing:?}");
    }
    for (code, (count, message)) in &findings.wrong {
        eprintln!("{code:?}: {count} times\n{message}");
    }
    let (forms, cases) = (findings.covered.len(), findings.covered.values().sum::<usize>());
    eprintln!("{forms} forms compared in {cases} cases");
    assert!(findings.wrong.is_empty(), "{} forms differ from the processor", findings.wrong.len());
    assert!(forms > 500, "only {forms} forms were compared");
}

/// Whether some instance of a form is lifted.
fn lifts(code: Code, random: &mut Random) -> bool {
    let mut instances = (0..40).filter_map(|_| Instance::random(code, random));
    instances.any(|instance| Lifted::of(&instance).is_some())
}
