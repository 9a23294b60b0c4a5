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
pub mod sections;
#[cfg(test)]
mod tests;
pub mod walk;

use parallax_control::Control as Limits;
use parallax_memory::{Facts, Language, Model};
use parallax_program::{Diagnostic, InstKind, Program, Tags};
use rustc_hash::FxHashSet;

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
    /// The tags that reads of the program have, and the halves of read-modify-writes.
    reads: Vec<Tags>,
    modified: Vec<(Tags, Tags)>,
}

impl<'m> Memory<'m> {
    /// How many events always stay, at first.
    const WINDOW: u32 = 0;
    const LARGEST_WINDOW: u32 = 32;

    pub fn new(
        program: &Program,
        model: &'m Model,
        (is_eager, judge): (bool, Judge),
        limits: Limits<'m>,
    ) -> Memory<'m> {
        let (reads, modified) = accesses(program);
        Memory {
            consistency: Remembered::new(judge.of(model, limits.clone())),
            limits,
            window: is_eager.then_some(Self::WINDOW),
            forgets: !model.sees_threads() && model.implies_coherence(),
            is_eager,
            reads,
            modified,
        }
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

/// The tags of all reads in a program, and of the halves of its read-modify-writes.
fn accesses(program: &Program) -> (Vec<Tags>, Vec<(Tags, Tags)>) {
    let insts = program.functions.iter().flat_map(|function| &function.blocks);
    let (mut reads, mut modified) = (Vec::new(), Vec::new());
    for inst in insts.flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::Load { tags, .. } | InstKind::LoadLinked { tags, .. } => {
                reads.push(tags.clone());
            }
            InstKind::Rmw { read_tags, write_tags, .. } => {
                modified.push((read_tags.clone(), write_tags.clone()));
            }
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } => {
                reads.push(fail_tags.clone());
                modified.push((read_tags.clone(), write_tags.clone()));
            }
            _ => {}
        }
    }
    let mut seen = FxHashSet::default();
    reads.retain(|tags| seen.insert(tags.clone()));
    let mut seen = FxHashSet::default();
    modified.retain(|tags| seen.insert(tags.clone()));
    (reads, modified)
}
