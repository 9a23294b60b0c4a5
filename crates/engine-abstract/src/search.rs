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

use std::collections::VecDeque;
use std::sync::Arc;

use parallax_control::Control as Limits;
use parallax_machine::system::MemoryKind;
use parallax_program::InstKind;
use parallax_solver::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::block::{Blocks, Edge, Ending, Halt, Touch, Way};
use crate::control::{Control, process};
use crate::graph::{Graph, NodeId};
use crate::options::{Order, Reduction, Tuning};
use crate::oracle::{Oracle, Unanswered};
use crate::places::PlaceId;
use crate::state::{Precision, State, Transfer};

/// How a round ends.
pub enum Round {
    /// Nothing that fails is reached.
    Complete,
    /// These edges lead to something that fails, each from a state.
    Reached(Vec<(State, Arc<Edge>)>),
    /// A place has too many values to track them all.
    Many(PlaceId),
}

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
    /// Whether some state is the end of an execution.
    pub has_ended: bool,
    /// How many are.
    pub ends: u64,
    pub has_blocked: bool,
    /// Bytes that something is tracked of, where nothing else makes a difference.
    tracked: Option<Vec<(u64, u64)>>,
    /// Whether states are covered by others. Without that the graph is a tree.
    pub covers: bool,
    seen: FxHashMap<PlaceId, FxHashSet<u128>>,
    /// For nodes of components that are not complete: how far back they reach.
    low: FxHashMap<NodeId, u32>,
    /// For the others: all accesses after them.
    after: FxHashMap<NodeId, Arc<FxHashSet<Access>>>,
}

/// A node on the path of a depth-first search.
struct Frame {
    node: NodeId,
    /// The nodes of the path and of incomplete components are numbered.
    number: u32,
    low: u32,
    is_full: bool,
    threads: Vec<Turn>,
    open: Vec<(NodeId, Arc<Edge>, State)>,
    accesses: FxHashSet<Access>,
}

/// What a thread can do at a node.
struct Turn {
    thread: u32,
    edges: Vec<Arc<Edge>>,
    /// What its step uses, on ways that it cannot go too: after steps of others it may.
    touches: FxHashSet<Touch>,
    /// Conditions by which it does not go on.
    held: Vec<Vec<Term>>,
    is_chosen: bool,
    is_done: bool,
    /// Whether none of its edges is possible.
    is_stuck: bool,
    /// Whether that is because its stores have not taken effect.
    waits_for_stores: bool,
}

