//! What to compute, and when, to judge executions by a model.
//!
//! Each test of the model becomes a [`Check`] on nodes of its graph and the list of nodes to
//! bring up to date before. For executions whose `rf` and `co` are not complete yet there are
//! further checks, on *lower bounds*: relations that can only grow while `rf` and `co` grow.
//! A test that fails on its lower bound fails on every way to complete the execution.

use crate::check::Check;
use crate::graph::{Depends, Graph, Node, NodeId};
use crate::symbolic::NotedTest;
use crate::syntax::ast::Role;

pub(crate) struct Plan {
    /// One for each axiom of the model, in the model's order.
    pub tests: Vec<PlannedTest>,
    /// What each of them is about.
    pub subjects: Vec<NodeId>,
    /// The tests that can forbid an execution, cheapest first.
    pub order: Vec<usize>,
    /// Checks that may fail before both `rf` and `co` are complete, cheapest first.
    pub while_both_grow: Vec<PlannedTest>,
    /// The same for a complete `rf`.
    pub while_co_grows: Vec<PlannedTest>,
    pub recipes: Recipes,
    /// Whether the node mentions the unknowns of a group it is in.
    inner: Vec<bool>,
    observes_coherence_fully: bool,
}

/// How to compute nodes.
pub(crate) struct Recipes {
    /// For each node, what its value depends on directly; for solutions, what the group takes
    /// from outside.
    pub operands: Vec<Box<[NodeId]>>,
    /// For each group, the nodes to compute in each round.
    pub rounds: Vec<Vec<NodeId>>,
}

pub(crate) struct PlannedTest {
    pub axiom: usize,
    pub check: Check,
    pub negated: bool,
    pub role: Role,
    /// In an order in which they can be computed.
    pub needs: Vec<NodeId>,
}

impl Plan {
    /// None if some test cannot be said in terms of the graph.
    pub fn new(graph: &mut Graph, tests: &[NotedTest]) -> Option<Plan> {
        let subjects: Vec<NodeId> = tests.iter().map(|t| t.subject).collect::<Option<_>>()?;
        let both = LowerBounds::new(graph, Depends::BOTH);
        let co = LowerBounds::new(graph, Depends::CO);
        let bounded = |graph: &mut Graph, bounds: &LowerBounds| -> Vec<(usize, Check)> {
            let axioms = tests.iter().zip(&subjects).enumerate();
            axioms
                .filter(|(_, (test, _))| test.role == Role::Axiom && !test.negated)
                .map(|(axiom, (test, subject))| {
                    let bound = bounds.bound(graph, *subject);
                    (axiom, Check::new(graph, test.kind, bound))
                })
                .filter(|(_, check)| !matches!(check, Check::Holds))
                .collect()
        };
        let while_both_grow = bounded(graph, &both);
        let while_co_grows = bounded(graph, &co);
        let exact: Vec<Check> = tests
            .iter()
            .zip(&subjects)
            .map(|(test, subject)| Check::new(graph, test.kind, *subject))
            .collect();
        let observed = |(test, subject): (&NotedTest, &NodeId)| {
            let settled = test.role == Role::Axiom && !test.negated && co.is_exact(*subject);
            graph.depends(*subject).meets(Depends::CO) && !settled
        };
        let observes_coherence_fully = tests.iter().zip(&subjects).any(observed);
        let open = open_groups(graph);
        let mut plan = Plan {
            tests: Vec::new(),
            subjects: subjects.clone(),
            order: Vec::new(),
            while_both_grow: Vec::new(),
            while_co_grows: Vec::new(),
            recipes: Recipes::new(graph, &open),
            inner: open.iter().map(|groups| !groups.is_empty()).collect(),
            observes_coherence_fully,
        };
        let planned = |axiom: usize, check: Check| PlannedTest {
            axiom,
            needs: plan.needs(graph, &check.nodes()),
            check,
            negated: tests[axiom].negated,
            role: tests[axiom].role,
        };
        let cheapest_first = |checks: Vec<(usize, Check)>| {
            let checks = checks.into_iter().map(|(axiom, check)| planned(axiom, check));
            let mut checks: Vec<PlannedTest> = checks.collect();
            checks.sort_by_key(|test| cost(graph, test));
            checks
        };
        let while_both_grow = cheapest_first(while_both_grow);
        let while_co_grows = cheapest_first(while_co_grows);
        let exact: Vec<PlannedTest> =
            exact.into_iter().enumerate().map(|(axiom, check)| planned(axiom, check)).collect();
        let mut order: Vec<usize> =
            (0..tests.len()).filter(|index| tests[*index].role == Role::Axiom).collect();
        order.sort_by_key(|index| cost(graph, &exact[*index]));
        plan.while_both_grow = while_both_grow;
        plan.while_co_grows = while_co_grows;
        plan.tests = exact;
        plan.order = order;
        Some(plan)
    }

