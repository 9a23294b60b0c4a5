//! Whether a proof proves what it says.
//!
//! From the roots on, each node is looked at once somebody has shown that threads stand there as it says: the
//! steps of its threads are made anew from the program, and for each one that a solver does not rule
//! out, what the nodes say that it leads to must follow. A node that is covered has another in its place, about
//! which no more is said. Steps that fail must be ruled out. Whatever does not follow refutes the proof.

use std::collections::BTreeSet;

use parallax_control::Control as Limits;
use parallax_machine::system::MemoryKind;
use parallax_memory::{Facts, Model};
use parallax_program::{Diagnostics, Program, Property};
use parallax_solver::{Stop, Term};
use parallax_verdict::leaves_all_open;
use rustc_hash::{FxHashMap, FxHashSet};

use super::graphs::{self, Turns};
use super::order::{Order, Turn};
use super::{Edge as Written, Header, Proof, read};
use crate::block::{Blocks, Edge, Ending, Halt, Touch, Way};
use crate::control::Control;
use crate::declarative::leaving::Leaving;
use crate::declarative::walk::bare;
use crate::declarative::{self, Memory};
use crate::oracle::{Oracle, Unanswered};
use crate::places::PlaceId;

/// What is known of a proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Checked {
    /// It holds, and has that much in it.
    Confirmed {
        nodes: usize,
        edges: usize,
        coverings: usize,
        /// Nodes at which threads were put off.
        reduced: usize,
    },
    Refuted(String),
    /// Limits, or the solver.
    Unknown(String),
}

/// Why a check ends.
enum Over {
    Refuted(String),
    Unknown(String),
}

impl From<Unanswered> for Over {
    fn from(Unanswered(stop): Unanswered) -> Over {
        Over::Unknown(match stop {
            Stop::Outside(stop) => parallax_verdict::stopped(stop).message,
            Stop::Incomplete => "the solver does not decide what a step allows".to_string(),
        })
    }
}

impl From<Halt> for Over {
    fn from(halt: Halt) -> Over {
        match halt {
            Halt::Unanswered(stop) => stop.into(),
            Halt::Escaped { context } => {
                Over::Refuted(format!("objects of {context:#x} are shared, and not said to be"))
            }
            Halt::Astray => Over::Refuted("a step cannot be taken".to_string()),
        }
    }
}

/// Checks the proof in a text against a program. Errors are those of the text.
pub fn check(
    program: &Program,
    name: &str,
    text: &str,
    limits: &Limits<'_>,
) -> Result<Checked, Diagnostics> {
    let header = Header::read(name, text)?;
    if !header.is_about(program) {
        return Ok(Checked::Refuted("it is about another program".to_string()));
    }
    let unknown = || Checked::Unknown(format!("proofs under '{}' are not known", header.model));
    let Some(Ok(model)) = Model::builtin(&header.model) else { return Ok(unknown()) };
    let machine = Facts::of(&header.model).and_then(|facts| facts.machine);
    let memory = match (header.has_graphs, machine) {
        (true, _) if declarative::admit(&model).is_err() => return Ok(unknown()),
        (true, _) => MemoryKind::Sc,
        (false, Some(memory)) => memory,
        (false, None) => return Ok(unknown()),
    };
    let Some(mut blocks) = Blocks::new(program, header.nondet) else {
        return Ok(Checked::Unknown("the globals of the program are too large".to_string()));
    };
    blocks.memory = memory;
    blocks.properties.clone_from(&header.properties);
    if header.has_graphs {
        blocks.graphs = Some(Memory::told(&model, limits.clone()));
    }
    let proof = read::proof(name, text, &mut blocks)?;
    let tracked = blocks.graphs.as_ref().and_then(|memory| memory.tracked.clone());
    let mut edges: FxHashMap<(usize, u32), Vec<&Written>> = FxHashMap::default();
    for edge in &proof.edges {
        edges.entry((edge.from, edge.thread)).or_default().push(edge);
    }
    let spoken_of = spoken_of(&proof, &blocks);
    let checker = Checker {
        model: &model,
        turns: Turns::new(proof.nodes.len()),
        tracked,
        order: Order::new(proof.nodes.len(), memory == MemoryKind::Pso),
        blocks,
        oracle: Oracle::new(limits.clone()),
        proof: &proof,
        edges,
        properties: &header.properties,
        limits,
        open: Vec::new(),
        is_known: vec![false; proof.nodes.len()],
        spoken_of,
    };
    let (found, open) = checker.run();
    Ok(match found {
        Ok(reduced) => Checked::Confirmed {
            nodes: proof.nodes.len(),
            edges: proof.edges.len(),
            coverings: proof.nodes.iter().filter(|node| node.covered.is_some()).count(),
            reduced,
        },
        Err(Over::Refuted(_)) if open > 0 => {
            Checked::Unknown("whether the model allows some graphs is not found out".to_string())
        }
        Err(Over::Refuted(why)) => Checked::Refuted(why),
        Err(Over::Unknown(why)) => Checked::Unknown(why),
    })
}

