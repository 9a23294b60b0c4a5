//! Depth-first search through the states of a system.
//!
//! States are kept as fingerprints only; the snapshots are those on the current path. Strongly
//! connected components are found on the way ([`Components`]), because states on cycles need special
//! care; see [`parallax_machine::reduction`].

use std::collections::HashSet;

use parallax_machine::reduction::components::{Components, Number, Visited};
use parallax_machine::reduction::summary::{Access, Kind, Process, SetId, Summaries};
use parallax_machine::reduction::{Closure, Next, Status};
use parallax_machine::system::{
    Action, At, Entry, Log, MemoryKind, Object, Readiness, Setup, System, Waits, What,
};

use crate::few::Few;
use crate::known::{Known, Visit};
use crate::observer::{Over, Sight};
use crate::options::Reduction;

pub struct Search<'s, 'p, 'o, S: Sight<'s, 'p>> {
    setup: &'s Setup<'p>,
    reduction: Reduction,
    sight: &'o mut S,
    met: Known,
    components: Components,
    known: Summaries,
    path: Vec<Frame<'s, 'p>>,
    final_states: HashSet<Number>,
    few: Option<Few>,
    pub counts: SearchCounts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    pub states: u64,
    /// Steps that were taken.
    pub steps: u64,
    /// Steps that led to a known state.
    pub matched: u64,
    /// Final states, whether threads wait there or not.
    pub finals: u64,
    /// Steps that led to a final state, whether it was known or not.
    pub traces: u64,
}

struct Frame<'s, 'p> {
    system: System<'s, 'p>,
    visited: Visited,
    /// What each process can do.
    nexts: Vec<Next>,
    /// The process whose steps are being looked at, and how many of them were.
    current: Option<(Process, u32)>,
    /// The step that was taken last.
    action: Option<Action>,
}

/// Why a search ended before its end.
pub enum Stopped {
    /// The observer has seen enough.
    Enough,
    /// A thread uses an object that only its maker was thought to use.
    Escaped {
        context: u64,
    },
    /// A thread reads below the end of its stack, which was forgotten.
    Forgotten,
    TooMany,
    /// Threads were left out, and there are many states all the same.
    Long,
}

impl From<Over> for Stopped {
    fn from(_: Over) -> Stopped {
        Stopped::Enough
    }
}

impl<'s, 'p, 'o, S: Sight<'s, 'p>> Search<'s, 'p, 'o, S> {
    pub fn new(setup: &'s Setup<'p>, reduction: Reduction, sight: &'o mut S) -> Self {
        Search {
            setup,
            reduction,
            sight,
            met: Known::default(),
            components: Components::default(),
            known: Summaries::default(),
            path: Vec::new(),
            final_states: HashSet::new(),
            few: None,
            counts: SearchCounts::default(),
        }
    }

    /// A search in which few of the threads that do the same take steps.
    pub fn with_few(self, most: u32) -> Self {
        Search { few: Some(Few::new(most)), ..self }
    }

    /// Whether a thread was left out.
    pub fn has_left_out(&self) -> bool {
        self.few.as_ref().is_some_and(|few| few.has_left_out)
    }

    pub fn run(&mut self) -> Result<(), Stopped> {
        let system = System::start(self.setup, &mut Log::off());
        self.arrive(system)?;
        while let Some(top) = self.path.last_mut() {
            match top.next_action() {
                Some(action) => {
                    let mut system = top.system.clone();
                    system.apply(action, &mut Log::off());
                    self.counts.steps += 1;
                    self.arrive(system)?;
                }
                None if self.grow() => {}
                None => self.leave()?,
            }
        }
        Ok(())
    }

    /// The last step has led to a state.
    fn arrive(&mut self, system: System<'s, 'p>) -> Result<(), Stopped> {
        match self.met.visit(system.fingerprint()).ok_or(Stopped::TooMany)? {
            Visit::New => self.enter(system),
            Visit::Known(number) => {
                self.counts.matched += 1;
                self.counts.traces += u64::from(self.final_states.contains(&number));
                if let Some(top) = self.path.last_mut() {
                    self.components.meet(&mut top.visited, number, &mut self.known);
                }
                Ok(())
            }
        }
    }

