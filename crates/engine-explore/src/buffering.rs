//! Whether a program may show load buffering: reads of writes that come later in their own
//! future, which the search does not look for.
//!
//! Models such as IMM allow cycles of program order and reads-from, but only through a read and a
//! later write of a thread that they do not keep in order; kept are, among others, those where
//! the write depends on the read. The search explores the executions without such cycles. If one
//! with a cycle exists, then take its events in an order that the model's acyclic relation allows:
//! the first write that is taken before an earlier read of its thread depends on nothing that is
//! still to come, so that it is also there, as little ordered, in an execution without cycles. So
//! it is enough to collect, over all executions explored, which reads come before which writes,
//! and whether the model orders them, and to ask in the end whether such pairs of several threads
//! close a cycle. One in which all accesses are of one location does not count: coherence forbids
//! it. Nor does one where what a pair reads, or what becomes of what it writes, always happens
//! before or after: the release and the acquire that see to it keep the order as well.
//!
//! A. Podkopaev, O. Lahav, V. Vafeiadis, Bridging the gap between programming languages and
//! hardware weak memory models, POPL 2019; M. Kokologiannakis, V. Vafeiadis, HMC: model checking
//! for hardware memory models, ASPLOS 2020.

use std::collections::{BTreeMap, BTreeSet};

use parallax_machine::Site;
use serde::{Deserialize, Serialize};

/// A read before a write of its thread, as addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Pair {
    pub thread: usize,
    pub read: u64,
    pub write: u64,
    /// Whether the model keeps their order.
    pub is_ordered: bool,
}

/// Each pair that was seen, with an example of where the read and the write are.
pub type Pairs = BTreeMap<Pair, [Option<Site>; 2]>;

/// What was seen of the executions explored.
#[derive(Default, Serialize, Deserialize)]
pub struct Seen {
    #[serde(with = "crate::record::sites")]
    pub pairs: Pairs,
    /// An address, a thread that writes there, and one that reads there, where neither access
    /// happens before the other.
    pub races: BTreeSet<(u64, usize, usize)>,
}

impl Seen {
    /// Adds what was seen later: of a pair that was there, the first example counts.
    pub fn add(&mut self, more: Seen) {
        for (pair, sites) in more.pairs {
            self.pairs.entry(pair).or_insert(sites);
        }
        self.races.extend(more.races);
    }

    /// Where the read and the write are of a pair that is not in order and may be part of a
    /// cycle.
    pub fn suspect(&self) -> Option<[Option<Site>; 2]> {
        let loose = self.pairs.iter().filter(|(pair, _)| !pair.is_ordered);
        let mut suspect = loose.filter(|(pair, _)| self.closes_a_cycle(**pair));
        suspect.next().map(|(_, sites)| *sites)
    }

    /// Whether from the write of the pair other pairs lead back to its read.
    fn closes_a_cycle(&self, pair: Pair) -> bool {
        // What was reached: a pair, and whether a second location was on the way.
        let mut reached = vec![[false; 2]; self.pairs.len()];
        let all: Vec<Pair> = self.pairs.keys().copied().collect();
        let mut open = vec![(pair, pair.read != pair.write)];
        while let Some((last, is_wide)) = open.pop() {
            for (number, next) in all.iter().enumerate() {
                if next.read != last.write || next.thread == last.thread {
                    continue;
                }
                if last == pair && !self.races.contains(&(last.write, last.thread, next.thread)) {
                    continue;
                }
                let is_wide = is_wide || next.write != next.read;
                let closes = next.write == pair.read && next.thread != pair.thread && is_wide;
                if closes && self.races.contains(&(pair.read, next.thread, pair.thread)) {
                    return true;
                }
                if !std::mem::replace(&mut reached[number][usize::from(is_wide)], true) {
                    open.push((*next, is_wide));
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(pairs: &[(usize, u64, u64, bool)]) -> Seen {
        let pair = |(thread, read, write, is_ordered)| Pair { thread, read, write, is_ordered };
        let pairs = pairs.iter().map(|found| (pair(*found), [None; 2])).collect();
        let threads = || (0..3).flat_map(|writer| (0..3).map(move |reader| (writer, reader)));
        let races = (1..4).flat_map(|at| threads().map(move |(w, r)| (at, w, r))).collect();
        Seen { pairs, races }
    }

    fn is_suspect(pairs: &[(usize, u64, u64, bool)]) -> bool {
        seen(pairs).suspect().is_some()
    }

    #[test]
    fn one_loose_pair_is_enough_for_a_cycle() {
        assert!(is_suspect(&[(0, 1, 2, false), (1, 2, 1, true)]));
        assert!(is_suspect(&[(0, 1, 2, true), (1, 2, 3, true), (2, 3, 1, false)]));
        assert!(!is_suspect(&[(0, 1, 2, true), (1, 2, 1, true)]));
    }

    #[test]
    fn pairs_of_one_thread_or_of_one_location_close_none() {
        assert!(!is_suspect(&[(0, 1, 2, false), (0, 2, 1, false)]));
        assert!(!is_suspect(&[(0, 1, 1, false), (1, 1, 1, false)]));
        assert!(!is_suspect(&[(0, 1, 2, false), (1, 1, 2, false)]));
    }

    #[test]
    fn what_always_happens_before_is_in_order() {
        for gone in [(2, 0, 1), (1, 1, 0)] {
            let mut seen = seen(&[(0, 1, 2, false), (1, 2, 1, true)]);
            seen.races.remove(&gone);
            assert!(seen.suspect().is_none());
        }
    }
}
