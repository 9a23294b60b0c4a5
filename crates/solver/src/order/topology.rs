//! The topological order of a growing graph, after Pearce and Kelly, «A dynamic topological sort
//! algorithm for directed acyclic graphs», Journal of Experimental Algorithmics 11, 2007.
//!
//! Every node has a rank, and every present edge goes from a lower rank to a higher one. An edge
//! that does so already costs nothing. Otherwise only nodes between the two ranks are looked at.
//! Removing an edge never breaks an order, so edges leave as they came, last in, first out.

use std::collections::VecDeque;

/// An edge of the graph, as the number that its owner knows it by.
pub(crate) type EdgeNumber = u32;

/// The far end of an edge.
#[derive(Clone, Copy, Debug)]
struct Arc {
    node: u32,
    edge: EdgeNumber,
}

/// The present edges of one graph.
#[derive(Default, Debug)]
pub(crate) struct Topology {
    out: Vec<Vec<Arc>>,
    into: Vec<Vec<Arc>>,
    rank: Vec<u32>,
    /// Nodes that the present search has seen carry its number.
    seen: Vec<u32>,
    search: u32,
    forward: Vec<u32>,
    backward: Vec<u32>,
    ranks: Vec<u32>,
    /// How a search for a path came to a node.
    came_by: Vec<Arc>,
    distance: Vec<u32>,
    queue: VecDeque<u32>,
}

/// The edge closes a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cycle;

impl Topology {
    pub fn grow(&mut self, nodes: usize) {
        for node in self.rank.len()..nodes {
            self.rank.push(node as u32);
            self.out.push(Vec::new());
            self.into.push(Vec::new());
            self.seen.push(0);
            self.came_by.push(Arc { node: 0, edge: 0 });
            self.distance.push(0);
        }
    }

    /// Adds an edge between different nodes, unless it would close a cycle.
    pub fn insert(&mut self, from: u32, to: u32, edge: EdgeNumber) -> Result<(), Cycle> {
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        if low < high {
            self.collect_forward(to, from, high)?;
            self.collect_backward(from, low);
            self.reorder();
        }
        debug_assert!(self.rank[from as usize] < self.rank[to as usize], "an edge goes down");
        self.out[from as usize].push(Arc { node: to, edge });
        self.into[to as usize].push(Arc { node: from, edge });
        Ok(())
    }

    /// Removes the edge that was added last of those that are left.
    pub fn remove_last(&mut self, from: u32, to: u32) {
        let (out, into) = (self.out[from as usize].pop(), self.into[to as usize].pop());
        debug_assert_eq!(out.map(|arc| arc.node), Some(to), "edges leave as they came");
        debug_assert_eq!(into.map(|arc| arc.node), Some(from), "edges leave as they came");
    }

    fn start_search(&mut self) -> u32 {
        if self.search == u32::MAX {
            self.seen.fill(0);
            self.search = 0;
        }
        self.search += 1;
        self.search
    }

    /// Nodes that `start` reaches, up to a rank. Reaching `target` is a cycle.
    fn collect_forward(&mut self, start: u32, target: u32, high: u32) -> Result<(), Cycle> {
        let search = self.start_search();
        self.forward.clear();
        self.forward.push(start);
        self.seen[start as usize] = search;
        let mut next = 0;
        while let Some(&node) = self.forward.get(next) {
            next += 1;
            for arc in &self.out[node as usize] {
                if arc.node == target {
                    return Err(Cycle);
                }
                let seen = &mut self.seen[arc.node as usize];
                if *seen != search && self.rank[arc.node as usize] < high {
                    *seen = search;
                    self.forward.push(arc.node);
                }
            }
        }
        Ok(())
    }

    /// Nodes that reach `start`, down to a rank.
    fn collect_backward(&mut self, start: u32, low: u32) {
        let search = self.start_search();
        self.backward.clear();
        self.backward.push(start);
        self.seen[start as usize] = search;
        let mut next = 0;
        while let Some(&node) = self.backward.get(next) {
            next += 1;
            for arc in &self.into[node as usize] {
                let seen = &mut self.seen[arc.node as usize];
                if *seen != search && self.rank[arc.node as usize] > low {
                    *seen = search;
                    self.backward.push(arc.node);
                }
            }
        }
    }

    /// What reaches the new edge goes before what it reaches, on the ranks that they have together.
    fn reorder(&mut self) {
        let rank = &mut self.rank;
        self.forward.sort_unstable_by_key(|&node| rank[node as usize]);
        self.backward.sort_unstable_by_key(|&node| rank[node as usize]);
        self.ranks.clear();
        let nodes = self.backward.iter().chain(&self.forward);
        self.ranks.extend(nodes.clone().map(|&node| rank[node as usize]));
        self.ranks.sort_unstable();
        for (&node, &new) in nodes.zip(&self.ranks) {
            rank[node as usize] = new;
        }
    }

    /// Whether there is a path between different nodes.
    pub fn reaches(&mut self, start: u32, end: u32) -> bool {
        let high = self.rank[end as usize];
        self.rank[start as usize] < high && self.collect_forward(start, end, high).is_err()
    }

