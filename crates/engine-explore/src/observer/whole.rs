//! Whether nobody comes between the steps of an atomic section.
//!
//! Sections exclude one another by a lock, which does not keep out accesses that are in no section.
//! If all of those are ordered with what is inside, each section as a whole may still have to be
//! both before and after something else. Taken as one node, it is on a cycle then. And what is
//! stored in a section is seen only once it is over.

use crate::event::{Event, Id, Kind};
use crate::graph::Graph;

/// What the atomic sections of a graph are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sections {
    Whole,
    /// Somebody reads what one has stored that is not over. It may be whole in the end.
    SeenEarly,
    Broken,
}

pub fn sections(graph: &Graph<'_>) -> Sections {
    let nodes = Nodes::new(graph);
    match (is_whole(graph, &nodes), is_seen_early(graph, &nodes)) {
        (false, _) => Sections::Broken,
        (true, true) => Sections::SeenEarly,
        (true, false) => Sections::Whole,
    }
}

/// Whether no section is on a cycle of program order and communication. Where a model allows such
/// cycles this asks for too much.
fn is_whole(graph: &Graph<'_>, nodes: &Nodes) -> bool {
    let mut edges = edges(graph, nodes);
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

/// Whether another thread reads what a section has stored that is not over. One that nobody reads from
/// may as well not have begun.
fn is_seen_early(graph: &Graph<'_>, nodes: &Nodes) -> bool {
    let mut reads = graph.threads.iter().enumerate().flat_map(|(thread, own)| {
        let reads = own.events.iter().filter(|event| event.kind == Kind::Read);
        reads.map(move |read| (thread, read.rf))
    });
    reads.any(|(thread, source)| {
        let node = nodes.node(source).filter(|_| source.thread() != thread);
        node.is_some_and(|node| nodes.open.contains(&node))
    })
}

/// Which node each event is, by thread and place; whether a node is a section, and which are not over.
struct Nodes {
    of: Vec<Vec<usize>>,
    sections: Vec<bool>,
    open: Vec<usize>,
    count: usize,
}

impl Nodes {
    fn new(graph: &Graph<'_>) -> Nodes {
        let mut nodes = Nodes { of: Vec::new(), sections: Vec::new(), open: Vec::new(), count: 0 };
        for thread in &graph.threads {
            let mut own = Vec::with_capacity(thread.events.len());
            for event in &thread.events {
                if !event.in_section {
                    nodes.sections.push(event.marks.is_enter());
                }
                own.push(nodes.sections.len().saturating_sub(1));
            }
            if thread.events.last().is_some_and(Event::is_before_inside) {
                nodes.open.extend(own.last());
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
