//! What a search learns about the program as it goes: cells of memory, and numbers of threads.
//!
//! Both are given in the order in which executions need them. So what is known at some place of the
//! search tree depends on what was explored before. With several threads, nobody knows what is
//! found out at the same time elsewhere. Therefore each discovery is written down, and when the
//! pieces of the search are put together in the order of one thread, it is looked up whether that
//! one thread would have discovered the same (see [`crate::crew`]).

use serde::{Deserialize, Serialize};

use crate::cells::{Cells, Change, Sizes};
use crate::threads::{Child, Numbers};

#[derive(Clone, Serialize, Deserialize)]
pub struct Known {
    cells: Cells,
    numbers: Numbers,
    /// Whether a cell was split, so that what was explored before is void.
    is_split: bool,
    /// What was discovered since the search began, and how much of it somebody has taken note of.
    #[serde(skip)]
    log: Vec<Discovery>,
    #[serde(skip)]
    taken: usize,
}

/// Something that was not known before, and what it was found to be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Discovery {
    Access { address: u64, bytes: u8, cells: Sizes, is_split: bool },
    Thread { child: Child, number: usize },
}

impl Known {
    /// Nothing but these cells; the program itself has so many threads.
    pub fn new(cells: Cells, threads: usize) -> Known {
        let numbers = Numbers::new(threads);
        Known { cells, numbers, is_split: false, log: Vec::new(), taken: 0 }
    }

    /// Whether it may be known of a program with so many threads.
    pub fn is_right(&self, threads: usize) -> bool {
        self.cells.are_right() && self.numbers.are_right(threads)
    }

    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    pub fn into_cells(self) -> Cells {
        self.cells
    }

    pub fn is_split(&self) -> bool {
        self.is_split
    }

    /// Makes cells for an access.
    pub fn cover(&mut self, address: u64, bytes: u8) {
        let change = self.cells.cover(address, bytes);
        if change != Change::None {
            let (cells, is_split) = (self.cells.sizes(address, bytes), change == Change::Split);
            self.is_split |= is_split;
            self.log.push(Discovery::Access { address, bytes, cells, is_split });
        }
    }

    /// The number of a thread.
    pub fn number(&mut self, child: Child) -> usize {
        let (number, is_new) = self.numbers.number(child);
        if is_new {
            self.log.push(Discovery::Thread { child, number });
        }
        number
    }

    /// What is new since the last call.
    pub fn take_discoveries(&mut self) -> Vec<Discovery> {
        let new = self.log[self.taken..].to_vec();
        self.taken = self.log.len();
        new
    }

    /// All that was discovered since the search began.
    pub fn log(&self) -> &[Discovery] {
        &self.log
    }

    /// Knows what was discovered by whoever was at a place before. False if that cannot be.
    pub fn adopt(&mut self, log: &[Discovery]) -> bool {
        let is_access = |it: &Discovery| match it {
            Discovery::Access { address, bytes, .. } => {
                (1..=16).contains(bytes) && address.checked_add(16).is_some()
            }
            Discovery::Thread { .. } => true,
        };
        if !log.iter().all(is_access) || !self.learn(log) {
            return false;
        }
        self.log.extend_from_slice(log);
        self.taken = self.log.len();
        true
    }

    /// Adds what was discovered elsewhere, up to what would have been found to be something else
    /// from here. Whether all of it was added. A split is added only with all that comes after it:
    /// alone it would change what came before.
    pub fn learn(&mut self, discoveries: &[Discovery]) -> bool {
        let mut unsplit = None;
        for discovery in discoveries {
            if !self.would_discover(discovery) {
                unsplit.into_iter().for_each(|unsplit| *self = unsplit);
                return false;
            }
            if matches!(discovery, Discovery::Access { is_split: true, .. }) {
                unsplit.get_or_insert_with(|| self.clone());
            }
            self.add(discovery);
        }
        true
    }

    fn would_discover(&self, discovery: &Discovery) -> bool {
        match discovery {
            Discovery::Access { address, bytes, cells, is_split } => {
                let mut near = self.cells.near(*address, *bytes);
                let change = near.cover(*address, *bytes);
                near.sizes(*address, *bytes) == *cells && (change == Change::Split) == *is_split
            }
            Discovery::Thread { child, number } => self.numbers.expected(*child) == *number,
        }
    }

    fn add(&mut self, discovery: &Discovery) {
        match discovery {
            Discovery::Access { address, bytes, is_split, .. } => {
                self.cells.cover(*address, *bytes);
                self.is_split |= is_split;
            }
            Discovery::Thread { child, .. } => {
                self.numbers.number(*child);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Known {
        Known::new(Cells::default(), 1)
    }

    #[test]
    fn what_is_discovered_in_another_order_is_something_else() {
        let (mut one, mut other) = (nothing(), nothing());
        assert_eq!((one.number((0, 0)), one.number((1, 0))), (1, 2));
        assert_eq!(other.number((1, 0)), 1);
        let mut all = nothing();
        assert!(all.learn(&one.take_discoveries()));
        assert!(!all.learn(&other.take_discoveries()));
        assert_eq!((all.number((1, 0)), all.number((2, 0))), (2, 3));
        assert!(all.take_discoveries().len() == 1);
    }

    #[test]
    fn accesses_are_the_same_where_their_cells_are() {
        let accesses = |accesses: &[(u64, u8)]| {
            let mut known = nothing();
            accesses.iter().for_each(|(address, bytes)| known.cover(*address, *bytes));
            known.take_discoveries()
        };
        let learned = |first: &[(u64, u8)], then: &[(u64, u8)]| {
            let mut all = nothing();
            assert!(all.learn(&accesses(first)));
            (all.learn(&accesses(then)), all)
        };
        assert!(learned(&[(0, 4), (4, 4)], &[(4, 4), (8, 4)]).0);
        assert!(!learned(&[(0, 4)], &[(0, 8)]).0);
        assert!(!learned(&[(0, 8)], &[(0, 4)]).0);
        let (is_same, all) = learned(&[(0, 8)], &[(16, 8), (16, 4)]);
        assert!(is_same && all.is_split());
        let (is_same, all) = learned(&[(0, 8)], &[(16, 8), (0, 4), (24, 8)]);
        assert!(!is_same && !all.is_split());
        let cells = |all: Known| all.into_cells().within(0, 32).collect::<Vec<_>>();
        assert_eq!(cells(all), [(0, 8), (16, 8)]);
        let (is_same, all) = learned(&[(0, 8)], &[(16, 8), (16, 4), (0, 4)]);
        assert!(!is_same && !all.is_split());
        assert_eq!(cells(all), [(0, 8), (16, 8)]);
    }
}
