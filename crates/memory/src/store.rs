//! The values of a graph's nodes for one execution, brought up to date on demand.
//!
//! A clock ticks at every change of the execution. Each value carries the time it was
//! computed at, and is stale if what it depends on (the events, `rf`, `co`) changed since.
//! Values keep their memory, so nothing is allocated once the store is warm.

use crate::event_set::EventSet;
use crate::graph::{Depends, Graph, Node, NodeId};
use crate::interpret::round_limit;
use crate::relation::Relation;

pub(crate) struct Store {
    events: usize,
    /// Each node has its value in one of these two.
    sets: Vec<EventSet>,
    relations: Vec<Relation>,
    computed_at: Vec<u64>,
    /// For each [`Depends`], when something with these dependencies last became stale.
    changed_at: [u64; 4],
    now: u64,
    /// A recursive group that did not settle.
    pub unsettled: Option<u32>,
}

impl Store {
    pub fn new(graph: &Graph) -> Store {
        let nodes = graph.nodes.len();
        Store {
            events: 0,
            sets: vec![EventSet::default(); nodes],
            relations: vec![Relation::default(); nodes],
            computed_at: vec![0; nodes],
            changed_at: [1; 4],
            now: 1,
            unsettled: None,
        }
    }

    /// A new execution with all inputs empty.
    pub fn begin(&mut self, graph: &Graph, events: usize) {
        self.events = events;
        self.unsettled = None;
        for (index, node) in graph.nodes.iter().enumerate() {
            match node {
                Node::SetInput(_) => self.sets[index].resize(events),
                Node::RelationInput(_) => self.relations[index].resize(events),
                _ => {}
            }
        }
        self.changed(Depends::STRUCTURE);
    }

    pub fn events(&self) -> usize {
        self.events
    }

    /// Notes that the events (with [`Depends::STRUCTURE`]), `rf` or `co` changed.
    pub fn changed(&mut self, what: Depends) {
        self.now += 1;
        for (index, changed_at) in self.changed_at.iter_mut().enumerate() {
            if what == Depends::STRUCTURE || what.meets(Depends(index as u8)) {
                *changed_at = self.now;
            }
        }
    }

    pub fn set(&self, id: NodeId) -> &EventSet {
        &self.sets[id.index()]
    }

    pub fn relation(&self, id: NodeId) -> &Relation {
        &self.relations[id.index()]
    }

    pub fn set_mut(&mut self, id: NodeId) -> &mut EventSet {
        &mut self.sets[id.index()]
    }

    pub fn relation_mut(&mut self, id: NodeId) -> &mut Relation {
        &mut self.relations[id.index()]
    }

    /// Brings nodes up to date, in the order given.
    pub fn update(&mut self, graph: &Graph, rounds: &[Vec<NodeId>], needs: &[NodeId]) {
        for id in needs {
            let depends = graph.depends(*id);
            if self.computed_at[id.index()] < self.changed_at[usize::from(depends.0)] {
                self.compute(graph, rounds, *id);
                self.computed_at[id.index()] = self.now;
            }
        }
    }

    fn compute(&mut self, graph: &Graph, rounds: &[Vec<NodeId>], id: NodeId) {
        match graph.node(id) {
            Node::Solution(group, index) => {
                self.settle(graph, rounds, *group);
                let from = graph.groups[*group as usize].definitions[*index as usize];
                if graph.is_set(id) {
                    copy(&mut self.sets, from, id, EventSet::copy_from);
                } else {
                    copy(&mut self.relations, from, id, Relation::copy_from);
                }
            }
            node if graph.is_set(id) => self.compute_set(node, id),
            node => self.compute_relation(node, id),
        }
    }

