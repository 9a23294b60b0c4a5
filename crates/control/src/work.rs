//! Searches that take turns.
//!
//! A portfolio lets several engines search the same program and takes the answer of whoever needs the
//! least work, so that the same engine wins at every run, whatever the machine is busy with. For
//! that, work is measured by what is done (steps, states, clauses), not by a clock.

/// Where a search accounts for its work and waits for its turn.
pub trait Gate: Sync {
    /// So much work was done, in nominal nanoseconds. Returns when it is this search's turn again.
    fn spend(&self, work: u64);
}
