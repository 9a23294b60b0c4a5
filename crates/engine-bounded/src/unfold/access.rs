//! Events of accesses and fences.

use parallax_machine::Domain;
use parallax_program::{AccessSize, BinaryOp, Bits, Tags};
use parallax_solver::Term;

use super::Unfolder;
use super::state::State;
use crate::event::{Dependency, Event, Kind, Pair, TagChoice};
use crate::guard::Guard;
use crate::value::{Sources, Value};

impl Unfolder<'_, '_, '_> {
    /// Bytes of each event of an access.
    fn part(&self, size: AccessSize) -> u32 {
        self.plan.granule.map_or(size.bytes(), |granule| granule.min(size.bytes()))
    }

    fn offset(&mut self, address: Value, bytes: u32) -> Value {
        let width = self.result.values.terms.width(address.term);
        let offset = self.bits(Bits::new(width, u128::from(bytes)));
        self.result.values.binary(BinaryOp::Add, &address, &offset)
    }

    /// The value read, and the events that read it, lowest address first.
    pub(super) fn read(
        &mut self,
        state: &State,
        address: Value,
        size: AccessSize,
        tags: &TagChoice,
    ) -> (Value, Vec<u32>) {
        let part = self.part(size);
        let mut whole: Option<Value> = None;
        let mut events = Vec::new();
        for at in (0..size.bytes()).step_by(part as usize) {
            let address = self.offset(address, at);
            let term = self.result.values.terms.variable(part * 8);
            let event = self.event(state, Kind::Read { value: term }, address, part, tags.clone());
            events.push(event);
            let sources = self.result.values.single(event);
            let value = Value { term, sources, picks: Sources::NONE };
            whole = Some(match whole {
                Some(low) => self.result.values.concat(&value, &low),
                None => value,
            });
        }
        self.accesses += 1;
        let nothing = self.bits(Bits::zero(size.bits()));
        (whole.unwrap_or(nothing), events)
    }

    /// The events that write the value, lowest address first. Those of a read-modify-write are
    /// atomic with the reads of each of the pairings.
    pub(super) fn write(
        &mut self,
        state: &State,
        address: Value,
        value: Value,
        size: AccessSize,
        tags: &Tags,
        pairings: &[Pairing],
    ) -> Vec<u32> {
        let part = self.part(size);
        let mut events = Vec::new();
        for (index, at) in (0..size.bytes()).step_by(part as usize).enumerate() {
            let address = self.offset(address, at);
            let written = self.result.values.extract(&value, at * 8, part * 8);
            let kind = Kind::Write { value: written.term };
            let number = self.event(state, kind, address, part, TagChoice::always(tags));
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
        self.accesses += 1;
        events
    }

    pub(super) fn fence(&mut self, state: &State, tags: &Tags) {
        let nowhere = self.bits(Bits::zero(1));
        self.event(state, Kind::Fence, nowhere, 0, TagChoice::always(tags));
        self.accesses += 1;
    }

    /// Notes what was chosen.
    pub(super) fn choice(&mut self, state: &State, value: Term) {
        let nowhere = self.bits(Bits::zero(1));
        self.event(state, Kind::Choice { value }, nowhere, 0, TagChoice::default());
    }

    fn event(
        &mut self,
        state: &State,
        kind: Kind,
        address: Value,
        bytes: u32,
        tags: TagChoice,
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
