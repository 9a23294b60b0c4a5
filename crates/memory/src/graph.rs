//! All sets and relations of a model as one graph of operations.
//!
//! Running a model symbolically leaves its relations behind as nodes. Equal nodes are one
//! node, so each derived relation is computed once, however often the model mentions it.
//! Nodes are made from their operands, so every operand comes before the nodes that use it,
//! except in recursive definitions, which are tied through [`Group`]s.
//!
//! While nodes are made they are put into the form that is cheapest to compute: `[s]; r` and
//! `r & (s * t)` select rows and columns, what depends on neither `rf` nor `co` is kept
//! together (it is computed once for many executions), and `let rec x = r | (x; x)` is `r+`.

use std::collections::HashMap;

use crate::base::{Base, BaseRelation};
use crate::model::{Input, InputKind};
use crate::place::Place;

/// Position of a node in its graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a set or relation is made from others.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    NoEvents,
    AllEvents,
    SetInput(u32),
    SetUnion(Vec<NodeId>),
    SetIntersection(NodeId, NodeId),
    SetDifference(NodeId, NodeId),
    Domain(NodeId),
    Range(NodeId),
    NoPairs,
    RelationInput(u32),
    /// `[s]`
    Identity(NodeId),
    /// `s * t`
    Product(NodeId, NodeId),
    Union(Vec<NodeId>),
    Intersection(NodeId, NodeId),
    Difference(NodeId, NodeId),
    Sequence(NodeId, NodeId),
    Inverse(NodeId),
    Plus(NodeId),
    /// `[s]; r`
    StartingIn(NodeId, NodeId),
    /// `r; [s]`
    EndingIn(NodeId, NodeId),
    /// What a recursive definition calls itself.
    Unknown(u32, u32),
    /// What a recursive definition comes to.
    Solution(u32, u32),
}

/// Definitions that depend on each other.
#[derive(Clone, Debug)]
pub struct Group {
    pub kinds: Vec<InputKind>,
    pub unknowns: Vec<NodeId>,
    pub definitions: Vec<NodeId>,
    pub place: Place,
}

/// Which choices of an execution something depends on: none (only on its events), `rf`,
/// `co`, or both.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Depends(pub u8);

impl Depends {
    pub const STRUCTURE: Depends = Depends(0);
    pub const RF: Depends = Depends(1);
    pub const CO: Depends = Depends(2);
    pub const BOTH: Depends = Depends(3);

    pub fn and(self, other: Depends) -> Depends {
        Depends(self.0 | other.0)
    }

    pub fn meets(self, other: Depends) -> bool {
        self.0 & other.0 != 0
    }
}

#[derive(Clone, Default)]
pub(crate) struct Graph {
    /// How many parts all unions have together: they are flat, so that chains of them grow fast.
    pub parts_of_unions: usize,
    pub inputs: Vec<Input>,
    pub nodes: Vec<Node>,
    pub depends: Vec<Depends>,
    pub groups: Vec<Group>,
    known: HashMap<Node, NodeId>,
}

impl Graph {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub fn depends(&self, id: NodeId) -> Depends {
        self.depends[id.index()]
    }

