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
pub mod loose;
pub mod sections;
#[cfg(test)]
mod tests;
pub mod walk;

use std::collections::{BTreeMap, BTreeSet};

use parallax_control::Control as Limits;
use parallax_memory::{Facts, Language, Model};
use parallax_program::{Diagnostic, Tags};

use crate::declarative::consistency::Remembered;
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
    uses: Uses,
    learned: Uses,
}

/// By thread and address: the tags of reads that do not modify, and of the halves of read-modify-writes.
#[derive(Clone, Default)]
struct Uses {
    reads: BTreeMap<(u32, u64), Vec<Tags>>,
    modified: BTreeMap<(u32, u64), Vec<(Tags, Tags)>>,
    /// Whether there is something new since somebody has asked.
    has_grown: bool,
}

impl Uses {
    fn note<T: PartialEq>(all: &mut BTreeMap<(u32, u64), Vec<T>>, at: (u32, u64), tags: T) -> bool {
        let known = all.entry(at).or_default();
        let is_new = !known.contains(&tags);
        if is_new {
            known.push(tags);
        }
        is_new
    }
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
        }
    }

    /// A thread has come to an access to an address that may read and modify nothing.
    pub fn note_read(&mut self, at: (u32, u64), tags: &Tags) {
        self.learned.has_grown |= Uses::note(&mut self.learned.reads, at, tags.clone());
    }

    /// A thread has come to a read-modify-write, with these tags of its halves.
    pub fn note_modification(&mut self, at: (u32, u64), (read, write): (&Tags, &Tags)) {
        let tags = (read.clone(), write.clone());
        self.learned.has_grown |= Uses::note(&mut self.learned.modified, at, tags);
    }

    /// Whether threads have used memory in ways that were not known when this was asked last. What has left
    /// a graph before may then have mattered, and the search has to be made again.
    pub fn has_learned(&mut self) -> bool {
        let has_grown = std::mem::take(&mut self.learned.has_grown);
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
