//! Objects that a program makes and frees.

use parallax_program::{AllocKind, BinaryOp, Bits};
use parallax_solver::Term;

use super::state::State;
use super::{Free, Object, Unfolder};
use crate::event::{Kind, Step, TagChoice};
use crate::value::Value;

impl Unfolder<'_, '_, '_> {
    /// The largest object that is followed.
    const LARGEST: u64 = 1 << 32;

    /// The room for an object whose size is not known: as much as there is.
    const ROOMS: [u64; 4] = [1 << 31, 1 << 24, 1 << 20, 1 << 14];

    /// The address of a new object. None where it is too large.
    pub(super) fn alloc(
        &mut self,
        state: &mut State,
        size: Value,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    ) -> Option<Value> {
        let (width, slots) = (self.code.program.pointer_width, self.code.program.slots());
        let own = self.result.objects.iter().map(|object| (object.address, object.size));
        let last = own.filter(|last| slots.owner(last.0) == Some(self.thread as usize)).max();
        let (size, extent) = match self.result.values.terms.as_constant(size.term) {
            Some(size) => (size.unsigned(), None),
            None => {
                let is_small = |room: &&u64| **room <= slots.largest() / 8;
                let fits = |room: &&u64| {
                    slots.next(self.thread, last, u128::from(**room), align).is_some()
                };
                let room = *Self::ROOMS.iter().filter(is_small).find(fits)?;
                (u128::from(self.make_room(state, size.term, room)?), Some(size.term))
            }
        };
        let address = slots.next(self.thread, last, size, align)?;
        let size = u64::try_from(size).ok().filter(|size| *size < Self::LARGEST)?;
        let value = self.bits(Bits::new(width, u128::from(address)));
        self.silent(state, value.term, Step::Alloc { address });
        self.result.objects.push(Object { address, size, extent, kind, zeroed });
        Some(value)
    }

    /// The room that an object of a size is given. What needs more is beyond the engine.
    fn make_room(&mut self, state: &mut State, size: Term, room: u64) -> Option<u64> {
        let terms = &mut self.result.values.terms;
        let most = terms.constant(Bits::new(terms.width(size), u128::from(room)));
        let fits = terms.binary(BinaryOp::Ule, size, most);
        let is_larger = terms.not(fits);
        let mut larger = state.clone();
        if larger.guard.require(is_larger, terms) {
            self.obstacle(&larger, "an object of any size, or of a large one".to_string());
        }
        state.guard.require(fits, &mut self.result.values.terms).then_some(room)
    }

    /// Ends the life of an object. False if the way ends here.
    #[must_use]
    pub(super) fn free(&mut self, state: &mut State, address: Value, kind: AllocKind) -> bool {
        let stop = self.stop(state);
        let ok = self.result.values.terms.variable(1);
        if !state.guard.require(ok, &mut self.result.values.terms) {
            return false;
        }
        let event = self.silent(state, address.term, Step::Free);
        let key = (self.thread, self.ends);
        self.ends += 1;
        let gone = self.gone(state, address, key);
        self.result.frees.push(Free { stop, event, ok, address: address.term, kind, key, gone });
        true
    }

    /// The writes by which the bytes of an object are gone, where somebody asks about them. What
    /// they write is for [`ends`](crate::ends) to say.
    fn gone(&mut self, state: &State, address: Value, key: (u32, u32)) -> Vec<(u32, u32)> {
        let Some(parts) = self.plan.ends.get(&key) else {
            return Vec::new();
        };
        let terms = &mut self.result.values.terms;
        let goes = *self.result.goes.get_or_insert_with(|| terms.variable(1));
        let mut gone = state.clone();
        if !gone.guard.require(goes, terms) {
            return Vec::new();
        }
        let parts = parts.iter().map(|(offset, bytes)| {
            let value = self.result.values.terms.variable(bytes * 8);
            let place = self.offset(address, *offset);
            let tags = TagChoice::default();
            let kind = Kind::Write { value };
            let event = self.event(&gone, kind, place, *bytes, tags, Step::Gone);
            // No two are parts of one access.
            self.result.events[event as usize].access = u32::MAX - event;
            (event, *offset)
        });
        parts.collect()
    }

    /// How large the heap object is that starts at an address. Ways on which that is none that is
    /// known yet are beyond the engine.
    pub(super) fn heap_size(&mut self, state: &mut State, address: Value) -> Option<Value> {
        let width = self.result.values.terms.width(address.term);
        let heap = self.result.objects.iter().filter(|object| object.kind == AllocKind::Heap);
        let objects: Vec<Object> = heap.cloned().collect();
        let terms = &mut self.result.values.terms;
        let mut size = terms.constant(Bits::zero(width));
        let mut known = terms.falsity();
        for object in objects {
            let start = terms.constant(Bits::new(width, u128::from(object.address)));
            let here = terms.equals(address.term, start);
            let bytes = match object.extent {
                Some(extent) => extent,
                None => terms.constant(Bits::new(width, u128::from(object.size))),
            };
            size = terms.select(here, bytes, size);
            known = terms.or(known, here);
        }
        let unknown = terms.not(known);
        let mut other = state.clone();
        if other.guard.require(unknown, terms) {
            self.obstacle(&other, "the size of an object that is not known".to_string());
        }
        if !state.guard.require(known, &mut self.result.values.terms) {
            return None;
        }
        Some(self.result.values.plain(size))
    }
}
