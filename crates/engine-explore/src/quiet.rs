//! Stores that nobody notices.
//!
//! Machine code keeps what it computes on the stack, even in a loop that only waits: each round
//! stores there again what is there already. Such a store is *quiet*, and a round with nothing else
//! in it is a round of a spin loop (see [`parallax_machine::Thread::leaves_no_trace`]).
//!
//! That holds as long as no other thread looks at the place, which is known only when an execution
//! is complete. What others do up to the first time that one of them looks does not depend on
//! rounds that were left out, so that an execution in which one looks is found; the exploration
//! then starts anew and takes no store for quiet.

use parallax_program::AllocKind;

use crate::event::{Id, Loc};
use crate::graph::Graph;
use crate::memory::{Memory, Parts};

/// Whether the last store of a thread, whose last event is `id`, put what was there already into
/// the thread's own stack.
pub fn is_quiet(graph: &Graph<'_>, memory: &Memory, id: Id, parts: &Parts) -> bool {
    let repeats = |loc: Loc| {
        let [.., before, last] = graph.place(loc).co.as_slice() else {
            return false;
        };
        let is_own = before.thread() == id.thread() && last.thread() == id.thread();
        is_own && graph.event(*before).value == graph.event(*last).value
    };
    let is_on_stack = |loc: Loc| {
        let object = graph.find_object(memory.address(loc));
        object.is_some_and(|(thread, index)| {
            let kind = graph.threads[thread].objects[index].kind;
            thread == id.thread() && kind == AllocKind::Stack
        })
    };
    (0..parts.count).all(|part| repeats(parts.loc(part))) && is_on_stack(parts.loc(0))
}

/// Whether a thread looks at a place where another one has stored quietly.
pub fn is_noticed(graph: &Graph<'_>) -> bool {
    graph.threads.iter().enumerate().any(|(number, thread)| {
        let quiet = thread.events.iter().filter(|event| event.marks.is_quiet());
        quiet
            .map(|event| graph.place(event.loc))
            .any(|place| place.co.iter().chain(&place.reads).any(|other| other.thread() != number))
    })
}
