//! Memory that is left out of graphs until it is known to matter.
//!
//! At first no access is an event. Who reads finds anything, and what is written is forgotten at once. All that the program
//! does is still there: of an execution that the model allows, the accesses to some of the addresses
//! are a part, and a model that allows all parts of what it allows
//! ([`parallax_memory::Model::not_monotone`]) allows it. No read of that part has its source outside of it.
//!
//! A path to a failure on which somebody has read such memory shows nothing yet: what was read may be
//! what nobody has written. If the path cannot be taken whatever was read, it is refined as all others are. If it
//! can, the addresses whose values its conditions depend on are tracked from then on; where there are none, all that it
//! has met. (Globals that are tracked on demand, and a feasibility check in two stages: L. Bajczi, Application of CEGAR to
//! concurrent programs, 2021. There, accesses that are not tracked stay events, whose source is open.)
//!
//! Locks, and whatever asks if memory was used before, are tracked from the beginning. That a
//! thread may stand still for what it has read here is a reason to look at the others, too: no write will
//! serve it.

use parallax_machine::system::Marks;
use parallax_solver::Term;
use rustc_hash::FxHashSet;

use super::Memory;
use crate::block::{Blocks, Halt, Kind, Run, Target, Walk};
use crate::places::PlaceId;

/// An access to memory that is left out.
#[derive(Clone, Debug)]
pub struct Loose {
    /// The first bytes of the places where it may be, and what is there.
    pub places: Vec<(u64, PlaceId)>,
    /// What was read, as an input.
    pub input: Option<Term>,
}

impl Memory<'_> {
    pub fn tracks(&self, address: u64) -> bool {
        self.tracked.as_ref().is_none_or(|tracked| tracked.contains(&address))
    }

    /// Accesses to an address are events from now on.
    pub fn track(&mut self, address: u64) -> bool {
        self.tracked.as_mut().is_some_and(|tracked| tracked.insert(address))
    }
}

fn has_meaning(marks: [Marks; 3]) -> bool {
    let means =
        |it: &Marks| it.takes_lock() || it.gives_lock_back() || it.is_fresh() || it.is_farewell();
    marks.iter().any(means)
}

impl Walk<'_, '_, '_> {
    /// Whether an access is to memory that is left out.
    pub(crate) fn is_loose(&mut self, run: &Run, target: &Target) -> bool {
        let has_meaning = has_meaning(self.marks(run));
        let Some(memory) = &mut self.blocks.graphs else { return false };
        let places: &[u64] = match target {
            Target::At(place) => std::slice::from_ref(place),
            Target::Within { places, .. } => places,
        };
        if has_meaning {
            let all = places.iter().filter(|place| memory.track(**place)).count();
            memory.learned.note_more(all > 0);
        }
        // The executions of all of them have to be the same.
        if places.iter().any(|place| memory.tracks(*place)) {
            let all = places.iter().filter(|place| memory.track(**place)).count();
            memory.learned.note_more(all > 0);
            return false;
        }
        true
    }

    /// An access to memory that is left out.
    pub(crate) fn loose_access(
        &mut self,
        mut run: Run,
        kind: &Kind,
        target: &Target,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let (first, places): (u64, &[u64]) = match target {
            Target::At(place) => (*place, std::slice::from_ref(place)),
            Target::Within { start, places } => (*start, places),
        };
        if let Some((property, message)) = self.is_wrong(&run, kind, first, bytes) {
            Self::fail(run, property, message, open);
            return Ok(());
        }
        let mut all = Vec::with_capacity(places.len());
        for place in places {
            // Whoever tracks a part of it will find it cut.
            let Blocks { places, values, .. } = &mut *self.blocks;
            let pieces = places.pieces(&mut values.terms, *place, bytes);
            all.extend(pieces.first().map(|piece| (*place, *piece)));
        }
        let is_read = !matches!(kind, Kind::Store(_));
        let input = is_read.then(|| self.fresh(&mut run, bytes as u32 * 8));
        self.blocks.has_read_loosely |= is_read;
        let old = input.unwrap_or_else(|| self.blocks.values.number(8, 0));
        for (_, ok, mut run) in self.effects(run, kind, old)? {
            run.loose.push(Loose { places: all.clone(), input });
            self.go_on(&mut run, is_read, old, ok);
            open.push(run);
        }
        Ok(())
    }
}

/// The places of accesses whose values are among some inputs; of all accesses, if there are none of these.
pub fn needed(accesses: &[Loose], inputs: &FxHashSet<Term>) -> Vec<(u64, PlaceId)> {
    let decides = |access: &&Loose| access.input.is_some_and(|input| inputs.contains(&input));
    let of = |chosen: &mut dyn Iterator<Item = &Loose>| {
        let mut all: Vec<(u64, PlaceId)> =
            chosen.flat_map(|access| access.places.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let deciding = of(&mut accesses.iter().filter(decides));
    if deciding.is_empty() { of(&mut accesses.iter()) } else { deciding }
}
