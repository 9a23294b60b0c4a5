//! One state: threads, memory, and the conditions on inputs under which it is reached. Copies share
//! what they have in common.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use parallax_machine::system::{Buffer, Marks, Object};
use parallax_machine::{Site, Thread};
use parallax_program::{AllocKind, InstKind, Property, RmwOp, Tags};

use crate::memory::Memory;
use crate::oracle::Path;
use crate::value::Value;

/// One step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// A thread does what it stands at.
    Step(u32),
    /// What is at that place in the thread's buffer takes effect.
    Flush { thread: u32, index: u32 },
}

#[derive(Clone)]
pub struct State<'p> {
    pub threads: Vec<Option<Arc<Local<'p>>>>,
    pub memory: Memory,
    /// Objects, by address, that were freed.
    pub freed: Arc<Vec<u64>>,
    /// The thread that is in an atomic section.
    pub section: Option<u32>,
    pub path: Path,
}

impl<'p> State<'p> {
    pub fn thread(&self, number: u32) -> Option<&Local<'p>> {
        self.threads.get(number as usize)?.as_deref()
    }

    pub fn local(&mut self, number: u32) -> Option<&mut Local<'p>> {
        self.threads.get_mut(number as usize)?.as_mut().map(Arc::make_mut)
    }

    /// About how much memory a copy takes that shares what does not change, in threads or conditions.
    pub fn weight(&self) -> u64 {
        const REST: usize = 4;
        (self.threads.len() + self.path.conditions().len() + REST) as u64
    }

    /// The numbers of the threads that were started.
    pub fn started(&self) -> impl Iterator<Item = u32> {
        let started = self.threads.iter().enumerate().filter(|(_, local)| local.is_some());
        started.map(|(number, _)| number as u32)
    }

    /// Whether what a thread has stored is there for all.
    pub fn is_drained(&self, number: u32) -> bool {
        self.thread(number).is_none_or(|local| local.buffer.is_empty())
    }

    pub fn has_ended(&self, number: u32) -> bool {
        self.thread(number).is_some_and(|local| local.at == At::Ended)
    }

    pub fn is_freed(&self, object: u64) -> bool {
        self.freed.binary_search(&object).is_ok()
    }
}

/// One thread's own part of a state.
#[derive(Clone)]
pub struct Local<'p> {
    pub thread: Thread<Value>,
    pub at: At<'p>,
    /// What it has allocated, by address.
    pub objects: Arc<Vec<Object>>,
    pub children: u32,
    /// Symbols so far.
    pub choices: u32,
    pub undefined: u32,
    /// How often inputs have decided how it goes on.
    pub decisions: u32,
    /// What it has stored and others do not see yet.
    pub buffer: Buffer<Value, Value>,
    /// Locks whose last write by this thread took them.
    pub held: Vec<u64>,
    pub in_section: bool,
    /// What it has read since it last changed something, with how many operations came before.
    pub looks: Looks,
    /// What it waits for to change, or has waited for until now.
    pub watch: Option<Watch>,
    /// After how many operations a compare-and-swap last failed for no reason.
    pub startled: Option<u32>,
}

/// The last reads of a thread that has changed nothing since.
#[derive(Clone, Default)]
pub struct Looks {
    reads: Vec<Look>,
    /// Whether there were more.
    overflows: bool,
}

/// What a thread has found somewhere, with how many operations came before.
#[derive(Clone)]
pub struct Look {
    operations: u32,
    pub access: Arc<Access>,
    pub value: Value,
}

impl Looks {
    const MOST: usize = 64;

    pub fn add(&mut self, operations: u32, access: &Access, value: Value) {
        if self.reads.len() >= Self::MOST {
            self.reads.remove(0);
            self.overflows = true;
        }
        self.reads.push(Look { operations, access: Arc::new(access.clone()), value });
    }

    pub fn clear(&mut self) {
        self.reads.clear();
        self.overflows = false;
    }

    /// What was found after so many operations; None if that is not known in full.
    pub fn since(&self, operations: u32) -> Option<impl Iterator<Item = &Look>> {
        let first = self.reads.first().map_or(0, |first| first.operations);
        let is_whole = !self.overflows || first < operations;
        is_whole.then(|| self.reads.iter().filter(move |look| look.operations >= operations))
    }
}

/// What a thread waits for to change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watch(pub Arc<[Range<u64>]>);

impl Watch {
    pub fn sees(&self, written: &Range<u64>) -> bool {
        self.0.iter().any(|range| overlap(range, written))
    }
}