    pub fn observes_coherence_fully(&self) -> bool {
        self.observes_coherence_fully
    }

    /// The nodes to compute for some nodes, in order. What is inside recursive groups is left
    /// out: the groups compute it.
    pub fn needs(&self, graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
        let mut needed = reachable(graph, roots);
        needed.retain(|id| !self.inner.get(id.index()).copied().unwrap_or(false));
        needed
    }
}

/// Everything that some nodes are computed from, and they themselves, in order.
pub(crate) fn reachable(graph: &Graph, roots: &[NodeId]) -> Vec<NodeId> {
    let mut seen = vec![false; graph.nodes.len()];
    let mut left = roots.to_vec();
    while let Some(id) = left.pop() {
        if !std::mem::replace(&mut seen[id.index()], true) {
            left.extend(graph.operands(id));
        }
    }
    let ids = (0..graph.nodes.len() as u32).map(NodeId);
    ids.filter(|id| seen[id.index()]).collect()
}

/// How many nodes change with `rf` or `co`.
fn cost(graph: &Graph, test: &PlannedTest) -> usize {
    let changing = |id: &&NodeId| graph.depends(**id) != Depends::STRUCTURE;
    test.needs.iter().filter(changing).count()
}

/// For each node, the groups whose unknowns it mentions, innermost last.
fn open_groups(graph: &Graph) -> Vec<Vec<u32>> {
    let mut open: Vec<Vec<u32>> = Vec::with_capacity(graph.nodes.len());
    for (index, node) in graph.nodes.iter().enumerate() {
        let mut groups: Vec<u32> = match node {
            Node::Unknown(group, _) => vec![*group],
            _ => {
                let operands = graph.operands(NodeId(index as u32));
                operands.iter().flat_map(|id| open[id.index()].clone()).collect()
            }
        };
        if let Node::Solution(own, _) = node {
            groups.retain(|group| group != own);
        }
        groups.sort();
        groups.dedup();
        open.push(groups);
    }
    open
}

impl Recipes {
    fn new(graph: &Graph, open: &[Vec<u32>]) -> Recipes {
        let rounds = rounds(graph, open);
        let operands = (0..graph.nodes.len() as u32).map(NodeId).map(|id| {
            let Node::Solution(group, _) = graph.node(id) else {
                return graph.operands(id).into();
            };
            let definitions = &graph.groups[*group as usize].definitions;
            let is_inside = |id: &NodeId| !open[id.index()].is_empty();
            let inside = reachable(graph, definitions).into_iter().filter(is_inside);
            let mut outside: Vec<NodeId> = inside.flat_map(|id| graph.operands(id)).collect();
            outside.extend(definitions);
            outside.retain(|id| !is_inside(id));
            outside.sort();
            outside.dedup();
            outside.into()
        });
        Recipes { operands: operands.collect(), rounds }
    }
}

