//! What coherence forces on the order of writes to one location.
//!
//! Where a model keeps each location sequentially consistent, every choice of a read's source
//! orders writes (Alglave, Maranget, Tautschnig, TOPLAS 2014, "Herding cats", section 4):
//! two writes in program order, a write before a read of another write (CoWR), a read before
//! a write (CoRW), and two reads of different writes (CoRR) each force a coherence edge. The
//! order of a location is kept transitively closed, so that a contradiction shows at once,
//! and what is left open is just what has to be enumerated.

use smallvec::{SmallVec, smallvec};

/// A strict partial order on up to 128 writes to one location; write 0 is the initial one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WriteOrder {
    /// Bit j of `after[i]`: write i comes before write j.
    after: SmallVec<[u128; 4]>,
}

impl WriteOrder {
    pub const MAX_WRITES: usize = 128;

    /// The initial write before all others.
    pub fn new(writes: usize) -> WriteOrder {
        let mut order = WriteOrder { after: smallvec![0; writes] };
        if let Some(initial) = order.after.first_mut() {
            *initial = all(writes) & !1;
        }
        order
    }

    pub fn writes(&self) -> usize {
        self.after.len()
    }

    pub fn before(&self, earlier: usize, later: usize) -> bool {
        self.after[earlier] >> later & 1 == 1
    }

    /// All that come after `write`, as bits.
    pub fn after(&self, write: usize) -> u128 {
        self.after[write]
    }

    /// All that come before `write`, as bits.
    pub fn predecessors(&self, write: usize) -> u128 {
        let bits = self.after.iter().enumerate().filter(|(_, after)| *after >> write & 1 == 1);
        bits.fold(0, |set, (i, _)| set | 1 << i)
    }

    /// Orders two writes. False if that contradicts the order.
    #[must_use]
    pub fn add(&mut self, earlier: usize, later: usize) -> bool {
        if earlier == later || self.before(later, earlier) {
            return false;
        }
        if self.before(earlier, later) {
            return true;
        }
        let added = self.after[later] | 1 << later;
        self.after[earlier] |= added;
        for i in 0..self.after.len() {
            if self.before(i, earlier) {
                self.after[i] |= added;
            }
        }
        true
    }

    /// Whether any two writes are ordered.
    pub fn is_total(&self) -> bool {
        let pairs: u32 = self.after.iter().map(|after| after.count_ones()).sum();
        let n = self.after.len() as u32;
        pairs == n * n.saturating_sub(1) / 2
    }

    /// Writes that nothing forces before another.
    pub fn possible_last(&self) -> impl Iterator<Item = usize> {
        self.after.iter().enumerate().filter(|(_, after)| **after == 0).map(|(i, _)| i)
    }

    /// Makes the order total, in some way.
    pub fn complete(&mut self) {
        let mut placed = 0;
        while let ready @ 1.. = self.ready(placed) {
            let next = ready.trailing_zeros() as usize;
            self.after[next] = all(self.after.len()) & !placed & !(1 << next);
            placed |= 1 << next;
        }
    }

    /// The writes that may come next when `placed` (as bits) have been placed.
    pub fn ready(&self, placed: u128) -> u128 {
        let mut blocked = placed;
        for (i, after) in self.after.iter().enumerate() {
            if placed >> i & 1 == 0 {
                blocked |= after;
            }
        }
        all(self.after.len()) & !blocked
    }
}

fn all(writes: usize) -> u128 {
    if writes >= 128 { u128::MAX } else { (1 << writes) - 1 }
}

/// An atomic pair at a location: its write follows at once, among the writes of other threads,
/// on the write that its read takes its value from.
#[derive(Clone, Copy, Debug)]
pub struct AtomicPair {
    pub source: usize,
    pub write: usize,
    /// Writes of the pair's own thread, as bits; they may come in between.
    pub own: u128,
}

/// Adds what atomicity forces, until nothing more follows. False on a contradiction.
#[must_use]
pub fn close_atomic(order: &mut WriteOrder, pairs: &[AtomicPair]) -> bool {
    loop {
        let before = order.clone();
        for pair in pairs {
            if !order.add(pair.source, pair.write) {
                return false;
            }
            let others = all(order.writes()) & !pair.own & !(1 << pair.source) & !(1 << pair.write);
            let mut after_source = order.after(pair.source) & others;
            while after_source != 0 {
                let write = after_source.trailing_zeros() as usize;
                after_source &= after_source - 1;
                if !order.add(pair.write, write) {
                    return false;
                }
            }
            let mut before_write = order.predecessors(pair.write) & others;
            while before_write != 0 {
                let write = before_write.trailing_zeros() as usize;
                before_write &= before_write - 1;
                if !order.add(write, pair.source) {
                    return false;
                }
            }
        }
        if *order == before {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_stay_closed_and_acyclic() {
        let mut order = WriteOrder::new(4);
        assert!(order.add(1, 2));
        assert!(order.add(2, 3));
        assert!(order.before(1, 3));
        assert!(order.is_total());
        assert!(!order.add(3, 1));
        assert!(!order.add(2, 0));
    }

    #[test]
    fn what_may_come_next_and_last() {
        let mut order = WriteOrder::new(4);
        assert!(order.add(1, 2));
        assert_eq!(order.ready(0b0001), 0b1010);
        assert_eq!(order.ready(0b0011), 0b1100);
        assert_eq!(order.possible_last().collect::<Vec<_>>(), [2, 3]);
        order.complete();
        assert!(order.is_total() && order.before(1, 2) && order.before(0, 3));
    }

    #[test]
    fn two_atomic_pairs_cannot_share_a_source() {
        let mut order = WriteOrder::new(3);
        let pair = |write| AtomicPair { source: 0, write, own: 1 << write };
        assert!(close_atomic(&mut order.clone(), &[pair(1)]));
        assert!(!close_atomic(&mut order, &[pair(1), pair(2)]));
    }
}
