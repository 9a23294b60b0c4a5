//! One round: the abstract reachability graph for one precision, until it is complete or something that
//! fails is reached.
//!
//! Orders of steps that make no difference are left out as in the search through states (see
//! `parallax-engine-states`, where it is shown why that loses nothing): at each node a set T of threads is
//! expanded; when all that follows is known, so is the set D of all accesses that somebody makes from
//! there on, and T grows by whoever makes one that conflicts with the next step of a thread in T. Nodes
//! on a cycle, which here means that a node is covered by one that is not complete yet, are expanded
//! in full, so that no thread is put off for ever. What is new here is that nodes stand for many
//! states: the sets are those of all edges that may be taken from any of them, a node that is
//! covered has no more accesses after it than the one that covers it, and a thread none of whose
//! edges is possible counts as one that waits for anybody. A thread that can go on in some of the states
//! may wait for ever in others, where nobody else would be looked at: so T begins with one
//! that goes on in all of them, and has everybody where there is none.
//!
//! Two accesses to the same bytes do not conflict if nothing is tracked there ([`Reduction::Aware`], after the
//! abstraction-aware partial-order reduction of the model checker Theta). Take a machine on which whoever loads from bytes that nothing is tracked of finds anything, and
//! whose stores there come to nothing. It can do all that the real one can. On it these accesses have
//! nothing to do with one another, so that the argument above holds for it; and an abstract state says nothing that
//! would be true of the real one alone. Objects may end, and whether they have is always tracked.

mod depth;
mod listed;

use std::sync::Arc;

use parallax_control::Control as Limits;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{Blocks, Edge, Ending, Halt, Touch, Way};
use crate::graph::{Graph, NodeId};
use crate::options::{Order, Reduction, Refinements, Tuning};
use crate::oracle::{Oracle, Unanswered};
use crate::places::PlaceId;
use crate::state::{Precision, State, Transfer};
use depth::Depth;
pub use depth::Kept;

/// How a round ends.
pub enum Round {
    /// Nothing that fails is reached.
    Complete,
    /// These steps lead to something that fails; there may be several ways.
    Reached(Vec<Vec<Taken>>),
    /// A place has too many values to track them all.
    Many(PlaceId),
}

/// A step on the way to a failure: an edge, and the state where it begins.
#[derive(Clone)]
pub struct Taken {
    pub state: State,
    pub edge: Arc<Edge>,
    /// How often more was tracked before the state was found.
    pub known: u32,
}

/// How often each value of a place was seen.
type Seen = FxHashMap<PlaceId, FxHashMap<u128, u32>>;

/// What it takes to judge an execution, in nanoseconds.
const JUDGEMENT: u64 = 25_000;

/// An access that a thread makes.
type Access = (u32, Touch);

pub struct Search<'s, 'o, 'p> {
    pub blocks: &'s mut Blocks<'p>,
    pub oracle: &'s mut Oracle<'o>,
    pub precision: &'s Precision,
    pub tuning: Tuning,
    pub limits: &'s Limits<'o>,
    /// Failures that are known to be possible, and not of interest.
    pub passed: &'s FxHashSet<Ending>,
    /// Places whose values are tracked whatever it takes.
    pub pinned: &'s FxHashSet<PlaceId>,
    pub graph: Graph,
    /// Bytes that something is tracked of, where nothing else makes a difference.
    tracked: Option<Vec<(u64, u64)>>,
    /// Whether states are covered by others. Without that the graph is a tree.
    pub covers: bool,
    seen: Seen,
    /// Ways to failures, where there is to be more than one.
    reached: Vec<Vec<Taken>>,
    /// Where the search stands, if it goes depth first.
    depth: Option<Depth>,
    /// For nodes of components that are not complete: how far back they reach.
    low: FxHashMap<NodeId, u32>,
    /// For the others: all accesses after them.
    after: FxHashMap<NodeId, Arc<FxHashSet<Access>>>,
}

impl<'s, 'o, 'p> Search<'s, 'o, 'p> {
    /// Values of one place, and of one that must be tracked.
    const MOST_VALUES: usize = 6;
    const MOST_PINNED: usize = 300;
    /// Failures that one round reaches.
    const MOST_REACHED: usize = 16;

    pub fn new(
        blocks: &'s mut Blocks<'p>,
        oracle: &'s mut Oracle<'o>,
        (precision, tuning): (&'s Precision, Tuning),
        limits: &'s Limits<'o>,
        passed: &'s FxHashSet<Ending>,
        pinned: &'s FxHashSet<PlaceId>,
    ) -> Search<'s, 'o, 'p> {
        let tracked =
            (tuning.reduction == Reduction::Aware).then(|| tracked_bytes(blocks, precision));
        Search {
            tracked,
            covers: true,
            blocks,
            oracle,
            precision,
            tuning,
            limits,
            passed,
            pinned,
            graph: Graph::default(),
            reached: Vec::new(),
            depth: None,
            seen: FxHashMap::default(),
            low: FxHashMap::default(),
            after: FxHashMap::default(),
        }
    }

