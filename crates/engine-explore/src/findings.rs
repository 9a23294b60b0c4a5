//! What a segment of the search has found, and what two segments have found one after the other.
//!
//! A segment is a part of the search tree that is explored without a break in depth-first order
//! (see [`crate::crew`]). Findings of neighbours add up to those of both, in their order: where
//! the first one ends the search, the second is as if it had not been; of what is kept once, the
//! first counts.

use std::collections::{BTreeSet, HashSet};

use parallax_machine::Site;
use parallax_program::{Location, Property};
use parallax_verdict::{Counts, Endings, Gaps, Suspicion};

use crate::buffering::Seen;
use crate::skips::{Order, Skips};

/// Why a search ends before all is explored. All but the first make it start anew, and nothing that
/// was found counts then. Of several reasons at one place the last one in this list is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum End {
    /// A violation, and one is enough.
    Found,
    /// The order of arrival at a barrier makes a difference.
    BarrierOrder,
    /// The order of critical sections that change nothing, or of read-modify-writes whose results are
    /// not used, makes a difference.
    Noticed,
    /// Symmetric threads can be distinguished.
    Asymmetric,
    /// A cell was split.
    Split,
}

/// By what violations are the same to the reader.
type Kind = (Property, String, Option<Site>);

pub struct Findings {
    pub counts: Counts,
    /// Where an assumption failed in an execution that is blocked.
    pub assumption: Option<Option<Location>>,
    found: Vec<(Kind, Suspicion)>,
    kinds: HashSet<Kind>,
    pub gaps: Gaps,
    /// Whether a path was cut off at the limit, and whether one was that does not wait there.
    pub is_cut: bool,
    pub is_cut_short: bool,
    /// The bound, if one was that might have left its loop.
    pub cut: Option<u32>,
    /// Whether others came between the parts of an access where something seemed to be wrong.
    pub has_loose_parts: bool,
    /// Where load buffering is watched for.
    pub buffering: Seen,
    /// What is left out with rounds that change nothing.
    pub skips: Skips,
    /// Threads that stand for others which do the same; see [`crate::symmetry`].
    pub twins: BTreeSet<usize>,
    /// Places of which somebody may notice in which order they are used; see [`crate::locks`] and
    /// [`crate::updates`].
    pub ordered: BTreeSet<u64>,
    /// Whether something was left unordered.
    pub has_unordered: bool,
    pub end: Option<End>,
}

impl Findings {
    pub fn new(order: Order) -> Findings {
        Findings {
            counts: Counts::default(),
            assumption: None,
            found: Vec::new(),
            kinds: HashSet::new(),
            gaps: Gaps::default(),
            is_cut: false,
            is_cut_short: false,
            cut: None,
            has_loose_parts: false,
            buffering: Seen::default(),
            skips: Skips::new(order),
            twins: BTreeSet::new(),
            ordered: BTreeSet::new(),
            has_unordered: false,
            end: None,
        }
    }

    /// A violation, of which each kind at each place is kept once.
    pub fn add(&mut self, kind: Kind, suspicion: impl FnOnce() -> Suspicion) {
        if self.kinds.insert(kind.clone()) {
            self.found.push((kind, suspicion()));
        }
    }

    pub fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    pub fn take_found(&mut self) -> Vec<Suspicion> {
        std::mem::take(&mut self.found).into_iter().map(|(_, suspicion)| suspicion).collect()
    }

    pub fn end_by(&mut self, end: End) {
        self.end = self.end.max(Some(end));
    }

    /// An assumption failed.
    pub fn held_up(&mut self, place: Option<Location>) {
        let mut ended = self.endings();
        ended.held_up(place);
        self.assumption = ended.assumption;
    }

    pub fn endings(&self) -> Endings {
        let Counts { executions, blocked, .. } = self.counts;
        Endings { executions, blocked, assumption: self.assumption.clone(), cut: self.cut }
    }

    /// Adds what the segment behind has found.
    pub fn append(&mut self, next: Findings) {
        if self.end.is_some() {
            return;
        }
        self.counts.executions += next.counts.executions;
        self.counts.blocked += next.counts.blocked;
        self.counts.events += next.counts.events;
        next.assumption.into_iter().for_each(|place| self.held_up(place));
        for (kind, suspicion) in next.found {
            self.add(kind, || suspicion);
        }
        next.gaps.reason().into_iter().for_each(|reason| self.gaps.add(reason.clone()));
        self.is_cut |= next.is_cut;
        self.is_cut_short |= next.is_cut_short;
        self.cut = self.cut.or(next.cut);
        self.has_loose_parts |= next.has_loose_parts;
        self.buffering.add(next.buffering);
        self.skips.join(&next.skips);
        self.twins.extend(next.twins);
        self.ordered.extend(next.ordered);
        self.has_unordered |= next.has_unordered;
        self.end = next.end;
    }
}
