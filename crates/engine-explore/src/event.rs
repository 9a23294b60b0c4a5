//! Events of execution graphs, kept small: the search makes and forgets millions of them.

use parallax_program::{Bits, Order, Tags};

/// An event, as the thread it belongs to and its place there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);

impl Id {
    /// The write, of any location, that was there before the program started.
    pub const INIT: Id = Id(u32::MAX);
    const INDEX_BITS: u32 = 20;
    pub const MAX_THREADS: usize = 1 << 11;
    /// Events of one thread.
    pub const MAX_EVENTS: usize = 1_000_000;

    pub fn new(thread: usize, index: usize) -> Id {
        Id((thread as u32) << Self::INDEX_BITS | index as u32)
    }

    pub fn thread(self) -> usize {
        (self.0 >> Self::INDEX_BITS) as usize
    }

    pub fn index(self) -> usize {
        (self.0 & ((1 << Self::INDEX_BITS) - 1)) as usize
    }

    pub fn is_init(self) -> bool {
        self == Id::INIT
    }
}

impl std::fmt::Debug for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_init() {
            true => f.write_str("init"),
            false => write!(f, "{}.{}", self.thread(), self.index()),
        }
    }
}

/// A location, by its number in the table of [`crate::memory::Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loc(pub u32);

impl Loc {
    pub const NONE: Loc = Loc(u32::MAX);
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Read,
    Write,
    Fence,
    /// Takes part in no memory model, but in the trace.
    Alloc,
    Free,
    /// A value that the engine chose; whether it is the first of them.
    Choice {
        is_default: bool,
    },
    /// The answer to a question about an object.
    Query,
}

/// What memory models ask of an event, as a set of marks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Marks(u32);

macro_rules! marks {
    ($($bit:literal $name:ident $query:ident,)*) => {
        impl Marks {
            $(pub const $name: Marks = Marks(1 << $bit);
            pub fn $query(self) -> bool {
                self.0 & Marks::$name.0 != 0
            })*
        }
    };
}

marks! {
    0 NON_ATOMIC is_non_atomic,
    1 ATOMIC is_atomic,
    2 ACQUIRE is_acquire,
    3 RELEASE is_release,
    4 SEQ_CST is_seq_cst,
    // Half of a read-modify-write that writes.
    5 RMW is_rmw,
    // What empties store buffers: locked accesses of machine code, full fences, store barriers.
    6 LOCKED is_locked,
    7 FLUSH is_flush,
    8 STORE_BARRIER is_store_barrier,
    // An access that continues the one before: both are parts of one instruction's.
    9 CONTINUES continues,
    // Taking and giving back a lock of the library.
    10 LOCK is_lock,
    11 UNLOCK is_unlock,
    // Creation, begin, end and joining of threads.
    12 LIFE is_life,
    // A write that an older read was made to read.
    13 REVISITED has_revisited,
    // The first and the last write of an atomic section.
    14 ENTER is_enter,
    15 LEAVE is_leave,
    // A read that only copies, so that what was never written may be read.
    16 COPY is_copy,
    // The read by which a thread leaves an object that others may end after that.
    17 FAREWELL is_farewell,
    // One of several cells of an access.
    18 PART is_part,
    // How a thread comes to a barrier, and leaves it; see `barriers`.
    20 ARRIVE arrives,
    21 DEPART departs,
    // The read of a weak compare-and-swap that found what it expected, and failed all the same.
    22 SPURIOUS is_spurious,
    // A read that finds 0 where nobody has written.
    23 FRESH is_fresh,
    // Taking a lock by a thread that waits until it is free, and giving back one whose section is
    // followed; see `locks`.
    24 AWAITED is_awaited,
    25 GIVES gives,
    // Halves of a read-modify-write that commutes with others, and of whose result nobody makes use;
    // see `updates`.
    26 UPDATES updates,
}

impl Marks {
    pub fn is_at_barrier(self) -> bool {
        self.arrives() || self.departs()
    }

    /// On the accesses that take the lock of atomic sections.
    pub fn section_lock() -> Marks {
        Marks::ATOMIC.with(Marks::ACQUIRE).with(Marks::RMW).with(Marks::LOCKED)
    }

