//! What is known of the whole program: objects, what they hold, threads, and accesses.
//!
//! It only grows, pass by pass, until a pass has nothing to add.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parallax_program::{AllocKind, FunctionId, Property, Span};

use crate::contents::Contents;
use crate::num::Num;
use crate::state::{Count, Key, Lock, Mode, Place, SpawnSite};
use crate::value::{ObjectId, ThreadId, Value};

/// Where an object comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Origin {
    Global(u32),
    /// The same, as long as there is but one thread.
    Early(u32),
    /// The newest object that a thread has made at a place, as long as nobody else can know it; or
    /// all others that it has made there. In D. Balakrishnan and T. Reps, "Recency-abstraction for
    /// heap-allocated storage", SAS 2006, the older ones are those that are not the newest.
    Made {
        thread: ThreadId,
        context: u32,
        place: Place,
        is_private: bool,
    },
}

#[derive(Clone, Debug)]
pub struct Object {
    pub origin: Origin,
    /// The fewest and the most bytes that it may have.
    pub size: (i128, i128),
    pub align: i128,
    pub kind: Option<AllocKind>,
    pub is_constant: bool,
    /// Whether there is never more than one.
    pub is_unique: bool,
    pub span: Span,
    /// How often its contents have changed.
    pub changes: u32,
}

#[derive(Clone, Debug)]
pub struct Thread {
    pub parent: Option<(ThreadId, SpawnSite)>,
    pub nth: Count,
    /// Whether there may be more than one.
    pub is_many: bool,
    /// What it may run, with which arguments.
    pub starts: BTreeMap<FunctionId, Vec<Value>>,
    /// Threads that have ended before it starts.
    pub joined: BTreeSet<ThreadId>,
    /// Threads that have ended when it ends; None if it never ends.
    pub outlived: Option<BTreeSet<ThreadId>>,
    pub changes: u32,
}

/// An access of a place that more than one thread may know.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Access {
    pub object: ObjectId,
    pub at: Num,
    pub bytes: u32,
    pub kind: Kind,
    pub is_atomic: bool,
    /// Whether it is what a lock does.
    pub is_lock: bool,
    pub thread: ThreadId,
    /// Locks that are held, by how far they are from the place.
    pub near: Vec<(i128, Mode)>,
    /// By number.
    pub key: usize,
    pub span: (u32, u32),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    Read,
    Write,
    Free,
}

impl Access {
    pub fn place(&self) -> Span {
        Span { start: self.span.0, end: self.span.1 }
    }
}

/// What has to hold for the analysis to be right, and could not be shown: of memory, locks, arithmetic
/// and the layout of memory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Obligation {
    pub span: (u32, u32),
    pub place: Place,
    pub property: Property,
    pub message: String,
    /// Whether the analysis has gone on with all that can come after, where it does hold.
    pub is_followed: bool,
}

#[derive(Default)]
pub struct World {
    pub objects: Vec<Object>,
    origins: HashMap<Origin, ObjectId>,
    pub contents: Vec<Contents>,
    /// What objects hold where a lock is free that keeps them.
    pub handed: BTreeMap<(ObjectId, Lock), Contents>,
    hands: BTreeMap<(ObjectId, Lock), u32>,
    pub threads: Vec<Thread>,
    thread_numbers: HashMap<(Option<(ThreadId, SpawnSite)>, Count), ThreadId>,
    contexts: HashMap<(u32, Place), u32>,
    pub keys: Vec<Key>,
    key_numbers: HashMap<Key, usize>,
    pub accesses: BTreeSet<Access>,
    pub obligations: BTreeSet<Obligation>,
    /// Conditions that hold in some state that is met, or may.
    pub passed: BTreeSet<Place>,
    /// Assertions that may fail, by place, and what they say.
    pub failures: BTreeSet<((u32, u32), String)>,
    /// Numbers that the library does not count beyond, nor does the analysis, by place.
    pub counted: BTreeSet<((u32, u32), String)>,
    /// Accesses that order nothing, and by which others may come to know an object.
    pub loose: BTreeSet<((u32, u32), String)>,
    /// What ends the analysis of a way, by place.
    pub gaps: BTreeSet<((u32, u32), String)>,
    /// Assumptions that are reached, by place, and whether one passes them.
    pub assumptions: BTreeMap<(u32, u32), bool>,
    /// Whether this pass has added something that another one has to look at.
    pub has_changed: bool,
}

