//! Where objects lie that threads make while they run, the same for every engine.
//!
//! Each thread has a region of its own, so that addresses do not depend on what other threads do. Each
//! object begins a slot of its own there, so that two addresses are of one object if they are of one
//! slot (unless it is larger than that), and what is left of the slot tells accesses out of
//! bounds. Addresses are never used again.

/// Addresses of objects that threads make.
pub struct Slots;

impl Slots {
    /// Slots have so many bits of an address.
    pub const SLOT_BITS: u32 = 20;
    /// Globals and functions are below, objects that threads make from here on.
    pub const FIRST: u64 = 1 << Self::REGION_BITS;
    /// There is none from here on: threads have numbers of 16 bits.
    pub const END: u64 = Self::FIRST << 17;
    /// The largest object.
    pub const LARGEST: u64 = 1 << 35;

    const REGION_BITS: u32 = 40;
    const SLOT: u64 = 1 << Self::SLOT_BITS;
    /// What is at least left of a slot.
    const GAP: u64 = 128;

    /// The thread in whose region an address lies.
    pub fn owner(address: u64) -> Option<usize> {
        ((address >> Self::REGION_BITS) as usize).checked_sub(1)
    }

    /// An address for a new object of a thread, given the address and the size of the last one that it
    /// has made; None where there is no room.
    pub fn next(thread: u32, last: Option<(u64, u64)>, size: u128, align: u32) -> Option<u64> {
        let region = (u64::from(thread) + 1) << Self::REGION_BITS;
        let size = u64::try_from(size).ok().filter(|size| *size <= Self::LARGEST)?;
        let next = last.map_or(region, |(address, size)| {
            address.saturating_add(size).saturating_add(Self::GAP)
        });
        let align = u64::from(align).max(Self::SLOT).checked_next_power_of_two()?;
        let address = next.checked_next_multiple_of(align)?;
        let end = address.checked_add(size)?.checked_add(Self::GAP)?;
        (end <= region + Self::FIRST).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_slot() {
        let first = Slots::next(0, None, 8, 16);
        assert_eq!(first, Some(Slots::FIRST));
        let second = Slots::next(0, first.map(|first| (first, 8)), 0, 1);
        assert_eq!(second, Some(Slots::FIRST + (1 << Slots::SLOT_BITS)));
        let large = (1 << Slots::SLOT_BITS) - 1;
        let behind = Slots::next(0, first.map(|first| (first, large)), 8, 16);
        assert_eq!(behind, Some(Slots::FIRST + (2 << Slots::SLOT_BITS)));
    }

    #[test]
    fn threads_have_regions() {
        let address = Slots::next(3, None, 8, 16);
        assert_eq!(address.and_then(Slots::owner), Some(3));
        assert_eq!(Slots::owner(Slots::FIRST - 1), None);
        assert_eq!(Slots::next(0, None, u128::from(Slots::LARGEST) + 1, 1), None);
        assert_eq!(Slots::next(0, Some((2 * Slots::FIRST - (1 << 20), 8)), 8, 1), None);
    }
}
