//! Tests in the form that is cheapest to decide.
//!
//! `r+` has a cycle where `r` has one, `r; s` is irreflexive where no pair of `r` is turned
//! round in `s`, and `empty a & (b; c)` needs no more than a look at the pairs of `a`.

use crate::graph::{Graph, Node, NodeId};
use crate::store::Store;
use crate::syntax::ast::TestKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Holds,
    Acyclic(NodeId),
    Irreflexive(NodeId),
    /// `irreflexive a; b`
    IrreflexiveSequence(NodeId, NodeId),
    Empty(NodeId),
    EmptySet(NodeId),
    /// `empty a & b`
    Disjoint(NodeId, NodeId),
    /// `empty a \ b`
    Included(NodeId, NodeId),
    /// `empty a & (b; c)`
    DisjointFromSequence(NodeId, NodeId, NodeId),
    /// All of them.
    All(Vec<Check>),
}

impl Check {
    pub fn new(graph: &mut Graph, kind: TestKind, subject: NodeId) -> Check {
        match kind {
            TestKind::Acyclic => Check::acyclic(graph, subject),
            TestKind::Irreflexive => Check::irreflexive(graph, subject),
            TestKind::Empty => Check::empty(graph, subject),
        }
    }

    fn all(checks: impl Iterator<Item = Check>) -> Check {
        let mut checks: Vec<Check> = checks.filter(|check| *check != Check::Holds).collect();
        match (checks.pop(), checks.is_empty()) {
            (None, _) => Check::Holds,
            (Some(only), true) => only,
            (Some(last), false) => {
                checks.push(last);
                Check::All(checks)
            }
        }
    }

    fn acyclic(graph: &mut Graph, subject: NodeId) -> Check {
        let parts = graph.union_parts(subject);
        let opened: Vec<NodeId> = parts
            .iter()
            .map(|part| match graph.node(*part) {
                Node::Plus(inner) => *inner,
                _ => *part,
            })
            .collect();
        let union = graph.union(&opened);
        match graph.node(union) {
            Node::NoPairs => Check::Holds,
            _ => Check::Acyclic(union),
        }
    }

    fn irreflexive(graph: &mut Graph, subject: NodeId) -> Check {
        let parts = graph.union_parts(subject);
        let checks: Vec<Check> = parts
            .into_iter()
            .map(|part| match *graph.node(part) {
                Node::Plus(inner) => Check::acyclic(graph, inner),
                Node::Sequence(a, b) => Check::IrreflexiveSequence(a, b),
                _ => Check::Irreflexive(part),
            })
            .collect();
        Check::all(checks.into_iter())
    }

    fn empty(graph: &Graph, subject: NodeId) -> Check {
        if graph.is_set(subject) {
            return match graph.node(subject) {
                Node::NoEvents => Check::Holds,
                _ => Check::EmptySet(subject),
            };
        }
        let parts = graph.union_parts(subject);
        Check::all(parts.into_iter().map(|part| match *graph.node(part) {
            Node::Intersection(a, b) => match (graph.node(a), graph.node(b)) {
                (_, Node::Sequence(c, d)) => Check::DisjointFromSequence(a, *c, *d),
                (Node::Sequence(c, d), _) => Check::DisjointFromSequence(b, *c, *d),
                _ => Check::Disjoint(a, b),
            },
            Node::Difference(a, b) => Check::Included(a, b),
            _ => Check::Empty(part),
        }))
    }

    /// The nodes whose values the check looks at.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Check::Holds => Vec::new(),
            Check::Acyclic(a) | Check::Irreflexive(a) | Check::Empty(a) | Check::EmptySet(a) => {
                vec![*a]
            }
            Check::IrreflexiveSequence(a, b) | Check::Disjoint(a, b) | Check::Included(a, b) => {
                vec![*a, *b]
            }
            Check::DisjointFromSequence(a, b, c) => vec![*a, *b, *c],
            Check::All(checks) => checks.iter().flat_map(Check::nodes).collect(),
        }
    }

    /// The answer, where the nodes are up to date.
    pub fn holds(&self, store: &Store) -> bool {
        match self {
            Check::Holds => true,
            Check::Acyclic(a) => store.relation(*a).is_acyclic(),
            Check::Irreflexive(a) => store.relation(*a).is_irreflexive(),
            Check::IrreflexiveSequence(a, b) => {
                !store.relation(*a).composition_meets_identity(store.relation(*b))
            }
            Check::Empty(a) => store.relation(*a).is_empty(),
            Check::EmptySet(a) => store.set(*a).is_empty(),
            Check::Disjoint(a, b) => !store.relation(*a).intersects(store.relation(*b)),
            Check::Included(a, b) => store.relation(*a).is_subset_of(store.relation(*b)),
            Check::DisjointFromSequence(a, b, c) => {
                let (left, right) = (store.relation(*b), store.relation(*c));
                !store.relation(*a).meets_composition(left, right)
            }
            Check::All(checks) => checks.iter().all(|check| check.holds(store)),
        }
    }

    /// Events that show why the check fails: for tests on cycles one cycle, the last event of
    /// which leads back to the first; otherwise the ends of a pair.
    pub fn counterexample(&self, store: &Store) -> Option<Vec<usize>> {
        let pair = |(from, to)| vec![from, to];
        match self {
            Check::Holds => None,
            Check::Acyclic(a) => store.relation(*a).find_cycle(),
            Check::Irreflexive(a) => {
                let relation = store.relation(*a);
                let reflexive = |event: &usize| relation.contains(*event, *event);
                (0..relation.events()).find(reflexive).map(|event| vec![event])
            }
            Check::IrreflexiveSequence(a, b) => {
                let back = store.relation(*b);
                let turned = |(from, to): &(usize, usize)| back.contains(*to, *from);
                let (from, to) = store.relation(*a).iter().find(turned)?;
                Some(if from == to { vec![from] } else { vec![from, to] })
            }
            Check::Empty(a) => store.relation(*a).iter().next().map(pair),
            Check::EmptySet(a) => store.set(*a).iter().next().map(|event| vec![event]),
            Check::Disjoint(a, b) => {
                let other = store.relation(*b);
                let both = |(from, to): &(usize, usize)| other.contains(*from, *to);
                store.relation(*a).iter().find(both).map(pair)
            }
            Check::Included(a, b) => {
                let other = store.relation(*b);
                let outside = |(from, to): &(usize, usize)| !other.contains(*from, *to);
                store.relation(*a).iter().find(outside).map(pair)
            }
            Check::DisjointFromSequence(a, b, c) => {
                let (left, right) = (store.relation(*b), store.relation(*c));
                store.relation(*a).iter().find_map(|(from, to)| {
                    let mut middles = left.successors(from);
                    let middle = middles.find(|middle| right.contains(*middle, to))?;
                    Some(vec![from, middle, to])
                })
            }
            Check::All(checks) => checks.iter().find_map(|check| check.counterexample(store)),
        }
    }
}
