//! Two ways through a program that meet again become one.
//!
//! An engine with symbolic values follows both sides of an undecided branch. Where they come to
//! the same place it need not go on twice: the values of the variables are joined, and what only
//! one of the ways depends on by control is kept for that one.

use std::sync::Arc;

use parallax_program::BlockId;

use crate::sleep::Asleep;
use crate::thread::{Control, Frame, Round};
use crate::{Domain, Thread};

/// How values of two ways become values of one.
pub trait Merge<D: Domain> {
    /// What is `first` on the first way and `second` on the second.
    fn join(&mut self, domain: &mut D, first: &D::Value, second: &D::Value) -> D::Value;

    /// What matters on one of the ways only.
    fn only(&mut self, domain: &mut D, value: &D::Value, is_first: bool) -> D::Value;

    /// Whether a value is the same thing on both ways.
    fn same(&self, first: &D::Value, second: &D::Value) -> bool;
}

impl<V: Clone> Thread<V> {
    /// Whether the thread has changed nothing but itself since it was last at the head of that
    /// loop, in the call at that place of [`Thread::stack`].
    pub fn has_only_looked_since(&self, call: usize, head: BlockId) -> bool {
        let frame = self.frames.get(call);
        let round = frame.and_then(|frame| frame.rounds.iter().find(|round| round.head == head));
        round.is_some_and(|round| round.effects == self.effects)
    }

    /// Joins another way of the thread, which stands at the same instruction in each call.
    pub fn merge<D: Domain<Value = V>>(
        &mut self,
        other: &Thread<V>,
        domain: &mut D,
        merge: &mut impl Merge<D>,
    ) {
        let mut join = |ours: &mut Vec<V>, theirs: &[V], domain: &mut D| {
            for (mine, other) in ours.iter_mut().zip(theirs) {
                if !merge.same(mine, other) {
                    *mine = merge.join(domain, mine, other);
                }
            }
        };
        let lasting = self.lasting().max(other.lasting());
        let asleep = self.merged_sleep(other, |ours, theirs| join(ours, theirs, domain));
        self.asleep =
            asleep.map(|(asleep, since)| Arc::new(Asleep { effects: lasting - since, ..asleep }));
        join(&mut self.registers, &other.registers, domain);
        let (effects, others) = (self.effects, other.effects);
        let newest = effects.max(others);
        let (deeds, their_deeds) = (self.deeds, other.deeds);
        let most_deeds = deeds.max(their_deeds);
        for (frame, theirs) in self.frames.iter_mut().zip(&other.frames) {
            join(&mut frame.vars, &theirs.vars, domain);
            // A round counts only where both ways have just looked and stored since it began.
            frame.rounds.retain_mut(|round| {
                let other = theirs.round(round.head).filter(|other| other.deeds == their_deeds);
                let Some(other) = other.filter(|_| round.deeds == deeds) else {
                    return false;
                };
                let have_only_looked = round.effects == effects && other.effects == others;
                join(&mut round.vars, &other.vars, domain);
                // Whoever has stored has at least one effect.
                round.effects = if have_only_looked { newest } else { newest.saturating_sub(1) };
                round.deeds = most_deeds;
                round.earlier = None;
                round.operations = round.operations.max(other.operations);
                round.idle = round.idle.min(other.idle);
                true
            });
        }
        self.control = self.merged_control(other, domain, merge);
        self.effects = newest;
        self.deeds = most_deeds;
        self.forgiven = newest - lasting;
        self.operations = self.operations.max(other.operations);
        self.decided = self.decided.max(other.decided);
        self.chosen = self.chosen.max(other.chosen);
    }

    /// What both ways depend on stays; what one of them depends on, it alone does.
    fn merged_control<D: Domain<Value = V>>(
        &self,
        other: &Thread<V>,
        domain: &mut D,
        merge: &mut impl Merge<D>,
    ) -> Vec<Control<V>> {
        let mut both: Vec<Control<V>> = Vec::new();
        let mut theirs: Vec<&Control<V>> = other.control.iter().collect();
        for control in &self.control {
            let same = theirs.iter().position(|other| {
                other.until == control.until && merge.same(&other.condition, &control.condition)
            });
            match same {
                Some(position) => {
                    theirs.remove(position);
                    both.push(control.clone());
                }
                None => {
                    let condition = merge.only(domain, &control.condition, true);
                    both.push(Control { condition, until: control.until });
                }
            }
        }
        for control in theirs {
            let condition = merge.only(domain, &control.condition, false);
            both.push(Control { condition, until: control.until });
        }
        both
    }
}

impl<V> Frame<V> {
    fn round(&self, head: BlockId) -> Option<&Round<V>> {
        self.rounds.iter().find(|round| round.head == head)
    }
}
