//! The last step of the search: total orders for the writes of each location.

use std::ops::ControlFlow;

use parallax_program::{Bits, Place};

use crate::coherence::WriteOrder;
use crate::search::{Flow, Search};
use crate::skeleton::{Footprint, Kind};
use crate::witness;

/// Why extending the orders ended early.
enum Halt {
    /// From outside.
    Stopped,
    /// One allowed order was enough.
    Found,
}

impl Search<'_, '_, '_, '_> {
    const LARGE: usize = 500;

    /// Every read has its source: looks at the orders of writes that are left open.
    pub(crate) fn orders_of_writes(&mut self) -> Flow {
        self.give_orders();
        self.checker.set_rf_complete(true);
        let flow = self.open_orders();
        self.checker.set_rf_complete(false);
        if self.findings.failure.is_none() {
            self.findings.failure = self.checker.failure();
        }
        if self.findings.failure.is_some() { Flow::Break(()) } else { flow }
    }

    fn open_orders(&mut self) -> Flow {
        if self.orders.iter().all(WriteOrder::is_total) {
            if self.checker.is_allowed() {
                return self.record();
            }
            return Flow::Continue(());
        }
        if !self.checker.may_be_allowed() {
            return Flow::Continue(());
        }
        let orders = self.orders.clone();
        let flow = if self.context.all_orders {
            self.extend(0)
        } else {
            let observed = self.observed_locations();
            self.for_each_last(&observed)
        };
        self.orders = orders;
        match flow {
            ControlFlow::Break(Halt::Stopped) => Flow::Break(()),
            _ => Flow::Continue(()),
        }
    }

    /// Locations whose last write shows in the final state.
    fn observed_locations(&self) -> Vec<usize> {
        let Some(locations) = &self.locations else {
            return Vec::new();
        };
        let observer = &self.context.observer;
        let observed: Vec<Footprint> =
            observer.observed.iter().filter_map(|o| self.bytes_of(&o.place)).collect();
        let shows =
            |at: &usize| observed.iter().any(|bytes| bytes.overlaps(locations.list[*at].footprint));
        (0..locations.list.len()).filter(shows).collect()
    }

    fn bytes_of(&self, place: &Place) -> Option<Footprint> {
        match *place {
            Place::Memory { global, offset, size } => Some(Footprint {
                address: self.context.image.address(global) + offset,
                bytes: size.bytes(),
            }),
            Place::Variable { .. } => None,
        }
    }

    /// For each choice of a last write to each of these locations, looks for one allowed order.
    fn for_each_last(&mut self, locations: &[usize]) -> ControlFlow<Halt> {
        let Some((location, rest)) = locations.split_first() else {
            return match self.find_order() {
                ControlFlow::Break(Halt::Found) => ControlFlow::Continue(()),
                flow => flow,
            };
        };
        let order = self.orders[*location].clone();
        for last in order.possible_last() {
            let mut chosen = order.clone();
            let mut others = (0..chosen.writes()).filter(|write| *write != last);
            if others.all(|write| chosen.add(write, last)) {
                self.orders[*location] = chosen;
                self.for_each_last(rest)?;
            }
        }
        self.orders[*location] = order;
        ControlFlow::Continue(())
    }

    /// Looks for one allowed order: the first that comes to mind, then all.
    fn find_order(&mut self) -> ControlFlow<Halt> {
        let orders = self.orders.clone();
        self.orders.iter_mut().for_each(WriteOrder::complete);
        let flow = self.extend(0);
        self.orders = orders;
        flow?;
        self.extend(0)
    }

    /// Completes the orders from location `at` on.
    fn extend(&mut self, at: usize) -> ControlFlow<Halt> {
        let open = (at..self.orders.len()).find(|at| !self.orders[*at].is_total());
        let Some(at) = open else {
            self.give_orders();
            if self.checker.is_allowed() {
                if self.record().is_break() {
                    return ControlFlow::Break(Halt::Stopped);
                }
                if !self.context.all_orders {
                    return ControlFlow::Break(Halt::Found);
                }
            }
            return ControlFlow::Continue(());
        };
        let order = self.orders[at].clone();
        let flow = self.place(at, 0);
        self.orders[at] = order;
        flow
    }

    /// Puts the writes of a location in order, one after the other.
    fn place(&mut self, at: usize, placed: u128) -> ControlFlow<Halt> {
        if self.watch.poll().is_break() {
            return ControlFlow::Break(Halt::Stopped);
        }
        if self.orders[at].is_total() {
            return self.extend(at + 1);
        }
        let order = self.orders[at].clone();
        let mut ready = order.ready(placed);
        let forced = ready & (ready - 1) == 0;
        while ready != 0 {
            let next = ready.trailing_zeros() as usize;
            ready &= ready - 1;
            let mut chosen = order.clone();
            let mut later = (0..chosen.writes()).filter(|w| *w != next && placed >> w & 1 == 0);
            if !later.all(|write| chosen.add(next, write)) {
                continue;
            }
            let last_decision =
                chosen.is_total() && self.orders[at + 1..].iter().all(WriteOrder::is_total);
            self.orders[at] = chosen;
            if !forced && !last_decision {
                self.give_orders();
                if !self.checker.may_be_allowed() {
                    continue;
                }
            }
            self.place(at, placed | 1 << next)?;
        }
        self.orders[at] = order;
        ControlFlow::Continue(())
    }

