//! The tests of a model as clauses and graphs.

use std::collections::BTreeMap;

use parallax_memory::{Axiom, Node, NodeId, Relation, Role, TestKind};
use parallax_solver::Literal;

use super::bounds::Facts;
use super::literals::{Relations, Side};
use crate::watch::Watch;

/// A test that cannot be said in clauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    pub axiom: String,
}

/// A way in which a test fails.
#[derive(Clone, Debug)]
pub struct Violation {
    pub when: Literal,
    /// The event or the pair of events that it is about; none where it is about all.
    pub events: Vec<usize>,
}

impl Relations<'_, '_> {
    /// Requires that an axiom holds. Of an acyclic one, `nodes` may make one of several events.
    pub fn require(
        &mut self,
        axiom: &Axiom,
        subject: NodeId,
        nodes: Option<&[usize]>,
    ) -> Result<(), Unsupported> {
        let done = match (axiom.negated, axiom.kind) {
            (false, TestKind::Acyclic) => {
                self.acyclic(subject, nodes);
                Some(())
            }
            (false, TestKind::Irreflexive) => {
                for event in 0..self.facts.events {
                    if self.watch.is_over() {
                        break;
                    }
                    self.refute(subject, event, event, true, &mut Vec::new());
                }
                Some(())
            }
            (false, TestKind::Empty) => {
                self.empty(subject);
                Some(())
            }
            (true, kind) => self.violations(kind, subject, Side::Under).map(|some| {
                let some: Vec<Literal> = some.iter().map(|violation| violation.when).collect();
                self.circuit.clause(&some);
            }),
        };
        self.supported(axiom, done)
    }

    /// The ways in which an allowed execution raises the flag of a test.
    pub fn flag(&mut self, axiom: &Axiom, subject: NodeId) -> Result<Vec<Violation>, Unsupported> {
        // A flag is raised where its test holds, the others where theirs does not.
        let on_violation = (axiom.role == Role::Flag) == axiom.negated;
        let side = if on_violation { Side::Under } else { Side::Over };
        let some = self.violations(axiom.kind, subject, side);
        let raised = some.map(|some| match on_violation {
            true => some,
            false => {
                let some: Vec<Literal> = some.iter().map(|violation| violation.when).collect();
                vec![Violation { when: !self.circuit.or(&some), events: Vec::new() }]
            }
        });
        self.supported(axiom, raised)
    }

    fn supported<T>(&mut self, axiom: &Axiom, result: Option<T>) -> Result<T, Unsupported> {
        let unsupported = Unsupported { axiom: axiom.name.clone() };
        if self.unsupported.take().is_some() {
            return Err(unsupported);
        }
        result.ok_or(unsupported)
    }

    /// The ways in which a test can fail; none where they cannot be listed.
    fn violations(
        &mut self,
        kind: TestKind,
        subject: NodeId,
        side: Side,
    ) -> Option<Vec<Violation>> {
        let mut all = Vec::new();
        if let Some((may, _)) = self.bounds.set(subject) {
            for event in may.clone().iter() {
                let inside = self.member(subject, event, side);
                let happens = self.executed[event];
                let when = self.circuit.and(&[inside, happens]);
                all.push(Violation { when, events: vec![event] });
            }
            return Some(all);
        }
        let (may, _) = self.bounds.relation(subject)?;
        let pairs: Vec<(usize, usize)> = may.iter().collect();
        if kind == TestKind::Acyclic {
            return None;
        }
        for (from, to) in pairs {
            if self.watch.is_over() {
                break;
            }
            if kind == TestKind::Empty || from == to {
                let inside = self.pair(subject, from, to, side);
                let happen = [self.executed[from], self.executed[to], inside];
                let when = self.circuit.and(&happen);
                all.push(Violation { when, events: vec![from, to] });
            }
        }
        Some(all)
    }

    fn empty(&mut self, subject: NodeId) {
        if let Some((may, _)) = self.bounds.set(subject) {
            for event in may.clone().iter() {
                let inside = self.member(subject, event, Side::Over);
                self.circuit.clause(&[!inside, !self.executed[event]]);
            }
        }
        let pairs: Vec<(usize, usize)> = match self.bounds.relation(subject) {
            Some((may, _)) => may.iter().collect(),
            None => Vec::new(),
        };
        for (from, to) in pairs {
            if self.watch.is_over() {
                return;
            }
            self.refute(subject, from, to, true, &mut Vec::new());
        }
    }

