//! The states that were seen, by their fingerprints alone.

use std::collections::hash_map::Entry;

use parallax_machine::reduction::components::Number;
use parallax_machine::reduction::quick::QuickMap;

#[derive(Default)]
pub struct Known {
    numbers: QuickMap<(u64, u64), Number>,
}

pub enum Visit {
    /// It was not known, and has the next number now.
    New,
    Known(Number),
}

impl Known {
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// None when there are too many.
    pub fn visit(&mut self, fingerprint: u128) -> Option<Visit> {
        let next = u32::try_from(self.numbers.len()).ok().filter(|next| *next < u32::MAX)?;
        let key = (fingerprint as u64, (fingerprint >> 64) as u64);
        Some(match self.numbers.entry(key) {
            Entry::Occupied(known) => Visit::Known(*known.get()),
            Entry::Vacant(free) => {
                free.insert(next);
                Visit::New
            }
        })
    }
}