    /// The present execution is allowed: notes its final state. Breaks when there are too many.
    fn record(&mut self) -> Flow {
        if let Some(address) = self.wild_access() {
            self.findings.wild.insert(address);
            return Flow::Continue(());
        }
        let values = self.final_values();
        let observer = &self.context.observer;
        let Some(satisfies) = observer.judge(&values) else {
            return Flow::Continue(());
        };
        self.findings.states.add(&values[..observer.shown()], satisfies)?;
        if self.context.has_flags {
            self.give_values();
            self.findings.flags.extend(self.checker.flags());
        }
        if satisfies && self.wants_witness() {
            let execution = witness::execution(self, &values);
            self.findings.witnesses.push(execution);
        }
        Flow::Continue(())
    }

    /// Of large executions, only one is kept.
    fn wants_witness(&self) -> bool {
        let found = self.findings.witnesses.len();
        let large = self.skeleton.events.len() > Self::LARGE;
        found < self.context.witnesses && (found == 0 || !large)
    }

    /// Says to the checker which accesses have different values, where the model asks.
    fn give_values(&mut self) {
        let Some(unequal) = self.checker.unequal_values_mut() else {
            return;
        };
        let terms = &mut *self.terms;
        let events = self.skeleton.events.iter();
        let values: Vec<Option<Bits>> = events
            .map(|event| match event.kind {
                Kind::Read { term, .. } | Kind::Write { value: term } => terms.evaluate(term),
                Kind::Fence => None,
            })
            .collect();
        unequal.clear();
        for (a, left) in values.iter().enumerate() {
            for (b, right) in values.iter().enumerate() {
                if left.is_some() && right.is_some() && left != right {
                    unequal.add(a, b);
                }
            }
        }
    }

    /// An address outside all objects that the execution accesses.
    fn wild_access(&mut self) -> Option<u64> {
        if self.skeleton.addresses_in_objects {
            return None;
        }
        let events = self.skeleton.initials as u32..self.skeleton.events.len() as u32;
        let addresses: Vec<u64> =
            events.filter_map(|event| self.footprint(event)).map(|at| at.address).collect();
        addresses.into_iter().find(|address| self.context.image.locate(*address).is_none())
    }

    fn final_values(&mut self) -> Vec<Bits> {
        let context = self.context;
        let mut asked = vec![0; self.paths.len()];
        let mut values = Vec::with_capacity(context.observer.observed.len());
        for observable in &context.observer.observed {
            values.push(match observable.place {
                Place::Variable { thread, width, .. } => {
                    let index = asked[thread as usize];
                    asked[thread as usize] += 1;
                    let term = self.paths[thread as usize].finals[index];
                    let bits = self.terms.evaluate(term).unwrap_or(Bits::zero(width));
                    bits.extract(0, width)
                }
                Place::Memory { size, .. } => match self.bytes_of(&observable.place) {
                    Some(bytes) => self.final_memory(bytes),
                    None => Bits::zero(size.bits()),
                },
            });
        }
        values
    }

    /// What some bytes hold in the end.
    fn final_memory(&mut self, bytes: Footprint) -> Bits {
        let mut value = self.context.image.value(bytes.address, bytes.bytes).unsigned();
        let Some(locations) = &self.locations else {
            return Bits::new(bytes.bytes * 8, value);
        };
        for (location, order) in locations.list.iter().zip(&self.orders) {
            let at = location.footprint;
            if !at.overlaps(bytes) || location.writes.len() == 1 {
                continue;
            }
            let last = order.possible_last().next().unwrap_or(0);
            let write = &self.skeleton.events[location.writes[last] as usize];
            let Kind::Write { value: term } = write.kind else {
                continue;
            };
            let Some(written) = self.terms.evaluate(term) else {
                continue;
            };
            for byte in 0..at.bytes {
                let address = at.address + u64::from(byte);
                if let Some(offset) = address.checked_sub(bytes.address)
                    && offset < u64::from(bytes.bytes)
                {
                    let shift = offset as u32 * 8;
                    let new = written.extract(byte * 8, 8).unsigned();
                    value = value & !(0xff << shift) | new << shift;
                }
            }
        }
        Bits::new(bytes.bytes * 8, value)
    }
}
