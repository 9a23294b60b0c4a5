//! An execution once more, in a program with fences that might be there.
//!
//! Whoever looks for the best places for fences marks all of them in a program (see
//! [`Tags::candidate`](parallax_program::Tags::candidate)). Engines explore the program without
//! the marks; here the threads walk through what was found once more, with the marks, so that it
//! becomes known between which events of an execution each fence would be.

use std::collections::BTreeMap;

use parallax_memory::Model;
use parallax_program::Program;

use crate::derived::Derived;
use crate::{Claim, EventKind, Execution, Life, Source, Step, StepId, ThreadClaim, ThreadEnding};

/// An execution, with the places of fences that might be there.
#[derive(Clone, Default)]
pub struct Retraced {
    /// Its events carry the marks of the program's accesses.
    pub execution: Execution,
    pub(crate) derived: Derived,
    /// Pairs of an event and the number of a fence before it, in program order for each thread.
    pub(crate) passed: Vec<(u32, u32)>,
    /// Pairs of a thread and the number of a fence after its last event.
    pub(crate) last: Vec<(u32, u32)>,
}

/// Walks through an execution of a program in the same program with marks. The error says why it
/// is no execution of that.
pub fn retrace(marked: &Program, execution: &Execution, model: &Model) -> Result<Retraced, String> {
    match execution.schedule.is_empty() {
        true => crate::replay::retrace(marked, execution),
        false => crate::rebuild::retrace(marked, &Claim::of(execution)?, model),
    }
}

impl Claim {
    /// What determines an execution of a whole program.
    pub fn of(execution: &Execution) -> Result<Claim, String> {
        let mut steps: BTreeMap<u32, StepId> = BTreeMap::new();
        let mut lengths = vec![0u32; execution.threads.len()];
        for (number, event) in (0u32..).zip(&execution.events) {
            let Some(thread) = event.thread else { continue };
            let length = lengths.get_mut(thread as usize).ok_or("an event of no thread")?;
            steps.insert(number, StepId { thread, index: *length });
            *length += 1;
        }
        let sources: BTreeMap<u32, u32> =
            execution.rf.iter().map(|(write, read)| (*read, *write)).collect();
        let when: BTreeMap<u32, usize> =
            execution.schedule.iter().enumerate().map(|(at, event)| (*event, at)).collect();
        let mut claim = Claim::default();
        for number in 0..execution.threads.len() {
            let standing = execution.standings.get(number);
            let ending = standing.map_or(ThreadEnding::Stopped, |standing| standing.ending);
            claim.threads.push(ThreadClaim { steps: Vec::new(), ending });
        }
        for (number, id) in &steps {
            let source = sources.get(number).and_then(|write| steps.get(write)).copied();
            let is_later =
                sources.get(number).is_some_and(|write| when.get(write) > when.get(number));
            let step = step(&execution.events[*number as usize].kind, source, is_later)?;
            claim.threads[id.thread as usize].steps.push(step);
        }
        let thread = |event: &u32| steps.get(event).map(|step| step.thread);
        claim.schedule = execution.schedule.iter().filter_map(thread).collect();
        claim.co = orders(execution, &steps);
        claim.undefined.clone_from(&execution.undefined);
        claim.unwritten.clone_from(&execution.unwritten);
        Ok(claim)
    }
}

/// `is_later` says that the source comes only after the read.
fn step(kind: &EventKind, source: Option<StepId>, is_later: bool) -> Result<Step, String> {
    let of_thread = || source.ok_or("a thread begins or ends without a reason");
    Ok(match (kind.life(), kind) {
        (Some(Life::Start(child)), _) => Step::Spawn { child },
        (Some(Life::Begin(_)), _) => Step::Begin { by: of_thread()? },
        (Some(Life::End(_)), _) => Step::End,
        (Some(Life::Join(_)), _) => Step::Join { of: of_thread()? },
        (None, EventKind::Read { size, value, .. }) => {
            let source = match source {
                Some(step) if is_later => Source::Later { step, value: *value },
                Some(step) => Source::Step(step),
                None => Source::Initial,
            };
            Step::Read { source, bytes: Some(bytes(*size)?) }
        }
        (None, EventKind::Write { size, .. }) => Step::Write { bytes: Some(bytes(*size)?) },
        (None, EventKind::Fence) => Step::Fence,
        (None, EventKind::Alloc { address, .. }) => Step::Alloc { address: *address },
        (None, EventKind::Free { .. }) => Step::Free,
        (None, EventKind::Choice { value }) => Step::Choice { value: *value },
        (None, EventKind::AtomicBegin) => Step::AtomicBegin,
        (None, EventKind::AtomicEnd) => Step::AtomicEnd,
    })
}

fn bytes(size: u32) -> Result<u8, String> {
    u8::try_from(size).map_err(|_| format!("an access of {size} bytes"))
}

/// The writes of each location, initial ones aside, by how many come before them.
fn orders(execution: &Execution, steps: &BTreeMap<u32, StepId>) -> Vec<Vec<StepId>> {
    let mut before: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, later) in &execution.co {
        *before.entry(*later).or_default() += 1;
    }
    let mut writes: BTreeMap<(u64, u32), Vec<(usize, StepId)>> = BTreeMap::new();
    for (number, id) in steps {
        let kind = &execution.events[*number as usize].kind;
        let location = kind.footprint().filter(|_| kind.life().is_none());
        if let (EventKind::Write { .. }, Some(location)) = (kind, location) {
            let rank = before.get(number).copied().unwrap_or(0);
            writes.entry(location).or_default().push((rank, *id));
        }
    }
    let sorted = writes.into_values().map(|mut order| {
        order.sort_unstable();
        order.into_iter().map(|(_, step)| step).collect()
    });
    sorted.collect()
}
