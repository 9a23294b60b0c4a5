//! Claims made by running random programs, one step of one thread at a time on one memory: all
//! models allow those. Claims that are changed at one place are judged without a panic, and never
//! take a read from a write of another value for granted.

use std::collections::BTreeMap;

use crate::claims::{check, program};
use parallax_machine::{Code, Concrete, Limits, Operation, Thread, modify};
use parallax_program::{Bits, Program};
use parallax_verdict::{Claim, EventKind, Source, Step, StepId, ThreadClaim, ThreadEnding};
use proptest::prelude::*;

const MODELS: [&str; 5] = ["sc", "tso", "pso", "rc11", "imm"];

/// One line of a thread.
fn line() -> impl Strategy<Value = String> {
    let place = prop::sample::select(vec!["&x", "&y", "&x + zext(r & 4:32, 64)"]);
    let order = prop::sample::select(vec!["A, RLX", "A, SC", "NA"]);
    (0..6u8, place, order, 0..3u8).prop_map(|(kind, place, order, value)| match kind {
        0 => format!("r = load.4 {place} [{order}]"),
        1 => format!("store.4 {place}, r + {value}:32 [{order}]"),
        2 => format!("r = rmw.add.4 {place}, {value}:32 [A, ACQ_REL]"),
        3 => format!("r, b = cas.4 {place}, {value}:32, 4:32 [A, SC] [A, SC] [A, RLX]"),
        4 => "fence [SC]".to_string(),
        _ => format!("r = choose {}:32", value + 1),
    })
}

/// `main` spawns the others and joins them.
fn programs() -> impl Strategy<Value = Program> {
    let threads = prop::collection::vec(prop::collection::vec(line(), 0..5), 1..4);
    threads.prop_map(|threads| {
        let mut text = "global x: 8\nglobal y: 8 = { 0: 1:32 }\n".to_string();
        let mut main = "fn main() {\n  var t: 32\n".to_string();
        for (number, lines) in threads.iter().enumerate() {
            let lines = lines.join("\n  ");
            text += &format!("fn f{number}(r: 32) {{\n  var b: 1\n  {lines}\n}}\n");
            main += &format!("  t = spawn f{number}({number}:32)\n");
        }
        program(&format!("{text}{main}  join t\n  t = load.4 &x [NA]\n}}\nthread main = main()\n"))
    })
}

/// A thread, the steps it has taken, and whether it has ended.
struct Runner {
    thread: Thread<Bits>,
    steps: Vec<Step>,
    has_ended: bool,
}

