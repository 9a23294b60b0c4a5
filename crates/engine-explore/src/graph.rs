//! The execution graph that the search works on, in place.
//!
//! There is one graph; steps forward push an event, steps back pop it. A revisit takes events out
//! of the middle of the order in which they were added, but always from the ends of their
//! threads: they go to a stack of removed events, and come back from there when the revisit is
//! undone. So every change costs time in its own size, and memory stays linear in the length of
//! an execution, as in the paper that the search follows (see [`crate::search`]).

use parallax_program::{AllocKind, Bits, Slots};

use crate::clocks::{Clocks, Synchronisation};
use crate::event::{Event, Id, Kind, Loc};
use crate::standing::{At, Standing};
use crate::symmetry;

#[derive(Clone)]
pub struct Graph<'p> {
    /// Where objects lie that threads make.
    pub slots: Slots,
    pub threads: Vec<ThreadGraph<'p>>,
    pub places: Vec<Place>,
    /// All events in the order in which they were added.
    pub order: Vec<Id>,
    pub clocks: Clocks,
    /// Events with the mark of sequential consistency, and fences with it.
    pub seq_cst: u32,
    /// Whether there has been an atomic section.
    pub has_sections: bool,
    /// Whether threads that do the same are kept in order.
    pub has_twins: bool,
    /// Whether the order in which threads arrive at barriers is left out; see [`crate::barriers`].
    pub has_barriers: bool,
    /// Whether critical sections that change nothing are left unordered; see [`crate::locks`].
    pub has_locks: bool,
    /// Whether read-modify-writes of whose results nobody makes use are left unordered, and where some
    /// are; see [`crate::updates`].
    pub has_updates: bool,
    pub updated: Vec<Loc>,
    removed: Vec<Removed<'p>>,
    removed_order: Vec<Id>,
}

#[derive(Clone)]
pub struct ThreadGraph<'p> {
    pub events: Vec<Event>,
    /// The thread before each of its events, and where it stands now. Empty for a thread that
    /// has not been spawned.
    pub standings: Vec<Standing<'p>>,
    pub objects: Vec<Object>,
    /// The step that spawned it.
    pub spawned_by: Id,
    /// Threads started right before and right after it that do the same.
    pub older_twin: Option<usize>,
    pub younger_twin: Option<usize>,
}

impl ThreadGraph<'_> {
    /// Place of the first event after so many operations: where a round of a loop began.
    pub fn first_after(&self, operations: u32) -> usize {
        self.standings.partition_point(|now| now.operations() < operations)
    }

    /// How many threads it has spawned.
    pub fn spawns(&self) -> usize {
        let spawned = &self.standings[..self.events.len().min(self.standings.len())];
        spawned.iter().filter(|standing| matches!(standing.at, At::Spawn { .. })).count()
    }
}

impl Default for ThreadGraph<'_> {
    fn default() -> Self {
        ThreadGraph {
            events: Vec::new(),
            standings: Vec::new(),
            objects: Vec::new(),
            spawned_by: Id::INIT,
            older_twin: None,
            younger_twin: None,
        }
    }
}

/// What happens at one location.
#[derive(Clone, Default, Debug)]
pub struct Place {
    /// Writes in coherence order, without the initial one.
    pub co: Vec<Id>,
    pub reads: Vec<Id>,
    /// How many of them are not atomic, and how many are parts of larger accesses.
    pub non_atomic: u32,
    pub parts: u32,
}

/// An object that a thread has allocated.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    pub address: u64,
    pub size: u64,
    pub kind: AllocKind,
    pub zeroed: bool,
    pub made: Id,
    pub freed: Option<Id>,
}

#[derive(Clone)]
struct Removed<'p> {
    id: Id,
    event: Event,
    /// Its place among the writes or reads of the location.
    position: usize,
    /// Where the thread stood after it.
    after: Standing<'p>,
    /// The thread that it spawned, before its first step.
    child: Option<Standing<'p>>,
}

/// Where to put the graph back to.
#[derive(Clone)]
pub struct Restriction {
    removed: usize,
    order: usize,
    /// Place of the first event taken out, in the order of addition.
    pub from: usize,
    /// What the graph was before.
    #[cfg(debug_assertions)]
    digest: u64,
}

