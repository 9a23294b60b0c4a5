//! Vector clocks: for each event, how much of each thread comes before it.
//!
//! Four kinds are kept. *Prefix*: program order and reads-from (porf), which the search itself
//! goes by. *Happens-before*: program order and synchronisation, as RC11 defines it. *Message*: what
//! an acquiring read of a write learns. *Pending*: what the reads so far have got and an
//! acquire fence would learn. All are final when an event is added, since events are added after
//! everything that comes before them.

use crate::event::{Event, Id, Kind, Loc};
use crate::graph::{Place, ThreadGraph};

/// A kind of clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    Prefix = 0,
    Happens = 1,
    Message = 2,
    Pending = 3,
}

/// Whether synchronisation is followed, and what continues a release sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Synchronisation {
    #[default]
    Ignored,
    /// Read-modify-writes, and what the thread that released stores to the same place.
    Standard2011,
    /// Read-modify-writes alone, as in C++20.
    Standard2020,
    /// Read-modify-writes, and whatever the same thread stores to the same place after one of the
    /// sequence; accesses that are not atomic count as relaxed ones.
    Imm,
}

#[derive(Clone, Default)]
pub struct Clocks {
    /// Entries of one clock: the number of threads, or some more.
    width: usize,
    synchronisation: Synchronisation,
    threads: Vec<Vec<u32>>,
    saved: Vec<u32>,
}

impl Clocks {
    pub fn new(synchronisation: Synchronisation) -> Clocks {
        Clocks { width: 0, synchronisation, threads: Vec::new(), saved: Vec::new() }
    }

    /// How many kinds of clocks are kept.
    fn kinds(&self) -> usize {
        if self.synchronisation == Synchronisation::Ignored { 1 } else { 4 }
    }

    /// Whether there are other clocks than that of the prefix.
    pub fn follows_synchronisation(&self) -> bool {
        self.kinds() > 1
    }

    fn stride(&self) -> usize {
        self.width * self.kinds()
    }

    /// Makes room for so many threads.
    pub fn widen(&mut self, threads: usize) {
        self.threads.resize_with(threads, Vec::new);
        if threads <= self.width {
            return;
        }
        // Many threads come one by one.
        let new = if threads <= 16 { threads } else { threads.next_power_of_two() };
        let old = self.width;
        let restride = |clocks: &mut Vec<u32>| {
            if old == 0 || clocks.is_empty() {
                return;
            }
            let mut wider = Vec::with_capacity(clocks.len() / old * new);
            for clock in clocks.chunks(old) {
                wider.extend_from_slice(clock);
                wider.resize(wider.len() + new - old, 0);
            }
            *clocks = wider;
        };
        self.threads.iter_mut().for_each(restride);
        restride(&mut self.saved);
        self.width = new;
    }

    /// The clock of an event.
    pub fn get(&self, kind: Clock, id: Id) -> &[u32] {
        debug_assert!((kind as usize) < self.kinds(), "{kind:?} is not kept");
        let start = id.index() * self.stride() + kind as usize * self.width;
        &self.threads[id.thread()][start..start + self.width]
    }

    /// Whether an event is in a clock.
    pub fn covers(clock: &[u32], id: Id) -> bool {
        id.is_init() || clock.get(id.thread()).is_some_and(|count| *count as usize > id.index())
    }

    /// Whether an event comes before the next one of a thread, by a kind of clock.
    pub fn before_next(&self, kind: Clock, id: Id, thread: usize, length: usize) -> bool {
        if id.is_init() || id.thread() == thread {
            return true;
        }
        length > 0 && Clocks::covers(self.get(kind, Id::new(thread, length - 1)), id)
    }

    pub fn pop(&mut self, thread: usize) {
        let stride = self.stride();
        let clocks = &mut self.threads[thread];
        debug_assert!(clocks.len() >= stride, "an event without clocks");
        clocks.truncate(clocks.len().saturating_sub(stride));
    }

    /// Keeps the clocks of a thread's last event for [`Clocks::restore`].
    pub fn save(&mut self, thread: usize) {
        let clocks = &self.threads[thread];
        let start = clocks.len().saturating_sub(self.stride());
        self.saved.extend_from_slice(&clocks[start..]);
    }

    pub fn restore(&mut self, thread: usize) {
        debug_assert!(self.saved.len() >= self.stride(), "no clocks were saved");
        let start = self.saved.len().saturating_sub(self.stride());
        self.threads[thread].extend(self.saved.drain(start..));
    }

