//! Memory as the search sees it: locations, what they hold at first, and which objects are
//! there.
//!
//! A location is a cell: an address and a number of bytes. Accesses that overlap a cell without
//! covering exactly it split it for the whole exploration, which then starts again; an access
//! of several cells has an event for each.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

pub use parallax_machine::system::BadAccess;
use parallax_machine::{Code, Extent, Globals, wrong_access, wrong_end, wrong_free};
use parallax_program::{AllocKind, Bits};

use crate::cells::Sizes;
use crate::event::Loc;
use crate::graph::Graph;
use crate::known::Known;
use crate::standing::{At, SECTIONS};

/// Addresses are spread well by one multiplication.
#[derive(Clone, Copy, Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, address: u64) {
        self.0 = (self.0 ^ address).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

#[derive(Clone)]
pub struct Memory {
    globals: Arc<Globals>,
    /// Cells, and numbers of threads.
    pub known: Known,
    locs: HashMap<u64, Loc, BuildHasherDefault<AddressHasher>>,
    /// Address and bytes of each location.
    pub table: Vec<(u64, u8)>,
}

/// The cells that an access touches, in order of addresses.
#[derive(Clone, Copy)]
pub struct Parts {
    locs: [Loc; 16],
    sizes: Sizes,
    pub count: u8,
}

impl Parts {
    pub fn loc(&self, part: u8) -> Loc {
        self.locs[part as usize]
    }

    /// Bits of the access below a part, and of the part.
    pub fn bits(&self, part: u8) -> (u32, u32) {
        let below: u32 = self.sizes[..part as usize].iter().map(|size| u32::from(*size) * 8).sum();
        (below, u32::from(self.sizes[part as usize]) * 8)
    }
}

impl Memory {
    /// None if the globals are too large.
    pub fn new(code: &Code<'_>, known: Known) -> Option<Memory> {
        Some(Memory {
            globals: Arc::new(Globals::new(code)?),
            known,
            locs: HashMap::default(),
            table: Vec::new(),
        })
    }

    /// The cells of an access.
    pub fn parts(&mut self, address: u64, bytes: u8) -> Parts {
        if let Some(loc) = self.locs.get(&address)
            && self.table[loc.0 as usize].1 == bytes
        {
            return Parts { locs: [*loc; 16], sizes: [bytes; 16], count: 1 };
        }
        self.known.cover(address, bytes);
        let cells: Vec<(u64, u8)> = self.known.cells().of(address, bytes).collect();
        let mut parts = Parts { locs: [Loc::NONE; 16], sizes: [0; 16], count: cells.len() as u8 };
        for (part, (start, size)) in cells.into_iter().enumerate().take(16) {
            parts.locs[part] = self.loc(start, size);
            parts.sizes[part] = size;
        }
        parts
    }

    pub fn loc(&mut self, address: u64, bytes: u8) -> Loc {
        let next = Loc(self.table.len() as u32);
        let loc = *self.locs.entry(address).or_insert(next);
        if loc == next {
            self.table.push((address, bytes));
        }
        loc
    }

    /// What a location holds at first; None if that is undefined.
    pub fn initial(&self, graph: &Graph<'_>, loc: Loc) -> Option<Bits> {
        let (address, bytes) = self.table[loc.0 as usize];
        let width = u32::from(bytes) * 8;
        if let Some((thread, index)) = graph.find_object(address) {
            let zeroed = graph.threads[thread].objects[index].zeroed;
            return zeroed.then(|| Bits::zero(width));
        }
        if address == SECTIONS {
            return Some(Bits::zero(width));
        }
        self.globals.initial(address, bytes)
    }

    /// The cells of an access that was asked for before.
    pub fn known_parts(&self, address: u64, bytes: u8) -> Option<Parts> {
        let loc = *self.locs.get(&address)?;
        let size = self.table[loc.0 as usize].1;
        if size == bytes {
            return Some(Parts { locs: [loc; 16], sizes: [bytes; 16], count: 1 });
        }
        let mut parts = Parts { locs: [Loc::NONE; 16], sizes: [0; 16], count: 0 };
        for (start, size) in self.known.cells().of(address, bytes).take(16) {
            parts.locs[parts.count as usize] = *self.locs.get(&start)?;
            parts.sizes[parts.count as usize] = size;
            parts.count += 1;
        }
        Some(parts)
    }

