//! Numbers of threads. The n-th thread that a thread spawns has the same number in every
//! execution, whatever else happens in it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::event::Id;

pub struct Numbers {
    /// Threads of the program itself.
    first: usize,
    /// By parent and place among its children.
    children: Mutex<HashMap<(usize, usize), usize>>,
}

impl Numbers {
    pub fn new(first: usize) -> Numbers {
        Numbers { first, children: Mutex::default() }
    }

    /// None where there are too many threads.
    pub fn child(&self, parent: usize, place: usize) -> Option<usize> {
        let mut children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.first + children.len();
        let number = *children.entry((parent, place)).or_insert(next);
        (number < Id::MAX_THREADS).then_some(number)
    }
}
