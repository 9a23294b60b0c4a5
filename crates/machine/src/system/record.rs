//! What really happened in a step, for those who want to report it.

use parallax_program::Bits;

/// One thing that a thread did, or that its buffer did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    pub thread: u32,
    pub what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Read {
        address: u64,
        bytes: u8,
        value: u128,
    },
    /// A read of a write that waits in the buffer of another thread, so many places behind the oldest.
    ReadAhead {
        address: u64,
        bytes: u8,
        value: u128,
        of: u32,
        index: usize,
    },
    /// A write that took effect at once, or went into the buffer.
    Write {
        address: u64,
        bytes: u8,
        value: u128,
        is_buffered: bool,
    },
    /// The write that was that many places behind the oldest in the buffer took effect.
    Flush {
        index: usize,
    },
    Fence,
    Spawn {
        child: u32,
    },
    /// The first step of a spawned thread.
    Begin,
    Join {
        of: u32,
    },
    Alloc {
        address: u64,
    },
    Free {
        address: u64,
    },
    Choice {
        value: Bits,
    },
    AtomicBegin,
    AtomicEnd,
    End,
}

/// Where records go, if anybody wants them.
pub struct Log(Option<Vec<Record>>);

impl Log {
    pub fn off() -> Log {
        Log(None)
    }

    pub fn on() -> Log {
        Log(Some(Vec::new()))
    }

    pub fn records(&self) -> &[Record] {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn add(&mut self, thread: u32, what: What) {
        if let Some(records) = &mut self.0 {
            records.push(Record { thread, what });
        }
    }
}
