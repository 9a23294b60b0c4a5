//! Ways to search less than there is, which can be switched off.
//!
//! An extension of queries for the engines that have some: one that has none of those that are named
//! cannot be asked.

use parallax_program::Setting;

use crate::extensions::Extension;

/// A way to explore fewer graphs than there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Loops that only wait are not repeated.
    SpinLoops,
    /// Reads that would wait are added last, when others may have done what they wait for.
    Waits,
    /// Executions that differ only in which of several threads that do the same did what are
    /// one.
    Symmetry,
    /// Executions that differ only in the order in which threads arrive at a barrier are one.
    Barriers,
    /// Executions that differ only in the order of critical sections that change nothing are one.
    Locks,
    /// Executions that differ only in the order of read-modify-writes that nobody notices are one.
    Updates,
}

impl Reduction {
    pub const ALL: [Reduction; 6] = [
        Reduction::SpinLoops,
        Reduction::Waits,
        Reduction::Symmetry,
        Reduction::Barriers,
        Reduction::Locks,
        Reduction::Updates,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reduction::SpinLoops => "spin-loops",
            Reduction::Waits => "waits",
            Reduction::Symmetry => "symmetry",
            Reduction::Barriers => "barriers",
            Reduction::Locks => "locks",
            Reduction::Updates => "updates",
        }
    }
}

/// A set of reductions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reductions(u8);

impl Extension for Reductions {
    fn settings(&self) -> Vec<Setting> {
        if *self == Reductions::ALL { Vec::new() } else { vec![Setting::Reductions] }
    }
}

impl Reductions {
    pub const NONE: Reductions = Reductions(0);
    pub const ALL: Reductions = Reductions(u8::MAX);

    /// `all`, `none`, or names with commas between them. The error is a name that is none.
    pub fn parse(text: &str) -> Result<Reductions, String> {
        match text {
            "all" => return Ok(Reductions::ALL),
            "none" => return Ok(Reductions::NONE),
            _ => {}
        }
        let mut set = Reductions::NONE;
        for name in text.split(',') {
            let found =
                Reduction::ALL.into_iter().find(|reduction| reduction.name() == name.trim());
            set.0 |= 1 << found.ok_or_else(|| name.to_string())? as u8;
        }
        Ok(set)
    }

    pub fn contains(self, reduction: Reduction) -> bool {
        self.0 & 1 << reduction as u8 != 0
    }
}
