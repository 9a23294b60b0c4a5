//! What locks keep: an object that is written only by who holds a lock changes for nobody else who has it.
//!
//! Where all writes to an object are made under one and the same lock, a thread that takes the lock finds
//! what was there when somebody gave it back last, and then only what it writes itself. So what others see
//! of a critical section is what holds at its end, and not what is true in the middle. Which lock is
//! whose is known from a first run of the analysis, whose accesses are all that there can be. After M. Schwarz
//! et al., "Improving thread-modular abstract interpretation", SAS 2021 (protection-based reading).
//!
//! This rests on locks that keep others out: nobody else writes to the words of a lock ([`Judge`] looks), and
//! who gives one back has it. If something goes wrong with a lock, or else, in an execution, it goes wrong
//! first somewhere; up to there all of this is right, so that it is seen there.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::Analysis;
use crate::contents::Contents;
use crate::num::Num;
use crate::races::Judge;
use crate::state::{Cell, Hold, Lock, Mode, State};
use crate::value::{Base, ObjectId, Value};
use crate::world::{Access, Kind, World};

/// How an object is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// All of them are held wherever the object is written.
    pub locks: BTreeSet<Lock>,
    /// Words of locks in the object, which change without.
    words: BTreeSet<(Num, u32)>,
    /// Whether it is nothing but a lock of the program's own: who has it knows what is there.
    is_own_lock: bool,
}

/// What a store does to a lock of the program's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnLock {
    Take(Lock),
    Give(Lock),
}

pub type Guards = BTreeMap<ObjectId, Guard>;

/// Which objects locks keep, by all that may be written. There are none where the first run may have left
/// something out.
pub fn guards(world: &World, judge: &Judge<'_>) -> Guards {
    let is_left_out = world.obligations.iter().any(|owed| !owed.is_followed);
    if is_left_out || !world.gaps.is_empty() || judge.breaks_locks() {
        return Guards::new();
    }
    let mut locks: BTreeMap<ObjectId, BTreeSet<Lock>> = BTreeMap::new();
    let mut words: BTreeMap<ObjectId, BTreeSet<(Num, u32)>> = BTreeMap::new();
    let mut own: BTreeMap<ObjectId, bool> = BTreeMap::new();
    for access in world.accesses.iter().filter(|access| access.kind != Kind::Read) {
        let is_own_lock = access.is_lock && is_in_section(world, access);
        *own.entry(access.object).or_insert(true) &= is_own_lock;
        if access.is_lock && !is_own_lock {
            words.entry(access.object).or_default().insert((access.at, access.bytes));
            continue;
        }
        let held = world.keys[access.key].locks.iter();
        let held = held.filter(|(_, hold)| hold.mode == Mode::Exclusive).map(|(lock, _)| *lock);
        let held: BTreeSet<Lock> = held.filter(|lock| is_lasting(world, *lock)).collect();
        let all = locks.entry(access.object).or_insert_with(|| held.clone());
        all.retain(|lock| held.contains(lock));
    }
    locks.retain(|object, locks| world.object(*object).is_unique && !locks.is_empty());
    let guard = |(object, locks)| {
        let words = words.remove(&object).unwrap_or_default();
        let is_own_lock = own.get(&object).copied().unwrap_or(false);
        (object, Guard { locks, words, is_own_lock })
    };
    locks.into_iter().map(guard).collect()
}

/// Whether any object is written in atomic sections alone.
pub fn in_sections(guards: &Guards) -> bool {
    guards.values().any(|guard| guard.locks.contains(&Lock::Section))
}

/// What the library's locks do is not done in atomic sections, where programs make locks of their own.
fn is_in_section(world: &World, access: &Access) -> bool {
    world.keys[access.key].locks.contains_key(&Lock::Section)
}

