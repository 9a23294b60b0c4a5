//! Stores that change nothing.
//!
//! A waiting loop may store something in each round: machine code keeps what it computes on the
//! stack, and `while (!flag) ready = 1;` says so again and again. From the second round on such a
//! store puts what is there already. It is *quiet*, and a round with nothing else in it is a round
//! of a spin loop (see [`parallax_machine::Thread::leaves_no_trace`]): whoever reads what it has
//! stored can read the store before, which is its neighbour in coherence order.
//!
//! That holds as long as no other thread writes to the place and may so come in between. Where one
//! does is known only when all is explored (see [`crate::skips`]); the exploration then starts anew
//! and takes no store there for quiet.

use std::collections::BTreeSet;

use crate::event::{Id, Loc};
use crate::graph::Graph;
use crate::memory::{Memory, Parts};

/// Whether the last store of a thread, whose last event is `id`, put what the thread had stored
/// there before; `observable` are the addresses where others can observe that.
pub fn is_quiet(
    graph: &Graph<'_>,
    memory: &Memory,
    observable: &BTreeSet<u64>,
    id: Id,
    parts: &Parts,
) -> bool {
    let repeats = |loc: Loc| {
        let [.., before, last] = graph.place(loc).co.as_slice() else {
            return false;
        };
        let is_own = before.thread() == id.thread() && last.thread() == id.thread();
        is_own
            && graph.event(*before).value == graph.event(*last).value
            && !observable.contains(&memory.address(loc))
    };
    (0..parts.count).all(|part| repeats(parts.loc(part)))
}
