//! What may still be accessed from a state on, and by whom.
//!
//! There are few different accesses in a program and few different sets of them, so both get
//! numbers: a set is a row of bits, kept once, and the union of two known sets is looked up.

use super::quick::QuickMap;

/// One of the two things that can happen next for a thread: what it stands at, and what leaves its
/// buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Process(pub u32);

impl Process {
    pub fn of_thread(thread: u32) -> Process {
        Process(thread * 2)
    }

    pub fn of_buffer(thread: u32) -> Process {
        Process(thread * 2 + 1)
    }

    pub fn thread(self) -> u32 {
        self.0 / 2
    }

    pub fn is_buffer(self) -> bool {
        self.0 % 2 == 1
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Bytes that a process accesses, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    pub process: Process,
    pub start: u64,
    pub size: u64,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Read,
    /// With the buffer empty: a read, or a read and a write.
    LockedRead,
    Write,
    /// A write of that value.
    Sets(u128),
    /// Finds that value, and leaves it.
    Confirms(u128),
    ReadWrite,
    /// As `ReadWrite`, but where it fails it is a plain read.
    CompareAndSwap,
    /// The same; and where it succeeds with the buffer empty it may also fail with it full.
    WeakCompareAndSwap,
    /// Only minds whether the object is there.
    Touch,
    /// Ends the life of an object.
    Free,
    /// Excludes everybody else for some time.
    All,
}

impl Kind {
    fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::LockedRead | Kind::Confirms(_)) || self.swaps()
    }

    fn writes(self) -> bool {
        matches!(self, Kind::Write | Kind::Sets(_)) || self.swaps()
    }

    /// The value that is there after it, where that is known.
    fn value(self) -> Option<u128> {
        match self {
            Kind::Sets(value) | Kind::Confirms(value) => Some(value),
            _ => None,
        }
    }

    fn swaps(self) -> bool {
        matches!(self, Kind::ReadWrite | Kind::CompareAndSwap | Kind::WeakCompareAndSwap)
    }
}

impl Access {
    pub fn overlaps(&self, start: u64, size: u64) -> bool {
        self.start < start.saturating_add(size) && start < self.start.saturating_add(self.size)
    }

    /// Whether it may change what is at some bytes.
    pub fn changes(&self, start: u64, size: u64) -> bool {
        (self.kind.writes() || matches!(self.kind, Kind::Free)) && self.overlaps(start, size)
            || self.kind == Kind::All
    }

    /// Whether the order of the two may matter.
    fn conflicts(&self, other: &Access) -> bool {
        if self.process == other.process {
            return false;
        }
        if self.process.thread() == other.process.thread() {
            // A load and the own buffer: before a store leaves it others cannot get in between.
            let (thread, buffer) =
                if self.process.is_buffer() { (other, self) } else { (self, other) };
            let minds = match thread.kind {
                Kind::Read | Kind::CompareAndSwap => thread.overlaps(buffer.start, buffer.size),
                Kind::WeakCompareAndSwap => true,
                _ => false,
            };
            return minds && buffer.kind.writes();
        }
        if self.kind == Kind::All || other.kind == Kind::All {
            return true;
        }
        // Who is second leaves what the first has left.
        let is_same = self.start == other.start && self.size == other.size;
        if is_same && self.kind.value().is_some() && self.kind.value() == other.kind.value() {
            return false;
        }
        let free = self.kind == Kind::Free || other.kind == Kind::Free;
        let data = self.kind.writes() && (other.kind.reads() || other.kind.writes())
            || other.kind.writes() && self.kind.reads();
        (free || data) && self.overlaps(other.start, other.size)
    }
}

/// The number of an access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct AccessId(u32);

/// The number of a set of accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(u32);

impl SetId {
    pub const EMPTY: SetId = SetId(0);
}

/// Members by number, without empty words at the end.
type Row = Box<[u64]>;

pub struct Summaries {
    accesses: Vec<Access>,
    known: QuickMap<Access, AccessId>,
    /// For each access, those that conflict with it.
    conflicts: Vec<Vec<u64>>,
    /// For each access, the set of it alone.
    alone: Vec<SetId>,
    rows: Vec<Row>,
    sets: QuickMap<Row, SetId>,
    unions: QuickMap<(u32, u32), SetId>,
}

impl Default for Summaries {
    fn default() -> Summaries {
        let empty: Row = Box::default();
        Summaries {
            accesses: Vec::new(),
            known: QuickMap::default(),
            conflicts: Vec::new(),
            alone: Vec::new(),
            rows: vec![empty.clone()],
            sets: QuickMap::from_iter([(empty, SetId::EMPTY)]),
            unions: QuickMap::default(),
        }
    }
}

impl Summaries {
    fn access(&mut self, access: Access) -> AccessId {
        if let Some(known) = self.known.get(&access) {
            return *known;
        }
        let id = AccessId(self.accesses.len() as u32);
        let mut row = Vec::new();
        for (number, other) in self.accesses.iter().enumerate() {
            if access.conflicts(other) {
                insert(&mut row, number);
                insert(&mut self.conflicts[number], id.0 as usize);
            }
        }
        self.conflicts.push(row);
        self.accesses.push(access);
        self.known.insert(access, id);
        let mut row = Vec::new();
        insert(&mut row, id.0 as usize);
        let alone = self.intern(row);
        self.alone.push(alone);
        id
    }

