//! What reads can find in memory.

use rustc_hash::FxHashMap;

use parallax_solver::Term;

use super::{Analysis, Possible, limited};
use crate::event::{Event, Step};

/// The reads of a program, and which writes may be read.
pub(super) struct Reads {
    /// By the variable that stands for the value.
    events: FxHashMap<Term, usize>,
    writes: Vec<usize>,
    coherent: bool,
    /// For reads, the last write of the same thread that surely happens before them, to the same
    /// place.
    hiding: Vec<Option<usize>>,
}

impl Reads {
    pub fn new(events: &[Event], coherent: bool) -> Reads {
        let mut reads = FxHashMap::default();
        for (number, event) in events.iter().enumerate() {
            let is_read = event.kind.is_read() && event.step != Step::Enter;
            if let (true, Some(value)) = (is_read, event.kind.value()) {
                reads.insert(value, number);
            }
        }
        // Bytes that are gone hold what they held.
        let writes =
            |number: &usize| events[*number].kind.is_write() && events[*number].step != Step::Gone;
        let writes = (0..events.len()).filter(writes).collect();
        let hiding = if coherent { hiding(events) } else { vec![None; events.len()] };
        Reads { events: reads, writes, coherent, hiding }
    }

    pub fn event(&self, value: Term) -> Option<usize> {
        self.events.get(&value).copied()
    }

    /// The writes that a read may take its value from, as far as program order says.
    pub fn candidates<'a>(
        &'a self,
        events: &'a [Event],
        read: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let (thread, bytes) = (events[read].thread, events[read].bytes);
        let first = self.hiding[read].unwrap_or(0);
        self.writes.iter().copied().filter(move |write| {
            let event = &events[*write];
            let own = self.coherent && event.thread == thread;
            event.bytes == bytes && !(own && (*write > read || *write < first))
        })
    }
}

fn hiding(events: &[Event]) -> Vec<Option<usize>> {
    let mut last: FxHashMap<(Option<u32>, Term, u32), Vec<usize>> = FxHashMap::default();
    let mut hiding = vec![None; events.len()];
    for (number, event) in events.iter().enumerate() {
        let key = (event.thread, event.address, event.bytes);
        if event.kind.is_write() {
            last.entry(key).or_default().push(number);
        } else if event.kind.is_read() {
            let before = last.get(&key).map_or(&[][..], Vec::as_slice).iter().rev();
            let mut sure = before.filter(|write| {
                let write = &events[**write];
                write.access != event.access && write.guard.follows_from(&event.guard)
            });
            hiding[number] = sure.next().copied();
        }
    }
    hiding
}

impl Analysis<'_> {
    /// Where an access can go; what is wrong with it does not happen.
    pub(super) fn places(&self, event: &Event) -> Possible {
        let mut places = self.address(event.address).clone()?;
        if matches!(event.step, Step::Access { .. }) {
            places.retain(|place| self.memory.allows(*place, event.bytes, event.kind.is_write()));
        }
        Some(places)
    }

    /// What a read can find.
    pub(super) fn read(&self, number: usize) -> Possible {
        let read = &self.events[number];
        let places = self.places(read)?;
        let mut all = Vec::new();
        if self.reads.hiding[number].is_none() {
            for place in &places {
                let address = u64::try_from(*place).ok()?;
                let initial = self.memory.initial(address, read.bytes);
                all.push(initial.unsigned());
                // What nobody has written may be anything. No object is here, so that an access to
                // it is found wrong; and there are two, so that nobody takes it for known.
                all.extend(initial.is_undefined().then_some(1));
            }
        }
        for write in self.reads.candidates(self.events, number) {
            let write = &self.events[write];
            if !meet(&places, self.address(write.address)) {
                continue;
            }
            let value = write.kind.value()?;
            match self.terms.as_constant(value) {
                Some(bits) => all.push(bits.unsigned()),
                None => all.extend(self.of(value).as_ref()?),
            }
        }
        limited(all)
    }

    /// Whether a read and a write can be of the same place.
    pub(super) fn may_read(&self, read: usize, write: usize) -> bool {
        match self.places(&self.events[read]) {
            Some(places) => meet(&places, self.address(self.events[write].address)),
            None => true,
        }
    }
}

/// Whether something can be in both.
fn meet(first: &[u128], second: &Possible) -> bool {
    match second {
        Some(second) => first.iter().any(|value| second.binary_search(value).is_ok()),
        None => true,
    }
}