impl Place {
    fn count(&mut self, event: &Event, change: impl Fn(u32, u32) -> u32) {
        self.non_atomic = change(self.non_atomic, u32::from(event.marks.is_non_atomic()));
        self.parts = change(self.parts, u32::from(event.marks.is_part()));
    }

    /// Position of a write: 0 for the initial one.
    pub fn position(&self, write: Id) -> usize {
        if write.is_init() {
            return 0;
        }
        self.co.iter().rposition(|id| *id == write).map_or(0, |index| index + 1)
    }

    /// The write at a position.
    pub fn at(&self, position: usize) -> Id {
        match position {
            0 => Id::INIT,
            _ => self.co[position - 1],
        }
    }
}

impl<'p> Graph<'p> {
    pub fn event(&self, id: Id) -> &Event {
        &self.threads[id.thread()].events[id.index()]
    }

    /// A graph without events; `synchronisation` says whether happens-before is followed.
    pub fn new(synchronisation: Synchronisation, slots: Slots) -> Graph<'p> {
        Graph {
            slots,
            threads: Vec::new(),
            places: Vec::new(),
            order: Vec::new(),
            clocks: Clocks::new(synchronisation),
            seq_cst: 0,
            has_sections: false,
            has_twins: false,
            has_barriers: false,
            has_locks: false,
            has_updates: false,
            updated: Vec::new(),
            removed: Vec::new(),
            removed_order: Vec::new(),
        }
    }

    pub fn standing(&self, id: Id) -> &Standing<'p> {
        &self.threads[id.thread()].standings[id.index()]
    }

    /// Whether an object was freed.
    pub fn has_frees(&self) -> bool {
        let mut objects = self.threads.iter().flat_map(|thread| &thread.objects);
        objects.any(|object| object.freed.is_some())
    }

    /// Where a thread stands now.
    pub fn now(&self, thread: usize) -> Option<&Standing<'p>> {
        self.threads[thread].standings.last()
    }

    /// Makes room for a thread of that number.
    pub fn reserve(&mut self, thread: usize) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, ThreadGraph::default);
            self.clocks.widen(thread + 1);
        }
    }

    pub fn place(&self, loc: Loc) -> &Place {
        &self.places[loc.0 as usize]
    }

    pub fn reserve_place(&mut self, loc: Loc) {
        if self.places.len() <= loc.0 as usize {
            self.places.resize_with(loc.0 as usize + 1, Place::default);
        }
    }

    fn next_stamp(&self) -> u32 {
        self.order.last().map_or(0, |id| self.event(*id).stamp + 1)
    }

    /// The next event of a thread.
    pub fn next_id(&self, thread: usize) -> Id {
        Id::new(thread, self.threads[thread].events.len())
    }

    /// Adds an event at the end, with at least the stamp it has; a write at that position in
    /// coherence order.
    pub fn push(&mut self, thread: usize, mut event: Event, position: usize) -> Id {
        event.stamp = event.stamp.max(self.next_stamp());
        let id = self.next_id(thread);
        self.order.push(id);
        self.insert(id, event, position);
        id
    }

    /// Adds an event with an old stamp, at that place in the order of addition.
    pub fn push_early(&mut self, thread: usize, event: Event, at: usize) -> Id {
        let id = self.next_id(thread);
        self.order.insert(at, id);
        let position = self.places.get(event.loc.0 as usize).map_or(0, |place| place.reads.len());
        self.insert(id, event, position);
        id
    }

    fn insert(&mut self, id: Id, mut event: Event, position: usize) {
        let thread = &mut self.threads[id.thread()];
        debug_assert_eq!(thread.standings.len(), thread.events.len() + 1, "{id:?} is not next");
        event.follow(thread.events.last(), thread.events.len());
        debug_assert!(self.has_source(&event), "{id:?} reads {:?}", event.rf);
        self.clocks.push(id, &event, &self.threads, &self.places);
        self.attach(id, &event, position);
        self.threads[id.thread()].events.push(event);
    }

    /// Takes away the event added last.
    pub fn pop(&mut self) {
        if let Some(id) = self.order.pop() {
            self.take(id);
        }
    }

    /// Takes away the last event of a thread, wherever it is in the order of addition.
    pub fn pop_early(&mut self, id: Id, at: usize) {
        self.order.remove(at);
        self.take(id);
    }

    /// Starts a thread.
    pub fn spawn(&mut self, by: Id, child: usize, begin: Standing<'p>) {
        self.reserve(child);
        let thread = &mut self.threads[child];
        thread.standings.clear();
        thread.standings.push(begin);
        thread.spawned_by = by;
        if self.has_twins
            && let Some(older) = symmetry::older_twin(self, by)
        {
            self.join_twins(older, child);
        }
    }

    /// Makes two threads twins.
    pub fn join_twins(&mut self, older: usize, younger: usize) {
        self.threads[older].younger_twin = Some(younger);
        self.threads[younger].older_twin = Some(older);
    }

    /// A thread that is taken back has no older twin.
    fn part_twins(&mut self, thread: usize) {
        if let Some(older) = self.threads[thread].older_twin.take() {
            self.threads[older].younger_twin = None;
        }
    }

    /// The thread that a step spawned.
    fn child(&self, id: Id, event: &Event) -> Option<usize> {
        let spawns = matches!(self.standing(id).at, At::Spawn { .. });
        spawns.then(|| event.value.unsigned() as usize)
    }

    fn take(&mut self, id: Id) -> Option<(Event, usize)> {
        let thread = &mut self.threads[id.thread()];
        let event = thread.events.pop()?;
        thread.standings.truncate(thread.events.len() + 1);
        if let Some(child) = self.child(id, &event) {
            self.threads[child].standings.clear();
            self.part_twins(child);
        }
        self.clocks.pop(id.thread());
        let position = self.detach(id, &event);
        Some((event, position))
    }

    /// Enters an event into what is kept beside the threads.
    fn attach(&mut self, id: Id, event: &Event, position: usize) {
        self.seq_cst += u32::from(event.marks.is_seq_cst());
        self.has_sections |= event.marks.is_enter();
        match event.kind {
            Kind::Read if event.loc != Loc::NONE => {
                let place = &mut self.places[event.loc.0 as usize];
                place.reads.insert(position.min(place.reads.len()), id);
                place.count(event, |count, more| count + more);
            }
            Kind::Write if event.loc != Loc::NONE => {
                let place = &mut self.places[event.loc.0 as usize];
                place.co.insert(position, id);
                if event.marks.updates() {
                    self.updated.push(event.loc);
                }
                place.count(event, |count, more| count + more);
            }
            Kind::Alloc => self.allocate(id, event.value),
            Kind::Free => self.mark_freed(event.value, Some(id)),
            _ => {}
        }
    }

    /// Whether what a read reads is there, and is a write of the same place.
    fn has_source(&self, event: &Event) -> bool {
        if !event.is_read() || event.rf.is_init() {
            return true;
        }
        let thread = self.threads.get(event.rf.thread());
        let source = thread.and_then(|thread| thread.events.get(event.rf.index()));
        source.is_some_and(|source| source.is_write() && source.loc == event.loc)
    }

    /// The inverse; gives the position.
    fn detach(&mut self, id: Id, event: &Event) -> usize {
        self.seq_cst -= u32::from(event.marks.is_seq_cst());
        match event.kind {
            Kind::Read if event.loc != Loc::NONE => {
                let place = &mut self.places[event.loc.0 as usize];
                let at = place.reads.iter().rposition(|read| *read == id);
                debug_assert!(at.is_some(), "{id:?} is not among the reads of its place");
                let at = at.unwrap_or(0);
                place.reads.remove(at);
                place.count(event, |count, less| count - less);
                return at;
            }
            Kind::Write if event.loc != Loc::NONE => {
                let place = &mut self.places[event.loc.0 as usize];
                let at = place.co.iter().rposition(|write| *write == id);
                debug_assert!(at.is_some(), "{id:?} is not in coherence order");
                let at = at.unwrap_or(0);
                place.co.remove(at);
                if event.marks.updates()
                    && let Some(last) = self.updated.iter().rposition(|loc| *loc == event.loc)
                {
                    self.updated.remove(last);
                }
                place.count(event, |count, less| count - less);
                return at;
            }
            Kind::Alloc => {
                self.threads[id.thread()].objects.pop();
            }
            Kind::Free => self.mark_freed(event.value, None),
            _ => {}
        }
        0
    }

    fn allocate(&mut self, id: Id, address: Bits) {
        let thread = &mut self.threads[id.thread()];
        let Some(Standing { at: At::Alloc { size, kind, zeroed, .. }, .. }) =
            thread.standings.get(id.index())
        else {
            return;
        };
        thread.objects.push(Object {
            address: address.unsigned() as u64,
            size: u64::try_from(*size).unwrap_or(u64::MAX),
            kind: *kind,
            zeroed: *zeroed,
            made: id,
            freed: None,
        });
    }

    fn mark_freed(&mut self, address: Bits, freed: Option<Id>) {
        let address = address.unsigned() as u64;
        if let Some((thread, index)) = self.find_object(address) {
            self.threads[thread].objects[index].freed = freed;
        }
    }

    /// The allocated object that an address lies in or right behind, as thread and number.
    pub fn find_object(&self, address: u64) -> Option<(usize, usize)> {
        let owner = self.slots.owner(address)?;
        let objects = &self.threads.get(owner)?.objects;
        let after = objects.partition_point(|object| object.address <= address);
        let index = after.checked_sub(1)?;
        Some((owner, index))
    }

    /// Takes out the event at a place in the order of addition, and every later one for which
    /// `keep` does not hold. What is taken out must be the ends of threads.
    pub fn restrict(&mut self, from: usize, keep: impl Fn(Id) -> bool) -> Restriction {
        let restriction = Restriction {
            removed: self.removed.len(),
            order: self.removed_order.len(),
            from,
            #[cfg(debug_assertions)]
            digest: self.digest(),
        };
        self.removed_order.extend_from_slice(&self.order[from..]);
        for place in (from..self.order.len()).rev() {
            let id = self.order[place];
            if place > from && keep(id) {
                continue;
            }
            self.remove(id);
        }
        let mut kept = from;
        for place in from + 1..self.order.len() {
            let id = self.order[place];
            if keep(id) {
                self.order[kept] = id;
                kept += 1;
            }
        }
        self.order.truncate(kept);
        restriction
    }

    fn remove(&mut self, id: Id) {
        debug_assert_eq!(
            self.threads[id.thread()].events.len(),
            id.index() + 1,
            "{id:?} is not the end of its thread"
        );
        let Some(after) = self.threads[id.thread()].standings.pop() else {
            return;
        };
        self.clocks.save(id.thread());
        let event = *self.event(id);
        let child = self.child(id, &event).and_then(|child| self.threads[child].standings.pop());
        if let Some((event, position)) = self.take(id) {
            self.removed.push(Removed { id, event, position, after, child });
        }
    }

    /// Puts back what a restriction took out. The graph must be as it was after it.
    pub fn restore(&mut self, restriction: Restriction) {
        while self.removed.len() > restriction.removed {
            let Some(Removed { id, event, position, after, child }) = self.removed.pop() else {
                break;
            };
            self.attach(id, &event, position);
            self.clocks.restore(id.thread());
            let thread = &mut self.threads[id.thread()];
            thread.events.push(event);
            thread.standings.push(after);
            if let Some(begin) = child {
                self.spawn(id, event.value.unsigned() as usize, begin);
            }
        }
        self.order.truncate(restriction.from);
        self.order.extend(self.removed_order.drain(restriction.order..));
        #[cfg(debug_assertions)]
        assert_eq!(self.digest(), restriction.digest, "a revisit has not restored what it took");
    }

    /// What the graph is, as far as a revisit may change it.
    #[cfg(debug_assertions)]
    fn digest(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.order.hash(&mut hasher);
        for id in &self.order {
            let event = self.event(*id);
            (event.value, event.rf, event.stamp, event.loc.0, event.in_section).hash(&mut hasher);
        }
        for (number, place) in self.places.iter().enumerate() {
            if !place.co.is_empty() || !place.reads.is_empty() {
                (number, &place.co, &place.reads, place.non_atomic).hash(&mut hasher);
            }
        }
        for (number, thread) in self.threads.iter().enumerate() {
            if !thread.standings.is_empty() {
                (number, thread.standings.len(), thread.older_twin).hash(&mut hasher);
                let objects = thread.objects.iter().map(|it| (it.address, it.made, it.freed));
                objects.for_each(|object| object.hash(&mut hasher));
            }
        }
        self.seq_cst.hash(&mut hasher);
        hasher.finish()
    }

    /// Events of the graph.
    pub fn len(&self) -> usize {
        self.order.len()
    }
}
