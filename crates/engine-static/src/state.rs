//! What is known where a thread stands.
//!
//! States with the same [`Key`] are merged, others are kept apart: which locks are held and which
//! threads run is what the analysis is about, and values that decide it are then known exactly
//! (M. Das, S. Lerner, M. Seigle, "ESP: path-sensitive program verification in polynomial time", PLDI
//! 2002).

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::{Expr, VarId};

use crate::contents::{Contents, Merge};
use crate::near::Near;
use crate::value::{ObjectId, Renamed, ThreadId, Value};

/// A lock, by what is at its address, and nothing else ever is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Lock {
    /// All atomic sections share one.
    Section,
    At(ObjectId, i128),
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Mode {
    Shared,
    Exclusive,
}

/// How often, at least, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hold {
    pub mode: Mode,
    pub depth: u8,
}

/// How many threads were started at a place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Count {
    Exactly(u16),
    Many,
}

/// Where a thread is started: by which calls, and by which instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SpawnSite {
    pub context: u32,
    pub place: Place,
}

/// An instruction, by function, block and position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    pub function: u32,
    pub block: u32,
    pub index: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Key {
    /// Locks that are held for certain.
    pub locks: BTreeMap<Lock, Hold>,
    /// Whether others may be held.
    pub others: bool,
    /// Whether a lock was given back that the function that runs did not take, so that it may be
    /// one of its callers'.
    pub gave_others: bool,
    /// Threads that may have been started by this thread. No entry: none.
    pub created: BTreeMap<SpawnSite, Count>,
    /// Whether there is no other thread, so that all objects are private.
    pub is_alone: bool,
    /// Threads that have ended for certain, and before what this thread does from here on.
    pub joined: BTreeSet<ThreadId>,
}

impl Key {
    pub fn drop_lock(&mut self, lock: Lock) {
        if let Some(hold) = self.locks.get_mut(&lock) {
            hold.depth -= 1;
            if hold.depth == 0 {
                self.locks.remove(&lock);
            }
        }
    }

    /// One that stands for many: locks are kept, if that is asked for.
    pub fn coarse(&self, keeps_locks: bool) -> Key {
        let created = self.created.keys().map(|site| (*site, Count::Many)).collect();
        let (locks, others) = match keeps_locks {
            true => (self.locks.clone(), self.others),
            false => (BTreeMap::new(), true),
        };
        Key { locks, others, created, joined: BTreeSet::new(), ..*self }
    }
}

/// So many bytes at a place of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Cell {
    pub object: ObjectId,
    pub offset: i128,
    pub bytes: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct State<'p> {
    pub key: Key,
    /// Of the function that runs.
    pub vars: Vec<Value>,
    /// Variables that have the value of an expression now.
    pub facts: BTreeMap<VarId, &'p Expr>,
    /// Objects that no other thread can know, and what they hold.
    pub private: BTreeMap<ObjectId, Contents>,
    /// What shared objects hold that a lock keeps which the thread has.
    pub kept: BTreeMap<ObjectId, Contents>,
    /// What has become of objects that the caller may know under another name.
    pub renamed: BTreeMap<ObjectId, Renamed>,
    /// Objects that others may know, of which one was private before.
    pub published: BTreeSet<ObjectId>,
    /// Objects that others may know and that may be gone.
    pub freed: BTreeSet<ObjectId>,
    /// Variables that have what is at a place that is kept for the thread.
    pub mirrors: BTreeMap<VarId, Cell>,
    /// Variables of which the library asserts only what the locks that are held make sure of.
    pub vouched: BTreeSet<VarId>,
    /// Locks of the function that runs that may be one of many.
    pub near: Vec<Near>,
    /// What the thread's own number is below, where that is known.
    pub below: Option<i128>,
    /// What the function gives back.
    pub result: Value,
}

impl<'p> State<'p> {
    pub fn var(&self, var: VarId) -> &Value {
        &self.vars[var.0 as usize]
    }

    /// Gives a variable a value. What was known by way of its old value is forgotten.
    pub fn assign(&mut self, var: VarId, value: Value) {
        self.facts.retain(|known, expr| *known != var && !expr.mentions(var));
        self.vouched.remove(&var);
        self.mirrors.remove(&var);
        self.forget_near(var);
        self.vars[var.0 as usize] = value;
    }

