//! What a picture shows, without coordinates: named events in columns and rows, and arrows
//! between them, each with the relations it stands for.

use std::collections::{BTreeMap, HashMap, HashSet};

use parallax_verdict::{Event, EventKind, Execution};

use super::relations::{drawn, thread_of, unordered_neighbours};

pub struct Scene {
    /// Names of the threads.
    pub columns: Vec<String>,
    pub nodes: Vec<Node>,
    pub arrows: Vec<Arrow>,
    /// Neighbours in a column that are parts of one access.
    pub ties: Vec<(usize, usize)>,
    /// What the arrows stand for; only those that occur.
    pub relations: Vec<Relation>,
}

pub struct Node {
    /// `a`, `b` …; `init x` for an initial write.
    pub name: String,
    /// `W[rel] x=1`, `F[MFENCE]`.
    pub action: String,
    /// The instruction; may be empty.
    pub detail: String,
    pub kind: NodeKind,
    pub place: Cell,
    /// Whether it is what the picture is about.
    pub involved: bool,
    /// The number of its event, if it is one.
    event: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    Initial,
    Read,
    Write,
    Fence,
    /// Where a thread stands after its last event.
    Standing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// In the row above all threads.
    Initial,
    Thread {
        column: usize,
        row: usize,
    },
}

/// From one node to another, for one or more relations.
pub struct Arrow {
    pub from: usize,
    pub to: usize,
    /// Positions in [`Scene::relations`], at least one.
    pub relations: Vec<usize>,
}

pub struct Relation {
    pub name: String,
    pub style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    pub colour: &'static str,
    /// For SVG's `stroke-dasharray`; empty for a solid line.
    pub dash: &'static str,
    /// For the legend; empty for relations of the model.
    pub meaning: &'static str,
}

impl Node {
    /// `a: W[rel] x=1`
    pub fn label(&self) -> String {
        match self.kind {
            NodeKind::Initial | NodeKind::Standing => self.action.clone(),
            _ => format!("{}: {}", self.name, self.action),
        }
    }
}

impl Scene {
    pub fn new(execution: &Execution) -> Scene {
        let relations = drawn(execution);
        let mentioned: Vec<bool> = {
            let mut mentioned = vec![false; execution.events.len()];
            for (a, b) in relations.iter().flat_map(|relation| &relation.edges) {
                mentioned[*a as usize] = true;
                mentioned[*b as usize] = true;
            }
            mentioned
        };
        let (nodes, node_of) = nodes(execution, &mentioned);
        let mut arrows: BTreeMap<(bool, usize, usize), Vec<usize>> = BTreeMap::new();
        for (number, relation) in relations.iter().enumerate() {
            for (a, b) in &relation.edges {
                if let (Some(from), Some(to)) = (node_of[*a as usize], node_of[*b as usize]) {
                    // Program order has its own arrows, however events are related otherwise.
                    let key = (relation.name != "po", from, to);
                    arrows.entry(key).or_default().push(number);
                }
            }
        }
        let ties = unordered_neighbours(execution)
            .into_iter()
            .filter_map(|(a, b)| Some((node_of[a as usize]?, node_of[b as usize]?)))
            .collect();
        Scene {
            columns: execution.threads.clone(),
            ties,
            nodes,
            arrows: arrows
                .into_iter()
                .filter(|((_, from, to), _)| from != to)
                .map(|((_, from, to), relations)| Arrow { from, to, relations })
                .collect(),
            relations: relations
                .into_iter()
                .scan(0, |of_model, relation| {
                    let style = style(&relation.name, of_model);
                    let name = relation.name;
                    Some(Relation { name, style })
                })
                .collect(),
        }
    }

    /// `rf`, or `rf, ob` where the arrow stands for several.
    pub fn arrow_label(&self, arrow: &Arrow) -> String {
        let names = arrow.relations.iter().filter_map(|r| self.relations.get(*r));
        let names: Vec<&str> = names.map(|relation| relation.name.as_str()).collect();
        names.join(", ")
    }

    /// Marks the nodes of these events.
    pub fn highlight(&mut self, events: &[u32]) {
        for node in &mut self.nodes {
            node.involved = node.event.is_some_and(|event| events.contains(&event));
        }
    }

    /// Leaves out communication inside a thread, which its order shows well enough.
    pub fn between_threads(&mut self) {
        let column = |node: usize| match self.nodes[node].place {
            Cell::Thread { column, .. } => Some(column),
            Cell::Initial => None,
        };
        let communicates =
            |relation: &usize| ["rf", "co", "fr"].contains(&&*self.relations[*relation].name);
        for arrow in &mut self.arrows {
            if column(arrow.from) == column(arrow.to) {
                arrow.relations.retain(|relation| !communicates(relation));
            }
        }
        self.arrows.retain(|arrow| !arrow.relations.is_empty());
        let used: HashSet<usize> =
            self.arrows.iter().flat_map(|arrow| arrow.relations.iter().copied()).collect();
        let numbers: HashMap<usize, usize> =
            (0..self.relations.len()).filter(|relation| used.contains(relation)).zip(0..).collect();
        for relation in self.arrows.iter_mut().flat_map(|arrow| &mut arrow.relations) {
            *relation = numbers[relation];
        }
        let mut number = 0;
        self.relations.retain(|_| {
            number += 1;
            used.contains(&(number - 1))
        });
    }

