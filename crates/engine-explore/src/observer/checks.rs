//! What may be wrong with an event that was added, or with an execution that is complete.

use parallax_machine::system::MemoryKind;
use parallax_program::{AllocKind, Property};
use parallax_verdict::is_late;

use super::Observer;
use crate::claim::{claim, step_of};
use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;
use crate::locks;
use crate::memory::{BadAccess, Memory};
use crate::standing::{At, SECTIONS};
use crate::updates;

/// What a machine may keep together, and the search does not.
pub const INTERRUPTED: &str = "an access of mixed size that others may interrupt";

/// Whether an event may come between the parts of an access of another thread, or another between its own.
pub(super) fn is_between_parts(graph: &Graph<'_>, id: Id, event: &Event) -> bool {
    let place = graph.place(event.loc);
    if place.parts == 0 {
        return false;
    }
    let is_before =
        |one: Id, other: Id| Clocks::covers(graph.clocks.get(Clock::Prefix, other), one);
    let meets = |other: &Id| {
        let inner = graph.event(*other);
        other.thread() != id.thread()
            && (inner.marks.is_part() || event.marks.is_part())
            && (inner.is_write() || event.is_write())
            && !is_before(*other, id)
            && !is_before(id, *other)
    };
    place.co.iter().chain(&place.reads).any(meets)
}

