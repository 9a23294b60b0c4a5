//! A model of the formula, read back as what an engine claims.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::Bits;
use parallax_solver::Literal;
use parallax_verdict::{Claim, Source, Step, StepId, ThreadClaim, ThreadEnding};

use crate::encoding::Encoding;
use crate::event::{self, Kind};

/// The execution of the solver's last model, and which step each event is.
pub struct Claimed {
    pub claim: Claim,
    pub steps: BTreeMap<usize, StepId>,
}

/// None where something that happens has no reason, which would be an error of the encoding.
pub fn claim(
    encoding: &Encoding,
    threads: usize,
    ending: impl Fn(usize) -> ThreadEnding,
) -> Option<Claimed> {
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); threads];
    let mut undefined = vec![Vec::new(); threads];
    let mut steps = BTreeMap::new();
    for (number, event) in encoding.structure.events.iter().enumerate() {
        let is_step = !matches!(event.step, event::Step::Gone | event::Step::Enter)
            && happens(encoding, number);
        let Some(thread) = event.thread.filter(|_| is_step) else {
            continue;
        };
        if let (event::Step::Undefined, Some(term)) = (event.step, event.kind.value()) {
            undefined[thread as usize].push(encoding.circuit.value(term));
            continue;
        }
        if let Some(own) = own.get_mut(thread as usize) {
            steps.insert(number, StepId { thread, index: own.len() as u32 });
            own.push(number);
        }
    }
    let (schedule, early) = schedule(encoding, &own)?;
    let step = |number: &usize| step(encoding, &steps, *number, early.contains(number));
    let unwritten = unwritten(encoding);
    let mut claim = Claim { undefined, unwritten, ..Claim::default() };
    for (thread, events) in own.iter().enumerate() {
        let steps: Option<Vec<Step>> = events.iter().map(step).collect();
        let ended =
            events.iter().any(|event| encoding.structure.events[*event].step == event::Step::End);
        let ending = if ended { ThreadEnding::Ended } else { ending(thread) };
        claim.threads.push(ThreadClaim { steps: steps?, ending });
    }
    claim.co = orders(encoding, &steps);
    claim.schedule = schedule;
    Some(Claimed { claim, steps })
}

/// What memory holds at first that nobody has written.
fn unwritten(encoding: &Encoding) -> Vec<(u64, Bits)> {
    let initials = &encoding.structure.events[encoding.structure.initials..];
    let open = initials.iter().filter_map(|event| {
        let value = event.kind.value()?;
        let is_open = encoding.circuit.terms.as_constant(value).is_none();
        let address = encoding.circuit.value(event.address).unsigned() as u64;
        is_open.then(|| (address, encoding.circuit.value(value)))
    });
    open.collect()
}

pub fn happens(encoding: &Encoding, event: usize) -> bool {
    encoding.circuit.holds(encoding.executed[event])
}

/// Where a read gets its value from in the last model. Bytes that are gone hold what was written
/// last before.
fn source(encoding: &Encoding, read: usize) -> Option<usize> {
    let sources = encoding.communication.sources[read].iter();
    let mut taken = sources.filter(|(_, takes)| encoding.circuit.holds(*takes));
    let (write, _) = taken.next()?;
    let Encoding { structure, communication, circuit, .. } = encoding;
    let is_gone = |event: usize| structure.events[event].step == event::Step::Gone;
    if !is_gone(*write) {
        return Some(*write);
    }
    let before = |a: usize, b: usize| {
        communication.order.get(&(a, b)).is_some_and(|literal| circuit.holds(*literal))
    };
    let events = 0..structure.events.len();
    let earlier: Vec<usize> = events
        .filter(|event| before(*event, *write) && happens(encoding, *event) && !is_gone(*event))
        .collect();
    let rank = |event: &usize| earlier.iter().filter(|other| before(**other, *event)).count();
    earlier.iter().copied().max_by_key(rank)
}

