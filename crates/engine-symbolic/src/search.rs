//! All orders of steps that matter, and all inputs: source-DPOR with sleep sets, over steps that have
//! several outcomes.
//!
//! P. Abdulla, S. Aronis, B. Jonsson, K. Sagonas, Source sets: a foundation for optimal dynamic partial
//! order reduction, JACM 64(4), 2017. At each state of the current path one thread is tried. When a
//! step depends on an earlier one of another thread, with nothing in between, both orders may lead to
//! something else: at the state before the earlier step, a thread is added with which the other order
//! can begin. Threads that were tried sleep until something happens that depends on their step.
//!
//! Inputs are fixed beforehand, so to speak: an outcome of a step stands for those inputs that lead
//! to it, and each choice of inputs has its own search. They share what they have in common. What is to
//! be tried belongs to the state on the path, so that it is tried for all of them; that is never too
//! little.
//!
//! A thread *waits* where its next step would change nothing and lead to a wait, or back to where it
//! is (a lock that is held, a flag that is not set). Such a step is not taken. But it may be that the
//! thread would not have to wait if it came earlier, and then it would never be seen to depend on
//! anything. So at each state, for each thread that waits, the step that it cannot take is compared
//! with those before it, as if it were taken. Where that adds nothing but the thread itself, and that
//! thread waits at the earlier state too, nothing is added: the same was done there. A thread is
//! added only where it can go on; if none of those can with which the other order begins, all are added.
//!
//! Whether a thread waits may depend on inputs. Then the state is taken apart by them before anybody
//! takes a step.

use std::rc::Rc;
use std::time::Instant;

use parallax_control::Progress;
use parallax_machine::Code;
use parallax_program::{InstKind, Property};
use parallax_verdict::stopped;
use rustc_hash::FxHashMap;

use crate::access::look_in_vain;
use crate::machine::{Halt, MOST_MEMORY, Machine, Run};
use crate::observer::{Observer, overlaps};
use crate::races::{Pair, Races};
use crate::state::{At, Kind, Local, Move, State};
use crate::trace::{Clock, Clocks, Event, Footprint, Trace, clock_of};

pub struct Search<'m, 'a, 'p> {
    pub machine: &'m mut Machine<'a, 'p>,
    pub observer: &'m mut Observer<'a>,
    nodes: Vec<Node<'p>>,
    trace: Trace,
    races: Races,
    random: u64,
    start: Instant,
    /// Steps until the clock is looked at, and until the search gives up.
    patience: u32,
    steps_left: u64,
    /// How much memory the states of the path take, and the threads that were looked at since work was accounted for.
    weight: u64,
    looked_at: u64,
    looks_for_races: bool,
}

/// A state on the current path.
struct Node<'p> {
    /// None where it is not needed any more.
    state: Option<Rc<State<'p>>>,
    weight: u64,
    enabled: Vec<u32>,
    readiness: Vec<Readiness>,
    /// Threads whose steps need not be tried, with what these access.
    sleep: Vec<(u32, Footprint)>,
    /// Threads to try, and those that were.
    backtrack: Vec<u32>,
    /// The thread that is being tried, with what its outcomes access, as far as is known.
    current: Option<(u32, Footprint)>,
    /// What else may become of its step, the next one last; see [`Machine::next`].
    outcomes: Vec<Run<'p>>,
    /// Outcomes of steps that were found when it was asked whether threads wait.
    trials: FxHashMap<u32, Vec<Run<'p>>>,
    /// What each thread depends on, and what orders it after others.
    clocks: Clocks,
    synchronised: Clocks,
}

/// Whether a thread can take its next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Readiness {
    Ready,
    /// Its next step would come to nothing now: it would wait, or go round a loop.
    Waits,
    Spins,
    /// It has none, or only when another thread has done something.
    Over,
}

impl<'m, 'a, 'p> Search<'m, 'a, 'p> {
    const PATIENCE: u32 = 64;
    /// What a step costs, in nominal nanoseconds.
    const WORK: u64 = 20_000;
    /// What it costs to look at one more thread.
    const THREAD: u64 = 1_000;

    /// A search that ends after so many steps, or an eighth of that many forks.
    pub fn new(
        machine: &'m mut Machine<'a, 'p>,
        observer: &'m mut Observer<'a>,
        steps: u64,
    ) -> Self {
        let options = machine.options;
        machine.end_after(if steps == u64::MAX { steps } else { steps / 8 });
        Search {
            random: options.control.seed | 1,
            looks_for_races: options.wants(Property::Race),
            machine,
            observer,
            nodes: Vec::new(),
            trace: Trace::default(),
            races: Races::default(),
            start: Instant::now(),
            patience: 1,
            steps_left: steps,
            weight: 0,
            looked_at: 0,
        }
    }

