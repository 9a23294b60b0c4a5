//! All states, each shape of them once: for programs whose paths have no end, or too many of them.
//!
//! A search along paths ([`crate::search`]) never ends where a loop takes an input in each round, though
//! there may be few states. Here states are matched: one that is covered by another ([`crate::shape`])
//! is not followed. Which orders of steps are left out cannot be seen from a path then, as a path has no
//! meaning of its own; it is learned from what follows, as the search through states does for machines
//! of numbers, and by its rules ([`parallax_machine::reduction`], where the reasons are).
//!
//! Inputs are fixed beforehand, so to speak, as in the search along paths: the rules hold for each
//! choice of them, and what several have in common is looked at once. A state may be followed for more
//! inputs than there are on some way to it; then more accesses are known to follow, never fewer.

use std::rc::Rc;

use parallax_machine::reduction::components::{Components, Number, Visited};
use parallax_machine::reduction::summary::{
    Access as Known, Kind as How, Process, SetId, Summaries,
};
use parallax_machine::reduction::{Closure, Next, Status};
use parallax_machine::system::{Entry, MemoryKind, Waits};
use parallax_program::Property;
use parallax_verdict::{Reason, stopped};
use rustc_hash::FxHashMap;

use crate::machine::{Effects, Halt, Machine, Run};
use crate::observer::Observer;
use crate::search::{comes_to_nothing, may_wait};
use crate::shape::{Moment, Shape};
use crate::state::{At, Kind, Move, State};

/// The conditions with which a state of some key was met.
type Met = (Box<[u128]>, Number);

pub struct Matching<'m, 'a, 'p> {
    machine: &'m mut Machine<'a, 'p>,
    observer: &'m mut Observer<'a>,
    /// For each key, the conditions with which it was met.
    met: FxHashMap<u128, Vec<Met>>,
    components: Components,
    known: Summaries,
    path: Vec<Frame<'p>>,
    /// Steps until the clock is looked at.
    patience: u32,
}

struct Frame<'p> {
    /// None where it is not needed any more.
    state: Option<Rc<State<'p>>>,
    section: Option<u32>,
    /// Whether the first thread has ended.
    is_over: bool,
    visited: Visited,
    nexts: Vec<Next>,
    /// Outcomes of steps that were found when it was asked what they access.
    trials: FxHashMap<u32, Vec<Run<'p>>>,
    /// Steps of a process that are to be looked at.
    moves: Vec<Move>,
    /// The step that is being looked at, and what else may become of it, the next one last.
    current: Option<Move>,
    outcomes: Vec<Run<'p>>,
    /// Whether all steps must be looked at.
    is_full: bool,
}

/// What a thread can do, and what was found out to know it.
struct Prospect<'p> {
    status: Status,
    accesses: SetId,
    outcomes: Option<Vec<Run<'p>>>,
    is_wide: bool,
}

impl<'m, 'a, 'p> Matching<'m, 'a, 'p> {
    const PATIENCE: u32 = 16;
    /// What a step costs, in nominal nanoseconds.
    const WORK: u64 = 20_000;

    pub fn new(machine: &'m mut Machine<'a, 'p>, observer: &'m mut Observer<'a>) -> Self {
        Matching {
            machine,
            observer,
            met: FxHashMap::default(),
            components: Components::default(),
            known: Summaries::default(),
            path: Vec::new(),
            patience: 1,
        }
    }

    pub fn run(&mut self) -> Result<(), Halt> {
        let mut first = self.machine.start()?;
        loop {
            let run = self.machine.next(&mut first);
            self.take_notices()?;
            let Some(run) = run? else { return Ok(()) };
            if let Some(parts) = self.arrive(run)? {
                first.extend(parts.into_iter().rev());
            }
            self.explore()?;
        }
    }

