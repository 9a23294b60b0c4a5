//! Which steps of a state must be looked at, so that no final state is lost.
//!
//! At each state the search takes a set T of processes ([`Process`]: each thread, and each store
//! buffer) and leaves the others for later. That loses no final state and no error if T's next
//! steps are *persistent* (P. Godefroid, Partial-order methods for the verification of concurrent
//! systems, LNCS 1032, 1996): whatever the others do first, up to the point where one of T's
//! processes takes a step, does not depend on T's next steps. What the others may do is not known
//! beforehand; but it can be learned. The search takes one process, looks at all that follows,
//! and comes back with the set D of all accesses that somebody made from there on. If D has an
//! access of a process outside of T that conflicts with the next step of one in T, T grows by that
//! process, the search goes on with it, and so on until T is closed. A process that conflicts but
//! cannot take a step now must first be helped by others: T grows by those that may do so: whoever
//! changes, in D, the bytes that it waits for; its own buffer, if it waits for that to be empty;
//! the thread whose end it waits for. That is how the order of two threads at a lock is reversed
//! where they come to it, and nowhere inside of the critical section.
//!
//! Why that is enough. Suppose that T is closed at s and some others take the steps t₁…tₙ, of which
//! tₙ is the first that conflicts with the next step a of a process in T. Before it all is
//! independent of a, so that a, t₁…tₙ₋₁ is possible too: after a, in the part of the graph that was
//! searched, and completely, the process of tₙ comes to stand at tₙ. Its access is in D then, so
//! its process, or somebody whose help it needed on the way, is in T. The induction is over the
//! order in which states are completed. Sets D are kept with completed states, so that coming
//! to a known state once more costs one union (Y. Yang, X. Chen, G. Gopalakrishnan, R. Kirby,
//! Efficient stateful dynamic partial order reduction, SPIN 2008, keep a graph of accesses for that).
//! Where the search meets a state that is not complete yet, it has found a cycle: all states of a
//! strongly connected component (found by Tarjan's algorithm) are expanded in full. Then no
//! process is put off for ever, and a component that cannot be left is one in the whole graph, too.
//!
//! Unlike dynamic partial-order reduction after C. Flanagan and P. Godefroid (POPL 2005) or
//! P. Abdulla et al. (POPL 2014), nothing is computed along the current path, and there are no
//! clocks: states are matched, so a path has no meaning of its own. The sets are by byte but not by
//! value: orders that lead to the same values lead to the same states, which are met again at
//! once.
//!
//! An access of a buffer and a load of the same bytes by its own thread count as a conflict:
//! loading before the store has left the buffer shuts out what others write in between.

pub mod components;
pub mod quick;
pub mod summary;

use self::summary::{Process, SetId, Summaries};
use crate::system::Waits;

/// What a process can do in a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Next {
    pub accesses: SetId,
    pub status: Status,
    /// Whether its steps are to be looked at.
    pub is_chosen: bool,
    /// Whether they were.
    pub is_done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It can take its next step, in so many ways.
    Ready(u32),
    Waits(Waits),
    /// The buffer is empty.
    Idle,
    /// There is no next step, and never will be.
    Over,
    /// The thread has not been started.
    Absent,
}

impl Next {
    pub const ABSENT: Next = Next::new(SetId::EMPTY, Status::Absent);

    pub const fn new(accesses: SetId, status: Status) -> Next {
        Next { accesses, status, is_chosen: false, is_done: false }
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.status, Status::Ready(_))
    }
}

/// Who spawned whom.
pub type Parents<'a> = &'a dyn Fn(u32) -> Option<u32>;

/// The set of processes that are looked at in a state.
pub struct Closure<'a> {
    pub nexts: &'a mut [Next],
    pub summaries: &'a Summaries,
    /// All accesses from here on, as far as is known.
    pub future: SetId,
    pub parents: Parents<'a>,
    pub section: Option<u32>,
    /// Whether the buffer's next steps depend on what its thread puts into it.
    pub is_pso: bool,
}

impl Closure<'_> {
    /// Adds what is missing. False if that is nothing.
    pub fn close(mut self) -> bool {
        if self.nexts.iter().all(|next| next.is_chosen || !next.is_ready()) {
            return false;
        }
        let mut asked = vec![false; self.nexts.len()];
        let mut wanted = Vec::new();
        for (index, next) in self.nexts.iter().enumerate() {
            if !next.is_chosen {
                continue;
            }
            if self.is_pso && Process(index as u32).is_buffer() {
                wanted.push(Process::of_thread(index as u32 / 2));
            }
            let rivals = self.summaries.rivals_in(self.future, next.accesses);
            wanted.extend(rivals.map(|rival| rival.process));
        }
        let mut grown = false;
        while let Some(process) = wanted.pop() {
            grown |= self.want(process, &mut asked, &mut wanted);
        }
        grown
    }

    /// A process must come to its turn; where it cannot, those that can help it.
    fn want(&mut self, process: Process, asked: &mut Vec<bool>, wanted: &mut Vec<Process>) -> bool {
        let index = process.index();
        if asked.len() <= index {
            asked.resize(index + 1, false);
        }
        let is_chosen = self.nexts.get(index).is_some_and(|next| next.is_chosen);
        if is_chosen || std::mem::replace(&mut asked[index], true) {
            return false;
        }
        let thread = process.thread();
        let both = |thread| [Process::of_thread(thread), Process::of_buffer(thread)];
        match self.nexts.get(index).map_or(Status::Absent, |next| next.status) {
            Status::Ready(_) => {
                self.nexts[index].is_chosen = true;
                return true;
            }
            Status::Over => {}
            Status::Idle => wanted.push(Process::of_thread(thread)),
            Status::Absent => wanted.extend((self.parents)(thread).map(both).iter().flatten()),
            Status::Waits(Waits::Buffer) => wanted.push(Process::of_buffer(thread)),
            Status::Waits(Waits::Buffers) => {
                wanted.extend((0..self.nexts.len() as u32 / 2).map(Process::of_buffer));
            }
            Status::Waits(Waits::Section) => {
                wanted.extend(self.section.map(both).iter().flatten());
            }
            Status::Waits(Waits::Thread(other)) => {
                wanted.extend(u32::try_from(other).ok().map(both).iter().flatten());
            }
            Status::Waits(Waits::Bytes { address, bytes, .. }) => {
                wanted.extend(self.changers(address, bytes));
            }
            Status::Waits(Waits::BufferOrBytes { address, bytes }) => {
                wanted.push(Process::of_buffer(thread));
                wanted.extend(self.changers(address, bytes));
            }
        }
        false
    }

    /// Whoever may change some bytes.
    fn changers(&self, address: u64, bytes: u8) -> impl Iterator<Item = Process> {
        let all = self.summaries.all_in(self.future);
        let changes = all.filter(move |access| access.changes(address, u64::from(bytes)));
        changes.map(|access| access.process)
    }
}
