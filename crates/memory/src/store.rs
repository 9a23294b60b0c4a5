//! The values of a graph's nodes for one execution, brought up to date on demand.
//!
//! A clock ticks at every change of the execution. A value is doubtful if what it depends on
//! (the events, `rf`, `co`) changed since it was last known to be right, and is then computed
//! again only if some operand really became another value: many choices of `co` leave most
//! relations of a model as they were. Values keep their memory, so nothing is allocated once
//! the store is warm.

use crate::event_set::EventSet;
use crate::graph::{Depends, Graph, Node, NodeId};
use crate::interpret::round_limit;
use crate::plan::Recipes;
use crate::relation::Relation;

/// Whether somebody still wants the values; they mean nothing from then on.
pub(crate) type GoesOn<'a> = &'a dyn Fn() -> bool;

pub(crate) struct Store {
    events: usize,
    /// Each node has its value in one of these two.
    sets: Vec<EventSet>,
    relations: Vec<Relation>,
    /// When each value was last known to be right, and when it last became another.
    right_at: Vec<u64>,
    modified_at: Vec<u64>,
    /// For each [`Depends`], when something with these dependencies last became doubtful.
    doubtful_at: [u64; 4],
    /// When the events last changed, and with them everything.
    begun_at: u64,
    now: u64,
    /// Where new values are made, to be compared with the old ones.
    new_set: EventSet,
    new_relation: Relation,
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
            right_at: vec![0; nodes],
            modified_at: vec![0; nodes],
            doubtful_at: [1; 4],
            begun_at: 1,
            now: 1,
            new_set: EventSet::default(),
            new_relation: Relation::default(),
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
        self.events_changed();
    }

    pub fn events(&self) -> usize {
        self.events
    }

    /// Notes that everything may have changed.
    pub fn events_changed(&mut self) {
        self.now += 1;
        self.begun_at = self.now;
        self.doubtful_at = [self.now; 4];
    }

    /// Notes that `rf` or `co`, the input at this node, changed.
    pub fn input_changed(&mut self, graph: &Graph, input: NodeId) {
        self.now += 1;
        self.modified_at[input.index()] = self.now;
        let what = graph.depends(input);
        for (index, doubtful_at) in self.doubtful_at.iter_mut().enumerate() {
            if what.meets(Depends(index as u8)) {
                *doubtful_at = self.now;
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
    pub fn update(
        &mut self,
        graph: &Graph,
        recipes: &Recipes,
        needs: &[NodeId],
        goes_on: GoesOn<'_>,
    ) {
        for id in needs {
            let index = id.index();
            let right_at = self.right_at[index];
            if right_at >= self.doubtful_at[usize::from(graph.depends(*id).0)] {
                continue;
            }
            let mut operands = recipes.operands[index].iter();
            let modified = |operand: &NodeId| self.modified_at[operand.index()] > right_at;
            if right_at < self.begun_at || operands.any(modified) {
                self.renew(graph, recipes, *id, goes_on);
            }
            self.right_at[index] = self.now;
        }
    }

    /// Computes a node and notes whether it became another value.
    fn renew(&mut self, graph: &Graph, recipes: &Recipes, id: NodeId, goes_on: GoesOn<'_>) {
        let index = id.index();
        if let Node::Solution(group, _) = graph.node(id) {
            self.settle(graph, recipes, *group, goes_on);
        }
        let changed = match graph.node(id) {
            Node::SetInput(_) | Node::RelationInput(_) => true,
            node if graph.is_set(id) => {
                let mut new = std::mem::take(&mut self.new_set);
                self.compute_set(graph, node, &mut new);
                let changed = new != self.sets[index];
                self.new_set = std::mem::replace(&mut self.sets[index], new);
                changed
            }
            node => {
                let mut new = std::mem::take(&mut self.new_relation);
                self.compute_relation(graph, node, &mut new, goes_on);
                let changed = new != self.relations[index];
                self.new_relation = std::mem::replace(&mut self.relations[index], new);
                changed
            }
        };
        if changed {
            self.modified_at[index] = self.now;
        }
    }

    fn compute_set(&self, graph: &Graph, node: &Node, out: &mut EventSet) {
        let set = |id: &NodeId| &self.sets[id.index()];
        match node {
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
            Node::Solution(group, index) => out.copy_from(set(&definition(graph, *group, *index))),
            _ => out.resize(self.events),
        }
    }

    fn compute_relation(
        &self,
        graph: &Graph,
        node: &Node,
        out: &mut Relation,
        goes_on: GoesOn<'_>,
    ) {
        let relation = |id: &NodeId| &self.relations[id.index()];
        let set = |id: &NodeId| &self.sets[id.index()];
        match node {
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
            Node::Sequence(a, b) => relation(a).compose_while(relation(b), out, goes_on),
            Node::Inverse(a) => relation(a).inverse_into(out),
            Node::Plus(a) => {
                out.copy_from(relation(a));
                out.close_while(goes_on);
            }
            Node::StartingIn(on, a) => {
                out.copy_from(relation(a));
                out.restrict_domain(set(on));
            }
            Node::EndingIn(a, on) => {
                out.copy_from(relation(a));
                out.restrict_range(set(on));
            }
            Node::Solution(group, index) => {
                out.copy_from(relation(&definition(graph, *group, *index)));
            }
            _ => out.resize(self.events),
        }
    }

    /// Computes the definitions of a group over and over until none gains anything.
    fn settle(&mut self, graph: &Graph, recipes: &Recipes, group: u32, goes_on: GoesOn<'_>) {
        let definition = &graph.groups[group as usize];
        let (unknowns, definitions) = (&definition.unknowns, &definition.definitions);
        for unknown in unknowns {
            self.sets[unknown.index()].resize(self.events);
            self.relations[unknown.index()].resize(self.events);
        }
        for _ in 0..round_limit(self.events, definitions.len()) {
            for id in &recipes.rounds[group as usize] {
                self.renew(graph, recipes, *id, goes_on);
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
            if !gained || !goes_on() {
                return;
            }
            for (unknown, definition) in unknowns.iter().zip(definitions) {
                if graph.is_set(*unknown) {
                    copy(&mut self.sets, *definition, *unknown, EventSet::copy_from);
                } else {
                    copy(&mut self.relations, *definition, *unknown, Relation::copy_from);
                }
            }
        }
        self.unsettled = Some(group);
    }
}

/// The node whose value in the last round is the solution.
fn definition(graph: &Graph, group: u32, index: u32) -> NodeId {
    graph.groups[group as usize].definitions[index as usize]
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
