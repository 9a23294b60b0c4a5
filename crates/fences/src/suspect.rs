//! A bad execution, and which plans leave it alive.
//!
//! A plan kills an execution if the model's text forbids it with the plan's fences in their places and
//! the accesses as strong as the plan has them. This is what fences are for: no cycle of a certain
//! form has to be looked for, and any model will do. A violation that is the lack of an order, a race
//! or the use of an object that another thread frees, is also gone where the two events are ordered.
//!
//! More fences forbid more, and order more. So the plans that leave an execution alive are closed
//! under weakening, and a *largest* one that does tells much: every plan that kills the execution has
//! at some place an option that the largest does not cover. See [`crate::synthesis`].

use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_verdict::{Event, Judgement, Trial, Violation, retrace};

use crate::decision::{Decisions, Plan, Subject};
use crate::largest::largest;

pub struct Suspect<'m> {
    pub violation: Violation,
    trial: Trial<'m>,
    /// The decisions that the execution comes by.
    concerned: Vec<u32>,
}

impl<'m> Suspect<'m> {
    /// The error says why the execution is none of the marked program.
    pub fn new(
        marked: &Program,
        decisions: &Decisions,
        violation: Violation,
        model: &'m Model,
    ) -> Result<Suspect<'m>, String> {
        let bare = without(&violation, |event| event.tags.candidate().is_some());
        let retraced = retrace(marked, &bare.execution, model)?;
        let trial = Trial::new(&retraced, unordered(&bare), model);
        let concerned = trial.candidates();
        Ok(Suspect { violation: shown(&violation, decisions), trial, concerned })
    }

    /// Whether the execution, and what is wrong with it, is still there under a plan.
    pub fn survives(&mut self, decisions: &Decisions, plan: &Plan) -> Result<bool, String> {
        let tags = |number: u32, now: &_| decisions.tags(plan, number, now);
        Ok(match self.trial.judge(&tags)? {
            Judgement::Forbidden => false,
            Judgement::Allowed { is_ordered } => !is_ordered,
        })
    }

    /// A [largest](largest()) plan that the execution survives, from one that it survives.
    pub fn largest(&mut self, decisions: &Decisions, plan: &Plan) -> Result<Plan, String> {
        let concerned = self.concerned.clone();
        largest(decisions, &concerned, plan, &mut |plan| self.survives(decisions, plan))
    }
}

/// The violation in the program without some fences.
fn without(violation: &Violation, leaves: impl Fn(&Event) -> bool) -> Violation {
    let (execution, numbers) = violation.execution.without(leaves);
    let number = |event: &u32| numbers.get(*event as usize).copied().flatten();
    let involved = violation.involved.iter().filter_map(number).collect();
    Violation { execution, involved, ..violation.clone() }
}

/// As people should see it: in the program as it stands, without marks.
pub fn shown(violation: &Violation, decisions: &Decisions) -> Violation {
    let is_inserted = |event: &Event| {
        let decision = event.tags.candidate().and_then(|number| decisions.0.get(number as usize));
        decision.is_some_and(|decision| decision.subject == Subject::Insertion)
    };
    let mut shown = without(violation, is_inserted);
    for event in &mut shown.execution.events {
        event.tags = event.tags.unmarked();
    }
    shown
}

/// The events of a violation that is the lack of an order.
fn unordered(violation: &Violation) -> Option<(u32, u32)> {
    let may = matches!(violation.property, Property::Race | Property::Memory);
    match violation.involved[..] {
        [first, second] if may => Some((first, second)),
        _ => None,
    }
}
