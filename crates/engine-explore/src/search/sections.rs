//! What the search leaves unordered: critical sections that change nothing (see [`crate::locks`]) and
//! read-modify-writes whose results are not used (see [`crate::updates`]).

use parallax_program::Bits;

use super::Search;
use crate::event::{Event, Id, Kind, Loc, Marks};
use crate::locks;
use crate::standing::{At, Standing};

impl<'p> Search<'_, 'p> {
    /// Operations in a section that are looked at beforehand; one with more is taken for one that
    /// changes something.
    const MOST_AHEAD: usize = 1_000;

    fn is_ordered(&self, loc: Loc) -> bool {
        self.observer.shared.ordered.contains(&self.memory.address(loc))
    }

    /// Whether the sections of the lock at a location are followed.
    pub(super) fn follows(&self, loc: Loc) -> bool {
        self.graph.has_locks && !self.is_ordered(loc)
    }

    /// The marks of a read-modify-write at a location, which is one of many only if the order there
    /// makes no difference.
    pub(super) fn settled(&self, marks: Marks, loc: Loc) -> Marks {
        match marks.updates() && (!self.graph.has_updates || self.is_ordered(loc)) {
            true => marks.without(Marks::UPDATES),
            false => marks,
        }
    }

    /// Whether a write takes a lock whose sections are followed.
    pub(super) fn is_followed(&self, event: &Event) -> bool {
        event.marks.is_awaited() && self.follows(event.loc)
    }

    /// Says of an event that has just taken a lock whether what comes until the lock is given back
    /// only looks.
    pub(super) fn look_ahead(&mut self, id: Id) {
        let event = *self.graph.event(id);
        let takes = event.is_read() && event.marks.is_rmw() && event.marks.is_awaited();
        if !takes || !self.follows(event.loc) {
            return;
        }
        let outer = event.under;
        if outer != Loc::NONE {
            let both = [outer, event.loc].map(|loc| self.memory.address(loc));
            return self.observer.keep_order(both);
        }
        let looks = self.only_looks(id, event.loc);
        if let Some(event) = self.graph.threads[id.thread()].events.last_mut() {
            event.looks = looks;
        }
    }

    /// Whether the section that begins with the read of a lock does nothing but to look at places
    /// where there is one value to find.
    fn only_looks(&mut self, taken: Id, lock: Loc) -> bool {
        let (thread, number) = (taken.thread(), taken.thread() as u32);
        let mut standing = self.runner.pass_unnoticed(number, self.graph.standing(taken));
        for _ in 0..Self::MOST_AHEAD {
            match &standing.at {
                At::Load { .. } => match self.foreseen(thread, lock, &standing) {
                    Some(value) => standing = self.runner.pass_load(number, &standing, value),
                    None => return false,
                },
                At::Store { address, marks, .. } => {
                    return marks.is_unlock() && *address == self.memory.address(lock);
                }
                _ => return false,
            }
        }
        false
    }

    /// What a load in a section will find, if that is one defined value in any case.
    fn foreseen(&mut self, thread: usize, lock: Loc, standing: &Standing<'p>) -> Option<Bits> {
        let At::Load { address, bytes, .. } = standing.at else {
            return None;
        };
        if self.memory.wrong_with(&self.graph, &standing.at).is_some() {
            return None;
        }
        let parts = self.memory.parts(address, bytes);
        let mut whole = 0;
        for part in 0..parts.count {
            let loc = parts.loc(part);
            self.graph.reserve_place(loc);
            let probe = Event::new(Kind::Read, Marks::default(), loc, Bits::zero(1));
            let low = self.judge.must_know(&self.graph, thread, &probe);
            let place = self.graph.place(loc);
            // Who is in a later section of the same lock is not seen.
            let is_apart = |write: &Id| self.graph.event(*write).under == lock;
            if loc == lock || !place.co[low..].iter().all(is_apart) {
                return None;
            }
            let value = self.value_of(place.at(low), loc);
            if value.is_undefined() {
                return None;
            }
            whole |= value.unsigned() << parts.bits(part).0;
        }
        Some(Bits::new(u32::from(bytes) * 8, whole))
    }

    /// Whether a thread in a section that only looks is about to do something else after all. Then
    /// the order of the lock is kept.
    pub(super) fn goes_further(&mut self, thread: usize, at: &At<'p>) -> bool {
        let Some(last) = self.graph.threads[thread].events.last() else {
            return false;
        };
        if !locks::is_in_looking_section(last) || last.marks.gives() {
            return false;
        }
        let lock = self.memory.address(last.under);
        let is_foreseen = match at {
            At::Load { .. } => true,
            At::Store { address, marks, .. } => marks.is_unlock() && *address == lock,
            _ => false,
        };
        if !is_foreseen {
            self.observer.keep_order([lock]);
        }
        !is_foreseen
    }
}
