//! What is dead in a sequence of instructions can go: the lifted code does the same without it.

use std::collections::BTreeSet;

use iced_x86::Code;
use parallax_frontend_x86::lift::{Sequence, lift, registers, remove_dead};
use parallax_program::{Expr, Program, Terminator, VarId};

use crate::instances::Instance;
use crate::judge::{STATUS, compare};
use crate::model::{self, Outcome};
use crate::random::Random;
use crate::{ACCEPTED, cases, decode};

fn number_of_sequences() -> usize {
    std::env::var("PARALLAX_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40) * 20
}

#[test]
fn code_does_the_same_without_what_is_dead() {
    let mut random = Random::new(3);
    let forms: Vec<Code> = ACCEPTED.iter().copied().collect();
    let mut finished = BTreeSet::new();
    for number in 0..number_of_sequences() {
        let instances = instances(&forms, &mut random);
        let Some(first) = instances.first() else {
            continue;
        };
        let mut state = cases::state_for(first, &mut random);
        state.general[4] = crate::instances::target(&mut random);
        let (whole, clean) = build(&instances, &mut random);
        match (model::run(&whole, VarId(0), &state), model::run(&clean, VarId(0), &state)) {
            (Outcome::Done { state: ours, .. }, Outcome::Done { state: theirs, .. }) => {
                let result = compare(&state, &theirs, &ours, STATUS);
                assert_eq!(result, Ok(()), "{}\n{}", whole.to_text(), clean.to_text());
                finished.insert(number);
            }
            (Outcome::Fault(ours), Outcome::Fault(theirs)) if ours == theirs => {}
            _ => panic!("a fault came or went:\n{}\n{}", whole.to_text(), clean.to_text()),
        }
    }
    assert!(finished.len() * 3 > number_of_sequences(), "most sequences fault");
}

/// Some instructions, most of them on registers.
fn instances(forms: &[Code], random: &mut Random) -> Vec<Instance> {
    let mut instances = Vec::new();
    while instances.len() < 12 {
        let Some(instance) = Instance::random(random.pick(forms), random) else {
            continue;
        };
        let instruction = decode(&instance.bytes);
        let uses_memory = instruction.memory_size() != iced_x86::MemorySize::Unknown;
        let is_plain = instruction.flow_control() == iced_x86::FlowControl::Next;
        let changes_stack = instruction.is_stack_instruction();
        if is_plain && !changes_stack && (!uses_memory || random.chance(20)) {
            instances.push(instance);
        }
    }
    instances
}

/// The instructions one after the other, some skipped depending on a flag; and the same without
/// what is dead. The flags are written first, so that none come from elsewhere.
fn build(instances: &[Instance], random: &mut Random) -> (Program, Program) {
    let mut out = Sequence::new("sequence");
    for flag in registers::STATUS {
        out.builder().assign(flag, Expr::constant(1, random.below(2).into()));
    }
    for instance in instances {
        let skipped = random.chance(4).then(|| out.builder().new_block("skipped"));
        if let Some(skipped) = skipped {
            out.builder().branch(Expr::Var(random.pick(&registers::STATUS)), skipped);
        }
        // Traps and refusals do nothing here.
        let _ = lift(&decode(&instance.bytes), &mut out);
        if let Some(skipped) = skipped {
            out.builder().enter(skipped);
        }
    }
    out.builder().terminate(Terminator::Return(None));
    let function = out.finish();
    let mut clean = function.clone();
    remove_dead(&mut clean);
    (model::runnable(function), model::runnable(clean))
}