    /// The set of one access.
    pub fn only(&mut self, access: Access) -> SetId {
        let id = self.access(access);
        self.alone[id.0 as usize]
    }

    /// How many accesses are known to conflict with those of a set.
    pub fn rivals(&self, set: SetId) -> u32 {
        let conflicts = self.numbers(set).flat_map(|number| &self.conflicts[number]);
        conflicts.map(|word| word.count_ones()).sum()
    }

    pub fn union(&mut self, left: SetId, right: SetId) -> SetId {
        if left == right || right == SetId::EMPTY {
            return left;
        }
        if left == SetId::EMPTY {
            return right;
        }
        let key = (left.0.min(right.0), left.0.max(right.0));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let (left, right) = (&self.rows[left.0 as usize], &self.rows[right.0 as usize]);
        let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
        let mut row = long.to_vec();
        row.iter_mut().zip(short).for_each(|(word, more)| *word |= more);
        let union = self.intern(row);
        self.unions.insert(key, union);
        union
    }

    fn intern(&mut self, row: Vec<u64>) -> SetId {
        let row: Row = row.into();
        if let Some(known) = self.sets.get(&row) {
            return *known;
        }
        let id = SetId(self.rows.len() as u32);
        self.rows.push(row.clone());
        self.sets.insert(row, id);
        id
    }

    /// Those in a set whose order with one of another set may matter.
    pub fn rivals_in(&self, set: SetId, other: SetId) -> impl Iterator<Item = &Access> {
        self.numbers(other).flat_map(move |number| {
            let row = &self.rows[set.0 as usize];
            let both = row.iter().zip(&self.conflicts[number]).map(|(row, rivals)| row & rivals);
            members(both).map(|number| &self.accesses[number])
        })
    }

    pub fn all_in(&self, set: SetId) -> impl Iterator<Item = &Access> {
        self.numbers(set).map(|number| &self.accesses[number])
    }

    fn numbers(&self, set: SetId) -> impl Iterator<Item = usize> {
        members(self.rows[set.0 as usize].iter().copied())
    }
}

fn members(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(index, word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            let found = rest != 0;
            rest &= rest.wrapping_sub(1);
            found.then_some(index * 64 + bit)
        })
    })
}

fn insert(row: &mut Vec<u64>, member: usize) {
    if row.len() <= member / 64 {
        row.resize(member / 64 + 1, 0);
    }
    row[member / 64] |= 1 << (member % 64);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(process: u32, start: u64, size: u64, kind: Kind) -> Access {
        Access { process: Process(process), start, size, kind }
    }

    #[test]
    fn conflicts_are_between_processes_and_byte_by_byte() {
        let write = access(1, 8, 4, Kind::Write);
        assert!(write.conflicts(&access(3, 11, 1, Kind::Write)));
        assert!(!write.conflicts(&access(3, 12, 4, Kind::Write)));
        assert!(write.conflicts(&access(2, 8, 1, Kind::Read)));
        assert!(!access(0, 8, 4, Kind::Read).conflicts(&access(2, 8, 4, Kind::Read)));
        // The own buffer minds plain loads only.
        assert!(write.conflicts(&access(0, 8, 4, Kind::Read)));
        assert!(!write.conflicts(&access(0, 8, 4, Kind::ReadWrite)));
        assert!(!write.conflicts(&access(1, 8, 4, Kind::Write)));
        assert!(!write.conflicts(&access(2, 8, 4, Kind::Touch)));
        assert!(access(2, 0, 64, Kind::Free).conflicts(&access(4, 8, 4, Kind::Touch)));
    }

    #[test]
    fn who_writes_the_same_is_no_rival() {
        let sets = |process, value| access(process, 8, 4, Kind::Sets(value));
        let confirms = |process, value| access(process, 8, 4, Kind::Confirms(value));
        assert!(!sets(0, 1).conflicts(&sets(2, 1)) && sets(0, 1).conflicts(&sets(2, 2)));
        assert!(!sets(0, 1).conflicts(&confirms(2, 1)) && sets(0, 1).conflicts(&confirms(2, 2)));
        assert!(!confirms(0, 1).conflicts(&confirms(2, 1)));
        assert!(sets(0, 1).conflicts(&access(2, 8, 4, Kind::Read)));
        assert!(confirms(0, 1).conflicts(&access(2, 8, 4, Kind::ReadWrite)));
        assert!(!confirms(0, 1).conflicts(&access(2, 8, 4, Kind::Read)));
        assert!(sets(0, 1).conflicts(&access(2, 8, 2, Kind::Sets(1))));
    }

    #[test]
    fn sets_are_kept_once() {
        let mut all = Summaries::default();
        let one = all.only(access(0, 8, 4, Kind::Read));
        let other = all.only(access(2, 8, 4, Kind::Write));
        assert_eq!(all.only(access(0, 8, 4, Kind::Read)), one);
        let both = all.union(one, other);
        assert_eq!(both, all.union(other, one));
        assert_eq!(both, all.union(one, both));
        assert_eq!(all.rivals_in(both, one).count(), 1);
        assert_eq!(all.rivals_in(one, one).count(), 0);
        assert_eq!(all.all_in(both).count(), 2);
    }
}
