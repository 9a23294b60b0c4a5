//! All outcomes of a litmus test under a model.

use parallax_program::{Bits, Quantifier};

use crate::{Confirmed, Execution};

/// The value that one observed thing ends with.
#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct StateValue {
    /// What: `0:EAX`, `x`.
    pub name: String,
    pub bits: Bits,
    /// The value as people write it: a signed number, or the name of a location.
    pub shown: String,
    /// Memory, as opposed to a register.
    pub in_memory: bool,
}

/// A final state: values in the order of the question's observables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FinalState {
    pub values: Vec<StateValue>,
    /// Whether it satisfies the test's proposition.
    pub satisfies: bool,
    /// Executions that end in it.
    pub executions: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation {
    Never,
    Sometimes,
    Always,
}

/// How the search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Every execution within the loop bound was looked at; no path needed more.
    Complete,
    /// As `Complete`, but some path was cut at the loop bound.
    Bounded,
    /// The search was stopped; what was found so far is right, but there may be more.
    Stopped { reason: String },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcomes {
    pub quantifier: Quantifier,
    /// Sorted, each once.
    pub states: Vec<FinalState>,
    /// Executions that satisfy the proposition, and that do not.
    pub positive: u64,
    pub negative: u64,
    /// Whether `positive` and `negative` count every total coherence order apart. Otherwise
    /// executions that differ only in coherence between writes that no read, no observed
    /// location and no axiom distinguishes are counted once.
    pub counts_are_total: bool,
    /// Flags that the model raised in some execution, each once, in the model's order.
    pub flags: Vec<String>,
    pub ending: Ending,
    /// Executions that satisfy the proposition, as many as were asked for.
    pub witnesses: Vec<Confirmed<Execution>>,
}

impl Outcomes {
    pub fn observation(&self) -> Observation {
        match (self.positive, self.negative) {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// Whether the test's condition holds of the states found.
    pub fn condition_holds(&self) -> bool {
        match self.quantifier {
            Quantifier::Exists => self.positive > 0,
            Quantifier::NotExists => self.positive == 0,
            Quantifier::ForAll => self.negative == 0,
        }
    }

    /// Whether more search could change [`Outcomes::condition_holds`].
    pub fn is_settled(&self) -> bool {
        match (&self.ending, self.quantifier) {
            (Ending::Complete | Ending::Bounded, _) => true,
            (_, Quantifier::Exists | Quantifier::NotExists) => self.positive > 0,
            (_, Quantifier::ForAll) => self.negative > 0,
        }
    }
}
