//! The theory of orders: follows the assignments of a search, and says which are impossible.
//!
//! The search reports literals as it assigns them, level by level, and takes whole levels back.
//! Edges of true literals are in the graph from the moment they are looked at. An edge that would
//! close a cycle is a conflict, whose clause names the literals of the cycle that has the fewest.
//! After each new edge, open edges from what it reaches to what reaches it are impossible; their
//! explanation is a path, sought only when somebody asks, among the edges that were there then.

use std::collections::VecDeque;

use crate::order::topology::{EdgeNumber, Topology};
use crate::{Edge, Literal};

/// A cycle of edges: not all of their literals are true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    pub order: u32,
    /// Positions in the order's list of edges, from the last edge of the cycle to its first.
    pub cycle: Vec<u32>,
}

/// An edge of some order.
#[derive(Clone, Copy, Debug)]
struct Known {
    order: u32,
    /// Its position in the list of its order.
    position: u32,
    from: u32,
    to: u32,
    when: Literal,
    /// When it was added to the graph, counted over all orders; `ABSENT` if it is not there.
    since: u32,
}

const ABSENT: u32 = u32::MAX;

/// An edge that the graph has ruled out.
#[derive(Clone, Copy, Debug)]
struct Ruling {
    edge: EdgeNumber,
    /// How many edges were present when it was ruled out.
    present: u32,
}

#[derive(Default, Debug)]
struct OrderState {
    graph: Topology,
    edges: u32,
    /// For each node, the edges that may become present and start there, or end there.
    leaving: Vec<Vec<EdgeNumber>>,
    arriving: Vec<Vec<EdgeNumber>>,
}

#[derive(Default, Debug)]
pub(crate) struct Theory {
    orders: Vec<OrderState>,
    edges: Vec<Known>,
    /// For each literal, the edges that are present where it is true.
    of_literal: Vec<Vec<EdgeNumber>>,
    /// Edges that are always present and not in the graph yet.
    fixed: Vec<EdgeNumber>,
    values: Vec<Option<bool>>,
    /// Literals as they were assigned, and how many of them there were when each level began.
    trail: Vec<Literal>,
    levels: Vec<usize>,
    /// How much of the trail the graph knows.
    done: usize,
    /// Present edges that may leave again, each with the length of the trail when it came.
    present: Vec<(EdgeNumber, usize)>,
    conflict: Option<Vec<Literal>>,
    ruled_out: VecDeque<Ruling>,
    /// Why a literal was ruled out, by its code.
    rulings: Vec<Option<Ruling>>,
    lemmas: Vec<Lemma>,
    pub keeps_lemmas: bool,
    pub lemma_count: u64,
    pub propagation_count: u64,
    /// An explanation was asked for that could not be found, or an edge was of no order: answers
    /// cannot be trusted.
    pub broken: bool,
    path: Vec<EdgeNumber>,
    after: Vec<u32>,
    before: Vec<u32>,
}

impl Theory {
    pub fn add_order(&mut self, nodes: usize) {
        let mut order = OrderState::default();
        order.grow(nodes);
        self.orders.push(order);
    }

    /// Edges must be added between searches, and [`Theory::refresh`] called before the next one.
    pub fn add_edge(&mut self, order: u32, edge: Edge) {
        let Edge { from, to, when } = edge;
        let number = self.edges.len() as EdgeNumber;
        let Some(state) = self.orders.get_mut(order as usize) else {
            self.broken = true;
            return;
        };
        state.grow(from.max(to) as usize + 1);
        let position = state.edges;
        state.edges += 1;
        self.edges.push(Known { order, position, from, to, when, since: ABSENT });
        if when == Literal::TRUE {
            self.fixed.push(number);
        } else if when != Literal::FALSE {
            state.leaving[from as usize].push(number);
            state.arriving[to as usize].push(number);
            if self.of_literal.len() <= when.code() {
                self.of_literal.resize_with(when.code() + 1, Vec::new);
            }
            self.of_literal[when.code()].push(number);
        }
    }

