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
}

#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    controls: FxHashMap<Arc<Control>, Vec<NodeId>>,
}

impl Graph {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// Notes whose steps were looked at.
    pub fn expand(&mut self, id: NodeId, threads: Vec<u32>) {
        self.nodes[id.0 as usize].expanded = threads;
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
        self.nodes.push(Node { control, state, parent, covered_by, expanded: Vec::new() });
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
        let (control, covered_by) = (Arc::new(control.clone()), None);
        self.nodes.push(Node { control, state, parent, covered_by, expanded: Vec::new() });
        id
    }

    /// The edges that lead to a node, from the first on, each with the state where it begins.
    pub fn path(&self, mut node: NodeId) -> Vec<(State, Arc<Edge>)> {
        let mut path = Vec::new();
        while let Some((parent, edge)) = &self.node(node).parent {
            path.push((self.node(*parent).state.clone(), edge.clone()));
            node = *parent;
        }
        path.reverse();
        path
    }
}
