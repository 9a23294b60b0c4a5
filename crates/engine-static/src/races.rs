//! Which accesses may race: what may happen in parallel, and what locks keep apart.

use parallax_program::Program;

use crate::num::Num;
use crate::state::{Count, Key, Lock, Mode};
use crate::value::{ObjectId, ThreadId};
use crate::world::{Access, Kind, Origin, World};

/// Two accesses of which it is not shown that they do not race.
#[derive(Clone, Debug)]
pub struct Suspicion {
    pub first: Access,
    pub second: Access,
    /// What is wrong with them.
    pub what: &'static str,
}

pub struct Judge<'a> {
    world: &'a World,
    most: i128,
}

impl<'a> Judge<'a> {
    pub fn new(world: &'a World, most: i128) -> Judge<'a> {
        Judge { world, most }
    }

    fn key(&self, access: &Access) -> &'a Key {
        &self.world.keys[access.key]
    }

    /// The first pair, in the order of the accesses, that may race; or the lock that may be broken.
    pub fn suspicions(&self) -> Vec<Suspicion> {
        let all: Vec<&Access> = self.world.accesses.iter().collect();
        let mut found = Vec::new();
        for group in all.chunk_by(|one, two| one.object == two.object) {
            if self.is_alone(group) {
                continue;
            }
            for (index, first) in group.iter().enumerate() {
                // An access of a thread of which there are many races with itself.
                found.extend(group[index..].iter().filter_map(|second| self.pair(first, second)));
                if found.len() > MOST_TOLD {
                    return found;
                }
            }
        }
        found.extend(self.broken_locks(&all));
        found.extend(self.broken_nearby(&all));
        found
    }

    /// Whether one thread makes all of the accesses.
    fn is_alone(&self, group: &[&Access]) -> bool {
        let first = group[0].thread;
        group.iter().all(|access| access.thread == first) && !self.world.thread(first).is_many
    }

    fn pair(&self, first: &Access, second: &Access) -> Option<Suspicion> {
        let conflicts = first.kind != Kind::Read || second.kind != Kind::Read;
        if !conflicts || first.is_atomic && second.is_atomic || !self.overlap(first, second) {
            return None;
        }
        if !self.may_be_parallel(first, second) || self.is_protected(first, second) {
            return None;
        }
        let what = "may race";
        Some(Suspicion { first: first.clone(), second: second.clone(), what })
    }

    fn overlap(&self, first: &Access, second: &Access) -> bool {
        let is_free = |access: &Access| access.kind == Kind::Free;
        is_free(first)
            || is_free(second)
            || first.at.overlaps(
                i128::from(first.bytes),
                second.at,
                i128::from(second.bytes),
                self.most,
            )
    }

    /// Whether nothing orders two accesses of different threads, locks aside.
    pub fn may_be_parallel(&self, first: &Access, second: &Access) -> bool {
        if first.thread == second.thread {
            return self.world.thread(first.thread).is_many;
        }
        !self.is_before(first, second) && !self.is_before(second, first)
    }

    /// Whether an access comes before every access of a thread, or after the end of it.
    fn is_before(&self, first: &Access, second: &Access) -> bool {
        self.precedes_start(first, second.thread) || self.key(second).joined.contains(&first.thread)
    }

    /// Whether a thread cannot have been started when an access is made: by the thread that makes
    /// the access, or by one that it starts.
    fn precedes_start(&self, access: &Access, thread: ThreadId) -> bool {
        if self.world.thread(access.thread).is_many {
            return false;
        }
        let mut child = thread;
        while let Some((parent, site)) = self.world.thread(child).parent {
            if parent == access.thread {
                let count = self.key(access).created.get(&site).copied();
                let may_run = match (self.world.thread(child).nth, count) {
                    (_, None) => false,
                    (_, Some(Count::Many)) => true,
                    (Count::Exactly(nth), Some(Count::Exactly(count))) => nth < count,
                    (Count::Many, Some(Count::Exactly(_))) => false,
                };
                return !may_run;
            }
            child = parent;
        }
        false
    }

    fn is_protected(&self, first: &Access, second: &Access) -> bool {
        let (one, two) = (&self.key(first).locks, &self.key(second).locks);
        let is_common = one.iter().any(|(lock, hold)| {
            let other = two.get(lock);
            other.is_some_and(|other| hold.mode == Mode::Exclusive || other.mode == Mode::Exclusive)
        });
        is_common || self.is_protected_nearby(first, second)
    }

    /// Whether both hold a lock at the same distance, and can only meet at the same place: then it is
    /// one lock.
    fn is_protected_nearby(&self, first: &Access, second: &Access) -> bool {
        let is_common = |(distance, mode): &(i128, Mode)| {
            second.near.iter().any(|(other, others)| {
                distance == other && (*mode == Mode::Exclusive || *others == Mode::Exclusive)
            })
        };
        let (bytes, others) = (i128::from(first.bytes), i128::from(second.bytes));
        let is_free = first.kind == Kind::Free || second.kind == Kind::Free;
        let mut apart = first.at.overlaps_at(bytes, second.at, others, self.most);
        !is_free && first.near.iter().any(is_common) && apart.all(|distance| distance == 0)
    }

