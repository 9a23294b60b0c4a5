//! What a segment of the search has found, and what two segments have found one after the other.
//!
//! A segment is a part of the search tree that is explored without a break in depth-first order
//! (see [`crate::crew`]). Findings of neighbours add up to those of both, in their order: where
//! the first one ends the search, the second is as if it had not been; of what is kept once, the
//! first counts.
//!
//! They can be written down. What concerns the program itself (a violation, a reason why something was not
//! followed) is written as the place where it was found, and found there again.

use std::collections::{BTreeSet, HashSet};

use parallax_machine::Site;
use parallax_program::{Location, Property};
use parallax_verdict::{Counts, Endings, Gaps, Suspicion};
use serde::{Deserialize, Serialize};

use crate::buffering::Seen;
use crate::place::Witness;
use crate::record::{CountsRecord, assumption};
use crate::skips::{Order, Skips};

/// Why a search ends before all is explored. All but the first make it start anew, and nothing that
/// was found counts then. Of several reasons at one place the last one in this list is taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum End {
    /// A violation, and one is enough.
    Found,
    /// The order of arrival at a barrier makes a difference.
    BarrierOrder,
    /// The order of critical sections that change nothing, or of read-modify-writes whose results are
    /// not used, makes a difference.
    OrderMatters,
    /// Symmetric threads can be distinguished.
    Asymmetric,
    /// A cell was split.
    Split,
}

/// By what violations are the same to the reader: property, message and place, as a text.
pub type Kind = String;

pub fn kind(property: Property, message: &str, site: Option<Site>) -> Kind {
    let place = site.map(|at| (at.function.0, at.block.0, at.index));
    format!("{} {place:?} {message}", property.name())
}

/// A violation.
#[derive(Serialize, Deserialize)]
struct Found {
    kind: Kind,
    /// Where it was found, once that is known.
    at: Option<Witness>,
    /// None if it has to be looked up there.
    #[serde(skip)]
    suspicion: Option<Suspicion>,
}

#[derive(Serialize, Deserialize)]
pub struct Findings {
    #[serde(with = "CountsRecord")]
    pub counts: Counts,
    /// Where an assumption failed in an execution that is blocked.
    #[serde(with = "assumption")]
    pub assumption: Option<Option<Location>>,
    found: Vec<Found>,
    #[serde(skip)]
    kinds: HashSet<Kind>,
    #[serde(skip)]
    pub gaps: Gaps,
    /// Where the first gap is.
    gap: Option<Witness>,
    /// How many violations have got a place.
    #[serde(skip)]
    placed: usize,
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
            gap: None,
            placed: 0,
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
        if self.is_new(&kind) {
            self.found.push(Found { kind, at: None, suspicion: Some(suspicion()) });
        }
    }

    fn is_new(&mut self, kind: &Kind) -> bool {
        if self.kinds.len() < self.found.len() {
            self.kinds = self.found.iter().map(|found| found.kind.clone()).collect();
        }
        self.kinds.insert(kind.clone())
    }

    pub fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Whether something was followed less than it should be.
    pub fn has_gap(&self) -> bool {
        self.gap.is_some() || !self.gaps.is_empty()
    }

    /// Whether there is something without a place.
    pub fn has_news(&self) -> bool {
        self.placed < self.found.len() || self.gap.is_none() && !self.gaps.is_empty()
    }

    /// What has no place yet was found here.
    pub fn place(&mut self, at: &Witness) {
        self.found[self.placed..].iter_mut().for_each(|found| found.at = Some(at.clone()));
        self.placed = self.found.len();
        if !self.gaps.is_empty() {
            self.gap.get_or_insert_with(|| at.clone());
        }
    }

    /// Looks up what is known only by its place. False if it is not there.
    pub fn recall(&mut self, look: impl Fn(&Witness) -> Option<Findings>) -> bool {
        let is_open = |found: &Found| found.suspicion.is_none();
        while let Some(number) = self.found.iter().position(is_open) {
            let found = &mut self.found[number];
            let Some(seen) = found.at.as_ref().and_then(&look) else {
                return false;
            };
            let same = seen.found.into_iter().find(|other| other.kind == found.kind);
            found.suspicion = same.and_then(|same| same.suspicion);
            if found.suspicion.is_none() {
                return false;
            }
        }
        if let Some(at) = self.gap.as_ref().filter(|_| self.gaps.is_empty()) {
            self.gaps = look(at).map(|seen| seen.gaps).unwrap_or_default();
            return !self.gaps.is_empty();
        }
        true
    }

    pub fn take_found(&mut self) -> Vec<Suspicion> {
        std::mem::take(&mut self.found).into_iter().filter_map(|found| found.suspicion).collect()
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
        let counts = &mut self.counts;
        counts.executions = counts.executions.saturating_add(next.counts.executions);
        counts.blocked = counts.blocked.saturating_add(next.counts.blocked);
        counts.events = counts.events.saturating_add(next.counts.events);
        next.assumption.into_iter().for_each(|place| self.held_up(place));
        for found in next.found {
            if self.is_new(&found.kind) {
                self.found.push(found);
            }
        }
        self.placed = self.found.len();
        if !self.has_gap() {
            (self.gaps, self.gap) = (next.gaps, next.gap);
        }
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
