//! Steps forward: a read with each write that it may see, a write at each place in coherence
//! order, a choice with each value; and where that leads the thread.

use parallax_program::{Bits, Open};

use super::{Node, Search};
use crate::clocks::Clock;
use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::quiet;
use crate::retries;
use crate::standing::{At, Standing};
use crate::symmetry;

impl<'p> Search<'_, 'p> {
    pub(super) fn advance_step(&mut self, live: bool, thread: usize, event: Event) -> bool {
        if live {
            self.graph.pop();
            return false;
        }
        let late =
            if event.kind == Kind::Free { self.late_write(thread, event.value) } else { None };
        let id = self.graph.push(thread, event, 0);
        self.go_on(id);
        if let Some(write) = late {
            self.observer.late_user(&self.graph, &self.memory, write, id);
        }
        self.push_node(Node::Step { live: true, thread, event });
        true
    }

    /// A write to an object, which the thread is about to free, that may not have reached memory.
    fn late_write(&mut self, thread: usize, address: Bits) -> Option<Id> {
        if !self.judge.has_buffers() {
            return None;
        }
        let (owner, index) = self.graph.find_object(address.unsigned() as u64)?;
        let object = self.graph.threads[owner].objects[index];
        let locs: Vec<Loc> = self.memory.locs_within(object.address, object.size).collect();
        locs.into_iter().filter(|loc| (loc.0 as usize) < self.graph.places.len()).find_map(|loc| {
            let read = Event::new(Kind::Read, Marks::default(), loc, self.memory.zero(loc));
            let known = self.judge.must_know(&self.graph, thread, &read);
            let place = self.graph.place(loc);
            (known < place.co.len()).then(|| place.at(place.co.len()))
        })
    }

    pub(super) fn advance_choice(
        &mut self,
        live: bool,
        thread: usize,
        next: u64,
        below: u64,
    ) -> bool {
        if live {
            self.graph.pop();
        }
        let Some(At::Choice { first, width, .. }) = self.graph.now(thread).map(|now| &now.at)
        else {
            return false;
        };
        if next >= below {
            return false;
        }
        let value = Bits::signed(*width, *first + i128::from(next));
        let kind = Kind::Choice { is_default: next == 0 };
        let id = self.graph.push(thread, Event::new(kind, Marks::default(), Loc::NONE, value), 0);
        if symmetry::is_out_of_order(&self.graph, id) {
            return self.advance_choice(true, thread, next + 1, below);
        }
        self.go_on(id);
        self.push_node(Node::Choice { live: true, thread, next: next + 1, below });
        true
    }

    pub(super) fn advance_read(
        &mut self,
        thread: usize,
        mut next: usize,
        low: usize,
        mut fails: bool,
    ) -> bool {
        while next > low || fails {
            let is_spurious = fails;
            if !is_spurious {
                next -= 1;
            }
            fails = !is_spurious && self.may_fail(thread, next);
            if self.try_read(thread, next, is_spurious) {
                self.push_node(Node::Read { live: true, thread, next, low, fails });
                return true;
            }
        }
        false
    }

    /// Whether the next event of a thread is the read of a weak compare-and-swap that finds what
    /// it expects in the write at that position, and may fail all the same.
    pub(super) fn may_fail(&self, thread: usize, position: usize) -> bool {
        let now = self.graph.now(thread);
        let is_weak = now.is_some_and(|now| matches!(&now.at, At::Cas(cas) if cas.is_weak));
        is_weak && self.read_event(thread, position, true).is_some()
    }

    /// Adds the read that is next in its thread, reading the write at that position; as that of a
    /// compare-and-swap which fails though it finds what it expects, if `fails`.
    fn try_read(&mut self, thread: usize, position: usize, fails: bool) -> bool {
        let Some(event) = self.read_event(thread, position, fails) else {
            return false;
        };
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        if event.marks.is_rmw()
            && (self.is_taken(thread, event.loc, position)
                || self.must_know_more(thread, &event, position))
        {
            return false;
        }
        // A read that its thread is stuck at, and not of the newest write, cannot be revisited:
        // nothing comes of it.
        let id = self.graph.push(thread, event, usize::MAX);
        if symmetry::is_out_of_order(&self.graph, id) || !self.allows(&[id], is_latest) {
            self.graph.pop();
            return false;
        }
        self.go_on(id);
        if !is_latest && self.stuck_read(thread).is_some() || retries::is_vain(&self.graph, thread)
        {
            self.graph.pop();
            return false;
        }
        true
    }

    /// The read that is next in its thread, of the write at that position; that of a
    /// compare-and-swap which fails though it finds what it expects, if `fails` and if it may.
    pub(super) fn read_event(&self, thread: usize, position: usize, fails: bool) -> Option<Event> {
        let now = self.graph.now(thread)?;
        let loc = self.loc_of(now)?;
        let source = self.graph.place(loc).at(position);
        let value = self.value_of(source, loc);
        let marks = match &now.at {
            At::Cas(cas) if fails && cas.is_weak && value == cas.expected => {
                cas.fail.with(Marks::SPURIOUS)
            }
            _ if fails => return None,
            At::Load { bytes, marks, .. } => {
                let (_, part) = self.memory.table[loc.0 as usize];
                marks
                    .with(Marks::CONTINUES.when(now.done > 0))
                    .with(Marks::PART.when(part != *bytes))
            }
            At::Rmw { read, .. } => self.settled(*read, loc),
            At::Cas(cas) if value == cas.expected => {
                let is_followed = cas.write.is_awaited() && self.follows(loc);
                cas.read.with(Marks::SEQ_CST.when(is_followed))
            }
            At::Cas(cas) => cas.fail,
            At::Enter if value.is_zero() => Marks::section_lock(),
            At::Enter => Marks::ATOMIC,
            _ => return None,
        };
        Some(Event { rf: source, ..Event::new(Kind::Read, marks, loc, value) })
    }

    pub(super) fn loc_of(&self, now: &Standing<'p>) -> Option<Loc> {
        let (address, bytes, _) = now.at.access()?;
        self.memory.known_loc(address, bytes, now.done)
    }

    pub(super) fn value_of(&self, source: Id, loc: Loc) -> Bits {
        match source.is_init() {
            true => {
                let initial = self.memory.initial(&self.graph, loc);
                initial.unwrap_or_else(|| Bits::undefined(self.memory.zero(loc).width()))
            }
            false => self.graph.event(source).value,
        }
    }

    /// Whether a compare-and-swap that succeeds must know of a later write, though one that
    /// fails need not: where store buffers are emptied by the one and not by the other.
    fn must_know_more(&mut self, thread: usize, event: &Event, position: usize) -> bool {
        let is_cas = self.graph.now(thread).is_some_and(|now| matches!(now.at, At::Cas(_)));
        is_cas
            && self.judge.has_buffers()
            && self.judge.must_know(&self.graph, thread, event) > position
    }

    /// Whether another read-modify-write, which comes before the next event of the thread, has
    /// read the write at that position.
    fn is_taken(&self, thread: usize, loc: Loc, position: usize) -> bool {
        let place = self.graph.place(loc);
        let length = self.graph.threads[thread].events.len();
        place.co.get(position).is_some_and(|next| {
            self.graph.event(*next).marks.is_rmw()
                && self.graph.clocks.before_next(Clock::Prefix, *next, thread, length)
        })
    }

    pub(super) fn advance_write(
        &mut self,
        thread: usize,
        event: Event,
        mut next: usize,
        low: usize,
        reads: usize,
    ) -> bool {
        while next > low {
            next -= 1;
            if self.try_write(thread, event, next) {
                self.push_node(Node::Write { live: true, thread, event, next, low, reads });
                return true;
            }
        }
        self.advance_revisit(thread, event, reads, None)
    }

    fn try_write(&mut self, thread: usize, event: Event, position: usize) -> bool {
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        // No write comes between the halves of a read-modify-write.
        if place.co.get(position).is_some_and(|next| self.graph.event(*next).marks.is_rmw()) {
            return false;
        }
        let id = self.graph.push(thread, event, position);
        if symmetry::is_out_of_order(&self.graph, id) || !self.allows(&[id], is_latest) {
            self.graph.pop();
            return false;
        }
        self.go_on(id);
        if retries::is_vain(&self.graph, thread) {
            self.graph.pop();
            return false;
        }
        true
    }

    /// The last event of a thread, if it is a read that must see another write for the thread
    /// to go on.
    pub(super) fn stuck_read(&self, thread: usize) -> Option<Id> {
        let thread_graph = &self.graph.threads[thread];
        let now = thread_graph.standings.last()?;
        let last = thread_graph.events.last().filter(|_| now.is_stuck_after_one())?;
        let is_read = last.is_read() && last.loc != Loc::NONE && !last.marks.continues();
        is_read.then(|| Id::new(thread, thread_graph.events.len() - 1))
    }

    /// Where the thread stands after an event that was just added; what is wrong with it.
    pub(super) fn go_on(&mut self, id: Id) {
        if self.graph.has_locks {
            self.look_ahead(id);
        }
        let next = self.after(id);
        self.graph.threads[id.thread()].standings.push(next);
        self.observer.added(&self.graph, &self.memory, id);
    }

    /// Whether a compare-and-swap that fails, at a place in its thread, comes to nothing beside the
    /// read before it; `next` is where the thread stands then.
    pub(super) fn is_stale(
        &self,
        thread: usize,
        index: usize,
        event: &Event,
        next: &Standing<'p>,
    ) -> bool {
        let Some(before) = index.checked_sub(1).map(|before| Id::new(thread, before)) else {
            return false;
        };
        let first = self.graph.event(before);
        retries::may_stand_for(event, first)
            && self.runner.is_stale(thread as u32, self.graph.standing(before), event.value, next)
    }

    fn after(&mut self, id: Id) -> Standing<'p> {
        let number = id.thread() as u32;
        let event = *self.graph.event(id);
        let standing = self.graph.standing(id);
        let runner = &self.runner;
        match &standing.at {
            At::Begin => runner.enter(number, standing),
            At::Load { address, bytes, .. } => {
                let parts = self.memory.parts(*address, *bytes);
                let (below, _) = parts.bits(standing.done);
                let seen = standing.seen | event.value.unsigned() << below;
                let is_open = event.value.is_undefined() && !event.marks.is_fresh();
                let undefined = standing.undefined | is_open;
                match standing.done + 1 < parts.count {
                    true => runner.within(standing, seen, undefined),
                    false => {
                        let open = match undefined {
                            true if parts.count > 1 => Open::Part,
                            true => event.value.open(),
                            false => Open::Nothing,
                        };
                        let whole = Bits::new(u32::from(*bytes) * 8, seen).opened(open);
                        runner.pass_load(number, standing, whole)
                    }
                }
            }
            At::Store { .. } | At::Cas(_) if event.is_write() && event.loc == Loc::NONE => {
                runner.pass_unnoticed(number, standing)
            }
            At::Store { address, bytes, .. } => {
                let parts = self.memory.parts(*address, *bytes);
                if standing.done + 1 < parts.count {
                    return runner.within(standing, 0, false);
                }
                let (graph, memory) = (&self.graph, &self.memory);
                match quiet::is_quiet(graph, memory, self.observer.shared.observable, id, &parts) {
                    true => runner.pass_quietly(number, standing),
                    false => runner.pass(number, standing),
                }
            }
            At::Rmw { .. } | At::Cas(_) if event.is_read() && event.value.is_undefined() => {
                runner.undecided(standing)
            }
            At::Rmw { .. } if event.is_read() => {
                runner.within(standing, event.value.unsigned(), false)
            }
            At::Rmw { bytes, .. } => {
                let old = Bits::new(u32::from(*bytes) * 8, standing.seen);
                runner.pass_rmw(number, standing, old)
            }
            At::Enter if event.is_read() => match event.value.is_zero() {
                true => runner.within(standing, 0, false),
                false => runner.shut_out(standing),
            },
            At::Cas(_) if event.is_read() => match event.marks.is_rmw() {
                true => runner.within(standing, event.value.unsigned(), false),
                false => {
                    let next = runner.pass_cas(number, standing, event.value, false);
                    match self.is_stale(id.thread(), id.index(), &event, &next) {
                        true => runner.stale(standing),
                        false => next,
                    }
                }
            },
            At::Cas(cas) => runner.pass_cas(number, standing, cas.expected, true),
            At::Spawn { function, args } => {
                let begin = runner.begin(standing, *function, args);
                let next = runner.pass_with(number, standing, event.value.extract(0, 32));
                self.graph.spawn(id, event.value.unsigned() as usize, begin);
                next
            }
            At::Alloc { .. } | At::HeapSize { .. } => {
                let width = runner.code.program.pointer_width;
                runner.pass_with(number, standing, event.value.extract(0, width))
            }
            At::Choice { .. } => runner.pass_with(number, standing, event.value),
            At::End => runner.ended(standing),
            _ => runner.pass(number, standing),
        }
    }
}