    /// Adds the clocks of an event that is about to be the next of its thread.
    pub fn push(&mut self, id: Id, event: &Event, threads: &[ThreadGraph<'_>], places: &[Place]) {
        let (thread, stride) = (id.thread(), self.stride());
        let start = self.threads[thread].len();
        debug_assert_eq!(start, id.index() * stride, "clocks of another event than {id:?}");
        if start == 0 {
            self.threads[thread].resize(stride, 0);
        } else {
            self.threads[thread].extend_from_within(start - stride..start);
        }
        let mut own = std::mem::take(&mut self.threads[thread]);
        let (earlier, clocks) = own.split_at_mut(start);
        let mut new = NewClocks { all: self, thread, earlier, clocks };
        new.clocks[thread] = id.index() as u32 + 1;
        // Which one comes first is left open.
        if event.kind == Kind::Read && !event.marks.updates() {
            new.join(Clock::Prefix, event.rf, Clock::Prefix);
        }
        if self.kinds() > 1 {
            new.synchronise(id, event, threads, places);
        }
        self.threads[thread] = own;
    }
}

/// The clocks of an event that is being added, first copies of those of the event before.
struct NewClocks<'a> {
    all: &'a Clocks,
    thread: usize,
    /// Clocks of the thread's earlier events.
    earlier: &'a [u32],
    clocks: &'a mut [u32],
}

impl NewClocks<'_> {
    fn of(&mut self, kind: Clock) -> &mut [u32] {
        let width = self.all.width;
        &mut self.clocks[kind as usize * width..(kind as usize + 1) * width]
    }

    /// Joins a clock of another event into one of the new event's.
    fn join(&mut self, into: Clock, from: Id, kind: Clock) {
        if from.is_init() {
            return;
        }
        let all = self.all;
        let source = match from.thread() == self.thread {
            true => {
                let start = from.index() * all.stride() + kind as usize * all.width;
                &self.earlier[start..start + all.width]
            }
            false => all.get(kind, from),
        };
        let start = into as usize * all.width;
        for (entry, other) in self.clocks[start..start + all.width].iter_mut().zip(source) {
            *entry = (*entry).max(*other);
        }
    }

    fn synchronise(
        &mut self,
        id: Id,
        event: &Event,
        threads: &[ThreadGraph<'_>],
        places: &[Place],
    ) {
        let (width, thread) = (self.all.width, self.thread);
        self.of(Clock::Happens)[thread] = id.index() as u32 + 1;
        match event.kind {
            Kind::Read if self.takes_part(event) && !event.marks.updates() => {
                if event.marks.is_acquire() {
                    self.join(Clock::Happens, event.rf, Clock::Message);
                }
                self.join(Clock::Pending, event.rf, Clock::Message);
            }
            Kind::Fence if event.marks.is_acquire() => {
                for entry in 0..width {
                    let pending = self.clocks[Clock::Pending as usize * width + entry];
                    let happens = &mut self.clocks[Clock::Happens as usize * width + entry];
                    *happens = pending.max(*happens);
                }
            }
            Kind::Write => self.message(id, event, threads, places),
            _ => {}
        }
    }

    /// What an acquiring read of this write will learn: all that came before, or before the last
    /// release; and a read-modify-write hands on the message of what it read.
    fn message(&mut self, id: Id, event: &Event, threads: &[ThreadGraph<'_>], places: &[Place]) {
        let width = self.all.width;
        self.of(Clock::Message).fill(0);
        if !self.takes_part(event) {
            return;
        }
        if event.marks.is_release() {
            self.clocks.copy_within(width..2 * width, Clock::Message as usize * width);
        } else if let Some(release) = self.last_release(event, id, threads, places) {
            self.join(Clock::Message, Id::new(self.thread, release), Clock::Happens);
        }
        if event.marks.is_rmw() && !event.marks.updates() && id.index() > 0 {
            let source = threads[self.thread].events[id.index() - 1].rf;
            self.join(Clock::Message, source, Clock::Message);
        }
        if self.all.synchronisation == Synchronisation::Imm
            && let Some(before) = self.last_own_write(id, event.loc, places)
        {
            self.join(Clock::Message, before, Clock::Message);
        }
    }

    /// Whether an access can be part of what makes others synchronise.
    fn takes_part(&self, event: &Event) -> bool {
        event.marks.is_atomic() || self.all.synchronisation == Synchronisation::Imm
    }

    /// The last write of the thread to that location.
    fn last_own_write(&self, id: Id, loc: Loc, places: &[Place]) -> Option<Id> {
        let place = places.get(loc.0 as usize)?;
        place.co.iter().rev().find(|write| write.thread() == id.thread()).copied()
    }

    /// The last event of the thread that makes a relaxed write release something: a release fence,
    /// or an own release write to the same location.
    fn last_release(
        &self,
        event: &Event,
        id: Id,
        threads: &[ThreadGraph<'_>],
        places: &[Place],
    ) -> Option<usize> {
        let events = &threads[id.thread()].events;
        let fence = (event.last_release_fence as usize).checked_sub(1);
        let continues = self.all.synchronisation == Synchronisation::Standard2011;
        let write = if event.loc == Loc::NONE || !continues {
            None
        } else {
            let own = places[event.loc.0 as usize].co.iter().rev();
            own.filter(|write| write.thread() == id.thread())
                .map(|write| write.index())
                .find(|index| events[*index].marks.is_release())
        };
        fence.max(write)
    }
}
