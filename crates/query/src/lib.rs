//! What an engine is asked, and what it answers.
//!
//! Engines are siblings: each implements [`Engine`], and nobody reaches one in another way. What
//! concerns all of them is in the [`Query`]; what only one of them knows is an
//! [extension](Extensions) of it.

mod answer;
mod extensions;
mod reductions;
mod subject;

use std::any::TypeId;
use std::sync::Arc;

use parallax_control::Control;
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Property};
use parallax_verdict::Suspicion;

pub use answer::{Answer, SolverWork};
pub use extensions::{Extension, Extensions, Tracked};
pub use reductions::{Reduction, Reductions};
pub use subject::{Final, Marked, NumberOrder, Subject, Wording};

/// A question about a program.
#[derive(Clone)]
pub struct Query<'a> {
    pub subject: &'a Subject,
    pub model: Arc<Model>,
    /// Whether the program is in C and the model speaks of a machine, so that the program has to be
    /// compiled to the accesses and fences of that machine first.
    pub is_compiled: bool,
    /// What to look for.
    pub properties: Vec<Property>,
    /// How often loops are repeated at most; None for as often as they want.
    pub unroll: Option<u32>,
    /// Which values inputs may have, both ends included; None for any.
    pub nondet: Option<(i128, i128)>,
    pub wanted: Wanted<'a>,
    /// What only some engines know.
    pub extensions: Extensions,
}

/// What counts as an answer.
#[derive(Clone, Copy)]
pub enum Wanted<'a> {
    /// One violation, or none.
    First,
    /// One violation of each kind at each place.
    All,
    /// All bad executions, one after the other, for somebody who judges them.
    Every(&'a Every<'a>),
}

/// Takes what is found, and says whether to go on.
pub type Every<'a> = dyn Fn(Found) -> bool + Sync + 'a;

/// Of a search that reports every bad execution.
pub enum Found {
    /// A bad execution, which nobody has confirmed.
    Suspect(Suspicion),
    /// The search starts again: what was found so far may be wrong, and is found again if not.
    Restart,
}

impl Query<'_> {
    /// Whether the search goes on after the first violation.
    pub fn goes_on(&self) -> bool {
        !matches!(self.wanted, Wanted::First)
    }
}

/// A way to search.
pub trait Engine: Sync {
    fn name(&self) -> &'static str;

    /// What it does, in a few words, for lists of engines.
    fn summary(&self) -> &'static str;

    /// Whether it can be asked this. The error says why not.
    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic>;

    /// The types of [extensions](Extensions) that it knows.
    fn extensions(&self) -> Vec<TypeId> {
        Vec::new()
    }

    /// Whether it looks for a property at all.
    fn looks_for(&self, _: Property) -> bool {
        true
    }

    /// Whether the number of executions in its counts is that of all that it has looked at.
    fn counts_executions(&self) -> bool {
        true
    }

    /// Whether it reports [every](Wanted::Every) bad execution.
    fn reports_every(&self) -> bool {
        false
    }

    /// Whether it takes programs in C whose values are integers, up to where words are others.
    fn takes_integers(&self) -> bool {
        false
    }

    /// Whether it takes programs [with marks](Marked) where invariants of loops are.
    fn takes_marks(&self) -> bool {
        false
    }

    /// Answers a query that it admits. The errors are those of the input or of the model.
    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics>;
}
