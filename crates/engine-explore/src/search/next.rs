//! What comes next: which thread, and in which ways its next event can be added.

use parallax_machine::{NESTED_SECTION, TOO_LARGE, TOO_MANY_THREADS};
use parallax_program::Bits;

use super::{Node, Search};
use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::graph::ThreadGraph;
use crate::locks;
use crate::memory::Parts;
use crate::standing::{At, SECTIONS, Standing};

impl<'p> Search<'_, 'p> {
    /// A thread in the middle of an operation or of an atomic section, or else the first that can go on.
    /// One that would wait at once lets the others go first: perhaps they do what it waits for.
    pub(super) fn next_thread(&mut self) -> Option<usize> {
        let halfway = |thread: &ThreadGraph<'p>| {
            let is_looking = || self.graph.has_locks && locks::is_looking(thread);
            // What others see of a section before it is over is no execution yet.
            let is_inside = || thread.events.last().is_some_and(Event::is_before_inside);
            let now = thread.standings.last();
            now.is_some_and(|now| {
                let goes_first = || is_looking() || is_inside();
                now.is_halfway() || goes_first() && now.is_ready() && self.can_go_on(now)
            })
        };
        if let Some(thread) = self.graph.threads.iter().position(halfway) {
            return Some(thread);
        }
        let mut patient = None;
        for number in 0..self.graph.threads.len() {
            let Some(now) = self.graph.now(number) else {
                continue;
            };
            if !now.is_ready() || !self.can_go_on(now) {
                continue;
            }
            if !self.is_patient || !self.would_wait(number) {
                return Some(number);
            }
            patient = patient.or(Some(number));
        }
        patient
    }

    /// Whether a thread would be stuck if it read the newest value next.
    fn would_wait(&mut self, thread: usize) -> bool {
        let Some(now) = self.graph.now(thread) else {
            return false;
        };
        if !self.runner.may_wait(now) {
            return false;
        }
        let Some((address, bytes, _)) = now.at.access() else {
            return false;
        };
        let parts = self.memory.parts(address, bytes);
        let loc = parts.loc(0);
        self.graph.reserve_place(loc);
        if parts.count > 1 {
            return false;
        }
        let newest = self.graph.place(loc).co.len();
        let Some(event) = self.read_event(thread, newest, false) else {
            return false;
        };
        self.graph.now(thread).is_some_and(|now| {
            self.runner.would_wait(thread as u32, now, event.value)
                || self.would_be_stale(thread, now, &event)
        })
    }

    /// Whether a thread comes to nothing if the compare-and-swap that it stands at fails like this.
    fn would_be_stale(&self, thread: usize, now: &Standing<'p>, event: &Event) -> bool {
        let (At::Cas(_), false) = (&now.at, event.marks.is_rmw()) else {
            return false;
        };
        let next = self.runner.pass_cas(thread as u32, now, event.value, false);
        self.is_stale(thread, self.graph.threads[thread].events.len(), event, &next)
    }

    fn can_go_on(&self, now: &Standing<'p>) -> bool {
        match &now.at {
            At::Join { thread } => self.end_of(*thread).is_some(),
            at => self.memory.wrong_with(&self.graph, at).is_none(),
        }
    }

    /// The last step of a thread, if it has ended.
    fn end_of(&self, thread: u64) -> Option<Id> {
        let number = usize::try_from(thread).ok()?;
        let graph = self.graph.threads.get(number)?;
        matches!(graph.standings.last()?.at, At::Ended)
            .then(|| Id::new(number, graph.events.len().saturating_sub(1)))
    }

    /// What there is to try for the next event of a thread; None where it is beyond the engine.
    pub(super) fn node(&mut self, thread: usize) -> Option<Node> {
        if self.graph.has_locks {
            let at = self.graph.now(thread)?.at.clone();
            if self.goes_further(thread, &at) {
                return None;
            }
        }
        let now = self.graph.now(thread)?;
        let done = now.done;
        match &now.at {
            At::Rmw { .. } | At::Cas(_) | At::Enter if done > 0 => self.write_half(thread),
            At::Load { address, bytes, marks } => {
                let (address, bytes, marks) = (*address, *bytes, *marks);
                let parts = self.parts(thread, address, bytes, marks.is_atomic())?;
                self.read_node(thread, parts.loc(done))
            }
            At::Rmw { address, bytes, .. } => {
                let parts = self.parts(thread, *address, *bytes, true)?;
                self.read_node(thread, parts.loc(0))
            }
            At::Cas(cas) => {
                let (address, bytes) = (cas.address, cas.bytes);
                let parts = self.parts(thread, address, bytes, true)?;
                self.read_node(thread, parts.loc(0))
            }
            At::Store { address, bytes, value, marks } => {
                let (address, bytes, value, marks) = (*address, *bytes, *value, *marks);
                let parts = self.parts(thread, address, bytes, marks.is_atomic())?;
                let (below, width) = parts.bits(done);
                let marks = marks
                    .with(Marks::CONTINUES.when(done > 0))
                    .with(Marks::PART.when(parts.count > 1));
                let value = value.extract(below, width);
                let event = Event::new(Kind::Write, marks, parts.loc(done), value);
                self.section_or_write_node(thread, locks::giving(&self.graph, thread, event))
            }
            At::Enter | At::Leave => self.section_node(thread),
            At::Choice { below, .. } => {
                Some(Node::Choice { live: false, thread, next: 0, below: *below })
            }
            other => {
                let at = other.clone();
                let event = self.only_event(thread, &at)?;
                Some(Node::Step { live: false, thread, event })
            }
        }
    }

    /// The next event of a thread where there is one way only.
    fn only_event(&mut self, thread: usize, at: &At<'p>) -> Option<Event> {
        let life = Marks::LIFE.with(Marks::ATOMIC);
        let acquire = life.with(Marks::ACQUIRE);
        let release = life.with(Marks::RELEASE).with(Marks::STORE_BARRIER);
        let event = |kind, marks, value: u64| {
            Event::new(kind, marks, Loc::NONE, Bits::new(64, u128::from(value)))
        };
        let plain = Marks::default();
        Some(match at {
            At::Fence { marks } => event(Kind::Fence, *marks, 0),
            At::Begin => {
                let by = self.graph.threads[thread].spawned_by;
                Event { rf: by, ..event(Kind::Read, acquire, 0) }
            }
            At::Join { thread: other } => {
                Event { rf: self.end_of(*other)?, ..event(Kind::Read, acquire, 0) }
            }
            At::Spawn { .. } => event(Kind::Write, release, self.number_of_child(thread)? as u64),
            // With the first thread the program may be over.
            At::End
                if self.in_section(thread)
                    && !(thread == 0 && self.runner.code.program.daemons) =>
            {
                let site = self.graph.now(thread).and_then(Standing::site);
                self.observer.unsupported("a thread that ends in an atomic section", site);
                return None;
            }
            At::End => event(Kind::Write, release, 0),
            At::Alloc { size, align, .. } => {
                event(Kind::Alloc, plain, self.fresh_address(thread, *size, *align)?)
            }
            At::Free { address, .. } => event(Kind::Free, plain, *address),
            At::HeapSize { address } => {
                let object = self.graph.find_object(*address);
                let size = object
                    .map_or(0, |(owner, index)| self.graph.threads[owner].objects[index].size);
                event(Kind::Query, plain, size)
            }
            _ => return None,
        })
    }

    /// Entering and leaving atomic sections, which exclude one another.
    fn section_node(&mut self, thread: usize) -> Option<Node> {
        let now = self.graph.now(thread)?;
        let leaves = matches!(now.at, At::Leave);
        if self.in_section(thread) != leaves {
            let what = NESTED_SECTION;
            self.observer.unsupported(what, now.site());
            return None;
        }
        let loc = self.memory.loc(SECTIONS, 4);
        if !leaves {
            return self.read_node(thread, loc);
        }
        let marks =
            Marks::ATOMIC.with(Marks::RELEASE).with(Marks::STORE_BARRIER).with(Marks::LEAVE);
        self.write_node(thread, Event::new(Kind::Write, marks, loc, Bits::zero(32)))
    }

    /// The cells of an access. Atomic accesses of several cells are beyond the engine.
    fn parts(&mut self, thread: usize, address: u64, bytes: u8, atomic: bool) -> Option<Parts> {
        let parts = self.memory.parts(address, bytes);
        if atomic && parts.count > 1 {
            let site = self.graph.now(thread).and_then(Standing::site);
            self.observer.unsupported("an atomic access of mixed size", site);
            return None;
        }
        Some(parts)
    }

    fn read_node(&mut self, thread: usize, loc: Loc) -> Option<Node> {
        self.graph.reserve_place(loc);
        let marks = match &self.graph.now(thread)?.at {
            At::Rmw { read, .. } => self.settled(*read, loc),
            // One that succeeds may have to know more: see `try_read`.
            At::Cas(cas) => cas.fail,
            At::Load { marks, .. } => *marks,
            _ => Marks::ATOMIC,
        };
        let probe = Event::new(Kind::Read, marks, loc, Bits::zero(1));
        let low = self.judge.must_know(&self.graph, thread, &probe);
        let next = self.graph.place(loc).co.len() + 1;
        if self.graph.has_locks && locks::is_looking(&self.graph.threads[thread]) {
            let (live, next, fails) = (false, low + 1, false);
            return Some(Node::Read { live, thread, next, low, fails });
        }
        if marks.updates() {
            let (live, low, fails) = (false, next - 1, false);
            return Some(Node::Read { live, thread, next, low, fails });
        }
        if self.graph.has_barriers && marks.is_at_barrier() {
            let low = self.only_source(thread, low)?;
            let (live, fails) = (false, false);
            return Some(Node::Read { live, thread, next: low + 1, low, fails });
        }
        Some(Node::Read { live: false, thread, next, low, fails: false })
    }

    /// The position of the one write that a thread at a barrier reads: the newest if it arrives, the
    /// first that lets it go if it departs.
    fn only_source(&self, thread: usize, low: usize) -> Option<usize> {
        let now = self.graph.now(thread)?;
        let newest = self.graph.place(self.loc_of(now)?).co.len();
        let At::Load { .. } = now.at else {
            return Some(newest);
        };
        let lets_go = |position: &usize| {
            let read = self.read_event(thread, *position, false);
            read.is_some_and(|read| !self.runner.would_wait(thread as u32, now, read.value))
        };
        Some((low..newest).find(lets_go).unwrap_or(newest))
    }

    fn write_node(&mut self, thread: usize, event: Event) -> Option<Node> {
        self.graph.reserve_place(event.loc);
        let (low, high) = self.positions(thread, &event);
        let reads = self.collect_revisits(thread, &event);
        Some(Node::Write { live: false, thread, event, next: high + 1, low, reads })
    }

    /// The second half of a read-modify-write.
    fn write_half(&mut self, thread: usize) -> Option<Node> {
        let now = self.graph.now(thread)?;
        let (address, bytes, marks) = match &now.at {
            At::Rmw { address, bytes, write, .. } => (*address, *bytes, *write),
            At::Cas(cas) => (cas.address, cas.bytes, cas.write),
            At::Enter => (SECTIONS, 4, Marks::section_lock().with(Marks::ENTER)),
            _ => return None,
        };
        let old = Bits::new(u32::from(bytes) * 8, now.seen);
        let value = now.written(old)?;
        let loc = self.memory.parts(address, bytes).loc(0);
        let event = Event::new(Kind::Write, self.settled(marks, loc), loc, value);
        match self.is_followed(&event) {
            true => self.section_or_write_node(thread, locks::taking(&self.graph, thread, event)),
            false => self.write_node(thread, event),
        }
    }

    /// A write, or the beginning or end of a critical section that changes nothing, which is none.
    fn section_or_write_node(&mut self, thread: usize, event: Event) -> Option<Node> {
        match event.loc {
            Loc::NONE => Some(Node::Step { live: false, thread, event }),
            _ => self.write_node(thread, event),
        }
    }

    /// Lowest and highest place in coherence order for a write that is next in its thread.
    pub(super) fn positions(&mut self, thread: usize, event: &Event) -> (usize, usize) {
        let place = self.graph.place(event.loc);
        if event.marks.is_rmw()
            && let Some(read) = self.graph.threads[thread].events.last()
        {
            let position = place.position(read.rf);
            return (position, position);
        }
        let high = place.co.len();
        (self.judge.must_know(&self.graph, thread, event), high)
    }

    /// Whether the next event of a thread is inside an atomic section.
    fn in_section(&self, thread: usize) -> bool {
        let before = self.graph.threads[thread].events.last();
        before.is_some_and(|before| {
            before.marks.is_enter() || before.in_section && !before.marks.is_leave()
        })
    }

    /// The number of the thread that a thread is about to spawn.
    fn number_of_child(&mut self, thread: usize) -> Option<usize> {
        let spawned = self.graph.threads[thread].spawns();
        let child = self.memory.known.number((thread, spawned));
        if child >= Id::MAX_THREADS {
            let site = self.graph.now(thread).and_then(Standing::site);
            self.observer.unsupported(TOO_MANY_THREADS, site);
            return None;
        }
        self.graph.reserve(child);
        Some(child)
    }

    /// An address for a new object of a thread, behind its older ones.
    fn fresh_address(&mut self, thread: usize, size: u128, align: u32) -> Option<u64> {
        let last = self.graph.threads[thread].objects.last();
        let last = last.map(|last| (last.address, last.size));
        let place = self.graph.slots.next(thread as u32, last, size, align);
        if place.is_none() {
            let site = self.graph.now(thread).and_then(Standing::site);
            self.observer.unsupported(TOO_LARGE, site);
        }
        place
    }
}
