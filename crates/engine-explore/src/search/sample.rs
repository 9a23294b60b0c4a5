//! One random way down the search tree; see [`crate::estimate`].

use super::Search;
use crate::graph::ThreadGraph;
use crate::standing::At;

impl<'p> Search<'_, 'p> {
    /// One way down the tree, by random choices, and back: how many leaves there are if all of
    /// it looks like this way; 0 where it ends blocked. None where it ends for another reason.
    pub fn sample(&mut self, mut pick: impl FnMut(u64) -> u64) -> Option<f64> {
        let mut weight = 1.0;
        let mut is_open = true;
        while is_open {
            let Some(thread) = self.next_thread() else {
                break;
            };
            let ways = self.ways(thread);
            if ways == 0 || self.memory.known.is_split() {
                weight = 0.0;
                break;
            }
            weight *= ways as f64;
            let taken = pick(ways);
            is_open = self.node(thread).is_some_and(|node| self.advance(node));
            for _ in 0..taken {
                is_open = self.path.nodes.pop().is_some_and(|level| self.advance(level.node));
            }
        }
        let ended = |thread: &ThreadGraph<'_>| {
            thread.standings.last().is_none_or(|now| matches!(now.at, At::Ended))
        };
        if !self.graph.threads.iter().all(ended) {
            weight = 0.0;
        }
        while let Some(level) = self.path.nodes.pop() {
            self.undo(level.node);
        }
        (!self.memory.known.is_split()).then_some(weight)
    }

    /// In how many ways the next event of a thread can be added.
    pub(super) fn ways(&mut self, thread: usize) -> u64 {
        let mut ways = 0;
        let mut node = self.node(thread);
        while let Some(next) = node.take() {
            if self.advance(next) {
                ways += 1;
                node = self.path.nodes.pop().map(|level| level.node);
            }
        }
        ways
    }
}
