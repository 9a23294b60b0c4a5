//! Events of the unfolded program: what threads may do, each under its guard.

use parallax_machine::Site;
use parallax_program::Tags;
use parallax_solver::Term;

use crate::guard::Guard;
use crate::value::Sources;

/// A call or a round of a loop, inside of which something happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The instruction that calls, in the function that the turns before lead to.
    Call {
        block: u32,
        index: u32,
    },
    Round {
        head: u32,
        number: u32,
    },
}

/// One event. It happens in the executions in which its guard holds.
#[derive(Clone, Debug)]
pub struct Event {
    /// None for initial writes.
    pub thread: Option<u32>,
    pub kind: Kind,
    pub guard: Guard,
    /// The guard as a term.
    pub executed: Term,
    /// Zero for what is no access.
    pub address: Term,
    /// Bytes of an access; 0 for what is none.
    pub bytes: u32,
    pub tags: TagChoice,
    /// Accesses and fences of a thread, in order; the parts of one access have the same number.
    pub access: u32,
    /// None for initial writes.
    pub site: Option<Site>,
    /// Reads that the address comes from, the value, and the branches before.
    pub addr: Dependency,
    pub data: Dependency,
    pub ctrl: Dependency,
    /// Reads that this write is atomic with.
    pub pairs: Vec<Pair>,
    pub step: Step,
    /// For the read of an atomic operation that may fail for no reason, whether it does.
    pub fails: Option<Term>,
    /// The calls and the loops that it is in.
    pub turns: Vec<Turn>,
    /// The event by which the atomic section begins that it is in.
    pub section: Option<u32>,
}

/// What an event is to its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A part of an access of so many bytes.
    Access {
        whole: u32,
    },
    Fence,
    /// A choice for no reason.
    Choice,
    /// A variable that is given no value has one all the same.
    Undefined,
    /// The start of the thread of that number, its first step, and its last.
    Spawn {
        child: u32,
    },
    Begin,
    End,
    Join,
    /// An object comes to life at that address.
    Alloc {
        address: u64,
    },
    Free,
    /// An atomic section begins, after a look at its lock if it has one, and ends. The look is no step
    /// of the thread.
    Enter,
    AtomicBegin,
    AtomicEnd,
    /// Of the end of an object, that some of its bytes are gone: a write, for models that do not say
    /// what happens before what. No step of the thread.
    Gone,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The value read is a variable.
    Read {
        value: Term,
    },
    Write {
        value: Term,
    },
    Fence,
    /// What others do not see: what was chosen, or which object comes and goes.
    Silent {
        value: Term,
    },
}

impl Kind {
    pub fn is_read(self) -> bool {
        matches!(self, Kind::Read { .. })
    }

    pub fn is_write(self) -> bool {
        matches!(self, Kind::Write { .. })
    }

    pub fn is_access(self) -> bool {
        self.is_read() || self.is_write()
    }

    /// Whether memory models see it.
    pub fn is_visible(self) -> bool {
        !matches!(self, Kind::Silent { .. })
    }

    pub fn value(self) -> Option<Term> {
        match self {
            Kind::Read { value } | Kind::Write { value } | Kind::Silent { value } => Some(value),
            Kind::Fence => None,
        }
    }
}

/// Reads that something comes from, and reads that only decided which it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dependency {
    pub sources: Sources,
    pub picks: Sources,
}

impl Dependency {
    pub const NONE: Dependency = Dependency { sources: Sources::NONE, picks: Sources::NONE };
}

/// The tags of an event; those of a compare-and-swap depend on whether it succeeds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TagChoice {
    pub tags: Tags,
    /// Other tags where the condition does not hold.
    pub otherwise: Option<(Term, Tags)>,
}

impl TagChoice {
    pub fn always(tags: &Tags) -> TagChoice {
        TagChoice { tags: tags.clone(), otherwise: None }
    }

    pub fn depending(condition: Term, then: &Tags, otherwise: &Tags) -> TagChoice {
        let differ = then != otherwise;
        let otherwise = differ.then(|| (condition, otherwise.clone()));
        TagChoice { tags: then.clone(), otherwise }
    }
}

/// The read that a write is atomic with, where the condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    pub read: u32,
    pub when: Term,
    /// Whether one instruction does both.
    pub is_single: bool,
}
