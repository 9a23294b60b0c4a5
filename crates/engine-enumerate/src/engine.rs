//! Enumeration as one engine among others: is there an execution with a bad final state?

use parallax_control::Control;
use parallax_program::{Diagnostic, Diagnostics, Help, Property, Setting};
use parallax_query::{Answer, Engine, Final, Query, Wanted};
use parallax_verdict::{Counts, Ending, Gaps, Outcomes, Scope, Searched, Verdict, no_final_state};

use crate::{Options, enumerate};

/// All executions of a program without endless loops.
pub struct Enumerate;

/// How often a loop is repeated where nothing is said.
const USUAL_BOUND: u32 = 2;

impl Engine for Enumerate {
    fn name(&self) -> &'static str {
        "enumerate"
    }

    fn summary(&self) -> &'static str {
        "final states of litmus tests"
    }

    fn admits(&self, query: &Query<'_>) -> Result<(), Diagnostic> {
        if query.subject.finals.is_none() {
            let message =
                "enumeration answers questions about final states, and the program has none";
            return Err(Diagnostic::new(message));
        }
        if query.nondet.is_some() {
            let error = Diagnostic::new("litmus tests have no inputs");
            return Err(error.with_help(Help::LeaveOut(vec![Setting::Inputs])));
        }
        if !query.properties.contains(&Property::Assert) {
            let message = "of a litmus test, only the final condition can be checked";
            return Err(Diagnostic::new(message).with_help(Help::LookFor(Property::Assert)));
        }
        Ok(())
    }

    fn looks_for(&self, property: Property) -> bool {
        property == Property::Assert
    }

    fn run(&self, query: &Query<'_>, control: &Control<'_>) -> Result<Answer, Diagnostics> {
        self.admits(query).map_err(|error| vec![error])?;
        let Some(asked) = &query.subject.finals else { return Err(Vec::new()) };
        let bound = query.unroll.unwrap_or(USUAL_BOUND);
        let options = Options {
            bound,
            // The same is wrong with all of them.
            witnesses: match query.wanted {
                Wanted::First | Wanted::All => 1,
                Wanted::Every(_) => usize::MAX,
            },
            control: control.clone(),
            ..Options::default()
        };
        let outcomes = enumerate(&asked.program, &asked.bad, &query.model, &options)?;
        Ok(Answer { all: true, ..Answer::new(verdict(asked, outcomes, bound), self.name()) })
    }
}

/// What the outcomes say about the bad states.
fn verdict(asked: &Final, outcomes: Outcomes, bound: u32) -> Verdict {
    let mut gaps = Gaps::default();
    let scope = match &outcomes.ending {
        Ending::Complete => Scope::Complete,
        Ending::Bounded | Ending::Stopped { .. } => Scope::Bounded(bound),
    };
    if let Ending::Stopped { reason } = &outcomes.ending {
        gaps.add(parallax_verdict::Reason {
            message: format!("the search was stopped: {reason}"),
            place: None,
            help: None,
        });
    }
    let executions = outcomes.positive.saturating_add(outcomes.negative);
    if executions == 0 {
        gaps.add(no_final_state(&outcomes.ending));
    }
    let witnesses = outcomes.witnesses.into_iter();
    let notes = outcomes.flags.iter();
    let searched = Searched {
        scope,
        all: true,
        gaps,
        properties: vec![Property::Assert],
        counts: Counts { executions, ..Counts::default() },
        violations: witnesses.map(|witness| asked.violation(witness)).collect(),
        notes: notes
            .map(|flag| format!("the model raises the flag '{flag}' in some execution"))
            .collect(),
    };
    searched.conclude()
}
