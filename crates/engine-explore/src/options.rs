//! What a user of the engine decides.

use parallax_control::{Control, Link};
use parallax_program::Property;
use parallax_query::{Every, Reductions};

use crate::checkpoint::Checkpoint;

pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// How often loops are repeated at most; None for as often as they want.
    pub unroll: Option<u32>,
    pub reductions: Reductions,
    /// Go on after a violation.
    pub all: bool,
    /// What inputs may be; None if programs with inputs are beyond the engine.
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
    /// Whether to estimate the number of executions first.
    pub estimate: bool,
    /// Who gets every bad execution, and not only the first of each kind at each place, which the
    /// verdict has. One thread searches then, so that there is one order.
    pub every: Option<&'a Every<'a>>,
    /// Where the search is written down, and what it goes on with.
    pub checkpoint: Option<&'a Checkpoint>,
    /// The way to other processes that search with this one.
    pub link: Option<&'a dyn Link>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            properties: Property::ALL
                .into_iter()
                .filter(|property| *property != Property::Leak)
                .collect(),
            unroll: None,
            reductions: Reductions::ALL,
            all: false,
            nondet: None,
            control: Control::default(),
            estimate: false,
            every: None,
            checkpoint: None,
            link: None,
        }
    }
}