/// Runs a program on one memory; `choices` picks the threads.
fn interleave(program: &Program, choices: &[u16]) -> Claim {
    let code = Code::new(program);
    let start = &program.threads[0];
    let main = Thread::start(&code, start.function, Vec::new(), &mut Concrete);
    let mut runners = vec![Runner { thread: main, steps: Vec::new(), has_ended: false }];
    let mut memory: BTreeMap<u64, (Source, Bits)> = BTreeMap::new();
    memory.insert(code.addresses()[1], (Source::Initial, Bits::new(32, 1)));
    let mut orders: BTreeMap<u64, Vec<StepId>> = BTreeMap::new();
    let mut schedule = Vec::new();
    // Each time around another thread has its turn.
    let mut choices = (0..).flat_map(|round| choices.iter().map(move |choice| (round, choice)));
    while let Some((round, choice)) = choices.next()
        && runners.iter().any(|runner| !runner.has_ended)
    {
        let number = (round + usize::from(*choice)) % runners.len();
        let count = runners.len() as u32;
        let ends: Vec<Option<u32>> = runners
            .iter()
            .map(|runner| runner.has_ended.then(|| runner.steps.len() as u32 - 1))
            .collect();
        let runner = &mut runners[number];
        if runner.has_ended {
            continue;
        }
        let before = runner.steps.len();
        let here = |steps: &[Step]| StepId { thread: number as u32, index: steps.len() as u32 };
        let mut spawned = None;
        let held = |memory: &BTreeMap<u64, (Source, Bits)>, address: Bits| {
            let at = address.unsigned() as u64;
            let found = memory.get(&at).copied();
            (at, found.unwrap_or((Source::Initial, Bits::zero(32))))
        };
        match runner.thread.run(&code, &Limits::default(), &mut Concrete) {
            Operation::Load { address, .. } => {
                let (_, (source, value)) = held(&memory, address);
                runner.steps.push(Step::read(source));
                runner.thread.result(&code, value);
            }
            Operation::Store { address, value, .. } => {
                let (at, id) = (address.unsigned() as u64, here(&runner.steps));
                memory.insert(at, (Source::Step(id), value));
                orders.entry(at).or_default().push(id);
                runner.steps.push(Step::write());
                runner.thread.done();
            }
            Operation::Rmw { address, op, operand, .. } => {
                let (at, (source, old)) = held(&memory, address);
                runner.steps.push(Step::read(source));
                let id = here(&runner.steps);
                let new = modify(op, &old, &operand, &mut Concrete);
                memory.insert(at, (Source::Step(id), new));
                orders.entry(at).or_default().push(id);
                runner.steps.push(Step::write());
                runner.thread.result(&code, old);
            }
            Operation::Cas { address, expected, desired, .. } => {
                let (at, (source, old)) = held(&memory, address);
                runner.steps.push(Step::read(source));
                if old == expected {
                    let id = here(&runner.steps);
                    memory.insert(at, (Source::Step(id), desired));
                    orders.entry(at).or_default().push(id);
                    runner.steps.push(Step::write());
                }
                runner.thread.results(&code, old, Some(Bits::bool(old == expected)));
            }
            Operation::Fence { .. } => {
                runner.steps.push(Step::Fence);
                runner.thread.done();
            }
            Operation::Choose { below } => {
                let value = Bits::new(32, u128::from(*choice) / 7 % below.unsigned());
                runner.steps.push(Step::Choice { value });
                runner.thread.result(&code, value);
            }
            Operation::Spawn { function, args } => {
                let thread = Thread::start(&code, function, args, &mut Concrete);
                spawned = Some((thread, Step::Begin { by: here(&runner.steps) }));
                runner.steps.push(Step::Spawn { child: count });
                runner.thread.result(&code, Bits::new(32, u128::from(count)));
            }
            Operation::Join { thread } => {
                let thread = thread.unsigned() as u32;
                if let Some(index) = ends[thread as usize] {
                    runner.steps.push(Step::Join { of: StepId { thread, index } });
                    runner.thread.done();
                }
            }
            Operation::End => {
                runner.steps.push(Step::End);
                runner.has_ended = true;
            }
            other => panic!("{other:?}"),
        }
        let taken = runner.steps.len() - before;
        schedule.extend(std::iter::repeat_n(number as u32, taken));
        if let Some((thread, begin)) = spawned {
            runners.push(Runner { thread, steps: vec![begin], has_ended: false });
            schedule.push(count);
        }
    }
    let ending = ThreadEnding::Ended;
    let threads = runners.into_iter().map(|runner| ThreadClaim { steps: runner.steps, ending });
    Claim {
        threads: threads.collect(),
        co: orders.into_values().collect(),
        schedule,
        ..Claim::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn interleavings_are_allowed_by_every_model(
        program in programs(),
        choices in prop::collection::vec(any::<u16>(), 40),
    ) {
        let claim = interleave(&program, &choices);
        for model in MODELS {
            let execution = check(&program, &claim, model);
            prop_assert!(execution.is_ok(), "{model}: {execution:?}\n{program:?}\n{claim:?}");
        }
    }

    #[test]
    fn other_sources_are_judged(
        program in programs(),
        choices in prop::collection::vec(any::<u16>(), 40),
        (read, thread, index) in (any::<u16>(), 0..4u32, 0..6u32),
    ) {
        let mut claim = interleave(&program, &choices);
        let steps = claim.threads.iter_mut().flat_map(|thread| &mut thread.steps);
        let mut reads: Vec<&mut Step> =
            steps.filter(|step| matches!(step, Step::Read { .. })).collect();
        if !reads.is_empty() {
            let at = usize::from(read) % reads.len();
            *reads[at] = Step::read(Source::Step(StepId { thread, index }));
        }
        for model in MODELS {
            let Ok(execution) = check(&program, &claim, model) else { continue };
            for (write, read) in &execution.rf {
                let kind = |event: &u32| &execution.events[*event as usize].kind;
                if let (EventKind::Write { address, value, .. }, EventKind::Read { address: at, value: seen, .. }) =
                    (kind(write), kind(read))
                {
                    prop_assert_eq!((address, value), (at, seen));
                } else {
                    prop_assert!(false, "rf relates no write and read");
                }
            }
        }
    }

    #[test]
    fn other_steps_are_judged(
        program in programs(),
        choices in prop::collection::vec(any::<u16>(), 40),
        (at, step) in (any::<u16>(), 0..6u8),
    ) {
        let mut claim = interleave(&program, &choices);
        let mut steps: Vec<&mut Step> =
            claim.threads.iter_mut().flat_map(|thread| &mut thread.steps).collect();
        let at = usize::from(at) % steps.len();
        let (before, after) = (*steps[at], match step {
            0 => Step::read(Source::Initial),
            1 => Step::write(),
            2 => Step::Fence,
            3 => Step::End,
            4 => Step::Spawn { child: u32::from(step) },
            _ => Step::Choice { value: Bits::new(32, 0) },
        });
        *steps[at] = after;
        let accepted = check(&program, &claim, "sc").is_ok();
        let kind = std::mem::discriminant(&before) == std::mem::discriminant(&after);
        prop_assert!(!accepted || kind, "{before:?} is taken for {after:?}");
    }

    #[test]
    fn schedules_are_orders_of_reading_from(
        program in programs(),
        choices in prop::collection::vec(any::<u16>(), 40),
        (a, b) in (any::<u16>(), any::<u16>()),
    ) {
        let mut claim = interleave(&program, &choices);
        let length = claim.schedule.len();
        claim.schedule.swap(usize::from(a) % length, usize::from(b) % length);
        if let Ok(execution) = check(&program, &claim, "sc") {
            let position = |event: u32| execution.schedule.iter().position(|e| *e == event);
            for (earlier, later) in execution.rf.iter().chain(&execution.po) {
                prop_assert!(position(*earlier) < position(*later));
            }
        }
    }
}
