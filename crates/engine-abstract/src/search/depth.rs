//! Depth first, with a reduction: which threads are expanded at a node, and when more have to be.
//!
//! What is complete when a failure is reached that is none stays for the next round (lazy abstraction: T. Henzinger, R. Jhala,
//! R. Majumdar, G. Sutre, POPL 2002). Nodes are numbered in the order in which they are found, so that all
//! after the first one on the path whose state has to be another are those below it, and these alone
//! are made again. Those before it know less than they might, which loses nothing: all that may
//! follow them is there, or still to be looked at. Nobody before it is covered by anybody after it.
//!
//! Where other bytes are tracked than before, other accesses conflict. What is complete has been shown to be
//! safe on a machine that can do more than the one of now (see [`super`]), and remains so; all its accesses are
//! remembered, not only those that mattered. Nodes on the stack decide by what is tracked when they are left.
//! What is neither complete nor on the stack has decided already, and has to go.

use std::collections::VecDeque;
use std::sync::Arc;

use parallax_machine::system::MemoryKind;
use parallax_solver::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Access, Round, Search};
use crate::block::{Edge, Halt, Touch};
use crate::control::process;
use crate::graph::{Fate, Graph, NodeId};
use crate::state::State;

/// What a round leaves to the next one.
pub struct Kept {
    graph: Graph,
    depth: Depth,
    low: FxHashMap<NodeId, u32>,
    after: FxHashMap<NodeId, Arc<FxHashSet<Access>>>,
    seen: super::Seen,
    tracked: Option<Vec<(u64, u64)>>,
}

/// Where a depth-first search stands.
#[derive(Default)]
pub(super) struct Depth {
    roots: VecDeque<NodeId>,
    stack: Vec<Frame>,
    component: Vec<NodeId>,
    next: u32,
}

impl Depth {
    pub fn new(roots: Vec<NodeId>) -> Depth {
        Depth { roots: roots.into(), ..Depth::default() }
    }

    /// The last frame, up to that one, from which on all nodes have to go so that those of each
    /// component that is not complete are on the stack.
    fn without_open_components(&self, at: usize) -> usize {
        let stack = &self.stack[..self.stack.len().min(at + 1)];
        let is_left = |id: &&NodeId| stack.binary_search_by_key(*id, |frame| frame.node).is_err();
        match self.component.iter().find(is_left) {
            Some(left) => stack.partition_point(|frame| frame.node < *left).saturating_sub(1),
            None => at,
        }
    }
}

/// A state that is to be looked at.
struct Open {
    node: NodeId,
    edge: Arc<Edge>,
    state: State,
    /// How often more was tracked before it was found.
    known: u32,
}

/// A node on the path of a depth-first search.
struct Frame {
    node: NodeId,
    /// The nodes of the path and of incomplete components are numbered.
    number: u32,
    low: u32,
    is_full: bool,
    threads: Vec<Turn>,
    open: Vec<Open>,
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

impl Search<'_, '_, '_> {
    /// How often more was tracked.
    pub(super) fn known(&self) -> u32 {
        self.precision.changes
    }

    /// A state was found when less was tracked: what is it now?
    fn look_again(&mut self, frame: &mut Frame, open: Open) -> Result<Option<Round>, Halt> {
        let Open { node, edge, state: before, .. } = open;
        self.unsee(&before);
        let states = match self.follow(node, &edge)? {
            Ok(states) => states,
            Err(round) => return Ok(Some(round)),
        };
        // One edge may lead to several states, each of which is looked at by itself.
        let (mut within, others): (Vec<State>, Vec<State>) =
            states.into_iter().partition(|state| before.includes(state));
        if within.is_empty() {
            within = others;
        } else {
            others.iter().for_each(|state| self.unsee(state));
        }
        // A thread that does not go on may wait for anybody.
        frame.is_full |= within.is_empty();
        let known = self.known();
        let again = within.into_iter().rev();
        frame.open.extend(again.map(|state| Open { node, edge: edge.clone(), state, known }));
        Ok(None)
    }

    /// What there is of the graph, for the next round. None where it is not built depth first.
    pub fn keep(self) -> Option<Kept> {
        let Search { graph, depth, low, after, seen, tracked, .. } = self;
        let depth = depth.filter(|depth| !depth.stack.is_empty())?;
        Some(Kept { graph, depth, low, after, seen, tracked })
    }

