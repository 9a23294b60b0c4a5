//! Numbers of threads. The n-th thread that a thread spawns has the same number in every
//! execution, whatever else happens in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A thread, by its parent and its place among the children of that one.
pub type Child = (usize, usize);

#[derive(Clone, Serialize, Deserialize)]
pub struct Numbers {
    /// Threads of the program itself.
    first: usize,
    #[serde(with = "crate::pairs")]
    children: BTreeMap<Child, usize>,
}

impl Numbers {
    pub fn new(first: usize) -> Numbers {
        Numbers { first, children: BTreeMap::new() }
    }

    /// Whether each child has a number of its own behind those of the program.
    pub fn are_right(&self, first: usize) -> bool {
        let mut numbers: Vec<usize> = self.children.values().copied().collect();
        numbers.sort_unstable();
        self.first == first && numbers.into_iter().eq(first..first + self.children.len())
    }

    /// The number that a child has or would get.
    pub fn expected(&self, child: Child) -> usize {
        let next = self.first + self.children.len();
        self.children.get(&child).copied().unwrap_or(next)
    }

    /// The number of a child, and whether nobody has asked for it before.
    pub fn number(&mut self, child: Child) -> (usize, bool) {
        let next = self.first + self.children.len();
        let number = *self.children.entry(child).or_insert(next);
        (number, number == next)
    }
}