pub fn overlap(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Bytes that have a list of accesses of their own.
const GRAIN: u64 = 8;

/// The grains that a range of bytes is in, up to the last byte that there is.
pub fn grains(range: &Range<u64>) -> RangeInclusive<u64> {
    let end = range.end.max(range.start.saturating_add(1));
    range.start / GRAIN..=(end - 1) / GRAIN
}

/// The part of a range that is in a grain.
pub fn part(range: &Range<u64>, grain: u64) -> Range<u64> {
    let start = grain * GRAIN;
    range.start.max(start)..range.end.min(start.saturating_add(GRAIN))
}

/// What a thread stands at.
#[derive(Clone, PartialEq, Debug)]
pub enum At<'p> {
    Access(Arc<Access>),
    Join {
        thread: u64,
    },
    /// Before an atomic section.
    Enter,
    /// Waits until its buffer is empty.
    Fence,
    /// Waits until the buffers of all threads are empty.
    FenceOfAll,
    /// At its end, which shows when its buffer is empty.
    Ending,
    Free {
        address: u64,
        kind: AllocKind,
    },
    HeapSize {
        address: u64,
    },
    /// It runs on by itself.
    Runs,
    /// It has gone round a loop and changed nothing. Where it was a single step, that could as well
    /// not have been.
    Spinning {
        in_one_step: bool,
    },
    /// It goes round a loop without any operation.
    Endless,
    /// It goes no further because something happened for no reason, and could as well not have.
    Vain,
    /// At a wait whose condition does not hold.
    Waiting,
    /// At an assumption that does not hold.
    Stopped,
    Failed {
        property: Property,
        message: &'p str,
    },
    /// The engine cannot follow it.
    Lost,
    /// At the limit of what is looked at.
    Cut,
    Ended,
}

/// An access to memory, with its address resolved to an object.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    pub kind: Kind,
    pub address: Value,
    /// Where the address can be; one place where it is known.
    pub places: Arc<[u64]>,
    pub bytes: u32,
    /// Of the read, of the write, and of the read that fails.
    pub facts: [Facts; 3],
    pub site: Option<Site>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    Load,
    Store { value: Value },
    Rmw { op: RmwOp, operand: Value },
    Cas { expected: Value, desired: Value, is_weak: bool },
}

impl Access {
    /// The bytes that it may touch.
    pub fn range(&self) -> Range<u64> {
        let (first, last) = (self.places.first(), self.places.last());
        let (first, last) = (first.copied().unwrap_or(0), last.copied().unwrap_or(0));
        first..last.saturating_add(u64::from(self.bytes))
    }

    /// Whether it must find the buffer of its thread empty. A compare-and-swap that fails may be a
    /// mere read.
    pub fn is_locked(&self) -> bool {
        let [read, write, fail] = self.facts.map(|facts| facts.marks.is_locked());
        match self.kind {
            Kind::Load => read,
            Kind::Store { .. } => write,
            Kind::Rmw { .. } => true,
            Kind::Cas { .. } => fail,
        }
    }

    pub fn may_write(&self) -> bool {
        self.kind != Kind::Load
    }

    pub fn reads(&self) -> bool {
        !matches!(self.kind, Kind::Store { .. })
    }
}

/// What the tags of an event say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Facts {
    pub marks: Marks,
    pub is_atomic: bool,
    /// Not atomic, so that it may race.
    pub is_plain: bool,
}

impl Facts {
    fn new(marks: Marks, tags: &Tags) -> Facts {
        Facts { marks, is_atomic: tags.contains("A"), is_plain: tags.contains("NA") }
    }

    /// Of the events of an instruction: read, write and the read that fails.
    pub fn of(kind: &InstKind) -> [Facts; 3] {
        let [first, second, third] = Marks::of_events(kind);
        let none = Facts::default();
        match kind {
            InstKind::Load { tags, .. } | InstKind::LoadLinked { tags, .. } => {
                [Facts::new(first, tags), none, none]
            }
            InstKind::Store { tags, .. } => [none, Facts::new(first, tags), none],
            InstKind::Fence { tags } => [Facts::new(first, tags), none, none],
            InstKind::Rmw { read_tags, write_tags, .. } => {
                [Facts::new(first, read_tags), Facts::new(second, write_tags), none]
            }
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } => [
                Facts::new(first, read_tags),
                Facts::new(second, write_tags),
                Facts::new(third, fail_tags),
            ],
            _ => [none; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_an_end() {
        let last = u64::MAX / GRAIN;
        assert_eq!(grains(&(u64::MAX..u64::MAX)), last..=last);
        assert_eq!(grains(&(u64::MAX - 8..u64::MAX)), last - 1..=last);
        assert_eq!(part(&(u64::MAX - 8..u64::MAX), last), u64::MAX - 7..u64::MAX);
        assert_eq!(grains(&(7..9)), 0..=1);
        assert_eq!(part(&(7..9), 1), 8..9);
    }
}
