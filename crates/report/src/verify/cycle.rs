//! A shortest cycle of program order and communication: the reason why an execution is not an
//! interleaving of its threads (Shasha and Snir, TOPLAS 1988).

use std::collections::VecDeque;

use parallax_verdict::Execution;

use super::links::Links;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Program order.
    Po,
    /// The second reads from the first.
    Rf,
    /// The second replaces the first.
    Co,
    /// The second replaces what the first read.
    Fr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    pub from: u32,
    pub step: Step,
    pub to: u32,
}

/// Searches from so many events at most.
const MOST_STARTS: usize = 512;

/// A shortest cycle, starting with what a read has missed. None for interleavings.
pub fn shortest_cycle(execution: &Execution, links: &Links) -> Option<Vec<Edge>> {
    let search = Search { execution, links };
    let core = search.core();
    let starts = (0..execution.events.len() as u32)
        .filter(|event| core[*event as usize] && !search.communications(*event).is_empty());
    let mut best: Option<Vec<Edge>> = None;
    for start in starts.take(MOST_STARTS) {
        let limit = best.as_ref().map_or(usize::MAX, Vec::len);
        if let Some(cycle) = search.from(start).filter(|cycle| cycle.len() < limit) {
            best = Some(cycle);
        }
    }
    best.map(from_missed_write)
}

/// Turns the cycle until it starts at the write that its last step, a from-read, leads to.
fn from_missed_write(mut cycle: Vec<Edge>) -> Vec<Edge> {
    if let Some(at) = cycle.iter().rposition(|edge| edge.step == Step::Fr) {
        cycle.rotate_left(at + 1);
    }
    cycle
}

struct Search<'a> {
    execution: &'a Execution,
    links: &'a Links,
}

/// An event, and the kind of step that led to it. Program order and coherence are transitive:
/// going on with them is still the same step.
type State = (u32, Option<Step>);
/// For each event and kind of step, where it was first reached from.
type Parents = Vec<[Option<State>; 4]>;

impl Search<'_> {
    /// A short cycle that leaves `start` by communication.
    fn from(&self, start: u32) -> Option<Vec<Edge>> {
        let mut parents: Parents = vec![[None; 4]; self.execution.events.len()];
        let mut queue: VecDeque<State> = VecDeque::from([(start, None)]);
        while let Some((event, by)) = queue.pop_front() {
            for (step, to) in self.steps(event, by.is_none()) {
                let same = continues(by, step);
                let kind = by.filter(|_| same).unwrap_or(step);
                let parent = &mut parents[to as usize][kind as usize];
                if parent.is_some() {
                    continue;
                }
                *parent = Some((event, by));
                if to == start {
                    return Some(edges((to, Some(kind)), &parents));
                }
                let reached = (to, Some(kind));
                if same { queue.push_front(reached) } else { queue.push_back(reached) }
            }
        }
        None
    }

    /// For each event whether it is on a cycle, or on the way from one to another: what is left
    /// when events that nothing leads to, and such that lead nowhere, are taken away.
    fn core(&self) -> Vec<bool> {
        let count = self.execution.events.len();
        let mut forwards: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut backwards: Vec<Vec<u32>> = vec![Vec::new(); count];
        for event in 0..count as u32 {
            for (_, to) in self.steps(event, false) {
                forwards[event as usize].push(to);
                backwards[to as usize].push(event);
            }
        }
        let reached = peeled(&forwards, &backwards);
        let leading = peeled(&backwards, &forwards);
        reached.into_iter().zip(leading).map(|(reached, leading)| reached && leading).collect()
    }

    fn steps(&self, event: u32, communications_only: bool) -> Vec<(Step, u32)> {
        let mut steps = self.communications(event);
        if !communications_only {
            steps.extend(self.links.next[event as usize].map(|next| (Step::Po, next)));
        }
        steps
    }

    /// Communication to other threads, or against program order.
    fn communications(&self, event: u32) -> Vec<(Step, u32)> {
        let at = event as usize;
        let rf = self.links.readers[at].iter().map(|read| (Step::Rf, *read));
        let co = self.links.replaced_by[at].map(|write| (Step::Co, write));
        let fr = self.links.missed(event).map(|write| (Step::Fr, write));
        let thread = |event: u32| self.execution.events[event as usize].thread;
        let apart = |to: u32| thread(to) != thread(event) || to < event;
        let steps = rf.chain(co).chain(fr);
        steps.filter(|(_, to)| *to != event && apart(*to)).collect()
    }
}

/// What is left when events without a predecessor are taken away again and again.
fn peeled(successors: &[Vec<u32>], predecessors: &[Vec<u32>]) -> Vec<bool> {
    let mut left: Vec<usize> = predecessors.iter().map(Vec::len).collect();
    let mut open: Vec<usize> = (0..left.len()).filter(|event| left[*event] == 0).collect();
    let mut kept = vec![true; left.len()];
    while let Some(event) = open.pop() {
        kept[event] = false;
        for next in successors[event].iter().map(|next| *next as usize) {
            left[next] -= 1;
            if left[next] == 0 {
                open.push(next);
            }
        }
    }
    kept
}

fn continues(by: Option<Step>, step: Step) -> bool {
    matches!((by, step), (Some(Step::Po), Step::Po) | (Some(Step::Co | Step::Fr), Step::Co))
}

/// The steps that lead to a state, from the start of the search on.
fn edges(end: State, parents: &Parents) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut at = end;
    while let (event, Some(step)) = at {
        let Some(parent) = parents[event as usize][step as usize] else { break };
        match edges.last_mut().filter(|edge| edge.from == event && edge.step == step) {
            Some(edge) => edge.from = parent.0,
            None => edges.push(Edge { from: parent.0, step, to: event }),
        }
        at = parent;
    }
    edges.reverse();
    edges
}