    /// The nodes that `start` reaches, with itself, each once. [`Topology::was_seen`] knows them.
    pub fn reached_from(&mut self, start: u32, nodes: &mut Vec<u32>) {
        let search = self.start_search();
        nodes.clear();
        nodes.push(start);
        self.seen[start as usize] = search;
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            for arc in &self.out[node as usize] {
                if self.seen[arc.node as usize] != search {
                    self.seen[arc.node as usize] = search;
                    nodes.push(arc.node);
                }
            }
        }
    }

    /// The nodes that reach `end`, with itself, each once. [`Topology::was_seen`] knows them.
    pub fn reaching(&mut self, end: u32, nodes: &mut Vec<u32>) {
        let search = self.start_search();
        nodes.clear();
        nodes.push(end);
        self.seen[end as usize] = search;
        let mut next = 0;
        while let Some(&node) = nodes.get(next) {
            next += 1;
            for arc in &self.into[node as usize] {
                if self.seen[arc.node as usize] != search {
                    self.seen[arc.node as usize] = search;
                    nodes.push(arc.node);
                }
            }
        }
    }

    /// Whether the last search came to that node.
    pub fn was_seen(&self, node: u32) -> bool {
        self.seen[node as usize] == self.search
    }

    /// The edges of a path that has the least cost, from its end to its start. `cost` gives 0 or 1
    /// for an edge that may be used.
    pub fn path(
        &mut self,
        start: u32,
        end: u32,
        cost: impl Fn(EdgeNumber) -> Option<u32>,
        path: &mut Vec<EdgeNumber>,
    ) -> bool {
        path.clear();
        let search = self.start_search();
        let high = self.rank[end as usize];
        self.queue.clear();
        self.queue.push_back(start);
        self.seen[start as usize] = search;
        self.distance[start as usize] = 0;
        while let Some(node) = self.queue.pop_front() {
            if node == end {
                self.trace(start, end, path);
                return true;
            }
            let here = self.distance[node as usize];
            for arc in &self.out[node as usize] {
                if self.rank[arc.node as usize] > high {
                    continue;
                }
                let Some(cost) = cost(arc.edge) else { continue };
                let next = arc.node as usize;
                let farther = self.seen[next] == search && self.distance[next] <= here + cost;
                if farther {
                    continue;
                }
                self.seen[next] = search;
                self.distance[next] = here + cost;
                self.came_by[next] = Arc { node, edge: arc.edge };
                if cost == 0 {
                    self.queue.push_front(arc.node);
                } else {
                    self.queue.push_back(arc.node);
                }
            }
        }
        false
    }

    fn trace(&self, start: u32, end: u32, path: &mut Vec<EdgeNumber>) {
        let mut node = end;
        while node != start {
            let arc = self.came_by[node as usize];
            path.push(arc.edge);
            node = arc.node;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_edge_that_closes_a_cycle_is_refused() {
        let mut graph = Topology::default();
        graph.grow(3);
        assert_eq!(graph.insert(2, 1, 0), Ok(()));
        assert_eq!(graph.insert(1, 0, 1), Ok(()));
        assert_eq!(graph.insert(0, 2, 2), Err(Cycle));
        let mut path = Vec::new();
        assert!(graph.path(2, 0, |_| Some(1), &mut path));
        assert_eq!(path, [1, 0]);
        graph.remove_last(1, 0);
        assert_eq!(graph.insert(0, 2, 2), Ok(()));
    }

    #[test]
    fn the_cheapest_path_is_found() {
        let mut graph = Topology::default();
        graph.grow(4);
        for (edge, (from, to)) in [(0, 3), (0, 1), (1, 2), (2, 3)].into_iter().enumerate() {
            assert_eq!(graph.insert(from, to, edge as u32), Ok(()));
        }
        let mut path = Vec::new();
        assert!(graph.path(0, 3, |edge| Some(u32::from(edge == 0)), &mut path));
        assert_eq!(path, [3, 2, 1]);
        assert!(graph.path(0, 3, |edge| (edge != 3).then_some(1), &mut path));
        assert_eq!(path, [0]);
        assert!(!graph.path(0, 3, |edge| (edge == 1).then_some(1), &mut path));
    }

    /// Whether there is a path, by looking at all edges until nothing changes.
    fn reaches(edges: &[(u32, u32)], from: u32, to: u32) -> bool {
        let mut reached = vec![from];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            for &(a, b) in edges {
                if a == node && !reached.contains(&b) {
                    reached.push(b);
                }
            }
        }
        reached.contains(&to)
    }

    proptest! {
        /// Edges come and go; the graph agrees with a plain search at every step.
        #[test]
        fn cycles_are_found_when_they_close(
            steps in prop::collection::vec((0u32..9, 0u32..9, 0usize..4), 1..80)
        ) {
            let mut graph = Topology::default();
            graph.grow(9);
            let mut edges: Vec<(u32, u32)> = Vec::new();
            for (from, to, drop) in steps {
                for _ in 0..drop.min(edges.len()).saturating_sub(1) {
                    if let Some((from, to)) = edges.pop() {
                        graph.remove_last(from, to);
                    }
                }
                if from == to {
                    continue;
                }
                let closes = reaches(&edges, to, from);
                let inserted = graph.insert(from, to, edges.len() as u32);
                prop_assert_eq!(inserted.is_err(), closes);
                if inserted.is_ok() {
                    edges.push((from, to));
                }
                for &(a, b) in &edges {
                    prop_assert!(graph.rank[a as usize] < graph.rank[b as usize]);
                }
                let mut nodes = Vec::new();
                for n in (0..9).filter(|&n| n != to) {
                    prop_assert_eq!(graph.reaches(to, n), reaches(&edges, to, n));
                }
                graph.reached_from(to, &mut nodes);
                prop_assert!((0..9).all(|n| nodes.contains(&n) == reaches(&edges, to, n)));
                graph.reaching(from, &mut nodes);
                prop_assert!((0..9).all(|n| nodes.contains(&n) == reaches(&edges, n, from)));
            }
        }
    }
}
