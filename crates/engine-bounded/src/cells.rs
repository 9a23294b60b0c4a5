//! Where accesses of different sizes overlap, they are cut into parts.
//!
//! A cell is a piece of memory that every access covers as a whole or leaves alone. An access has
//! an event for each of its cells; one that can go to several places has the parts that it needs
//! at any of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::addresses::Possible;
use crate::event::{Event, Step};

/// Offsets at which accesses are cut, by thread and number.
pub type Cuts = BTreeMap<(u32, u32), Vec<u32>>;

/// One access, whatever its parts.
pub struct Access {
    pub thread: u32,
    pub number: u32,
    pub bytes: u32,
    /// The event of its first part.
    pub event: usize,
    pub places: Vec<u64>,
}

/// The accesses of all threads whose places are known.
pub fn accesses(events: &[Event], places: &[Possible]) -> Vec<Access> {
    let mut all: Vec<Access> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let (Some(thread), Step::Access { whole }) = (event.thread, event.step) else {
            continue;
        };
        let known =
            all.last().is_some_and(|last| (last.thread, last.number) == (thread, event.access));
        let Some(places) = places[number].as_ref().filter(|_| !known) else {
            continue;
        };
        let places = places.iter().filter_map(|place| u64::try_from(*place).ok()).collect();
        let (bytes, access) = (whole, event.access);
        all.push(Access { thread, number: access, bytes, event: number, places });
    }
    all
}

/// Where the accesses have to be cut.
pub fn cuts(accesses: &[Access]) -> Cuts {
    let mut borders: BTreeSet<u64> = BTreeSet::new();
    for access in accesses {
        for place in &access.places {
            borders.extend([*place, place.saturating_add(u64::from(access.bytes))]);
        }
    }
    loop {
        let before = borders.len();
        let mut cuts = Cuts::new();
        for access in accesses {
            let mut offsets: BTreeSet<u64> = BTreeSet::new();
            for place in &access.places {
                let end = place.saturating_add(u64::from(access.bytes));
                offsets.extend(borders.range(place + 1..end).map(|border| border - place));
            }
            for place in &access.places {
                borders.extend(offsets.iter().map(|offset| place + offset));
            }
            if !offsets.is_empty() {
                let offsets = offsets.iter().map(|offset| *offset as u32).collect();
                cuts.insert((access.thread, access.number), offsets);
            }
        }
        if borders.len() == before {
            return cuts;
        }
    }
}

/// The footprints (address and bytes, in order) that overlap no other one. Those that overlap,
/// directly or through others, are one run of neighbours.
pub fn apart(footprints: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut alone = Vec::new();
    let (mut run, mut end) = (0, 0);
    for (at, (start, bytes)) in footprints.iter().enumerate() {
        if *start >= end {
            run = at;
        }
        end = end.max(start.saturating_add(u64::from(*bytes)));
        let is_last = footprints.get(at + 1).is_none_or(|(next, _)| *next >= end);
        if run == at && is_last {
            alone.push((*start, *bytes));
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(number: u32, bytes: u32, places: &[u64]) -> Access {
        Access { thread: 0, number, bytes, event: 0, places: places.to_vec() }
    }

    #[test]
    fn a_word_over_its_bytes_is_cut() {
        let found = cuts(&[access(0, 4, &[16]), access(1, 1, &[17]), access(2, 4, &[32])]);
        assert_eq!(found, Cuts::from([((0, 0), vec![1, 2])]));
    }

    #[test]
    fn what_can_be_in_two_places_is_cut_alike() {
        let found = cuts(&[access(0, 4, &[16, 32]), access(1, 2, &[16]), access(2, 4, &[32])]);
        assert_eq!(found, Cuts::from([((0, 0), vec![2]), ((0, 2), vec![2])]));
    }

    #[test]
    fn what_lies_within_something_wide_is_not_apart() {
        let inside = [(16, 4), (17, 1), (18, 1), (32, 4), (36, 8), (40, 8), (48, 1)];
        assert_eq!(apart(&inside), [(32, 4), (48, 1)]);
        assert_eq!(apart(&[(0, 2), (0, 4), (8, 8)]), [(8, 8)]);
    }
}
