//! Load buffering, and what is left of executions when events are taken away: two things that searches
//! which put executions together event by event ask of a model's text.
//!
//! Such a search adds events in an order of program order and reads-from. It finds all executions only
//! if the model forbids cycles of the two, and may judge the parts only if a part of an execution that
//! is allowed is allowed as well.

use crate::base::{Base, BaseRelation, MemberKind};
use crate::checker::Checker;
use crate::graph::{Graph, Node, NodeId};
use crate::model::{InputId, InputKind, Model};
use crate::sketch::{Drawn, Sketch};
use crate::syntax::ast::TestKind;

impl Model {
    /// Tags with which two threads, each of which reads what the other writes later, are allowed.
    pub fn load_buffering(&self) -> Option<String> {
        let tags = self.inputs().iter().filter_map(|input| match input.base() {
            Base::Tagged(tag) => Some(tag),
            Base::Set(_) | Base::Relation(_) | Base::Empty => None,
        });
        let tags: Vec<&str> = tags.collect();
        let mut kinds: Vec<Vec<&str>> = vec![vec![], vec!["A"], vec!["NA"]];
        kinds.extend(tags.iter().map(|tag| vec![*tag]));
        kinds.extend(tags.iter().map(|tag| vec!["A", *tag]));
        for first in &kinds {
            for second in &kinds {
                if shape(self, [first, second]).is_allowed() {
                    let mut names: Vec<&str> = first.iter().chain(second).copied().collect();
                    names.sort_unstable();
                    names.dedup();
                    return Some(names.join(", "));
                }
            }
        }
        None
    }

    /// An axiom that forbids cycles of an order that all reads from other threads are in.
    pub fn forbids_ordered_buffering(&self) -> Option<usize> {
        let mut checker = shape(self, [&vec![], &vec![]]);
        let axioms = self.axioms().iter().enumerate();
        let mut acyclic = axioms.filter(|(_, axiom)| {
            axiom.kind == TestKind::Acyclic && !axiom.negated && !axiom.is_flag()
        });
        acyclic.find_map(|(number, _)| {
            let order = checker.subject(number)?;
            (order.contains(3, 4) && order.contains(5, 2)).then_some(number)
        })
    }

    /// Whether an execution that the axioms allow is still allowed when any of its events are taken
    /// away, and what reads have read with them. The name of an axiom of which that is not known, if
    /// there is one.
    ///
    /// All operators but difference only ever relate more where there is more. What is subtracted must
    /// not depend on third events: `po \ loc` is about two events alone, `po \ (po; po)` is not.
    pub fn not_monotone(&self) -> Option<&str> {
        let Ok(formula) = self.formula() else { return Some("with") };
        let graph = self.graph();
        let steady = steady(graph);
        for (axiom, subject) in formula.tests() {
            if axiom.is_flag() {
                continue;
            }
            if axiom.negated || !grows(graph, &steady, subject) {
                return Some(&axiom.name);
            }
        }
        None
    }
}

impl Model {
    /// Whether the axioms ask who does something: whether two events are of one thread, or that they are
    /// not in program order. If not, a write may stand for itself when nothing is known of its thread.
    pub fn sees_threads(&self) -> bool {
        let Ok(formula) = self.formula() else { return true };
        let graph = self.graph();
        let is = |id: NodeId, names: &[BaseRelation]| match graph.node(id) {
            Node::RelationInput(input) => {
                let base = graph.inputs[*input as usize].base();
                matches!(base, Base::Relation(base) if names.contains(&base))
            }
            _ => false,
        };
        let sides = [BaseRelation::Internal, BaseRelation::External];
        let order = [BaseRelation::ProgramOrder];
        let tests = formula.tests().filter(|(axiom, _)| !axiom.is_flag());
        let all: Vec<NodeId> = tests.flat_map(|(_, subject)| below(graph, subject)).collect();
        let subtracts_order = |id: &NodeId| match graph.node(*id) {
            Node::SetDifference(_, b) | Node::Difference(_, b) => {
                below(graph, *b).into_iter().any(|id| is(id, &order))
            }
            _ => false,
        };
        all.iter().any(|id| is(*id, &sides)) || all.iter().any(subtracts_order)
    }
}

/// A node, and all that it is made of.
fn below(graph: &Graph, id: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let (mut open, mut all) = (vec![id], Vec::new());
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            all.push(id);
            open.extend(graph.operands(id));
        }
    }
    all
}

