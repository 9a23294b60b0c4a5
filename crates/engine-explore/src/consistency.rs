//! Which writes a read may see, and where in coherence order a write may go.
//!
//! The event in question is new: nothing in the graph comes after it in program order and
//! reads-from. So every axiom of these models comes down to one question, the position in coherence
//! order of the last write that the new event *must* know of: it may read that one or any later
//! one, and be written anywhere behind it. Under RC11 a thread must know of what happens before; under SC,
//! TSO and PSO of all that comes before in the model's global order, which is searched
//! backwards from the thread's end. With the mentioned order a cycle needs a way from the overwritten write back to the
//! new event, that is, from a write that was to be known of.
//!
//! For the sequentially consistent accesses of RC11 see [`crate::psc`].

use parallax_memory::Native;

use crate::clocks::{Clock, Clocks};
use crate::event::{Event, Id, Kind, Loc};
use crate::graph::Graph;

/// A search through the past of an event; kept for its memory.
#[derive(Default)]
pub struct Past {
    /// For each thread and event, the number of the search that saw it last.
    seen: Vec<Vec<u32>>,
    search: u32,
    open: Vec<Id>,
}

/// The position of the last write to the event's location that it must know of; the event is
/// about to be the next of its thread.
pub fn must_know(
    model: Native,
    graph: &Graph<'_>,
    past: &mut Past,
    thread: usize,
    event: &Event,
) -> usize {
    let place = graph.place(event.loc);
    if place.co.is_empty() {
        return 0;
    }
    if model.by_happens_before() {
        return known_by_happens_before(graph, thread, event.loc);
    }
    let own = known_by_thread(graph, thread, event.loc);
    if own == place.co.len() {
        return own;
    }
    past.start(graph);
    past.before_next(model, graph, thread, event);
    past.run(model, graph);
    let known = place.co.iter().rposition(|write| past.contains(*write));
    known.map_or(0, |index| index + 1).max(own)
}

/// Writes to the location that happen before, or were read by something that does.
fn known_by_happens_before(graph: &Graph<'_>, thread: usize, loc: Loc) -> usize {
    let place = graph.place(loc);
    let length = graph.threads[thread].events.len();
    let clock = match length {
        0 => &[],
        _ => graph.clocks.get(Clock::Happens, Id::new(thread, length - 1)),
    };
    let known = place.co.iter().rposition(|write| Clocks::covers(clock, *write));
    let mut known = known.map_or(0, |index| index + 1);
    if known == place.co.len() {
        return known;
    }
    for read in &place.reads {
        if Clocks::covers(clock, *read) {
            known = known.max(place.position(graph.event(*read).rf));
        }
    }
    known
}

/// What the thread itself has written or read at the location.
fn known_by_thread(graph: &Graph<'_>, thread: usize, loc: Loc) -> usize {
    let place = graph.place(loc);
    let written = place.co.iter().rposition(|write| write.thread() == thread);
    // A later read of a thread knows no less than an earlier one.
    let read = place.reads.iter().filter(|read| read.thread() == thread);
    let last = read.max_by_key(|read| read.index());
    let read = last.map(|read| place.position(graph.event(*read).rf));
    written.map_or(0, |index| index + 1).max(read.unwrap_or(0))
}

impl Past {
    pub fn start(&mut self, graph: &Graph<'_>) {
        self.search += 1;
        if self.seen.len() < graph.threads.len() {
            self.seen.resize_with(graph.threads.len(), Vec::new);
        }
        for (seen, thread) in self.seen.iter_mut().zip(&graph.threads) {
            if seen.len() < thread.events.len() {
                seen.resize(thread.events.len() + 8, 0);
            }
        }
    }

    pub fn contains(&self, id: Id) -> bool {
        self.seen[id.thread()][id.index()] == self.search
    }

    pub fn visit(&mut self, id: Id) {
        if id.is_init() {
            return;
        }
        let seen = &mut self.seen[id.thread()][id.index()];
        if *seen != self.search {
            *seen = self.search;
            self.open.push(id);
        }
    }

    /// Visits a place in a thread counted from one; 0 is none.
    fn visit_place(&mut self, thread: usize, place: u32) {
        if place > 0 {
            self.visit(Id::new(thread, place as usize - 1));
        }
    }

    /// What comes before the next event of a thread, which will be like `event`, by the
    /// thread's own order.
    fn before_next(&mut self, model: Native, graph: &Graph<'_>, thread: usize, event: &Event) {
        let mut event = *event;
        let events = &graph.threads[thread].events;
        event.follow(events.last(), events.len());
        self.own_order(model, graph, thread, events.len(), &event);
    }

    /// All that comes before what was visited.
    pub fn run(&mut self, model: Native, graph: &Graph<'_>) {
        while let Some(id) = self.open.pop() {
            let event = graph.event(id);
            self.own_order(model, graph, id.thread(), id.index(), event);
            self.communication(model, graph, id, event);
        }
    }

    fn communication(&mut self, model: Native, graph: &Graph<'_>, id: Id, event: &Event) {
        match event.kind {
            Kind::Read if model == Native::Sc || event.rf.is_init() => self.visit(event.rf),
            Kind::Read if event.rf.thread() != id.thread() => self.visit(event.rf),
            Kind::Write if event.loc != Loc::NONE => {
                let place = graph.place(event.loc);
                let before = place.at(place.position(id) - 1);
                self.visit(before);
                for read in &place.reads {
                    if graph.event(*read).rf == before {
                        self.visit(*read);
                    }
                }
            }
            _ => {}
        }
    }

    /// What the model keeps of program order, to an event at that place in its thread.
    fn own_order(
        &mut self,
        model: Native,
        graph: &Graph<'_>,
        thread: usize,
        index: usize,
        event: &Event,
    ) {
        match model {
            Native::Sc | Native::Ra | Native::Rc11 | Native::Rc20 | Native::Imm => {
                self.visit_place(thread, index as u32);
            }
            Native::Tso => {
                self.visit_place(thread, event.last_read);
                self.visit_place(thread, event.last_flush);
                if event.kind != Kind::Read || event.marks.is_locked() {
                    self.visit_place(thread, event.last_write);
                }
            }
            Native::Pso => self.partial_store_order(graph, thread, index, event),
        }
    }

    fn partial_store_order(
        &mut self,
        graph: &Graph<'_>,
        thread: usize,
        index: usize,
        event: &Event,
    ) {
        self.visit_place(thread, event.last_read);
        self.visit_place(thread, event.last_flush);
        let earlier = &graph.threads[thread].events[..index];
        let after_all_writes = match event.kind {
            Kind::Fence => true,
            Kind::Write => event.marks.is_locked() || event.marks.is_store_barrier(),
            _ => event.marks.is_locked(),
        };
        if after_all_writes {
            for (place, other) in earlier.iter().enumerate() {
                if other.is_write() {
                    self.visit(Id::new(thread, place));
                }
            }
        }
        if event.is_write() {
            let barrier = earlier
                .iter()
                .rposition(|other| other.kind == Kind::Fence && other.marks.is_store_barrier());
            if let Some(place) = barrier {
                self.visit(Id::new(thread, place));
            }
        }
    }
}
