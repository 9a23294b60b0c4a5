//! Revisits: a write makes a read that was there before read it.
//!
//! What was added after the read, and does not lead to the write, is taken out. That is done from
//! one graph only, the one in which all of that was added in the default way: reads of the newest
//! write, writes at the end of coherence order. For any graph with the read reading the write
//! there is just one such graph, so the revisited one is reached once.

use parallax_program::Bits;

use super::{Node, Revisiting, Search};
use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::locks;
use crate::retries;
use crate::symmetry;
use crate::updates;

impl<'p> Search<'_, 'p> {
    /// Lists the reads that a write which is next in its thread revisits; how many they are. A
    /// read is revisited if everything that this would take out was added in the default way.
    pub(super) fn collect_revisits(&mut self, thread: usize, write: &Event) -> usize {
        let (graph, loc) = (&self.graph, write.loc);
        let length = graph.threads[thread].events.len();
        let is_before = |id: Id| graph.clocks.before_next(Clock::Prefix, id, thread, length);
        let open = graph.place(loc).reads.iter().filter(|read| !is_before(**read));
        let Some(oldest) = open.map(|read| graph.event(*read).stamp).min() else {
            return 0;
        };
        let listed = self.path.to_revisit.len();
        for id in graph.order.iter().rev() {
            if is_before(*id) {
                continue;
            }
            let event = graph.event(*id);
            if event.stamp < oldest || !self.is_default(thread, length, *id) {
                break;
            }
            if event.loc == loc && event.is_read() && self.may_revisit(write, *id) {
                self.path.to_revisit.push(*id);
            }
        }
        let count = self.path.to_revisit.len() - listed;
        if count > 0 && !self.graph.updated.is_empty() {
            let torn = updates::torn(&self.graph, thread);
            if !torn.is_empty() {
                let places = torn.into_iter().map(|loc| self.memory.address(loc));
                self.observer.keep_order(places.collect::<Vec<_>>());
                self.path.to_revisit.truncate(listed);
                return 0;
            }
        }
        count
    }

    /// Whether a write may be what a read should see. One that arrives at a barrier is that only for
    /// threads that wait for it.
    fn may_revisit(&self, write: &Event, read: Id) -> bool {
        let event = self.graph.event(read);
        if locks::is_in_looking_section(event) || event.marks.updates() {
            return false;
        }
        if !self.graph.has_barriers || !write.marks.arrives() {
            return true;
        }
        let waits = |value: Bits| {
            let before = self.graph.standing(read);
            self.runner.would_wait(read.thread() as u32, before, value)
        };
        let newest = self.graph.place(write.loc).co.last();
        self.graph.event(read).marks.departs()
            && self.stuck_read(read.thread()) == Some(read)
            && newest.is_some_and(|newest| waits(self.graph.event(*newest).value))
    }

    /// Whether an event was added in the default way, as the write that is next in
    /// `thread` sees it: a read reads the last write, and a write is the last one, of those
    /// that were there or lead to the new write; and no older read was made to read it.
    fn is_default(&self, thread: usize, length: usize, id: Id) -> bool {
        let event = self.graph.event(id);
        let stamp = event.stamp;
        let was_there = |other: Id| {
            other.is_init()
                || self.graph.event(other).stamp <= stamp
                || self.graph.clocks.before_next(Clock::Prefix, other, thread, length)
        };
        match event.kind {
            Kind::Choice { is_default } => is_default,
            Kind::Read if event.marks.is_spurious() => false,
            // There is nothing to choose.
            Kind::Read | Kind::Write if event.marks.updates() => true,
            Kind::Read if locks::is_in_looking_section(event) => true,
            Kind::Read | Kind::Write if event.loc != Loc::NONE => {
                let place = self.graph.place(event.loc);
                let write = if event.is_read() { event.rf } else { id };
                let position = place.position(write);
                let revisited = |read: &Id| {
                    let read = self.graph.event(*read);
                    read.rf == id && read.stamp <= stamp
                };
                let is_last = || !place.co[position..].iter().any(|later| was_there(*later));
                let has_choice = !self.graph.has_barriers || !event.marks.is_at_barrier();
                was_there(write)
                    && (!has_choice || is_last())
                    && !(event.marks.has_revisited() && place.reads.iter().any(revisited))
            }
            _ => true,
        }
    }

    pub(super) fn advance_revisit(
        &mut self,
        thread: usize,
        event: Event,
        mut reads: usize,
        mut at: Option<Revisiting>,
    ) -> bool {
        loop {
            if let Some(mut revisiting) = at.take() {
                if revisiting.live {
                    self.undo_revisit(&revisiting);
                }
                while revisiting.next > revisiting.low || revisiting.fails {
                    let fails = revisiting.fails;
                    if !fails {
                        revisiting.next -= 1;
                    }
                    let done = self.try_revisit(thread, event, &mut revisiting, fails);
                    if done {
                        revisiting.live = true;
                        let at = Some(revisiting);
                        self.push_node(Node::Revisit { thread, event, reads, at });
                        return true;
                    }
                }
                self.graph.restore(revisiting.restriction);
            }
            if reads == 0 {
                return false;
            }
            reads -= 1;
            if let Some(read) = self.path.to_revisit.pop() {
                at = Some(self.begin_revisit(thread, &event, read));
            }
        }
    }

    /// Takes out the read and what depends on it.
    fn begin_revisit(&mut self, thread: usize, event: &Event, read: Id) -> Revisiting {
        let stamp = self.graph.event(read).stamp;
        let length = self.graph.threads[thread].events.len();
        let last = length.checked_sub(1).map(|index| Id::new(thread, index));
        let clock: Vec<u32> =
            last.map_or(Vec::new(), |last| self.graph.clocks.get(Clock::Prefix, last).to_vec());
        let from = self.graph.order.iter().rposition(|id| *id == read).unwrap_or(0);
        let keep = |id: Id| Clocks::covers(&clock, id);
        let restriction = self.graph.restrict(from, keep);
        let (low, high) = self.positions(thread, event);
        Revisiting { live: false, read, stamp, restriction, next: high + 1, low, fails: false }
    }

    /// Adds the write at a place in coherence order, and the read, which reads it, and fails for no
    /// reason if `fails`. Notes whether it may fail for none.
    fn try_revisit(
        &mut self,
        thread: usize,
        event: Event,
        at: &mut Revisiting,
        fails: bool,
    ) -> bool {
        at.fails = false;
        let position = at.next;
        let place = self.graph.place(event.loc);
        let is_latest = position == place.co.len();
        if place.co.get(position).is_some_and(|next| self.graph.event(*next).marks.is_rmw()) {
            return false;
        }
        let marks = event.marks.with(Marks::REVISITED);
        let stamp = at.stamp + 1;
        let write = self.graph.push(thread, Event { marks, stamp, ..event }, position);
        let reader = at.read.thread();
        at.fails = !fails && self.may_fail(reader, position + 1);
        let read = self
            .read_event(reader, position + 1, fails)
            .filter(|read| self.judge.must_know(&self.graph, reader, read) <= position + 1);
        let Some(read) = read else {
            self.graph.pop();
            return false;
        };
        let read = Event { stamp: at.stamp, ..read };
        let read = self.graph.push_early(reader, read, at.restriction.from);
        if symmetry::is_out_of_order(&self.graph, write)
            || symmetry::is_out_of_order(&self.graph, read)
            || symmetry::is_overtaken(&self.graph)
            || !self.allows(&[write, read], is_latest)
        {
            self.graph.pop_early(read, at.restriction.from);
            self.graph.pop();
            return false;
        }
        self.go_on(write);
        self.go_on(read);
        let is_stuck = !is_latest && self.stuck_read(reader).is_some();
        if is_stuck || retries::is_vain(&self.graph, reader) {
            self.undo_revisit(at);
            return false;
        }
        true
    }

    pub(super) fn undo_revisit(&mut self, at: &Revisiting) {
        self.graph.pop_early(at.read, at.restriction.from);
        self.graph.pop();
    }

    pub(super) fn forget_revisits(&mut self, reads: usize) {
        let left = self.path.to_revisit.len() - reads;
        self.path.to_revisit.truncate(left);
    }
}
