//! Few threads first: of those that begin with the same function only the first ones take steps.
//!
//! What goes wrong between hundreds of threads mostly goes wrong between two or three of them (S. Lu,
//! S. Park, E. Seo, Y. Zhou, Learning from mistakes, ASPLOS 2008, count at most four), and there
//! the search is small. An execution in which others never come to their turn is one of the program, so
//! whatever goes wrong at a thread is real. That nothing can happen any more is not: it is no final
//! state where somebody was left out. If nobody ever is, the search is the whole one.

use std::collections::HashMap;

use parallax_machine::system::System;
use parallax_program::{FunctionId, VarId};

pub struct Few {
    /// How many threads of a kind take steps.
    most: u32,
    /// For each thread that was seen, whether it takes none.
    known: HashMap<u32, bool>,
    /// How many there are of each kind.
    counts: HashMap<Kind, u32>,
    pub has_left_out: bool,
}

/// The function that a thread begins with, and the one that it is to call, if it is.
type Kind = (FunctionId, Option<FunctionId>);

impl Few {
    /// How many threads of a kind are looked at, one search after the other.
    pub const STAGES: [u32; 2] = [1, 2];
    /// States after which the search is given up, once a thread was left out.
    pub const MOST_STATES: u64 = 20_000;

    pub fn new(most: u32) -> Few {
        let (known, counts) = (HashMap::new(), HashMap::new());
        Few { most, known, counts, has_left_out: false }
    }

    /// Whether a thread takes no steps.
    pub fn leaves_out(&mut self, system: &System<'_, '_>, thread: u32) -> bool {
        if let Some(known) = self.known.get(&thread) {
            return *known;
        }
        let is_first = (thread as usize) < system.setup().code.program.threads.len();
        let Some(kind) = kind(system, thread).filter(|_| !is_first) else { return false };
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let is_out = *count > self.most;
        self.known.insert(thread, is_out);
        self.has_left_out |= is_out;
        is_out
    }

    /// Whether a thread of a state takes no steps.
    pub fn leaves_out_of(&self, system: &System<'_, '_>) -> bool {
        let there = |thread: &u32| system.thread(*thread).is_some();
        self.has_left_out && self.known.iter().any(|(thread, is_out)| *is_out && there(thread))
    }
}

/// None for a thread that is over.
fn kind(system: &System<'_, '_>, thread: u32) -> Option<Kind> {
    let local = system.thread(thread)?;
    let site = local.thread.stack().next()?;
    let program = system.setup().code.program;
    let entry = local.thread.value(0, VarId(0)).and_then(|first| program.function_at(*first));
    Some((site.function, entry))
}
