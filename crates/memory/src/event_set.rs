//! Sets of events as bit vectors. Events are small integers.

use std::fmt;

pub(crate) const WORD: usize = u64::BITS as usize;

/// How many words hold `n` bits.
pub(crate) fn words_for(n: usize) -> usize {
    n.div_ceil(WORD).max(1)
}

/// The indices of the bits that are set, in ascending order.
pub(crate) fn bits_of(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(index, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                index * WORD + bit
            })
        })
    })
}

/// A set of the events `0 .. n`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventSet {
    n: usize,
    words: Vec<u64>,
}

impl EventSet {
    pub fn new(n: usize) -> EventSet {
        EventSet { n, words: vec![0; words_for(n)] }
    }

    /// All of `0 .. n`.
    pub fn full(n: usize) -> EventSet {
        let mut set = EventSet::new(n);
        set.fill();
        set
    }

    /// Becomes the empty set over `n` events; allocates only to grow.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.words.clear();
        self.words.resize(words_for(n), 0);
    }

    /// How many events there are to be in the set.
    pub fn capacity(&self) -> usize {
        self.n
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    pub fn fill(&mut self) {
        self.words.fill(u64::MAX);
        self.trim();
    }

    /// Bits from `n` on are zero at all times.
    fn trim(&mut self) {
        let used = self.n % WORD;
        if self.n == 0 {
            self.words.fill(0);
        } else if used != 0
            && let Some(last) = self.words.last_mut()
        {
            *last &= (1 << used) - 1;
        }
    }

    pub fn insert(&mut self, event: usize) {
        debug_assert!(event < self.n);
        self.words[event / WORD] |= 1 << (event % WORD);
    }

    pub fn remove(&mut self, event: usize) {
        self.words[event / WORD] &= !(1 << (event % WORD));
    }

    pub fn contains(&self, event: usize) -> bool {
        event < self.n && self.words[event / WORD] >> (event % WORD) & 1 == 1
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        bits_of(&self.words)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    pub fn copy_from(&mut self, other: &EventSet) {
        self.n = other.n;
        self.words.clone_from(&other.words);
    }

    pub fn union_with(&mut self, other: &EventSet) {
        debug_assert_eq!(self.n, other.n, "sets of different executions");
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    pub fn intersect_with(&mut self, other: &EventSet) {
        debug_assert_eq!(self.n, other.n, "sets of different executions");
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= theirs;
        }
    }

    pub fn minus_with(&mut self, other: &EventSet) {
        debug_assert_eq!(self.n, other.n, "sets of different executions");
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine &= !theirs;
        }
    }

    pub fn complement(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.trim();
    }

    pub fn is_subset_of(&self, other: &EventSet) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        pairs.all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

impl fmt::Debug for EventSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(n: usize, members: &[usize]) -> EventSet {
        let mut set = EventSet::new(n);
        members.iter().for_each(|m| set.insert(*m));
        set
    }

    #[test]
    fn operations_agree_with_their_names() {
        for n in [5, 64, 70, 128] {
            let mut a = set(n, &[0, 1, 4]);
            a.union_with(&set(n, &[2]));
            assert_eq!(a.iter().collect::<Vec<_>>(), [0, 1, 2, 4]);
            a.intersect_with(&set(n, &[1, 2, 3]));
            assert_eq!(a, set(n, &[1, 2]));
            a.minus_with(&set(n, &[2]));
            assert!(a.contains(1) && !a.contains(2) && a.len() == 1);
            a.complement();
            assert_eq!(a.len(), n - 1);
            assert!(set(n, &[0, 2]).is_subset_of(&a));
        }
    }

    #[test]
    fn no_events_no_members() {
        assert!(EventSet::full(0).is_empty());
        assert_eq!(EventSet::full(64).len(), 64);
        assert_eq!(EventSet::full(65).len(), 65);
    }
}
