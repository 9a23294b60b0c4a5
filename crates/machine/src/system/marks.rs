//! What the tags of an instruction mean to the operational machines. It is what `models/sc.cat`,
//! `tso.cat`, `pso.cat` and `lib/mca.cat` say of them: a locked access, and a full fence, find the buffer of their
//! thread empty; a store barrier, and a release under PSO, keep earlier stores before later ones.

use parallax_program::{InstKind, Order, Tags};

/// The operational memories.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// Every access takes effect at once.
    Sc,
    /// One first-in-first-out store buffer for each thread.
    Tso,
    /// Stores of a thread to different places may overtake one another.
    Pso,
    /// Accesses wait until all that C and multi-copy atomicity put before them is done; a write is
    /// published to all other threads at once.
    Mca,
}

impl MemoryKind {
    pub const ALL: [MemoryKind; 4] =
        [MemoryKind::Sc, MemoryKind::Tso, MemoryKind::Pso, MemoryKind::Mca];

    /// As schedules have it.
    pub fn name(self) -> &'static str {
        match self {
            MemoryKind::Sc => "sc",
            MemoryKind::Tso => "tso",
            MemoryKind::Pso => "pso",
            MemoryKind::Mca => "rc11-mca",
        }
    }

    pub fn named(name: &str) -> Option<MemoryKind> {
        MemoryKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What matters of the tags of one event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks(u16);

impl Marks {
    /// Waits until the thread's buffer is empty; a write then takes effect at once.
    const LOCKED: Marks = Marks(1);
    /// A fence that waits until the buffer is empty.
    const FLUSH: Marks = Marks(2);
    /// A fence, or a write, that stays behind all earlier writes (PSO).
    const BARRIER: Marks = Marks(4);
    /// A read that only copies, so that what was never written may be read.
    const COPY: Marks = Marks(8);
    /// The read by which a thread leaves an object that others may end after that.
    const FAREWELL: Marks = Marks(16);
    /// Writes by which locks of the library are taken and given back.
    const LOCK: Marks = Marks(32);
    const UNLOCK: Marks = Marks(64);
    /// A fence that waits until the buffers of all threads are empty.
    const FENCE_OF_ALL: Marks = Marks(128);
    /// A read that finds 0 where nobody has written.
    const FRESH: Marks = Marks(256);
    /// Memory orders of C.
    const ACQUIRE: Marks = Marks(512);
    const SEQUENTIAL: Marks = Marks(1024);

    fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    pub fn is_locked(self) -> bool {
        self.has(Marks::LOCKED)
    }

    pub fn is_flush(self) -> bool {
        self.has(Marks::FLUSH)
    }

    pub fn is_fence_of_all(self) -> bool {
        self.has(Marks::FENCE_OF_ALL)
    }

    pub fn is_barrier(self) -> bool {
        self.has(Marks::BARRIER)
    }

    pub fn is_acquire(self) -> bool {
        self.has(Marks::ACQUIRE)
    }

    pub fn is_sequential(self) -> bool {
        self.has(Marks::SEQUENTIAL)
    }

    pub fn is_copy(self) -> bool {
        self.has(Marks::COPY)
    }

    pub fn is_fresh(self) -> bool {
        self.has(Marks::FRESH)
    }

    pub fn is_farewell(self) -> bool {
        self.has(Marks::FAREWELL)
    }

    pub fn takes_lock(self) -> bool {
        self.has(Marks::LOCK)
    }

    pub fn gives_lock_back(self) -> bool {
        self.has(Marks::UNLOCK)
    }

    fn of(tags: &Tags) -> Marks {
        let orders = tags.orders().fold(0, |marks, order| {
            let is_full = order == Order::SequentiallyConsistent;
            let full = if is_full { Marks::FLUSH.0 | Marks::SEQUENTIAL.0 } else { 0 };
            let acquire = if order.acquires() { Marks::ACQUIRE.0 } else { 0 };
            marks | full | acquire | if order.releases() { Marks::BARRIER.0 } else { 0 }
        });
        tags.iter().fold(Marks(orders), |marks, tag| {
            let more = match tag.as_str() {
                "X" | "RMW" => Marks::LOCKED.0,
                "SFENCE" => Marks::BARRIER.0,
                "MFENCE" => Marks::FLUSH.0,
                Tags::MEMBARRIER => Marks::FENCE_OF_ALL.0,
                "COPY" => Marks::COPY.0,
                "FRESH" => Marks::FRESH.0,
                "LEAVE" => Marks::FAREWELL.0,
                "LOCK_WRITE" => Marks::LOCK.0,
                "UNLOCK" => Marks::UNLOCK.0,
                _ => 0,
            };
            Marks(marks.0 | more)
        })
    }

    /// The marks of the events of an instruction: the only one; read and write; for a
    /// compare-and-swap those of success and the read of failure.
    pub fn of_events(kind: &InstKind) -> [Marks; 3] {
        let none = Marks::default();
        let locked = |tags| Marks(Marks::of(tags).0 | Marks::LOCKED.0);
        match kind {
            InstKind::Load { tags, .. } | InstKind::LoadLinked { tags, .. } => {
                [Marks::of(tags), none, none]
            }
            InstKind::Store { tags, .. } if tags.contains(Order::SequentiallyConsistent.tag()) => {
                [locked(tags), none, none]
            }
            InstKind::Store { tags, .. } | InstKind::Fence { tags } => {
                [Marks::of(tags), none, none]
            }
            InstKind::Rmw { read_tags, write_tags, .. } => {
                [locked(read_tags), locked(write_tags), none]
            }
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } => {
                [locked(read_tags), locked(write_tags), Marks::of(fail_tags)]
            }
            _ => [none; 3],
        }
    }
}
