//! Who decides which graphs are consistent: rules of the engine's own, or the model's file.

use parallax_memory::Native;

use crate::cat::{CatJudge, Look};
use crate::consistency::{Past, must_know};
use crate::event::{Event, Id};
use crate::graph::Graph;
use crate::memory::Memory;
use crate::psc;

pub struct Judge<'a> {
    model: Option<Native>,
    cat: Option<CatJudge<'a>>,
    /// Whether what happens before what in `rc11` does so in the model's file too, so that the
    /// engine need not try what that rules out; and whether an event that comes after all others in
    /// every order keeps a graph consistent.
    refines_rc11: bool,
    past: Past,
}

impl<'a> Judge<'a> {
    pub fn native(model: Native) -> Judge<'a> {
        Judge { model: Some(model), cat: None, refines_rc11: false, past: Past::default() }
    }

    pub fn cat(judge: CatJudge<'a>, refines_rc11: bool) -> Judge<'a> {
        Judge { model: None, cat: Some(judge), refines_rc11, past: Past::default() }
    }

    /// One that is never asked.
    pub fn idle(&self) -> Judge<'a> {
        Judge { model: self.model, cat: None, refines_rc11: false, past: Past::default() }
    }

    /// The position in coherence order of the last write that the next event of a thread, which
    /// will be like `event`, must know of.
    pub fn must_know(&mut self, graph: &Graph<'_>, thread: usize, event: &Event) -> usize {
        match self.model {
            Some(model) => must_know(model, graph, &mut self.past, thread, event),
            None if self.refines_rc11 => {
                must_know(Native::Rc11, graph, &mut self.past, thread, event)
            }
            None => 0,
        }
    }

    /// Whether writes may wait in buffers before others see them; an access that empties those
    /// must know of more than one that does not.
    pub fn has_buffers(&self) -> bool {
        matches!(self.model, Some(Native::Tso | Native::Pso))
    }

    /// Whether the model's file judges the whole graph, which takes cubic time.
    pub fn needs_file(&self, is_latest: bool) -> bool {
        self.cat.is_some() && !(self.refines_rc11 && is_latest)
    }

    /// What the model's file finds wrong with a graph that it allows, and where.
    pub fn flags(&mut self, graph: &Graph<'_>) -> Vec<(String, Vec<Id>)> {
        self.cat.as_mut().map_or(Vec::new(), |cat| cat.flags(graph))
    }

    /// What the model's file lets us see in a complete graph.
    pub fn look(&mut self, graph: &Graph<'_>, memory: &Memory) -> Look {
        self.cat.as_mut().map_or(Look::default(), |cat| cat.look(graph, memory))
    }

    /// Whether the graph is consistent, given that it was without the new events, and that
    /// these know what they must. `is_latest`: they read, or are, the last write of their
    /// location.
    pub fn allows(&mut self, graph: &Graph<'_>, new: &[Id], is_latest: bool) -> bool {
        if let Some(cat) = &mut self.cat {
            return self.refines_rc11 && is_latest || cat.allows(graph);
        }
        match self.model {
            Some(model) if model.by_happens_before() && !is_latest => {
                psc::is_acyclic_after(graph, &mut self.past, new)
            }
            _ => true,
        }
    }
}
