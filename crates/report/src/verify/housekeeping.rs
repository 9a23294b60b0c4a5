//! Steps that say nothing to a reader: stack frames that come and go, and the variables in which a
//! thread keeps the handles of those it starts and joins.

use std::collections::HashSet;

use parallax_program::Location;
use parallax_verdict::{EventKind, Execution};

use super::trace::shared_addresses;

/// For each event whether it is housekeeping.
pub fn housekeeping(execution: &Execution) -> Vec<bool> {
    let handles = handles(execution);
    let events = execution.events.iter();
    events
        .map(|event| match &event.kind {
            EventKind::Alloc { name, .. } | EventKind::Free { name, .. } => is_local(name),
            kind => kind.footprint().is_some_and(|(address, _)| handles.contains(&address)),
        })
        .collect()
}

/// Whether a name is that of a local variable, `function::variable`.
fn is_local(name: &str) -> bool {
    name.contains("::")
}

/// Addresses of local variables that a thread has for itself and uses in a line in which it
/// starts or joins another.
fn handles(execution: &Execution) -> HashSet<u64> {
    let shared = shared_addresses(execution);
    let lines = handling_lines(execution);
    let local = execution.events.iter().filter_map(|event| match &event.kind {
        EventKind::Read { location, address, .. } | EventKind::Write { location, address, .. } => {
            let line = (event.thread, line(event.place.as_ref()?));
            (is_local(location) && lines.contains(&line)).then_some(*address)
        }
        _ => None,
    });
    local.filter(|address| !shared.contains(address)).collect()
}

type Line<'a> = (&'a str, u32);

fn line(place: &Location) -> Line<'_> {
    (&place.file, place.line)
}

/// The lines at which each thread starts others or joins them.
fn handling_lines(execution: &Execution) -> HashSet<(Option<u32>, Line<'_>)> {
    let lives = execution.events.iter().filter(|event| event.kind.life().is_some());
    lives.filter_map(|event| Some((event.thread, line(event.place.as_ref()?)))).collect()
}
