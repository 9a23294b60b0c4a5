//! Whether an access may come after the end of its object, by models that do not say what happens
//! before what: the end is a write to the bytes of the object, and an access comes after it if it
//! reads from it, or follows it in coherence. This is the definition of the replayer
//! ([`parallax_verdict::is_late`]).
//!
//! The writes are in the formula, and happen where that is asked; other questions are answered
//! without them. They leave what was there, so that an execution is one of the program with them
//! as without.

use std::collections::{BTreeMap, BTreeSet};

use parallax_solver::Literal;

use crate::addresses::Possible;
use crate::encoding::Encoding;
use crate::event::Step;
use crate::unfold::{Ends, Free, Unfolding};

/// Where bytes of an object are gone that other threads access: by offset and size, the places.
fn accessed(
    free: &Free,
    freed: &[u128],
    unfolding: &Unfolding,
    within: &[Possible],
) -> BTreeMap<(u32, u32), BTreeSet<u128>> {
    let mut parts: BTreeMap<(u32, u32), BTreeSet<u128>> = BTreeMap::new();
    let objects = unfolding.objects.iter().map(|object| {
        let start = u128::from(object.address);
        (start, start + u128::from(object.size.max(1)))
    });
    for (start, end) in objects.filter(|(start, _)| freed.contains(start)) {
        for (event, places) in unfolding.events.iter().zip(within) {
            let is_foreign = event.thread != Some(free.stop.thread);
            if !is_foreign || !matches!(event.step, Step::Access { .. }) {
                continue;
            }
            let inside = places.iter().flatten().filter(|place| (start..end).contains(*place));
            for place in inside {
                let part = ((place - start) as u32, event.bytes);
                parts.entry(part).or_default().insert(*place);
            }
        }
    }
    parts
}

/// The parts of objects that ends write. `freed` are the addresses that each can have.
pub fn parts(unfolding: &Unfolding, freed: &[Vec<u128>], within: &[Possible]) -> Ends {
    let ends = unfolding.frees.iter().zip(freed).filter_map(|(free, freed)| {
        let parts = accessed(free, freed, unfolding, within);
        (!parts.is_empty()).then(|| (free.key, parts.into_keys().collect()))
    });
    ends.collect()
}

/// Says where the writes of ends go: to those parts of objects that there are.
pub fn place(unfolding: &Unfolding, freed: &[Vec<u128>], within: &mut [Possible]) {
    for (free, freed) in unfolding.frees.iter().zip(freed) {
        let parts = match free.gone.is_empty() {
            true => continue,
            false => accessed(free, freed, unfolding, within),
        };
        for (event, offset) in &free.gone {
            let bytes = unfolding.events[*event as usize].bytes;
            let places = parts.get(&(*offset, bytes)).into_iter().flatten();
            within[*event as usize] = Some(places.copied().collect());
        }
    }
}

/// An access that comes after the end of its object, and when it does.
pub struct Late {
    pub access: usize,
    /// The end.
    pub end: usize,
    pub when: Literal,
}

/// The accesses that come after the ends of their objects. The ends leave what was there.
pub fn late(encoding: &mut Encoding, frees: &[Free]) -> Vec<Late> {
    let mut found = Vec::new();
    for free in frees {
        for (gone, _) in &free.gone {
            let gone = *gone as usize;
            leave(encoding, gone);
            for access in 0..encoding.structure.initials {
                let event = &encoding.structure.events[access];
                let is_farewell = event.tags.tags.contains("LEAVE") && event.kind.is_read();
                let is_own = event.thread == Some(free.stop.thread);
                if is_own || is_farewell || !matches!(event.step, Step::Access { .. }) {
                    continue;
                }
                let sources = encoding.communication.sources[access].iter();
                let read = sources.filter(|(write, _)| *write == gone).map(|(_, takes)| *takes);
                let order = encoding.communication.order.get(&(gone, access));
                let after: Vec<Literal> = read.chain(order.copied()).collect();
                let after = encoding.circuit.or(&after);
                let happen = [encoding.executed[gone], encoding.executed[access], after];
                let when = encoding.circuit.and(&happen);
                if when != Literal::FALSE {
                    found.push(Late { access, end: free.event as usize, when });
                }
            }
        }
    }
    found
}

/// The write by which bytes are gone leaves what the one before it in coherence has written.
fn leave(encoding: &mut Encoding, gone: usize) {
    let Encoding { circuit, structure, communication, executed, .. } = encoding;
    let Some(value) = structure.events[gone].kind.value() else {
        return;
    };
    let before = |write: usize| communication.order.get(&(write, gone)).copied();
    let writes: Vec<(usize, Literal)> = (0..structure.events.len())
        .filter_map(|write| Some((write, before(write)?)))
        .filter(|(_, before)| *before != Literal::FALSE)
        .collect();
    for (write, is_before) in &writes {
        let mut between = Vec::new();
        for (other, is_too) in &writes {
            let later = communication.order.get(&(*write, *other)).copied();
            if let Some(later) = later.filter(|_| other != write) {
                between.push(circuit.and(&[executed[*other], *is_too, later]));
            }
        }
        let between = circuit.or(&between);
        let last = circuit.and(&[executed[gone], executed[*write], *is_before, !between]);
        if let Some(written) = structure.events[*write].kind.value() {
            circuit.equal_where(last, value, written);
        }
    }
}