    /// Takes edges in that were added since the last search. False if edges that are always present
    /// form a cycle; the lemma for it has been noted then.
    pub fn refresh(&mut self) -> bool {
        self.withdraw(0);
        self.done = 0;
        self.conflict = None;
        self.ruled_out.clear();
        for number in std::mem::take(&mut self.fixed) {
            let edge = self.edges[number as usize];
            let state = &mut self.orders[edge.order as usize];
            let inserted =
                edge.from != edge.to && state.graph.insert(edge.from, edge.to, number).is_ok();
            if !inserted {
                self.close_cycle(number, ABSENT);
                return false;
            }
            self.edges[number as usize].since = 0;
        }
        true
    }

    pub fn assign(&mut self, literal: Literal) {
        let variable = literal.variable() as usize;
        if self.values.len() <= variable {
            self.values.resize(variable + 1, None);
        }
        // The search may report the same assignment twice.
        if self.values[variable].is_none() {
            self.values[variable] = Some(!literal.is_negated());
            self.trail.push(literal);
        }
    }

    pub fn new_level(&mut self) {
        self.levels.push(self.trail.len());
    }

    pub fn backtrack(&mut self, level: usize) {
        let Some(&length) = self.levels.get(level) else { return };
        self.levels.truncate(level);
        for literal in self.trail.drain(length..) {
            self.values[literal.variable() as usize] = None;
        }
        self.done = self.done.min(length);
        self.withdraw(length);
        self.conflict = None;
        let present = self.present.len() as u32;
        self.ruled_out.retain(|ruling| ruling.present <= present);
    }

    /// Removes the edges that came when the trail was longer than that.
    fn withdraw(&mut self, length: usize) {
        while let Some(&(number, came)) = self.present.last()
            && came >= length
        {
            self.present.pop();
            let edge = &mut self.edges[number as usize];
            edge.since = ABSENT;
            let (from, to) = (edge.from, edge.to);
            self.orders[edge.order as usize].graph.remove_last(from, to);
        }
    }

    /// A literal that must be true, given what was assigned.
    pub fn propagate(&mut self) -> Option<Literal> {
        self.catch_up();
        if self.conflict.is_some() {
            return None;
        }
        while let Some(ruling) = self.ruled_out.pop_front() {
            let consequence = !self.edges[ruling.edge as usize].when;
            if self.value(consequence).is_none() {
                if self.rulings.len() <= consequence.code() {
                    self.rulings.resize(consequence.code() + 1, None);
                }
                self.rulings[consequence.code()] = Some(ruling);
                self.propagation_count += 1;
                return Some(consequence);
            }
        }
        None
    }

    /// A clause that the assignment contradicts.
    pub fn conflict(&mut self) -> Option<Vec<Literal>> {
        self.catch_up();
        self.conflict.take()
    }

    /// The clause that made a literal true, which [`Theory::propagate`] has given.
    pub fn explain(&mut self, consequence: Literal) -> Vec<Literal> {
        match self.rulings.get(consequence.code()).copied().flatten() {
            Some(ruling) => self.close_cycle(ruling.edge, ruling.present),
            None => {
                self.broken = true;
                vec![consequence]
            }
        }
    }

    pub fn lemmas(&self) -> &[Lemma] {
        &self.lemmas
    }

    fn value(&self, literal: Literal) -> Option<bool> {
        let value = self.values.get(literal.variable() as usize).copied().flatten();
        value.map(|value| value != literal.is_negated())
    }

    /// Brings the graph up to the trail, or to the first conflict.
    fn catch_up(&mut self) {
        while self.conflict.is_none() && self.done < self.trail.len() {
            let literal = self.trail[self.done];
            let edges = self.of_literal.get(literal.code()).map_or(0, Vec::len);
            for index in 0..edges {
                let number = self.of_literal[literal.code()][index];
                if !self.insert(number) {
                    // The edges of this literal come again when it is looked at again.
                    self.withdraw(self.done);
                    return;
                }
            }
            self.done += 1;
        }
    }

    /// False if the edge closes a cycle.
    fn insert(&mut self, number: EdgeNumber) -> bool {
        let edge = self.edges[number as usize];
        let graph = &mut self.orders[edge.order as usize].graph;
        let is_new = edge.from == edge.to || !graph.reaches(edge.from, edge.to);
        if edge.from == edge.to || graph.insert(edge.from, edge.to, number).is_err() {
            let clause = self.close_cycle(number, ABSENT);
            self.conflict = Some(clause);
            return false;
        }
        self.present.push((number, self.done));
        self.edges[number as usize].since = self.present.len() as u32;
        if is_new {
            self.rule_out(number);
        }
        true
    }

