//! From what a search has seen to its verdict: the one place that says `safe`.
//!
//! No execution is cut in silence. An execution that ends, or gets a value of several, for
//! something that nobody asked about hides what would come after it; so does a limit, and all that
//! an engine cannot follow. Engines report each such way to [`Gaps`], and no verdict is `safe`
//! that has one.

use parallax_control::Stop;
use parallax_program::{Help, Location, Property, Setting};

use crate::{Conclusion, Counts, Ending, Reason, Scope, Verdict, Violation};

/// Why a search may have missed something. The first reason is the one that people see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gaps {
    first: Option<Reason>,
}

impl Gaps {
    /// The first of them.
    pub fn reason(&self) -> Option<&Reason> {
        self.first.as_ref()
    }

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

    /// Of what was asked for, only some was looked for.
    pub fn unchecked(&mut self, asked: &[Property], checked: &[Property]) {
        if checked.is_empty() && !asked.is_empty() {
            let names: Vec<&str> = asked.iter().map(|property| property.name()).collect();
            self.add(Reason {
                message: format!(
                    "nothing was checked: this engine does not look for {} under this model",
                    names.join(", ")
                ),
                place: None,
                help: Some(Help::Other(vec![Setting::Engine, Setting::Model, Setting::Property])),
            });
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
        Property::Memory | Property::Lock | Property::Overflow | Property::Layout => true,
        Property::Assert
        | Property::Race
        | Property::Leak
        | Property::Deadlock
        | Property::Liveness => false,
    }
}

/// Why nothing is concluded where an execution violates a property that was not asked for.
pub fn unasked(property: Property, message: &str, place: Option<Location>) -> Reason {
    if property == Property::Layout {
        let help = "the answer would be one of many layouts: decide by what holds in all of them";
        return Reason { message: message.to_string(), place, help: Some(help.into()) };
    }
    Reason {
        message: format!("what follows is open, and '{property}' is not checked: {message}"),
        place,
        help: Some(Help::with(Setting::Property, property.name(), "would show it as a violation")),
    }
}

/// Why nothing is concluded where no execution gets beyond an assumption: everything holds of
/// nothing.
pub fn no_execution_passes(assumption: Option<Location>) -> Reason {
    Reason {
        message: "no execution passes the assumption".to_string(),
        place: assumption,
        help: Some("so nothing was checked that comes after it".into()),
    }
}

/// Why nothing is concluded where there is nothing to look at.
pub fn no_execution() -> Reason {
    Reason {
        message: "the model allows no execution of the program, so nothing was checked".to_string(),
        place: None,
        help: None,
    }
}

/// Why nothing is concluded where each execution is cut off in a loop that it might have left.
pub fn no_execution_within(bound: u32) -> Reason {
    let rounds = if bound == 1 { "round" } else { "rounds" };
    Reason {
        message: format!(
            "no execution comes to its end within {bound} {rounds} of each loop, so what comes after \
             them was not checked"
        ),
        place: None,
        help: Some(Help::Raise(Setting::Unroll)),
    }
}

/// Why nothing is concluded where a search was stopped from outside.
pub fn stopped(stop: Stop) -> Reason {
    let (message, help) = match stop {
        Stop::Cancelled => ("stopped", "the counts say how far the search came".into()),
        Stop::Deadline => ("out of time", Help::Raise(Setting::Timeout)),
        Stop::MemoryLimit => ("out of memory", Help::Raise(Setting::MemoryLimit)),
    };
    Reason { message: message.to_string(), place: None, help: Some(help) }
}

/// Why a search for final states that has found none says nothing.
pub fn no_final_state(ending: &Ending) -> Reason {
    let (why, help) = match ending {
        Ending::Bounded => ("within the loop bound", Some(Help::Raise(Setting::Unroll))),
        Ending::Complete | Ending::Stopped { .. } => ("under this model", None),
    };
    Reason {
        message: format!("no execution comes to its end {why}, so nothing was checked"),
        place: None,
        help,
    }
}

/// What is said where no execution comes to its end, as threads wait for ever in all of them or are
/// cut off. That is no gap: what comes before was checked.
pub const NONE_ENDS: &str =
    "vacuous: no execution comes to its end; what was checked holds as far as threads get";

/// Of the executions that a search has seen, whether one has ended, and what held up others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Endings {
    pub executions: u64,
    pub blocked: u64,
    /// Whether an assumption failed in one that is blocked, and the first place of such a one.
    pub assumption: Option<Option<Location>>,
    /// The bound, if a loop that may be left was cut off there.
    pub cut: Option<u32>,
}

