//! Binary relations on events as dense bit matrices.
//!
//! Row `i` holds the successors of event `i` in `stride` words. Litmus tests have few events,
//! so nearly always one word is a row; the operations that matter then run on plain slices of
//! words, without inner loops.

use std::fmt;

use crate::event_set::{EventSet, WORD, bits_of, words_for};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relation {
    n: usize,
    stride: usize,
    bits: Vec<u64>,
}

impl Default for Relation {
    fn default() -> Relation {
        Relation::new(0)
    }
}

impl Relation {
    /// The empty relation on `0 .. n`.
    pub fn new(n: usize) -> Relation {
        let stride = words_for(n);
        Relation { n, stride, bits: vec![0; n * stride] }
    }

    pub fn identity(n: usize) -> Relation {
        let mut relation = Relation::new(n);
        relation.add_identity();
        relation
    }

    /// Every pair of a member of `from` and a member of `to`.
    pub fn cross(from: &EventSet, to: &EventSet) -> Relation {
        let mut relation = Relation::new(from.capacity());
        relation.add_cross(from, to);
        relation
    }

    /// Becomes the empty relation on `n` events; allocates only to grow.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.stride = words_for(n);
        self.bits.clear();
        self.bits.resize(n * self.stride, 0);
    }

    /// The number of events.
    pub fn events(&self) -> usize {
        self.n
    }

    pub fn clear(&mut self) {
        self.bits.fill(0);
    }

    pub fn add(&mut self, from: usize, to: usize) {
        debug_assert!(from < self.n && to < self.n);
        self.bits[from * self.stride + to / WORD] |= 1 << (to % WORD);
    }

    pub fn remove(&mut self, from: usize, to: usize) {
        self.bits[from * self.stride + to / WORD] &= !(1 << (to % WORD));
    }

    pub fn contains(&self, from: usize, to: usize) -> bool {
        from < self.n && to < self.n && self.has(from, to)
    }

    fn has(&self, from: usize, to: usize) -> bool {
        self.bits[from * self.stride + to / WORD] >> (to % WORD) & 1 == 1
    }

    fn row(&self, from: usize) -> &[u64] {
        &self.bits[from * self.stride..(from + 1) * self.stride]
    }

    fn row_mut(&mut self, from: usize) -> &mut [u64] {
        &mut self.bits[from * self.stride..(from + 1) * self.stride]
    }

    pub fn successors(&self, from: usize) -> impl Iterator<Item = usize> + '_ {
        bits_of(self.row(from))
    }

    /// All pairs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n).flat_map(|from| self.successors(from).map(move |to| (from, to)))
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.bits.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|w| *w == 0)
    }

    pub fn copy_from(&mut self, other: &Relation) {
        self.n = other.n;
        self.stride = other.stride;
        self.bits.clone_from(&other.bits);
    }

    pub fn union_with(&mut self, other: &Relation) {
        debug_assert_eq!(self.n, other.n, "relations of different executions");
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine |= theirs;
        }
    }

    pub fn intersect_with(&mut self, other: &Relation) {
        debug_assert_eq!(self.n, other.n, "relations of different executions");
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine &= theirs;
        }
    }

    pub fn minus_with(&mut self, other: &Relation) {
        debug_assert_eq!(self.n, other.n, "relations of different executions");
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine &= !theirs;
        }
    }

    pub fn is_subset_of(&self, other: &Relation) -> bool {
        let mut pairs = self.bits.iter().zip(&other.bits);
        pairs.all(|(mine, theirs)| mine & !theirs == 0)
    }

    pub fn intersects(&self, other: &Relation) -> bool {
        let mut pairs = self.bits.iter().zip(&other.bits);
        pairs.any(|(mine, theirs)| mine & theirs != 0)
    }

    pub fn add_identity(&mut self) {
        (0..self.n).for_each(|event| self.add(event, event));
    }

    pub fn add_identity_on(&mut self, set: &EventSet) {
        set.iter().for_each(|event| self.add(event, event));
    }

    pub fn add_cross(&mut self, from: &EventSet, to: &EventSet) {
        debug_assert!(from.capacity() == self.n && to.capacity() == self.n);
        for event in from.iter() {
            for (mine, theirs) in self.row_mut(event).iter_mut().zip(to.words()) {
                *mine |= theirs;
            }
        }
    }

    /// Keeps the pairs that start in `set`: `[set]; self`.
    pub fn restrict_domain(&mut self, set: &EventSet) {
        for event in 0..self.n {
            if !set.contains(event) {
                self.row_mut(event).fill(0);
            }
        }
    }

    /// Keeps the pairs that end in `set`: `self; [set]`.
    pub fn restrict_range(&mut self, set: &EventSet) {
        if let ([mask], 1) = (set.words(), self.stride) {
            self.bits.iter_mut().for_each(|row| *row &= mask);
            return;
        }
        for row in self.bits.chunks_mut(self.stride) {
            for (mine, theirs) in row.iter_mut().zip(set.words()) {
                *mine &= theirs;
            }
        }
    }

    /// `out` becomes the relation `self; other`.
    pub fn compose_into(&self, other: &Relation, out: &mut Relation) {
        self.compose_while(other, out, || true);
    }

    /// The same, as long as somebody wants it: then pairs are missing.
    ///
    /// Many relations hold of an event and itself only, so that what leads there stays as it is.
    pub fn compose_while(&self, other: &Relation, out: &mut Relation, goes_on: impl Fn() -> bool) {
        debug_assert_eq!(self.n, other.n, "relations of different executions");
        out.resize(self.n);
        if self.stride == 1 {
            for (row, result) in self.bits.iter().zip(&mut out.bits) {
                let (mut rest, mut sum) = (*row, 0);
                while rest != 0 {
                    sum |= other.bits[rest.trailing_zeros() as usize];
                    rest &= rest - 1;
                }
                *result = sum;
            }
            return;
        }
        let kept = other.fixed();
        for from in (0..self.n).take_while(|_| goes_on()) {
            let (row, result) = (self.row(from), &mut out.bits[from * out.stride..]);
            for ((mine, theirs), kept) in result.iter_mut().zip(row).zip(kept.words()) {
                *mine = theirs & kept;
            }
            for middle in bits_of(row).filter(|middle| !kept.contains(*middle)) {
                for (mine, theirs) in result.iter_mut().zip(other.row(middle)) {
                    *mine |= theirs;
                }
            }
        }
    }

    /// The events that are related to themselves and to nothing else.
    fn fixed(&self) -> EventSet {
        let mut fixed = EventSet::new(self.n);
        for event in (0..self.n).filter(|event| self.has(*event, *event)) {
            if self.row(event).iter().map(|word| word.count_ones()).sum::<u32>() == 1 {
                fixed.insert(event);
            }
        }
        fixed
    }

    /// Whether `self; other` relates some event to itself.
    pub fn composition_meets_identity(&self, other: &Relation) -> bool {
        self.iter().any(|(from, middle)| other.has(middle, from))
    }

    /// Whether `left; right` has a pair of `self`.
    pub fn meets_composition(&self, left: &Relation, right: &Relation) -> bool {
        self.iter().any(|(from, to)| bits_of(left.row(from)).any(|middle| right.has(middle, to)))
    }

    pub fn inverse_into(&self, out: &mut Relation) {
        out.resize(self.n);
        if self.stride == 1 {
            for (from, row) in self.bits.iter().enumerate() {
                let mut rest = *row;
                while rest != 0 {
                    out.bits[rest.trailing_zeros() as usize] |= 1 << from;
                    rest &= rest - 1;
                }
            }
            return;
        }
        for (from, to) in self.iter() {
            out.add(to, from);
        }
    }

    /// The members that have a successor.
    pub fn domain_into(&self, out: &mut EventSet) {
        out.resize(self.n);
        for event in 0..self.n {
            if self.row(event).iter().any(|w| *w != 0) {
                out.insert(event);
            }
        }
    }

    /// The members that have a predecessor.
    pub fn range_into(&self, out: &mut EventSet) {
        out.resize(self.n);
        for row in self.bits.chunks(self.stride) {
            for (mine, theirs) in out.words_mut().iter_mut().zip(row) {
                *mine |= theirs;
            }
        }
    }

    /// Becomes its own transitive closure (Warshall's algorithm, a row at a time).
    pub fn transitive_close(&mut self) {
        self.close_while(|| true);
    }

    /// The same, as long as somebody wants it: then pairs are missing.
    pub fn close_while(&mut self, goes_on: impl Fn() -> bool) {
        if self.stride == 1 {
            for middle in 0..self.n {
                let through = self.bits[middle];
                if through == 0 {
                    continue;
                }
                for row in &mut self.bits {
                    let reaches = (*row >> middle) & 1;
                    *row |= through & reaches.wrapping_neg();
                }
            }
            return;
        }
        for middle in (0..self.n).take_while(|_| goes_on()) {
            for from in 0..self.n {
                if from != middle && self.has(from, middle) {
                    for word in 0..self.stride {
                        let through = self.bits[middle * self.stride + word];
                        self.bits[from * self.stride + word] |= through;
                    }
                }
            }
        }
    }

    pub fn is_irreflexive(&self) -> bool {
        (0..self.n).all(|event| !self.has(event, event))
    }

    /// Takes away events without successors among those that are left, until none is left
    /// (no cycle) or nothing can be taken away.
    pub fn is_acyclic(&self) -> bool {
        if self.stride == 1 {
            return self.is_acyclic_in_a_word();
        }
        let mut left = EventSet::full(self.n);
        loop {
            let before = left.len();
            for event in (0..self.n).rev().chain(0..self.n) {
                let mut pairs = self.row(event).iter().zip(left.words());
                if left.contains(event) && pairs.all(|(row, left)| row & left == 0) {
                    left.remove(event);
                }
            }
            match left.len() {
                0 => return true,
                after if after == before => return false,
                _ => {}
            }
        }
    }

    fn is_acyclic_in_a_word(&self) -> bool {
        let mut left = 0;
        for (event, row) in self.bits.iter().enumerate() {
            left |= u64::from(*row != 0) << event;
        }
        let without_successors = |left: u64, event: u32| self.bits[event as usize] & left == 0;
        while left != 0 {
            let before = left;
            let mut rest = left;
            while rest != 0 {
                let event = 63 - rest.leading_zeros();
                rest &= !(1 << event);
                if without_successors(left, event) {
                    left &= !(1 << event);
                }
            }
            rest = left;
            while rest != 0 {
                let event = rest.trailing_zeros();
                rest &= rest - 1;
                if without_successors(left, event) {
                    left &= !(1 << event);
                }
            }
            if left == before {
                return false;
            }
        }
        true
    }

    /// A shortest cycle, as the events on it in order; the last one leads back to the first.
    pub fn find_cycle(&self) -> Option<Vec<usize>> {
        (0..self.n).filter_map(|start| self.shortest_path(start, start)).min_by_key(Vec::len)
    }

    /// A shortest path of at least one step, without its last event.
    fn shortest_path(&self, start: usize, goal: usize) -> Option<Vec<usize>> {
        let mut reached_from = vec![None; self.n];
        let mut frontier = std::collections::VecDeque::from([start]);
        while let Some(event) = frontier.pop_front() {
            for next in self.successors(event) {
                if next == goal {
                    let mut path = vec![event];
                    let mut at = event;
                    while at != start {
                        at = reached_from[at]?;
                        path.push(at);
                    }
                    path.reverse();
                    return Some(path);
                }
                if reached_from[next].is_none() && next != start {
                    reached_from[next] = Some(event);
                    frontier.push_back(next);
                }
            }
        }
        None
    }
}