    /// Goes on with a graph from the state on, so many steps below the root, which has to be another. False where
    /// it has to be built anew.
    pub fn resume(&mut self, kept: Kept, at: usize) -> bool {
        let Kept { graph, mut depth, low, after, seen, tracked } = kept;
        let at = match tracked == self.tracked {
            true => at,
            // The checker takes all to be reduced by what is tracked at the end.
            false if self.tuning.proves => 0,
            false => depth.without_open_components(at),
        };
        if at == 0 || at >= depth.stack.len() {
            return false;
        }
        (self.graph, self.low, self.after, self.seen) = (graph, low, after, seen);
        let (first, number) = (depth.stack[at].node, depth.stack[at].number);
        for frame in depth.stack.drain(at..) {
            frame.open.iter().for_each(|open| self.unsee(&open.state));
        }
        let state = self.graph.node(first).state.clone();
        let parent = self.graph.node(first).parent.clone();
        while let Some((id, state)) = self.graph.pop_from(first) {
            self.unsee(&state);
            self.low.remove(&id);
            self.after.remove(&id);
        }
        while depth.component.pop_if(|id| *id >= first).is_some() {}
        depth.next = number;
        if let (Some(frame), Some((node, edge))) = (depth.stack.last_mut(), parent) {
            self.see(&state);
            frame.open.push(Open { node, edge, state, known: 0 });
        }
        self.depth = Some(depth);
        true
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
        let rank = |turn: &&mut Turn| {
            let is_noticed = turn.touches.iter().any(|touch| self.matters(touch));
            (is_noticed, Some(turn.thread) != last, turn.thread)
        };
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

    /// Whether an access may make a difference.
    fn matters(&self, touch: &Touch) -> bool {
        let Some(tracked) = &self.tracked else { return true };
        let hits = || tracked.iter().any(|(start, end)| touch.start < *end && *start < touch.end);
        *touch == Touch::ALL || self.blocks.may_end(touch.start) || hits()
    }

    /// Whether a thread goes on in all states of a node.
    pub(super) fn goes_on(&mut self, node: NodeId, held: &[Vec<Term>]) -> Result<bool, Halt> {
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
            let touches = turn.touches.iter().filter(|touch| self.matters(touch));
            let touches: Vec<&Touch> = touches.collect();
            let rivals = frame.accesses.iter().filter(|(thread, _)| *thread != turn.thread);
            for (thread, access) in rivals {
                let conflicts = |touch: &&Touch| touch.conflicts(access);
                if !wanted.contains(thread) && touches.iter().any(conflicts) && self.matters(access)
                {
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

    pub(super) fn depth_first(&mut self, depth: &mut Depth) -> Result<Round, Halt> {
        loop {
            if let Some(round) = self.below(depth)? {
                return Ok(round);
            }
            let Some(root) = depth.roots.pop_front() else { return Ok(Round::Complete) };
            depth.stack = vec![self.frame(root, 0)?];
            depth.component = vec![root];
            self.low.insert(root, 0);
            depth.next = 1;
        }
    }

    /// All that is below one root.
    fn below(&mut self, depth: &mut Depth) -> Result<Option<Round>, Halt> {
        let Depth { stack, component, next, .. } = depth;
        while let Some(frame) = stack.last_mut() {
            if let Some(open) = frame.open.pop() {
                if open.known < self.known() {
                    if let Some(round) = self.look_again(frame, open)? {
                        return Ok(Some(round));
                    }
                    continue;
                }
                let Open { node: parent, edge, state, .. } = open;
                let from = Some((parent, edge.clone()));
                let (id, covered_by) = match self.covers {
                    true => self.graph.add(&edge.control, state, from),
                    false => (self.graph.add_apart(&edge.control, state, from), None),
                };
                let Some(cover) = covered_by else {
                    self.low.insert(id, *next);
                    component.push(id);
                    let frame = self.frame(id, *next)?;
                    stack.push(frame);
                    *next += 1;
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
                            let known = self.known();
                            let states = states.into_iter();
                            open.extend(states.map(|state| Open {
                                node,
                                edge: edge.clone(),
                                state,
                                known,
                            }))
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
            self.leave(done, stack.last_mut(), component);
        }
        Ok(None)
    }

    /// All that follows a node is known, but for the component that it is in.
    fn leave(&mut self, done: Frame, parent: Option<&mut Frame>, component: &mut Vec<NodeId>) {
        let control = self.graph.node(done.node).control.clone();
        let goes = done.threads.iter().any(|turn| turn.is_done && !turn.is_stuck);
        let expanded = done.threads.iter().filter(|turn| turn.is_done);
        let fate = Fate::of(&control, goes);
        self.graph.expand(done.node, expanded.map(|turn| turn.thread).collect(), fate);
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