/// A node belongs to the rounds of the innermost group that it mentions.
fn rounds(graph: &Graph, open: &[Vec<u32>]) -> Vec<Vec<NodeId>> {
    let mut rounds = Vec::new();
    for (group, definition) in graph.groups.iter().enumerate() {
        let mut inside = reachable(graph, &definition.definitions);
        inside.retain(|id| {
            open[id.index()].last() == Some(&(group as u32))
                && !matches!(graph.node(*id), Node::Unknown(..))
        });
        rounds.push(inside);
    }
    rounds
}

/// Finds relations inside given ones that only grow while some of `rf` and `co` grow.
struct LowerBounds {
    growing: Depends,
    /// Whether a node only grows; of the nodes there were at the start.
    only_grows: Vec<bool>,
}

impl LowerBounds {
    fn new(graph: &Graph, growing: Depends) -> LowerBounds {
        let open = open_groups(graph);
        let mut only_grows: Vec<bool> = Vec::with_capacity(graph.nodes.len());
        for index in 0..graph.nodes.len() {
            let id = NodeId(index as u32);
            let grows = match graph.node(id) {
                Node::Difference(a, b) | Node::SetDifference(a, b) => {
                    only_grows[a.index()]
                        && !graph.depends(*b).meets(growing)
                        && open[b.index()].is_empty()
                }
                _ => graph.operands(id).iter().all(|part| only_grows[part.index()]),
            };
            only_grows.push(grows);
        }
        LowerBounds { growing, only_grows }
    }

    /// Whether the bound of a node is the node itself.
    fn is_exact(&self, id: NodeId) -> bool {
        self.only_grows.get(id.index()).copied().unwrap_or(false)
    }

    fn bound(&self, graph: &mut Graph, root: NodeId) -> NodeId {
        if self.is_exact(root) {
            return root;
        }
        let mut bounds: Vec<Option<NodeId>> = vec![None; graph.nodes.len()];
        for id in reachable(graph, &[root]) {
            let bound = if self.is_exact(id) { id } else { self.rebuilt(graph, id, &bounds) };
            bounds[id.index()] = Some(bound);
        }
        bounds[root.index()].unwrap_or(root)
    }

    /// The bound of a node from those of its operands.
    fn rebuilt(&self, graph: &mut Graph, id: NodeId, bounds: &[Option<NodeId>]) -> NodeId {
        let of = |id: NodeId| bounds.get(id.index()).copied().flatten().unwrap_or(id);
        let all = |parts: &[NodeId]| -> Vec<NodeId> { parts.iter().map(|p| of(*p)).collect() };
        match graph.node(id).clone() {
            Node::SetUnion(parts) => graph.set_union(&all(&parts)),
            Node::SetIntersection(a, b) => graph.set_intersection(of(a), of(b)),
            Node::SetDifference(a, b) if !graph.depends(b).meets(self.growing) => {
                graph.set_difference(of(a), b)
            }
            Node::Domain(a) => graph.domain(of(a)),
            Node::Range(a) => graph.range(of(a)),
            Node::Identity(a) => graph.identity(of(a)),
            Node::Product(a, b) => graph.product(of(a), of(b)),
            Node::Union(parts) => graph.union(&all(&parts)),
            Node::Intersection(a, b) => graph.intersection(of(a), of(b)),
            Node::Difference(a, b) if !graph.depends(b).meets(self.growing) => {
                graph.difference(of(a), b)
            }
            Node::Sequence(a, b) => graph.sequence(&[of(a), of(b)]),
            Node::Inverse(a) => graph.inverse(of(a)),
            Node::Plus(a) => graph.plus(of(a)),
            Node::StartingIn(a, b) => graph.starting_in(of(a), of(b)),
            Node::EndingIn(a, b) => graph.ending_in(of(a), of(b)),
            _ if graph.is_set(id) => graph.no_events(),
            _ => graph.no_pairs(),
        }
    }
}
