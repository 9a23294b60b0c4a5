//! The locations of a skeleton: which events access the same bytes.

use rustc_hash::FxHashMap;

use crate::coherence::{AtomicPair, WriteOrder, close_atomic};
use crate::skeleton::{Footprint, Kind, Skeleton};

/// One location: its initial write is the first of its writes.
pub struct Location {
    pub footprint: Footprint,
    pub writes: Vec<u32>,
    /// Reads that open an atomic pair, with the pair's write (its number at the location).
    /// Models differ about pairs that the thread itself writes in between: they are left out.
    pairs: Vec<(u32, usize)>,
}

/// All locations, and where each event belongs.
pub struct Locations {
    pub list: Vec<Location>,
    /// For each access: its location, and for writes the number there.
    of: Vec<Option<(u32, u32)>>,
    /// For each access, the accesses of the same thread to the same location, in program
    /// order with it in between.
    neighbours: Vec<Neighbours>,
}

#[derive(Default)]
struct Neighbours {
    earlier: Vec<u32>,
    later: Vec<u32>,
}

/// Why events cannot be sorted into locations.
pub enum Obstacle {
    /// Two accesses overlap without being the same.
    Overlap,
    /// An access to bytes that no initial write covers.
    Uncovered(Footprint),
    /// More writes to one location than orders are kept for.
    TooManyWrites,
}

impl Locations {
    /// Sorts the events by the bytes they access; `None` for fences.
    pub fn new(
        skeleton: &Skeleton<'_, '_>,
        footprints: &[Option<Footprint>],
    ) -> Result<Locations, Obstacle> {
        let mut ids: FxHashMap<Footprint, u32> = FxHashMap::default();
        let mut list: Vec<Location> = Vec::new();
        let mut of = vec![None; skeleton.events.len()];
        let mut pairs = Vec::new();
        for (i, footprint) in footprints.iter().enumerate().take(skeleton.initials) {
            let Some(footprint) = *footprint else {
                continue;
            };
            ids.insert(footprint, list.len() as u32);
            of[i] = Some((list.len() as u32, 0));
            list.push(Location { footprint, writes: vec![i as u32], pairs: Vec::new() });
        }
        for (i, event) in skeleton.events.iter().enumerate().skip(skeleton.initials) {
            let Some(footprint) = footprints[i] else {
                continue;
            };
            let Some(id) = ids.get(&footprint) else {
                return Err(Obstacle::Uncovered(footprint));
            };
            let location = &mut list[*id as usize];
            let mut number = 0;
            if matches!(event.kind, Kind::Write { .. }) {
                number = location.writes.len() as u32;
                location.writes.push(i as u32);
                if let Some((read, _)) = event.pair {
                    pairs.push((*id as usize, read, i as u32, number as usize));
                }
            }
            of[i] = Some((*id, number));
        }
        check_overlaps(&list, &of)?;
        if list.iter().any(|location| location.writes.len() > WriteOrder::MAX_WRITES) {
            return Err(Obstacle::TooManyWrites);
        }
        let neighbours = find_neighbours(skeleton, &of, list.len());
        for (location, read, write, number) in pairs {
            let same = of[read as usize].is_some_and(|(of, _)| of as usize == location);
            if !same {
                continue;
            }
            let between = neighbours[write as usize].earlier.iter().filter(|e| **e > read);
            let mut writes = between.filter(|e| list[location].writes.contains(e));
            if writes.next().is_none() {
                list[location].pairs.push((read, number));
            }
        }
        Ok(Locations { list, of, neighbours })
    }

    pub fn of(&self, event: u32) -> Option<usize> {
        self.of[event as usize].map(|(location, _)| location as usize)
    }

    /// The number of a write at its location.
    fn number(&self, write: u32) -> usize {
        self.of[write as usize].map_or(0, |(_, number)| number as usize)
    }

    /// The orders that program order alone forces; `coherent` says whether the model keeps
    /// each location coherent.
    pub fn orders(&self, coherent: bool) -> Vec<WriteOrder> {
        let forced = |location: &Location| {
            let mut order = WriteOrder::new(location.writes.len());
            if coherent {
                for write in &location.writes {
                    let at = self.number(*write);
                    for later in &self.neighbours[*write as usize].later {
                        if location.writes.contains(later) {
                            // Program order is acyclic: this cannot contradict.
                            let _ = order.add(at, self.number(*later));
                        }
                    }
                }
            }
            order
        };
        self.list.iter().map(forced).collect()
    }

