//! What an engine answers to `is this program right?`.

use parallax_program::{Help, Location, Property, Voice};

use crate::{Confirmed, Execution};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conclusion {
    Safe,
    Unsafe,
    Unknown,
}

impl Conclusion {
    pub fn name(self) -> &'static str {
        match self {
            Conclusion::Safe => "safe",
            Conclusion::Unsafe => "unsafe",
            Conclusion::Unknown => "unknown",
        }
    }
}

/// How much a verdict covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Every execution.
    Complete,
    /// Those in which no loop repeats more often.
    Bounded(u32),
    /// Those that an option has left, such as one that says which inputs to try. Notes say which.
    Restricted,
}

/// A conclusion, and what it stands on. [`Searched::conclude`](crate::Searched::conclude) makes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    pub(crate) conclusion: Conclusion,
    /// None where nothing is concluded.
    pub scope: Option<Scope>,
    /// Why nothing is concluded.
    pub reason: Option<Reason>,
    /// Those that were checked.
    pub properties: Vec<Property>,
    pub counts: Counts,
    pub violations: Vec<Violation>,
    /// What else people should know, such as properties that were asked for and not checked.
    pub notes: Vec<String>,
}

impl Verdict {
    pub fn conclusion(&self) -> Conclusion {
        self.conclusion
    }
}

/// Why there is no conclusion, and what to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub message: String,
    pub place: Option<Location>,
    pub help: Option<Help>,
}

impl Reason {
    /// With its help as a sentence.
    pub fn worded(self, voice: &dyn Voice) -> Reason {
        let help = self.help.map(|help| help.worded(voice).into());
        Reason { help, ..self }
    }
}

/// What a search looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Complete executions.
    pub executions: u64,
    /// Executions that end at a false assumption or in an endless wait.
    pub blocked: u64,
    /// Executions that were explored although an equivalent one had been.
    pub redundant: u64,
    pub states: u64,
    pub events: u64,
}

/// Something wrong, and an execution that shows it. What people see is confirmed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation<E = Confirmed<Execution>> {
    pub property: Property,
    pub message: String,
    pub place: Option<Location>,
    pub execution: E,
    /// Numbers of the events that it is about: the racing accesses, the reads that are stuck.
    pub involved: Vec<u32>,
}

/// A violation whose execution nobody has confirmed, or has changed since. Nobody gets to see it.
pub type Claimed = Violation<Execution>;

impl Violation {
    /// For whoever changes the execution.
    pub fn into_claimed(self) -> Claimed {
        let Violation { property, message, place, execution, involved } = self;
        Violation { property, message, place, execution: execution.into_inner(), involved }
    }
}