    fn explore(&mut self) -> Result<(), Halt> {
        while let Some(top) = self.path.last_mut() {
            if !top.outcomes.is_empty() {
                let run = self.machine.next(&mut top.outcomes);
                self.take_notices()?;
                let Some(run) = run? else { continue };
                self.observer.counts.events += 1;
                if let Some(parts) = self.arrive(run)?
                    && let Some(top) = self.path.last_mut()
                {
                    top.outcomes.extend(parts.into_iter().rev());
                }
                continue;
            }
            if let Some(step) = top.moves.pop() {
                self.take(step)?;
                continue;
            }
            let open = top.nexts.iter().position(|next| next.is_chosen && !next.is_done);
            match open {
                Some(index) => self.begin(Process(index as u32))?,
                None if self.grow() => {}
                None => self.leave(),
            }
        }
        Ok(())
    }

    /// Finds the outcomes of a process's next step.
    fn begin(&mut self, process: Process) -> Result<(), Halt> {
        self.look_at_limits()?;
        let Some(top) = self.path.last_mut() else { return Ok(()) };
        top.nexts[process.index()].is_done = true;
        let thread = process.thread();
        let local = top.state.as_ref().and_then(|state| state.thread(thread));
        top.moves = match local.filter(|_| process.is_buffer()) {
            Some(local) => {
                let ready = local.buffer.ready(self.machine.memory);
                ready.map(|index| Move::Flush { thread, index: index as u32 }).collect()
            }
            None => vec![Move::Step(thread)],
        };
        Ok(())
    }

    /// Finds the outcomes of a step.
    fn take(&mut self, step: Move) -> Result<(), Halt> {
        let Some(top) = self.path.last_mut() else { return Ok(()) };
        top.current = Some(step);
        let is_last =
            top.moves.is_empty() && top.nexts.iter().all(|it| it.is_done || !it.is_ready());
        let state = if is_last { top.state.take() } else { top.state.clone() };
        let Some(state) = state else { return Ok(()) };
        let outcomes = match step {
            Move::Flush { thread, index } => Ok(self.machine.flush(&state, thread, index)),
            Move::Step(thread) => match top.trials.remove(&thread) {
                Some(mut known) => {
                    known.reverse();
                    Ok(known)
                }
                None => self.machine.begin_step(&state, thread),
            },
        };
        self.take_notices()?;
        let outcomes = outcomes?;
        if let Some(top) = self.path.last_mut() {
            top.outcomes = outcomes;
        }
        Ok(())
    }

