//! Locations, and the order of the writes to each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::Rebuild;
use crate::{EventKind, StepId};

/// Address and size of an access, or of a part of one.
pub(super) type Footprint = (u64, u32);

/// The writes of each location in coherence order, without the initial one.
pub(super) type Orders = BTreeMap<Footprint, Vec<u32>>;

impl Rebuild<'_, '_> {
    /// The claimed orders, which must be of all writes of a location each. A location with at
    /// most one write needs none.
    pub(super) fn coherence(&self) -> Result<Orders, String> {
        let mut writes = self.locations()?;
        let mut ordered = BTreeSet::new();
        for order in self.claim.co.iter().filter(|order| !order.is_empty()) {
            let (location, events) = self.order(order)?;
            if !ordered.insert(location) {
                return Err(format!("the location {:#x} has two orders", location.0));
            }
            let all = writes.get_mut(&location).ok_or("an order of no location")?;
            if events.len() < all.len() {
                return Err(format!("a write at {:#x} is missing in its order", location.0));
            }
            *all = events;
        }
        let open = |(location, all): &(&Footprint, &Vec<u32>)| {
            all.len() > 1 && !ordered.contains(*location)
        };
        match writes.iter().find(open) {
            Some((location, _)) => Err(format!("the writes at {:#x} have no order", location.0)),
            None => Ok(writes),
        }
    }

    /// All locations with their writes. Accesses that overlap must be of the same bytes.
    fn locations(&self) -> Result<Orders, String> {
        let mut writes = Orders::new();
        for (number, taken) in (0u32..).zip(&self.events) {
            let Some(kind) = taken.as_ref().map(|taken| &taken.event.kind) else {
                continue;
            };
            let Some(location) = kind.footprint() else {
                continue;
            };
            let writes = writes.entry(location).or_default();
            if matches!(kind, EventKind::Write { .. }) {
                writes.push(number);
            }
        }
        let mut previous: Option<Footprint> = None;
        for (address, size) in writes.keys() {
            if let Some((before, bytes)) = previous
                && address - before < u64::from(bytes)
            {
                return Err(format!(
                    "{size} bytes at {address:#x} overlap {bytes} bytes at {before:#x} in part"
                ));
            }
            previous = Some((*address, *size));
        }
        Ok(writes)
    }

    /// The location and the events of one claimed order.
    fn order(&self, steps: &[StepId]) -> Result<(Footprint, Vec<u32>), String> {
        let mut location = None;
        let mut events = Vec::with_capacity(steps.len());
        for step in steps {
            let (event, kind) = self.earlier(*step)?;
            let (StepId { thread, index }, at) = (step, kind.footprint());
            if !matches!(kind, EventKind::Write { .. }) {
                return Err(format!("step {index} of thread {thread} has an order, but no write"));
            }
            if location.is_some() && location != at {
                return Err(format!("step {index} of thread {thread} writes another location"));
            }
            location = at;
            events.push(event);
        }
        let distinct: BTreeSet<&u32> = events.iter().collect();
        match location {
            Some(location) if distinct.len() == events.len() => Ok((location, events)),
            _ => Err("a write is twice in the order of its location".to_string()),
        }
    }
}
