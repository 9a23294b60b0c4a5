//! The order of sequentially consistent accesses and fences in RC11.
//!
//! `psc` must be acyclic (O. Lahav, V. Vafeiadis, J. Kang, C.-K. Hur, D. Dreyer, Repairing
//! sequential consistency in C/C++11, PLDI 2017). Each of its edges is a path of program order,
//! reads-from, coherence and from-reads, and the graph without the new event had no cycle. So a
//! new cycle of `psc` is a cycle of those four through the new event; only where there is one, which is rare, the
//! relation itself is computed.

use parallax_memory::Native;

use crate::clocks::{Clock, Clocks};
use crate::consistency::Past;
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;

/// Whether the events just added, the last ones of their threads, can have made the order cyclic.
pub fn may_be_cyclic_after(graph: &Graph<'_>, past: &mut Past, new: &[Id]) -> bool {
    graph.seq_cst >= 2 && new.iter().any(|id| is_on_a_cycle(graph, past, *id))
}

/// Whether the order is acyclic.
pub fn is_acyclic(graph: &Graph<'_>) -> bool {
    Order::of(graph).is_acyclic()
}

/// Whether there are two sequentially consistent fences.
pub fn has_two_fences(graph: &Graph<'_>) -> bool {
    let is_fence = |id: &&Id| {
        let event = graph.event(**id);
        event.kind == Kind::Fence && event.marks.is_seq_cst()
    };
    graph.order.iter().filter(is_fence).nth(1).is_some()
}

/// Whether the event lies on a cycle of program order, reads-from, coherence and from-reads. It
/// is the last of its thread and nothing reads it but, perhaps, another such event.
fn is_on_a_cycle(graph: &Graph<'_>, past: &mut Past, id: Id) -> bool {
    let event = graph.event(id);
    if event.loc == Loc::NONE {
        return false;
    }
    let place = graph.place(event.loc);
    let position = place.position(if event.is_read() { event.rf } else { id });
    if position == place.co.len() {
        return false;
    }
    past.start(graph);
    past.visit(id);
    past.run(Native::Sc, graph);
    past.contains(place.at(position + 1))
}

/// The relation on all events, as rows of bits.
struct Order<'a, 'p> {
    graph: &'a Graph<'p>,
    events: Vec<Id>,
    /// Happens-before, as successors of each event.
    happens: Vec<Row>,
}

type Row = Vec<u64>;

fn set(row: &mut Row, index: usize) {
    row[index / 64] |= 1 << (index % 64);
}

fn join(row: &mut Row, other: &Row) {
    for (word, more) in row.iter_mut().zip(other) {
        *word |= more;
    }
}

fn members(row: &Row) -> impl Iterator<Item = usize> {
    let bits = |(index, word): (usize, &u64)| {
        let word = *word;
        (0..64).filter(move |bit| word & (1 << bit) != 0).map(move |bit| index * 64 + bit)
    };
    row.iter().enumerate().flat_map(bits)
}

impl<'a, 'p> Order<'a, 'p> {
    fn of(graph: &'a Graph<'p>) -> Order<'a, 'p> {
        let memory = |id: &&Id| {
            let event = graph.event(**id);
            event.is_read() || event.is_write() || event.kind == Kind::Fence
        };
        let events: Vec<Id> = graph.order.iter().filter(memory).copied().collect();
        let mut order = Order { graph, events, happens: Vec::new() };
        order.happens =
            order.relation(|a, b| a != b && Clocks::covers(graph.clocks.get(Clock::Happens, b), a));
        order
    }

    fn row(&self) -> Row {
        vec![0; self.events.len().div_ceil(64)]
    }

    fn relation(&self, holds: impl Fn(Id, Id) -> bool) -> Vec<Row> {
        let row = |a: &Id| {
            let mut row = self.row();
            for (index, b) in self.events.iter().enumerate() {
                if holds(*a, *b) {
                    set(&mut row, index);
                }
            }
            row
        };
        self.events.iter().map(row).collect()
    }

    fn event(&self, index: usize) -> &Event {
        self.graph.event(self.events[index])
    }