fn spoken_of(proof: &Proof, blocks: &Blocks<'_>) -> Vec<(u64, u64)> {
    let mut places: FxHashSet<PlaceId> = FxHashSet::default();
    let mut predicates: FxHashSet<usize> = FxHashSet::default();
    for node in &proof.nodes {
        places.extend(node.values.keys().copied());
        predicates.extend(node.facts.iter().map(|(number, _)| *number));
    }
    for number in predicates {
        let support = blocks.values.terms.support(proof.predicates[number]);
        places.extend(support.iter().filter_map(|it| blocks.places.of(*it)));
    }
    let mut bytes: Vec<(u64, u64)> =
        places.iter().filter_map(|id| blocks.places.place(*id).bytes()).collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

struct Checker<'c, 'p> {
    model: &'c Model,
    blocks: Blocks<'p>,
    oracle: Oracle<'c>,
    proof: &'c Proof,
    edges: FxHashMap<(usize, u32), Vec<&'c Written>>,
    properties: &'c [Property],
    limits: &'c Limits<'c>,
    /// Nodes whose control is right, and which were not looked at.
    open: Vec<usize>,
    is_known: Vec<bool>,
    /// The bytes that some node says something of, first and behind the last.
    spoken_of: Vec<(u64, u64)>,
    order: Order,
    /// The same, where executions are graphs.
    turns: Turns,
    /// The memory that is a part of these, by address.
    tracked: Option<BTreeSet<u64>>,
}

fn refuted<T>(why: impl Into<String>) -> Result<T, Over> {
    Err(Over::Refuted(why.into()))
}

impl Checker<'_, '_> {
    /// How many nodes put threads off; and how often it was not found out whether the model allows a graph.
    fn run(mut self) -> (Result<usize, Over>, u64) {
        let found = self.all();
        (found, self.blocks.graphs.as_ref().map_or(0, |memory| memory.consistency.open))
    }

    fn all(&mut self) -> Result<usize, Over> {
        self.start()?;
        while let Some(node) = self.open.pop() {
            self.limits.spend(20_000);
            if let Some(stop) = self.limits.reason() {
                return Err(Unanswered(Stop::Outside(stop)).into());
            }
            match self.proof.nodes[node].covered {
                Some(other) => self.covering(node, other)?,
                None => self.node(node)?,
            }
        }
        if let Some(node) = self.is_known.iter().position(|is_known| !is_known) {
            return refuted(format!("nothing leads to node {node}"));
        }
        if self.blocks.places.is_cut {
            return refuted("an access is to a part of a piece of memory");
        }
        let Some(memory) = &self.blocks.graphs else {
            return self.order.check().map_err(Over::Refuted);
        };
        if !memory.learned.is_within(&memory.uses) {
            return refuted("a thread has an access that it is not said to have");
        }
        if memory.tracked != self.tracked {
            return refuted("memory is a part of executions that is not said to be");
        }
        self.turns.check().map_err(Over::Refuted)
    }

    /// A node whose control somebody has shown to be that.
    fn meet(&mut self, node: usize, control: &Control, from: &str) -> Result<(), Over> {
        if self.proof.nodes[node].control != *control {
            return refuted(format!("{from}: threads or objects of node {node} are not there"));
        }
        if !std::mem::replace(&mut self.is_known[node], true) {
            self.open.push(node);
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), Over> {
        let (control, writes) = self.blocks.start();
        let mut after: FxHashMap<Term, Term> = FxHashMap::default();
        let all = (0..self.blocks.places.len() as u32).map(PlaceId);
        for place in all.collect::<Vec<_>>() {
            if let Some(initial) = self.blocks.initial(place) {
                after.insert(self.blocks.places.term(place), initial);
            }
        }
        for (place, term) in writes {
            after.insert(self.blocks.places.term(place), term);
        }
        let roots = &self.proof.roots;
        for root in roots {
            self.meet(*root, &control, "at the start")?;
        }
        if !self.follows(&[], roots, &after)? {
            return refuted("what the roots say does not hold at the start");
        }
        Ok(())
    }

    /// Whether one of some nodes says no more than follows from conditions, where places
    /// have changed.
    fn follows(
        &mut self,
        conditions: &[Term],
        nodes: &[usize],
        after: &FxHashMap<Term, Term>,
    ) -> Result<bool, Over> {
        let mut asked = conditions.to_vec();
        let mut known = after.clone();
        for node in nodes {
            let node = &self.proof.nodes[*node];
            let mut all = self.blocks.values.terms.truth();
            for (place, bits) in &node.values {
                let place = self.blocks.places.term(*place);
                let terms = &mut self.blocks.values.terms;
                let value = after.get(&place).copied().unwrap_or(place);
                let constant = terms.constant(*bits);
                let is_it = terms.equals(value, constant);
                all = terms.and(all, is_it);
            }
            for (number, holds) in &node.facts {
                let terms = &mut self.blocks.values.terms;
                let mut fact = terms.substitute(self.proof.predicates[*number], &mut known);
                if !holds {
                    fact = terms.not(fact);
                }
                all = terms.and(all, fact);
            }
            asked.push(self.blocks.values.terms.not(all));
        }
        Ok(!self.oracle.is_possible(&self.blocks.values.terms, &asked)?)
    }

    /// What a node says, as conditions, and what is in places that have values.
    fn says(&mut self, node: usize) -> (Vec<Term>, FxHashMap<Term, Term>) {
        let node = &self.proof.nodes[node];
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for (place, bits) in &node.values {
            let constant = self.blocks.values.terms.constant(*bits);
            values.insert(self.blocks.places.term(*place), constant);
        }
        let mut facts = Vec::new();
        let mut known = values.clone();
        for (number, holds) in &node.facts {
            let terms = &mut self.blocks.values.terms;
            let fact = terms.substitute(self.proof.predicates[*number], &mut known);
            facts.push(if *holds { fact } else { terms.not(fact) });
        }
        (facts, values)
    }

    fn covering(&mut self, node: usize, other: usize) -> Result<(), Over> {
        let own = &self.proof.nodes[node];
        if self.proof.nodes[other].covered.is_some() || !own.expands.is_empty() {
            return refuted(format!("node {node} is not covered by one that is looked at"));
        }
        if self.edges.keys().any(|(from, _)| *from == node) {
            return refuted(format!("node {node} is covered, and has steps"));
        }
        let control = own.control.clone();
        self.meet(other, &control, &format!("node {node} is not covered"))?;
        let (facts, values) = self.says(node);
        if !self.follows(&facts, &[other], &values)? {
            return refuted(format!("node {node} allows more than node {other}, which covers it"));
        }
        self.order.lead(node, other);
        self.turns.lead(node, other);
        if control.execution.is_some() {
            self.turns.put_off(node, control.turns().into_iter());
        }
        Ok(())
    }

    /// Looks at a node where the execution is a graph: at the threads that the proof looks at.
    fn graph(&mut self, node: usize) -> Result<(), Over> {
        let proof = self.proof;
        let control = &proof.nodes[node].control;
        let expands = &proof.nodes[node].expands;
        let turns = control.turns();
        if let Some(thread) = expands.iter().find(|it| !turns.contains(it)) {
            return refuted(format!("node {node}: thread {thread} does not run"));
        }
        let (facts, values) = self.says(node);
        let is_full = turns.iter().all(|thread| expands.contains(thread));
        let mut stands_for_all = is_full;
        for thread in expands {
            let written = self.edges.remove(&(node, *thread)).unwrap_or_default();
            self.tell(&written);
            let edges = self.steps(node, *thread, &facts, &values)?;
            let mut held = std::mem::take(&mut self.blocks.held);
            let has_read_loosely = self.blocks.has_read_loosely;
            let passed = edges.iter().filter(|edge| self.may_fail(&edge.ending));
            held.extend(passed.map(|edge| edge.guard.clone()));
            self.thread((node, *thread), &edges, &written, (&facts, &values))?;
            if !stands_for_all && !written.is_empty() {
                let reads = self.blocks.is_before_read(control, *thread) && !has_read_loosely;
                stands_for_all = reads || self.goes_always(&facts, &held)?;
            }
        }
        if let Some((_, thread)) = self.edges.keys().find(|(from, _)| *from == node) {
            return refuted(format!("node {node}: thread {thread} is put off, and has steps"));
        }
        if !stands_for_all {
            return refuted(format!("node {node}: all that are looked at may wait for ever"));
        }
        let put_off = turns.into_iter().filter(|thread| !expands.contains(thread));
        self.turns.put_off(node, put_off);
        Ok(())
    }

    /// What leaves executions after these steps.
    fn tell(&mut self, written: &[&Written]) {
        let of = |edge: &&Written| {
            let control = &self.proof.nodes[*edge.to.first()?].control;
            let threads = &control.execution.as_ref()?.threads;
            let forgotten = threads.iter().map(|line| line.forgotten.clone()).collect();
            let leaving = Leaving { forgotten, ..edge.leaving.clone() };
            Some((edge.trail.clone(), leaving))
        };
        let told = written.iter().filter_map(of).collect();
        if let Some(memory) = &mut self.blocks.graphs {
            memory.told = Some(told);
        }
    }

    /// Whether what the proof says that leaves the execution after a step may.
    fn leave(&mut self, node: usize, edge: &Edge) -> Result<(), Over> {
        let before = self.proof.nodes[node].control.execution.as_deref();
        let Some(memory) = &mut self.blocks.graphs else { return Ok(()) };
        let leaving = memory.told.as_ref().and_then(|told| told.get(&edge.trail)).cloned();
        let (Some(before), Some(growth), Some(leaving)) = (before, &edge.growth, leaving) else {
            return refuted(format!("node {node}: a step without an execution"));
        };
        let whole = graphs::grown(before, growth);
        graphs::leave(memory, self.model, &whole, &edge.control, &leaving)
            .map_err(|why| Over::Refuted(format!("node {node}, thread {}: {why}", edge.thread)))
    }

    /// Whether the model forbids what a step comes to.
    fn is_forbidden(&mut self, edge: &Edge) -> bool {
        match (&mut self.blocks.graphs, &edge.control.execution) {
            (Some(memory), Some(execution)) => !memory.consistency.allows(&bare(execution)),
            _ => false,
        }
    }

    /// Looks at all threads of a node.
    fn node(&mut self, node: usize) -> Result<(), Over> {
        if self.blocks.graphs.is_some() {
            return self.graph(node);
        }
        let proof = self.proof;
        let control = &proof.nodes[node].control;
        let expands = &proof.nodes[node].expands;
        if let Some(thread) =
            expands.iter().find(|it| control.processes().all(|other| other != **it))
        {
            return refuted(format!("node {node}: thread {thread} does not run"));
        }
        let (facts, values) = self.says(node);
        let mut turns = Vec::new();
        for thread in control.processes() {
            let is_expanded = expands.contains(&thread);
            let edges = self.steps(node, thread, &facts, &values)?;
            let mut held = std::mem::take(&mut self.blocks.held);
            let used = edges.iter().flat_map(|edge| edge.touches.iter().copied());
            let tried = std::mem::take(&mut self.blocks.tried);
            let matters = |touch: &Touch| self.matters(touch);
            let touches = used.chain(tried).filter(matters).collect();
            let passed = edges.iter().filter(|edge| self.may_fail(&edge.ending));
            held.extend(passed.map(|edge| edge.guard.clone()));
            let is_stuck = edges.is_empty();
            let waits_for_stores = self.blocks.waits_for_stores;
            let written = self.edges.remove(&(node, thread)).unwrap_or_default();
            if is_expanded {
                self.thread((node, thread), &edges, &written, (&facts, &values))?;
            } else if !written.is_empty() {
                return refuted(format!("node {node}: thread {thread} is put off, and has steps"));
            }
            let goes = !written.is_empty();
            turns.push(Turn {
                thread,
                is_expanded,
                is_stuck,
                waits_for_stores,
                goes,
                goes_always: false,
                touches,
            });
            let is_full = expands.len() >= control.processes().count();
            if let (Some(turn), true, false) = (turns.last_mut(), is_expanded && goes, is_full) {
                turn.goes_always = self.goes_always(&facts, &held)?;
            }
        }
        if let Some((_, thread)) = self.edges.keys().find(|(from, _)| *from == node) {
            return refuted(format!("node {node}: thread {thread} does not run, and has steps"));
        }
        self.order.node(node, turns);
        Ok(())
    }

    /// Whether an access makes a difference to what any node says. Whoever finds anything where nothing is said of a
    /// global, and whose stores there come to nothing, can do all that the program does.
    fn matters(&self, touch: &Touch) -> bool {
        let hits = |(start, end): &(u64, u64)| touch.start < *end && *start < touch.end;
        *touch == Touch::ALL || self.blocks.may_end(touch.start) || self.spoken_of.iter().any(hits)
    }

    /// The steps of a thread, as the program has them.
    fn steps(
        &mut self,
        node: usize,
        thread: u32,
        facts: &[Term],
        values: &FxHashMap<Term, Term>,
    ) -> Result<Vec<Edge>, Over> {
        let proof = self.proof;
        self.blocks.tried.clear();
        self.blocks.held.clear();
        self.blocks.waits_for_stores = false;
        let control = &proof.nodes[node].control;
        if !Blocks::may_run(control, thread) {
            return Ok(Vec::new());
        }
        let known = &proof.nodes[node].values;
        let of = |(place, _): (&PlaceId, _)| {
            values.get(&self.blocks.places.term(*place)).map(|term| (*place, *term))
        };
        let store = known.iter().filter_map(of).collect();
        let tracked = known.keys().copied().collect();
        let way = Way::All { facts, tracked: &tracked };
        Ok(self.blocks.edges(&mut self.oracle, control, &store, thread, way)?)
    }

    /// Whether an error ends an execution, and nobody asks about it.
    fn may_fail(&self, ending: &Ending) -> bool {
        matches!(ending, Ending::Fails { property, .. }
            if !self.properties.contains(property) && !leaves_all_open(*property))
    }

    fn goes_always(&mut self, facts: &[Term], held: &[Vec<Term>]) -> Result<bool, Over> {
        for conditions in held {
            let asked: Vec<Term> = facts.iter().chain(conditions).copied().collect();
            if self.oracle.is_possible(&self.blocks.values.terms, &asked)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks at all steps of a thread.
    fn thread(
        &mut self,
        (node, thread): (usize, u32),
        edges: &[Edge],
        written: &[&Written],
        (facts, values): (&[Term], &FxHashMap<Term, Term>),
    ) -> Result<(), Over> {
        let at = format!("node {node}, thread {thread}");
        let is_step = |it: &&&Written| {
            edges.iter().any(|edge| edge.trail == it.trail && edge.ending == Ending::Goes)
        };
        if written.iter().filter(is_step).count() != written.len() {
            return refuted(format!("{at}: the program has no such step"));
        }
        for edge in edges {
            let conditions: Vec<Term> = facts.iter().chain(&edge.guard).copied().collect();
            let to = written.iter().find(|it| it.trail == edge.trail);
            let Some(to) = to.filter(|_| edge.ending == Ending::Goes) else {
                if !self.may_fail(&edge.ending)
                    && self.oracle.is_possible(&self.blocks.values.terms, &conditions)?
                    && !self.is_forbidden(edge)
                {
                    return refuted(format!("{at}: {}", missing(&edge.ending)));
                }
                continue;
            };
            self.leave(node, edge)?;
            let mut after = values.clone();
            for (place, term) in &edge.writes {
                after.insert(self.blocks.places.term(*place), *term);
            }
            for target in &to.to {
                self.meet(*target, &edge.control, &at)?;
                self.order.lead(node, *target);
                self.turns.lead(node, *target);
            }
            if !self.follows(&conditions, &to.to, &after)? {
                let names: Vec<String> = to.to.iter().map(|node| node.to_string()).collect();
                let names = names.join(" or ");
                return refuted(format!("{at}: what node {names} says does not follow"));
            }
        }
        Ok(())
    }
}

fn missing(ending: &Ending) -> String {
    match ending {
        Ending::Goes => "a step that is possible is missing".to_string(),
        Ending::Fails { message, .. } => format!("it is not ruled out that this fails: {message}"),
        Ending::Lost { message, .. } => {
            format!("this is not supported, and not ruled out: {message}")
        }
        Ending::Needs(_) => "an address, a size or a thread is not known".to_string(),
    }
}