    /// Notes the open edges that the new one makes impossible: from what it reaches to what reaches
    /// it. They are sought at the end that has fewer nodes.
    fn rule_out(&mut self, number: EdgeNumber) {
        let edge = self.edges[number as usize];
        let present = self.present.len() as u32;
        let state = &mut self.orders[edge.order as usize];
        state.graph.reached_from(edge.to, &mut self.after);
        state.graph.reaching(edge.from, &mut self.before);
        let few_before = self.before.len() < self.after.len();
        if few_before {
            // So that the graph remembers the other end.
            state.graph.reached_from(edge.to, &mut self.after);
        }
        let (nodes, candidates) = match few_before {
            true => (&self.before, &state.arriving),
            false => (&self.after, &state.leaving),
        };
        for &node in nodes {
            for &candidate in &candidates[node as usize] {
                let Known { from, to, when, .. } = self.edges[candidate as usize];
                let far = if few_before { from } else { to };
                let value = self.values.get(when.variable() as usize).copied().flatten();
                if value.is_none() && state.graph.was_seen(far) {
                    self.ruled_out.push_back(Ruling { edge: candidate, present });
                }
            }
        }
    }

    /// The clause of a cheapest cycle through an edge, all others of which were among the first
    /// that are present.
    fn close_cycle(&mut self, number: EdgeNumber, present: u32) -> Vec<Literal> {
        let edge = self.edges[number as usize];
        let root = self.levels.first().copied().unwrap_or(self.trail.len());
        let settled = self.present.partition_point(|&(_, came)| came < root) as u32;
        let edges = &self.edges;
        let cost = |other: EdgeNumber| {
            let since = edges[other as usize].since;
            (since <= present).then_some(u32::from(since > settled))
        };
        let graph = &mut self.orders[edge.order as usize].graph;
        self.path.clear();
        if edge.from != edge.to && !graph.path(edge.to, edge.from, cost, &mut self.path) {
            self.broken = true;
        }
        let mut cycle = vec![number];
        cycle.append(&mut self.path);
        self.lemma_of(&cycle)
    }

    /// A cycle among the edges that a whole model makes present, as a clause. Asks nothing of what
    /// the search has reported before.
    pub fn check(&mut self, model: impl Fn(Literal) -> bool) -> Option<Vec<Literal>> {
        let mut graphs: Vec<Topology> = Vec::new();
        for order in &self.orders {
            let mut graph = Topology::default();
            graph.grow(order.leaving.len());
            graphs.push(graph);
        }
        for (number, edge) in self.edges.iter().enumerate() {
            if !model(edge.when) {
                continue;
            }
            let number = number as EdgeNumber;
            let graph = &mut graphs[edge.order as usize];
            if edge.from == edge.to {
                return Some(self.lemma_of(&[number]));
            }
            if graph.insert(edge.from, edge.to, number).is_err() {
                let mut path = Vec::new();
                graph.path(edge.to, edge.from, |_| Some(1), &mut path);
                path.insert(0, number);
                return Some(self.lemma_of(&path));
            }
        }
        None
    }

    fn lemma_of(&mut self, cycle: &[EdgeNumber]) -> Vec<Literal> {
        let edges = cycle.iter().map(|&number| self.edges[number as usize]);
        self.lemma_count += 1;
        if self.keeps_lemmas
            && let Some(&first) = cycle.first()
        {
            let order = self.edges[first as usize].order;
            self.lemmas.push(Lemma { order, cycle: edges.clone().map(|e| e.position).collect() });
        }
        let literals = edges.map(|edge| !edge.when).filter(|&literal| literal != Literal::FALSE);
        let mut clause: Vec<Literal> = literals.collect();
        clause.sort_unstable();
        clause.dedup();
        clause
    }
}

impl OrderState {
    fn grow(&mut self, nodes: usize) {
        self.graph.grow(nodes);
        if self.leaving.len() < nodes {
            self.leaving.resize_with(nodes, Vec::new);
            self.arriving.resize_with(nodes, Vec::new);
        }
    }
}
