//! What an engine claims happened in one execution of a program: the least that determines it.
//!
//! A claim names no address, no value and no tag that the program itself has: those follow
//! when the threads run once more. It has only what was decided outside of the threads, which is
//! where each read got its value, in which order the writes of a location came, and which
//! choices were made. [`rebuild`](crate::rebuild()) turns a claim into an
//! [`Execution`](crate::Execution), or refuses it.

use parallax_program::Bits;

/// One execution, as far as the threads do not determine it themselves.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Claim {
    /// By number: those of the program first, then those that were spawned.
    pub threads: Vec<ThreadClaim>,
    /// For each location its writes in coherence order, without the initial one. The order of
    /// the locations does not matter.
    pub co: Vec<Vec<StepId>>,
    /// The number of a thread for each step, in the order in which the steps were taken.
    pub schedule: Vec<u32>,
    /// For each thread the values of the variables that it gives none, in order. Those that are not
    /// here are zero.
    pub undefined: Vec<Vec<Bits>>,
    /// What memory holds that nobody has written: places and values. All else there is zero.
    pub unwritten: Vec<(u64, Bits)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadClaim {
    /// In program order.
    pub steps: Vec<Step>,
    pub ending: ThreadEnding,
}

/// A step of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct StepId {
    pub thread: u32,
    /// Position in [`ThreadClaim::steps`].
    pub index: u32,
}

/// Where a read got its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// What the place held from the start.
    Initial,
    /// A write.
    Step(StepId),
    /// A write that comes only later in the schedule, because what it writes does not depend on
    /// the read: it is going to write this.
    Later { step: StepId, value: Bits },
}

/// One step of a thread. Most operations are one; read-modify-writes that succeed are a read and
/// a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The first step of a spawned thread. `by` is the step that spawned it.
    Begin {
        by: StepId,
    },
    /// Of `bytes` bytes, or of the whole access. The parts of an access follow one another by
    /// address.
    Read {
        source: Source,
        bytes: Option<u8>,
    },
    /// As with `Read`.
    Write {
        bytes: Option<u8>,
    },
    Fence,
    Spawn {
        child: u32,
    },
    /// `of` is the step with which the joined thread ended.
    Join {
        of: StepId,
    },
    Alloc {
        address: u64,
    },
    Free,
    /// What was chosen; also one bit before a weak compare-and-swap and at a store-conditional,
    /// 1 where it fails for no reason.
    Choice {
        value: Bits,
    },
    AtomicBegin,
    AtomicEnd,
    /// The thread has ended.
    End,
}

impl Step {
    /// A read of a whole access.
    pub fn read(source: Source) -> Step {
        Step::Read { source, bytes: None }
    }

    /// A write of a whole access.
    pub fn write() -> Step {
        Step::Write { bytes: None }
    }
}

/// Where a thread is after its last step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThreadEnding {
    Ended,
    /// It waits for what nobody does: at a false wait, for the end of another thread, or for the
    /// end of another thread's atomic section.
    Waiting,
    /// It is back at the head of a loop as it was before this step, and has only read since.
    Spinning {
        from: u32,
    },
    /// It does not go on: at a false assumption, or because another thread failed.
    Stopped,
    /// The operation it stands at is the violation.
    Failed,
}