    /// What a node is computed from.
    pub fn operands(&self, id: NodeId) -> Vec<NodeId> {
        match self.node(id) {
            Node::SetUnion(parts) | Node::Union(parts) => parts.clone(),
            Node::SetIntersection(a, b)
            | Node::SetDifference(a, b)
            | Node::Product(a, b)
            | Node::Intersection(a, b)
            | Node::Difference(a, b)
            | Node::Sequence(a, b)
            | Node::StartingIn(a, b)
            | Node::EndingIn(a, b) => vec![*a, *b],
            Node::Domain(a)
            | Node::Range(a)
            | Node::Identity(a)
            | Node::Inverse(a)
            | Node::Plus(a) => vec![*a],
            Node::Solution(group, _) => self.groups[*group as usize].definitions.clone(),
            Node::NoEvents
            | Node::AllEvents
            | Node::SetInput(_)
            | Node::NoPairs
            | Node::RelationInput(_)
            | Node::Unknown(..) => Vec::new(),
        }
    }

    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|input| input.name == name)
    }

    fn add(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.known.get(&node) {
            return *id;
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        let depends = match &node {
            Node::RelationInput(input) => match self.inputs[*input as usize].base() {
                Base::Relation(BaseRelation::ReadsFrom | BaseRelation::UnequalValues) => {
                    Depends::RF
                }
                Base::Relation(BaseRelation::Coherence) => Depends::CO,
                _ => Depends::STRUCTURE,
            },
            _ => self
                .operands(id)
                .iter()
                .fold(Depends::STRUCTURE, |all, part| all.and(self.depends(*part))),
        };
        self.depends.push(depends);
        self.known.insert(node, id);
        id
    }

    /// A base set or relation. The inputs are those asked for, in the order of first use.
    pub fn base(&mut self, name: &str, kind: InputKind) -> NodeId {
        let index = self.input(name).unwrap_or_else(|| {
            self.inputs.push(Input { name: name.to_string(), kind });
            self.inputs.len() - 1
        });
        self.add(match kind {
            InputKind::Set => Node::SetInput(index as u32),
            InputKind::Relation => Node::RelationInput(index as u32),
        })
    }

    pub fn no_events(&mut self) -> NodeId {
        self.add(Node::NoEvents)
    }

    pub fn all_events(&mut self) -> NodeId {
        self.add(Node::AllEvents)
    }

    pub fn no_pairs(&mut self) -> NodeId {
        self.add(Node::NoPairs)
    }

    pub fn set_union(&mut self, parts: &[NodeId]) -> NodeId {
        let mut flat = Vec::new();
        for part in parts {
            match self.node(*part) {
                Node::SetUnion(inner) => flat.extend(inner),
                Node::NoEvents => {}
                _ => flat.push(*part),
            }
        }
        flat.sort();
        flat.dedup();
        match flat[..] {
            [] => self.no_events(),
            [only] => only,
            _ if flat.iter().any(|part| *self.node(*part) == Node::AllEvents) => self.all_events(),
            _ => self.add(Node::SetUnion(flat)),
        }
    }

    pub fn set_intersection(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a).clone(), self.node(b).clone()) {
            (Node::AllEvents, _) => b,
            (_, Node::AllEvents) => a,
            _ if a == b => a,
            (Node::NoEvents, _) | (_, Node::NoEvents) => self.no_events(),
            _ => self.add(Node::SetIntersection(a.min(b), a.max(b))),
        }
    }

    pub fn set_difference(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a).clone(), self.node(b).clone()) {
            (_, Node::NoEvents) => a,
            (_, Node::AllEvents) | (Node::NoEvents, _) => self.no_events(),
            _ if a == b => self.no_events(),
            _ => self.add(Node::SetDifference(a, b)),
        }
    }

    pub fn domain(&mut self, relation: NodeId) -> NodeId {
        match self.node(relation).clone() {
            Node::NoPairs => self.no_events(),
            Node::Identity(set) => set,
            Node::Inverse(inner) => self.range(inner),
            _ => self.add(Node::Domain(relation)),
        }
    }

    pub fn range(&mut self, relation: NodeId) -> NodeId {
        match self.node(relation).clone() {
            Node::NoPairs => self.no_events(),
            Node::Identity(set) => set,
            Node::Inverse(inner) => self.domain(inner),
            _ => self.add(Node::Range(relation)),
        }
    }

    pub fn identity(&mut self, set: NodeId) -> NodeId {
        match self.node(set).clone() {
            Node::NoEvents => self.no_pairs(),
            _ => self.add(Node::Identity(set)),
        }
    }

    pub fn product(&mut self, from: NodeId, to: NodeId) -> NodeId {
        match (self.node(from).clone(), self.node(to).clone()) {
            (Node::NoEvents, _) | (_, Node::NoEvents) => self.no_pairs(),
            _ => self.add(Node::Product(from, to)),
        }
    }

    /// The parts of a union, without unions among them.
    pub fn union_parts(&self, id: NodeId) -> Vec<NodeId> {
        let mut flat = Vec::new();
        let mut left = vec![id];
        while let Some(part) = left.pop() {
            match self.node(part) {
                Node::Union(inner) => left.extend(inner),
                Node::NoPairs => {}
                _ => flat.push(part),
            }
        }
        flat.sort();
        flat.dedup();
        flat
    }

    /// Parts that depend on the same choices are united first.
    pub fn union(&mut self, parts: &[NodeId]) -> NodeId {
        let mut flat: Vec<NodeId> = parts.iter().flat_map(|part| self.union_parts(*part)).collect();
        flat.sort();
        flat.dedup();
        let mut together = Vec::new();
        for depends in [Depends::STRUCTURE, Depends::RF, Depends::CO, Depends::BOTH] {
            let (same, others) = flat.into_iter().partition(|part| self.depends(*part) == depends);
            flat = others;
            match same {
                _ if same.is_empty() => {}
                _ if depends == Depends::BOTH => together.extend::<Vec<NodeId>>(same),
                _ => together.push(self.plain_union(same)),
            }
        }
        self.plain_union(together)
    }

    fn plain_union(&mut self, parts: Vec<NodeId>) -> NodeId {
        match parts[..] {
            [] => self.no_pairs(),
            [only] => only,
            _ => {
                self.parts_of_unions += parts.len();
                self.add(Node::Union(parts))
            }
        }
    }

    pub fn intersection(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a).clone(), self.node(b).clone()) {
            _ if a == b => a,
            (Node::NoPairs, _) | (_, Node::NoPairs) => self.no_pairs(),
            (_, Node::Product(from, to)) => {
                let selected = self.starting_in(from, a);
                self.ending_in(selected, to)
            }
            (Node::Product(from, to), _) => {
                let selected = self.starting_in(from, b);
                self.ending_in(selected, to)
            }
            _ => self.add(Node::Intersection(a.min(b), a.max(b))),
        }
    }

    pub fn difference(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.node(a).clone(), self.node(b).clone()) {
            (_, Node::NoPairs) => a,
            (Node::NoPairs, _) => self.no_pairs(),
            _ if a == b => self.no_pairs(),
            _ => self.add(Node::Difference(a, b)),
        }
    }

    /// `[set]; relation`
    pub fn starting_in(&mut self, set: NodeId, relation: NodeId) -> NodeId {
        match (self.node(set).clone(), self.node(relation).clone()) {
            (Node::AllEvents, _) => relation,
            (Node::NoEvents, _) | (_, Node::NoPairs) => self.no_pairs(),
            (_, Node::StartingIn(inner, rest)) => {
                let both = self.set_intersection(set, inner);
                self.starting_in(both, rest)
            }
            (_, Node::EndingIn(rest, end)) => {
                let selected = self.starting_in(set, rest);
                self.ending_in(selected, end)
            }
            (_, Node::Identity(inner)) => {
                let both = self.set_intersection(set, inner);
                self.identity(both)
            }
            (_, Node::Product(from, to)) => {
                let both = self.set_intersection(set, from);
                self.product(both, to)
            }
            _ => self.add(Node::StartingIn(set, relation)),
        }
    }

    /// `relation; [set]`
    pub fn ending_in(&mut self, relation: NodeId, set: NodeId) -> NodeId {
        match (self.node(relation).clone(), self.node(set).clone()) {
            (_, Node::AllEvents) => relation,
            (Node::NoPairs, _) | (_, Node::NoEvents) => self.no_pairs(),
            (Node::EndingIn(rest, inner), _) => {
                let both = self.set_intersection(inner, set);
                self.ending_in(rest, both)
            }
            (Node::Identity(inner), _) => {
                let both = self.set_intersection(inner, set);
                self.identity(both)
            }
            (Node::Product(from, to), _) => {
                let both = self.set_intersection(to, set);
                self.product(from, both)
            }
            _ => self.add(Node::EndingIn(relation, set)),
        }
    }

    /// Sequences of more factors are not taken apart: repeated squares have exponentially many.
    const MANY_FACTORS: usize = 64;

    pub fn sequence(&mut self, parts: &[NodeId]) -> NodeId {
        let Some(factors) = self.factors(parts) else {
            return self.no_pairs();
        };
        let factors = self.select(factors);
        let factors = self.merge_alike(factors);
        let mut factors = factors.into_iter().rev();
        let Some(mut result) = factors.next() else {
            let all = self.all_events();
            return self.identity(all);
        };
        // From the right: each factor is then walked through just once.
        for factor in factors {
            result = self.add(Node::Sequence(factor, result));
        }
        if *self.node(result) == Node::NoPairs {
            return self.no_pairs();
        }
        result
    }

    /// The factors of a sequence; none if one is empty. Sequences among them that are the
    /// same for many executions are taken apart, so that their parts can join others; the
    /// rest stays, to be computed once for all who mention it.
    fn factors(&self, parts: &[NodeId]) -> Option<Vec<NodeId>> {
        let mut flat = Vec::new();
        let mut left: Vec<NodeId> = parts.iter().rev().copied().collect();
        while let Some(part) = left.pop() {
            match self.node(part) {
                Node::Sequence(a, b)
                    if self.depends(part) == Depends::STRUCTURE
                        && flat.len() + left.len() < Self::MANY_FACTORS =>
                {
                    left.extend([*b, *a]);
                }
                Node::NoPairs => return None,
                _ => flat.push(part),
            }
        }
        Some(flat)
    }

    /// Replaces `[s]` factors by selections on their neighbours.
    fn select(&mut self, factors: Vec<NodeId>) -> Vec<NodeId> {
        let mut selected: Vec<NodeId> = Vec::new();
        let mut pending: Option<NodeId> = None;
        for factor in factors {
            if let Node::Identity(set) = self.node(factor).clone() {
                match selected.pop() {
                    Some(last) => {
                        let last = self.ending_in(last, set);
                        selected.push(last);
                    }
                    None => {
                        pending = Some(match pending {
                            Some(before) => self.set_intersection(before, set),
                            None => set,
                        });
                    }
                }
                continue;
            }
            let factor = match pending.take() {
                Some(set) => self.starting_in(set, factor),
                None => factor,
            };
            selected.push(factor);
        }
        if let Some(set) = pending {
            selected.push(self.identity(set));
        }
        selected
    }

    /// Composes neighbours that depend on nothing but the events.
    fn merge_alike(&mut self, factors: Vec<NodeId>) -> Vec<NodeId> {
        let mut merged: Vec<NodeId> = Vec::new();
        for factor in factors.into_iter().rev() {
            match merged.last() {
                Some(next)
                    if self.depends(*next) == Depends::STRUCTURE
                        && self.depends(factor) == Depends::STRUCTURE =>
                {
                    let both = self.add(Node::Sequence(factor, *next));
                    merged.pop();
                    merged.push(both);
                }
                _ => merged.push(factor),
            }
        }
        merged.reverse();
        merged
    }

    pub fn inverse(&mut self, relation: NodeId) -> NodeId {
        match self.node(relation).clone() {
            Node::Inverse(inner) => inner,
            Node::Identity(_) | Node::NoPairs => relation,
            Node::Product(from, to) => self.product(to, from),
            _ => self.add(Node::Inverse(relation)),
        }
    }

    pub fn plus(&mut self, relation: NodeId) -> NodeId {
        match self.node(relation) {
            Node::Plus(_) | Node::Identity(_) | Node::NoPairs => relation,
            _ => self.add(Node::Plus(relation)),
        }
    }

    /// Opens a recursive group.
    pub fn unknowns(&mut self, kinds: Vec<InputKind>) -> Vec<NodeId> {
        let group = self.groups.len() as u32;
        let unknowns: Vec<NodeId> =
            (0..kinds.len() as u32).map(|index| self.add(Node::Unknown(group, index))).collect();
        self.groups.push(Group {
            kinds,
            unknowns: unknowns.clone(),
            definitions: Vec::new(),
            place: Place::default(),
        });
        unknowns
    }

    /// Closes the group of these unknowns.
    pub fn tie(
        &mut self,
        unknowns: &[NodeId],
        definitions: Vec<NodeId>,
        place: Place,
    ) -> Vec<NodeId> {
        if let ([unknown], [definition]) = (unknowns, &definitions[..])
            && let Some(closed) = self.as_closure(*unknown, *definition)
        {
            return vec![closed];
        }
        let Some(Node::Unknown(group, _)) = unknowns.first().map(|id| self.node(*id).clone())
        else {
            return definitions;
        };
        let count = definitions.len() as u32;
        let slot = &mut self.groups[group as usize];
        slot.definitions = definitions;
        slot.place = place;
        (0..count).map(|index| self.add(Node::Solution(group, index))).collect()
    }

    /// `x = r | (x; x)`, `x = r | (x; r)` and `x = r | (r; x)` are `r+`.
    fn as_closure(&mut self, unknown: NodeId, definition: NodeId) -> Option<NodeId> {
        let parts = self.union_parts(definition);
        let (steps, rest): (Vec<NodeId>, Vec<NodeId>) =
            parts.iter().partition(|part| self.mentions(**part, unknown));
        let base = self.union(&rest);
        let is_step = |step: &NodeId| match *self.node(*step) {
            Node::Sequence(a, b) if a == unknown => b == unknown || b == base,
            Node::Sequence(a, b) => a == base && b == unknown,
            _ => false,
        };
        if steps.is_empty() || !steps.iter().all(is_step) {
            return None;
        }
        Some(self.plus(base))
    }

    /// Whether a node is computed from another.
    fn mentions(&self, node: NodeId, other: NodeId) -> bool {
        let mut left = vec![node];
        let mut seen = std::collections::HashSet::new();
        while let Some(id) = left.pop() {
            if id == other {
                return true;
            }
            if id > other && seen.insert(id) {
                left.extend(self.operands(id));
            }
        }
        false
    }

    /// Whether the node is a set of events, not a relation.
    pub fn is_set(&self, id: NodeId) -> bool {
        match self.node(id) {
            Node::NoEvents
            | Node::AllEvents
            | Node::SetInput(_)
            | Node::SetUnion(_)
            | Node::SetIntersection(..)
            | Node::SetDifference(..)
            | Node::Domain(_)
            | Node::Range(_) => true,
            Node::Unknown(group, index) | Node::Solution(group, index) => {
                self.groups[*group as usize].kinds[*index as usize] == InputKind::Set
            }
            _ => false,
        }
    }
}