impl<'p> Observer<'_, 'p> {
    /// A conflicting access that does not happen before, where one of the two is not atomic.
    pub(super) fn look_for_races(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        if !self.sees.races {
            return;
        }
        let place = graph.place(event.loc);
        if place.non_atomic == 0 {
            return;
        }
        let clock = graph.clocks.get(Clock::Happens, id);
        let races = |other: &&Id| {
            other.thread() != id.thread()
                && !is_excluded(event, graph.event(**other))
                && (event.marks.is_non_atomic() || graph.event(**other).marks.is_non_atomic())
                && !Clocks::covers(clock, **other)
        };
        let reads: &[Id] = if event.is_write() { &place.reads } else { &[] };
        if let Some(other) = place.co.iter().chain(reads).find(races) {
            let message = "data race".to_string();
            self.report(graph, memory, Property::Race, message, None, vec![id, *other]);
        }
    }

    pub(super) fn look_at_initial(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        let undefined = event.is_read()
            && event.rf.is_init()
            && !event.marks.is_copy()
            && self.wants(Property::Memory)
            && memory.initial(graph, event.loc).is_none();
        if undefined {
            let message = BadAccess::Undefined.message().to_string();
            self.report(graph, memory, Property::Memory, message, None, vec![id]);
        }
    }

    /// Nobody notices in which order critical sections come that change nothing.
    pub(super) fn look_at_locks(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        self.findings.has_unordered |= event.looks;
        if event.loc != Loc::NONE
            && let Some(lock) = locks::noticed(graph, id, event)
        {
            self.keep_order([memory.address(lock)]);
        }
    }

    /// Nobody notices in which order read-modify-writes come of whose results nobody makes use.
    pub(super) fn look_at_updates(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        self.findings.has_unordered |= event.marks.updates();
        let noticed = updates::noticed(graph, id, event);
        if !noticed.is_empty() {
            self.keep_order(noticed.into_iter().map(|loc| memory.address(loc)));
        }
    }

    /// A lock is given back by the thread that took it.
    pub(super) fn look_at_unlock(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        if !event.marks.is_unlock() {
            return;
        }
        let place = graph.place(event.loc);
        let own = |write: &&Id| write.thread() == id.thread() && **write != id;
        let last = place.co.iter().filter(own).max_by_key(|write| write.index());
        if !last.is_some_and(|write| graph.event(*write).marks.is_lock()) {
            let message = "unlock by a thread that does not hold the lock".to_string();
            self.report(graph, memory, Property::Lock, message, None, vec![id]);
        }
    }

    /// Atomic sections exclude one another, but not what is outside of all of them: where the
    /// two meet, the engine would let in too much.
    pub(super) fn look_at_sections(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        if !is_apart(graph, memory, id, event) {
            let site = graph.standing(id).site();
            self.unsupported(INTRUDER, site);
        }
    }

    /// An access of several cells is not one event. Where races are errors nobody can see that; where
    /// they are not, others may come in between only if that is what the machine does.
    pub(super) fn look_at_parts(&mut self, graph: &Graph<'p>, id: Id, event: &Event) {
        if !self.sees.happens_before && is_between_parts(graph, id, event) {
            let site = graph.standing(id).site();
            self.unsupported(INTERRUPTED, site);
        }
    }

    /// Nobody uses an object that is freed, unless that happens before.
    pub(super) fn look_at_users(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        id: Id,
        event: &Event,
    ) {
        let Some((owner, index)) = graph.find_object(event.value.unsigned() as u64) else {
            return;
        };
        let object = graph.threads[owner].objects[index];
        let has_order = self.model.is_some_and(|model| model.happens_before().is_some());
        let kind =
            if has_order && self.sees.happens_before { Clock::Happens } else { Clock::Prefix };
        let clock = graph.clocks.get(kind, id);
        let is_before = |user: Id| match self.is_in_order(graph.event(user).is_write()) {
            true => Clocks::covers(clock, user),
            // Whoever has joined a thread comes after all that it did.
            false => {
                let last = graph.threads[user.thread()].events.len().saturating_sub(1);
                let ended = matches!(graph.now(user.thread()).map(|now| &now.at), Some(At::Ended));
                ended && Clocks::covers(clock, Id::new(user.thread(), last))
            }
        };
        let may_be_late = |user: &&Id| {
            user.thread() != id.thread()
                && !is_before(**user)
                && !graph.event(**user).marks.is_farewell()
        };
        let (mut late, mut is_open) = (Vec::new(), false);
        for loc in memory.locs_within(object.address, object.size) {
            let Some(place) = graph.places.get(loc.0 as usize) else {
                continue;
            };
            let mut users = place.co.iter().chain(&place.reads).filter(may_be_late);
            let found = users.find(|user| {
                is_open = true;
                has_order || self.is_late(graph, memory, **user, id)
            });
            late.extend(found);
        }
        if is_open && late.is_empty() {
            // Not in the order that critical sections were put into; there are others.
            let locks: Vec<u64> = locks::unordered(graph).map(|loc| memory.address(loc)).collect();
            if !locks.is_empty() {
                self.keep_order(locks);
            }
        }
        for user in late {
            self.late_user(graph, memory, user, id);
        }
    }

    /// Whether what comes after an access, in program order and by what reads find, really does: a
    /// store may wait in a buffer.
    fn is_in_order(&self, is_write: bool) -> bool {
        let Some(model) = self.model else { return true };
        model.happens_before().is_some()
            || match model.facts().machine {
                Some(MemoryKind::Sc | MemoryKind::Tso) => true,
                Some(MemoryKind::Pso) => !is_write,
                Some(MemoryKind::Mca) | None => false,
            }
    }

    /// Whether an access may come after the end of its object, by a model that does not say what
    /// happens before what.
    fn is_late(&self, graph: &Graph<'p>, memory: &Memory, user: Id, end: Id) -> bool {
        let Some(model) = self.model.filter(|_| !self.is_silent) else {
            return false;
        };
        let claim = claim(graph, memory, None, false);
        let [user, end] = [user, end].map(|id| step_of(graph, id));
        // What cannot be replayed is refused when it is reported.
        let control = &self.shared.options.control;
        is_late(self.code.program, model, &claim, user, end, control).unwrap_or(true)
    }

    /// Threads that wait though they have seen the newest values wait for ever.
    pub(super) fn look_for_endless_waits(&mut self, graph: &Graph<'p>, memory: &Memory) {
        let (mut waiting, mut joining, mut spinning) = (Vec::new(), Vec::new(), Vec::new());
        // Threads that spin may put the same again and again.
        let mut spinners = Vec::new();
        let (mut stuck, mut endless) = (false, false);
        // Threads that take a lock in each round do more than to wait.
        let mut takes = Vec::new();
        for (number, thread) in graph.threads.iter().enumerate() {
            let length = thread.events.len();
            match thread.standings.last().map(|now| &now.at) {
                None | Some(At::Ended) => {}
                Some(At::Waiting) => {
                    stuck = true;
                    let read = thread.events.iter().rposition(Event::is_read);
                    waiting.extend(read.map(|read| Id::new(number, read)));
                }
                Some(At::Join { .. }) => {
                    stuck = true;
                    joining.extend(length.checked_sub(1).map(|index| Id::new(number, index)));
                }
                Some(At::Spinning { since } | At::Cut { since: Some(since) }) => {
                    endless = true;
                    spinners.push(number);
                    let round = thread.first_after(*since)..length;
                    // A compare-and-swap that fails for no reason does not do so for ever.
                    if thread.events[round.clone()].iter().any(|event| event.marks.is_spurious()) {
                        return;
                    }
                    for id in round.map(|index| Id::new(number, index)) {
                        match graph.event(id).kind {
                            Kind::Read => spinning.push(id),
                            Kind::Write if locks::is_in_looking_section(graph.event(id)) => {
                                takes.push(graph.event(id).under);
                            }
                            Kind::Write if !is_settled(graph, id) => return,
                            _ => {}
                        }
                    }
                }
                Some(_) => return,
            }
        }
        let is_latest = |id: &Id| {
            let event = graph.event(*id);
            if event.loc == Loc::NONE || !event.is_read() {
                return true;
            }
            let place = graph.place(event.loc);
            let newer = &place.co[place.position(event.rf)..];
            let repeats = |write: &Id| {
                graph.event(*write).value == event.value && spinners.contains(&write.thread())
            };
            newer.iter().all(repeats)
        };
        // Who waits for the end of a thread waits for what that one waits for.
        waiting.append(&mut joining);
        if !waiting.iter().chain(&spinning).all(is_latest) {
            return;
        }
        if !takes.is_empty() {
            return self.keep_order(takes.into_iter().map(|lock| memory.address(lock)));
        }
        #[cfg(test)]
        crate::symmetry::tests::record(graph);
        let (property, message, involved) = match (endless, stuck) {
            (true, _) if spinning.is_empty() => (Property::Liveness, "a loop never ends", vec![]),
            (true, _) => (Property::Liveness, "a loop waits for ever", spinning),
            (false, true) => (Property::Deadlock, "threads wait for one another", waiting),
            (false, false) => return,
        };
        self.report(graph, memory, property, message.to_string(), None, involved);
    }

    pub(super) fn look_for_leaks(&mut self, graph: &Graph<'p>, memory: &Memory) {
        if !self.wants(Property::Leak) {
            return;
        }
        let objects = graph.threads.iter().flat_map(|thread| &thread.objects);
        let heap = AllocKind::Heap;
        let leaked = objects.clone().find(|object| object.kind == heap && object.freed.is_none());
        if let Some(object) = leaked {
            let message = "an object is never freed".to_string();
            let involved = vec![object.made];
            self.report(graph, memory, Property::Leak, message, None, involved);
        }
    }
}

