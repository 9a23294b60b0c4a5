//! Store buffers: what a thread has done and others do not see yet.

use std::sync::Arc;

use parallax_program::{Bits, FunctionId};

use super::MemoryKind;
use super::fingerprint::Digest;

/// Something that waits to take effect: values of stores are `S`, those that threads begin with `A`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Entry<S = u128, A = Bits> {
    Store {
        address: u64,
        bytes: u8,
        value: S,
        /// Whether it stays behind all that is before it (PSO).
        is_release: bool,
    },
    /// Nothing overtakes it (PSO).
    Barrier,
    /// A thread that others shall see started.
    Spawn { child: u32, function: FunctionId, args: Arc<[A]> },
}

/// The buffer of one thread, oldest first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer<S = u128, A = Bits> {
    entries: Option<Arc<Vec<Entry<S, A>>>>,
}

impl<S, A> Default for Buffer<S, A> {
    fn default() -> Self {
        Buffer { entries: None }
    }
}

impl<S: Clone + PartialEq, A: Clone + PartialEq> Buffer<S, A> {
    pub fn entries(&self) -> &[Entry<S, A>] {
        debug_assert!(self.entries.as_ref().is_none_or(|entries| !entries.is_empty()));
        self.entries.as_deref().map_or(&[], |entries| entries)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_none()
    }

    /// Whether it is known to hold the same as another.
    pub(crate) fn is_same(&self, other: &Buffer<S, A>) -> bool {
        match (&self.entries, &other.entries) {
            (None, None) => true,
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }

    pub fn push(&mut self, entry: Entry<S, A>) {
        Arc::make_mut(self.entries.get_or_insert_default()).push(entry);
    }

    /// Takes out an entry that may take effect now.
    pub fn take(&mut self, index: usize) -> Option<Entry<S, A>> {
        let entries = Arc::make_mut(self.entries.as_mut()?);
        let entry = (index < entries.len()).then(|| entries.remove(index));
        let barriers = entries.iter().take_while(|entry| **entry == Entry::Barrier).count();
        entries.drain(..barriers);
        // The oldest is behind nothing.
        if let Some(Entry::Store { is_release, .. }) = entries.first_mut() {
            *is_release = false;
        }
        if entries.is_empty() {
            self.entries = None;
        }
        entry
    }

    /// The entries that may take effect next.
    pub fn ready(&self, kind: MemoryKind) -> impl Iterator<Item = usize> {
        let entries = self.entries();
        let fence = entries.iter().position(|entry| *entry == Entry::Barrier);
        let limit = match kind {
            MemoryKind::Pso => fence.unwrap_or(entries.len()),
            _ => entries.len().min(1),
        };
        (0..limit).filter(|index| is_free(entries, *index))
    }
}

impl Buffer {
    /// The newest value of each byte of an access that is here, and which bytes are.
    pub(crate) fn forward(&self, address: u64, bytes: u32) -> (u128, u32) {
        let (mut value, mut found) = (0u128, 0u32);
        let end = address.saturating_add(u64::from(bytes));
        for entry in self.entries().iter().rev() {
            let Entry::Store { address: at, bytes: count, value: stored, .. } = entry else {
                continue;
            };
            let from = address.max(*at);
            let to = end.min(at.saturating_add(u64::from(*count)));
            for byte in from..to.max(from) {
                let place = (byte - address) as u32;
                if found & 1 << place == 0 {
                    found |= 1 << place;
                    value |= (stored >> ((byte - at) * 8) & 0xff) << (place * 8);
                }
            }
        }
        (value, found)
    }

    pub(crate) fn add_to(&self, digest: &mut Digest) {
        for entry in self.entries() {
            match entry {
                Entry::Store { address, bytes, value, is_release } => {
                    digest.add(*address);
                    digest.add(u64::from(*bytes) << 1 | u64::from(*is_release));
                    digest.add_wide(*value);
                }
                Entry::Barrier => digest.add(u64::MAX),
                Entry::Spawn { child, function, args } => {
                    digest.add(u64::MAX - 1);
                    digest.add(u64::from(*child) << 32 | u64::from(function.0));
                    args.iter().for_each(|arg| digest.add_wide(arg.unsigned()));
                }
            }
        }
    }
}

/// Whether nothing that is before an entry keeps it back.
fn is_free<S, A>(entries: &[Entry<S, A>], index: usize) -> bool {
    match &entries[index] {
        Entry::Barrier => false,
        Entry::Spawn { .. } | Entry::Store { is_release: true, .. } => index == 0,
        Entry::Store { address, bytes, .. } => !entries[..index].iter().any(|before| {
            matches!(before, Entry::Store { address: at, bytes: count, .. }
                if *at < address.saturating_add(u64::from(*bytes))
                    && *address < at.saturating_add(u64::from(*count)))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(address: u64, bytes: u8, value: u128) -> Entry {
        Entry::Store { address, bytes, value, is_release: false }
    }

    #[test]
    fn loads_see_the_newest_byte() {
        let mut buffer = Buffer::<u128, Bits>::default();
        buffer.push(store(100, 4, 0x0403_0201));
        buffer.push(store(101, 1, 0xff));
        assert_eq!(buffer.forward(100, 4), (0x0403_ff01, 0b1111));
        assert_eq!(buffer.forward(102, 4), (0x0403, 0b0011));
        assert_eq!(buffer.forward(104, 4), (0, 0));
    }

    #[test]
    fn what_may_take_effect_depends_on_the_memory() {
        let mut buffer = Buffer::<u128, Bits>::default();
        buffer.push(store(100, 4, 1));
        buffer.push(store(102, 1, 2));
        buffer.push(store(200, 4, 3));
        buffer.push(Entry::Barrier);
        buffer.push(store(300, 4, 4));
        assert_eq!(buffer.ready(MemoryKind::Tso).collect::<Vec<_>>(), [0]);
        assert_eq!(buffer.ready(MemoryKind::Pso).collect::<Vec<_>>(), [0, 2]);
        for _ in 0..3 {
            assert!(buffer.take(0).is_some());
        }
        assert_eq!(buffer.entries(), [store(300, 4, 4)]);
        assert!(buffer.take(0).is_some());
        assert!(buffer.is_empty());
    }
}