    fn compute_set(&mut self, node: &Node, id: NodeId) {
        let (before, rest) = self.sets.split_at_mut(id.index());
        let Some(out) = rest.first_mut() else {
            return;
        };
        let set = |id: &NodeId| &before[id.index()];
        match node {
            Node::NoEvents => out.resize(self.events),
            Node::AllEvents => {
                out.resize(self.events);
                out.fill();
            }
            Node::SetUnion(parts) => {
                out.resize(self.events);
                parts.iter().for_each(|part| out.union_with(set(part)));
            }
            Node::SetIntersection(a, b) => {
                out.copy_from(set(a));
                out.intersect_with(set(b));
            }
            Node::SetDifference(a, b) => {
                out.copy_from(set(a));
                out.minus_with(set(b));
            }
            Node::Domain(relation) => self.relations[relation.index()].domain_into(out),
            Node::Range(relation) => self.relations[relation.index()].range_into(out),
            _ => {}
        }
    }

    fn compute_relation(&mut self, node: &Node, id: NodeId) {
        let (before, rest) = self.relations.split_at_mut(id.index());
        let Some(out) = rest.first_mut() else {
            return;
        };
        let relation = |id: &NodeId| &before[id.index()];
        let set = |id: &NodeId| &self.sets[id.index()];
        match node {
            Node::NoPairs => out.resize(self.events),
            Node::Identity(on) => {
                out.resize(self.events);
                out.add_identity_on(set(on));
            }
            Node::Product(from, to) => {
                out.resize(self.events);
                out.add_cross(set(from), set(to));
            }
            Node::Union(parts) => {
                let mut parts = parts.iter();
                if let Some(first) = parts.next() {
                    out.copy_from(relation(first));
                }
                parts.for_each(|part| out.union_with(relation(part)));
            }
            Node::Intersection(a, b) => {
                out.copy_from(relation(a));
                out.intersect_with(relation(b));
            }
            Node::Difference(a, b) => {
                out.copy_from(relation(a));
                out.minus_with(relation(b));
            }
            Node::Sequence(a, b) => relation(a).compose_into(relation(b), out),
            Node::Inverse(a) => relation(a).inverse_into(out),
            Node::Plus(a) => {
                out.copy_from(relation(a));
                out.transitive_close();
            }
            Node::StartingIn(on, a) => {
                out.copy_from(relation(a));
                out.restrict_domain(set(on));
            }
            Node::EndingIn(a, on) => {
                out.copy_from(relation(a));
                out.restrict_range(set(on));
            }
            _ => {}
        }
    }

    /// Computes the definitions of a group over and over until none gains anything.
    fn settle(&mut self, graph: &Graph, rounds: &[Vec<NodeId>], group: u32) {
        let definition = &graph.groups[group as usize];
        let (unknowns, definitions) = (&definition.unknowns, &definition.definitions);
        for unknown in unknowns {
            self.sets[unknown.index()].resize(self.events);
            self.relations[unknown.index()].resize(self.events);
        }
        for _ in 0..round_limit(self.events, definitions.len()) {
            for id in &rounds[group as usize] {
                self.compute(graph, rounds, *id);
            }
            let mut gained = false;
            for (unknown, definition) in unknowns.iter().zip(definitions) {
                let (old, new) = (unknown.index(), definition.index());
                gained |= if graph.is_set(*unknown) {
                    !self.sets[new].is_subset_of(&self.sets[old])
                } else {
                    !self.relations[new].is_subset_of(&self.relations[old])
                };
            }
            if !gained {
                return;
            }
            for (unknown, definition) in unknowns.iter().zip(definitions) {
                if graph.is_set(*unknown) {
                    copy(&mut self.sets, *definition, *unknown, EventSet::copy_from);
                } else {
                    copy(
                        &mut self.relations,
                        *definition,
                        *unknown,
                        Relation::copy_from,
                    );
                }
            }
        }
        self.unsettled = Some(group);
    }
}

/// Copies one value of a list to another.
fn copy<T: Default>(values: &mut [T], from: NodeId, to: NodeId, copy: impl Fn(&mut T, &T)) {
    if from == to {
        return;
    }
    let mut value = std::mem::take(&mut values[to.index()]);
    copy(&mut value, &values[from.index()]);
    values[to.index()] = value;
}
