//! What stays of an execution after a step: found out ([`super::collect`]), or said by a proof, whose checker finds out
//! whether it may be so.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::block::Decision;
use crate::control::Control;
use crate::declarative::Memory;
use crate::declarative::execution::{Execution, Forgotten, Id, Wait};

/// What stays of an execution.
pub struct Collected {
    /// The events, by thread.
    pub kept: Vec<Vec<u32>>,
    /// The writes that are forgotten, in order, each with the address and whether somebody could modify it.
    pub lost: Vec<(Id, u64, bool)>,
    /// For each thread, what is known of its forgotten writes.
    pub forgotten: Vec<Vec<Forgotten>>,
}

impl Collected {
    pub fn all(execution: &Execution) -> Collected {
        let kept = execution.all();
        let forgotten = execution.threads.iter().map(|line| line.forgotten.clone()).collect();
        Collected { kept, lost: Vec::new(), forgotten }
    }
}

/// What a proof says that leaves an execution after a step.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Leaving {
    pub gone: BTreeSet<Id>,
    /// Those of these that are forgotten, each with whether somebody could modify it.
    pub lost: Vec<(Id, bool)>,
    /// For each thread, what is known of its forgotten writes from then on.
    pub forgotten: Vec<Vec<Forgotten>>,
}

impl Leaving {
    fn of(&self, execution: &Execution) -> Collected {
        // Whoever is about to read a write will, whatever is said.
        let waits = execution.threads.iter().map(|line| line.wait);
        let served = |id: Id| waits.clone().any(|wait| wait == Wait::Served(id));
        let is_gone = |id: Id| self.gone.contains(&id) && !served(id);
        let mut kept = execution.all();
        for (thread, kept) in kept.iter_mut().enumerate() {
            kept.retain(|index| !is_gone(Id { thread: thread as u32, index: *index }));
        }
        let address = |id: Id| execution.event(id).and_then(|event| event.memory());
        let lost = self.lost.iter();
        let lost = lost.filter_map(|(id, is_open)| Some((*id, address(*id)?, *is_open)));
        Collected { kept, lost: lost.collect(), forgotten: self.forgotten.clone() }
    }
}

/// By its decisions, what leaves after each step of a thread.
pub type Told = FxHashMap<Vec<Decision>, Leaving>;

impl Memory<'_> {
    /// What stays after a step.
    pub fn stays(
        &mut self,
        execution: &Execution,
        control: &Control,
        trail: &[Decision],
    ) -> Collected {
        match &self.told {
            None => self.collect(execution, control),
            Some(told) => match told.get(trail) {
                Some(leaving) => leaving.of(execution),
                None => Collected::all(execution),
            },
        }
    }
}
