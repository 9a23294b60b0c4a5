//! Weak compare-and-swaps that fail for no reason, and rounds of loops in which one does.
//!
//! A weak compare-and-swap may fail though it finds what it expects. Most programs then try again:
//! the thread is back at the head of its loop as it was a round ago, and has changed nothing. Such a
//! round is *vain*. Without its events the execution is one in which the compare-and-swap was tried
//! later, which is explored too (the argument is that for spin loops), so no execution with a vain
//! round in it is counted. Nor does a thread wait for ever by failing for no reason again and again:
//! progress is assumed of compare-and-swaps.
//!
//! Where nothing comes after the failure in the round, what led to it is in other graphs as well,
//! and the graph is dropped at once. Otherwise the thread stays at the head of the loop while the
//! others go on: what it does after the failure may race with them, and its reads may be revisited.
//! The same goes for a thread that has woken up from a condition variable without a signal, and in
//! vain.

use crate::event::Event;
use crate::graph::Graph;
use crate::standing::At;

/// The events of the last round of a thread that is back where the round began, from the last
/// compare-and-swap on that failed for no reason; None where there is none.
fn after_failure<'a>(graph: &'a Graph<'_>, thread: usize) -> Option<&'a [Event]> {
    let thread = &graph.threads[thread];
    let first = match thread.standings.last()?.at {
        At::Spinning { since } => thread.first_after(since),
        At::Waiting => thread.events.len().checked_sub(1)?,
        _ => return None,
    };
    let round = thread.events.get(first..)?;
    let failure = round.iter().rposition(|event| event.marks.is_spurious())?;
    round.get(failure + 1..)
}

/// Whether a thread has gone round, or has woken up, in vain.
pub fn has_failed(graph: &Graph<'_>, thread: usize) -> bool {
    graph.now(thread).is_some_and(|now| matches!(now.at, At::Vain { .. }))
        || after_failure(graph, thread).is_some()
}

/// Whether a thread has gone round in vain, and nothing can come of what it did after the failure.
pub fn is_vain(graph: &Graph<'_>, thread: usize) -> bool {
    after_failure(graph, thread).is_some_and(|rest| rest.is_empty())
}