fn step(
    encoding: &Encoding,
    steps: &BTreeMap<usize, StepId>,
    number: usize,
    is_early: bool,
) -> Option<Step> {
    let event = &encoding.structure.events[number];
    let taken = || source(encoding, number);
    Some(match event.step {
        event::Step::Access { whole } => {
            let bytes = (event.bytes != whole).then_some(event.bytes as u8);
            match event.kind {
                Kind::Write { .. } => Step::Write { bytes },
                _ => {
                    let source = taken()?;
                    let source = match encoding.structure.is_initial(source) {
                        true => Source::Initial,
                        false if is_early => {
                            let value = encoding.circuit.value(event.kind.value()?);
                            Source::Later { step: *steps.get(&source)?, value }
                        }
                        false => Source::Step(*steps.get(&source)?),
                    };
                    Step::Read { source, bytes }
                }
            }
        }
        event::Step::Fence => Step::Fence,
        event::Step::Undefined => return None,
        event::Step::Choice => Step::Choice { value: encoding.circuit.value(event.kind.value()?) },
        event::Step::Spawn { child } => Step::Spawn { child },
        event::Step::Begin => Step::Begin { by: *steps.get(&taken()?)? },
        event::Step::End => Step::End,
        event::Step::Join => Step::Join { of: *steps.get(&taken()?)? },
        event::Step::Alloc { address } => Step::Alloc { address },
        event::Step::Free => Step::Free,
        event::Step::AtomicBegin => Step::AtomicBegin,
        event::Step::AtomicEnd => Step::AtomicEnd,
        event::Step::Gone | event::Step::Enter => return None,
    })
}

/// The writes of each place, in order.
fn orders(encoding: &Encoding, steps: &BTreeMap<usize, StepId>) -> Vec<Vec<StepId>> {
    let mut places: BTreeMap<(u64, u32), Vec<usize>> = BTreeMap::new();
    for number in steps.keys() {
        let event = &encoding.structure.events[*number];
        let is_lock = matches!(event.step, event::Step::AtomicBegin | event::Step::AtomicEnd);
        if event.kind.is_write() && !is_lock {
            let address = encoding.circuit.value(event.address).unsigned() as u64;
            places.entry((address, event.bytes)).or_default().push(*number);
        }
    }
    let order = &encoding.communication.order;
    let before = |a: usize, b: usize| {
        order.get(&(a, b)).is_some_and(|literal: &Literal| encoding.circuit.holds(*literal))
    };
    let sorted = places.into_values().map(|writes| {
        let mut ranked: Vec<(usize, usize)> = writes
            .iter()
            .map(|write| (writes.iter().filter(|other| before(**other, *write)).count(), *write))
            .collect();
        ranked.sort_unstable();
        ranked.into_iter().filter_map(|(_, write)| steps.get(&write).copied()).collect()
    });
    sorted.collect()
}

/// An order of all steps, and the reads that come in it before what they read. Those are few:
/// only where threads read what one another write later on there is no other way. Atomic sections
/// are in one piece where they can be.
fn schedule(encoding: &Encoding, own: &[Vec<usize>]) -> Option<(Vec<u32>, BTreeSet<usize>)> {
    let mut next = vec![0; own.len()];
    let mut done = vec![false; encoding.structure.events.len()];
    let (mut schedule, mut early) = (Vec::new(), BTreeSet::new());
    let total: usize = own.iter().map(Vec::len).sum();
    while schedule.len() < total {
        let event = |thread: usize| own[thread].get(next[thread]).copied();
        let structure = &encoding.structure;
        let needs = |event: usize| {
            let is_read = structure.events[event].kind.is_read();
            let source = if is_read { source(encoding, event) } else { None };
            source.filter(|write| !structure.is_initial(*write) && !done[*write])
        };
        let section = |event: usize| structure.events[event].section;
        let waits = |thread: usize, now: usize| {
            let rest = own[thread][next[thread]..].iter().copied();
            match structure.events[now].step {
                event::Step::AtomicBegin => rest
                    .take_while(|event| section(*event) == section(now))
                    .any(|event| needs(event).is_some_and(|write| section(write) != section(now))),
                _ => needs(now).is_some(),
            }
        };
        let is_ready = |thread: &usize| event(*thread).is_some_and(|now| !waits(*thread, now));
        let inside = |thread: &usize| {
            let started = next[*thread].checked_sub(1).map(|last| own[*thread][last]);
            let here = event(*thread).and_then(section);
            here.is_some() && started.and_then(section) == here
        };
        let staying = (0..own.len()).find(|thread| inside(thread) && is_ready(thread));
        let ready = staying.or_else(|| (0..own.len()).find(is_ready));
        let thread = match ready {
            Some(thread) => thread,
            None => (0..own.len()).find(|thread| {
                let step = event(*thread).map(|event| encoding.structure.events[event].step);
                matches!(step, Some(event::Step::Access { .. }))
            })?,
        };
        let now = event(thread)?;
        if ready.is_none() {
            early.insert(now);
        }
        done[now] = true;
        next[thread] += 1;
        schedule.push(thread as u32);
    }
    Some((schedule, early))
}
