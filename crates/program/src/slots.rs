//! Where objects lie that threads make while they run, the same for every engine.
//!
//! Each thread has a region of its own, so that addresses do not depend on what other threads do. Each
//! object begins a slot of its own there, so that two addresses are of one object if they are of one
//! slot (unless it is larger than that), and what is left of the slot distinguishes accesses out of
//! bounds. Addresses are never used again.
//!
//! Where pointers have 32 bits there is less room: slots are smaller, and of the upper half of all addresses the
//! first thread has one half, and the others have the less the later they come.

/// Addresses of objects that threads make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    is_short: bool,
}

/// The regions of threads with a number from `first` on: where that of the thread 0 would begin, and how
/// many bits of an address are within one.
struct Regions {
    first: u32,
    base: u64,
    bits: u32,
}

/// Regions where pointers have 64 bits: threads have numbers of 16 bits …
const LONG: [Regions; 1] = [Regions { first: 0, base: 1 << 40, bits: 40 }];

/// … and where they have 32 bits, by rising addresses.
const SHORT: [Regions; 4] = [
    Regions { first: 0, base: 0x8000_0000, bits: 30 },
    Regions { first: 1, base: 0xc000_0000, bits: 26 },
    Regions { first: 8, base: 0xe000_0000, bits: 22 },
    Regions { first: 64, base: 0xf000_0000, bits: 17 },
];

impl Slots {
    /// What is at least left of a slot.
    const GAP: u64 = 128;

    /// For pointers of that width.
    pub fn of(pointer_width: u32) -> Slots {
        Slots { is_short: pointer_width == 32 }
    }

    fn regions(self) -> &'static [Regions] {
        if self.is_short { &SHORT } else { &LONG }
    }

    /// Slots have so many bits of an address.
    pub fn slot_bits(self) -> u32 {
        if self.is_short { 14 } else { 20 }
    }

    /// Globals and functions are below, objects that threads make from here on.
    pub fn first(self) -> u64 {
        self.regions()[0].base
    }

    /// There is none from here on.
    pub fn end(self) -> u64 {
        if self.is_short { 0xffff_0000 } else { 1 << 57 }
    }

    /// The largest object.
    pub fn largest(self) -> u64 {
        if self.is_short { 1 << 29 } else { 1 << 35 }
    }

    /// The thread in whose region an address lies.
    pub fn owner(self, address: u64) -> Option<usize> {
        let regions = self.regions().iter().rfind(|regions| regions.base <= address)?;
        let number = (address - regions.base) >> regions.bits;
        (u64::from(regions.first) <= number).then_some(number as usize)
    }

    /// Where the region of a thread begins and ends.
    fn region(self, thread: u32) -> Option<(u64, u64)> {
        let regions = self.regions().iter().rfind(|regions| regions.first <= thread)?;
        let start = regions.base + (u64::from(thread) << regions.bits);
        let end = (start + (1 << regions.bits)).min(self.end());
        (start < end).then_some((start, end))
    }

    /// An address for a new object of a thread, given the address and the size of the last one that it
    /// has made; None where there is no room.
    pub fn next(
        self,
        thread: u32,
        last: Option<(u64, u64)>,
        size: u128,
        align: u32,
    ) -> Option<u64> {
        let (start, end) = self.region(thread)?;
        let size = u64::try_from(size).ok().filter(|size| *size <= self.largest())?;
        let next = last.map_or(start, |(address, size)| {
            address.saturating_add(size).saturating_add(Self::GAP)
        });
        let slot = 1 << self.slot_bits();
        let align = u64::from(align).max(slot).checked_next_power_of_two()?;
        let address = next.checked_next_multiple_of(align)?;
        (address.checked_add(size)?.checked_add(Self::GAP)? <= end).then_some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_has_its_slot() {
        for slots in [Slots::of(64), Slots::of(32)] {
            let slot = 1 << slots.slot_bits();
            let first = slots.next(0, None, 8, 16);
            assert_eq!(first, Some(slots.first()));
            let second = slots.next(0, first.map(|first| (first, 8)), 0, 1);
            assert_eq!(second, Some(slots.first() + slot));
            let behind = slots.next(0, first.map(|first| (first, slot - 1)), 8, 16);
            assert_eq!(behind, Some(slots.first() + 2 * slot));
        }
    }

    #[test]
    fn threads_have_regions() {
        for slots in [Slots::of(64), Slots::of(32)] {
            for thread in [0, 1, 3, 7, 8, 63, 64, 2000] {
                let address = slots.next(thread, None, 8, 16);
                assert_eq!(address.and_then(|at| slots.owner(at)), Some(thread as usize));
                let (start, end) = slots.region(thread).unwrap();
                assert_eq!(slots.owner(end - 1), Some(thread as usize));
                assert_eq!(slots.next(thread, Some((end - 64, 8)), 8, 1), None);
                assert!(slots.first() <= start && end <= slots.end());
            }
            assert_eq!(slots.owner(slots.first() - 1), None);
            assert_eq!(slots.next(0, None, u128::from(slots.largest()) + 1, 1), None);
        }
        let slots = Slots::of(32);
        assert_eq!(slots.next(2048, None, 8, 1), None);
        assert_eq!(slots.owner(0xc000_0000), None);
    }
}