impl fmt::Debug for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(n: usize, pairs: &[(usize, usize)]) -> Relation {
        let mut relation = Relation::new(n);
        pairs.iter().for_each(|(a, b)| relation.add(*a, *b));
        relation
    }

    fn set(n: usize, members: &[usize]) -> EventSet {
        let mut set = EventSet::new(n);
        members.iter().for_each(|m| set.insert(*m));
        set
    }

    /// One word a row, and several.
    const SIZES: [usize; 3] = [6, 64, 130];

    #[test]
    fn composition_inverse_and_closure() {
        for n in SIZES {
            let r = relation(n, &[(0, 1), (1, 2), (2, 5)]);
            let mut out = Relation::default();
            r.compose_into(&r, &mut out);
            assert_eq!(out, relation(n, &[(0, 2), (1, 5)]));
            r.inverse_into(&mut out);
            assert_eq!(out, relation(n, &[(1, 0), (2, 1), (5, 2)]));
            let mut closed = r.clone();
            closed.transitive_close();
            let all = [(0, 1), (0, 2), (0, 5), (1, 2), (1, 5), (2, 5)];
            assert_eq!(closed, relation(n, &all));
        }
    }

    #[test]
    fn restriction_products_domain_and_range() {
        for n in SIZES {
            let mut r = relation(n, &[(0, 1), (0, 2), (3, 1)]);
            let mut ends = EventSet::default();
            r.domain_into(&mut ends);
            assert_eq!(ends, set(n, &[0, 3]));
            r.range_into(&mut ends);
            assert_eq!(ends, set(n, &[1, 2]));
            r.restrict_range(&set(n, &[1]));
            assert_eq!(r, relation(n, &[(0, 1), (3, 1)]));
            r.restrict_domain(&set(n, &[3]));
            assert_eq!(r, relation(n, &[(3, 1)]));
            let product = Relation::cross(&set(n, &[0, 1]), &set(n, &[2]));
            assert_eq!(product, relation(n, &[(0, 2), (1, 2)]));
        }
    }

    #[test]
    fn cycles_are_found_and_shown() {
        for n in SIZES {
            let chain = relation(n, &[(3, 0), (0, 1), (1, 2), (5, 3)]);
            assert!(chain.is_acyclic() && chain.is_irreflexive());
            assert_eq!(chain.find_cycle(), None);
            let ring = relation(n, &[(3, 0), (0, 1), (1, 2), (2, 3), (1, 3), (4, 3)]);
            assert!(!ring.is_acyclic() && ring.is_irreflexive());
            assert_eq!(ring.find_cycle(), Some(vec![0, 1, 3]));
            let point = relation(n, &[(5, 5), (4, 5)]);
            assert!(!point.is_acyclic() && !point.is_irreflexive());
            assert_eq!(point.find_cycle(), Some(vec![5]));
        }
    }

    #[test]
    fn tests_without_materialising() {
        for n in SIZES {
            let (a, b) = (relation(n, &[(0, 1)]), relation(n, &[(1, 2)]));
            assert!(!a.composition_meets_identity(&b));
            assert!(a.composition_meets_identity(&relation(n, &[(1, 0)])));
            assert!(relation(n, &[(0, 2)]).meets_composition(&a, &b));
            assert!(!relation(n, &[(2, 0)]).meets_composition(&a, &b));
        }
    }
}