impl<'s, 'o, 'p> Search<'s, 'o, 'p> {
    /// Values of one place, and of one that must be tracked.
    const MOST_VALUES: usize = 6;
    const MOST_PINNED: usize = 300;

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
            has_ended: false,
            ends: 0,
            has_blocked: false,
            seen: FxHashMap::default(),
            low: FxHashMap::default(),
            after: FxHashMap::default(),
        }
    }

    fn transfer(&mut self) -> Transfer<'_, 'o, 'p> {
        let most_values = self.tuning.most_values;
        Transfer {
            blocks: self.blocks,
            oracle: self.oracle,
            precision: self.precision,
            most_values,
        }
    }

    pub fn run(&mut self) -> Result<Round, Halt> {
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
                for root in roots {
                    if let Some(round) = self.depth_first(root)? {
                        return Ok(round);
                    }
                }
                Ok(Round::Complete)
            }
            order => self.listed(roots, order),
        }
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
                path.push((state, edge.clone()));
                return Ok(Err(Round::Reached(path)));
            }
            return Ok(Ok(Vec::new()));
        }
        let states = self.transfer().post(&state, &facts, edge)?;
        for state in &states {
            for (place, bits) in state.values.iter() {
                let seen = self.seen.entry(*place).or_default();
                seen.insert(bits.unsigned());
                let is_pinned = self.pinned.contains(place);
                let most = if is_pinned { Self::MOST_PINNED } else { Self::MOST_VALUES };
                if seen.len() > most {
                    return Ok(Err(Round::Many(*place)));
                }
            }
        }
        Ok(Ok(states))
    }

    /// Without a reduction, in any order.
    fn listed(&mut self, roots: Vec<NodeId>, order: Order) -> Result<Round, Halt> {
        let mut open: VecDeque<NodeId> = roots.into();
        let distances = Distances::of(self.blocks);
        while let Some(node) = self.take(&mut open, order, &distances) {
            let control = self.graph.node(node).control.clone();
            let mut goes = false;
            let mut expanded = Vec::new();
            for thread in control.turns() {
                let edges = self.edges(node, thread)?;
                let mut held = std::mem::take(&mut self.blocks.held);
                let is_stuck = edges.is_empty();
                expanded.push(thread);
                for edge in edges {
                    if self.passed.contains(&edge.ending) {
                        held.push(edge.guard.clone());
                    }
                    let states = match self.follow(node, &edge)? {
                        Ok(states) => states,
                        Err(round) => return Ok(round),
                    };
                    goes |= !states.is_empty();
                    for state in states {
                        let parent = Some((node, edge.clone()));
                        if let (id, None) = self.graph.add(&edge.control, state, parent) {
                            open.push_back(id);
                        }
                    }
                }
                if control.execution.is_some()
                    && !is_stuck
                    && self.is_enough(node, thread, &held)?
                {
                    break;
                }
            }
            self.graph.expand(node, expanded);
            self.note_end(&control, goes);
        }
        Ok(Round::Complete)
    }

    /// Whether the steps of one thread stand for those of all, where executions are graphs: it reads, and
    /// where it does not, it waits for what others write; or it goes on in all states.
    fn is_enough(&mut self, node: NodeId, thread: u32, held: &[Vec<Term>]) -> Result<bool, Halt> {
        let control = self.graph.node(node).control.clone();
        Ok(self.blocks.is_before_read(&control, thread) || self.goes_on(node, held)?)
    }

    fn take(
        &self,
        open: &mut VecDeque<NodeId>,
        order: Order,
        distances: &Distances,
    ) -> Option<NodeId> {
        match order {
            Order::Usual | Order::BreadthFirst => return open.pop_front(),
            Order::DepthFirst => return open.pop_back(),
            Order::ErrorFirst => {}
        }
        let nearest = open
            .iter()
            .enumerate()
            .min_by_key(|(place, id)| (distances.from(&self.graph.node(**id).control), *place));
        let place = nearest?.0;
        open.remove(place)
    }

    fn note_end(&mut self, control: &Control, goes: bool) {
        match control.running().next().is_none() {
            true => {
                self.has_ended = true;
                self.ends += 1;
            }
            false => self.has_blocked |= !goes,
        }
    }

    fn frame(&mut self, node: NodeId, number: u32) -> Result<Frame, Halt> {
        let control = self.graph.node(node).control.clone();
        let mut threads = Vec::new();
        let mut accesses = FxHashSet::default();
        for thread in control.processes() {
            let edges = self.edges(node, thread)?;
            let is_stuck = edges.is_empty();
            let used = edges.iter().flat_map(|edge| edge.touches.iter().copied());
            let touches: FxHashSet<Touch> = used.chain(self.blocks.tried.drain(..)).collect();
            let touches = self.that_matter(touches);
            if is_stuck {
                // It may be that it would not be, had it come earlier.
                accesses.extend(touches.iter().map(|touch| (thread, *touch)));
            }
            let mut held = std::mem::take(&mut self.blocks.held);
            // After what is wrong, and not asked about, nothing follows.
            let passed = edges.iter().filter(|edge| self.passed.contains(&edge.ending));
            held.extend(passed.map(|edge| edge.guard.clone()));
            let (is_chosen, is_done) = (false, false);
            let waits_for_stores = self.blocks.waits_for_stores;
            threads.push(Turn {
                thread,
                edges,
                touches,
                held,
                is_chosen,
                is_done,
                is_stuck,
                waits_for_stores,
            });
        }
        let last = self.graph.node(node).parent.as_ref().map(|(_, edge)| edge.thread);
        // What nobody notices first, then what the last thread does.
        let rank =
            |turn: &&mut Turn| (!turn.touches.is_empty(), Some(turn.thread) != last, turn.thread);
        let mut ready: Vec<&mut Turn> = threads.iter_mut().filter(|turn| !turn.is_stuck).collect();
        ready.sort_by_key(rank);
        let mut first = None;
        for turn in ready {
            if self.goes_on(node, &turn.held)? {
                first = Some(turn);
                break;
            }
        }
        let is_full = !self.tuning.reduction.leaves_out() || first.is_none();
        if let Some(first) = first {
            first.is_chosen = true;
        }
        Ok(Frame { node, number, low: number, is_full, threads, open: Vec::new(), accesses })
    }

    /// The accesses that may make a difference.
    fn that_matter(&self, touches: FxHashSet<Touch>) -> FxHashSet<Touch> {
        let Some(tracked) = &self.tracked else { return touches };
        let hits = |touch: &Touch| {
            tracked.iter().any(|(start, end)| touch.start < *end && *start < touch.end)
        };
        let matters =
            |touch: &Touch| *touch == Touch::ALL || self.blocks.may_end(touch.start) || hits(touch);
        touches.into_iter().filter(matters).collect()
    }

    /// Whether a thread goes on in all states of a node.
    fn goes_on(&mut self, node: NodeId, held: &[Vec<Term>]) -> Result<bool, Halt> {
        let state = self.graph.node(node).state.clone();
        let facts = state.facts(self.blocks, self.precision);
        for conditions in held {
            let conditions: Vec<Term> = facts.iter().chain(conditions).copied().collect();
            if self.oracle.is_possible(&self.blocks.values.terms, &conditions)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether more threads have to be expanded.
    fn grow(&self, frame: &mut Frame) -> bool {
        let is_stuck = |turn: &Turn| turn.is_chosen && turn.is_done && turn.is_stuck;
        let mut all = frame.is_full || frame.threads.iter().any(is_stuck);
        let mut wanted: FxHashSet<u32> = FxHashSet::default();
        let is_pso = self.blocks.memory == MemoryKind::Pso;
        for turn in frame.threads.iter().filter(|turn| turn.is_chosen) {
            if is_pso && process::is_buffer(turn.thread) {
                // What the thread stores next may overtake all that is in the buffer.
                wanted.insert(process::thread(turn.thread));
            }
            let touches = &turn.touches;
            let rivals = frame.accesses.iter().filter(|(thread, _)| *thread != turn.thread);
            for (thread, access) in rivals {
                if !wanted.contains(thread) && touches.iter().any(|it| it.conflicts(access)) {
                    wanted.insert(*thread);
                }
            }
        }
        for wanted in wanted {
            let turn = frame.threads.iter().find(|turn| turn.thread == wanted);
            // A buffer is filled by its thread, and a thread may wait for its buffer alone.
            let thread = match turn {
                Some(turn) if turn.is_stuck && turn.waits_for_stores => process::of_buffer(wanted),
                Some(_) => wanted,
                None => process::thread(wanted),
            };
            let turn = frame.threads.iter().find(|turn| turn.thread == thread);
            // Somebody has to help it first.
            all |= turn.is_none_or(|turn| turn.is_stuck);
            if let Some(turn) = frame.threads.iter_mut().find(|turn| turn.thread == thread) {
                turn.is_chosen = true;
            }
        }
        if all {
            frame.threads.iter_mut().for_each(|turn| turn.is_chosen = true);
        }
        frame.threads.iter().any(|turn| turn.is_chosen && !turn.is_done)
    }

    fn depth_first(&mut self, root: NodeId) -> Result<Option<Round>, Halt> {
        let mut stack = vec![self.frame(root, 0)?];
        let mut component = vec![root];
        self.low.insert(root, 0);
        let mut next = 1;
        while let Some(frame) = stack.last_mut() {
            if let Some((parent, edge, state)) = frame.open.pop() {
                let from = Some((parent, edge.clone()));
                let (id, covered_by) = match self.covers {
                    true => self.graph.add(&edge.control, state, from),
                    false => (self.graph.add_apart(&edge.control, state, from), None),
                };
                let Some(cover) = covered_by else {
                    self.low.insert(id, next);
                    component.push(id);
                    let frame = self.frame(id, next)?;
                    stack.push(frame);
                    next += 1;
                    continue;
                };
                if let Some(after) = self.after.get(&cover) {
                    frame.accesses.extend(after.iter().copied());
                } else {
                    // A cycle: nobody on it is put off.
                    let low = self.low.get(&cover).copied().unwrap_or(0);
                    frame.low = frame.low.min(low);
                    let on_cycle = stack.iter_mut().filter(|frame| frame.number >= low);
                    on_cycle.for_each(|frame| frame.is_full = true);
                }
                continue;
            }
            let turn = frame.threads.iter_mut().find(|turn| turn.is_chosen && !turn.is_done);
            if let Some(turn) = turn {
                turn.is_done = true;
                let (node, thread, edges) = (frame.node, turn.thread, turn.edges.clone());
                frame.accesses.extend(turn.touches.iter().map(|touch| (thread, *touch)));
                let mut open = Vec::new();
                for edge in edges {
                    match self.follow(node, &edge)? {
                        Ok(states) => {
                            open.extend(states.into_iter().map(|state| (node, edge.clone(), state)))
                        }
                        Err(round) => return Ok(Some(round)),
                    }
                }
                let Some(frame) = stack.last_mut() else { break };
                if let Some(turn) = frame.threads.iter_mut().find(|turn| turn.thread == thread) {
                    turn.is_stuck = open.is_empty();
                }
                open.reverse();
                frame.open = open;
                continue;
            }
            let Some(mut done) = stack.pop() else { break };
            if self.grow(&mut done) {
                stack.push(done);
                continue;
            }
            self.leave(done, stack.last_mut(), &mut component);
        }
        Ok(None)
    }

    /// All that follows a node is known, but for the component that it is in.
    fn leave(&mut self, done: Frame, parent: Option<&mut Frame>, component: &mut Vec<NodeId>) {
        let control = self.graph.node(done.node).control.clone();
        let goes = done.threads.iter().any(|turn| turn.is_done && !turn.is_stuck);
        let expanded = done.threads.iter().filter(|turn| turn.is_done);
        self.graph.expand(done.node, expanded.map(|turn| turn.thread).collect());
        self.note_end(&control, goes);
        self.low.insert(done.node, done.low);
        if let Some(parent) = parent {
            if done.low < done.number {
                parent.low = parent.low.min(done.low);
            }
            parent.accesses.extend(done.accesses.iter().copied());
        }
        if done.low == done.number {
            let after = Arc::new(done.accesses);
            while let Some(node) = component.pop() {
                self.low.remove(&node);
                self.after.insert(node, after.clone());
                if node == done.node {
                    break;
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

/// For each block, how many blocks are at least between it and something that may fail.
struct Distances(Vec<Vec<u32>>);

impl Distances {
    const FAR: u32 = 1 << 16;

    fn of(blocks: &Blocks<'_>) -> Distances {
        let functions = blocks.code.program.functions.iter().map(|function| {
            let may_fail = |block: &parallax_program::Block| {
                block.insts.iter().any(|it| matches!(it.kind, InstKind::Assert { .. }))
            };
            let start = |block| if may_fail(block) { 0 } else { Self::FAR };
            let mut distances: Vec<u32> = function.blocks.iter().map(start).collect();
            loop {
                let mut changes = false;
                for (number, block) in function.blocks.iter().enumerate() {
                    let next = match &block.terminator {
                        parallax_program::Terminator::Jump(to) => distances[to.0 as usize],
                        parallax_program::Terminator::Branch { then, otherwise, .. } => {
                            distances[then.0 as usize].min(distances[otherwise.0 as usize])
                        }
                        _ => Self::FAR,
                    };
                    if next + 1 < distances[number] {
                        distances[number] = next + 1;
                        changes = true;
                    }
                }
                if !changes {
                    return distances;
                }
            }
        });
        Distances(functions.collect())
    }

    fn from(&self, control: &Control) -> u32 {
        let running = control.running().filter_map(|thread| control.thread(thread));
        let site = |local: &crate::control::Local| {
            let distances = local
                .stack
                .iter()
                .map(|site| self.0[site.function.0 as usize][site.block.0 as usize]);
            distances.min().unwrap_or(Self::FAR)
        };
        running.map(site).sum()
    }
}
