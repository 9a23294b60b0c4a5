//! Stores that others do not see yet, as `parallax_machine::system` has them for numbers: a store waits in
//! the buffer of its thread until it takes effect, which is a step of its own; a thread sees its own
//! stores first; locked accesses and full fences wait until the buffer is empty; starting a thread is a
//! store too, and its end shows once its buffer is empty.
//!
//! Where stores go is a part of where threads stand ([`crate::control::Stores`]); what they store is in places
//! ([`crate::places::Place::Stored`]), so that conditions can speak of it. Where a store leaves, those behind it to the same bytes
//! move up, which is an assignment like any other.
//!
//! A buffer may grow without end, and a graph must not. So no more than some stores are kept apart: of the
//! oldest ones beyond these it is only known where they went. Each may take effect with any value, any
//! number of times, until it is said that none is left, and who loads from there without a newer store of its own
//! finds anything. That allows all that the program can do, and more. Where something is found to fail by that
//! (`Edge::is_blurred`), it is looked for without: threads wait until there is room (`Blocks::blurs`). Where it does not fail
//! there, more stores are kept apart. Those in the buffer wait until none
//! of the others is left; under PSO only where they are to the same bytes, which again allows more than there is.

use std::ops::Range;

use parallax_machine::system::{Entry, Marks, MemoryKind, Record, What};
use parallax_program::{BinaryOp, Bits, FunctionId, Property};
use parallax_solver::Term;
use rustc_hash::FxHashMap;

use super::targets::Target;
use super::{
    Blocks, Decision, Edge, Ending, Given, Halt, Inputs, Kind, Run, Store, Touch, Walk, Way,
};
use crate::control::{At, Control, overlap, process};
use crate::places::PlaceId;