/// Of each node, whether what it relates depends on the related events alone.
fn steady(graph: &Graph) -> Vec<bool> {
    let mut steady: Vec<bool> = Vec::with_capacity(graph.nodes.len());
    for node in &graph.nodes {
        let is = |id: &NodeId| steady.get(id.index()).copied().unwrap_or(false);
        let found = match node {
            Node::NoEvents | Node::AllEvents | Node::SetInput(_) | Node::NoPairs => true,
            // What a read reads, and which writes are ordered, is known of a pair once it is there.
            Node::RelationInput(_) => true,
            Node::SetUnion(parts) | Node::Union(parts) => parts.iter().all(is),
            Node::SetIntersection(a, b)
            | Node::SetDifference(a, b)
            | Node::Product(a, b)
            | Node::Intersection(a, b)
            | Node::Difference(a, b)
            | Node::StartingIn(a, b)
            | Node::EndingIn(a, b) => is(a) && is(b),
            Node::Identity(a) | Node::Inverse(a) => is(a),
            Node::Domain(_) | Node::Range(_) | Node::Sequence(..) | Node::Plus(_) => false,
            Node::Unknown(..) | Node::Solution(..) => false,
        };
        steady.push(found);
    }
    steady
}

/// Whether a node, and all that it is made of, relates no less where there are more events.
fn grows(graph: &Graph, steady: &[bool], id: NodeId) -> bool {
    let mut seen = vec![false; graph.nodes.len()];
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.index()], true) || steady[id.index()] {
            continue;
        }
        match graph.node(id) {
            Node::SetDifference(a, b) | Node::Difference(a, b) => {
                if !steady[b.index()] {
                    return false;
                }
                open.push(*a);
            }
            _ => open.extend(graph.operands(id)),
        }
    }
    true
}

/// Initial writes 0 (x) and 1 (y); then `r x; w y` and `r y; w x`, events 2 to 5, where each read
/// reads the write of the other thread.
fn shape<'m>(model: &'m Model, tags: [&Vec<&str>; 2]) -> Checker<'m> {
    const X: u32 = 0;
    const Y: u32 = 1;
    let thread = |number: u32, reads: u32, writes: u32| {
        let tags = tags[number as usize];
        let read = Drawn::access(number, MemberKind::Read, reads).tagged(tags);
        [read, Drawn::access(number, MemberKind::Write, writes).tagged(tags)]
    };
    let initial = [Drawn::initial(X), Drawn::initial(Y)];
    let shape = Sketch {
        events: [initial, thread(0, X, Y), thread(1, Y, X)].concat(),
        rf: vec![(3, 4), (5, 2)],
        co: vec![(0, 5), (1, 3)],
    };
    let mut checker = Checker::new(model);
    checker.begin(shape.events.len());
    for (index, input) in model.inputs().iter().enumerate() {
        let id = InputId(index);
        match input.kind {
            InputKind::Set => checker.set_mut(id).copy_from(&shape.set(input)),
            InputKind::Relation => checker.relation_mut(id).copy_from(&shape.relation(input)),
        }
    }
    checker.rf_changed();
    checker.co_changed();
    checker.structure_changed();
    checker.set_rf_complete(true);
    checker
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Model {
        Model::parse("mine", text, &|_| None).expect("a right model")
    }

    #[test]
    fn parts_of_executions_are_allowed() {
        for name in ["sc", "tso", "pso", "ra", "rc11", "rc20", "rc11-mca"] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            assert_eq!((name, model.not_monotone()), (name, None));
        }
        assert_eq!(of("mine\nacyclic (po \\ loc) | rf\n").not_monotone(), None);
    }

    #[test]
    fn what_third_events_take_away_is_noticed() {
        let next = of("mine\nlet next = po \\ (po; po)\nacyclic next | rf as adjacent\n");
        assert_eq!(next.not_monotone(), Some("adjacent"));
        let some = of("mine\n~empty rf as communicates\n");
        assert_eq!(some.not_monotone(), Some("communicates"));
    }

    #[test]
    fn some_models_ask_for_threads() {
        for (name, sees) in [("sc", true), ("tso", true), ("rc11", false), ("ra", false)] {
            let model = Model::builtin(name).expect("a model").expect("a right model");
            assert_eq!((name, model.sees_threads()), (name, sees));
        }
        assert!(of("mine\nacyclic (co \\ po) | rf\n").sees_threads());
    }

    #[test]
    fn load_buffering_is_seen() {
        assert_eq!(of("mine\nacyclic po | rf\n").load_buffering(), None);
        assert!(of("mine\nacyclic po-loc | rf | co | fr\n").load_buffering().is_some());
    }
}
