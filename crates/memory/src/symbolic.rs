//! The algebra of nodes: running a model on it builds the model's graph.

use crate::event_set::EventSet;
use crate::graph::{Graph, NodeId};
use crate::interpret::Value;
use crate::interpret::algebra::{Algebra, Answer, Either, Operand};
use crate::model::InputKind;
use crate::place::Place;
use crate::relation::Relation;
use crate::syntax::ast::{Role, Test, TestKind};

/// Sets and relations that one model may define: every execution has a value for each.
const MAX_NODES: usize = 50_000;

/// Parts that the unions of one model may have together.
const MAX_PARTS: usize = 500_000;

#[derive(Default)]
pub(crate) struct Symbolic {
    pub graph: Graph,
    pub tests: Vec<NotedTest>,
}

/// A test as the model states it.
#[derive(Clone, Debug)]
pub(crate) struct NotedTest {
    pub name: Option<String>,
    pub kind: TestKind,
    pub negated: bool,
    pub role: Role,
    pub place: Place,
    /// None where the subject depends on more than relations between events can say.
    pub subject: Option<NodeId>,
}

impl Algebra for Symbolic {
    type Set = NodeId;
    type Relation = NodeId;

    fn base<'a>(&mut self, name: &str, kind: InputKind) -> Value<'a, Self> {
        let node = self.graph.base(name, kind);
        match kind {
            InputKind::Set => Value::Set(node),
            InputKind::Relation => Value::Relation(node),
        }
    }

    fn no_events(&mut self) -> NodeId {
        self.graph.no_events()
    }

    fn all_events(&mut self) -> NodeId {
        self.graph.all_events()
    }

    fn set_union(&mut self, parts: &[NodeId]) -> NodeId {
        self.graph.set_union(parts)
    }

    fn set_intersection(&mut self, a: &NodeId, b: &NodeId) -> NodeId {
        self.graph.set_intersection(*a, *b)
    }

    fn set_difference(&mut self, a: &NodeId, b: &NodeId) -> NodeId {
        self.graph.set_difference(*a, *b)
    }

    fn domain(&mut self, relation: &NodeId) -> NodeId {
        self.graph.domain(*relation)
    }

    fn range(&mut self, relation: &NodeId) -> NodeId {
        self.graph.range(*relation)
    }

    fn no_pairs(&mut self) -> NodeId {
        self.graph.no_pairs()
    }

    fn product(&mut self, from: &NodeId, to: &NodeId) -> NodeId {
        self.graph.product(*from, *to)
    }

    fn identity(&mut self, on: &NodeId) -> NodeId {
        self.graph.identity(*on)
    }

    fn union(&mut self, parts: &[NodeId]) -> NodeId {
        self.graph.union(parts)
    }

    fn sequence(&mut self, parts: &[NodeId]) -> NodeId {
        self.graph.sequence(parts)
    }

    fn intersection(&mut self, a: &NodeId, b: &NodeId) -> NodeId {
        self.graph.intersection(*a, *b)
    }

    fn difference(&mut self, a: &NodeId, b: &NodeId) -> NodeId {
        self.graph.difference(*a, *b)
    }

    fn inverse(&mut self, relation: &NodeId) -> NodeId {
        self.graph.inverse(*relation)
    }

    fn plus(&mut self, relation: &NodeId) -> NodeId {
        self.graph.plus(*relation)
    }

    fn bits_of_set<'s>(&self, _: &'s NodeId) -> Option<&'s EventSet> {
        None
    }

    fn bits_of_relation<'r>(&self, _: &'r NodeId) -> Option<&'r Relation> {
        None
    }

    /// Never asked for, as no bits are given out.
    fn set_from_bits(&mut self, _: EventSet) -> NodeId {
        self.graph.no_events()
    }

    /// Never asked for, as no bits are given out.
    fn relation_from_bits(&mut self, _: Relation) -> NodeId {
        self.graph.no_pairs()
    }

    fn events(&self) -> Option<usize> {
        None
    }

    fn is_too_large(&self) -> bool {
        self.graph.nodes.len() > MAX_NODES || self.graph.parts_of_unions > MAX_PARTS
    }

    fn unknowns(&mut self, start: &[Operand<Self>]) -> Option<Vec<Operand<Self>>> {
        let kinds = start.iter().map(|operand| match operand {
            Either::Set(_) => InputKind::Set,
            Either::Relation(_) => InputKind::Relation,
        });
        let kinds: Vec<InputKind> = kinds.collect();
        let unknowns = self.graph.unknowns(kinds);
        Some(unknowns.iter().zip(start).map(|(id, like)| alike(*id, like)).collect())
    }

    fn tie(
        &mut self,
        unknowns: &[Operand<Self>],
        definitions: Vec<Operand<Self>>,
        place: Place,
    ) -> Vec<Operand<Self>> {
        let stand_ins: Vec<NodeId> = unknowns.iter().map(node).collect();
        let bodies = definitions.iter().map(node).collect();
        let solutions = self.graph.tie(&stand_ins, bodies, place);
        solutions.iter().zip(unknowns).map(|(id, like)| alike(*id, like)).collect()
    }

    fn test(
        &mut self,
        test: &Test,
        label: Option<&str>,
        subject: Option<&Operand<Self>>,
    ) -> Answer {
        let name = test.name.as_deref().or(label);
        self.tests.push(NotedTest {
            name: name.map(str::to_string),
            kind: test.kind,
            negated: test.negated,
            role: test.role,
            place: test.place,
            subject: subject.map(node),
        });
        Answer::Noted
    }
}

fn node(operand: &Operand<Symbolic>) -> NodeId {
    match operand {
        Either::Set(id) | Either::Relation(id) => *id,
    }
}

fn alike(id: NodeId, like: &Operand<Symbolic>) -> Operand<Symbolic> {
    match like {
        Either::Set(_) => Either::Set(id),
        Either::Relation(_) => Either::Relation(id),
    }
}
