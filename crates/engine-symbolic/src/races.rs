//! Data races: conflicting accesses, one of them not atomic, that nothing orders.
//!
//! What orders accesses is program order and, as `models/sc.cat` has it, an atomic read of an atomic
//! write; starting and joining threads count as such, and atomic sections exclude one another like
//! critical sections of one lock. All orders of steps that depend on one another are looked at, so each
//! pair that races does so in one of them; it is reported as soon as its second access is made.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::machine::{Effects, Touch};
use crate::state::{grains, overlap, part};
use crate::trace::{Clock, Clocks, clock_of};
use crate::value::Value;

/// An access that was made.
#[derive(Clone, Debug)]
pub struct Made {
    pub thread: u32,
    /// How many steps the thread had made with it, and which access of the step it is.
    pub time: u32,
    pub number: u32,
    /// The position of the step in the path.
    pub step: u32,
    pub touch: Touch,
    /// What is before it, for whoever reads what it has written.
    clock: Rc<Clock>,
}

impl Made {
    fn is_known(&self) -> bool {
        matches!(self.touch.address, Value::Known(_))
    }
}

/// The accesses of the current path that may yet race with others.
#[derive(Default)]
pub struct Races {
    /// For each eight bytes, the last accesses of each kind and place by each thread.
    places: FxHashMap<u64, Vec<Made>>,
    /// Those whose address is a term.
    open: Vec<Made>,
    /// What the last steps have changed, to take it back.
    undo: Vec<Vec<Undo>>,
    /// The last writes to each eight bytes, the newest last.
    writes: FxHashMap<u64, Vec<Made>>,
    /// What is before the end of the last atomic section.
    sections: Vec<Rc<Clock>>,
}

enum Undo {
    Replaced { grain: u64, index: usize, before: Made },
    Added { grain: u64 },
    Open,
    Written { grain: u64 },
    Section,
}

/// Two accesses that race where they overlap.
pub struct Pair {
    pub earlier: Made,
    pub later: Made,
}

impl Races {
    /// A thread has made a step. What is before its next one, and the pairs that may race.
    pub fn push(
        &mut self,
        thread: u32,
        (time, step): (u32, u32),
        effects: &Effects,
        before: &Clocks,
    ) -> (Rc<Clock>, Vec<Pair>) {
        let mut clock = Clock::clone(&clock_of(before, thread));
        clock.set(thread, time);
        self.undo.push(Vec::new());
        if effects.in_section
            && let Some(last) = self.sections.last()
        {
            clock.join(last);
        }
        let mut pairs = Vec::new();
        for (number, touch) in (0u32..).zip(&effects.accesses) {
            if touch.reads && touch.is_atomic {
                self.acquire(touch, &mut clock);
            }
            let now = Rc::new(clock.clone());
            let made = Made { thread, time, number, step, touch: touch.clone(), clock: now };
            if touch.bytes > 0 {
                self.compare(&made, &clock, &mut pairs);
                self.keep(made);
            }
        }
        let clock = Rc::new(clock);
        if effects.in_section {
            self.sections.push(clock.clone());
            self.note(Undo::Section);
        }
        (clock, pairs)
    }

    /// The pairs that an access makes which a thread does not take because it would come to nothing.
    pub fn peek(
        &self,
        thread: u32,
        (time, step): (u32, u32),
        touch: &Touch,
        before: &Clocks,
    ) -> Vec<Pair> {
        let mut clock = Clock::clone(&clock_of(before, thread));
        if touch.is_atomic {
            self.acquire(touch, &mut clock);
        }
        let now = Rc::new(clock.clone());
        let made = Made { thread, time, number: 0, step, touch: touch.clone(), clock: now };
        let mut pairs = Vec::new();
        self.compare(&made, &clock, &mut pairs);
        pairs
    }

    fn note(&mut self, undo: Undo) {
        if let Some(last) = self.undo.last_mut() {
            last.push(undo);
        }
    }

    /// Takes the last step back.
    pub fn pop(&mut self) {
        for undo in self.undo.pop().into_iter().flatten().rev() {
            match undo {
                Undo::Replaced { grain, index, before } => {
                    if let Some(list) = self.places.get_mut(&grain) {
                        list[index] = before;
                    }
                }
                Undo::Added { grain } => {
                    self.places.get_mut(&grain).map(Vec::pop);
                }
                Undo::Open => {
                    self.open.pop();
                }
                Undo::Written { grain } => {
                    self.writes.get_mut(&grain).map(Vec::pop);
                }
                Undo::Section => {
                    self.sections.pop();
                }
            }
        }
    }

    /// An atomic read comes after the atomic writes that it finds.
    fn acquire(&self, touch: &Touch, clock: &mut Clock) {
        for grain in grains(&touch.range) {
            let Some(list) = self.writes.get(&grain) else { continue };
            let mut open: Vec<u64> = part(&touch.range, grain).collect();
            for write in list.iter().rev() {
                let finds = open.iter().any(|byte| write.touch.range.contains(byte));
                if finds && write.touch.is_atomic && !self.may_hide(write, touch) {
                    clock.join(&write.clock);
                }
                open.retain(|byte| !write.touch.range.contains(byte));
                if open.is_empty() {
                    break;
                }
            }
        }
    }

    /// Whether a read may find a later write, to an address that is a term, in place of this one.
    fn may_hide(&self, write: &Made, read: &Touch) -> bool {
        self.open.iter().any(|other| {
            other.touch.writes
                && (other.step, other.number) > (write.step, write.number)
                && overlap(&other.touch.range, &read.range)
        })
    }

    fn compare(&self, made: &Made, clock: &Clock, pairs: &mut Vec<Pair>) {
        let races = |other: &&Made| {
            other.thread != made.thread
                && (other.touch.writes || made.touch.writes)
                && (other.touch.is_plain || made.touch.is_plain)
                && clock.get(other.thread) < other.time
                && overlap(&other.touch.range, &made.touch.range)
        };
        let known = made.is_known();
        let mut pair = |earlier: &Made| {
            pairs.push(Pair { earlier: earlier.clone(), later: made.clone() });
        };
        match known {
            true => {
                for grain in grains(&made.touch.range) {
                    let list = self.places.get(&grain).map_or(&[][..], Vec::as_slice);
                    list.iter().filter(races).for_each(&mut pair);
                }
            }
            false => self.places.values().flatten().filter(races).for_each(&mut pair),
        }
        self.open.iter().filter(races).for_each(pair);
    }

    fn keep(&mut self, made: Made) {
        if made.touch.writes && made.is_known() {
            for grain in grains(&made.touch.range) {
                self.writes.entry(grain).or_default().push(made.clone());
                self.note(Undo::Written { grain });
            }
        }
        if !made.is_known() {
            self.open.push(made);
            self.note(Undo::Open);
            return;
        }
        for grain in grains(&made.touch.range) {
            let list = self.places.entry(grain).or_default();
            let is_such = |other: &Made| {
                let (one, two) = (&other.touch, &made.touch);
                other.thread == made.thread
                    && (one.reads, one.writes, one.is_plain)
                        == (two.reads, two.writes, two.is_plain)
                    && one.range == two.range
            };
            match list.iter().position(is_such) {
                Some(index) => {
                    let before = std::mem::replace(&mut list[index], made.clone());
                    self.note(Undo::Replaced { grain, index, before });
                }
                None => {
                    list.push(made.clone());
                    self.note(Undo::Added { grain });
                }
            }
        }
    }
}