    /// A step has led to a state. Where inputs decide whether a thread waits there, its parts.
    fn arrive(&mut self, run: Run<'p>) -> Result<Option<Vec<Run<'p>>>, Halt> {
        let moment = Moment { state: &run.state, todo: &[], effects: None };
        let Some(shape) = self.machine.shape(&moment) else { return Ok(None) };
        if let Some(number) = self.find(&shape) {
            if let Some(top) = self.path.last_mut() {
                self.components.meet(&mut top.visited, number, &mut self.known);
            }
            return Ok(None);
        }
        let state = Rc::new(run.state.clone());
        let mut trials = FxHashMap::default();
        let mut nexts = Vec::with_capacity(state.threads.len() * 2);
        let mut is_full = false;
        for thread in 0..state.threads.len() as u32 {
            let Some(prospect) = self.prospect(&state, thread)? else {
                return self.parts(&run, thread).map(Some);
            };
            is_full |= prospect.is_wide;
            nexts.push(Next::new(prospect.accesses, prospect.status));
            nexts.push(self.next_of_buffer(&state, thread));
            trials.extend(prospect.outcomes.map(|outcomes| (thread, outcomes)));
        }
        self.enter(shape, state, nexts, trials, is_full)?;
        Ok(None)
    }

    /// The state that covers one of this shape.
    fn find(&self, shape: &Shape) -> Option<Number> {
        let known = self.met.get(&shape.key)?;
        // Whether a loop can be left is asked of all inputs of a state: fewer may not leave it.
        let must_equal = self.machine.options.wants(Property::Liveness);
        let covers = |conditions: &[u128]| match must_equal {
            true => shape.conditions[..] == *conditions,
            false => shape.is_covered_by(conditions),
        };
        known.iter().find(|(conditions, _)| covers(conditions)).map(|(_, it)| *it)
    }

    fn enter(
        &mut self,
        shape: Shape,
        state: Rc<State<'p>>,
        mut nexts: Vec<Next>,
        trials: FxHashMap<u32, Vec<Run<'p>>>,
        is_full: bool,
    ) -> Result<(), Halt> {
        let mut visited = self.components.enter();
        self.met.entry(shape.key).or_default().push((shape.conditions, visited.number));
        self.observer.counts.states += 1;
        if !choose_one(&mut nexts, &self.known) {
            for next in &nexts {
                visited.future = self.known.union(visited.future, next.accesses);
            }
            let schedule = self.schedule();
            self.observer.final_state(self.machine, &state, &schedule, false)?;
        }
        self.path.push(Frame {
            section: state.section,
            is_over: state.has_ended(0),
            state: Some(state),
            visited,
            nexts,
            trials,
            moves: Vec::new(),
            current: None,
            outcomes: Vec::new(),
            is_full,
        });
        Ok(())
    }

    /// What a thread can do in a state; None where inputs decide whether it waits.
    fn prospect(&mut self, state: &State<'p>, thread: u32) -> Result<Option<Prospect<'p>>, Halt> {
        let plain =
            |status, accesses| Prospect { status, accesses, outcomes: None, is_wide: false };
        let Some(local) = state.thread(thread) else {
            return Ok(Some(plain(Status::Absent, SetId::EMPTY)));
        };
        let shut_out = state.section.is_some_and(|owner| owner != thread);
        let process = Process::of_thread(thread);
        let everything = Known { process, start: 0, size: u64::MAX, kind: How::All };
        let (status, access) = match &local.at {
            At::Join { thread: of } => {
                let has_ended = u32::try_from(*of).is_ok_and(|of| state.has_ended(of));
                let status = match has_ended {
                    _ if shut_out => Status::Waits(Waits::Section),
                    true => Status::Ready(1),
                    false => Status::Waits(Waits::Thread(*of)),
                };
                return Ok(Some(plain(status, SetId::EMPTY)));
            }
            At::Fence | At::Ending => {
                return Ok(Some(plain(Status::Waits(Waits::Buffer), SetId::EMPTY)));
            }
            At::FenceOfAll => match state.started().all(|thread| state.is_drained(thread)) {
                true => (Status::Ready(1), everything),
                false => (Status::Waits(Waits::Buffers), everything),
            },
            At::Enter if shut_out => (Status::Waits(Waits::Section), everything),
            At::Enter if !state.is_drained(thread) => (Status::Waits(Waits::Buffer), everything),
            At::Enter => return self.section(state, thread).map(Some),
            At::Free { address, .. } => {
                let size = self.machine.object(state, *address).map_or(1, |it| it.size.max(1));
                let kind = How::Free;
                (Status::Ready(1), Known { process, start: *address, size, kind })
            }
            At::HeapSize { address } => {
                let kind = How::Touch;
                (Status::Ready(1), Known { process, start: *address, size: 1, kind })
            }
            At::Access(access) => {
                let range = access.range();
                let is_drained = state.is_drained(thread);
                let waits = access.is_locked() && !is_drained;
                if self.machine.is_own(state, thread, range.start)? && waits {
                    return Ok(Some(plain(Status::Waits(Waits::Buffer), SetId::EMPTY)));
                }
                let at_once = self.machine.memory == MemoryKind::Sc || access.is_locked();
                let kind = match access.kind {
                    Kind::Load if access.is_locked() => How::LockedRead,
                    Kind::Load => How::Read,
                    Kind::Store { .. } if at_once => How::Write,
                    Kind::Store { .. } => How::Touch,
                    Kind::Rmw { .. } => How::ReadWrite,
                    Kind::Cas { .. } if access.is_locked() => How::ReadWrite,
                    Kind::Cas { is_weak: true, .. } => How::WeakCompareAndSwap,
                    Kind::Cas { .. } => How::CompareAndSwap,
                };
                let size = range.end.saturating_sub(range.start);
                let known = Known { process, start: range.start, size, kind };
                let swaps = matches!(access.kind, Kind::Cas { .. }) && !is_drained;
                if !shut_out && !waits && (swaps || may_wait(&self.machine.code, local)) {
                    return self.trial(state, thread, known);
                }
                (if waits { Status::Waits(Waits::Buffer) } else { Status::Ready(1) }, known)
            }
            _ => return Ok(Some(plain(Status::Over, SetId::EMPTY))),
        };
        let status = if shut_out { Status::Waits(Waits::Section) } else { status };
        Ok(Some(plain(status, self.known.only(access))))
    }

    /// What the buffer of a thread can do.
    fn next_of_buffer(&mut self, state: &State<'p>, thread: u32) -> Next {
        let Some(local) = state.thread(thread) else { return Next::ABSENT };
        if local.buffer.is_empty() {
            return Next::new(SetId::EMPTY, Status::Idle);
        }
        let process = Process::of_buffer(thread);
        let (mut accesses, mut count) = (SetId::EMPTY, 0);
        for index in local.buffer.ready(self.machine.memory) {
            count += 1;
            if let Entry::Store { address, bytes, .. } = &local.buffer.entries()[index] {
                let (start, size, kind) = (*address, u64::from(*bytes), How::Write);
                let only = self.known.only(Known { process, start, size, kind });
                accesses = self.known.union(accesses, only);
            }
        }
        let shut_out = state.section.is_some_and(|owner| owner != thread);
        let status = if shut_out { Status::Waits(Waits::Section) } else { Status::Ready(count) };
        Next::new(accesses, status)
    }

    /// Takes the step to see whether it comes to anything.
    fn trial(
        &mut self,
        state: &State<'p>,
        thread: u32,
        access: Known,
    ) -> Result<Option<Prospect<'p>>, Halt> {
        let outcomes = self.outcomes(state, thread)?;
        let vain = outcomes.iter().filter(|run| comes_to_nothing(run, thread)).count();
        let accesses = self.known.only(access);
        if vain == 0 {
            let (status, outcomes) = (Status::Ready(1), Some(outcomes));
            return Ok(Some(Prospect { status, accesses, outcomes, is_wide: false }));
        }
        if vain < outcomes.len() {
            return Ok(None);
        }
        let bytes = u8::try_from(access.size);
        let is_wide = bytes.is_err();
        let (address, bytes) = (access.start, bytes.unwrap_or(u8::MAX));
        let status = Status::Waits(match outcomes.iter().any(|run| run.effects.is_held_up) {
            true => Waits::BufferOrBytes { address, bytes },
            false => Waits::Bytes { address, bytes, spins: false },
        });
        Ok(Some(Prospect { status, accesses, outcomes: None, is_wide }))
    }

    /// What a thread accesses in the atomic section that it is about to enter. What it reads there
    /// decides what it accesses next, so whatever else it might access conflicts with that.
    fn section(&mut self, state: &State<'p>, thread: u32) -> Result<Prospect<'p>, Halt> {
        let outcomes = self.outcomes(state, thread)?;
        let process = Process::of_thread(thread);
        let mut accesses = SetId::EMPTY;
        for run in &outcomes {
            let Effects { accesses: made, is_stuck_in_section, .. } = &run.effects;
            if *is_stuck_in_section {
                let kind = How::All;
                let all = self.known.only(Known { process, start: 0, size: u64::MAX, kind });
                accesses = self.known.union(accesses, all);
            }
            for touch in made {
                let kind = match (touch.writes, touch.reads, touch.bytes) {
                    (true, _, 0) => How::Free,
                    (true, true, _) => How::ReadWrite,
                    (true, false, _) => How::Write,
                    _ => How::LockedRead,
                };
                let size = touch.range.end.saturating_sub(touch.range.start);
                let access = Known { process, start: touch.range.start, size, kind };
                let only = self.known.only(access);
                accesses = self.known.union(accesses, only);
            }
        }
        Ok(Prospect {
            status: Status::Ready(1),
            accesses,
            outcomes: Some(outcomes),
            is_wide: false,
        })
    }

    fn outcomes(&mut self, state: &State<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let outcomes = self.machine.step(state, thread);
        self.take_notices_of(Some(Move::Step(thread)))?;
        outcomes
    }

    /// The parts of a state in which it is certain whether a thread waits.
    fn parts(&mut self, run: &Run<'p>, thread: u32) -> Result<Vec<Run<'p>>, Halt> {
        let outcomes = self.outcomes(&run.state, thread)?;
        let parts = outcomes.into_iter().map(|part| {
            let mut run = run.clone();
            let stopped = std::mem::take(&mut run.state.path.stopped);
            run.state.path = part.state.path;
            run.state.path.stopped = stopped;
            run
        });
        Ok(parts.collect())
    }

    /// Adds processes to those of the last state of the path, if some are missing.
    fn grow(&mut self) -> bool {
        let Some(top) = self.path.last_mut() else { return false };
        let is_in_cycle = self.components.is_in_cycle(&mut top.visited);
        if is_in_cycle || top.is_full {
            let mut grown = false;
            for next in top.nexts.iter_mut().filter(|next| next.is_ready()) {
                grown |= !std::mem::replace(&mut next.is_chosen, true);
            }
            return grown;
        }
        let machine = &self.machine;
        let closure = Closure {
            nexts: &mut top.nexts,
            summaries: &self.known,
            future: top.visited.future,
            parents: &|thread| machine.parent(thread),
            section: top.section,
            is_pso: machine.memory == MemoryKind::Pso,
        };
        closure.close()
    }

    /// All that is to be looked at from the last state of the path was.
    fn leave(&mut self) {
        let Some(frame) = self.path.pop() else { return };
        let (mut future, is_in_cycle) = (frame.visited.future, frame.visited.is_in_cycle);
        for next in frame.nexts.iter().filter(|next| next.is_chosen || is_in_cycle) {
            future = self.known.union(future, next.accesses);
        }
        let before = self.path.last_mut().map(|before| &mut before.visited);
        if self.components.leave(&frame.visited, future, before, &mut self.known) {
            self.trap(frame.is_over);
        }
    }

    /// Threads go round for ever. Whether one of them only waits is for others to say.
    fn trap(&mut self, is_over: bool) {
        if self.machine.code.program.daemons && is_over {
            self.observer.counts.executions += 1;
            return;
        }
        self.observer.counts.blocked += 1;
        if self.machine.options.wants(Property::Liveness) {
            let message = "threads go round for ever: whether one of them waits is not known";
            let (message, place, help) = (message.to_string(), None, None);
            self.observer.gaps.add(Reason { message, place, help });
        }
    }

    /// The steps of the path.
    fn schedule(&self) -> Vec<Move> {
        self.path.iter().filter_map(|frame| frame.current).collect()
    }

    fn take_notices(&mut self) -> Result<(), Halt> {
        self.take_notices_of(None)
    }

    /// Takes what the machine has noticed, at the end of the path and of one more step.
    fn take_notices_of(&mut self, last: Option<Move>) -> Result<(), Halt> {
        if self.machine.notices.is_empty() {
            return Ok(());
        }
        let schedule: Vec<Move> = self.schedule().into_iter().chain(last).collect();
        let notices = std::mem::take(&mut self.machine.notices);
        self.observer.take(notices, &schedule)
    }

    fn look_at_limits(&mut self) -> Result<(), Halt> {
        self.patience -= 1;
        if self.patience > 0 {
            return Ok(());
        }
        self.patience = Self::PATIENCE;
        let control = &self.machine.options.control;
        if let Some(stop) = control.reason() {
            self.observer.gaps.add(stopped(stop));
            return Err(Halt::Enough);
        }
        control.spend(u64::from(Self::PATIENCE) * Self::WORK);
        Ok(())
    }
}

/// Has the process tried first that is likely to need the fewest others. False if there is none.
fn choose_one(nexts: &mut [Next], known: &Summaries) -> bool {
    let ready = nexts.iter().enumerate().filter(|(_, next)| next.is_ready());
    let best = ready.min_by_key(|(index, next)| {
        let is_plain = next.accesses != SetId::EMPTY;
        (is_plain, known.rivals(next.accesses), *index)
    });
    let index = best.map(|(index, _)| index);
    index.inspect(|index| nexts[*index].is_chosen = true).is_some()
}