    pub fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    pub fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }

    pub fn when(self, condition: bool) -> Marks {
        if condition { self } else { Marks(0) }
    }

    fn of_order(order: Order) -> Marks {
        let (acquire, release) = (Marks::ACQUIRE, Marks::RELEASE);
        match order {
            Order::Relaxed | Order::Consume => Marks(0),
            Order::Acquire => acquire,
            Order::Release => release.with(Marks::STORE_BARRIER),
            Order::AcquireRelease => acquire.with(release).with(Marks::STORE_BARRIER),
            Order::SequentiallyConsistent => {
                acquire.with(release).with(Marks::SEQ_CST).with(Marks::FLUSH)
            }
        }
    }

    /// What the tags of an access or fence say.
    pub fn of(tags: &Tags) -> Marks {
        let orders =
            tags.orders().fold(Marks(0), |marks, order| marks.with(Marks::of_order(order)));
        tags.iter().fold(orders, |marks, tag| {
            marks.with(match tag.as_str() {
                "NA" => Marks::NON_ATOMIC,
                "A" => Marks::ATOMIC,
                "X" | "RMW" => Marks::LOCKED,
                "MFENCE" => Marks::FLUSH,
                "SFENCE" => Marks::STORE_BARRIER,
                "LOCK_WRITE" => Marks::LOCK,
                "UNLOCK" => Marks::UNLOCK,
                "COPY" => Marks::COPY,
                "FRESH" => Marks::FRESH,
                "LEAVE" => Marks::FAREWELL,
                "ARRIVE" => Marks::ARRIVE,
                "DEPART" => Marks::DEPART,
                _ => Marks(0),
            })
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub kind: Kind,
    pub marks: Marks,
    pub loc: Loc,
    /// What was read, written or chosen; the address of an object.
    pub value: Bits,
    /// Where a read takes its value from.
    pub rf: Id,
    /// Events are numbered in the order in which they were added.
    pub stamp: u32,
    /// Places in the thread, plus one, of the last read before this event, the last write, the
    /// last event that empties store buffers, and the last release fence; 0 for none.
    pub last_read: u32,
    pub last_write: u32,
    pub last_flush: u32,
    pub last_release_fence: u32,
    /// Whether it is inside an atomic section.
    pub in_section: bool,
    /// The lock whose critical section it is in, where sections are followed; see [`crate::locks`].
    pub under: Loc,
    /// Whether that section changes nothing.
    pub looks: bool,
}

impl Event {
    pub fn new(kind: Kind, marks: Marks, loc: Loc, value: Bits) -> Event {
        Event {
            kind,
            marks,
            loc,
            value,
            rf: Id::INIT,
            stamp: 0,
            last_read: 0,
            last_write: 0,
            last_flush: 0,
            last_release_fence: 0,
            in_section: false,
            under: Loc::NONE,
            looks: false,
        }
    }

    /// Fills in what depends on the event before in the thread, which is at place `length - 1`.
    pub fn follow(&mut self, before: Option<&Event>, length: usize) {
        let Some(before) = before else {
            return;
        };
        let here = |condition: bool, last: u32| if condition { length as u32 } else { last };
        let fence = before.kind == Kind::Fence;
        let flushes = if fence {
            before.marks.is_flush()
        } else {
            before.is_write() && before.marks.is_locked()
        };
        self.last_read = here(before.is_read(), before.last_read);
        self.last_write = here(before.is_write(), before.last_write);
        self.last_flush = here(flushes, before.last_flush);
        self.in_section = before.is_before_inside();
        self.last_release_fence =
            here(fence && before.marks.is_release(), before.last_release_fence);
        if self.under == Loc::NONE && !before.marks.gives() {
            (self.under, self.looks) = (before.under, before.looks && before.under != Loc::NONE);
        }
    }

    /// Whether what comes after it in its thread is inside an atomic section.
    pub fn is_before_inside(&self) -> bool {
        self.marks.is_enter() || self.in_section && !self.marks.is_leave()
    }

    pub fn is_read(&self) -> bool {
        self.kind == Kind::Read
    }

    pub fn is_write(&self) -> bool {
        self.kind == Kind::Write
    }
}
