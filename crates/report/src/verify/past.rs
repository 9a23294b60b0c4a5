//! What led to a violation: the events that can have had an influence on it, along program order
//! and reads-from. The rest of the execution happened too, but nobody needs to read it.

use parallax_program::Property;
use parallax_verdict::{ThreadEnding, Violation};

use super::links::Links;

/// For each event whether it can have had an influence. Where threads are stuck, or nothing says
/// what the violation is about, all events have.
pub fn causal_past(violation: &Violation, links: &Links, about: &[u32]) -> Vec<bool> {
    let count = violation.execution.events.len();
    let whole =
        matches!(violation.property, Property::Deadlock | Property::Liveness | Property::Leak);
    let mut open: Vec<u32> = about.to_vec();
    open.extend(failures(violation));
    if whole || open.is_empty() {
        return vec![true; count];
    }
    let mut past = vec![false; count];
    while let Some(event) = open.pop() {
        let seen = &mut past[event as usize];
        if !*seen {
            *seen = true;
            open.extend(links.previous[event as usize]);
            open.extend(links.source[event as usize]);
        }
    }
    past
}

/// The last events of the threads that failed.
fn failures(violation: &Violation) -> impl Iterator<Item = u32> {
    let execution = &violation.execution;
    let standings = (0u32..).zip(&execution.standings);
    let failed = standings.filter(|(_, standing)| standing.ending == ThreadEnding::Failed);
    failed.filter_map(|(thread, _)| {
        let last = execution.events.iter().rposition(|event| event.thread == Some(thread));
        last.map(|last| last as u32)
    })
}
