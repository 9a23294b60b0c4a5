//! The search: every consistent execution graph once, by steps forward and revisits.
//!
//! Truly stateless optimal dynamic partial-order reduction (M. Kokologiannakis, I. Marmanis,
//! V. Gladstein, V. Vafeiadis, Truly stateless, optimal dynamic partial order reduction, POPL
//! 2022). Events are added one at a time, always of the leftmost thread that can go on. A read is
//! tried with each write that the model lets it see; a write is tried at each place in coherence
//! order, and then *revisits* reads that are there already: what was added after such a read,
//! and does not lead to the write, is taken out, and the read reads the write. A revisit is
//! made from one graph only, the one in which all that it takes out was added in the default way
//! (see [`revisit`]); so nothing is explored twice, and nothing has to be remembered
//! of what was.
//!
//! The stack of nodes is the path of the depth-first search; each node knows what it tried last
//! and how to undo it.

mod next;
mod recall;
mod revisit;
mod sample;
mod sections;
mod steps;

use crate::barriers;
use crate::crew::{Crew, Explored, Segment, Work};
use crate::event::{Event, Id};
use crate::findings::End;
use crate::graph::{Graph, Restriction};
use crate::judge::Judge;
use crate::memory::Memory;
use crate::observer::Observer;
use crate::place::{Place, Start, Then, Witness};
use crate::standing::{Runner, Standing};
use crate::symmetry;
use crate::walker::Walker;
use parallax_query::Reduction;

pub struct Search<'a, 'p> {
    pub runner: Walker<'a, 'p>,
    pub memory: Memory,
    pub graph: Graph<'p>,
    pub judge: Judge<'a>,
    pub observer: Observer<'a, 'p>,
    crew: &'a Crew<'p>,
    path: Path,
    /// The how-manieth way is taken at the node that is pushed next.
    choice: u32,
    /// Whether a limit was in the way of a judgement, so that the last step back was not taken.
    is_refused: bool,
    /// Steps back since work was given away last.
    since_handing_on: u32,
    /// Whether reads that would wait are added last.
    is_patient: bool,
}

/// Where a search is, apart from its graph.
#[derive(Clone, Default)]
pub struct Path {
    nodes: Vec<Level>,
    /// Reads that writes on the path are still to revisit.
    to_revisit: Vec<Id>,
    /// How many choices were made before the first node.
    above: usize,
    /// All choices up to the node that was pushed last.
    choices: Vec<u32>,
    /// Whether what is below that node is still to be looked at.
    is_within: bool,
    /// Steps that were counted when the search was there.
    events: u64,
    /// Where work of others begins, and how many of the choices are those that lead there.
    limit: Vec<u32>,
    matched: usize,
}

#[derive(Clone)]
struct Level {
    node: Node,
    choice: u32,
    /// Someone else tries what is left.
    is_handed_on: bool,
}

/// A step on the path, with what is left to try in its place.
#[derive(Clone)]
enum Node {
    /// An event that there is only one way to add.
    Step { live: bool, thread: usize, event: Event },
    /// A read, which tries the writes at positions `next - 1` down to `low`; before those, if
    /// `fails`, the one at `next` as what a weak compare-and-swap fails with.
    Read { live: bool, thread: usize, next: usize, low: usize, fails: bool },
    /// One of several values.
    Choice { live: bool, thread: usize, next: u64, below: u64 },
    /// A write, which tries positions `next - 1` down to `low`, and has `reads` to revisit after
    /// that, the last ones in the list.
    Write { live: bool, thread: usize, event: Event, next: usize, low: usize, reads: usize },
    /// A write that revisits reads.
    Revisit { thread: usize, event: Event, reads: usize, at: Option<Revisiting> },
}

/// A read being revisited.
#[derive(Clone)]
struct Revisiting {
    live: bool,
    read: Id,
    /// The stamp that the read had.
    stamp: u32,
    restriction: Restriction,
    next: usize,
    low: usize,
    /// As with [`Node::Read`].
    fails: bool,
}

impl Node {
    /// Whether there may be something left to try.
    fn may_have_more(&self) -> bool {
        match self {
            Node::Step { live, .. } => !live,
            Node::Read { next, low, fails, .. } => next > low || *fails,
            Node::Choice { next, below, .. } => next < below,
            Node::Write { next, low, reads, .. } => next > low || *reads > 0,
            Node::Revisit { reads, at, .. } => {
                *reads > 0 || at.as_ref().is_some_and(|at| at.next > at.low || at.fails)
            }
        }
    }
}

impl<'a, 'p> Search<'a, 'p> {
    /// Steps back between two gifts of work, so that there is something to give. Tests want many.
    const PATIENCE: u32 = if cfg!(test) { 0 } else { 32 };

    /// A file judges graphs of so many events in about a second.
    const MOST_FOR_FILE: usize = 2_000;