    /// Calls `visit` with each pair of writes whose order is settled, as event numbers.
    pub fn settled(&self, orders: &[WriteOrder], mut visit: impl FnMut(usize, usize)) {
        for (location, order) in self.list.iter().zip(orders) {
            for (i, earlier) in location.writes.iter().enumerate() {
                let mut after = order.after(i);
                while after != 0 {
                    let later = location.writes[after.trailing_zeros() as usize];
                    after &= after - 1;
                    visit(*earlier as usize, later as usize);
                }
            }
        }
    }

    /// Whether `read` may take its value from `write` at all, under coherence.
    pub fn may_read(&self, read: u32, write: u32) -> bool {
        let neighbours = &self.neighbours[read as usize];
        if neighbours.later.contains(&write) {
            return false;
        }
        // A write of its own thread in between hides an earlier one.
        let earlier = neighbours.earlier.iter();
        let hidden =
            |w: &u32| self.neighbours[write as usize].later.contains(w) && self.is_write(*w);
        !earlier.clone().any(hidden)
    }

    fn is_write(&self, event: u32) -> bool {
        self.of(event).is_some_and(|at| self.list[at].writes.contains(&event))
    }

    /// Adds to the order of a location what follows from `read` taking its value from `write`,
    /// given the sources of the other reads. False on a contradiction.
    #[must_use]
    pub fn force(
        &self,
        read: u32,
        write: u32,
        sources: &[Option<u32>],
        order: &mut WriteOrder,
    ) -> bool {
        let at = self.number(write);
        let source = |event: u32| match sources[event as usize] {
            Some(source) => Some(self.number(source)),
            None => self.is_write(event).then(|| self.number(event)),
        };
        let neighbours = &self.neighbours[read as usize];
        for earlier in &neighbours.earlier {
            if let Some(before) = source(*earlier)
                && before != at
                && !order.add(before, at)
            {
                return false;
            }
        }
        for later in &neighbours.later {
            let Some(after) = source(*later) else {
                continue;
            };
            if self.is_write(*later) {
                if !order.add(at, after) {
                    return false;
                }
            } else if after != at && !order.add(at, after) {
                return false;
            }
        }
        true
    }

    /// Adds what the atomic pairs of a location force, given the sources of reads.
    #[must_use]
    pub fn force_atomicity(
        &self,
        location: usize,
        sources: &[Option<u32>],
        skeleton: &Skeleton<'_, '_>,
        order: &mut WriteOrder,
    ) -> bool {
        let location = &self.list[location];
        if location.pairs.is_empty() {
            return true;
        }
        let thread = |write: usize| skeleton.events[location.writes[write] as usize].thread;
        let pairs = location.pairs.iter().filter_map(|(read, write)| {
            let source = self.number(sources[*read as usize]?);
            let own = (0..location.writes.len()).filter(|w| thread(*w) == thread(*write));
            let own = own.fold(0, |bits, w| bits | 1 << w);
            Some(AtomicPair { source, write: *write, own })
        });
        close_atomic(order, &pairs.collect::<Vec<_>>())
    }
}

fn check_overlaps(list: &[Location], of: &[Option<(u32, u32)>]) -> Result<(), Obstacle> {
    let mut accessed = vec![0u32; list.len()];
    for (location, _) in of.iter().flatten() {
        accessed[*location as usize] += 1;
    }
    // An initial write that nothing accesses is in nobody's way.
    let mut used: Vec<Footprint> =
        list.iter().zip(accessed).filter(|(_, n)| *n > 1).map(|(l, _)| l.footprint).collect();
    used.sort_unstable();
    match used.windows(2).any(|pair| pair[0].overlaps(pair[1])) {
        true => Err(Obstacle::Overlap),
        false => Ok(()),
    }
}

fn find_neighbours(
    skeleton: &Skeleton<'_, '_>,
    of: &[Option<(u32, u32)>],
    locations: usize,
) -> Vec<Neighbours> {
    let mut neighbours: Vec<Neighbours> = of.iter().map(|_| Neighbours::default()).collect();
    let mut seen: Vec<Vec<u32>> = vec![Vec::new(); locations];
    let mut thread = None;
    for i in skeleton.initials..skeleton.events.len() {
        if skeleton.events[i].thread != thread {
            thread = skeleton.events[i].thread;
            seen.iter_mut().for_each(Vec::clear);
        }
        let Some((location, _)) = of[i] else { continue };
        let seen = &mut seen[location as usize];
        for earlier in seen.iter() {
            neighbours[*earlier as usize].later.push(i as u32);
        }
        neighbours[i].earlier.clone_from(seen);
        seen.push(i as u32);
    }
    neighbours
}