    /// One of the cells of an access that was asked for before.
    pub fn known_loc(&self, address: u64, bytes: u8, part: u8) -> Option<Loc> {
        let loc = *self.locs.get(&address)?;
        match self.table[loc.0 as usize].1 == bytes {
            true => Some(loc),
            false => Some(self.known_parts(address, bytes)?.loc(part)),
        }
    }

    /// Locations within an object.
    pub fn locs_within(&self, address: u64, size: u64) -> impl Iterator<Item = Loc> {
        let cells = self.known.cells().within(address, address.saturating_add(size));
        cells.filter_map(|(start, _)| self.locs.get(&start).copied())
    }

    /// Whether an object was freed that others have used than who freed it.
    pub fn has_shared_ends(&self, graph: &Graph<'_>) -> bool {
        let objects = graph.threads.iter().flat_map(|thread| &thread.objects);
        let mut ended = objects.filter_map(|object| Some((object, object.freed?.thread())));
        ended.any(|(object, thread)| {
            let places = self.locs_within(object.address, object.size);
            let mut places = places.filter_map(|loc| graph.places.get(loc.0 as usize));
            places.any(|place| place.co.iter().chain(&place.reads).any(|id| id.thread() != thread))
        })
    }

    pub fn address(&self, loc: Loc) -> u64 {
        self.table[loc.0 as usize].0
    }

    /// A zero as wide as the location.
    pub fn zero(&self, loc: Loc) -> Bits {
        Bits::zero(u32::from(self.table[loc.0 as usize].1) * 8)
    }

    /// What is wrong with what a thread stands at, if it is an access or the end of an object.
    pub fn wrong_with(&self, graph: &Graph<'_>, at: &At<'_>) -> Option<BadAccess> {
        match at {
            At::Free { address, kind } => {
                return wrong_free(object(graph, *address), *address, *kind);
            }
            At::HeapSize { address } => {
                return wrong_end(object(graph, *address), *address, AllocKind::Heap);
            }
            _ => {}
        }
        let (address, bytes, writes) = at.access()?;
        let wrong = self.bad_access(graph, address, bytes, writes)?;
        let is_farewell = matches!(at, At::Load { marks, .. } if marks.is_farewell());
        (wrong != BadAccess::Freed || !is_farewell).then_some(wrong)
    }

    /// What is wrong with an access, if something is.
    fn bad_access(
        &self,
        graph: &Graph<'_>,
        address: u64,
        bytes: u8,
        writes: bool,
    ) -> Option<BadAccess> {
        if address == SECTIONS {
            return None;
        }
        wrong_access(self.extent(graph, address), address, u64::from(bytes), writes)
    }

    /// The object that an address is in, or behind.
    fn extent(&self, graph: &Graph<'_>, address: u64) -> Option<Extent> {
        if let Some((thread, index)) = graph.find_object(address) {
            let object = &graph.threads[thread].objects[index];
            return Some(Extent {
                start: object.address,
                size: object.size,
                is_freed: object.freed.is_some(),
                is_constant: false,
                is_alone: true,
            });
        }
        let object = self.globals.at(address).filter(|_| address < graph.slots.first())?;
        Some(Extent {
            start: object.address,
            size: object.size,
            is_freed: false,
            is_constant: object.constant,
            is_alone: false,
        })
    }
}

/// The allocated object that an address is in or behind: where it starts, of which kind it is, and
/// whether it has ended.
fn object(graph: &Graph<'_>, address: u64) -> Option<(u64, AllocKind, bool)> {
    let (thread, index) = graph.find_object(address)?;
    let object = &graph.threads[thread].objects[index];
    Some((object.address, object.kind, object.freed.is_some()))
}