impl Blocks<'_> {
    /// Stores of one thread that are kept apart, at first and at most.
    pub(super) const FEW_STORES: u32 = 4;
    const MOST_STORES: u32 = 16;

    /// More stores are kept apart from now on. False where these are as many as there may be.
    pub fn keep_more_stores(&mut self) -> bool {
        let can = self.most_stores < Self::MOST_STORES;
        self.most_stores = (self.most_stores * 2).min(Self::MOST_STORES);
        can
    }

    fn stored(&mut self, thread: u32, range: (u64, u8), nth: u32) -> PlaceId {
        self.places.stored(&mut self.values.terms, thread, range, nth)
    }

    /// What the buffer of a thread can do.
    pub(super) fn flushes(
        &mut self,
        control: &Control,
        base: &Store,
        thread: u32,
        way: Way<'_>,
    ) -> Result<Vec<Edge>, Halt> {
        let Some(local) = control.thread(thread) else { return Ok(Vec::new()) };
        let stores = &local.stores;
        let mut decisions: Vec<Decision> = Vec::new();
        for index in stores.buffer.ready(self.memory) {
            let Entry::Store { address, bytes, .. } = stores.buffer.entries()[index] else {
                continue;
            };
            let own = (address, u64::from(bytes));
            let is_behind = |it: &(u64, u8)| {
                self.memory != MemoryKind::Pso || overlap((it.0, u64::from(it.1)), own)
            };
            if !stores.blurred.iter().any(is_behind) {
                decisions.push(Decision::Flush(index as u32));
            }
        }
        if !stores.blurred.is_empty() {
            decisions.push(Decision::Drained);
            decisions.extend(stores.blurred.iter().map(|(address, _)| Decision::Again(*address)));
        }
        if let Way::Trail(trail) = way {
            decisions.retain(|decision| trail == [*decision]);
            if decisions.is_empty() {
                return Err(Halt::Astray);
            }
        }
        let edges = decisions.into_iter().map(|it| self.flush(control, base, thread, it));
        Ok(edges.collect())
    }

    fn flush(&mut self, before: &Control, base: &Store, thread: u32, decision: Decision) -> Edge {
        let mut edge = Edge {
            thread: process::of_buffer(thread),
            trail: vec![decision],
            guard: Vec::new(),
            writes: Vec::new(),
            inputs: Vec::new(),
            made: Vec::new(),
            touches: Vec::new(),
            control: before.clone(),
            ending: Ending::Goes,
            is_blurred: false,
            growth: None,
            loose: Vec::new(),
        };
        let mut writes: FxHashMap<PlaceId, Term> = FxHashMap::default();
        let Some(stores) = edge.control.local(thread).map(|local| &mut local.stores) else {
            return edge;
        };
        match decision {
            Decision::Flush(index) => {
                let entries = stores.buffer.entries();
                let earlier = entries.iter().take(index as usize);
                let number = earlier.filter(|it| matches!(it, Entry::Store { .. })).count();
                let taken = stores.buffer.take(index as usize);
                if let Some(Entry::Store { address, bytes, .. }) = taken {
                    let first = self.stored(thread, (address, bytes), 0);
                    let value = self.value(base, before, &writes, first);
                    self.shift(base, before, thread, (address, bytes), &mut writes);
                    self.land(&mut edge, (address, bytes), value, &mut writes);
                    self.note(thread, What::Flush { index: number });
                }
            }
            Decision::Again(wanted) => {
                let found = stores.blurred.iter().find(|(address, _)| *address == wanted).copied();
                if let Some((address, bytes)) = found {
                    let width = u32::from(bytes) * 8;
                    let terms = &mut self.values.terms;
                    let any = *self.pool.entry((0, width)).or_insert_with(|| terms.variable(width));
                    edge.inputs.push(any);
                    self.land(&mut edge, (address, bytes), any, &mut writes);
                }
            }
            _ => stores.blurred.clear(),
        }
        self.begin_children(&mut edge.control, thread);
        edge.writes = writes.into_iter().collect();
        edge.writes.sort_unstable();
        edge
    }

    /// A store takes effect. On an object that is gone by then it has none.
    fn land(
        &mut self,
        edge: &mut Edge,
        (address, bytes): (u64, u8),
        value: Term,
        writes: &mut FxHashMap<PlaceId, Term>,
    ) {
        let end = address.saturating_add(u64::from(bytes));
        edge.touches.push(Touch { start: address, end, writes: true });
        let is_object = self.slots.owner(address).is_some();
        let object = edge.control.object(address).filter(|_| is_object);
        if is_object && object.is_none_or(|object| object.is_freed) {
            return;
        }
        self.write(writes, address, u64::from(bytes), value);
    }

    /// The first store to some bytes has left: those behind it move up.
    fn shift(
        &mut self,
        base: &Store,
        before: &Control,
        thread: u32,
        range: (u64, u8),
        writes: &mut FxHashMap<PlaceId, Term>,
    ) {
        let count = before.thread(thread).map_or(0, |it| it.stores.count(range, usize::MAX));
        for nth in 1..count {
            let (from, to) = (self.stored(thread, range, nth), self.stored(thread, range, nth - 1));
            let value = self.value(base, before, writes, from);
            writes.insert(to, value);
        }
    }

    /// Threads start as soon as all that was stored before they were started has taken effect.
    fn begin_children(&mut self, control: &mut Control, thread: u32) {
        while let Some(local) = control.local(thread)
            && local.stores.blurred.is_empty()
            && let Some(Entry::Spawn { .. }) = local.stores.buffer.entries().first()
            && let Some(Entry::Spawn { child, .. }) = local.stores.buffer.take(0)
        {
            if let Some(local) = control.local(child) {
                local.at = At::Operation;
            }
            self.note(child, What::Begin);
        }
    }

    fn note(&mut self, thread: u32, what: What) {
        if let Inputs::Given(Given { story, .. }) = &mut self.inputs {
            story.log.push(Record { thread, what });
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Places of an object that a store which waits may go to.
    const MOST_STORED: usize = 32;

    /// Whether an access is a store that others do not see at once.
    pub(super) fn is_buffered(&self, run: &Run, kind: &Kind, marks: Marks) -> bool {
        let nobody_minds = run.control.is_alone(self.number) && !run.control.stores(self.number);
        self.blocks.memory != MemoryKind::Sc
            && matches!(kind, Kind::Store(_))
            && !marks.is_locked()
            && run.control.section != Some(self.number)
            && !nobody_minds
    }

    /// Whether an access has to wait until the thread has no stores on their way.
    pub(super) fn must_drain(
        &self,
        run: &Run,
        kind: &Kind,
        marks: [Marks; 3],
        is_own: bool,
    ) -> bool {
        let must = match kind {
            Kind::Load | Kind::Store(_) => !is_own && marks[0].is_locked(),
            Kind::Rmw(..) => true,
            // One that fails is a load.
            Kind::Cas { is_weak, .. } => is_own && !is_weak || marks[2].is_locked(),
        };
        must && run.control.stores(self.number)
    }

    /// The thread cannot go on before its stores have taken effect.
    pub(super) fn wait_for_stores(&mut self, mut run: Run, touch: Touch, open: &mut Vec<Run>) {
        if run.has_acted {
            self.stop(run, At::Operation, open);
            return;
        }
        let blocks = &mut *self.blocks;
        blocks.waiting += 1;
        blocks.tried.extend((touch != Touch::NONE).then_some(touch));
        blocks.tried.append(&mut run.touches);
        blocks.held.push(run.guard);
    }

    /// A thread has come to a fence. None where it stays there.
    pub(super) fn fence(&mut self, mut run: Run, open: &mut Vec<Run>) -> Option<Run> {
        let marks = self.marks(&run)[0];
        if self.blocks.memory == MemoryKind::Sc {
            return Some(run);
        }
        let stores = run.control.stores(self.number);
        if marks.is_fence_of_all() {
            if self.waits(&run) {
                self.stop(run, At::Operation, open);
                return None;
            }
            let waits = run.control.running().any(|thread| run.control.stores(thread));
            if waits && run.has_acted {
                self.stop(run, At::Operation, open);
                return None;
            }
            if waits {
                // The others may have to help.
                self.blocks.tried.push(Touch::ALL);
                self.blocks.held.push(run.guard);
                return None;
            }
            run.touches.push(Touch::ALL);
            run.has_acted = true;
            return Some(run);
        }
        if marks.is_flush() {
            if stores {
                self.wait_for_stores(run, Touch::NONE, open);
                return None;
            }
            run.has_acted = true;
        }
        if marks.is_barrier()
            && self.blocks.memory == MemoryKind::Pso
            && let Some(local) = run.control.local(self.number)
            && !local.stores.buffer.is_empty()
        {
            local.stores.buffer.push(Entry::Barrier);
        }
        Some(run)
    }

    /// A thread that is started after stores which have not taken effect.
    pub(super) fn put_off(&mut self, run: &mut Run, child: u32, function: FunctionId) {
        if let Some(local) = run.control.local(child) {
            local.at = At::Pending;
        }
        if let Some(local) = run.control.local(self.number) {
            let args = [].into();
            local.stores.buffer.push(Entry::Spawn { child, function, args });
        }
    }

    /// Whether threads of some kind have stores on their way to some bytes.
    pub(super) fn is_stored_to(
        &self,
        run: &Run,
        range: &Range<u64>,
        is_meant: impl Fn(u32) -> bool,
    ) -> bool {
        let threads = run.control.running().filter(|thread| is_meant(*thread));
        let mut locals = threads.filter_map(|thread| run.control.thread(thread));
        let size = range.end - range.start;
        let hits = |(at, bytes): (u64, u8)| overlap((at, u64::from(bytes)), (range.start, size));
        locals.any(|local| local.stores.ranges().any(hits))
    }

    /// Each of the places that an access may be at, for itself.
    pub(super) fn one_by_one(
        &mut self,
        targets: Vec<(Target, Run)>,
        address: Term,
        open: &mut Vec<Run>,
    ) -> Result<Vec<(Target, Run)>, Halt> {
        let width = self.blocks.values.terms.width(address);
        let mut all = Vec::new();
        for (target, run) in targets {
            let Target::Within { places, .. } = target else {
                all.push((target, run));
                continue;
            };
            if places.len() > Self::MOST_STORED {
                Self::lose(run, "a store to one of many places that waits in a buffer", open)?;
                continue;
            }
            for place in places {
                let terms = &mut self.blocks.values.terms;
                let here = terms.constant(Bits::new(width, u128::from(place)));
                let is_here = terms.binary(BinaryOp::Eq, address, here);
                let mut run = run.clone();
                // The number says that it is inside, too.
                run.trail.pop();
                run.trail.push(Decision::Number(u128::from(place)));
                if self.demand(&mut run, is_here) {
                    all.push((Target::At(place), run));
                }
            }
        }
        Ok(all)
    }

    /// A store that others do not see yet.
    pub(super) fn store_later(
        &mut self,
        mut run: Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let Kind::Store(value) = kind else { return Err(Halt::Astray) };
        let is_object = self.blocks.slots.owner(place).is_some();
        if is_object && self.waits(&run) {
            // It may be gone by then.
            self.stop(run, At::Operation, open);
            return Ok(());
        }
        if !self.blocks.blurs && self.is_full(&run) {
            self.wait_for_stores(run, Touch::NONE, open);
            return Ok(());
        }
        if is_object {
            let end = place.saturating_add(bytes);
            run.touches.push(Touch { start: place, end, writes: false });
        }
        (run.has_acted, run.has_left) = (true, true);
        let marks = self.marks(&run)[0];
        if let Some(wrong) = self.wrong(&run.control, place, bytes, true) {
            Self::fail(run, Property::Memory, wrong.message(), open);
            return Ok(());
        }
        let holds = run.control.thread(self.number).is_some_and(|it| it.held.contains(&place));
        if marks.gives_lock_back() && !holds {
            let message = "unlock by a thread that does not hold the lock";
            Self::fail(run, Property::Lock, message, open);
            return Ok(());
        }
        if !self.make_room(&mut run) {
            return Self::lose(run, "a thread that is started behind many stores", open);
        }
        let (range, is_pso) = ((place, bytes as u8), self.blocks.memory == MemoryKind::Pso);
        let Some(local) = run.control.local(self.number) else { return Err(Halt::Astray) };
        let nth = local.stores.count(range, usize::MAX);
        let is_release = marks.is_barrier() && is_pso && !local.stores.buffer.is_empty();
        let (address, bytes) = range;
        local.stores.buffer.push(Entry::Store { address, bytes, value: (), is_release });
        let id = self.blocks.stored(self.number, range, nth);
        run.writes.insert(id, *value);
        self.hold(&mut run, place, marks.takes_lock());
        let at = self.blocks.values.number(64, u128::from(place));
        self.record_buffered(false, at, u64::from(bytes), *value, true);
        run.thread.done();
        open.push(run);
        Ok(())
    }

    /// Whether no more stores are kept apart.
    fn is_full(&self, run: &Run) -> bool {
        let local = run.control.thread(self.number);
        let entries = local.map_or(&[][..], |local| local.stores.buffer.entries());
        let count = entries.iter().filter(|it| matches!(it, Entry::Store { .. })).count();
        count >= self.blocks.most_stores as usize
    }

    /// One more store can be kept apart. False where that cannot be.
    fn make_room(&mut self, run: &mut Run) -> bool {
        if !self.is_full(run) {
            return true;
        }
        let before = run.control.clone();
        let Some(local) = run.control.local(self.number) else { return false };
        let Some(Entry::Store { address, bytes, .. }) = local.stores.buffer.take(0) else {
            return false;
        };
        // What overlaps is one: `Decision::Again` says it by its address.
        let (mut start, mut end) = (address, address.saturating_add(u64::from(bytes)));
        let blurred = &mut local.stores.blurred;
        loop {
            let hits = |it: &(u64, u8)| overlap((it.0, u64::from(it.1)), (start, end - start));
            let Some(at) = blurred.iter().position(hits) else { break };
            let (other, count) = blurred.remove(at);
            start = start.min(other);
            end = end.max(other.saturating_add(u64::from(count)));
        }
        if end - start > 16 {
            return false;
        }
        blurred.push((start, (end - start) as u8));
        blurred.sort_unstable();
        self.blocks.shift(self.base, &before, self.number, (address, bytes), &mut run.writes);
        run.is_blurred = true;
        true
    }

    /// What the thread itself has stored comes before what is in memory.
    pub(super) fn with_stores(
        &mut self,
        run: &mut Run,
        (place, bytes): (u64, u64),
        memory: Term,
    ) -> Term {
        let Some(stores) = run.control.thread(self.number).map(|local| local.stores.clone()) else {
            return memory;
        };
        let hits = |(at, count): (u64, u8)| overlap((place, bytes), (at, u64::from(count)));
        let mut whole = memory;
        if stores.blurred.iter().any(|it| hits(*it)) {
            whole = self.fresh(run, bytes as u32 * 8);
        }
        for (index, entry) in stores.buffer.entries().iter().enumerate() {
            let Entry::Store { address, bytes: count, .. } = *entry else { continue };
            if !hits((address, count)) {
                continue;
            }
            let nth = stores.count((address, count), index);
            let id = self.blocks.stored(self.number, (address, count), nth);
            let value = self.value(run, id);
            whole = self.laid_over((place, bytes), whole, (address, u64::from(count)), value);
        }
        whole
    }

    /// Some bytes, with a part of them from elsewhere.
    fn laid_over(
        &mut self,
        (place, bytes): (u64, u64),
        below: Term,
        (address, count): (u64, u64),
        value: Term,
    ) -> Term {
        let terms = &mut self.blocks.values.terms;
        let from = place.max(address);
        let to = place.saturating_add(bytes).min(address.saturating_add(count));
        let bits = |count: u64| count as u32 * 8;
        let mut whole = terms.extract(value, bits(from - address), bits(to - from));
        if from > place {
            let low = terms.extract(below, 0, bits(from - place));
            whole = terms.concat(whole, low);
        }
        let rest = place.saturating_add(bytes) - to;
        if rest > 0 {
            let high = terms.extract(below, bits(to - place), bits(rest));
            whole = terms.concat(high, whole);
        }
        whole
    }
}