    fn transfer(&mut self) -> Transfer<'_, 'o, 'p> {
        let most_values = self.tuning.most_values;
        let splits = self.tuning.domain.splits();
        Transfer {
            blocks: self.blocks,
            oracle: self.oracle,
            precision: self.precision,
            most_values,
            splits,
        }
    }

    pub fn run(&mut self) -> Result<Round, Halt> {
        let round = self.build();
        debug_assert!(self.graph.is_whole(), "the graph of a round is whole, however it ends");
        match round? {
            Round::Complete if !self.reached.is_empty() => {
                Ok(Round::Reached(std::mem::take(&mut self.reached)))
            }
            round => Ok(round),
        }
    }

    fn build(&mut self) -> Result<Round, Halt> {
        self.graph.known = self.known();
        if let Some(depth) = self.depth.take() {
            return self.go_on(depth);
        }
        let (control, writes) = self.blocks.start();
        let states = self.transfer().initial(&control, &writes)?;
        let mut roots = Vec::new();
        for state in states {
            if let (id, None) = self.graph.add(&control, state, None) {
                roots.push(id);
            }
        }
        match self.tuning.order {
            Order::Usual | Order::DepthFirst if self.blocks.graphs.is_none() => {
                self.go_on(Depth::new(roots))
            }
            order => self.listed(roots, order),
        }
    }

    fn go_on(&mut self, mut depth: Depth) -> Result<Round, Halt> {
        let round = self.depth_first(&mut depth)?;
        self.depth = Some(depth);
        Ok(round)
    }

    fn look_at_limits(&mut self) -> Result<(), Halt> {
        let outside = |stop| Halt::Unanswered(Unanswered(parallax_solver::Stop::Outside(stop)));
        self.limits.spend(20_000);
        match self.limits.reason() {
            Some(stop) => Err(outside(stop)),
            None => Ok(()),
        }
    }

    /// The edges of a thread at a node.
    fn edges(&mut self, node: NodeId, thread: u32) -> Result<Vec<Arc<Edge>>, Halt> {
        let (control, state) = {
            let node = self.graph.node(node);
            (node.control.clone(), node.state.clone())
        };
        self.blocks.waits_for_stores = false;
        if !Blocks::may_run(&control, thread) {
            return Ok(Vec::new());
        }
        let store = state.store(self.blocks);
        let facts = state.facts(self.blocks, self.precision);
        let way = Way::All { facts: &facts, tracked: &self.precision.values };
        let judged =
            |blocks: &Blocks<'_>| blocks.graphs.as_ref().map_or(0, |it| it.consistency.asked);
        let before = judged(self.blocks);
        let edges = self.blocks.edges(self.oracle, &control, &store, thread, way)?;
        self.limits.spend((judged(self.blocks) - before) * JUDGEMENT);
        Ok(edges.into_iter().map(Arc::new).collect())
    }

    /// The states after an edge. The error is a round that ends there.
    fn follow(
        &mut self,
        node: NodeId,
        edge: &Arc<Edge>,
    ) -> Result<Result<Vec<State>, Round>, Halt> {
        self.look_at_limits()?;
        if edge.ending != Ending::Goes && self.passed.contains(&edge.ending) {
            return Ok(Ok(Vec::new()));
        }
        let state = self.graph.node(node).state.clone();
        let facts = state.facts(self.blocks, self.precision);
        if edge.ending != Ending::Goes {
            let conditions: Vec<_> = facts.iter().chain(&edge.guard).copied().collect();
            if self.oracle.is_possible(&self.blocks.values.terms, &conditions)? {
                let mut path = self.graph.path(node);
                let known = self.graph.node(node).known;
                path.push(Taken { state, edge: edge.clone(), known });
                self.reached.push(path);
                let is_enough = self.tuning.refinement != Refinements::All
                    || self.reached.len() >= Self::MOST_REACHED;
                return Ok(match is_enough {
                    true => Err(Round::Reached(std::mem::take(&mut self.reached))),
                    false => Ok(Vec::new()),
                });
            }
            return Ok(Ok(Vec::new()));
        }
        let most_values = self.tuning.most_values;
        let splits = self.tuning.domain.splits();
        let Search { blocks, oracle, precision, graph, .. } = self;
        let mut transfer = Transfer { blocks, oracle, precision, most_values, splits };
        let states = transfer.post(graph.node(node), &facts, edge)?;
        for state in &states {
            if let Some(place) = self.see(state) {
                return Ok(Err(Round::Many(place)));
            }
        }
        Ok(Ok(states))
    }

    /// Notes the values of a state. A place is returned that has too many.
    fn see(&mut self, state: &State) -> Option<PlaceId> {
        let mut many = None;
        for (place, bits) in state.values.iter() {
            let seen = self.seen.entry(*place).or_default();
            *seen.entry(bits.unsigned()).or_default() += 1;
            let is_pinned = self.pinned.contains(place);
            let most = if is_pinned { Self::MOST_PINNED } else { Self::MOST_VALUES };
            if seen.len() > most {
                many = many.or(Some(*place));
            }
        }
        many
    }

    /// A state is no part of the graph any more.
    fn unsee(&mut self, state: &State) {
        for (place, bits) in state.values.iter() {
            let Some(seen) = self.seen.get_mut(place) else { continue };
            if let Some(count) = seen.get_mut(&bits.unsigned()) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    seen.remove(&bits.unsigned());
                }
            }
        }
    }
}

/// The bytes that a precision speaks of, in memory or on their way there.
fn tracked_bytes(blocks: &Blocks<'_>, precision: &Precision) -> Vec<(u64, u64)> {
    let predicates = precision.predicates.iter().flat_map(|it| it.places.iter().copied());
    let places = precision.values.iter().copied().chain(predicates);
    let mut bytes: Vec<(u64, u64)> =
        places.filter_map(|id| blocks.places.place(id).bytes()).collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}
