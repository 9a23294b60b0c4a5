//! Memory by the text of its model: executions are graphs, and a cat file says which of them there are.
//!
//! Edges are those of [`crate::block`], and so are abstract states, precision and refinement; what differs is
//! what an access comes to. A state of the analysis has the graph of what was done to memory so far
//! ([`execution`]). Threads run in one order alone, which stands for all: a read takes any write that
//! is there and that the model lets it take, or waits for one that is still to come; a write serves
//! some of those that wait for it. So each graph is put together in one way, whatever the number of
//! interleavings (L. Bajczi, Application of CEGAR to concurrent programs, 2021, which has
//! this inside of abstraction refinement; M. Kokologiannakis, O. Lahav, K. Sagonas, V. Vafeiadis,
//! Effective stateless model checking for C/C++ concurrency, POPL 2018, whose revisitable reads these are).
//!
//! No thread is put off for ever: one that comes to the head of a loop lets the others go on first. One that
//! may stand still in some of the states of a node, for a reason other than what it has read,
//! is not the only one that goes on there.
//!
//! That all executions are found needs a model that forbids cycles of program order and reads-from;
//! that graphs may be judged before they are complete, and that events may leave them ([`collect`]), needs
//! one that allows all parts of what it allows. Both are looked up in its text
//! ([`parallax_memory::Model::load_buffering`], [`parallax_memory::Model::not_monotone`]).

pub mod collect;
pub mod consistency;
pub mod execution;
pub mod leaving;
pub mod loose;
pub mod sections;
#[cfg(test)]
mod tests;
pub mod uses;
pub mod walk;

use std::collections::BTreeSet;

use parallax_control::Control as Limits;
use parallax_memory::{Facts, Language, Model};
use parallax_program::{Diagnostic, Tags};

use crate::declarative::consistency::Remembered;
use crate::declarative::consistency::orders::Orders;
use crate::declarative::leaving::Told;
use crate::declarative::uses::Uses;
use crate::options::Judge;

/// Whether executions can be put together event by event under a model, and why not.
pub fn admit(model: &Model) -> Result<(), Diagnostic> {
    let refuse = |why: String| {
        let message =
            format!("the engine 'abstract' cannot use the model '{}': {why}", model.name());
        let names = Facts::names(|facts| facts.native.is_some());
        let help = format!("models that it can use: {names}, and .cat files for C like them");
        Err(Diagnostic::new(message).with_help(help))
    };
    if !model.speaks(Language::C) {
        return refuse("it speaks of other accesses and fences than C11 has".to_string());
    }
    if model.asks_for_dependencies() {
        return refuse("it asks how values flow to later accesses".to_string());
    }
    if let Some(axiom) = model.not_monotone() {
        return refuse(format!("'{axiom}' may forbid a part of an execution that it allows"));
    }
    if let Some(tags) = model.load_buffering() {
        let with = if tags.is_empty() { String::new() } else { format!(" (of {tags})") };
        return refuse(format!(
            "it allows load buffering{with}, reads of writes that come later in their own future"
        ));
    }
    Ok(())
}

/// What decides about memory.
pub struct Memory<'m> {
    limits: Limits<'m>,
    pub consistency: Remembered<'m>,
    /// How many of a thread's last events always stay; None if all do.
    pub window: Option<u32>,
    /// Whether writes that others may still read can be forgotten as events.
    forgets: bool,
    /// Whether graphs are judged as soon as they grow, or only where something fails.
    pub is_eager: bool,
    /// The addresses whose accesses are events ([`loose`]); None if those of all are.
    pub tracked: Option<BTreeSet<u64>>,
    /// How threads use memory, as far as it was known when the search began, so that a step comes to the
    /// same whenever it is taken; and all that is known by now.
    pub uses: Uses,
    pub learned: Uses,
    /// What leaves graphs after the steps that are looked at, where that is known.
    pub told: Option<Told>,
}

impl<'m> Memory<'m> {
    /// How many events always stay, at first.
    const WINDOW: u32 = 0;
    const LARGEST_WINDOW: u32 = 32;

    pub fn new(
        model: &'m Model,
        (is_eager, judge): (bool, Judge),
        limits: Limits<'m>,
    ) -> Memory<'m> {
        Memory {
            consistency: Remembered::new(judge.of(model, limits.clone())),
            limits,
            window: is_eager.then_some(Self::WINDOW),
            forgets: !model.sees_threads() && model.implies_coherence(),
            is_eager,
            tracked: Some(BTreeSet::new()),
            uses: Uses::default(),
            learned: Uses::default(),
            told: None,
        }
    }

    /// For a checker of proofs: what leaves graphs, what is no part of them and how threads use memory is said by the
    /// proof, and whether the model allows a graph by its text.
    pub fn told(model: &'m Model, limits: Limits<'m>) -> Memory<'m> {
        let judge = Box::new(Orders::new(model, limits.clone()));
        Memory {
            consistency: Remembered::new(judge),
            window: None,
            forgets: false,
            is_eager: false,
            told: Some(Told::default()),
            ..Memory::new(model, (false, Judge::Saturation), limits)
        }
    }

    /// A thread has come to an access to an address that may read and modify nothing.
    pub fn note_read(&mut self, at: (u32, u64), tags: &Tags) {
        self.learned.note_read(at, tags);
    }

    /// A thread has come to a read-modify-write, with these tags of its halves.
    pub fn note_modification(&mut self, at: (u32, u64), (read, write): (&Tags, &Tags)) {
        self.learned.note_modification(at, (read, write));
    }

    /// A thread has come to an atomic section.
    pub fn note_entry(&mut self, thread: u32) {
        self.learned.note_entry(thread);
    }

    /// A thread starts another one.
    pub fn note_start(&mut self, parent: u32, child: u32) {
        self.learned.note_start(parent, child);
    }

    /// Whether threads have used memory in ways that were not known when this was asked last. What has left
    /// a graph before may then have mattered, and the search has to be made again.
    pub fn has_learned(&mut self) -> bool {
        let has_grown = self.learned.has_grown();
        if has_grown {
            self.uses = self.learned.clone();
        }
        has_grown
    }

    /// Whether a limit is reached. Then nothing leaves, and the search stops by itself.
    fn is_over(&self) -> bool {
        self.limits.reason().is_some()
    }

    /// More of what was done is remembered from now on. False if all is.
    pub fn widen(&mut self) -> bool {
        let Some(window) = self.window else { return false };
        self.window = Some(window * 2 + 1).filter(|window| *window <= Self::LARGEST_WINDOW);
        true
    }
}
