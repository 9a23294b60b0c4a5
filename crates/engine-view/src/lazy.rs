//! States in which stores that nobody looks at have no place yet.
//!
//! A store that is overwritten before anybody reads the place changes nothing but where its thread stands. So
//! it need not be decided when that was. A thread *passes* a store without an effect on memory if there was a time since it came
//! there at which the store would not have been noticed: the place held the value already, or somebody else was about to
//! overwrite all of it. What was passed stays *pending*, as in a buffer whose entries may get lost: the thread can do
//! what comes after, and then the store was done at that time; or it takes one of its stores back and has it take effect now.
//! In the same way a thread passes the end of another one that has only pending stores before it. Each state stands for many
//! then, as which threads have written is not a part of it, unless somebody looked.
//!
//! Some steps are not taken, since others lead to no fewer states with fewer stores that take effect. Say that W takes effect,
//! and later S, a store of another thread to the same bytes, and nobody looks in between. If S could have been first, then
//! W would be passed after it. So the bytes are *asleep* after W for all who could have stored there before W; what is in
//! conflict with S wakes them: an access to some of these bytes, and a thread that comes to a store to them, as it makes
//! a difference to it whether it came before S.

use std::sync::Arc;

use parallax_machine::system::{Action, At, Digest, Log, Position, Setup, System};

/// An address, and how many bytes from there.
pub type Range = (u64, u8);

/// Where a step begins.
#[derive(Clone)]
pub enum Start<'p> {
    /// At what the thread stands at.
    Front,
    /// At the pending store of that number: those before it are done.
    Pending(usize),
    /// At a store to the same bytes as the one that the thread stands at, which it overwrites.
    Ahead(Position<'p>),
}

/// What a thread has passed since its last step.
#[derive(Clone, Default)]
struct Passed<'p> {
    /// Where it stood; of the same stores in a row, at the first.
    positions: Vec<Position<'p>>,
    count: usize,
}

/// A state of a program, but for the order of what nobody has looked at.
#[derive(Clone)]
pub struct Lazy<'s, 'p> {
    /// Threads are as far as they can come.
    pub system: System<'s, 'p>,
    /// By thread.
    pending: Vec<Arc<Passed<'p>>>,
    /// Whoever stores to these now could have done so before.
    asleep: Vec<Range>,
}

/// The bytes and the value of a store.
pub fn store_at(at: &At<'_>) -> Option<(Range, u128)> {
    match at {
        At::Store { address, bytes, value, .. } => Some(((*address, *bytes), *value)),
        _ => None,
    }
}

fn overlap(one: Range, other: Range) -> bool {
    let end = |range: Range| range.0.saturating_add(u64::from(range.1));
    one.0 < end(other) && other.0 < end(one)
}

fn covers(one: Range, other: Range) -> bool {
    let end = |range: Range| range.0.saturating_add(u64::from(range.1));
    one.0 <= other.0 && end(other) <= end(one)
}

fn joined(at: &At<'_>) -> Option<u32> {
    match at {
        At::Join { thread } => u32::try_from(*thread).ok(),
        _ => None,
    }
}

impl<'s, 'p> Lazy<'s, 'p> {
    /// Stores in a row that are passed.
    const MOST_PENDING: usize = 1 << 16;

    pub fn start(setup: &'s Setup<'p>) -> Lazy<'s, 'p> {
        let system = System::start(setup, &mut Log::off());
        let mut lazy = Lazy { system, pending: Vec::new(), asleep: Vec::new() };
        lazy.pass_all();
        lazy
    }

    pub fn fingerprint(&self) -> u128 {
        let mut whole = self.system.fingerprint();
        for (thread, pending) in self.pending.iter().enumerate() {
            if let Some(first) = pending.positions.first() {
                let mut digest = Digest::new(11);
                digest.add(thread as u64);
                digest.add(pending.positions.len() as u64);
                digest.add_wide(first.fingerprint());
                whole ^= digest.finish();
            }
        }
        for (address, bytes) in &self.asleep {
            let mut digest = Digest::new(12);
            digest.add(*address);
            digest.add(u64::from(*bytes));
            whole ^= digest.finish();
        }
        whole
    }

    /// What a thread has passed since its last step.
    pub fn pending(&self, thread: u32) -> &[Position<'p>] {
        self.pending.get(thread as usize).map_or(&[], |pending| &pending.positions)
    }

    /// Whether a thread has passed stores that it may come to do yet.
    pub fn has_pending(&self, thread: u32) -> bool {
        // Ends of threads come after stores.
        self.pending(thread).first().is_some_and(|it| store_at(it.at()).is_some())
    }

    /// Whether more was passed than is followed.
    pub fn is_beyond(&self) -> bool {
        self.pending.iter().any(|pending| pending.count >= Self::MOST_PENDING)
    }

    /// Whether a store to these bytes is put off until somebody looks.
    fn sleeps(&self, range: Range) -> bool {
        self.asleep.contains(&range)
    }

    fn value(&self, range: Range) -> u128 {
        self.system.bytes(None, range.0, range.1.into())
    }

