//! From the way to a state to a claim, which the replayer can check without trusting the engine.
//!
//! The steps are taken once more, and noted down; a [`Story`] makes a claim of that.

use parallax_machine::system::{
    Action, At, Log, MemoryKind, Readiness, Record, Setup, System, Waits, What,
};
use parallax_verdict::{Claim, Step, StepId, Story, ThreadClaim, ThreadEnding};

/// The claim that the actions happened; `failed` is the thread that stands at a violation. The
/// steps that the violation is about: the one that made the object at `allocated`, the one that
/// freed what the thread uses, a store that comes too late and what it comes after, or else the reads that threads look at again for ever.
pub fn claim(
    setup: &Setup<'_>,
    path: &[Action],
    failed: Option<u32>,
    allocated: Option<u64>,
) -> (Claim, Vec<StepId>) {
    let mut log = Log::on();
    let mut system = System::start(setup, &mut log);
    for action in path {
        system.apply(*action, &mut log);
    }
    let count = system.thread_count();
    let endings: Vec<ThreadEnding> =
        (0..count).map(|thread| ending(&mut system, thread, failed, &mut log)).collect();
    let mut story = Story::new(log.records(), count as usize);
    for record in log.records() {
        story.add(record);
    }
    let too_late = story.too_late(|address| system.freed_object(address));
    story.flush_all();
    let made = allocated.and_then(|object| story.made(object));
    let freed = failed.and_then(|thread| freed_before(&system, thread));
    let freed = freed.and_then(|object| story.freed(object));
    let claim = story.into_claim(endings);
    let involved = match allocated {
        Some(_) => made.into_iter().collect(),
        None if failed.is_none() && too_late.is_some() => too_late.into_iter().flatten().collect(),
        None if failed.is_none() => looks(&claim),
        None => freed.into_iter().collect(),
    };
    (claim, involved)
}

/// The object, freed by now, that a thread is about to use or to free.
fn freed_before(system: &System<'_, '_>, thread: u32) -> Option<u64> {
    let at = &system.thread(thread)?.at;
    let address = match at {
        At::Free { address, .. } => *address,
        at => at.access()?.0,
    };
    system.freed_object(address)
}

/// The last reads of threads that wait for something else than the end of another.
fn looks(claim: &Claim) -> Vec<StepId> {
    let look = |(number, thread): (usize, &ThreadClaim)| {
        let index = thread.steps.iter().rposition(|step| matches!(step, Step::Read { .. }))?;
        let waits = match thread.ending {
            ThreadEnding::Waiting => index + 1 == thread.steps.len(),
            ThreadEnding::Spinning { .. } => true,
            _ => false,
        };
        waits.then_some(StepId { thread: number as u32, index: index as u32 })
    };
    claim.threads.iter().enumerate().filter_map(look).collect()
}

/// How often a loop is gone round to find that it is one.
const MOST_ROUNDS: usize = 4096;

/// Where a thread is in the end. What it looks at again and again it is made to look at.
fn ending(
    system: &mut System<'_, '_>,
    thread: u32,
    failed: Option<u32>,
    log: &mut Log,
) -> ThreadEnding {
    if failed == Some(thread) {
        return ThreadEnding::Failed;
    }
    let at = system.thread(thread).map(|local| &local.at);
    match at {
        None => return ThreadEnding::Stopped,
        Some(At::Ended) => return ThreadEnding::Ended,
        Some(At::Waiting) => return ThreadEnding::Waiting,
        _ if failed.is_some() || is_published(system) => return ThreadEnding::Stopped,
        _ => {}
    }
    match system.readiness(thread) {
        Readiness::Blocked(Waits::Thread(_) | Waits::Section) => ThreadEnding::Waiting,
        Readiness::Blocked(Waits::Bytes { spins: false, .. }) => {
            system.apply(Action::Step { thread, choice: 0 }, log);
            ThreadEnding::Waiting
        }
        Readiness::Blocked(Waits::Bytes { spins: true, .. }) => {
            for _ in 0..3 {
                system.apply(Action::Step { thread, choice: 0 }, log);
            }
            ThreadEnding::Spinning { from: 0 }
        }
        Readiness::Ready { choices: 1 } => go_round(system, thread, log),
        _ => ThreadEnding::Stopped,
    }
}

/// Whether threads issue accesses that are performed later: nobody asks there who waits for ever.
fn is_published(system: &System<'_, '_>) -> bool {
    system.setup().options.memory == MemoryKind::Mca
}

/// A thread that goes round a loop of several steps, and changes nothing.
fn go_round(system: &mut System<'_, '_>, thread: u32, log: &mut Log) -> ThreadEnding {
    let Some(length) = round(system, thread) else {
        return ThreadEnding::Stopped;
    };
    for _ in 0..length * 3 {
        system.apply(Action::Step { thread, choice: 0 }, log);
    }
    ThreadEnding::Spinning { from: 0 }
}

/// After how many steps a thread is back where it is, if it is and none of them changes memory.
fn round(system: &System<'_, '_>, thread: u32) -> Option<usize> {
    let start = system.fingerprint();
    let mut probe = system.clone();
    for length in 1..=MOST_ROUNDS {
        if probe.readiness(thread) != (Readiness::Ready { choices: 1 }) {
            return None;
        }
        let mut log = Log::on();
        let before = probe.clone();
        probe.apply(Action::Step { thread, choice: 0 }, &mut log);
        let changes = |record: &Record| match record.what {
            What::Write { address, bytes, value, .. } => {
                before.bytes(None, address, u32::from(bytes)) != value
            }
            _ => false,
        };
        if log.records().iter().any(changes) {
            return None;
        }
        if probe.fingerprint() == start {
            return Some(length);
        }
    }
    None
}

/// Whether a thread of a state that others cannot lead out of has ended, or waits and changes
/// nothing.
pub fn is_settled(system: &System<'_, '_>, thread: u32) -> bool {
    let at = system.thread(thread).map(|local| &local.at);
    if matches!(at, None | Some(At::Ended | At::Waiting | At::Endless)) {
        return true;
    }
    match system.readiness(thread) {
        // What is on its way out of its buffer may be what it waits for.
        Readiness::Blocked(waits) => {
            system.buffer(thread).is_empty() && !matches!(waits, Waits::Buffer | Waits::Buffers)
        }
        Readiness::Ready { .. } => round(system, thread).is_some(),
        _ => false,
    }
}