    /// Forbids a pair, where all of `context` is false. No literal is made for the pair itself, nor
    /// for those of one sequence that it may be in.
    fn refute(
        &mut self,
        id: NodeId,
        from: usize,
        to: usize,
        expands: bool,
        context: &mut Vec<Literal>,
    ) {
        if !self.bounds.may(id, from, to) {
            return;
        }
        let depth = context.len();
        match self.formula.node(id).clone() {
            Node::Union(parts) => {
                for part in parts {
                    self.refute(part, from, to, expands, context);
                }
            }
            Node::Intersection(a, b) => {
                let first = self.pair(a, from, to, Side::Over);
                context.push(!first);
                self.refute(b, from, to, expands, context);
            }
            Node::Difference(a, b) => {
                let taken = self.pair(b, from, to, Side::Under);
                context.push(taken);
                self.refute(a, from, to, expands, context);
            }
            Node::StartingIn(set, a) => {
                let inside = self.member(set, from, Side::Over);
                context.push(!inside);
                self.refute(a, from, to, expands, context);
            }
            Node::EndingIn(a, set) => {
                let inside = self.member(set, to, Side::Over);
                context.push(!inside);
                self.refute(a, from, to, expands, context);
            }
            Node::Sequence(a, b) if expands => {
                for middle in self.successors(a, from) {
                    if self.bounds.may(b, middle, to) {
                        let first = self.pair(a, from, middle, Side::Over);
                        context.push(!first);
                        let there = self.there(middle, from, to);
                        context.push(!there);
                        // The ends of the second part are the middle and the end.
                        context.push(!self.executed[from]);
                        self.refute(b, middle, to, false, context);
                        context.truncate(depth);
                    }
                }
            }
            _ => {
                let inside = self.pair(id, from, to, Side::Over);
                context.extend([!inside, !self.executed[from], !self.executed[to]]);
                self.circuit.clause(context);
            }
        }
        context.truncate(depth);
    }

    /// Adds a graph that must stay acyclic. Events that are one node follow one another.
    fn acyclic(&mut self, subject: NodeId, nodes: Option<&[usize]>) {
        let parts = self.parts(subject);
        let n = self.facts.events;
        let (mut may, mut must) = (Relation::new(n), Relation::new(n));
        for part in &parts {
            if let Some((more, sure)) = self.bounds.relation(*part) {
                may.union_with(more);
                must.union_with(sure);
            }
        }
        let spare = spare(&must, self.facts, self.watch);
        let mut reach = nodes.map_or_else(|| may.clone(), |nodes| contracted(&may, nodes));
        reach.close_while(|| !self.watch.is_over());
        let order = self.circuit.order(n);
        let node = |event: usize| nodes.map_or(event, |nodes| nodes[event]);
        let mut edges: BTreeMap<(usize, usize), Vec<Literal>> = BTreeMap::new();
        for (from, to) in may.iter() {
            if self.watch.is_over() {
                return;
            }
            let (first, last) = (node(from), node(to));
            let is_inner = first == last && from != to;
            // Only what can be part of a cycle matters.
            let matters = match is_inner {
                true => from > to,
                false => reach.contains(last, first) && !spare.contains(from, to),
            };
            if !matters {
                continue;
            }
            // One edge whatever the reason: each combination of reasons would be a cycle to learn.
            let inside = match must.contains(from, to) {
                true => Literal::TRUE,
                false => {
                    let pair = |part: &NodeId| self.pair(*part, from, to, Side::Over);
                    let reasons: Vec<Literal> = parts.iter().map(pair).collect();
                    self.circuit.or(&reasons)
                }
            };
            let when = self.circuit.and(&[inside, self.executed[from], self.executed[to]]);
            match nodes {
                None => self.add_edge(order, from, to, when),
                Some(_) => edges.entry((first, last)).or_default().push(when),
            }
        }
        for ((first, last), ways) in edges {
            let when = self.circuit.or(&ways);
            self.add_edge(order, first, last, when);
        }
    }

    fn add_edge(&mut self, order: parallax_solver::Order, from: usize, to: usize, when: Literal) {
        match from == to {
            true => self.circuit.clause(&[!when]),
            false => self.circuit.edge(order, from, to, when),
        }
    }

    /// Relations whose union has a cycle where the subject has one.
    fn parts(&self, subject: NodeId) -> Vec<NodeId> {
        let mut parts = Vec::new();
        let mut left = vec![subject];
        while let Some(id) = left.pop() {
            match self.formula.node(id) {
                Node::Union(inner) => left.extend(inner),
                Node::Plus(inner) => left.push(*inner),
                _ => parts.push(id),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts
    }
}

/// The pairs of a relation as those of nodes.
fn contracted(relation: &Relation, nodes: &[usize]) -> Relation {
    let mut result = Relation::new(nodes.len());
    for (from, to) in relation.iter() {
        if from == to || nodes[from] != nodes[to] {
            result.add(nodes[from], nodes[to]);
        }
    }
    result
}

/// Sure pairs that are a detour of others anyway.
pub fn spare(must: &Relation, facts: &Facts, watch: &Watch<'_>) -> Relation {
    let goes_on = || !watch.is_over();
    let n = facts.events;
    let mut spare = Relation::new(n);
    if !must.is_acyclic() {
        return spare;
    }
    let mut brings = must.clone();
    brings.intersect_with(&facts.implies);
    brings.compose_while(must, &mut spare, goes_on);
    let mut brought = must.clone();
    brought.intersect_with(&facts.implied);
    let mut more = Relation::new(n);
    must.compose_while(&brought, &mut more, goes_on);
    spare.union_with(&more);
    spare.intersect_with(must);
    spare
}