    fn enter(&mut self, system: System<'s, 'p>) -> Result<(), Stopped> {
        self.counts.states += 1;
        if self.has_left_out() && self.counts.states > Few::MOST_STATES {
            return Err(Stopped::Long);
        }
        let visited = self.components.enter();
        debug_assert_eq!(self.components.len(), self.met.len(), "each state is entered once");
        let mut troubled = Vec::new();
        let nexts = self.nexts(&system, &mut troubled)?;
        let mut frame = Frame { system, visited, nexts, current: None, action: None };
        let is_final = match self.reduction {
            Reduction::None => !frame.choose_all(),
            Reduction::Order => !frame.choose_one(&self.known),
        };
        // What waits and can never be performed was promised in vain: there is no such execution.
        let is_settled = frame.system.is_settled();
        let is_final = is_final && is_settled;
        let troubled = if is_settled { troubled } else { Vec::new() };
        for next in frame.nexts.iter().filter(|_| is_final) {
            frame.visited.future = self.known.union(frame.visited.future, next.accesses);
        }
        if is_final {
            self.counts.finals += 1;
            self.counts.traces += 1;
            self.final_states.insert(frame.visited.number);
        }
        let before = self.path.iter().filter_map(|frame| frame.action);
        let path = move || before.clone().collect();
        let is_whole = self.few.as_ref().is_none_or(|few| !few.leaves_out_of(&frame.system));
        self.sight.state(&frame.system, is_final && is_whole, &troubled, &path)?;
        self.path.push(frame);
        Ok(())
    }

    /// What each process can do, and the threads that stand at something wrong. What the last
    /// action has left as it was is taken from the state before.
    fn nexts(
        &mut self,
        system: &System<'s, 'p>,
        troubled: &mut Vec<u32>,
    ) -> Result<Vec<Next>, Stopped> {
        let mut nexts = Vec::with_capacity(system.thread_count() as usize * 2);
        for thread in 0..system.thread_count() {
            let Some(local) = system.thread(thread) else {
                nexts.extend([Next::ABSENT; 2]);
                continue;
            };
            let own = Process::of_thread(thread).index();
            if let Some(before) = self.path.last()
                && let Some(known) = before.nexts.get(own..own + 2)
                && system.spares(&before.system, thread)
            {
                debug_assert!(
                    self.few.is_some()
                        || known[0].status == status(&local.at, &system.readiness(thread)),
                    "thread {thread} goes on as it was"
                );
                nexts.extend(known.iter().map(|next| Next::new(next.accesses, next.status)));
                continue;
            }
            let readiness = system.readiness(thread);
            if is_trouble(&local.at, &readiness) {
                troubled.push(thread);
            }
            if let Some(few) = &mut self.few
                && few.leaves_out(system, thread)
            {
                let none = SetId::EMPTY;
                nexts.extend([Next::new(none, Status::Over), Next::new(none, Status::Idle)]);
                continue;
            }
            match readiness {
                Readiness::Escaped { context } => return Err(Stopped::Escaped { context }),
                Readiness::Forgotten => return Err(Stopped::Forgotten),
                _ => {}
            }
            let status = status(&local.at, &readiness);
            let accesses = match (&local.at, &status) {
                (At::Enter, Status::Ready(_)) => self.accesses_of_section(system, thread),
                (at, _) => access_of(system, thread, at)
                    .map_or(SetId::EMPTY, |access| self.known.only(access)),
            };
            nexts.push(Next::new(accesses, status));
            nexts.push(self.next_of_buffer(system, thread));
        }
        Ok(nexts)
    }