impl Endings {
    /// An assumption failed.
    pub fn held_up(&mut self, place: Option<Location>) {
        let first = match self.assumption.take() {
            Some(known) => known.min(place),
            None => place,
        };
        self.assumption = Some(first);
    }

    /// What follows for the verdict.
    pub fn weigh(self, gaps: &mut Gaps, notes: &mut Vec<String>) {
        match (self.executions, self.blocked, self.assumption) {
            (0, _, Some(place)) => gaps.add(no_execution_passes(place)),
            (0, 0, None) if gaps.is_empty() => gaps.add(no_execution()),
            (0, 1.., None) => match self.cut {
                Some(bound) => gaps.add(no_execution_within(bound)),
                None => notes.push(NONE_ENDS.to_string()),
            },
            _ => {}
        }
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
    /// It holds only of what an option has left.
    pub fn restricted(mut self, note: Option<String>) -> Verdict {
        if note.is_some() && self.scope == Some(Scope::Complete) {
            self.scope = Some(Scope::Restricted);
        }
        self.notes.extend(note);
        self
    }

    /// Nothing is concluded after all.
    pub fn withdrawn(self, reason: Reason) -> Verdict {
        let (conclusion, reason) = (Conclusion::Unknown, Some(reason));
        Verdict { conclusion, scope: None, reason, violations: Vec::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confirmed, Execution};

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
            execution: Confirmed::new(Execution::default()),
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
    fn nothing_holds_of_nothing() {
        let weighed = |progress: Endings| {
            let (mut gaps, mut notes) = (Gaps::default(), Vec::new());
            progress.weigh(&mut gaps, &mut notes);
            (gaps.first().map(|reason| reason.message.clone()), notes.len())
        };
        let (ended, waits) = (Endings { executions: 1, blocked: 5, ..Endings::default() }, 3);
        assert_eq!(weighed(ended.clone()), (None, 0));
        assert_eq!(weighed(Endings { blocked: waits, ..Endings::default() }), (None, 1));
        let cut = weighed(Endings { blocked: waits, cut: Some(2), ..Endings::default() });
        assert!(cut.0.is_some_and(|message| message.contains("within 2 rounds")));
        let nothing = weighed(Endings::default());
        assert!(nothing.0.is_some_and(|message| message.contains("no execution")));
        let mut assumes = Endings { blocked: 1, ..Endings::default() };
        let place = |line| Some(Location { file: "a".into(), line, column: 1 });
        assumes.held_up(place(2));
        assumes.held_up(place(1));
        assert_eq!(assumes.assumption, Some(place(1)));
        let said = Some("no execution passes the assumption".to_string());
        assert_eq!(weighed(assumes), (said, 0));
        let mut some_pass = ended;
        some_pass.held_up(None);
        assert_eq!(weighed(some_pass), (None, 0));
    }

    #[test]
    fn a_question_that_is_not_asked_has_no_answer() {
        let mut gaps = Gaps::default();
        gaps.unchecked(&[], &[]);
        gaps.unchecked(&[Property::Race, Property::Assert], &[Property::Assert]);
        assert!(gaps.is_empty());
        gaps.unchecked(&[Property::Race], &[]);
        assert!(gaps.first().is_some_and(|reason| reason.message.contains("race")));
    }

    #[test]
    fn options_that_leave_something_out_restrict() {
        let safe = || searched(Gaps::default(), vec![]).conclude();
        assert_eq!(safe().restricted(None).scope, Some(Scope::Complete));
        let less = safe().restricted(Some("only 0".to_string()));
        assert_eq!((less.scope, less.notes.len()), (Some(Scope::Restricted), 1));
    }

    #[test]
    fn what_ends_a_program_hides_nothing() {
        let mut gaps = Gaps::default();
        gaps.violated(Property::Assert, "assertion fails", None);
        gaps.violated(Property::Deadlock, "threads wait for one another", None);
        assert!(gaps.is_empty());
    }
}
