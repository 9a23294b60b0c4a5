//! Cells: the bytes that are accessed together, which are the locations of the search.
//!
//! An access is covered by the cells that are there already, and by new ones for the rest. Where it
//! begins or ends inside of a cell, that cell is split.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Bytes of each cell of an access, in order of addresses; zeros behind the last.
pub type Sizes = [u8; 16];

/// What an access makes of the cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    None,
    /// There are more of them.
    Grown,
    /// One of them was split.
    Split,
}

/// Cells by address, with the bytes of each.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Cells(#[serde(with = "crate::pairs")] BTreeMap<u64, u8>);

impl Cells {
    /// Whether they are cells at all, and none overlaps another.
    pub fn are_right(&self) -> bool {
        let most = Sizes::default().len() as u8;
        let sized = |(address, bytes): (&u64, &u8)| {
            (1..=most).contains(bytes) && address.checked_add(u64::from(*bytes)).is_some()
        };
        let starts = self.0.keys().skip(1);
        self.0.iter().all(sized)
            && self.0.iter().zip(starts).all(|((at, bytes), next)| at + u64::from(*bytes) <= *next)
    }

    /// Cells of a range of addresses.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u8)> {
        self.0.range(start..end).map(|(address, bytes)| (*address, *bytes))
    }

    /// The cells of an access.
    pub fn of(&self, address: u64, bytes: u8) -> impl Iterator<Item = (u64, u8)> {
        self.within(address, end(address, bytes))
    }

    pub fn sizes(&self, address: u64, bytes: u8) -> Sizes {
        let mut sizes = Sizes::default();
        for (size, (_, bytes)) in sizes.iter_mut().zip(self.of(address, bytes)) {
            *size = bytes;
        }
        sizes
    }

    /// All that an access may have to do with: no cell has more bytes than the largest access.
    pub fn near(&self, address: u64, bytes: u8) -> Cells {
        let most = Sizes::default().len() as u64;
        Cells(self.within(address.saturating_sub(most), end(address, bytes)).collect())
    }

    /// Makes cells that end where the access starts and ends, and cover it.
    pub fn cover(&mut self, address: u64, bytes: u8) -> Change {
        let end = end(address, bytes);
        let is_split = self.cut(address) | self.cut(end);
        let before = self.0.len();
        let mut at = address;
        while at < end {
            let next = self.within(at, end).next();
            match next {
                Some((start, size)) if start == at => at += u64::from(size),
                Some((start, _)) => {
                    self.0.insert(at, (start - at) as u8);
                    at = start;
                }
                None => {
                    self.0.insert(at, (end - at) as u8);
                    at = end;
                }
            }
        }
        match is_split {
            true => Change::Split,
            false if self.0.len() > before => Change::Grown,
            false => Change::None,
        }
    }

    /// Cuts the cell that an address is inside of, if there is one.
    fn cut(&mut self, address: u64) -> bool {
        let Some((start, size)) = self.0.range(..address).next_back() else {
            return false;
        };
        let (start, size) = (*start, *size);
        let end = start + u64::from(size);
        let is_inside = end > address;
        if is_inside {
            self.0.insert(start, (address - start) as u8);
            self.0.insert(address, (end - address) as u8);
        }
        is_inside
    }
}

fn end(address: u64, bytes: u8) -> u64 {
    address.saturating_add(u64::from(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_split_where_accesses_begin_and_end() {
        let mut cells = Cells::default();
        assert_eq!(cells.cover(8, 4), Change::Grown);
        assert_eq!(cells.cover(8, 4), Change::None);
        assert_eq!(cells.cover(4, 8), Change::Grown);
        assert_eq!(cells.sizes(4, 8)[..3], [4, 4, 0]);
        assert_eq!(cells.cover(9, 1), Change::Split);
        assert_eq!(cells.sizes(4, 8)[..5], [4, 1, 1, 2, 0]);
    }
}