/// Whether a lock has one name as long as others know it.
fn is_lasting(world: &World, lock: Lock) -> bool {
    match lock {
        Lock::Section => true,
        Lock::At(object, _) => world.object(object).is_unique && !world.is_private(object),
    }
}

impl<'p> Analysis<'p, '_> {
    /// Whether a thread has a lock that keeps an object.
    fn is_kept_by(&self, state: &State<'p>, object: ObjectId) -> bool {
        let Some(guard) = self.guards.get(&object) else { return false };
        let is_it = |lock: &Lock| matches!(lock, Lock::At(at, _) if *at == object);
        guard.locks.iter().any(|lock| state.key.locks.contains_key(lock))
            || guard.is_own_lock && state.key.locks.keys().any(is_it)
    }

    /// What a thread knows of a shared object for the locks that it has.
    pub fn kept<'a>(
        &self,
        state: &'a State<'p>,
        object: ObjectId,
        at: Num,
        bytes: u32,
    ) -> Option<&'a Contents> {
        let guard = self.guards.get(&object)?;
        let is_word = |(word, size): &(Num, u32)| {
            let others = i128::from(*size);
            word.overlaps_at(others, at, i128::from(bytes), self.most).next().is_some()
        };
        if guard.words.iter().any(is_word) || !self.is_kept_by(state, object) {
            return None;
        }
        state.kept.get(&object)
    }

    /// The place that an address leads to, if it is kept for the thread.
    pub fn cell(&self, state: &State<'p>, address: &Value, bytes: u32) -> Option<Cell> {
        let [(Base::Object(object), num)] = address.parts[..] else { return None };
        let offset = num.single().filter(|_| !address.wild && !address.undefined)?;
        self.kept(state, object, num, bytes)?;
        Some(Cell { object, offset, bytes })
    }

    /// What a store does to a lock of the program's own: a word that is set where it was zero, and
    /// made zero again by who has set it. Both are done in atomic sections, so that no two have it at
    /// once; if anybody else writes there, the lock is broken.
    pub fn own_lock(&self, state: &State<'p>, cell: Cell, value: &Value) -> Option<OwnLock> {
        let Cell { object, offset, bytes } = cell;
        let lock = Lock::At(object, offset);
        let is_word = bytes <= 4 && self.has_own_locks && is_lasting(&self.world, lock);
        let is_in_section = state.key.locks.contains_key(&Lock::Section);
        if !is_word || !is_in_section {
            return None;
        }
        let new = value.only_number()?.single()?;
        let old = state.kept.get(&object)?.load_at(offset, bytes).only_number();
        let was_free = old.is_some_and(|old| old.single() == Some(0));
        match (state.key.locks.contains_key(&lock), new) {
            (false, 1..) if was_free => Some(OwnLock::Take(lock)),
            (true, 0) => Some(OwnLock::Give(lock)),
            _ => None,
        }
    }

    /// A lock of the program's own is taken or given back.
    pub fn use_own_lock(&mut self, state: &mut State<'p>, used: OwnLock) {
        match used {
            OwnLock::Take(lock) => {
                state.key.locks.insert(lock, Hold { mode: Mode::Exclusive, depth: 1 });
                self.begin_keeping(state, lock);
            }
            OwnLock::Give(lock) => {
                state.key.locks.remove(&lock);
                self.hand_on(state, lock);
            }
        }
    }

    /// A thread has taken a lock that it did not have.
    pub fn begin_keeping(&self, state: &mut State<'p>, lock: Lock) {
        let guarded = self.guards.iter().filter(|(_, guard)| guard.locks.contains(&lock));
        for (object, _) in guarded {
            let Some(handed) = self.world.handed.get(&(*object, lock)) else { continue };
            // What two locks say is both true.
            let says_more = |known: &Contents| handed.spread() < known.spread();
            if state.kept.get(object).is_none_or(says_more) {
                state.kept.insert(*object, handed.clone());
            }
        }
    }

    /// A thread gives back a lock that it has: the next one finds what is there now.
    pub fn hand_on(&mut self, state: &mut State<'p>, lock: Lock) {
        let kept = state.kept.iter().filter(|(object, _)| {
            self.guards.get(object).is_some_and(|guard| guard.locks.contains(&lock))
        });
        let kept: Vec<(ObjectId, Contents)> =
            kept.map(|(object, contents)| (*object, contents.clone())).collect();
        for (object, contents) in kept {
            self.hand(object, lock, contents);
            if !self.is_kept_by(state, object) {
                state.kept.remove(&object);
                state.forget_mirrors(object);
            }
        }
    }

    fn hand(&mut self, object: ObjectId, lock: Lock, mut contents: Contents) {
        for value in contents.values_mut() {
            *value = value.handed_over(self.most);
        }
        self.world.hand(object, lock, &contents);
    }

    /// Objects are known to others from here on, by all locks that the thread does not have.
    pub fn begin_guarding(&mut self, state: &mut State<'p>, shown: &[ObjectId]) {
        for object in shown {
            let Some(guard) = self.guards.get(object).cloned() else { continue };
            let Some(contents) = state.kept.get(object).cloned() else { continue };
            let is_free = |lock: &&Lock| !state.key.locks.contains_key(*lock);
            for lock in guard.locks.iter().filter(is_free) {
                self.hand(*object, *lock, contents.clone());
            }
            if !self.is_kept_by(state, *object) {
                state.kept.remove(object);
            }
        }
    }

    /// Where it is not known any more which locks a thread has, others may find what it has kept.
    pub fn forget_kept(&mut self, state: &mut State<'p>) {
        let kept: Vec<ObjectId> = state.kept.keys().copied().collect();
        for object in kept {
            if !self.is_kept_by(state, object)
                && let Some(contents) = state.kept.remove(&object)
            {
                state.forget_mirrors(object);
                self.hand_to_all(object, &contents);
            }
        }
    }

    fn hand_to_all(&mut self, object: ObjectId, contents: &Contents) {
        let locks = self.guards.get(&object).map(|guard| guard.locks.clone());
        for lock in locks.into_iter().flatten() {
            self.hand(object, lock, contents.clone());
        }
    }

    /// Something is stored by a thread of which it is not known that it has a lock.
    pub fn hand_store(&mut self, object: ObjectId, at: Num, bytes: u32, value: &Value) {
        let Some(guard) = self.guards.get(&object).cloned() else { return };
        let value = value.handed_over(self.most);
        let join = |old: &Value, new: &Value, width: u32| old.join(new, width);
        for lock in guard.locks {
            let mut contents = self.world.handed.get(&(object, lock)).cloned().unwrap_or_default();
            contents.add(at, bytes, &value, &join);
            self.world.hand(object, lock, &contents);
        }
    }

    /// A thread ends with the locks that it has.
    pub fn leave_kept(&mut self, state: &mut State<'p>) {
        for (object, contents) in std::mem::take(&mut state.kept) {
            self.hand_to_all(object, &contents);
        }
    }

    /// What an object holds where all other threads have ended.
    pub fn left_behind(&self, state: &mut State<'p>, object: ObjectId) -> Contents {
        state.forget_mirrors(object);
        if let Some(own) = state.kept.remove(&object) {
            return own;
        }
        let locks = self.guards.get(&object).map(|guard| &guard.locks);
        let handed = |lock: &Lock| self.world.handed.get(&(object, *lock));
        let mut all: Vec<&Contents> = locks.into_iter().flatten().filter_map(handed).collect();
        // Each of them has it; the one that has least says most.
        all.sort_by_key(|contents| contents.spread());
        let words = self.guards.get(&object).is_some_and(|guard| !guard.words.is_empty());
        match all.first() {
            Some(least) if !words => (*least).clone(),
            _ => self.world.contents[object.0 as usize].clone(),
        }
    }
}