    /// What a thread accesses in the atomic section that it is about to enter. What it reads there
    /// decides what it accesses next, so whatever else it might access conflicts with that.
    fn accesses_of_section(&mut self, system: &System<'s, 'p>, thread: u32) -> SetId {
        let process = Process::of_thread(thread);
        let mut log = Log::on();
        let mut after = system.clone();
        after.apply(Action::Step { thread, choice: 0 }, &mut log);
        let everything = Access { process, start: 0, size: u64::MAX, kind: Kind::All };
        if after.section().is_some() {
            return self.known.only(everything);
        }
        let mut accesses = SetId::EMPTY;
        for record in log.records() {
            let (start, bytes, kind) = match record.what {
                What::Read { address, bytes, .. } => (address, bytes, Kind::LockedRead),
                What::Write { address, bytes, is_buffered: false, .. } => {
                    (address, bytes, Kind::Write)
                }
                What::Free { .. } => return self.known.only(everything),
                _ => continue,
            };
            let access = Access { process, start, size: u64::from(bytes), kind };
            let only = self.known.only(access);
            accesses = self.known.union(accesses, only);
        }
        accesses
    }

    fn next_of_buffer(&mut self, system: &System<'s, 'p>, thread: u32) -> Next {
        let count = system.flushes(thread).count() as u32;
        let entries = system.buffer(thread);
        let status = match (entries.is_empty(), count) {
            (true, _) => Status::Idle,
            (false, 0) => Status::Waits(Waits::Section),
            (false, count) => Status::Ready(count),
        };
        let mut accesses = SetId::EMPTY;
        for action in system.flushes(thread) {
            let Action::Flush { index, .. } = action else {
                continue;
            };
            if let Some(Entry::Store { address, bytes, .. }) = entries.get(index as usize) {
                let (start, size) = (*address, u64::from(*bytes));
                let process = Process::of_buffer(thread);
                let only = self.known.only(Access { process, start, size, kind: Kind::Write });
                accesses = self.known.union(accesses, only);
            }
        }
        Next::new(accesses, status)
    }

    /// Adds processes to those of the last state of the path, if some are missing.
    fn grow(&mut self) -> bool {
        let Some(top) = self.path.last_mut() else {
            return false;
        };
        let is_in_cycle = self.components.is_in_cycle(&mut top.visited);
        if is_in_cycle || self.reduction == Reduction::None {
            return top.choose_all();
        }
        let setup = self.setup;
        let closure = Closure {
            nexts: &mut top.nexts,
            summaries: &self.known,
            future: top.visited.future,
            parents: &|thread| setup.parent(thread),
            section: top.system.section(),
            is_pso: setup.options.memory == MemoryKind::Pso,
        };
        closure.close()
    }

    /// All that is to be looked at from the last state of the path was.
    fn leave(&mut self) -> Result<(), Stopped> {
        let Some(frame) = self.path.pop() else {
            return Ok(());
        };
        let (mut future, is_in_cycle) = (frame.visited.future, frame.visited.is_in_cycle);
        // Where threads go round for ever, others may wait for ever: nobody has seen them take the
        // steps that they wait for, and yet these may come first.
        for next in frame.nexts.iter().filter(|next| next.is_chosen || is_in_cycle) {
            future = self.known.union(future, next.accesses);
        }
        let before = self.path.last_mut().map(|before| &mut before.visited);
        let is_trap = self.components.leave(&frame.visited, future, before, &mut self.known);
        if is_trap && !self.has_left_out() {
            let before = self.path.iter().filter_map(|frame| frame.action);
            self.sight.trap(&frame.system, &move || before.clone().collect())?;
        }
        Ok(())
    }
}

impl<'s, 'p> Frame<'s, 'p> {
    /// The next step to look at.
    fn next_action(&mut self) -> Option<Action> {
        loop {
            if let Some((process, taken)) = self.current {
                let Status::Ready(ways) = self.nexts[process.index()].status else {
                    self.current = None;
                    continue;
                };
                if taken < ways {
                    self.current = Some((process, taken + 1));
                    self.action = self.way(process, taken);
                    return self.action;
                }
                self.current = None;
            }
            let open = self.nexts.iter().position(|next| next.is_chosen && !next.is_done)?;
            self.nexts[open].is_done = true;
            self.current = Some((Process(open as u32), 0));
        }
    }

