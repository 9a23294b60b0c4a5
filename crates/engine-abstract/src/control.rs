//! Where threads stand, and which objects there are: all of a state that is never abstracted.
//!
//! Nothing here counts steps, so that a program with loops has few of these, and two states with equal
//! control can be compared.

use std::sync::Arc;

use parallax_machine::Site;
use parallax_machine::system::{BadAccess, Buffer, Entry};
use parallax_machine::{Extent, Globals, wrong_access, wrong_end};
use parallax_program::{AllocKind, Slots};

use crate::declarative::execution::{Execution, Wait};

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Control {
    pub threads: Vec<Option<Arc<Local>>>,
    /// The thread that is in an atomic section.
    pub section: Option<u32>,
    /// By address.
    pub objects: Arc<Vec<Object>>,
    /// What was done to memory, where that is a graph.
    pub execution: Option<Arc<Execution>>,
}

/// One thread's own part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Local {
    /// Where its calls stand, innermost last.
    pub stack: Vec<Site>,
    pub at: At,
    /// How many threads it has started.
    pub children: u32,
    /// Locks whose last write by this thread took them, by address.
    pub held: Vec<u64>,
    pub stores: Stores,
}

/// What a thread has stored and others do not see yet. The values are in places of their own.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Stores {
    pub buffer: Buffer<(), ()>,
    /// Where stores went that are too many to be kept apart, by address. They are before those in the
    /// buffer. Each of them may take effect any number of times, with any value, until it is said that
    /// there are none any more.
    pub blurred: Vec<(u64, u8)>,
}

impl Stores {
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.blurred.is_empty()
    }

    /// How many of the first stores of the buffer are just to these bytes.
    pub fn count(&self, wanted: (u64, u8), among: usize) -> u32 {
        let is_it = |entry: &&Entry<(), ()>| matches!(entry, Entry::Store { address, bytes, .. } if (*address, *bytes) == wanted);
        self.buffer.entries().iter().take(among).filter(is_it).count() as u32
    }

    /// All bytes that something is stored to.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u8)> {
        let kept = self.buffer.entries().iter().filter_map(|entry| match entry {
            Entry::Store { address, bytes, .. } => Some((*address, *bytes)),
            _ => None,
        });
        kept.chain(self.blurred.iter().copied())
    }
}

/// Whether two accesses share a byte.
pub fn overlap((start, bytes): (u64, u64), (other, count): (u64, u64)) -> bool {
    start < other.saturating_add(count) && other < start.saturating_add(bytes)
}

/// Somebody who takes steps: a thread, or the buffer of one.
pub mod process {
    const BUFFER: u32 = 1 << 16;

    pub fn of_buffer(thread: u32) -> u32 {
        thread | BUFFER
    }

    pub fn is_buffer(process: u32) -> bool {
        process & BUFFER != 0
    }

    pub fn thread(process: u32) -> u32 {
        process & !BUFFER
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum At {
    /// Before something that nobody else notices.
    Block,
    /// Before an operation that others may notice.
    Operation,
    /// Started by a thread that has stores on their way, which come first.
    Pending,
    Ended,
}

/// An object that a thread has made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Object {
    pub address: u64,
    pub size: u64,
    pub kind: AllocKind,
    pub zeroed: bool,
    pub owner: u32,
    /// The calls that made it, as a number.
    pub context: u64,
    /// Whether no other thread is known to use it.
    pub is_private: bool,
    pub is_freed: bool,
}

impl Control {
    /// Where all threads stand, as a number.
    pub fn position(&self) -> u64 {
        use std::hash::{Hash, Hasher};
        let mut hasher = rustc_hash::FxHasher::default();
        for local in &self.threads {
            local.as_deref().map(|local| (&local.stack, local.at)).hash(&mut hasher);
        }
        hasher.finish()
    }

    pub fn thread(&self, number: u32) -> Option<&Local> {
        self.threads.get(number as usize)?.as_deref()
    }

    pub fn local(&mut self, number: u32) -> Option<&mut Local> {
        self.threads.get_mut(number as usize)?.as_mut().map(Arc::make_mut)
    }

