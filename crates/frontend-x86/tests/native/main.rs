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
mod sequences;
mod state;
mod table;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::LazyLock;

use iced_x86::{Code, Decoder, DecoderOptions, Instruction};

use instances::Instance;
use judge::Findings;
use model::Lifted;
use processor::Processor;
use random::Random;

/// Each lifted instruction is run on so many states.
const STATES: usize = 3;
/// The processor gets so many cases at a time.
const BATCH: usize = 20_000;

fn cases_of_a_form() -> usize {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(36)
}

/// The instruction that bytes are, at the address where the harness puts them.
fn decode(bytes: &[u8]) -> Instruction {
    Decoder::with_ip(64, bytes, state::CODE, DecoderOptions::NONE).decode()
}

/// All forms of which some instance is lifted.
static ACCEPTED: LazyLock<BTreeSet<Code>> = LazyLock::new(|| {
    let mut random = Random::new(1);
    let mut lifts = |code: &Code| {
        let instances = (0..40).filter_map(|_| Instance::random(*code, &mut random));
        let mut lifted = instances.filter_map(|instance| Lifted::of(&instance));
        lifted.any(|lifted| lifted.instruction.code() == *code)
    };
    Code::values().filter(|code| instances::is_form(*code)).filter(&mut lifts).collect()
});

#[test]
fn lifted_instructions_do_what_the_processor_does() {
    let Some(processor) = Processor::build() else {
        return;
    };
    let mut random = Random::new(0x5eed_0000_0001);
    let (mut batch, mut findings) = (Vec::new(), Findings::default());
    let comparable = |code: &&Code| !judge::is_never_run(**code);
    let (forms, missing): (Vec<Code>, Vec<Code>) =
        ACCEPTED.iter().filter(comparable).partition(|code| processor::has(**code));
    for code in &forms {
        let mut run = 0;
        while run < cases_of_a_form() {
            let Some(instance) = Instance::random(*code, &mut random) else {
                continue;
            };
            let Some(lifted) = Lifted::of(&instance).map(Rc::new) else {
                continue;
            };
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
    report(&forms, &missing, &findings);
}

/// Fails where a form differs, or was never compared although it could have been.
fn report(forms: &[Code], missing: &[Code], findings: &Findings) {
    if !missing.is_empty() {
        eprintln!("not compared, for want of a processor that has them: {missing:?}");
    }
    for (code, (count, message)) in &findings.wrong {
        eprintln!("{code:?}: {count} times\n{message}");
    }
    let cases = findings.covered.values().sum::<usize>();
    eprintln!("{} forms compared in {cases} cases", forms.len());
    assert!(findings.wrong.is_empty(), "{} forms differ from the processor", findings.wrong.len());
    let never: Vec<_> = forms.iter().filter(|code| !findings.covered.contains_key(code)).collect();
    assert!(never.is_empty(), "never compared: {never:?}");
}

/// Whatever decodes is refused, or lifted to code that is well formed and of a form that is
/// compared with the processor.
#[test]
fn any_bytes_are_refused_or_of_a_form_that_is_compared() {
    let mut random = Random::new(2);
    for _ in 0..60_000 {
        let bytes = plausible_bytes(&mut random);
        let instruction = decode(&bytes);
        let length = instruction.len();
        let Some(lifted) = bytes.get(..length).map(<[u8]>::to_vec) else {
            continue;
        };
        if Lifted::of(&Instance { bytes: lifted }).is_some() {
            let code = instruction.code();
            assert!(ACCEPTED.contains(&code), "{code:?} is lifted but never compared");
        }
    }
}

/// Prefixes, an opcode of one of the maps, and operands.
fn plausible_bytes(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    while random.chance(3) {
        bytes.push(random.pick(&[0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x64, 0x65]));
    }
    if random.chance(2) {
        bytes.push(0x40 | random.word() as u8 & 15);
    }
    match random.below(8) {
        0..3 => {}
        3..6 => bytes.push(0x0f),
        6 => bytes.extend([0x0f, random.pick(&[0x38, 0x3a])]),
        _ => bytes.extend([0xc4, 0xe0 | random.below(4) as u8, random.word() as u8]),
    }
    bytes.extend((0..14).map(|_| random.number() as u8));
    bytes
}