impl World {
    /// What is found anew in each pass.
    pub fn begin_pass(&mut self) {
        self.has_changed = false;
        self.accesses.clear();
        self.obligations.clear();
        self.passed.clear();
        self.failures.clear();
        self.counted.clear();
        self.loose.clear();
        self.gaps.clear();
        self.assumptions.clear();
    }

    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    pub fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        &mut self.objects[id.0 as usize]
    }

    pub fn thread(&self, id: ThreadId) -> &Thread {
        &self.threads[id.0 as usize]
    }

    pub fn add_object(&mut self, object: Object, contents: Contents) -> ObjectId {
        if let Some(id) = self.origins.get(&object.origin) {
            return *id;
        }
        let id = ObjectId(self.objects.len() as u32);
        self.origins.insert(object.origin, id);
        self.objects.push(object);
        self.contents.push(contents);
        self.has_changed = true;
        id
    }

    pub fn find(&self, origin: Origin) -> Option<ObjectId> {
        self.origins.get(&origin).copied()
    }

    /// The name that a private object has when others may know it.
    pub fn shared_name(&self, object: ObjectId) -> Option<ObjectId> {
        match self.object(object).origin {
            Origin::Made { thread, context, place, is_private: true } => {
                self.find(Origin::Made { thread, context, place, is_private: false })
            }
            Origin::Early(number) => self.find(Origin::Global(number)),
            _ => None,
        }
    }

    pub fn is_private(&self, object: ObjectId) -> bool {
        let origin = self.object(object).origin;
        matches!(origin, Origin::Made { is_private: true, .. } | Origin::Early(_))
    }

    /// There may be more than one of it.
    pub fn multiply(&mut self, object: ObjectId) {
        if std::mem::replace(&mut self.object_mut(object).is_unique, false) {
            self.has_changed = true;
        }
    }

    pub fn add_thread(
        &mut self,
        parent: Option<(ThreadId, SpawnSite)>,
        nth: Count,
        joined: &BTreeSet<ThreadId>,
    ) -> ThreadId {
        let is_many =
            nth == Count::Many || parent.is_some_and(|(parent, _)| self.thread(parent).is_many);
        let next = ThreadId(self.threads.len() as u32);
        let id = *self.thread_numbers.entry((parent, nth)).or_insert(next);
        if id == next {
            let (starts, joined, outlived) = (BTreeMap::new(), joined.clone(), None);
            self.threads.push(Thread {
                parent,
                nth,
                is_many,
                starts,
                joined,
                outlived,
                changes: 0,
            });
            self.has_changed = true;
        }
        let thread = &mut self.threads[id.0 as usize];
        let both: BTreeSet<ThreadId> = thread.joined.intersection(joined).copied().collect();
        if both != thread.joined {
            thread.joined = both;
            self.has_changed = true;
        }
        id
    }

    /// A thread may run a function with these arguments.
    pub fn add_start(&mut self, thread: ThreadId, function: FunctionId, args: Vec<Value>) {
        let thread = &mut self.threads[thread.0 as usize];
        let Some(known) = thread.starts.get_mut(&function) else {
            thread.starts.insert(function, args);
            self.has_changed = true;
            return;
        };
        let merged: Vec<Value> = known
            .iter()
            .zip(&args)
            .map(|(old, new)| match thread.changes > PATIENCE {
                true => old.widen(new, 64, &[]),
                false => old.join(new, 64),
            })
            .collect();
        if merged != *known {
            *known = merged;
            thread.changes += 1;
            self.has_changed = true;
        }
    }

    /// A thread may end, with these threads behind it.
    pub fn add_end(&mut self, thread: ThreadId, joined: &BTreeSet<ThreadId>) {
        let thread = &mut self.threads[thread.0 as usize];
        let both = match &thread.outlived {
            Some(known) => known.intersection(joined).copied().collect(),
            None => joined.clone(),
        };
        if thread.outlived.as_ref() != Some(&both) {
            thread.outlived = Some(both);
            self.has_changed = true;
        }
    }

    /// Something may be stored in an object that others may know.
    pub fn store(&mut self, object: ObjectId, at: Num, bytes: u32, value: &Value) {
        let info = &mut self.objects[object.0 as usize];
        let widens = info.changes > PATIENCE * 8;
        let merge = |old: &Value, new: &Value, width: u32| match widens {
            true => old.widen(new, width, &[]),
            false => old.join(new, width),
        };
        if self.contents[object.0 as usize].add(at, bytes, value, &merge) {
            info.changes += 1;
            self.has_changed = true;
        }
    }

    /// A private object, with what it holds, may be known to others from here on.
    pub fn fold(&mut self, shared: ObjectId, contents: &Contents) {
        let info = &mut self.objects[shared.0 as usize];
        let widens = info.changes > PATIENCE * 8;
        let merge = |old: &Value, new: &Value, width: u32| match widens {
            true => old.widen(new, width, &[]),
            false => old.join(new, width),
        };
        let old = &self.contents[shared.0 as usize];
        let merged = old.merged(contents, &merge);
        if merged != *old {
            self.contents[shared.0 as usize] = merged;
            info.changes += 1;
            self.has_changed = true;
        }
    }

    /// A lock is given back, with an object that it keeps.
    pub fn hand(&mut self, object: ObjectId, lock: Lock, contents: &Contents) {
        let hands = self.hands.entry((object, lock)).or_default();
        let widens = *hands > PATIENCE * 8;
        let merge = |old: &Value, new: &Value, width: u32| match widens {
            true => old.widen(new, width, &[]),
            false => old.join(new, width),
        };
        let old = self.handed.get(&(object, lock));
        let merged = old.map_or_else(|| contents.clone(), |old| old.merged(contents, &merge));
        if old != Some(&merged) {
            *hands += 1;
            self.handed.insert((object, lock), merged);
            self.has_changed = true;
        }
    }

    pub fn context(&mut self, caller: u32, place: Place) -> u32 {
        let next = self.contexts.len() as u32 + 1;
        *self.contexts.entry((caller, place)).or_insert(next)
    }

    pub fn key(&mut self, key: &Key) -> usize {
        if let Some(number) = self.key_numbers.get(key) {
            return *number;
        }
        self.keys.push(key.clone());
        self.key_numbers.insert(key.clone(), self.keys.len() - 1);
        self.keys.len() - 1
    }
}

/// After so many changes, bounds are not moved by one.
const PATIENCE: u32 = 3;