    /// What is at a place is found out by a variable that was read there.
    pub fn reflect(&mut self, var: VarId, value: &Value) {
        if let Some(cell) = self.mirrors.get(&var)
            && let Some(contents) = self.kept.get_mut(&cell.object)
        {
            contents.put(cell.offset, cell.bytes, value.clone());
        }
    }

    /// Nothing is known of what an object holds by variables.
    pub fn forget_mirrors(&mut self, object: ObjectId) {
        self.mirrors.retain(|_, cell| cell.object != object);
    }

    /// One value becomes another in all that is known.
    pub fn for_each_value(&mut self, change: impl Fn(&mut Value)) {
        self.vars.iter_mut().for_each(&change);
        self.private.values_mut().flat_map(Contents::values_mut).for_each(&change);
        self.kept.values_mut().flat_map(Contents::values_mut).for_each(&change);
        change(&mut self.result);
    }

    /// An object has another name from here on, or none.
    pub fn rename(&mut self, object: ObjectId, to: Renamed) {
        self.apply(object, to);
        let before = self.renamed.entry(object).or_insert(Renamed { stays: true, ..to });
        *before = Renamed {
            stays: before.stays && to.stays,
            becomes: before.becomes.or(to.becomes),
            dies: before.dies || to.dies,
        };
    }

    pub fn apply(&mut self, object: ObjectId, to: Renamed) {
        let is_there = |value: &Value| value.objects().any(|known| known == object);
        self.for_each_value(|value| {
            if is_there(value) {
                *value = value.renamed(object, &to);
            }
        });
    }

    /// What holds in both. Their keys are the same.
    pub fn merged(&self, other: &State<'p>, merge: Merge<'_>, widths: &[u32]) -> State<'p> {
        let vars = self.vars.iter().zip(&other.vars).zip(widths);
        let facts = self.facts.iter().filter(|(var, expr)| other.facts.get(var) == Some(expr));
        State {
            key: self.key.clone(),
            vars: vars.map(|((one, two), width)| merge(one, two, *width)).collect(),
            facts: facts.map(|(var, expr)| (*var, *expr)).collect(),
            private: both_contents(&self.private, &other.private, merge),
            kept: both_contents(&self.kept, &other.kept, merge),
            renamed: both_renamed(&self.renamed, &other.renamed),
            published: self.published.union(&other.published).copied().collect(),
            freed: self.freed.union(&other.freed).copied().collect(),
            mirrors: {
                let same = |(var, cell): &(&VarId, &Cell)| other.mirrors.get(*var) == Some(*cell);
                self.mirrors.iter().filter(same).map(|(var, cell)| (*var, *cell)).collect()
            },
            vouched: self.vouched.intersection(&other.vouched).copied().collect(),
            near: self.near.iter().filter(|lock| other.near.contains(lock)).cloned().collect(),
            below: self.below.zip(other.below).map(|(one, two)| one.max(two)),
            result: merge(&self.result, &other.result, 64),
        }
    }
}

/// What objects hold in one way or the other.
fn both_contents(
    one: &BTreeMap<ObjectId, Contents>,
    two: &BTreeMap<ObjectId, Contents>,
    merge: Merge<'_>,
) -> BTreeMap<ObjectId, Contents> {
    let mut all = one.clone();
    for (object, contents) in two {
        let both = all.get(object).map(|own| own.merged(contents, merge));
        all.insert(*object, both.unwrap_or_else(|| contents.clone()));
    }
    all
}

/// What has become of names in one way or the other.
fn both_renamed(
    one: &BTreeMap<ObjectId, Renamed>,
    two: &BTreeMap<ObjectId, Renamed>,
) -> BTreeMap<ObjectId, Renamed> {
    let untouched = Renamed { stays: true, ..Renamed::default() };
    let names = one.keys().chain(two.keys());
    let pair = names.map(|name| {
        let a = one.get(name).copied().unwrap_or(untouched);
        let b = two.get(name).copied().unwrap_or(untouched);
        let both = Renamed {
            stays: a.stays || b.stays,
            becomes: a.becomes.or(b.becomes),
            dies: a.dies || b.dies,
        };
        (*name, both)
    });
    pair.collect()
}
