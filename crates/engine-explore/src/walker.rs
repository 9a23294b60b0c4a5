//! A runner of threads that remembers where they came to.
//!
//! What a thread does between two of its operations depends on where it stood and on what it has found
//! there, and on nothing else. In most searches that is little: a million executions of ten threads are
//! made of a few hundred such steps. So the last ones are kept in a table of limited size, each in the
//! one place that its key leads to, where it takes the place of another (as in a cache of direct
//! mapping). Graphs are not stored, and what is forgotten is computed again: nothing depends on
//! what the table has. Where values are new all the time, as in sums of sums, it is laid aside for a while.

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use parallax_machine::Thread;
use parallax_program::{Bits, FunctionId};

use crate::standing::{At, Runner, Standing};

/// How a thread goes past what it stands at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the first operation of a thread that was started.
    Enter,
    /// To the beginning of the thread that it starts.
    Begin,
    /// Without a result.
    Pass,
    /// By a store that changes nothing.
    Quietly,
    /// By taking a lock, or giving it back, where nobody notices.
    Unnoticed,
    With(Bits),
    Load(Bits),
    Rmw(Bits),
    /// What was found, and whether it is swapped.
    Cas(Bits, bool),
}

impl Step {
    /// A number for the table; the same for what is the same.
    fn hash(self) -> u64 {
        let of = |value: Bits| value.unsigned() as u64;
        match self {
            Step::Enter => 1,
            Step::Begin => 2,
            Step::Pass => 3,
            Step::Quietly => 4,
            Step::Unnoticed => 5,
            Step::With(value) => of(value) << 4 | 6,
            Step::Load(value) => of(value) << 4 | 7,
            Step::Rmw(value) => of(value) << 4 | 8,
            Step::Cas(value, ok) => of(value) << 4 | 9 | u64::from(ok),
        }
    }
}

struct Entry<'p> {
    /// Keeps the thread, so that no other can be in its place.
    from: Arc<Thread<Bits>>,
    number: u32,
    step: Step,
    to: Standing<'p>,
}

/// The last steps, each in its place.
#[derive(Default)]
struct Table<'p> {
    places: Vec<Option<Entry<'p>>>,
    /// How many were put in the place of another since the table had this size.
    replaced: usize,
    /// How many steps were found, and how many were not, since that was looked at last.
    found: u32,
    missed: u32,
    /// So many steps are neither looked for nor kept.
    rests: u32,
}

impl<'p> Table<'p> {
    const FEWEST: usize = 1 << 6;
    const MOST: usize = 1 << 11;
    /// After so many that were not found it is looked at whether the table is of use, and if it is not, it
    /// rests for so many steps.
    const PATIENCE: u32 = 1 << 11;
    const REST: u32 = 1 << 16;

    fn place(&self, from: &Arc<Thread<Bits>>, number: u32, step: Step) -> usize {
        let thread = (Arc::as_ptr(from) as u64) >> 4;
        let mixed = (thread ^ step.hash().rotate_left(32) ^ u64::from(number) << 56)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.places.len() - 1)
    }

    fn find(&mut self, from: &Arc<Thread<Bits>>, number: u32, step: Step) -> Option<&Standing<'p>> {
        if self.places.is_empty() {
            return None;
        }
        let entry = self.places[self.place(from, number, step)].as_ref().filter(|entry| {
            Arc::ptr_eq(&entry.from, from) && entry.number == number && entry.step == step
        });
        self.found += u32::from(entry.is_some());
        entry.map(|entry| &entry.to)
    }

    /// Whether steps are to be looked for, and kept, at this time.
    fn is_of_use(&mut self) -> bool {
        if self.rests > 0 {
            self.rests -= 1;
            return false;
        }
        if self.missed > Self::PATIENCE {
            if self.found < 2 * self.missed {
                *self = Table { rests: Self::REST, ..Table::default() };
                return false;
            }
            (self.found, self.missed) = (0, 0);
        }
        true
    }

    fn keep(&mut self, entry: Entry<'p>) {
        self.missed += 1;
        let size = self.places.len();
        if size == 0 || self.replaced > size && size < Self::MOST {
            let larger = (size * 4).max(Self::FEWEST);
            let old = std::mem::take(&mut self.places);
            self.places.resize_with(larger, || None);
            for entry in old.into_iter().flatten() {
                let place = self.place(&entry.from, entry.number, entry.step);
                self.places[place] = Some(entry);
            }
            self.replaced = 0;
        }
        let place = self.place(&entry.from, entry.number, entry.step);
        self.replaced += usize::from(self.places[place].is_some());
        self.places[place] = Some(entry);
    }
}

/// Runs the threads of one search.
pub struct Walker<'a, 'p> {
    runner: &'a Runner<'p>,
    table: RefCell<Table<'p>>,
}

