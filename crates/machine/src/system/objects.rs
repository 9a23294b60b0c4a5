//! Objects that threads make, and what may be wrong with an access.

use parallax_program::{AllocKind, Slots};

use super::fingerprint::fingerprint;

/// An object that a thread has allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object {
    pub address: u64,
    pub size: u64,
    pub kind: AllocKind,
    pub zeroed: bool,
    /// The calls that made it, as a number; see [`super::Setup::share`].
    pub context: u64,
    /// Whether no other thread is known to use it.
    pub is_private: bool,
    /// Freed while it was private. Others say so in the state that all threads share.
    pub is_freed: bool,
}

impl Object {
    /// An address for a new object of a thread, behind its older ones; None where there is no
    /// room. No two objects share a page.
    pub fn place(
        slots: Slots,
        thread: u32,
        objects: &[Object],
        size: u128,
        align: u32,
    ) -> Option<u64> {
        let last = objects.last().map(|last| (last.address, last.size));
        slots.next(thread, last, size, align)
    }

    /// The last of a thread's objects that starts at an address or before it.
    pub fn find(objects: &[Object], address: u64) -> Option<&Object> {
        let after = objects.partition_point(|object| object.address <= address);
        after.checked_sub(1).map(|index| &objects[index])
    }

    pub fn covers(&self, address: u64, bytes: u64) -> bool {
        let offset = address - self.address;
        offset <= self.size && bytes <= self.size - offset
    }

    pub(crate) fn fingerprint(&self) -> u128 {
        let flags = [self.kind == AllocKind::Heap, self.zeroed, self.is_private, self.is_freed];
        let flags = flags.iter().fold(0, |flags, flag| flags << 1 | u64::from(*flag));
        fingerprint(2, [self.address, self.size, flags, self.context])
    }
}

/// What is wrong with an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadAccess {
    Null,
    /// Of no object.
    Wild,
    OutOfBounds,
    Freed,
    Constant,
    FreeOfNoObject,
    DoubleFree,
    /// Of bytes that nobody has written.
    Undefined,
}

impl BadAccess {
    pub fn message(self) -> &'static str {
        match self {
            BadAccess::Null => "null pointer dereferenced",
            BadAccess::Wild => "access to memory that belongs to no object",
            BadAccess::OutOfBounds => "access out of the bounds of the object",
            BadAccess::Freed => "access to an object that may have been freed",
            BadAccess::Constant => "write to a constant object",
            BadAccess::FreeOfNoObject => "free of something that is no heap object",
            BadAccess::DoubleFree => "an object is freed twice",
            BadAccess::Undefined => "read of memory that was never written",
        }
    }
}
