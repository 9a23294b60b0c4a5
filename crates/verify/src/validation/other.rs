//! Whether an execution that an engine has found is one that a witness means.
//!
//! The machine of the search has one value for what nobody has written, and does not follow all that
//! engines do. So where it cannot decide, their own violation is held against the witness.

use parallax_frontend_c::Formula;
use parallax_verdict::{Call, EventKind, ThreadEnding, Violation};

use super::Guide;
use super::expression::evaluate;
use crate::witness::{Waypoint, What};

impl Guide<'_> {
    /// Whether a violation is at the target, and its execution comes by all places in order.
    pub(super) fn means(&self, violation: &Violation) -> bool {
        let execution = &violation.execution;
        let mut threads: Vec<(usize, u32)> = Vec::new();
        let mut waypoints = self.waypoints.iter().peekable();
        for number in execution.schedule.iter().map(|number| *number as usize) {
            let (Some(event), Some(stack)) =
                (execution.events.get(number), execution.stacks.get(number))
            else {
                return false;
            };
            let Some(thread) = event.thread else { continue };
            while let Some((waypoint, place)) = waypoints.peek() {
                let fits = self.comes_by(stack, *place)
                    && self.takes(waypoint, &event.kind)
                    && self.is_by(&mut threads, waypoint, thread);
                if !fits {
                    break;
                }
                waypoints.next();
                if matches!(waypoint.what, What::Returns(_)) {
                    break;
                }
            }
        }
        waypoints.next().is_none() && self.is_at_target(violation)
    }

    fn comes_by(&self, stack: &[Call], place: usize) -> bool {
        stack.iter().any(|call| self.place(&call.place) == Some(place))
    }

    /// Whether an event is what a waypoint is about. What is assumed was not looked at.
    fn takes(&self, waypoint: &Waypoint, kind: &EventKind) -> bool {
        let What::Returns(text) = &waypoint.what else { return true };
        let EventKind::Choice { value } = kind else { return false };
        let holds = |value: i128| {
            let result = |name: &str| (name == "\\result").then_some(value);
            evaluate(text, &result).is_some_and(|holds| holds != 0)
        };
        holds(value.to_signed()) || i128::try_from(value.unsigned()).is_ok_and(holds)
    }

    /// Whether the thread is the one that a waypoint names, or may be called so from now on.
    fn is_by(&self, threads: &mut Vec<(usize, u32)>, waypoint: &Waypoint, thread: u32) -> bool {
        if waypoint.thread.is_none() {
            return true;
        }
        let name = self.name(waypoint);
        let known = threads.iter().find(|(other, own)| *other == name || *own == thread);
        match known {
            Some(known) => *known == (name, thread),
            None => {
                threads.push((name, thread));
                true
            }
        }
    }

    fn is_at_target(&self, violation: &Violation) -> bool {
        let execution = &violation.execution;
        let failed = execution.standings.iter().filter(|s| s.ending == ThreadEnding::Failed);
        let failed = failed.map(|standing| standing.stack.as_slice());
        let involved = violation.involved.iter();
        let involved = involved.filter_map(|number| execution.stacks.get(*number as usize));
        let stacks: Vec<&[Call]> = failed.chain(involved.map(Vec::as_slice)).collect();
        let is_there = |place: usize| stacks.iter().any(|stack| self.comes_by(stack, place));
        match self.asks(&Formula::NoRace) {
            true => self.targets.iter().all(|(_, place)| is_there(*place)),
            false => self.targets.iter().any(|(_, place)| is_there(*place)),
        }
    }
}
