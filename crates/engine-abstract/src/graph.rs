//! The abstract reachability graph: abstract states, the edges between them, and which state is
//! covered by which.
//!
//! A state is covered by another if threads stand at the same places, there are the same objects, and
//! all that it allows is allowed by the other. Whatever can happen after it can happen after the
//! other, so that it is not expanded.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::block::Edge;
use crate::control::Control;
use crate::search::Taken;
use crate::state::State;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NodeId(pub u32);

pub struct Node {
    pub control: Arc<Control>,
    pub state: State,
    pub parent: Option<(NodeId, Arc<Edge>)>,
    pub covered_by: Option<NodeId>,
    /// The threads whose steps were looked at.
    pub expanded: Vec<u32>,
    pub fate: Fate,
    /// How often more was tracked before it was found.
    pub known: u32,
}

/// What becomes of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Something follows, or it is not known yet.
    Goes,
    /// All threads have ended.
    Ends,
    /// All threads that are left wait.
    Waits,
}

impl Fate {
    pub fn of(control: &Control, goes: bool) -> Fate {
        match control.running().next() {
            None => Fate::Ends,
            Some(_) if goes => Fate::Goes,
            Some(_) => Fate::Waits,
        }
    }
}

#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    controls: FxHashMap<Arc<Control>, Vec<NodeId>>,
    /// How often more was tracked until now.
    pub known: u32,
    /// How many nodes were made, those included that are gone.
    pub made: u64,
}

impl Graph {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Notes whose steps were looked at, and what becomes of the state.
    pub fn expand(&mut self, id: NodeId, threads: Vec<u32>, fate: Fate) {
        let node = &mut self.nodes[id.0 as usize];
        (node.expanded, node.fate) = (threads, fate);
    }

    /// How many states have that fate.
    pub fn count(&self, fate: Fate) -> usize {
        self.nodes.iter().filter(|node| node.fate == fate).count()
    }

    /// Takes the last node away, if it is that one or was added after it.
    pub fn pop_from(&mut self, first: NodeId) -> Option<(NodeId, State)> {
        let id = NodeId(self.nodes.len().checked_sub(1)? as u32);
        let node = if id >= first { self.nodes.pop()? } else { return None };
        if let Some(same) = self.controls.get_mut(&node.control)
            && same.last() == Some(&id)
        {
            same.pop();
        }
        Some((id, node.state))
    }

    fn push(
        &mut self,
        control: Arc<Control>,
        state: State,
        parent: Option<(NodeId, Arc<Edge>)>,
        covered_by: Option<NodeId>,
    ) {
        let (expanded, fate, known) = (Vec::new(), Fate::Goes, self.known);
        self.made += 1;
        self.nodes.push(Node { control, state, parent, covered_by, expanded, fate, known });
    }

    /// A new node, and the one that covers it, if one does.
    pub fn add(
        &mut self,
        control: &Control,
        state: State,
        parent: Option<(NodeId, Arc<Edge>)>,
    ) -> (NodeId, Option<NodeId>) {
        let id = NodeId(self.nodes.len() as u32);
        let known = self.controls.get_key_value(control);
        let control = known.map_or_else(|| Arc::new(control.clone()), |(known, _)| known.clone());
        let same = self.controls.entry(control.clone()).or_default();
        let covers = |other: &&NodeId| self.nodes[other.0 as usize].state.includes(&state);
        let covered_by = same.iter().find(covers).copied();
        if covered_by.is_none() {
            same.push(id);
        }
        self.push(control, state, parent, covered_by);
        (id, covered_by)
    }

    /// A new node that no other covers.
    pub fn add_apart(
        &mut self,
        control: &Control,
        state: State,
        parent: Option<(NodeId, Arc<Edge>)>,
    ) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.push(Arc::new(control.clone()), state, parent, None);
        id
    }

    /// Whether all of the graph is as it has to be: nodes are found after those they come from, who is
    /// covered is covered by somebody who is not, stands where that one stands, allows no more, and was
    /// not expanded, and the rest is where it is looked for.
    pub fn is_whole(&self) -> bool {
        let ids = |all: &[NodeId]| all.is_sorted_by(|one, other| one < other);
        let is_listed = |id: NodeId, node: &Node| {
            self.controls.get(&node.control).is_some_and(|same| same.binary_search(&id).is_ok())
        };
        let nodes = self.nodes.iter().enumerate().all(|(number, node)| {
            let id = NodeId(number as u32);
            let comes_later = node.parent.as_ref().is_none_or(|(parent, _)| *parent < id);
            let is_covered = node.covered_by.is_none_or(|by| {
                let Some(other) = self.nodes.get(by.0 as usize) else { return false };
                other.covered_by.is_none()
                    && other.control == node.control
                    && other.state.includes(&node.state)
                    && node.expanded.is_empty()
                    && !is_listed(id, node)
            });
            comes_later && is_covered
        });
        let is_uncovered = |(control, id): (&Arc<Control>, &NodeId)| {
            let node = self.nodes.get(id.0 as usize);
            node.is_some_and(|node| node.covered_by.is_none() && node.control == *control)
        };
        let listed = self
            .controls
            .iter()
            .all(|(control, same)| ids(same) && same.iter().all(|id| is_uncovered((control, id))));
        nodes && listed
    }

    /// The steps that lead to a node, from the first on.
    pub fn path(&self, mut node: NodeId) -> Vec<Taken> {
        let mut path = Vec::new();
        while let Some((parent, edge)) = &self.node(node).parent {
            let from = self.node(*parent);
            path.push(Taken { state: from.state.clone(), edge: edge.clone(), known: from.known });
            node = *parent;
        }
        path.reverse();
        path
    }
}