    pub fn run(&mut self) -> Result<(), Halt> {
        let mut open = self.machine.start()?;
        loop {
            let run = self.machine.next(&mut open);
            self.take_notices(None)?;
            let Some(run) = run? else { return Ok(()) };
            let clocks = Clocks::default();
            if let Some(parts) = self.enter(run, Vec::new(), clocks.clone(), clocks)? {
                open.extend(parts.into_iter().rev());
                continue;
            }
            self.explore()?;
        }
    }

    /// Looks at all that follows from the only node.
    fn explore(&mut self) -> Result<(), Halt> {
        while let Some(top) = self.nodes.last_mut() {
            if let (Some((thread, _)), false) = (&top.current, top.outcomes.is_empty()) {
                let thread = *thread;
                let run = self.machine.next(&mut top.outcomes);
                self.take_notices(Some(thread))?;
                if let Some(run) = run? {
                    self.follow(run)?;
                }
                continue;
            }
            if let Some(tried) = top.current.take() {
                top.sleep.push(tried);
            }
            let is_open = |thread: &&u32| !top.sleep.iter().any(|(asleep, _)| asleep == *thread);
            match top.backtrack.iter().find(is_open).copied() {
                Some(thread) => self.try_thread(thread)?,
                None => {
                    let left = self.nodes.pop();
                    self.weight -= left.map_or(0, |node| node.weight);
                    if !self.nodes.is_empty() {
                        self.trace.pop();
                        self.races.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// Finds the outcomes of a thread's next step.
    fn try_thread(&mut self, thread: u32) -> Result<(), Halt> {
        self.look_at_limits()?;
        let Some(top) = self.nodes.last_mut() else { return Ok(()) };
        let known = top.trials.remove(&thread);
        top.trials.clear();
        let state = match top.enabled.len() {
            1 => top.state.take(),
            _ => top.state.clone(),
        };
        let outcomes = match (known, state) {
            (Some(mut known), _) => {
                known.reverse();
                known
            }
            (None, Some(state)) => {
                let outcomes = self.machine.begin_step(&state, thread);
                self.take_notices(Some(thread))?;
                outcomes?
            }
            (None, None) => Vec::new(),
        };
        if let Some(top) = self.nodes.last_mut() {
            top.current = Some((thread, Footprint::default()));
            top.outcomes = outcomes;
        }
        Ok(())
    }

    /// Goes on with an outcome of the step that is being tried.
    fn follow(&mut self, run: Run<'p>) -> Result<(), Halt> {
        let Some(top) = self.nodes.last() else { return Ok(()) };
        let Some((thread, _)) = &top.current else { return Ok(()) };
        let thread = *thread;
        let (clocks, synchronised) = (top.clocks.clone(), top.synchronised.clone());
        let mut clock = Clock::clone(&clock_of(&clocks, thread));
        let mut orders = synchronised.clone();
        if let Some(of) = run.effects.joined {
            clock.join(&clock_of(&clocks, of));
            let mut after = Clock::clone(&clock_of(&synchronised, thread));
            after.join(&clock_of(&synchronised, of));
            orders = with(&synchronised, thread, Rc::new(after));
        }
        let footprint = Footprint::of(&run.effects, self.looks_for_races);
        if let Some((_, all)) = self.nodes.last_mut().and_then(|top| top.current.as_mut()) {
            all.extend(&footprint);
        }
        self.reverse_all(thread, &footprint, &mut clock);
        let time = clock.get(thread) + 1;
        clock.set(thread, time);
        let clock = Rc::new(clock);
        let step = self.trace.events.len() as u32;
        let (order, pairs) = self.races.push(thread, (time, step), &run.effects, &orders);
        let mut clocks = with(&clocks, thread, clock.clone());
        let mut orders = with(&orders, thread, order.clone());
        for child in &run.effects.spawned {
            clocks = with(&clocks, *child, clock.clone());
            orders = with(&orders, *child, order.clone());
        }
        for woken in &run.effects.woken {
            let mut after = Clock::clone(&clock_of(&clocks, *woken));
            after.join(&clock);
            clocks = with(&clocks, *woken, Rc::new(after));
        }
        let Some(top) = self.nodes.last() else { return Ok(()) };
        let stays = |(asleep, of): &&(u32, Footprint)| {
            *asleep != thread && !of.conflicts(&footprint) && !run.effects.woken.contains(asleep)
        };
        let sleep = top.sleep.iter().filter(stays).cloned().collect();
        self.trace.push(Event { thread, time, footprint, clock });
        self.observer.counts.events += 1;
        self.look_at_pairs(&run.state, pairs, None)?;
        if let Some(parts) = self.enter(run, sleep, clocks, orders)? {
            self.trace.pop();
            self.races.pop();
            if let Some(top) = self.nodes.last_mut() {
                top.outcomes.extend(parts.into_iter().rev());
            }
        }
        Ok(())
    }

    /// Reports the pairs that race, the last step being one that is not taken otherwise.
    fn look_at_pairs(
        &mut self,
        state: &State<'p>,
        pairs: Vec<Pair>,
        last: Option<u32>,
    ) -> Result<(), Halt> {
        if !self.looks_for_races {
            return Ok(());
        }
        for pair in pairs {
            let (one, other) = (&pair.earlier.touch, &pair.later.touch);
            let overlaps = overlaps(&mut self.machine.values, one, other);
            let machine = &mut *self.machine;
            let path = machine.oracle.assume(&mut machine.values, &state.path, overlaps)?;
            let Some(path) = path else { continue };
            let schedule = self.schedule(last);
            self.observer.race(pair, schedule, path)?;
        }
        Ok(())
    }

    /// The threads that have taken the steps of the path, and one more.
    fn schedule(&self, last: Option<u32>) -> Vec<Move> {
        self.trace.events.iter().map(|event| event.thread).chain(last).map(Move::Step).collect()
    }

    fn take_notices(&mut self, acting: Option<u32>) -> Result<(), Halt> {
        if self.machine.notices.is_empty() {
            return Ok(());
        }
        let schedule = self.schedule(acting);
        let notices = std::mem::take(&mut self.machine.notices);
        self.observer.take(notices, &schedule)
    }

    /// Adds a state to the path. Where inputs decide whether a thread waits, its parts instead.
    fn enter(
        &mut self,
        run: Run<'p>,
        sleep: Vec<(u32, Footprint)>,
        clocks: Clocks,
        synchronised: Clocks,
    ) -> Result<Option<Vec<Run<'p>>>, Halt> {
        let state = Rc::new(run.state.clone());
        let mut trials = FxHashMap::default();
        let mut readiness = Vec::with_capacity(state.threads.len());
        for thread in 0..state.threads.len() as u32 {
            let (ready, outcomes) = match self.inherited(&run, thread) {
                Some(ready) => (Some(ready), None),
                None => self.readiness(&state, thread)?,
            };
            let Some(ready) = ready else {
                let parts = outcomes.into_iter().flatten().map(|part| {
                    let mut run = run.clone();
                    run.state.path = part.state.path;
                    run
                });
                return Ok(Some(parts.collect()));
            };
            readiness.push(ready);
            trials.extend(outcomes.map(|outcomes| (thread, outcomes)));
        }
        self.observer.counts.states += 1;
        let enabled = (0u32..).zip(&readiness).filter(|(_, ready)| **ready == Readiness::Ready);
        let enabled: Vec<u32> = enabled.map(|(thread, _)| thread).collect();
        let mut spins = false;
        for (thread, ready) in (0u32..).zip(&readiness) {
            spins |= *ready == Readiness::Spins;
            if !matches!(ready, Readiness::Waits | Readiness::Spins) {
                continue;
            }
            self.look_in_vain(&state, thread, &synchronised)?;
            let footprint = pending(state.thread(thread));
            let mut clock = Clock::clone(&clock_of(&clocks, thread));
            self.reverse_all(thread, &footprint, &mut clock);
        }
        if enabled.is_empty() {
            let schedule = self.schedule(None);
            self.observer.final_state(self.machine, &state, &schedule, spins)?;
        }
        let awake: Vec<u32> = enabled
            .iter()
            .copied()
            .filter(|thread| !sleep.iter().any(|(asleep, _)| asleep == thread))
            .collect();
        if !enabled.is_empty() && awake.is_empty() {
            self.observer.counts.redundant += 1;
        }
        let backtrack = self.choose(&awake).into_iter().collect();
        let weight = state.weight();
        self.weight += weight;
        self.looked_at += readiness.len() as u64;
        self.nodes.push(Node {
            state: Some(state),
            weight,
            enabled,
            readiness,
            sleep,
            backtrack,
            current: None,
            outcomes: Vec::new(),
            trials,
            clocks,
            synchronised,
        });
        Ok(None)
    }

    /// A step that is not taken, as it would come to nothing, may race nevertheless.
    fn look_in_vain(
        &mut self,
        state: &State<'p>,
        thread: u32,
        orders: &Clocks,
    ) -> Result<(), Halt> {
        let Some(At::Access(access)) = state.thread(thread).map(|local| &local.at) else {
            return Ok(());
        };
        if !self.looks_for_races || state.section.is_some() {
            return Ok(());
        }
        let touch = look_in_vain(access);
        let step = self.trace.events.len() as u32;
        let time = clock_of(orders, thread).get(thread) + 1;
        let pairs = self.races.peek(thread, (time, step), &touch, orders);
        self.look_at_pairs(state, pairs, Some(thread))
    }

    /// The thread to try first: the one that took the last step, if it can go on.
    fn choose(&mut self, awake: &[u32]) -> Option<u32> {
        if self.machine.options.shuffles {
            return self.draw(awake.len()).map(|index| awake[index]);
        }
        let last = self.trace.events.last().map(|event| event.thread);
        awake.iter().copied().find(|thread| Some(*thread) == last).or(awake.first().copied())
    }

    /// A number below another, by chance (G. Marsaglia, Xorshift RNGs, 2003).
    fn draw(&mut self, below: usize) -> Option<usize> {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (below > 0).then(|| (self.random >> 16) as usize % below)
    }

    /// Whether the thread can take a step, if the step that leads here makes no difference to that.
    fn inherited(&self, run: &Run<'p>, thread: u32) -> Option<Readiness> {
        let before = self.nodes.last()?;
        let (mover, _) = before.current.as_ref()?;
        let local = run.state.thread(thread)?;
        let known = before.readiness.get(thread as usize).copied()?;
        if known == Readiness::Over {
            return None;
        }
        let At::Access(access) = &local.at else { return None };
        if *mover == thread || run.state.section.is_some() || run.effects.in_section {
            return None;
        }
        let range = access.range();
        let meets = |touch: &crate::machine::Touch| {
            touch.writes && crate::state::overlap(&touch.range, &range)
        };
        let is_touched = run.effects.accesses.iter().any(meets);
        (!is_touched && !run.effects.woken.contains(&thread)).then_some(known)
    }

    /// Whether a thread can take its next step, and the outcomes if they were needed to know; None
    /// where inputs decide it.
    #[allow(clippy::type_complexity)]
    fn readiness(
        &mut self,
        state: &State<'p>,
        thread: u32,
    ) -> Result<(Option<Readiness>, Option<Vec<Run<'p>>>), Halt> {
        let Some(local) = state.thread(thread) else {
            return Ok((Some(Readiness::Over), None));
        };
        let shut_out = state.section.is_some_and(|owner| owner != thread);
        let ready = match &local.at {
            At::Access(_) | At::Free { .. } | At::HeapSize { .. } | At::Enter if shut_out => {
                Readiness::Waits
            }
            At::Join { thread: of } => {
                match u32::try_from(*of).is_ok_and(|of| state.has_ended(of)) && !shut_out {
                    true => Readiness::Ready,
                    false => Readiness::Over,
                }
            }
            At::Free { .. } | At::HeapSize { .. } | At::Enter => Readiness::Ready,
            At::Access(_) if may_wait(&self.machine.code, local) => {
                return self.trial(state, thread);
            }
            At::Access(_) => Readiness::Ready,
            _ => Readiness::Over,
        };
        Ok((Some(ready), None))
    }

    /// Takes the step to see whether it comes to anything.
    #[allow(clippy::type_complexity)]
    fn trial(
        &mut self,
        state: &State<'p>,
        thread: u32,
    ) -> Result<(Option<Readiness>, Option<Vec<Run<'p>>>), Halt> {
        let outcomes = self.machine.step(state, thread);
        self.take_notices(Some(thread))?;
        let outcomes = outcomes?;
        let vain = outcomes.iter().filter(|run| comes_to_nothing(run, thread)).count();
        Ok(match vain {
            0 => (Some(Readiness::Ready), Some(outcomes)),
            all if all == outcomes.len() => {
                let spins = |run: &Run<'p>| {
                    let at = run.state.thread(thread).map(|local| &local.at);
                    matches!(at, Some(At::Spinning { .. }))
                };
                let spins = outcomes.iter().any(spins);
                (Some(if spins { Readiness::Spins } else { Readiness::Waits }), None)
            }
            _ => (None, Some(outcomes)),
        })
    }

    /// Has the other order tried for each step that this one depends on with nothing in between.
    fn reverse_all(&mut self, thread: u32, footprint: &Footprint, clock: &mut Clock) {
        let rivals = self.trace.rivals(thread, footprint, clock);
        for rival in rivals {
            self.reverse(rival as usize, thread, clock);
        }
    }

    /// Has the step of a thread, which depends on what the clock says, tried before another.
    fn reverse(&mut self, rival: usize, thread: u32, clock: &Clock) {
        let event = &self.trace.events[rival];
        // The steps after it that do not depend on it, and then this one: those that can be first.
        let mut firsts: Vec<(u32, u32)> = Vec::new();
        let mut initials: Vec<u32> = Vec::new();
        let leads = |firsts: &[(u32, u32)], clock: &Clock| {
            firsts.iter().all(|(other, first)| clock.get(*other) < *first)
        };
        let node = &self.nodes[rival];
        let is_known = |thread: u32| {
            node.backtrack.contains(&thread)
                || node.sleep.iter().any(|(asleep, _)| *asleep == thread)
        };
        for later in &self.trace.events[rival + 1..] {
            if later.clock.get(event.thread) >= event.time
                || firsts.iter().any(|(known, _)| *known == later.thread)
            {
                continue;
            }
            if leads(&firsts, &later.clock) {
                if is_known(later.thread) {
                    return;
                }
                initials.push(later.thread);
            }
            firsts.push((later.thread, later.time));
        }
        let is_new = !firsts.iter().any(|(known, _)| *known == thread);
        if is_new && leads(&firsts, clock) {
            if is_known(thread) {
                return;
            }
            initials.push(thread);
        }
        let enabled: Vec<u32> =
            initials.iter().copied().filter(|thread| node.enabled.contains(thread)).collect();
        if enabled.is_empty() && initials == [thread] {
            return;
        }
        let chosen = match self.machine.options.shuffles {
            true => self.draw(enabled.len()).map(|index| enabled[index]),
            false => enabled.last().copied(),
        };
        let node = &mut self.nodes[rival];
        match chosen {
            Some(chosen) => node.backtrack.push(chosen),
            None => {
                for other in node.enabled.clone() {
                    if !node.backtrack.contains(&other) {
                        node.backtrack.push(other);
                    }
                }
            }
        }
    }

    fn look_at_limits(&mut self) -> Result<(), Halt> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or(Halt::Long)?;
        if self.weight > MOST_MEMORY {
            return Err(Halt::Deep);
        }
        self.patience -= 1;
        if self.patience > 0 {
            return Ok(());
        }
        self.patience = Self::PATIENCE;
        let control = &self.machine.options.control;
        let counts = self.observer.counts;
        control.report(|| Progress {
            executions: counts.executions,
            blocked: counts.blocked,
            states: Some(counts.states),
            elapsed: self.start.elapsed(),
            estimate: None,
        });
        if let Some(stop) = control.reason() {
            self.observer.gaps.add(stopped(stop));
            return Err(Halt::Enough);
        }
        let threads = std::mem::take(&mut self.looked_at);
        control.spend(u64::from(Self::PATIENCE) * Self::WORK + threads * Self::THREAD);
        Ok(())
    }
}

/// Whether the thread may find that it has to wait right after its next step.
pub fn may_wait(code: &Code<'_>, local: &Local<'_>) -> bool {
    let Some(site) = local.thread.site() else { return false };
    let block = &code.program.function(site.function).blocks[site.block.0 as usize];
    let rest = block.insts.get(site.index as usize + 1..).unwrap_or_default();
    rest.iter().any(|inst| matches!(inst.kind, InstKind::Wait { .. }))
        || local.thread.stack().any(|site| code.can_repeat(site))
}

/// Whether an outcome of a step changes nothing, and leaves the thread where it was or at a wait.
pub fn comes_to_nothing(run: &Run<'_>, thread: u32) -> bool {
    let at = run.state.thread(thread).map(|local| &local.at);
    run.effects.is_held_up
        || matches!(at, Some(At::Waiting | At::Spinning { in_one_step: true }))
            && !run.effects.changes
            && run.effects.spawned.is_empty()
            && !run.effects.in_section
}

/// What a thread would access if it did not wait.
fn pending(local: Option<&Local<'_>>) -> Footprint {
    match local.map(|local| &local.at) {
        Some(At::Access(access)) => {
            let parts = vec![(access.range(), access.kind != Kind::Load)];
            Footprint { parts, is_everything: false }
        }
        _ => Footprint { parts: Vec::new(), is_everything: true },
    }
}

/// The clocks, with another for a thread.
fn with(clocks: &Clocks, thread: u32, clock: Rc<Clock>) -> Clocks {
    let mut clocks = Vec::clone(clocks);
    if clocks.len() <= thread as usize {
        clocks.resize_with(thread as usize + 1, Rc::default);
    }
    clocks[thread as usize] = clock;
    Rc::new(clocks)
}
