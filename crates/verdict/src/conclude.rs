//! From what a search has seen to its verdict: the one place that says `safe`.
//!
//! No execution is cut in silence. An execution that ends, or gets a value of several, for
//! something that nobody asked about hides what would come after it; so does a limit, and all that
//! an engine cannot follow. Engines report each such way to [`Gaps`], and no verdict is `safe`
//! that has one.

use parallax_program::{Location, Property};

use crate::{Conclusion, Counts, Reason, Scope, Verdict, Violation};

/// Why a search may have missed something. The first reason is the one that people are told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    first: Option<Reason>,
}

impl Gaps {
    pub fn add(&mut self, reason: Reason) {
        self.first.get_or_insert(reason);
    }

    /// An execution violates a property that nobody asked about. What comes after it is lost if the
    /// language lets anything happen there.
    pub fn violated(&mut self, property: Property, message: &str, place: Option<Location>) {
        if leaves_all_open(property) {
            self.add(unasked(property, message, place));
        }
    }

    pub fn first(&self) -> Option<&Reason> {
        self.first.as_ref()
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl From<Reason> for Gaps {
    fn from(reason: Reason) -> Gaps {
        Gaps { first: Some(reason) }
    }
}

/// Whether anything may happen after a violation, as far as the language says. A failed assertion
/// ends the program; threads that wait go no further; a leak changes nothing; and races are
/// executed as the model has it.
pub fn leaves_all_open(property: Property) -> bool {
    match property {
        Property::Memory | Property::Lock | Property::Overflow => true,
        Property::Assert
        | Property::Race
        | Property::Leak
        | Property::Deadlock
        | Property::Liveness => false,
    }
}

/// Why nothing is concluded where an execution violates a property that was not asked for.
pub fn unasked(property: Property, message: &str, place: Option<Location>) -> Reason {
    Reason {
        message: format!("what follows is open, and '{property}' is not checked: {message}"),
        place,
        help: Some(format!("--property {property} would show it as a violation")),
    }
}

/// All that a search has to say.
#[derive(Clone, Debug)]
pub struct Searched {
    /// How far it went.
    pub scope: Scope,
    /// Whether it went on after a violation.
    pub all: bool,
    pub gaps: Gaps,
    /// Those that were checked.
    pub properties: Vec<Property>,
    pub counts: Counts,
    pub violations: Vec<Violation>,
    pub notes: Vec<String>,
}

impl Searched {
    /// What was found is found, whatever was missed; nothing is wrong only if nothing was missed.
    pub fn conclude(self) -> Verdict {
        let Searched { scope, all, gaps, properties, counts, violations, notes } = self;
        let is_whole = gaps.is_empty();
        let (conclusion, scope, reason) = match (violations.is_empty(), gaps.first) {
            (false, _) => (Conclusion::Unsafe, (all && is_whole).then_some(scope), None),
            (true, Some(reason)) => (Conclusion::Unknown, None, Some(reason)),
            (true, None) => (Conclusion::Safe, Some(scope), None),
        };
        Verdict { conclusion, scope, reason, properties, counts, violations, notes }
    }
}

impl Verdict {
    /// Nothing is concluded after all.
    pub fn withdrawn(self, reason: Reason) -> Verdict {
        let (conclusion, reason) = (Conclusion::Unknown, Some(reason));
        Verdict { conclusion, scope: None, reason, violations: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Execution;

    fn searched(gaps: Gaps, violations: Vec<Violation>) -> Searched {
        Searched {
            scope: Scope::Complete,
            all: true,
            gaps,
            properties: vec![Property::Assert],
            counts: Counts::default(),
            violations,
            notes: Vec::new(),
        }
    }

    fn failure() -> Violation {
        Violation {
            property: Property::Assert,
            message: "no".to_string(),
            place: None,
            execution: Execution::default(),
            involved: Vec::new(),
        }
    }

    #[test]
    fn nothing_is_safe_that_has_a_gap() {
        let safe = searched(Gaps::default(), vec![]).conclude();
        assert_eq!((safe.conclusion(), safe.scope), (Conclusion::Safe, Some(Scope::Complete)));
        let mut gaps = Gaps::default();
        gaps.violated(Property::Memory, "null pointer", None);
        let unknown = searched(gaps.clone(), vec![]).conclude();
        assert_eq!((unknown.conclusion(), unknown.scope), (Conclusion::Unknown, None));
        assert!(unknown.reason.is_some_and(|reason| reason.message.ends_with("null pointer")));
        let unsafe_anyway = searched(gaps, vec![failure()]).conclude();
        assert_eq!((unsafe_anyway.conclusion(), unsafe_anyway.scope), (Conclusion::Unsafe, None));
    }

    #[test]
    fn what_ends_a_program_hides_nothing() {
        let mut gaps = Gaps::default();
        gaps.violated(Property::Assert, "assertion fails", None);
        gaps.violated(Property::Deadlock, "threads wait for one another", None);
        assert!(gaps.is_empty());
    }
}
