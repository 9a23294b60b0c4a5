//! A search that is written down, to go on with it later or elsewhere.
//!
//! What is written is the row of segments (see [`crate::crew`]): what was found in those that are
//! explored, and the [place](crate::place) where each of the others begins. Who was at work when it was
//! written begins its segment again, so nothing is lost and nothing counted twice. With it goes what decides
//! how the search tree looks: reductions that had to be switched off, cells and numbers of threads.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use parallax_program::{Diagnostic, Setting};
use parallax_query::Extension;
use serde::{Deserialize, Serialize};

use crate::crew::{Part, Progress, Whole};
use crate::known::Known;
use crate::place::Place;

/// Where a search is written down, and what it goes on with.
#[derive(Clone)]
pub struct Checkpoint {
    /// How often it is written.
    pub every: Duration,
    pub keep: Option<Arc<Keep>>,
    /// What was kept before.
    pub from: Option<Arc<[u8]>>,
}

/// Keeps what was written in place of what was kept before.
pub type Keep = dyn Fn(&[u8]) -> Result<(), Diagnostic> + Send + Sync;

impl Extension for Checkpoint {
    fn settings(&self) -> Vec<Setting> {
        let keep = self.keep.iter().map(|_| Setting::Checkpoint);
        keep.chain(self.from.iter().map(|_| Setting::Resume)).collect()
    }
}

/// What a search takes for granted until it is found to be wrong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mode {
    pub has_twins: bool,
    pub observable: BTreeSet<u64>,
    pub may_skip: bool,
    pub has_barriers: bool,
    pub may_unorder: bool,
    pub ordered: BTreeSet<u64>,
}

#[derive(Serialize)]
struct Text<'a> {
    mode: &'a Mode,
    known: &'a Known,
    asked: Vec<u64>,
    whole: &'a Whole,
    row: &'a [(&'a Place, &'a Part)],
}

#[derive(Deserialize)]
pub struct Saved {
    pub mode: Mode,
    /// What was known when the search began.
    pub known: Known,
    asked: Vec<u64>,
    whole: Whole,
    row: Vec<(Place, Part)>,
}

impl Saved {
    pub fn progress(self) -> Progress {
        Progress { whole: self.whole, row: self.row, asked: self.asked }
    }
}

pub fn write(
    mode: &Mode,
    known: &Known,
    asked: Vec<u64>,
    whole: &Whole,
    row: &[(&Place, &Part)],
) -> Vec<u8> {
    // Nothing in it can fail to be written.
    serde_json::to_vec(&Text { mode, known, asked, whole, row }).unwrap_or_default()
}

/// Reads what [`write`] has written of a program with so many threads. The error says what is wrong.
pub fn read(text: &[u8], threads: usize) -> Result<Saved, Diagnostic> {
    let saved: Saved = serde_json::from_slice(text)
        .map_err(|error| Diagnostic::new(format!("the checkpoint is damaged: {error}")))?;
    if !saved.known.is_right(threads) || !saved.whole.known.is_right(threads) {
        return Err(Diagnostic::new("the checkpoint is damaged: cells of memory are wrong"));
    }
    match saved.row.is_sorted_by(|(one, _), (other, _)| one < other) {
        true => Ok(saved),
        false => Err(Diagnostic::new("the checkpoint is damaged: its parts are out of order")),
    }
}

#[cfg(test)]
mod tests;