    pub fn new(
        runner: &'a Runner<'p>,
        memory: Memory,
        graph: Graph<'p>,
        judge: Judge<'a>,
        observer: Observer<'a, 'p>,
        crew: &'a Crew<'p>,
    ) -> Search<'a, 'p> {
        let path = Path::default();
        let is_patient = observer.shared.options.reductions.contains(Reduction::Waits);
        Search {
            runner: Walker::new(runner),
            memory,
            graph,
            judge,
            observer,
            crew,
            path,
            choice: 0,
            is_refused: false,
            since_handing_on: 0,
            is_patient,
        }
    }

    /// Explores everything from the present graph on.
    fn explore(&mut self) -> Explored {
        for number in 0..self.graph.threads.len() {
            self.observer.stands(&self.graph, &self.memory, number);
        }
        self.forward();
        self.explore_rest()
    }

    /// Explores what is left on a path that someone else began.
    pub fn take_over(
        &mut self,
        segment: Segment,
        (graph, memory, path): (Graph<'p>, Memory, Path),
    ) -> Explored {
        (self.graph, self.memory, self.path) = (graph, memory, path);
        self.is_refused = false;
        self.observer.begin(segment);
        self.explore_rest()
    }

    fn explore_rest(&mut self) -> Explored {
        while self.back() {
            self.forward();
        }
        let is_explored = self.path.nodes.is_empty() && !self.is_refused && !self.path.is_within;
        if self.memory.known.is_split() {
            self.observer.findings.end_by(End::Split);
        }
        let has_ended = self.observer.findings.end.is_some();
        if !has_ended && !is_explored {
            // What was begun is counted by whoever begins again.
            self.observer.findings.counts.events = self.path.events;
        }
        self.hand_in((!has_ended && !is_explored).then(|| self.start()))
    }

    /// Where the search is.
    fn start(&self) -> Start {
        let Path { choices, is_within, .. } = &self.path;
        let place = Place { choices: choices.clone(), is_behind: !is_within };
        Start { place, log: self.memory.known.log().to_vec() }
    }

    /// What was found since the segment began.
    fn hand_in(&mut self, rest: Option<Start>) -> Explored {
        self.mark(Then::Nothing);
        self.observer.findings.skips.settle(&self.memory);
        let discoveries = self.memory.known.take_discoveries();
        self.path.events = 0;
        Explored { findings: self.observer.finish(), discoveries, rest }
    }

    /// Hands in what was found so far, and goes on with a segment that begins here.
    fn renew(&mut self) {
        let Some(segment) = self.observer.segment().cloned() else {
            return;
        };
        let start = self.start();
        if start.place != *segment.place {
            let explored = self.hand_in(Some(start));
            if let Some(next) = self.crew.renew(&segment, explored) {
                self.observer.begin(next);
            }
        }
    }

    /// Notes where the search is if something was found by this step.
    fn mark(&mut self, then: Then) {
        if self.observer.findings.has_news() {
            let start = Start {
                place: Place::within(&self.path.choices),
                log: self.memory.known.log().to_vec(),
            };
            self.observer.findings.place(&Witness { start, then });
        }
    }

    /// Adds events as long as that is possible.
    fn forward(&mut self) {
        loop {
            self.choice = 0;
            self.path.is_within = true;
            if !self.extend() {
                self.mark(Then::Extend);
                if !self.is_refused {
                    self.path.is_within = false;
                    self.path.events = self.observer.findings.counts.events;
                }
                return;
            }
            self.mark(Then::Nothing);
            if self.is_over() {
                return;
            }
        }
    }

    /// Whether the search ends here, after what threads have computed.
    fn is_over(&mut self) -> bool {
        self.observer.account(self.runner.meter.take());
        self.observer.is_over()
    }

    /// Whether the model allows the graph with new events. A search that is over goes on with none:
    /// what is left out then is said.
    fn allows(&mut self, new: &[Id], is_latest: bool) -> bool {
        match self.judge.decide(&self.graph, new, is_latest) {
            Some(is_allowed) => is_allowed && !self.is_refused,
            None => !self.is_too_long() && self.judge.allows_by_file(&self.graph),
        }
    }

    /// Whether the model's file is not to judge the graph: the search is over, or it would take too
    /// long, which is said.
    fn is_too_long(&mut self) -> bool {
        let events = self.graph.order.len();
        let is_too_long = events > Self::MOST_FOR_FILE;
        if is_too_long {
            self.observer.too_long(Self::MOST_FOR_FILE);
        }
        if !is_too_long {
            self.is_refused |= self.observer.is_over_before(events);
        }
        is_too_long || self.is_refused
    }

    /// Goes back to the last node with something left to try, and tries it. False where there is
    /// none, or the search is over.
    fn back(&mut self) -> bool {
        let mut is_here = !self.path.is_within;
        loop {
            if self.is_over() || self.is_refused || self.memory.known.is_split() {
                return false;
            }
            if is_here && self.observer.is_due() {
                self.renew();
            }
            is_here = false;
            self.since_handing_on += 1;
            if self.crew.wants_work() && self.since_handing_on > Self::PATIENCE {
                self.since_handing_on = 0;
                self.hand_on();
            }
            let Some(Level { node, choice, is_handed_on }) = self.path.nodes.pop() else {
                return false;
            };
            self.choice = choice + 1;
            if is_handed_on {
                self.undo(node);
            } else if self.advance(node) {
                self.mark(Then::Nothing);
                return true;
            }
            self.mark(Then::Advance);
        }
    }

    /// Gives away what is left to try at the first node that has something.
    fn hand_on(&mut self) {
        let open = |level: &Level| !level.is_handed_on && level.node.may_have_more();
        let Some(first) = self.path.nodes.iter().position(open) else {
            return;
        };
        let Some(segment) = self.observer.segment() else {
            return;
        };
        // All that there is of a segment is nothing to share.
        let place = Place::behind(&self.path.choices[..=self.path.above + first]);
        if place == *segment.place {
            return;
        }
        let mut other = Search {
            runner: self.runner.afresh(),
            memory: self.memory.clone(),
            graph: self.graph.clone(),
            judge: self.judge.idle(),
            observer: self.observer.silent(),
            crew: self.crew,
            path: self.path.clone(),
            choice: 0,
            is_refused: false,
            since_handing_on: 0,
            is_patient: self.is_patient,
        };
        while other.path.nodes.len() > first + 1 {
            if let Some(level) = other.path.nodes.pop() {
                other.undo(level.node);
            }
        }
        other.path.nodes.drain(..first);
        other.memory.known.take_discoveries();
        other.path.above += first;
        other.path.choices.clone_from(&place.choices);
        (other.path.is_within, other.path.events) = (false, 0);
        self.path.nodes[first].is_handed_on = true;
        let start = Start { place, log: other.memory.known.log().to_vec() };
        let Search { graph, memory, path, .. } = other;
        self.crew.give(segment, Work::Begun(Box::new((graph, memory, path))), start);
    }

    /// Undoes what a node did last.
    fn undo(&mut self, node: Node) {
        match node {
            Node::Step { live, .. } | Node::Read { live, .. } | Node::Choice { live, .. } => {
                if live {
                    self.graph.pop();
                }
            }
            Node::Write { live, reads, .. } => {
                if live {
                    self.graph.pop();
                }
                self.forget_revisits(reads);
            }
            Node::Revisit { reads, at, .. } => {
                if let Some(revisiting) = at {
                    if revisiting.live {
                        self.undo_revisit(&revisiting);
                    }
                    self.graph.restore(revisiting.restriction);
                }
                self.forget_revisits(reads);
            }
        }
    }

    fn push_node(&mut self, node: Node) {
        let (path, choice) = (&mut self.path, self.choice);
        let depth = path.above + path.nodes.len();
        path.choices.truncate(depth);
        path.choices.push(choice);
        path.events = self.observer.findings.counts.events;
        path.matched = path.matched.min(depth);
        let is_handed_on = path.matched == depth && path.limit.get(depth) == Some(&choice);
        path.matched += usize::from(is_handed_on);
        path.nodes.push(Level { node, choice, is_handed_on });
    }

    /// Adds the next event in the first way that is left; false where there is none.
    fn extend(&mut self) -> bool {
        #[cfg(test)]
        crate::invariants::tests::look(&self.graph, &self.memory);
        match self.next_thread() {
            Some(thread) if self.graph.threads[thread].events.len() >= Id::MAX_EVENTS => {
                let site = self.graph.now(thread).and_then(Standing::site);
                self.observer.unsupported("a thread of a million steps", site);
                false
            }
            Some(thread) => match self.node(thread) {
                Some(node) => self.advance(node),
                None => false,
            },
            None if symmetry::is_broken(&self.graph) => {
                self.observer.end_by(End::Asymmetric);
                false
            }
            None if barriers::is_broken(&self.graph) => {
                self.observer.end_by(End::BarrierOrder);
                false
            }
            None if self.judge.looks_by_file(&self.graph, &self.memory) && self.is_too_long() => {
                false
            }
            None => {
                for (flag, involved) in self.judge.flags(&self.graph) {
                    self.observer.flag(&self.graph, &self.memory, &flag, involved);
                }
                let Observer { findings, watched, .. } = &mut self.observer;
                let known = &findings.buffering;
                if let Some(look) = self.judge.look(&self.graph, &self.memory, known, watched) {
                    self.observer.inspect(&self.graph, &self.memory, look);
                }
                self.observer.complete(&self.graph, &self.memory);
                false
            }
        }
    }

    /// Undoes what the node did last and does the next thing; false where nothing is left.
    fn advance(&mut self, node: Node) -> bool {
        match node {
            Node::Step { live, thread, event } => self.advance_step(live, thread, event),
            Node::Choice { live, thread, next, below } => {
                self.advance_choice(live, thread, next, below)
            }
            Node::Read { live, thread, next, low, fails } => {
                if live {
                    self.graph.pop();
                }
                self.advance_read(thread, next, low, fails)
            }
            Node::Write { live, thread, event, next, low, reads } => {
                if live {
                    self.graph.pop();
                }
                self.advance_write(thread, event, next, low, reads)
            }
            Node::Revisit { thread, event, reads, at } => {
                self.advance_revisit(thread, event, reads, at)
            }
        }
    }
}
