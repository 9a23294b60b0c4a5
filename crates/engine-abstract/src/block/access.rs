//! Accesses to memory: what they find, what they write, and whether they succeed.

use parallax_machine::modify;
use parallax_machine::system::{BadAccess, Marks, MemoryKind, What};
use parallax_program::{Bits, Property, RmwOp};
use parallax_solver::Term;

use super::targets::Target;
use super::walk::{Run, Walk};
use super::{Blocks, Halt, Touch};
use crate::control::At;
use crate::places::asked;

/// What an access does.
#[derive(Clone)]
pub(crate) enum Kind {
    Load,
    Store(Term),
    Rmw(RmwOp, Term),
    Cas { expected: Term, desired: Term, is_weak: bool },
}

/// What an access writes, and whether it succeeds where it may fail.
pub(crate) type Effect = (Option<Term>, Option<bool>, Run);

impl Walk<'_, '_, '_> {
    /// Whether only the thread itself uses what is at an address.
    pub(super) fn is_own(&self, run: &Run, address: u64) -> Result<bool, Halt> {
        let object = run.control.object(address).filter(|object| object.is_private);
        match object {
            None => Ok(false),
            Some(object) if object.owner == self.number => Ok(true),
            Some(object) => Err(Halt::Escaped { context: object.context }),
        }
    }

    pub(crate) fn marks(&self, run: &Run) -> [Marks; 3] {
        let site = run.thread.site();
        let inst = site.and_then(|site| self.blocks.code.instruction(site));
        inst.map_or([Marks::default(); 3], |inst| Marks::of_events(&inst.kind))
    }

    /// The thread has come to an access.
    pub(super) fn access(
        &mut self,
        run: Run,
        kind: Kind,
        address: Term,
        bytes: u32,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let bytes = u64::from(bytes);
        let marks = self.marks(&run);
        for (target, mut run) in self.targets(run, &kind, address, bytes, open)? {
            let place = match &target {
                Target::At(place) => *place,
                Target::Within { start, .. } => *start,
            };
            let is_own = self.is_own(&run, place)?;
            let constant =
                self.blocks.globals.at(place).filter(|_| {
                    self.blocks.slots.owner(place).is_none() && matches!(kind, Kind::Load)
                });
            let is_own = is_own || constant.is_some_and(|global| global.constant);
            if self.is_buffered(&run, &kind, marks[0]) && !is_own {
                let Target::At(place) = target else { return Err(Halt::Astray) };
                self.store_later(run, &kind, place, bytes, open)?;
                continue;
            }
            if !is_own && self.is_loose(&run, &target) {
                self.loose_access(run, &kind, &target, bytes, open)?;
                continue;
            }
            if self.waits(&run) && !is_own {
                self.stop(run, At::Operation, open);
                continue;
            }
            if self.must_drain(&run, &kind, marks, is_own) {
                let end = match &target {
                    Target::At(place) => place.saturating_add(bytes),
                    Target::Within { places, .. } => places.last().map_or(place, |it| it + bytes),
                };
                let writes = !matches!(kind, Kind::Load);
                self.wait_for_stores(run, Touch { start: place, end, writes }, open);
                continue;
            }
            let swaps = matches!(kind, Kind::Rmw(..) | Kind::Cas { .. });
            let has_buffers = self.blocks.memory != MemoryKind::Sc;
            run.has_acted |= !is_own || has_buffers && swaps;
            if has_buffers && matches!(kind, Kind::Cas { is_weak: true, .. }) {
                // Whether it can succeed depends on all that is on its way.
                run.touches.push(Touch::ALL);
            }
            let is_shared = run.control.execution.is_some() && !is_own;
            match target {
                Target::At(place) if is_shared => {
                    self.shared_access(run, &kind, place, bytes, open)?;
                }
                Target::Within { places, .. } if is_shared => {
                    for (place, run) in self.each_place(run, address, &places)? {
                        self.shared_access(run, &kind, place, bytes, open)?;
                    }
                }
                Target::At(place) => self.access_at(run, &kind, place, bytes, open)?,
                Target::Within { start, places } => {
                    self.access_within(run, &kind, (address, start), &places, bytes, open)?;
                }
            }
        }
        Ok(())
    }

    /// What the thread finds at some bytes.
    fn read(&mut self, run: &mut Run, place: u64, bytes: u64) -> Term {
        let held = self.held(run, place, bytes);
        self.found(run, (place, bytes), held)
    }

    /// The same, of those that ask whether something is there yet.
    fn read_asking(&mut self, run: &mut Run, place: u64, bytes: u64) -> Term {
        let object = run.control.object(place).filter(|_| self.blocks.slots.owner(place).is_some());
        if object.is_none_or(|object| object.zeroed) {
            return self.read(run, place, bytes);
        }
        let before = self.blocks.places.len();
        let held = self.held(run, asked(place), bytes);
        // Nobody has kept account of it so far.
        self.blocks.places.is_cut |= self.blocks.places.len() > before;
        self.found(run, (place, bytes), held)
    }

    /// What memory holds at some bytes.
    pub(super) fn held(&mut self, run: &Run, place: u64, bytes: u64) -> Term {
        let Blocks { places, values, .. } = &mut *self.blocks;
        let pieces = places.pieces(&mut values.terms, place, bytes);
        let mut whole = None;
        for id in pieces {
            let piece = self.value(run, id);
            let terms = &mut self.blocks.values.terms;
            whole = Some(whole.map_or(piece, |low| terms.concat(piece, low)));
        }
        whole.unwrap_or_else(|| self.blocks.values.number(8, 0))
    }

    /// What the thread finds at bytes where memory holds that: its own stores come first.
    pub(super) fn found(&mut self, run: &mut Run, at: (u64, u64), held: Term) -> Term {
        match run.control.stores(self.number) {
            true => self.with_stores(run, at, held),
            false => held,
        }
    }

    pub(super) fn write(&mut self, run: &mut Run, place: u64, bytes: u64, value: Term) {
        self.blocks.write(&mut run.writes, place, bytes, value);
    }

    /// What is wrong with an access, if something is.
    pub(crate) fn is_wrong(
        &self,
        run: &Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
    ) -> Option<(Property, &'static str)> {
        let [read, write, _] = self.marks(run);
        let is_read = !matches!(kind, Kind::Store(_));
        let writes = !matches!(kind, Kind::Load);
        if let Some(wrong) = self.wrong(&run.control, place, bytes, writes) {
            let is_farewell = read.is_farewell() || write.is_farewell();
            if !(is_farewell && wrong == BadAccess::Freed && is_read) {
                return Some((Property::Memory, wrong.message()));
            }
        }
        let gives_back = read.gives_lock_back() || write.gives_lock_back();
        let holds = run.control.thread(self.number).is_some_and(|it| it.held.contains(&place));
        let message = "unlock by a thread that does not hold the lock";
        (writes && gives_back && !holds).then_some((Property::Lock, message))
    }

    /// An access to one place.
    fn access_at(
        &mut self,
        mut run: Run,
        kind: &Kind,
        place: u64,
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let [read, write, _] = self.marks(&run);
        let is_read = !matches!(kind, Kind::Store(_));
        run.touches.push(Touch {
            start: place,
            end: place.saturating_add(bytes),
            writes: !matches!(kind, Kind::Load),
        });
        if let Some((property, message)) = self.is_wrong(&run, kind, place, bytes) {
            Self::fail(run, property, message, open);
            return Ok(());
        }
        let old = match is_read {
            true if read.is_fresh() => self.read_asking(&mut run, place, bytes),
            true => self.read(&mut run, place, bytes),
            false => self.blocks.values.number(8, 0),
        };
        let at = self.blocks.values.number(64, u128::from(place));
        for (new, ok, mut run) in self.effects(run, kind, old)? {
            if is_read {
                self.record_access(true, at, bytes, old);
            }
            if let Some(new) = new {
                run.has_left = true;
                self.write(&mut run, place, bytes, new);
                self.record_access(false, at, bytes, new);
                self.hold(&mut run, place, read.takes_lock() || write.takes_lock());
            }
            self.go_on(&mut run, is_read, old, ok);
            open.push(run);
        }
        Ok(())
    }

    /// Notes whether the last write of the thread to a place has taken a lock there.
    pub(crate) fn hold(&mut self, run: &mut Run, place: u64, takes: bool) {
        let holds = run.control.thread(self.number).is_some_and(|it| it.held.contains(&place));
        if holds == takes {
            return;
        }
        if let Some(local) = run.control.local(self.number) {
            local.held.retain(|held| *held != place);
            local.held.extend(takes.then_some(place));
            local.held.sort_unstable();
        }
    }

    pub(crate) fn go_on(&mut self, run: &mut Run, is_read: bool, old: Term, ok: Option<bool>) {
        let ok = ok.map(|ok| self.blocks.values.terms.bool(ok));
        match is_read {
            true => run.thread.results(&self.blocks.code, old, ok),
            false => run.thread.done(),
        }
    }

    /// What an access writes and whether it succeeds, for each way that it can go.
    pub(crate) fn effects(
        &mut self,
        run: Run,
        kind: &Kind,
        old: Term,
    ) -> Result<Vec<Effect>, Halt> {
        match kind {
            Kind::Load => Ok(vec![(None, None, run)]),
            Kind::Store(value) => Ok(vec![(Some(*value), None, run)]),
            Kind::Rmw(op, operand) => {
                let new = modify(*op, &old, operand, &mut self.blocks.values);
                Ok(vec![(Some(new), None, run)])
            }
            Kind::Cas { expected, desired, is_weak } => {
                let terms = &mut self.blocks.values.terms;
                let is_it = terms.equals(old, *expected);
                let differs = terms.not(is_it);
                let mut sides = vec![is_it, differs];
                sides.extend(is_weak.then_some(is_it));
                let mut all = Vec::new();
                // One that fails is a load.
                let is_held_up = run.control.stores(self.number);
                for (side, mut run) in self.sides(run, &sides)? {
                    if is_held_up && side == 0 {
                        if !*is_weak {
                            self.blocks.tried.append(&mut run.touches);
                            self.blocks.held.push(run.guard);
                        }
                        continue;
                    }
                    if *is_weak && side != 1 {
                        // Whether it fails for no reason is a choice.
                        let fails = self.fresh(&mut run, 1);
                        let chosen = match side {
                            2 => fails,
                            _ => self.blocks.values.terms.not(fails),
                        };
                        if !self.demand(&mut run, chosen) {
                            continue;
                        }
                        if side == 2 {
                            self.record(What::Choice { value: Bits::bool(true) });
                        }
                    }
                    let new = (side == 0).then_some(*desired);
                    all.push((new, Some(side == 0), run));
                }
                Ok(all)
            }
        }
    }

    /// An access to one of several places of an object.
    fn access_within(
        &mut self,
        mut run: Run,
        kind: &Kind,
        (address, start): (Term, u64),
        places: &[u64],
        bytes: u64,
        open: &mut Vec<Run>,
    ) -> Result<(), Halt> {
        let marks = self.marks(&run);
        if marks.iter().any(|it| it.takes_lock() || it.gives_lock_back()) {
            return Self::lose(run, "a lock at a place that inputs decide", open);
        }
        let is_read = !matches!(kind, Kind::Store(_));
        let writes = !matches!(kind, Kind::Load);
        let end = places.last().map_or(start, |last| last + bytes);
        run.touches.push(Touch { start, end, writes });
        if let Some(wrong) = self.wrong(&run.control, start, 1, writes) {
            Self::fail(run, Property::Memory, wrong.message(), open);
            return Ok(());
        }
        let width = self.blocks.values.terms.width(address);
        let mut old = None;
        let mut is_there = Vec::with_capacity(places.len());
        for place in places {
            let here = self.blocks.values.number(width, u128::from(*place));
            let is_here = self.blocks.values.terms.equals(address, here);
            let value = match marks[0].is_fresh() {
                true => self.read_asking(&mut run, *place, bytes),
                false => self.read(&mut run, *place, bytes),
            };
            let terms = &mut self.blocks.values.terms;
            old = Some(old.map_or(value, |rest| terms.select(is_here, value, rest)));
            is_there.push((*place, is_here, value));
        }
        let Some(old) = old else { return Err(Halt::Astray) };
        for (new, ok, mut run) in self.effects(run, kind, old)? {
            if is_read {
                self.record_access(true, address, bytes, old);
            }
            if let Some(new) = new {
                run.has_left = true;
                for (place, is_here, before) in &is_there {
                    let value = self.blocks.values.terms.select(*is_here, new, *before);
                    self.write(&mut run, *place, bytes, value);
                }
                self.record_access(false, address, bytes, new);
            }
            self.go_on(&mut run, is_read, old, ok);
            open.push(run);
        }
        Ok(())
    }
}