impl<'p> Deref for Walker<'_, 'p> {
    type Target = Runner<'p>;

    fn deref(&self) -> &Runner<'p> {
        self.runner
    }
}

impl<'a, 'p> Walker<'a, 'p> {
    /// Larger threads are not kept.
    const MOST_BYTES: usize = 4 << 10;

    pub fn new(runner: &'a Runner<'p>) -> Walker<'a, 'p> {
        Walker { runner, table: RefCell::default() }
    }

    /// Another one, which remembers nothing yet.
    pub fn afresh(&self) -> Walker<'a, 'p> {
        Walker::new(self.runner)
    }

    fn step(&self, number: u32, from: &Standing<'p>, step: Step) -> Standing<'p> {
        let mut table = self.table.borrow_mut();
        let is_of_use = table.is_of_use();
        if is_of_use && let Some(known) = table.find(from.thread(), number, step) {
            self.runner.has_gone(number, known);
            return known.clone();
        }
        let to = self.runner.go(number, from, step);
        if is_of_use && from.thread().bytes() <= Self::MOST_BYTES {
            let from = from.thread().clone();
            table.keep(Entry { from, number, step, to: to.clone() });
        }
        to
    }

    /// From the beginning of a spawned thread to its first operation.
    pub fn enter(&self, number: u32, begin: &Standing<'p>) -> Standing<'p> {
        self.step(number, begin, Step::Enter)
    }

    /// The beginning of the thread that a thread is about to start.
    pub fn begin(&self, by: &Standing<'p>, function: FunctionId, args: &[Bits]) -> Standing<'p> {
        let mut table = self.table.borrow_mut();
        if let Some(known) = table.find(by.thread(), 0, Step::Begin) {
            return known.clone();
        }
        let to = self.runner.begin(function, args);
        let entry =
            Entry { from: by.thread().clone(), number: 0, step: Step::Begin, to: to.clone() };
        table.keep(entry);
        to
    }

    /// Past an operation without result.
    pub fn pass(&self, number: u32, from: &Standing<'p>) -> Standing<'p> {
        self.step(number, from, Step::Pass)
    }

    /// Past a store that changes nothing.
    pub fn pass_quietly(&self, number: u32, from: &Standing<'p>) -> Standing<'p> {
        self.step(number, from, Step::Quietly)
    }

    /// Past taking a lock, or giving it back, where nobody notices.
    pub fn pass_unnoticed(&self, number: u32, from: &Standing<'p>) -> Standing<'p> {
        self.step(number, from, Step::Unnoticed)
    }

    /// Past an operation with one result.
    pub fn pass_with(&self, number: u32, from: &Standing<'p>, value: Bits) -> Standing<'p> {
        self.step(number, from, Step::With(value))
    }

    /// Past a load.
    pub fn pass_load(&self, number: u32, from: &Standing<'p>, value: Bits) -> Standing<'p> {
        self.step(number, from, Step::Load(value))
    }

    /// Past a read-modify-write.
    pub fn pass_rmw(&self, number: u32, from: &Standing<'p>, old: Bits) -> Standing<'p> {
        self.step(number, from, Step::Rmw(old))
    }

    /// Past a compare-and-swap.
    pub fn pass_cas(&self, number: u32, from: &Standing<'p>, old: Bits, ok: bool) -> Standing<'p> {
        self.step(number, from, Step::Cas(old, ok))
    }

    /// Whether the thread waits if it reads that value.
    pub fn would_wait(&self, number: u32, standing: &Standing<'p>, value: Bits) -> bool {
        let next = match &standing.at {
            At::Load { .. } => self.pass_load(number, standing, value),
            At::Rmw { .. } if standing.written(value) == Some(value) => {
                self.pass_rmw(number, standing, value)
            }
            At::Cas(cas) if value != cas.expected => self.pass_cas(number, standing, value, false),
            At::Enter => return !value.is_zero(),
            _ => return false,
        };
        next.is_stuck_after_one()
    }

    /// Whether two reads of a thread, one right after the other, come to the same as if there had
    /// been one that reads what the second one has read: the second is a compare-and-swap that has
    /// failed, after which the thread stands at `now`. See [`crate::retries`].
    pub fn is_stale(
        &self,
        number: u32,
        first: &Standing<'p>,
        value: Bits,
        now: &Standing<'p>,
    ) -> bool {
        if !self.runner.follows_attempts() || !now.is_ready() {
            return false;
        }
        let alone = match &first.at {
            At::Load { .. } => self.pass_load(number, first, value),
            At::Cas(cas) if value != cas.expected => self.pass_cas(number, first, value, false),
            _ => return false,
        };
        alone.is_ready() && self.runner.stand_alike(now, &alone)
    }
}
