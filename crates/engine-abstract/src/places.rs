//! Where a program keeps its data: variables of calls, and pieces of memory. Each is a variable of the
//! formulas.
//!
//! Memory is cut into pieces as it is used: each access is to one piece or to several whole ones. Where
//! an access would cut a piece in two, formulas over the old piece mean nothing any more, and whoever
//! has some starts again ([`Places::is_cut`]).

use std::collections::BTreeMap;

use parallax_program::{FunctionId, Program};
use parallax_solver::{Term, Terms};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Place {
    /// A variable of a call of a thread, by the depth of the call.
    Local {
        thread: u32,
        depth: u32,
        function: FunctionId,
        var: u32,
    },
    Memory {
        address: u64,
        bytes: u8,
    },
    /// What a thread has stored and others do not see yet. `nth` is how many stores to the same bytes
    /// wait before it.
    Stored {
        thread: u32,
        address: u64,
        bytes: u8,
        nth: u32,
    },
    /// What a thread has written, where executions are graphs: by its last write there, by one that was
    /// so many before it, or by some of those before all of these ([`FORGOTTEN`]).
    Written {
        thread: u32,
        address: u64,
        bytes: u8,
        before: u32,
    },
}

/// Of writes that are no events any more, and of those that somebody could modify.
pub const FORGOTTEN: u32 = u32::MAX;
pub const FORGOTTEN_OPEN: u32 = u32::MAX - 1;

/// The place of forgotten writes.
pub fn forgotten(is_open: bool) -> u32 {
    if is_open { FORGOTTEN_OPEN } else { FORGOTTEN }
}

impl Place {
    /// The bytes of memory that it is about: first, and the one behind the last.
    pub fn bytes(self) -> Option<(u64, u64)> {
        match self {
            Place::Local { .. } => None,
            Place::Memory { address, bytes }
            | Place::Stored { address, bytes, .. }
            | Place::Written { address, bytes, .. } => {
                let (address, _) = of_program(address);
                Some((address, address.saturating_add(u64::from(bytes))))
            }
        }
    }
}

/// Some reads ask whether something is there yet: of objects that threads make they find zero where nobody
/// has written, whatever is there. What they find has a place of its own, at the address with this bit: zero
/// when the object is made, and then what is written to the object.
pub const FIRST_ASKED: u64 = 1 << 61;

/// Where those find something that ask whether it is there.
pub fn asked(address: u64) -> u64 {
    address | FIRST_ASKED
}

/// The address in the program, and whether the place is for those that ask.
pub fn of_program(address: u64) -> (u64, bool) {
    (address & !FIRST_ASKED, address & FIRST_ASKED != 0)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct PlaceId(pub u32);

#[derive(Default)]
pub struct Places {
    all: Vec<(Place, Term)>,
    numbers: FxHashMap<Place, PlaceId>,
    of_terms: FxHashMap<Term, PlaceId>,
    pieces: BTreeMap<u64, u8>,
    /// Whether a piece that was there has been cut.
    pub is_cut: bool,
}

impl Places {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn place(&self, id: PlaceId) -> Place {
        self.all[id.0 as usize].0
    }

    pub fn term(&self, id: PlaceId) -> Term {
        self.all[id.0 as usize].1
    }

    /// The place that a variable stands for; none for inputs.
    pub fn of(&self, variable: Term) -> Option<PlaceId> {
        self.of_terms.get(&variable).copied()
    }

    fn add(&mut self, terms: &mut Terms, place: Place, width: u32) -> PlaceId {
        if let Some(id) = self.numbers.get(&place) {
            return *id;
        }
        let id = PlaceId(self.all.len() as u32);
        let term = terms.variable(width);
        self.all.push((place, term));
        self.numbers.insert(place, id);
        self.of_terms.insert(term, id);
        id
    }

    pub fn local(
        &mut self,
        terms: &mut Terms,
        program: &Program,
        (thread, depth): (u32, u32),
        function: FunctionId,
        var: u32,
    ) -> PlaceId {
        let width = program.function(function).vars[var as usize].width;
        self.add(terms, Place::Local { thread, depth, function, var }, width)
    }

    /// Where the value of a store waits.
    pub fn stored(
        &mut self,
        terms: &mut Terms,
        thread: u32,
        (address, bytes): (u64, u8),
        nth: u32,
    ) -> PlaceId {
        self.add(terms, Place::Stored { thread, address, bytes, nth }, u32::from(bytes) * 8)
    }

    /// What a thread has written to a piece.
    pub fn written(
        &mut self,
        terms: &mut Terms,
        thread: u32,
        address: u64,
        before: u32,
    ) -> Option<PlaceId> {
        let bytes = *self.pieces.get(&address)?;
        let place = Place::Written { thread, address, bytes, before };
        Some(self.add(terms, place, u32::from(bytes) * 8))
    }

    /// The pieces that an access is to, by address.
    pub fn pieces(&mut self, terms: &mut Terms, address: u64, bytes: u64) -> Vec<PlaceId> {
        let end = address.saturating_add(bytes);
        self.cut(address);
        self.cut(end);
        let mut found = Vec::new();
        let mut next = address;
        while next < end {
            let here = self.pieces.get(&next).copied();
            let size = here.unwrap_or_else(|| {
                let after = self.pieces.range(next..end).next().map_or(end, |(start, _)| *start);
                let size = (after - next).min(16) as u8;
                self.pieces.insert(next, size);
                size
            });
            let place = Place::Memory { address: next, bytes: size };
            found.push(self.add(terms, place, u32::from(size) * 8));
            next += u64::from(size);
        }
        found
    }

    /// What pieces there are of some bytes: starts and ends.
    pub fn parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let near = self.pieces.range(start.saturating_sub(16)..end);
        let parts = near.map(|(at, size)| ((*at).max(start), (at + u64::from(*size)).min(end)));
        parts.filter(|(start, end)| start < end).collect()
    }

    /// All pieces, by address.
    pub fn all_pieces(&self) -> impl Iterator<Item = (u64, u8)> {
        self.pieces.iter().map(|(address, bytes)| (*address, *bytes))
    }

    /// No piece goes on over an address.
    fn cut(&mut self, at: u64) {
        let Some((&start, &size)) = self.pieces.range(..at).next_back() else { return };
        let end = start + u64::from(size);
        if at < end {
            self.pieces.insert(start, (at - start) as u8);
            self.pieces.insert(at, (end - at) as u8);
            self.is_cut = true;
        }
    }

    /// The pieces inside of a part of memory that somebody has used.
    pub fn known_pieces(&self, start: u64, end: u64) -> Vec<PlaceId> {
        let pieces = self.pieces.range(start..end);
        let places =
            pieces.map(|(address, bytes)| Place::Memory { address: *address, bytes: *bytes });
        places.filter_map(|place| self.numbers.get(&place).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_to_whole_pieces() {
        let (mut places, mut terms) = (Places::default(), Terms::new());
        let word = places.pieces(&mut terms, 0x1000, 4);
        assert_eq!(word.len(), 1);
        assert_eq!(places.pieces(&mut terms, 0x1000, 8).len(), 2);
        assert!(!places.is_cut);
        assert_eq!(places.pieces(&mut terms, 0x1000, 4), word);
        let byte = places.pieces(&mut terms, 0x1001, 1);
        assert!(places.is_cut);
        assert_eq!(terms.width(places.term(byte[0])), 8);
        assert_eq!(places.pieces(&mut terms, 0x1000, 4).len(), 3);
        assert_eq!(places.known_pieces(0x1000, 0x1008).len(), 4);
    }
}