    pub fn has_ended(&self, number: u32) -> bool {
        self.thread(number).is_some_and(|local| local.at == At::Ended)
    }

    /// The threads that have not ended.
    pub fn running(&self) -> impl Iterator<Item = u32> {
        let threads = self.threads.iter().enumerate();
        let runs = |local: &Local| !matches!(local.at, At::Ended | At::Pending);
        let running = threads.filter(move |(_, local)| local.as_deref().is_some_and(runs));
        running.map(|(number, _)| number as u32)
    }

    /// Whoever may take a step: threads that have not ended, and buffers with something in them.
    pub fn processes(&self) -> impl Iterator<Item = u32> {
        let running = self.running();
        running.chain(self.running().filter(|it| self.stores(*it)).map(process::of_buffer))
    }

    /// Whether a thread has stores on their way.
    pub fn stores(&self, thread: u32) -> bool {
        self.thread(thread).is_some_and(|local| !local.stores.is_empty())
    }

    /// Whether no other thread can take a step before this one starts one.
    pub fn is_alone(&self, thread: u32) -> bool {
        let mut others = self.threads.iter().enumerate().filter(|(it, _)| *it != thread as usize);
        others.all(|(_, local)| local.as_ref().is_none_or(|local| local.at == At::Ended))
    }

    /// The threads that may go on, the one whose turn it is first: all of them where the execution is no
    /// graph, and of that there is one whose steps stand for those of the others.
    pub fn turns(&self) -> Vec<u32> {
        let Some(execution) = &self.execution else { return self.processes().collect() };
        let mut running: Vec<u32> = self.running().collect();
        running.retain(|thread| !matches!(execution.wait(*thread), Wait::Open(_)));
        let first = running.iter().position(|thread| *thread >= execution.turn);
        running.rotate_left(first.unwrap_or(0));
        running
    }

    /// The last object that starts at an address or before it.
    pub fn object(&self, address: u64) -> Option<&Object> {
        let after = self.objects.partition_point(|object| object.address <= address);
        let object = &self.objects[after.checked_sub(1)?];
        // What is far behind is not of it.
        (address - object.address <= object.size.saturating_add(1 << 12)).then_some(object)
    }

    pub fn last_object_of(&self, thread: u32) -> Option<(u64, u64)> {
        let own = self.objects.iter().rfind(|object| object.owner == thread)?;
        Some((own.address, own.size))
    }

    pub fn add(&mut self, object: Object) {
        let objects = Arc::make_mut(&mut self.objects);
        let at = objects.partition_point(|other| other.address < object.address);
        objects.insert(at, object);
    }

    /// Ends an object. It is kept as one that has ended, or forgotten.
    pub fn free(&mut self, address: u64, keeps: bool) {
        let objects = Arc::make_mut(&mut self.objects);
        match keeps {
            true => objects
                .iter_mut()
                .filter(|object| object.address == address)
                .for_each(|object| object.is_freed = true),
            false => objects.retain(|object| object.address != address),
        }
    }

    /// What is wrong with an access, if something is.
    pub fn wrong_access(
        &self,
        globals: &Globals,
        slots: Slots,
        (address, bytes): (u64, u64),
        writes: bool,
    ) -> Option<BadAccess> {
        let made = self.object(address).map(|object| Extent {
            start: object.address,
            size: object.size,
            is_freed: object.is_freed,
            is_constant: false,
            is_alone: true,
        });
        let global = || {
            let global = globals.at(address).filter(|_| slots.owner(address).is_none())?;
            Some(Extent {
                start: global.address,
                size: global.size,
                is_freed: false,
                is_constant: global.constant,
                is_alone: false,
            })
        };
        wrong_access(made.or_else(global), address, bytes, writes)
    }

    /// What is wrong with the end of an object, or with asking for its size.
    pub fn wrong_end(&self, address: u64, kind: AllocKind) -> Option<BadAccess> {
        let at = self.object(address).filter(|object| address - object.address <= object.size);
        wrong_end(at.map(|object| (object.address, object.kind, object.is_freed)), address, kind)
    }
}