    /// Says below the last event of a thread where it stands.
    pub fn end_with(&mut self, column: usize, action: &str, detail: &str) {
        let rows = self.nodes.iter().enumerate().filter_map(|(number, node)| match node.place {
            Cell::Thread { column: of, row } if of == column => Some((row, number)),
            _ => None,
        });
        let last = rows.max();
        let row = last.map_or(0, |(row, _)| row + 1);
        if let Some((_, from)) = last
            && let Some(po) = self.relations.iter().position(|relation| relation.name == "po")
        {
            self.arrows.push(Arrow { from, to: self.nodes.len(), relations: vec![po] });
        }
        self.nodes.push(Node {
            name: String::new(),
            action: action.to_string(),
            detail: detail.split_whitespace().collect::<Vec<_>>().join(" "),
            kind: NodeKind::Standing,
            place: Cell::Thread { column, row },
            involved: true,
            event: None,
        });
    }

    /// How many rows the longest thread has.
    pub fn rows(&self) -> usize {
        let rows = self.nodes.iter().map(|node| match node.place {
            Cell::Initial => 0,
            Cell::Thread { row, .. } => row + 1,
        });
        rows.max().unwrap_or(0)
    }
}

/// The nodes, and which node each event became. Initial writes that nothing refers to are
/// left out.
fn nodes(execution: &Execution, mentioned: &[bool]) -> (Vec<Node>, Vec<Option<usize>>) {
    let mut nodes = Vec::new();
    let mut node_of = Vec::with_capacity(execution.events.len());
    let mut heights = vec![0; execution.threads.len()];
    let mut letters = 0;
    for (number, event) in execution.events.iter().enumerate() {
        let column = thread_of(execution, number as u32).map(|thread| thread as usize);
        let place = match column {
            None if !mentioned[number] => None,
            None => Some(Cell::Initial),
            Some(column) => heights.get_mut(column).map(|height| {
                *height += 1;
                let row = *height - 1;
                Cell::Thread { column, row }
            }),
        };
        node_of.push(place.map(|_| nodes.len()));
        let Some(place) = place else { continue };
        nodes.push(node(number as u32, event, place, letters));
        letters += usize::from(column.is_some());
    }
    (nodes, node_of)
}

fn node(number: u32, event: &Event, place: Cell, letters: usize) -> Node {
    let (kind, sign, effect) = match &event.kind {
        EventKind::Read { location, shown, .. } => {
            (NodeKind::Read, "R", format!(" {location}={shown}"))
        }
        EventKind::Write { location, shown, .. } => {
            (NodeKind::Write, "W", format!(" {location}={shown}"))
        }
        EventKind::Fence => (NodeKind::Fence, "F", String::new()),
        EventKind::Alloc { name, .. } => (NodeKind::Fence, "alloc", format!(" {name}")),
        EventKind::Free { name, .. } => (NodeKind::Fence, "free", format!(" {name}")),
        EventKind::Choice { value } => {
            (NodeKind::Fence, "choose", format!(" {}", value.to_signed()))
        }
        EventKind::AtomicBegin => (NodeKind::Fence, "atomic begin", String::new()),
        EventKind::AtomicEnd => (NodeKind::Fence, "atomic end", String::new()),
    };
    if let (Cell::Initial, EventKind::Write { location, .. }) = (place, &event.kind) {
        return Node {
            name: format!("init {location}"),
            action: format!("init{effect}"),
            detail: String::new(),
            kind: NodeKind::Initial,
            place,
            involved: false,
            event: Some(number),
        };
    }
    let tags: Vec<&str> = event.tags.iter().map(|tag| tag.as_str()).collect();
    let tags = if tags.is_empty() { String::new() } else { format!("[{}]", tags.join(",")) };
    Node {
        name: letter(letters),
        action: format!("{sign}{tags}{effect}"),
        detail: event.text.split_whitespace().collect::<Vec<_>>().join(" "),
        kind,
        place,
        involved: false,
        event: Some(number),
    }
}

/// a … z, aa, ab …
fn letter(number: usize) -> String {
    let last = char::from(b'a' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        before => format!("{}{last}", letter(before - 1)),
    }
}

fn style(name: &str, of_model: &mut usize) -> Style {
    let (colour, dash, meaning) = match name {
        "po" => ("#3a3f47", "", "program order"),
        "rf" => ("#d0342c", "", "reads from"),
        "co" => ("#2463c4", "", "coherence"),
        "fr" => ("#d97706", "", "from read"),
        "rmw" => ("#7c5233", "6 3", "read-modify-write"),
        "addr" => ("#2f7d32", "2 3", "address dependency"),
        "data" => ("#00838f", "2 3", "data dependency"),
        "ctrl" => ("#7b3fb5", "2 3", "control dependency"),
        _ => {
            let palette = ["#c2188b", "#5d7f0d", "#3f51b5", "#00897b", "#8d6e00", "#6b7280"];
            let colour = palette[*of_model % palette.len()];
            *of_model += 1;
            (colour, "8 3 2 3", "")
        }
    };
    Style { colour, dash, meaning }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        let names: Vec<String> = [0, 25, 26, 51, 52, 701, 702].map(letter).to_vec();
        assert_eq!(names, ["a", "z", "aa", "az", "ba", "zz", "aaa"]);
    }
}
