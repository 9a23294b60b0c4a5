//! Whether nobody comes between the steps of an atomic section.
//!
//! Sections exclude one another by a lock, which does not keep out accesses that are in no section.
//! If all of those are ordered with what is inside, each section as a whole may still have to be
//! both before and after something else. Taken as one node, it is on a cycle then.

use crate::event::{Id, Kind};
use crate::graph::Graph;

/// Whether no section is on a cycle of program order and communication. Where a model allows such
/// cycles this asks for too much.
pub fn is_whole(graph: &Graph<'_>) -> bool {
    let nodes = Nodes::new(graph);
    let mut edges = edges(graph, &nodes);
    loop {
        let before = edges.len();
        let (mut enters, mut leaves) = (vec![false; nodes.count], vec![false; nodes.count]);
        for (from, to) in &edges {
            leaves[*from] = true;
            enters[*to] = true;
        }
        // What nothing leads to, or away from, is on no cycle.
        edges.retain(|(from, to)| enters[*from] && leaves[*to]);
        if edges.len() == before {
            return !edges.iter().any(|(from, to)| nodes.sections[*from] || nodes.sections[*to]);
        }
    }
}

/// Which node each event is, by thread and place; and whether a node is a section.
struct Nodes {
    of: Vec<Vec<usize>>,
    sections: Vec<bool>,
    count: usize,
}

impl Nodes {
    fn new(graph: &Graph<'_>) -> Nodes {
        let mut nodes = Nodes { of: Vec::new(), sections: Vec::new(), count: 0 };
        for thread in &graph.threads {
            let mut own = Vec::with_capacity(thread.events.len());
            for event in &thread.events {
                if !event.in_section {
                    nodes.sections.push(event.marks.is_enter());
                }
                own.push(nodes.sections.len().saturating_sub(1));
            }
            nodes.of.push(own);
        }
        nodes.count = nodes.sections.len();
        nodes
    }

    fn node(&self, id: Id) -> Option<usize> {
        let known = !id.is_init();
        known.then(|| self.of.get(id.thread())?.get(id.index()).copied()).flatten()
    }
}

fn edges(graph: &Graph<'_>, nodes: &Nodes) -> Vec<(usize, usize)> {
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut add = |from: Id, to: Id| {
        if let (Some(from), Some(to)) = (nodes.node(from), nodes.node(to))
            && from != to
        {
            edges.push((from, to));
        }
    };
    for (thread, events) in graph.threads.iter().enumerate() {
        for (index, event) in events.events.iter().enumerate() {
            let id = Id::new(thread, index);
            if index > 0 {
                add(Id::new(thread, index - 1), id);
            }
            if event.kind == Kind::Read {
                add(event.rf, id);
            }
        }
    }
    for place in &graph.places {
        for pair in place.co.windows(2) {
            add(pair[0], pair[1]);
        }
        for read in &place.reads {
            if let Some(next) = place.co.get(place.position(graph.event(*read).rf)) {
                add(*read, *next);
            }
        }
    }
    edges
}
