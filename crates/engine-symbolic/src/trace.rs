//! The steps of the current path, in order, and which of them must keep their order.
//!
//! Two steps of different threads depend on one another if they access the same bytes and one of them
//! writes; a step also depends on what its thread did before, on the step that started its thread,
//! on the end of a thread that it joins, and on writes that its thread has waited for. Clocks hold
//! what a step depends on, directly or not (C. Flanagan, P. Godefroid, Dynamic partial-order reduction
//! for model checking software, POPL 2005).

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::machine::{Effects, Touch};
use crate::state::{grains, overlap, part};

/// For each thread, how many of its steps come before.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Clock(Vec<u32>);

impl Clock {
    pub fn get(&self, thread: u32) -> u32 {
        self.0.get(thread as usize).copied().unwrap_or(0)
    }

    pub fn set(&mut self, thread: u32, time: u32) {
        if self.0.len() <= thread as usize {
            self.0.resize(thread as usize + 1, 0);
        }
        self.0[thread as usize] = time;
    }

    pub fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(own, other)| *own = (*own).max(*other));
    }
}

/// What each thread depends on, at the end of a path.
pub type Clocks = Rc<Vec<Rc<Clock>>>;

pub fn clock_of(clocks: &Clocks, thread: u32) -> Rc<Clock> {
    clocks.get(thread as usize).cloned().unwrap_or_default()
}

/// A step, as far as its order matters.
pub struct Event {
    pub thread: u32,
    /// How many of the thread's steps there are with it.
    pub time: u32,
    pub footprint: Footprint,
    pub clock: Rc<Clock>,
}

/// The bytes that a step accesses.
#[derive(Clone, Default, Debug)]
pub struct Footprint {
    pub parts: Vec<(Range<u64>, bool)>,
    /// Whether it depends on everything: an atomic section that does not end.
    pub is_everything: bool,
}

impl Footprint {
    /// Where atomic sections exclude one another.
    const SECTIONS: Range<u64> = 8..16;

    /// Of a step. Where races are looked for, the order of atomic sections matters too.
    pub fn of(effects: &Effects, orders_sections: bool) -> Footprint {
        let part = |touch: &Touch| (touch.range.clone(), touch.writes);
        let mut parts: Vec<(Range<u64>, bool)> = effects.accesses.iter().map(part).collect();
        if effects.in_section && orders_sections {
            parts.push((Self::SECTIONS, true));
        }
        Footprint { parts, is_everything: effects.is_stuck_in_section }
    }

    /// Of both.
    pub fn extend(&mut self, other: &Footprint) {
        for part in &other.parts {
            if !self.parts.contains(part) {
                self.parts.push(part.clone());
            }
        }
        self.is_everything |= other.is_everything;
    }

    pub fn conflicts(&self, other: &Footprint) -> bool {
        if self.is_everything || other.is_everything {
            return true;
        }
        let meets = |(range, writes): &(Range<u64>, bool)| {
            let mut others = other.parts.iter();
            others.any(|(place, also)| (*writes || *also) && overlap(range, place))
        };
        self.parts.iter().any(meets)
    }
}

/// The steps of the current path.
#[derive(Default)]
pub struct Trace {
    pub events: Vec<Event>,
    /// For each eight bytes, the events that access some of them.
    places: FxHashMap<u64, Vec<u32>>,
    /// Those that access more than can be said so.
    wide: Vec<u32>,
}

/// An access to more bytes is wide.
const WIDE: u64 = 64;

impl Trace {
    pub fn push(&mut self, event: Event) {
        let index = self.events.len() as u32;
        if is_wide(&event.footprint) {
            self.wide.push(index);
        } else {
            for grain in grains_of(&event.footprint) {
                let list = self.places.entry(grain).or_default();
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        self.events.push(event);
    }

    pub fn pop(&mut self) {
        let Some(event) = self.events.pop() else { return };
        let index = self.events.len() as u32;
        if is_wide(&event.footprint) {
            self.wide.pop();
            return;
        }
        for grain in grains_of(&event.footprint) {
            if let Some(list) = self.places.get_mut(&grain)
                && list.last() == Some(&index)
            {
                list.pop();
            }
        }
    }

    /// The events that a step with this footprint, by a thread with this clock, depends on with
    /// nothing in between, the last one first. The clock of all of them and before is joined to it.
    pub fn rivals(&self, thread: u32, footprint: &Footprint, clock: &mut Clock) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        if is_wide(footprint) {
            found.extend(0..self.events.len() as u32);
        } else {
            for (range, writes) in &footprint.parts {
                self.candidates(range, *writes, &mut found);
            }
            found.extend(&self.wide);
        }
        found.sort_unstable_by(|one, other| other.cmp(one));
        found.dedup();
        found.retain(|index| {
            let event = &self.events[*index as usize];
            let is_new = event.thread != thread && clock.get(event.thread) < event.time;
            let rivals = is_new && event.footprint.conflicts(footprint);
            if rivals {
                clock.join(&event.clock);
            }
            rivals
        });
        found
    }

    /// Events that may conflict with an access, but for those that come before one of them.
    fn candidates(&self, range: &Range<u64>, writes: bool, found: &mut Vec<u32>) {
        for grain in grains(range) {
            let Some(list) = self.places.get(&grain) else { continue };
            let part = part(range, grain);
            for index in list.iter().rev() {
                let parts = &self.events[*index as usize].footprint.parts;
                let conflict = |(place, also): &&(Range<u64>, bool)| {
                    (writes || *also) && overlap(place, &part)
                };
                if parts.iter().any(|part| conflict(&part)) {
                    found.push(*index);
                }
                // Whatever conflicts with it and comes before comes before this write, too.
                let covers = |(place, also): &(Range<u64>, bool)| {
                    *also && place.start <= part.start && part.end <= place.end
                };
                if parts.iter().any(covers) {
                    break;
                }
            }
        }
    }
}

fn is_wide(footprint: &Footprint) -> bool {
    footprint.is_everything
        || footprint.parts.iter().any(|(range, _)| range.end.saturating_sub(range.start) > WIDE)
}

fn grains_of(footprint: &Footprint) -> impl Iterator<Item = u64> {
    footprint.parts.iter().flat_map(|(range, _)| grains(range))
}