    /// One of the ways in which a process may take its next step.
    fn way(&self, process: Process, number: u32) -> Option<Action> {
        let thread = process.thread();
        match process.is_buffer() {
            true => self.system.flushes(thread).nth(number as usize),
            false => Some(Action::Step { thread, choice: u64::from(number) }),
        }
    }

    /// All processes that can take a step. False if there was nothing to add.
    fn choose_all(&mut self) -> bool {
        let mut grown = false;
        for next in self.nexts.iter_mut().filter(|next| next.is_ready()) {
            grown |= !std::mem::replace(&mut next.is_chosen, true);
        }
        grown
    }

    /// The process that is likely to need the fewest others: one that accesses nothing, or what
    /// the fewest others are known to access. False if there is none.
    fn choose_one(&mut self, known: &Summaries) -> bool {
        let ready = self.nexts.iter().enumerate().filter(|(_, next)| next.is_ready());
        let best = ready.min_by_key(|(index, next)| {
            let is_plain = next.accesses != SetId::EMPTY;
            (is_plain, known.rivals(next.accesses), index % 2 == 0, *index)
        });
        let index = best.map(|(index, _)| index);
        index.inspect(|index| self.nexts[*index].is_chosen = true).is_some()
    }
}

/// Whether a thread can take its next step.
fn status(at: &At<'_>, readiness: &Readiness) -> Status {
    match readiness {
        Readiness::Ready { choices } => Status::Ready(u32::try_from(*choices).unwrap_or(u32::MAX)),
        Readiness::Blocked(waits) => Status::Waits(*waits),
        // Others may still make it right.
        Readiness::Failed { .. } => at.access().map_or(Status::Over, |(address, bytes, _)| {
            Status::Waits(Waits::Bytes { address, bytes, spins: false })
        }),
        _ => Status::Over,
    }
}

/// Whether somebody should look at where a thread stands.
fn is_trouble(at: &At<'_>, readiness: &Readiness) -> bool {
    match readiness {
        Readiness::Failed { .. } | Readiness::Unsupported(_) => true,
        Readiness::Over => matches!(at, At::Failed { .. } | At::Fault(_) | At::Cut),
        Readiness::Blocked(Waits::Buffer) => matches!(at, At::Store { .. }),
        _ => false,
    }
}

/// The access that a thread stands at.
fn access_of(system: &System<'_, '_>, thread: u32, at: &At<'_>) -> Option<Access> {
    let process = Process::of_thread(thread);
    let is_sc = system.setup().options.memory == MemoryKind::Sc;
    let (start, size, kind) = match at {
        At::Load { address, bytes, marks } => {
            let kind = if marks.is_locked() { Kind::LockedRead } else { Kind::Read };
            (*address, u64::from(*bytes), kind)
        }
        At::Store { address, bytes, marks, .. } => {
            let at_once = is_sc || marks.is_locked() || system.section() == Some(thread);
            let kind = if at_once { Kind::Write } else { Kind::Touch };
            (*address, u64::from(*bytes), kind)
        }
        At::Rmw { address, bytes, .. } => (*address, u64::from(*bytes), Kind::ReadWrite),
        At::Cas { address, bytes, fail, is_weak, .. } => {
            let kind = match (fail.is_locked(), is_weak) {
                (true, _) => Kind::ReadWrite,
                (false, false) => Kind::CompareAndSwap,
                (false, true) => Kind::WeakCompareAndSwap,
            };
            (*address, u64::from(*bytes), kind)
        }
        At::Free { address, .. } => (
            *address,
            object_at(system, *address).map_or(1, |object| object.size.max(1)),
            Kind::Free,
        ),
        At::HeapSize { address } => (*address, 1, Kind::Touch),
        At::Enter | At::FenceOfAll => (0, u64::MAX, Kind::All),
        _ => return None,
    };
    Some(Access { process, start, size, kind })
}

fn object_at<'a>(system: &'a System<'_, '_>, address: u64) -> Option<&'a Object> {
    system.living().map(|(_, object)| object).find(|object| object.address == address)
}