    /// The threads whose ends a thread has passed, and those whose ends these have passed. They have ended as soon as the thread takes
    /// a step.
    pub fn ended_by(&self, thread: u32, passed: usize) -> Vec<u32> {
        let mut all: Vec<u32> =
            self.pending(thread).iter().take(passed).filter_map(|it| joined(it.at())).collect();
        if passed >= self.pending(thread).len() {
            all.extend(self.system.thread(thread).and_then(|local| joined(&local.at)));
        }
        let mut next = 0;
        while let Some(other) = all.get(next).copied() {
            let more = self.pending(other).iter().filter_map(|it| joined(it.at()));
            let more: Vec<u32> = more.filter(|it| !all.contains(it)).collect();
            all.extend(more);
            next += 1;
        }
        all
    }

    /// The bytes that threads are about to store to.
    pub fn fronts(&self) -> Vec<(u32, Range)> {
        let threads = 0..self.system.thread_count();
        let store = |thread| store_at(&self.system.thread(thread)?.at);
        threads.filter_map(|thread| Some((thread, store(thread)?.0))).collect()
    }

    /// Where the steps of a thread may begin, apart from where it stands. A store of what is there already makes a
    /// difference only to those who are about to be overwritten by it.
    pub fn starts(&self, thread: u32, fronts: &[(u32, Range)]) -> Vec<Start<'p>> {
        let is_noted = |range: Range| {
            fronts.iter().any(|(other, front)| *other != thread && covers(range, *front))
        };
        let mut starts = Vec::new();
        for (index, position) in self.pending(thread).iter().enumerate() {
            if let Some((range, value)) = store_at(position.at())
                && !self.sleeps(range)
                && (self.value(range) != value || is_noted(range))
            {
                starts.push(Start::Pending(index));
            }
        }
        starts.extend(self.ahead(thread).into_iter().map(Start::Ahead));
        starts
    }

    /// Whether the store that a thread stands at is put off.
    pub fn front_sleeps(&self, thread: u32) -> bool {
        let range = self.front_store(thread).map(|(range, _)| range);
        range.is_some_and(|range| self.sleeps(range))
    }

    /// The store that a thread stands at, if it can be passed.
    fn front_store(&self, thread: u32) -> Option<(Range, u128)> {
        let store = store_at(&self.system.thread(thread)?.at)?;
        let has_joined = self.pending(thread).last().is_some_and(|it| joined(it.at()).is_some());
        if has_joined || !self.can_pass() {
            return None;
        }
        self.system.past(&self.system.position(thread)?).map(|_| store)
    }

    /// Later stores to the bytes that a thread is about to store to.
    fn ahead(&self, thread: u32) -> Vec<Position<'p>> {
        let mut ahead = Vec::new();
        let Some((range, mut last)) =
            self.front_store(thread).filter(|(range, _)| !self.sleeps(*range))
        else {
            return ahead;
        };
        let mut next = self.system.position(thread).and_then(|it| self.system.past(&it));
        for _ in 0..Self::MOST_PENDING {
            let Some(position) = next else { break };
            let Some((_, value)) = store_at(position.at()).filter(|(other, _)| *other == range)
            else {
                break;
            };
            next = self.system.past(&position);
            if value != last {
                last = value;
                ahead.push(position);
            }
        }
        ahead
    }

    /// In an atomic section nobody gets in between.
    fn can_pass(&self) -> bool {
        self.system.section().is_none()
    }

    /// Takes a step.
    pub fn take(&mut self, thread: u32, start: &Start<'p>, choice: u64, log: &mut Log) {
        let has_joined = self.pending(thread).iter().any(|it| joined(it.at()).is_some());
        self.settle_before(thread, start);
        let position = self.system.position(thread);
        let at = position.as_ref().map(|position| position.at().clone());
        let was_open = self.system.section().is_none();
        let store = at.as_ref().and_then(store_at).map(|(range, _)| range).filter(|_| was_open);
        let is_plain =
            store.is_some() && position.is_some_and(|it| self.system.past(&it).is_some());
        let before: Vec<usize> =
            self.pending.iter().map(|pending| pending.positions.len()).collect();
        if let Some(range) = store
            && self.can_pass()
        {
            for other in (0..self.system.thread_count()).filter(|other| *other != thread) {
                self.pass_covered(other, range);
            }
        }
        self.system.apply(Action::Step { thread, choice }, log);
        self.pass_all();
        let is_open = was_open && self.system.section().is_none();
        match at.as_ref().and_then(|at| at.access()) {
            Some((address, bytes, _)) if is_open => {
                self.asleep.retain(|range| !overlap(*range, (address, bytes)));
            }
            None if is_open
                && matches!(at, Some(At::Choice { .. } | At::Local | At::Join { .. })) => {}
            _ => self.asleep.clear(),
        }
        let puts_to_sleep = store.filter(|_| is_plain && is_open && !has_joined);
        let is_kept = self.wake(thread, &before, puts_to_sleep);
        if let Some(range) = puts_to_sleep.filter(|_| is_kept) {
            self.asleep.push(range);
            self.asleep.sort_unstable();
        }
    }

    /// What was passed before the step is done; what was passed on the ground that the thread has ended is not.
    fn settle_before(&mut self, thread: u32, start: &Start<'p>) {
        let index = thread as usize;
        let passed = match start {
            Start::Pending(at) => *at,
            Start::Front | Start::Ahead(_) => self.pending(thread).len(),
        };
        for other in self.ended_by(thread, passed) {
            if let Some(pending) = self.pending.get_mut(other as usize) {
                *pending = Arc::default();
            }
        }
        let Some(pending) = self.pending.get_mut(index) else { return };
        let pending = std::mem::take(pending);
        let pending = &pending.positions;
        match start {
            Start::Front => return,
            Start::Pending(at) => {
                if let Some(position) = pending.get(*at) {
                    self.system.place(thread, position);
                }
            }
            Start::Ahead(position) => self.system.place(thread, position),
        }
        self.retract();
    }

    /// Who has passed the end of a thread that has not ended any more comes back.
    fn retract(&mut self) {
        loop {
            let mut is_same = true;
            for thread in 0..self.pending.len() {
                let pending = &self.pending[thread].positions;
                let is_open = |it: &Position<'p>| {
                    joined(it.at()).is_some_and(|of| !self.system.has_ended(of))
                };
                if let Some(first) = pending.iter().position(is_open) {
                    let pending = &mut Arc::make_mut(&mut self.pending[thread]).positions;
                    self.system.place(thread as u32, &pending[first]);
                    pending.truncate(first);
                    is_same = false;
                }
            }
            if is_same {
                return;
            }
        }
    }

    /// Has a thread pass what it stands at.
    fn pass(&mut self, thread: u32) -> bool {
        let Some(position) = self.system.position(thread) else { return false };
        let Some(next) = self.system.past(&position) else { return false };
        let pending = Arc::make_mut(&mut self.pending[thread as usize]);
        if pending.count >= Self::MOST_PENDING {
            return false;
        }
        pending.count += 1;
        // Right after the same store it would be of no use to take this one back.
        let store = store_at(position.at());
        let last = pending.positions.last().and_then(|last| store_at(last.at()));
        if store.is_none() || store != last {
            pending.positions.push(position);
        }
        self.system.place(thread, &next);
        true
    }

    /// Whether a thread stands at a store that finds its value, or at the end of a thread that has ended.
    fn is_idle(&self, thread: u32) -> bool {
        let Some(local) = self.system.thread(thread) else { return false };
        let pending = self.pending(thread).last();
        match (store_at(&local.at), joined(&local.at)) {
            (Some((range, value)), _) => {
                let has_joined = pending.is_some_and(|it| joined(it.at()).is_some());
                !has_joined && self.value(range) == value
            }
            (_, Some(of)) => self.system.has_ended(of),
            _ => false,
        }
    }

    /// Somebody else is about to overwrite these bytes: stores to them go unnoticed.
    fn pass_covered(&mut self, thread: u32, range: Range) {
        let is_covered = |lazy: &Self| {
            let at = lazy.system.thread(thread).map(|local| &local.at);
            at.and_then(store_at).is_some_and(|(own, _)| covers(range, own))
        };
        let has_joined = self.pending(thread).last().is_some_and(|it| joined(it.at()).is_some());
        if !has_joined && is_covered(self) {
            while (is_covered(self) || self.is_idle(thread)) && self.pass(thread) {
                if self.pending(thread).last().is_some_and(|it| joined(it.at()).is_some()) {
                    return;
                }
            }
        }
    }

    /// All that can be passed in memory as it is.
    fn pass_all(&mut self) {
        self.pending.resize_with(self.system.thread_count() as usize, Arc::default);
        if !self.can_pass() {
            return;
        }
        loop {
            let mut is_same = true;
            for thread in 0..self.system.thread_count() {
                while self.is_idle(thread) && self.pass(thread) {
                    // Whoever waits for this one's end may go on.
                    is_same &= !self.system.has_ended(thread);
                }
            }
            if is_same {
                return;
            }
        }
    }

    /// Wakes the bytes of stores that threads have come to. Whether the bytes that were just written may sleep: all that
    /// can be stored there now could have been stored before.
    fn wake(&mut self, moved: u32, before: &[usize], written: Option<Range>) -> bool {
        let mut is_kept = true;
        let mut woken = Vec::new();
        for thread in 0..self.system.thread_count() {
            let pending = self.pending(thread);
            let old = if thread == moved { None } else { before.get(thread as usize).copied() };
            if old == Some(pending.len()) {
                continue;
            }
            // Where it stood before is nothing new, nor is what could be reached by overwriting from there.
            let known = old.unwrap_or(0).min(pending.len());
            let mut is_row = true;
            let front = self.system.position(thread);
            for (index, position) in pending[known..].iter().chain(&front).enumerate() {
                let Some((range, _)) = store_at(position.at()) else {
                    is_row = false;
                    continue;
                };
                is_row &= Some(range) == written;
                is_kept &= is_row || written.is_none_or(|written| !overlap(written, range));
                if index > 0 || old.is_none() {
                    woken.push(range);
                }
            }
        }
        self.asleep.retain(|range| !woken.iter().any(|other| overlap(*range, *other)));
        is_kept
    }
}