/// Whether two accesses are in critical sections of the same lock of which one only looks: there is
/// an order of the two that clocks do not have.
fn is_excluded(one: &Event, other: &Event) -> bool {
    one.under != Loc::NONE && one.under == other.under && (one.looks || other.looks)
}

/// Whether a write puts what is there already, and nobody puts something else after it.
fn is_settled(graph: &Graph<'_>, write: Id) -> bool {
    let event = graph.event(write);
    if event.loc == Loc::NONE {
        return false;
    }
    let co = &graph.place(event.loc).co;
    let position = graph.place(event.loc).position(write);
    let repeats = |before: &Id| graph.event(*before).value == event.value;
    let before = position.checked_sub(2).and_then(|before| co.get(before));
    (event.marks.is_rmw() || before.is_some_and(repeats)) && co[position..].iter().all(repeats)
}

/// Why there is no answer where the lock of atomic sections does not keep everybody out.
pub(super) const INTRUDER: &str = "an access that may fall into an atomic section";

/// Whether no access inside of an atomic section meets one outside of all of them, where one of
/// them is this event.
pub(super) fn is_apart(graph: &Graph<'_>, memory: &Memory, id: Id, event: &Event) -> bool {
    if !graph.has_sections || memory.table[event.loc.0 as usize].0 == SECTIONS {
        return true;
    }
    let place = graph.place(event.loc);
    let meets = |other: &Id| {
        let inner = graph.event(*other);
        let is_ordered =
            |first: Id, last: Id| Clocks::covers(graph.clocks.get(Clock::Prefix, last), first);
        other.thread() != id.thread()
            && inner.in_section != event.in_section
            && (inner.is_write() || event.is_write())
            && !is_ordered(*other, id)
            && !is_ordered(id, *other)
    };
    !place.co.iter().chain(&place.reads).any(meets)
}
