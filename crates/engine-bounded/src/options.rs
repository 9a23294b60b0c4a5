//! What a user of the engine decides, and what the engine reports about its work.

use std::time::Duration;

use parallax_control::Control;
use parallax_program::Property;
use parallax_solver::{Backend, Literal, Problem};

#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// What to look for.
    pub properties: Vec<Property>,
    /// Whether to go on after a violation.
    pub all: bool,
    /// How often loops are repeated at most; None for more and more often, until no way repeats
    /// one more often.
    pub unroll: Option<u32>,
    /// Whether that binds loops that count, too.
    pub binds_counts: bool,
    /// Which values inputs may have, both ends included; None for any.
    pub nondet: Option<(i128, i128)>,
    pub control: Control<'a>,
    pub solving: Solving,
    pub framework: Framework,
    /// Whether only executions count in which no assumption fails, also later, or in another
    /// thread. Otherwise an assumption that fails is the end of its thread.
    pub throughout: bool,
    /// Whether to count classes of executions by the values of reads, where nothing is wrong.
    pub views: bool,
}

/// How it is said which executions are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Framework {
    /// By the axioms of the model's `.cat` file.
    #[default]
    Cat,
    /// By the order of sub-operations; for `sc`, `tso` and `pso`.
    Gharachorloo,
}

/// Who answers, and what of it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Solving {
    pub backend: Backend,
    /// Believe that there is no execution only with a certificate that was checked.
    pub certify: bool,
    /// Keep the questions.
    pub keep: bool,
    /// Words of [`INTEGER_WIDTH`](parallax_solver::INTEGER_WIDTH) bits are integers without bounds.
    /// Only Z3 knows those.
    pub integers: bool,
}

/// A question, as the solver had it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    pub problem: Problem,
    pub assumptions: Vec<Literal>,
}

/// The certificates that were checked, taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Certified {
    pub answers: u64,
    pub cycles: u64,
    pub steps: u64,
}

/// How often loops are repeated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Those in which nothing decides beforehand that there is another round.
    pub rounds: u32,
    /// Those that count.
    pub counted: u32,
}

impl Bound {
    /// A counting loop that has not ended after so many rounds is cut too.
    pub const MOST_COUNTED: u32 = 4096;

    /// Up to so many rounds of every loop nothing is left out.
    pub fn of_all(self) -> u32 {
        self.rounds.min(self.counted)
    }
}

impl Default for Bound {
    fn default() -> Bound {
        Bound { rounds: 0, counted: Bound::MOST_COUNTED }
    }
}

impl Options<'_> {
    /// The bounds to try, one after the other. What is wrong in the first rounds of a loop shows
    /// before the others are unfolded.
    pub(crate) fn bounds(&self) -> Vec<Bound> {
        let bound = |(rounds, counted)| Bound { rounds, counted };
        let most = Bound::MOST_COUNTED;
        match self.unroll {
            Some(rounds) if self.binds_counts => vec![Bound { rounds, counted: rounds.min(most) }],
            Some(rounds) => vec![Bound { rounds, counted: most }],
            // Whoever keeps questions and their certificates wants few of them.
            None if self.solving.certify || self.solving.keep => {
                vec![1, 2, 4, 8, 16, 32].into_iter().map(|rounds| bound((rounds, most))).collect()
            }
            None => {
                let counted = [(1, 2), (1, 8)].into_iter();
                counted
                    .chain([1, 2, 4, 8, 16, 32].map(|rounds| (rounds, most)))
                    .map(bound)
                    .collect()
            }
        }
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            properties: Property::ALL
                .into_iter()
                .filter(|property| *property != Property::Leak)
                .collect(),
            all: false,
            unroll: Some(2),
            binds_counts: false,
            nondet: None,
            control: Control::default(),
            solving: Solving::default(),
            framework: Framework::default(),
            throughout: false,
            views: false,
        }
    }
}

/// How large the problem was, and how long it took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    pub events: u64,
    pub variables: u64,
    pub clauses: u64,
    pub edges: u64,
    pub certified: Certified,
    pub encoding: Duration,
    pub solving: Duration,
}