    /// The same as [`Judge::broken_locks`], of locks that may be one of many.
    fn broken_nearby(&self, all: &[&Access]) -> Option<Suspicion> {
        for holder in all.iter().filter(|access| !access.near.is_empty()) {
            for (distance, _) in &holder.near {
                let word = holder.at.add(Num::one(*distance), 64);
                let is_over = |access: &&&Access| {
                    let bytes = i128::from(access.bytes);
                    access.object == holder.object
                        && access.kind != Kind::Read
                        && !access.is_lock
                        && (access.kind == Kind::Free
                            || access.at.overlaps(bytes, word, LOCK_BYTES, self.most))
                        && (access.thread == holder.thread || self.may_be_parallel(access, holder))
                };
                if let Some(write) = all.iter().find(is_over) {
                    let (first, second) = ((*write).clone(), (*holder).clone());
                    let what = "may write over a lock that is in use by";
                    return Some(Suspicion { first, second, what });
                }
            }
        }
        None
    }

    /// Whether something else than a lock's operations may write to it while it is in use.
    pub fn breaks_locks(&self) -> bool {
        let all: Vec<&Access> = self.world.accesses.iter().collect();
        self.broken_locks(&all).is_some() || self.broken_nearby(&all).is_some()
    }

    /// A lock protects nothing if something else than a lock's operations writes to it while
    /// somebody may hold it, or use it.
    fn broken_locks(&self, all: &[&Access]) -> Option<Suspicion> {
        let mut locks: Vec<(ObjectId, i128)> = Vec::new();
        for key in &self.world.keys {
            for lock in key.locks.keys() {
                if let Lock::At(object, offset) = lock
                    && !locks.contains(&(*object, *offset))
                {
                    locks.push((*object, *offset));
                }
            }
        }
        for (object, offset) in locks {
            let lock = Lock::At(object, offset);
            let meets = |access: &Access| {
                access.object == object
                    && (access.kind == Kind::Free
                        || access.at.overlaps(
                            i128::from(access.bytes),
                            Num::one(offset),
                            LOCK_BYTES,
                            self.most,
                        ))
            };
            let writes = all
                .iter()
                .filter(|access| access.kind != Kind::Read && !access.is_lock && meets(access));
            for write in writes {
                let uses = |other: &&&Access| {
                    let holds = self.key(other).locks.contains_key(&lock);
                    (holds || other.is_lock && meets(other)) && self.may_be_parallel(write, other)
                };
                let own = self.key(write);
                let is_held = own.locks.contains_key(&lock) || own.others;
                let other = all.iter().find(uses).copied();
                if let Some(second) = other.or(is_held.then_some(*write)) {
                    let (first, second) = ((*write).clone(), second.clone());
                    let what = "may write over a lock that is in use by";
                    return Some(Suspicion { first, second, what });
                }
            }
        }
        None
    }

    /// Accesses that may come after the end of an object, of another thread: a lock that both hold, or
    /// the end of the one that frees it, does not say which is first.
    pub fn late(&self) -> Option<Suspicion> {
        let all: Vec<&Access> = self.world.accesses.iter().collect();
        for group in all.chunk_by(|one, two| one.object == two.object) {
            for free in group.iter().filter(|access| access.kind == Kind::Free) {
                let is_early = |other: &&Access| {
                    let is_own = other.thread == free.thread;
                    is_own && !self.world.thread(free.thread).is_many || self.is_before(other, free)
                };
                if let Some(other) = group.iter().find(|other| !is_early(other)) {
                    let (first, second) = ((*other).clone(), (*free).clone());
                    let what = "may come after the end of its object by";
                    return Some(Suspicion { first, second, what });
                }
            }
        }
        None
    }

    /// How people call a place in an object.
    pub fn name(&self, program: &Program, access: &Access) -> String {
        let object = self.world.object(access.object);
        match object.origin {
            Origin::Global(number) | Origin::Early(number) => {
                let global = &program.globals[number as usize];
                let offset = access.at.single().and_then(|offset| u64::try_from(offset).ok());
                let part = match (&global.shape, offset) {
                    (Some(shape), Some(offset)) => shape.name(offset),
                    (None, Some(0)) => String::new(),
                    (None, Some(offset)) => format!("+{offset}"),
                    (_, None) => "[…]".to_string(),
                };
                format!("'{}{part}'", global.name)
            }
            Origin::Made { .. } => {
                let place = program.source.location(object.span);
                format!("an object made at line {}", place.line)
            }
        }
    }
}

/// The words of all locks are so large.
const LOCK_BYTES: i128 = 4;
/// More pairs are not looked for.
const MOST_TOLD: usize = 20;
