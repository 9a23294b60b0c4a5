//! Objects that a thread makes and ends: where they are, what is in them, and how long those that are gone are
//! remembered.

use parallax_machine::system::{Record, What};
use parallax_machine::{Site, TOO_LARGE};
use parallax_program::{AllocKind, Bits, InstKind, Property};
use parallax_solver::Term;

use super::record::{Given, Inputs};
use super::walk::{Run, Walk};
use super::{Blocks, Decision, Halt, Touch};
use crate::control::{At, Object};
use crate::places::{Place, PlaceId, asked, of_program};

impl Walk<'_, '_, '_> {
    pub(super) fn alloc(
        &mut self,
        mut run: Run,
        size: Bits,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let last = run.control.last_object_of(self.number);
        let place = self.blocks.slots.next(self.number, last, size.unsigned(), align);
        let Some(address) = place else { return Self::lose(run, TOO_LARGE, open) };
        if run.control.objects.len() >= Blocks::MOST_OBJECTS {
            return Self::lose(run, "more than 256 objects at a time", open);
        }
        let context = context(run.thread.stack());
        let size = size.unsigned() as u64;
        run.control.add(Object {
            address,
            size,
            kind,
            zeroed,
            owner: self.number,
            context,
            is_private: !self.blocks.shared.contains(&context),
            is_freed: false,
        });
        self.rename(address, size, align);
        for id in self.blocks.places.known_pieces(address, address.saturating_add(size)) {
            let width = self.blocks.values.terms.width(self.blocks.places.term(id));
            let value = match zeroed {
                true => self.blocks.values.number(width, 0),
                false => self.content(&mut run, id, width),
            };
            run.writes.insert(id, value);
        }
        let (start, end) = (asked(address), asked(address.saturating_add(size)));
        for id in self.blocks.places.known_pieces(start, end) {
            let width = self.blocks.values.terms.width(self.blocks.places.term(id));
            run.writes.insert(id, self.blocks.values.number(width, 0));
        }
        let width = self.blocks.code.program.pointer_width;
        let address = self.blocks.values.number(width, u128::from(address));
        self.pass(&mut run, Some(address));
        open.push(run);
        Ok(())
    }

    /// What is in a place of an object that nobody has written.
    fn content(&mut self, run: &mut Run, id: PlaceId, width: u32) -> Term {
        let Blocks { values, inputs, contents, places, .. } = &mut *self.blocks;
        let Inputs::Given(given) = inputs else {
            // An object may be made twice at one place.
            let key = (id, run.made.iter().filter(|(made, _)| *made == id).count());
            let term = *contents.entry(key).or_insert_with(|| values.terms.variable(width));
            run.made.push((id, term));
            return term;
        };
        // The path may have been found before anybody used the place: then it is what is there at first.
        let own = places.term(id);
        let bits = given.made.get(&id).or_else(|| given.bytes.get(&own));
        let bits = bits.copied().unwrap_or(Bits::zero(width));
        if let Place::Memory { address, .. } = places.place(id) {
            given.story.leave(address, bits);
        }
        values.terms.constant(bits)
    }

    pub(super) fn heap_size(
        &mut self,
        run: Run,
        address: Term,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        for (address, mut run) in self.numbers(run, address, open)? {
            let address = address.unsigned() as u64;
            let is_own = self.is_own(&run, address)?;
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            run.has_acted |= !is_own;
            run.touches.push(Touch { start: address, end: address + 1, writes: false });
            if let Some(wrong) = run.control.wrong_end(address, AllocKind::Heap) {
                Self::fail(run, Property::Memory, wrong.message(), open);
                continue;
            }
            let size = run.control.object(address).map_or(0, |object| object.size);
            let width = self.blocks.code.program.pointer_width;
            let size = self.blocks.values.number(width, u128::from(size));
            self.pass(&mut run, Some(size));
            open.push(run);
        }
        Ok(())
    }

    pub(super) fn free(
        &mut self,
        run: Run,
        address: Term,
        kind: AllocKind,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        for (address, mut run) in self.numbers(run, address, open)? {
            let address = address.unsigned() as u64;
            let is_own = address == 0 || self.is_own(&run, address)?;
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            run.has_acted |= !is_own;
            run.has_left |= !is_own;
            if !is_own && !self.is_last_user(&run) {
                let what = "the end of an object that other threads may use, under this model";
                Self::lose(run, what, open)?;
                continue;
            }
            if address != 0 {
                if let Some(wrong) = run.control.wrong_end(address, kind) {
                    Self::fail(run, Property::Memory, wrong.message(), open);
                    continue;
                }
                let size = run.control.object(address).map_or(1, |object| object.size.max(1));
                let range = address..address.saturating_add(size);
                run.touches.push(Touch { start: range.start, end: range.end, writes: true });
                if self.is_stored_to(&run, &range, |other| other != self.number) {
                    let what = "a store that waits in a buffer while its object is freed";
                    Self::lose(run, what, open)?;
                    continue;
                }
                let is_late = self.is_stored_to(&run, &range, |other| other == self.number);
                let keeps = match self.next_on_trail(&run)? {
                    Some(Decision::Keeps(keeps)) => keeps,
                    Some(_) => return Err(Halt::Astray),
                    // Addresses of the heap go anywhere, so they are not given out again.
                    None => kind == AllocKind::Heap || is_late || self.is_remembered(&run, range),
                };
                run.trail.push(Decision::Keeps(keeps));
                run.control.free(address, keeps);
            }
            if let Inputs::Given(Given { story, .. }) = &mut self.blocks.inputs {
                let address = story.renamed(address);
                story.log.push(Record { thread: self.number, what: What::Free { address } });
            }
            self.pass(&mut run, None);
            open.push(run);
        }
        Ok(())
    }

    /// Whether some place holds, or may hold, an address of an object. Places of which it matters are
    /// known: nobody follows an address that is not.
    fn is_remembered(&self, run: &Run, range: std::ops::Range<u64>) -> bool {
        let values = &self.blocks.values;
        let pointer = self.blocks.code.program.pointer_width;
        let holds = |term: &Term| match values.constant_of(*term) {
            Some(bits) => {
                bits.width() >= 32
                    && (u128::from(range.start)..=u128::from(range.end)).contains(&bits.unsigned())
            }
            None => values.terms.width(*term) == pointer,
        };
        let inside = |id: &PlaceId| match self.blocks.places.place(*id) {
            Place::Memory { address, .. } => range.contains(&of_program(address).0),
            Place::Written { address, .. } => range.contains(&address),
            Place::Local { thread, .. } => thread == self.number,
            Place::Stored { .. } => false,
        };
        let written = run.writes.iter();
        let known = self.base.iter().filter(|(id, _)| !run.writes.contains_key(id));
        let elsewhere = written.chain(known).any(|(id, term)| !inside(id) && holds(term));
        // The thread's own variables, as they are now.
        let stack: Vec<Site> = run.thread.stack().collect();
        let own = stack.iter().enumerate().any(|(depth, site)| {
            let is_top = depth + 1 == stack.len();
            self.blocks.live.at(*site, is_top).iter().any(|var| {
                let value = run.thread.value(depth, parallax_program::VarId(*var));
                value.is_some_and(holds) && !(is_top && self.is_freed_by(site, *var))
            })
        });
        elsewhere || own
    }

    /// Whether the instruction frees just what the variable holds.
    fn is_freed_by(&self, site: &Site, var: u32) -> bool {
        let kind = self.blocks.code.instruction(*site).map(|inst| &inst.kind);
        let is_it = |expr: &parallax_program::Expr| matches!(expr, parallax_program::Expr::Var(it) if it.0 == var);
        let after = Site { index: site.index + 1, ..*site };
        matches!(kind, Some(InstKind::Free { address, .. }) if is_it(address))
            && !self.blocks.live.at(after, true).contains(&var)
    }
}

/// The calls that make an object, as a number.
fn context(stack: impl Iterator<Item = Site>) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    stack.for_each(|site| site.hash(&mut hasher));
    hasher.finish()
}