    /// `first; second`, where rows are successors.
    fn then(&self, first: &[Row], second: &[Row]) -> Vec<Row> {
        let compose = |row: &Row| {
            let mut result = self.row();
            for middle in members(row) {
                join(&mut result, &second[middle]);
            }
            result
        };
        first.iter().map(compose).collect()
    }

    /// Coherence and from-reads.
    fn overwrites(&self) -> Vec<Row> {
        self.relation(|a, b| {
            let (first, second) = (self.graph.event(a), self.graph.event(b));
            if first.loc == Loc::NONE || first.loc != second.loc || !second.is_write() {
                return false;
            }
            let place = self.graph.place(first.loc);
            let from = if first.is_read() { first.rf } else { a };
            place.position(from) < place.position(b)
        })
    }

    fn is_acyclic(&self) -> bool {
        let psc = self.psc();
        let count = self.events.len();
        let mut incoming = vec![0u32; count];
        for row in &psc {
            members(row).for_each(|to| incoming[to] += 1);
        }
        let mut free: Vec<usize> = (0..count).filter(|at| incoming[*at] == 0).collect();
        let mut done = 0;
        while let Some(at) = free.pop() {
            done += 1;
            for to in members(&psc[at]) {
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    free.push(to);
                }
            }
        }
        done == count
    }

    fn psc(&self) -> Vec<Row> {
        let overwrites = self.overwrites();
        let scb = self.scb(&overwrites);
        let is_sc: Vec<bool> =
            (0..self.events.len()).map(|index| self.event(index).marks.is_seq_cst()).collect();
        let fence = |index: usize| is_sc[index] && self.event(index).kind == Kind::Fence;
        // Ends: an event counts as itself, and as every fence that it happens before.
        let ends = |row: &Row| {
            let mut result = self.row();
            for at in members(row) {
                if is_sc[at] {
                    set(&mut result, at);
                }
                members(&self.happens[at])
                    .filter(|to| fence(*to))
                    .for_each(|to| set(&mut result, to));
            }
            result
        };
        let eco_then_hb = self.extended_coherence(&overwrites);
        let start = |at: usize| {
            if !is_sc[at] {
                return self.row();
            }
            let mut reached = scb[at].clone();
            if fence(at) {
                members(&self.happens[at]).for_each(|via| join(&mut reached, &scb[via]));
            }
            let mut result = ends(&reached);
            if fence(at) {
                let mut after = self.happens[at].clone();
                members(&self.happens[at]).for_each(|via| {
                    members(&eco_then_hb[via]).for_each(|to| join(&mut after, &self.happens[to]));
                });
                members(&after).filter(|to| fence(*to)).for_each(|to| set(&mut result, to));
            }
            result
        };
        (0..self.events.len()).map(start).collect()
    }

    /// `sb | (sb-other; hb; sb-other) | (hb & loc) | mo | rb`
    fn scb(&self, overwrites: &[Row]) -> Vec<Row> {
        let same_place = |a: Id, b: Id| {
            let (a, b) = (self.graph.event(a).loc, self.graph.event(b).loc);
            a != Loc::NONE && a == b
        };
        let before = |a: Id, b: Id| a.thread() == b.thread() && a.index() < b.index();
        let elsewhere = self.relation(|a, b| before(a, b) && !same_place(a, b));
        let mut scb = self.then(&self.then(&elsewhere, &self.happens), &elsewhere);
        let graph = self.graph;
        let more = self.relation(|a, b| {
            let happens = || Clocks::covers(graph.clocks.get(Clock::Happens, b), a);
            before(a, b) || (a != b && same_place(a, b) && happens())
        });
        for (row, (more, overwrites)) in scb.iter_mut().zip(more.iter().zip(overwrites)) {
            join(row, more);
            join(row, overwrites);
        }
        scb
    }

    /// `eco = rf | (mo | rb); rf?`
    fn extended_coherence(&self, overwrites: &[Row]) -> Vec<Row> {
        let reads =
            self.relation(|a, b| self.graph.event(b).is_read() && self.graph.event(b).rf == a);
        let mut eco = self.then(overwrites, &reads);
        for (row, (reads, overwrites)) in eco.iter_mut().zip(reads.iter().zip(overwrites)) {
            join(row, reads);
            join(row, overwrites);
        }
        eco
    }
}
