//! Structures for proofs by invariants: programs in which each invariant is marked where it holds, for
//! the engine that proves.

mod fitness;
mod ghosts;

use parallax_program::{Diagnostics, Program};

use fitness::Fitness;
use ghosts::with_ghosts;

use crate::lower::{Judging, lower_with};
use crate::syntax::Structures;

/// The program, where each invariant is the argument of a call of a function of that name. Structures
/// that proofs are not for are errors.
pub fn marked(structures: &Structures, mark: &str) -> Result<Program, Diagnostics> {
    let mut errors = Diagnostics::new();
    for thread in &structures.threads {
        Fitness { structures, errors: &mut errors }.thread(thread);
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let threads = structures.threads.iter().map(with_ghosts).collect();
    let followed = Structures { threads, ..structures.clone() };
    Ok(lower_with(&followed, Judging::AtOnce, Some(mark))?.program)
}
