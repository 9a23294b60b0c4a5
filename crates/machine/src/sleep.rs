//! Threads that wake up from a condition variable without a signal, and wait again.
//!
//! That may happen any number of times, and programs are prepared for it: the thread takes its lock,
//! finds nothing changed, and waits once more. It is then where it was, knowing what it knew, and all
//! that it did is undone: the lock taken and given back, its mark as a waiting thread taken away and
//! set. Such a wake-up was *in vain*. Take it out of an execution, from the wake-up to the next wait,
//! and the thread has waited all the time. Nobody else notices: who took the lock after it can take it
//! after whoever had it before; a signal that found nobody else waiting wakes the thread, which looks
//! and waits again just the same. So one look is enough to know what comes of any number.
//!
//! The library marks the access with which a wait begins by the tag `SLEEP`, and one at the end of a
//! wake-up that nobody caused by `STARTLED`.

use std::sync::Arc;

use parallax_program::{InstKind, Program};

use crate::live::Live;
use crate::{Domain, Idle, Site, Thread};

/// How things were when a thread began to wait.
#[derive(Clone)]
pub(crate) struct Asleep<V> {
    pub operations: u32,
    /// Effects so far, but for those that were undone.
    pub effects: u32,
    /// Whether it has woken up without a signal.
    pub is_startled: bool,
    /// How often in a row it had woken up in vain.
    pub idle: u32,
    /// Where its calls stood, and the variables that mattered there.
    pub frames: Vec<(Site, Vec<V>)>,
    pub registers: Vec<V>,
}

/// Whether there are waits that may end without a signal.
pub(crate) fn is_in(program: &Program) -> bool {
    let blocks = program.functions.iter().flat_map(|function| &function.blocks);
    blocks.flat_map(|block| &block.insts).any(|inst| begins(&inst.kind))
}

pub(crate) fn begins(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Rmw { read_tags, .. } if read_tags.contains("SLEEP"))
}

pub(crate) fn ends(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Load { tags, .. } if tags.contains("STARTLED"))
}

impl<V: Clone> Thread<V> {
    /// Whether the thread has woken up without a signal and has only looked since.
    pub fn is_startled(&self) -> bool {
        let lasting = self.lasting();
        self.asleep.as_ref().is_some_and(|then| then.is_startled && then.effects == lasting)
    }

    /// Effects that were not undone.
    pub(crate) fn lasting(&self) -> u32 {
        self.effects - self.forgiven
    }

    /// The thread is about to wait for a signal. If it was as it is now, and has woken up in vain
    /// more often in a row than `idle` says: after how many operations it began to wait last.
    pub(crate) fn sleeps_again<D: Domain<Value = V>>(
        &mut self,
        live: &Live,
        idle: Idle,
        domain: &D,
    ) -> Option<u32> {
        let before = self.asleep.as_ref();
        if before.is_some_and(|before| before.operations == self.operations) {
            return None;
        }
        let frames = self.frames.iter().map(|frame| {
            let vars = live.at(frame.site()).iter().map(|var| frame.vars[*var as usize].clone());
            (frame.site(), vars.collect())
        });
        let mut now = Asleep {
            operations: self.operations,
            effects: self.lasting(),
            is_startled: false,
            idle: 0,
            frames: frames.collect(),
            registers: self.registers.clone(),
        };
        let startled = self.is_startled();
        let before = before.filter(|before| startled && before.is_as(&now, domain));
        let since = before.map(|before| before.operations);
        now.idle = before.map_or(0, |before| before.idle + 1);
        let idle = match idle {
            Idle::None | Idle::Busy => 0,
            Idle::One => 1,
            Idle::All => u32::MAX,
        };
        let is_vain = now.idle > idle;
        self.asleep = Some(Arc::new(now));
        since.filter(|_| is_vain)
    }

    /// What the thread did since it began to wait is undone.
    pub(crate) fn is_woken_early(&mut self) {
        if let Some(asleep) = &mut self.asleep {
            self.forgiven = self.effects - asleep.effects;
            Arc::make_mut(asleep).is_startled = true;
        }
    }

    /// What two ways of a thread have in common of the last wait, and how many effects of those that
    /// lasted came after it.
    pub(crate) fn merged_sleep(
        &self,
        other: &Thread<V>,
        mut join: impl FnMut(&mut Vec<V>, &[V]),
    ) -> Option<(Asleep<V>, u32)> {
        let (ours, theirs) = (self.asleep.as_ref()?, other.asleep.as_ref()?);
        let since = [self.lasting() - ours.effects, other.lasting() - theirs.effects];
        let sites = |asleep: &Asleep<V>| asleep.frames.iter().map(|(site, _)| *site).collect();
        let (mine, others): (Vec<Site>, Vec<Site>) = (sites(ours), sites(theirs));
        // While it waits it does not matter how many there were: they will be undone.
        let fits = !ours.is_startled || since[0] == since[1];
        if !fits || ours.is_startled != theirs.is_startled || mine != others {
            return None;
        }
        let mut asleep = Asleep::clone(ours);
        for ((_, vars), (_, other)) in asleep.frames.iter_mut().zip(&theirs.frames) {
            join(vars, other);
        }
        join(&mut asleep.registers, &theirs.registers);
        asleep.operations = asleep.operations.max(theirs.operations);
        Some((asleep, since[0].max(since[1])))
    }
}

impl<V: Clone> Asleep<V> {
    fn is_as<D: Domain<Value = V>>(&self, other: &Asleep<V>, domain: &D) -> bool {
        let same = |ours: &[V], theirs: &[V]| {
            ours.iter().zip(theirs).all(|(ours, theirs)| domain.same(ours, theirs))
        };
        let frames = || self.frames.iter().zip(&other.frames);
        self.frames.len() == other.frames.len()
            && frames().all(|((site, vars), (at, now))| site == at && same(vars, now))
            && same(&self.registers, &other.registers)
    }
}
