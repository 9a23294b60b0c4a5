//! The execution, once everything about it is known.

use std::collections::BTreeMap;

use parallax_program::{Program, Tags};

use super::coherence::{Footprint, Orders};
use super::{Rebuild, Taken};
use crate::derived::{Derived, edges};
use crate::refusal::Refusal;
use crate::{Edges, Event, EventKind, Execution, Standing};

impl Rebuild<'_, '_> {
    /// Pairs of program order and coherence, which are written down as closed relations: half a
    /// gigabyte.
    const MOST_PAIRS: usize = 1 << 26;

    /// Whether there is room for all pairs of events that are ordered.
    pub(super) fn check_size(&self, orders: &Orders) -> Result<(), Refusal> {
        let chains = self.claim.threads.iter().map(|thread| thread.steps.len());
        let chains = chains.chain(orders.values().map(|writes| writes.len() + 1));
        let pairs = chains.map(|length| length.saturating_mul(length.saturating_sub(1)) / 2);
        match pairs.fold(0, usize::saturating_add) <= Self::MOST_PAIRS {
            true => Ok(()),
            false => Err(Refusal::Large(self.events.len())),
        }
    }

    /// Puts the initial writes in front, which shifts the numbers of all other events.
    pub(super) fn into_execution(
        self,
        orders: Orders,
        standings: Vec<Standing>,
    ) -> (Execution, Derived) {
        let initial = self.initial_writes(&orders);
        let shift = initial.len() as u32;
        let derived = self.derived.shifted(shift);
        let (mut rf, mut co) = (Edges::new(), Edges::new());
        rf.extend(self.rf.iter().map(|(write, read)| (write + shift, read + shift)));
        for read in &self.initial_reads {
            let kind = self.events[*read as usize].as_ref().map(|taken| &taken.event.kind);
            let source = kind.and_then(EventKind::footprint).and_then(|at| initial.get(&at));
            rf.extend(source.map(|(number, _)| (*number, read + shift)));
        }
        for (location, order) in &orders {
            let first = initial.get(location).map(|(number, _)| *number);
            let order: Vec<u32> =
                first.into_iter().chain(order.iter().map(|write| write + shift)).collect();
            for (position, earlier) in order.iter().enumerate() {
                co.extend(order[position + 1..].iter().map(|later| (*earlier, *later)));
            }
        }
        rf.sort_unstable();
        co.sort_unstable();
        let mut initial: Vec<(u32, Event)> = initial.into_values().collect();
        initial.sort_by_key(|(number, _)| *number);
        let mut stacks = vec![Vec::new(); initial.len()];
        let mut events: Vec<Event> = initial.into_iter().map(|(_, event)| event).collect();
        for Taken { mut event, stack, .. } in self.events.into_iter().flatten() {
            let tags = derived.tags.get(&(events.len() as u32));
            event.tags = tags.cloned().unwrap_or_default();
            events.push(event);
            stacks.push(stack);
        }
        let execution = Execution {
            threads: self.threads.into_iter().map(|run| run.name).collect(),
            po: program_order(&events, &derived),
            events,
            rf,
            co,
            addr: edges(&derived.addr),
            data: edges(&derived.data),
            ctrl: edges(&derived.ctrl),
            rmw: edges(&derived.rmw),
            schedule: self.schedule.iter().map(|event| event + shift).collect(),
            stacks,
            standings,
            undefined: self.claim.undefined.clone(),
            unwritten: self.claim.unwritten.clone(),
            ..Execution::default()
        };
        (execution, derived)
    }

    /// For each location of the program its initial write, with its number.
    fn initial_writes(&self, orders: &Orders) -> BTreeMap<Footprint, (u32, Event)> {
        let of_program = |(address, _): &&Footprint| Program::thread_at(*address).is_none();
        let locations = orders.keys().filter(of_program);
        let writes = (0u32..).zip(locations).map(|(number, (address, size))| {
            let (address, size) = (*address, *size);
            let value = self.objects.initial(address, size);
            let (location, shown) = self.names(address, value);
            let event = Event {
                thread: None,
                kind: EventKind::Write { location, address, size, value, shown },
                tags: Tags::none(),
                place: None,
                text: String::new(),
            };
            ((address, size), (number, event))
        });
        writes.collect()
    }
}

/// Events of a thread one after the other; the parts of one access are not ordered.
pub(crate) fn program_order(events: &[Event], derived: &Derived) -> Edges {
    let accesses: Vec<Option<&u32>> =
        (0..events.len() as u32).map(|event| derived.access.get(&event)).collect();
    let mut po = Edges::new();
    for (a, event) in events.iter().enumerate().filter(|(_, event)| event.thread.is_some()) {
        let later = (a + 1..events.len()).take_while(|b| events[*b].thread == event.thread);
        let later = later.filter(|b| accesses[a].is_none() || accesses[a] != accesses[*b]);
        po.extend(later.map(|b| (a as u32, b as u32)));
    }
    po
}
