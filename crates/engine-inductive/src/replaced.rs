//! What is known of a loop that is replaced, and what its invariant is checked for.

use std::collections::BTreeSet;

use parallax_program::{BlockId, Expr, GlobalId, Span, VarId};

/// A loop, and what stands in for it.
#[derive(Clone, Debug)]
pub struct Replaced {
    /// Its number among all that are replaced in the program.
    pub number: usize,
    pub header: BlockId,
    pub blocks: BTreeSet<BlockId>,
    /// The block at whose start the invariant holds.
    pub cut: BlockId,
    /// Of one bit each; all of them hold.
    pub invariant: Vec<Expr>,
    /// The variables that it changes and that are live at the header.
    pub changed: Vec<VarId>,
    /// How many rounds between the first and the last are stood in for.
    pub rounds: usize,
    /// Whether a round writes something after the cut.
    pub writes_after_cut: bool,
    /// Where to write down which parts of the invariant hold before it is asserted.
    pub record: Option<GlobalId>,
    pub span: Span,
}

/// Whether the assertions of the source are what is to be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assertions {
    Shown,
    Assumed,
}

/// Which obligation an assertion of an image stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The invariant after the first iteration, or before it.
    AtFirst,
    /// The invariant after any other.
    Kept,
}

impl Check {
    const ALL: [(Check, &'static str); 2] = [(Check::AtFirst, "at first"), (Check::Kept, "kept")];

    fn name(self) -> &'static str {
        Check::ALL.iter().find(|(check, _)| *check == self).map_or("", |(_, name)| name)
    }

    /// What the assertion for the invariant of a loop says.
    pub fn message(self, number: usize) -> String {
        format!("invariant {number} {}", self.name())
    }

    /// The loop and the check that a message is about.
    pub fn of_message(message: &str) -> Option<(usize, Check)> {
        let (number, name) = message.strip_prefix("invariant ")?.split_once(' ')?;
        let (check, _) = Check::ALL.iter().find(|(_, known)| *known == name)?;
        Some((number.parse().ok()?, *check))
    }
}

/// Parts of an invariant that are written down as one word.
pub const RECORDED_AT_ONCE: usize = 64;
