//! Who decides which graphs are consistent: rules of the engine's own, or the model's file.

use parallax_memory::Native;

use crate::buffering;
use crate::cat::{CatJudge, Look};
use crate::consistency::{Past, must_know};
use crate::event::{Event, Id};
use crate::graph::Graph;
use crate::memory::Memory;
use crate::psc;
use crate::watched::Watched;

pub struct Judge<'a> {
    model: Option<Native>,
    cat: Option<CatJudge<'a>>,
    /// Rules whose happens-before is a part of that of the model's file, so that the engine need not
    /// try what they rule out; and an event that comes after all others in every order keeps a graph
    /// consistent.
    refines: Option<Native>,
    past: Past,
}

impl<'a> Judge<'a> {
    pub fn native(model: Native) -> Judge<'a> {
        Judge { model: Some(model), cat: None, refines: None, past: Past::default() }
    }

    pub fn cat(judge: CatJudge<'a>, refines: Option<Native>) -> Judge<'a> {
        Judge { model: None, cat: Some(judge), refines, past: Past::default() }
    }

    /// One that is never asked.
    pub fn idle(&self) -> Judge<'a> {
        Judge { model: self.model, cat: None, refines: None, past: Past::default() }
    }

    /// The position in coherence order of the last write that the next event of a thread, which
    /// will be like `event`, must know of.
    pub fn must_know(&mut self, graph: &Graph<'_>, thread: usize, event: &Event) -> usize {
        match self.model.or(self.refines) {
            Some(model) => must_know(model, graph, &mut self.past, thread, event),
            None => 0,
        }
    }

    /// Whether writes may wait in buffers before others see them; an access that empties those
    /// must know of more than one that does not.
    pub fn has_buffers(&self) -> bool {
        matches!(self.model, Some(Native::Tso | Native::Pso))
    }

    /// Whether the model's file is asked about a complete graph.
    pub fn looks_by_file(&self, graph: &Graph<'_>, memory: &Memory) -> bool {
        let cat = self.cat.as_ref();
        cat.is_some_and(|cat| !self.sees_pairs(cat, graph, memory) || cat.may_flag(graph))
    }

    /// Whether the engine sees by itself what it has to see in a complete graph.
    fn sees_pairs(&self, cat: &CatJudge<'_>, graph: &Graph<'_>, memory: &Memory) -> bool {
        self.refines == Some(Native::Imm) && cat.is_watchful() && !memory.has_shared_ends(graph)
    }

    /// What the model's file finds wrong with a graph that it allows, and where.
    pub fn flags(&mut self, graph: &Graph<'_>) -> Vec<(String, Vec<Id>)> {
        match self.cat.as_mut().filter(|cat| cat.may_flag(graph)) {
            Some(cat) => cat.flags(graph),
            None => Vec::new(),
        }
    }

    /// What there is to see in a complete graph beside what is known already.
    pub fn look(
        &mut self,
        graph: &Graph<'_>,
        memory: &Memory,
        known: &buffering::Seen,
        watched: &mut Watched,
    ) -> Option<Look> {
        let sees_pairs = self.sees_pairs(self.cat.as_ref()?, graph, memory);
        let cat = self.cat.as_mut()?;
        match sees_pairs {
            true => Some(Look { seen: cat.kept(graph, memory, known, watched), late: Vec::new() }),
            false => Some(cat.look(graph, memory)),
        }
    }

    /// Whether the graph is consistent, given that it was without the new events, and that
    /// these know what they must. `is_latest`: they read, or are, the last write of their
    /// location. None where the model's file has to be asked.
    pub fn decide(&mut self, graph: &Graph<'_>, new: &[Id], is_latest: bool) -> Option<bool> {
        match (self.model, self.refines) {
            (Some(model), _) if !model.by_happens_before() => Some(true),
            (None, None) => None,
            _ if is_latest => Some(true),
            (Some(_), _) => {
                let may_be_cyclic = psc::may_be_cyclic_after(graph, &mut self.past, new);
                Some(!may_be_cyclic || psc::is_acyclic(graph))
            }
            // Without cycles of program order and reads-from, the acyclic order of IMM can only
            // have cycles by way of what two fences keep.
            (None, Some(Native::Imm)) => {
                let may_be_cyclic = psc::may_be_cyclic_after(graph, &mut self.past, new);
                match may_be_cyclic && psc::has_two_fences(graph) {
                    true => None,
                    false => Some(!may_be_cyclic || psc::is_acyclic(graph)),
                }
            }
            (None, Some(_)) => None,
        }
    }

    /// Whether the model's file allows the graph, which takes cubic time.
    pub fn allows_by_file(&mut self, graph: &Graph<'_>) -> bool {
        self.cat.as_mut().is_none_or(|cat| cat.allows(graph))
    }
}
