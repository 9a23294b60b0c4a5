//! Events of accesses and fences.

use parallax_machine::Domain;
use parallax_program::{AccessSize, BinaryOp, Bits, Tags};
use parallax_solver::Term;

use super::state::State;
use super::{Checked, Unfolder};
use crate::event::{Dependency, Event, Kind, Pair, Step, TagChoice};
use crate::guard::Guard;
use crate::value::{Sources, Value};

impl Unfolder<'_, '_, '_> {
    /// Offsets and bytes of the events of the next access.
    fn parts(&self, size: AccessSize) -> Vec<(u32, u32)> {
        let whole = size.bytes();
        let mut cuts: Vec<u32> = match self.plan.granule {
            Some(granule) => (0..whole).step_by(granule as usize).skip(1).collect(),
            None => {
                let planned = self.plan.cuts.get(&(self.thread, self.accesses));
                planned.cloned().unwrap_or_default()
            }
        };
        // The plan is from the unfolding before, in which this may have been another access.
        cuts.retain(|cut| *cut < whole);
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([whole]);
        starts.zip(ends).map(|(start, end)| (start, end - start)).collect()
    }

    pub(super) fn offset(&mut self, address: Value, bytes: u32) -> Value {
        let width = self.result.values.terms.width(address.term);
        let offset = self.bits(Bits::new(width, u128::from(bytes)));
        self.result.values.binary(BinaryOp::Add, &address, &offset)
    }

    /// Where an access may go wrong, the way goes on only if it does not. `parts` are the reads and writes
    /// that it is.
    #[must_use]
    pub(super) fn check(
        &mut self,
        state: &mut State,
        address: Value,
        size: AccessSize,
        writes: bool,
        parts: u32,
    ) -> bool {
        if let Some(why) = self.plan.lost.get(&(self.thread, self.accesses)) {
            self.obstacle(state, (*why).to_string());
            // Accesses on other ways keep their numbers.
            self.accesses += parts;
            return false;
        }
        if !self.plan.suspects.contains(&(self.thread, self.accesses)) {
            return true;
        }
        let stop = self.stop(state);
        let ok = self.result.values.terms.variable(1);
        let (address, bytes) = (address.term, size.bytes());
        self.result.checked.push(Checked { stop, ok, address, bytes, writes });
        state.guard.require(ok, &mut self.result.values.terms)
    }

    /// A place that only this thread accesses, and what it holds at first.
    fn own_place(&self, address: Value, bytes: u32) -> Option<(u64, Bits)> {
        let address = self.result.values.terms.as_constant(address.term)?;
        let address = u64::try_from(address.unsigned()).ok()?;
        let initial = self.plan.private.get(&address).copied()?;
        (initial.width() == bytes * 8).then_some((address, initial))
    }

    /// What a place holds that only this thread accesses, where it is known.
    fn held(&mut self, state: &State, address: Value, bytes: u32) -> Option<Term> {
        let (place, initial) = self.own_place(address, bytes)?;
        match state.held(place) {
            Some(written) => Some(written),
            None if initial.is_undefined() => None,
            None => Some(self.result.values.terms.constant(initial)),
        }
    }

    /// The value read, and the events that read it, lowest address first.
    pub(super) fn read(
        &mut self,
        state: &mut State,
        address: Value,
        size: AccessSize,
        tags: &TagChoice,
    ) -> (Value, Vec<u32>) {
        let mut whole: Option<Value> = None;
        let mut events = Vec::new();
        let known = self.plan.known.get(&(self.thread, self.accesses)).copied();
        for (at, bytes) in self.parts(size) {
            let address = self.offset(address, at);
            let term = self.result.values.terms.variable(bytes * 8);
            let step = Step::Access { whole: size.bytes() };
            let event =
                self.event(state, Kind::Read { value: term }, address, bytes, tags.clone(), step);
            events.push(event);
            if self.plan.asks_for_undefined && tags.tags.contains("COPY") {
                let open = self.result.values.perhaps_open(term);
                self.result.copies.push((event, open));
            }
            let sources = self.result.values.single(event);
            let mut value = Value { term, sources, picks: Sources::NONE };
            if let Some(known) = known.filter(|_| bytes == size.bytes()) {
                value.term = self.result.values.terms.constant(Bits::new(bytes * 8, known));
            } else if let Some(held) = self.held(state, address, bytes) {
                value.term = held;
            }
            whole = Some(match whole {
                Some(low) => self.result.values.concat(&value, &low),
                None => value,
            });
        }
        self.accesses += 1;
        let truth = self.result.values.terms.truth();
        state.last_reads = events.iter().map(|event| (truth, *event)).collect();
        let nothing = self.bits(Bits::zero(size.bits()));
        (whole.unwrap_or(nothing), events)
    }

    /// The events that write the value, lowest address first. Those of a read-modify-write are
    /// atomic with the reads of each of the pairings.
    pub(super) fn write(
        &mut self,
        state: &mut State,
        address: Value,
        value: Value,
        size: AccessSize,
        tags: &Tags,
        pairings: &[Pairing],
    ) -> Vec<u32> {
        let mut events = Vec::new();
        for (index, (at, bytes)) in self.parts(size).into_iter().enumerate() {
            let address = self.offset(address, at);
            let written = self.result.values.extract(&value, at * 8, bytes * 8);
            let kind = Kind::Write { value: written.term };
            let step = Step::Access { whole: size.bytes() };
            let number = self.event(state, kind, address, bytes, TagChoice::always(tags), step);
            if self.plan.asks_for_undefined {
                let open = self.result.values.open_bits(written.term);
                let known = self.result.values.terms.as_constant(open);
                if !known.is_some_and(Bits::is_zero) {
                    self.result.open_writes.push((number, open));
                }
            }
            let event = &mut self.result.events[number as usize];
            event.data = Dependency { sources: value.sources, picks: value.picks };
            for pairing in pairings {
                if let Some(read) = pairing.reads.get(index) {
                    let (when, is_single) = (pairing.when, pairing.is_single);
                    event.pairs.push(Pair { read: *read, when, is_single });
                }
            }
            events.push(number);
        }
        if let Some((place, _)) = self.own_place(address, size.bytes()) {
            state.hold(place, value.term);
        }
        self.accesses += 1;
        events
    }

    pub(super) fn fence(&mut self, state: &State, tags: &Tags) {
        let nowhere = self.bits(Bits::zero(1));
        self.event(state, Kind::Fence, nowhere, 0, TagChoice::always(tags), Step::Fence);
        self.accesses += 1;
    }

    /// Notes what others do not see.
    pub(super) fn silent(&mut self, state: &State, value: Term, step: Step) -> u32 {
        let nowhere = self.bits(Bits::zero(1));
        self.event(state, Kind::Silent { value }, nowhere, 0, TagChoice::default(), step)
    }

    pub(super) fn event(
        &mut self,
        state: &State,
        kind: Kind,
        address: Value,
        bytes: u32,
        tags: TagChoice,
        step: Step,
    ) -> u32 {
        let values = &mut self.result.values;
        let (mut sources, mut picks) = (Sources::NONE, Sources::NONE);
        for condition in state.thread.control() {
            sources = values.union(sources, condition.sources);
            picks = values.union(picks, condition.picks);
        }
        let number = self.result.events.len() as u32;
        let guard: Guard = state.guard.clone();
        let executed = guard.term(&mut values.terms);
        self.result.events.push(Event {
            thread: Some(self.thread),
            kind,
            guard,
            executed,
            address: address.term,
            bytes,
            tags,
            access: self.accesses,
            site: state.thread.site(),
            addr: Dependency { sources: address.sources, picks: address.picks },
            data: Dependency::NONE,
            ctrl: Dependency { sources, picks },
            pairs: Vec::new(),
            step,
            fails: None,
            turns: state.turns(),
            section: state.section,
        });
        number
    }
}

/// Reads that a write may be atomic with.
pub(super) struct Pairing {
    pub when: Term,
    pub reads: Vec<u32>,
    pub is_single: bool,
}
