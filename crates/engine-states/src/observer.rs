//! What the search is for: counting final states, and looking for what is wrong with any state.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use parallax_control::Progress;
use parallax_machine::system::{
    Action, At, BadAccess, Entry, MemoryKind, Readiness, System, Waits,
};
use parallax_machine::{Fault, Site};
use parallax_program::{AllocKind, Help, Location, Property};
use parallax_verdict::{Endings, Gaps, Reason, stopped};

use crate::claim::is_settled;
use crate::options::Options;
use crate::question::is_satisfied;

/// The search has seen enough.
pub struct Over;

/// The way to a state.
pub type Path<'a> = &'a dyn Fn() -> Vec<Action>;

/// Sees all states that a search comes to, each once.
pub trait Sight<'s, 'p> {
    /// A new state; `is_final` if nothing can happen in it. Something may be wrong with where the
    /// `troubled` threads stand, and did not stand before.
    fn state(
        &mut self,
        system: &System<'s, 'p>,
        is_final: bool,
        troubled: &[u32],
        path: Path<'_>,
    ) -> Result<(), Over>;

    /// Steps lead from the state to others and back to it, and to nothing else.
    fn trap(&mut self, system: &System<'s, 'p>, path: Path<'_>) -> Result<(), Over>;
}

/// Something wrong, as the search found it.
pub struct Found {
    pub property: Property,
    pub message: String,
    /// The thread that stands at it, if one does.
    pub failed: Option<u32>,
    /// How to get there.
    pub path: Vec<Action>,
    /// The object that it is about.
    pub object: Option<u64>,
}

pub struct Observer<'a> {
    options: &'a Options<'a>,
    start: Instant,
    pub found: Vec<Found>,
    seen: HashSet<(Property, String, Option<Site>)>,
    pub gaps: Gaps,
    /// Where assumptions failed.
    pub ended: Endings,
    pub executions: u64,
    pub blocked: u64,
    states: u64,
    /// Work that is not accounted for.
    work: u64,
    /// States until the clock is looked at, and between the last two looks; when that was.
    patience: u32,
    interval: u32,
    looked: Instant,
}

impl<'a> Observer<'a> {
    /// States between two looks at the clock, at most, and about how long these should take. A
    /// state may take a moment or, where a thread does much that is only its own, a large part of
    /// a second.
    const PATIENCE: u32 = 4096;
    const INTERVAL: Duration = Duration::from_millis(5);
    /// What a state costs, and each thread in it, in nominal nanoseconds.
    const WORK: u64 = 400;
    const WORK_OF_THREAD: u64 = 300;

    pub fn new(options: &'a Options<'a>, start: Instant) -> Observer<'a> {
        Observer {
            options,
            start,
            found: Vec::new(),
            seen: HashSet::new(),
            gaps: Gaps::default(),
            ended: Endings::default(),
            executions: 0,
            blocked: 0,
            states: 0,
            work: 0,
            patience: 1,
            interval: 1,
            looked: start,
        }
    }

    /// Looks at the clock, and at how much memory is taken, from time to time.
    fn look_at_limits(&mut self, threads: u32, computed: u64) -> Result<(), Over> {
        self.states += 1;
        if computed > 0 {
            self.patience = 1;
        }
        self.work += computed;
        self.work += Self::WORK + Self::WORK_OF_THREAD * u64::from(threads);
        self.patience -= 1;
        if self.patience > 0 {
            return Ok(());
        }
        let now = Instant::now();
        self.interval = match now.saturating_duration_since(self.looked) < Self::INTERVAL {
            true => (self.interval * 2).min(Self::PATIENCE),
            false => (self.interval / 4).max(1),
        };
        (self.patience, self.looked) = (self.interval, now);
        let control = &self.options.control;
        control.report(|| Progress {
            executions: self.executions,
            blocked: self.blocked,
            states: Some(self.states),
            elapsed: now.saturating_duration_since(self.start),
            estimate: None,
        });
        if let Some(stop) = control.reason() {
            self.gaps.add(stopped(stop));
            return Err(Over);
        }
        self.account();
        Ok(())
    }

    /// Accounts for the work since the last time.
    pub fn account(&mut self) {
        self.options.control.spend(std::mem::take(&mut self.work));
    }

    pub fn give_up(&mut self, message: &str, help: &str) -> Result<(), Over> {
        let (message, help) = (message.to_string(), Some(help.into()));
        self.gaps.add(Reason { message, place: None, help });
        Err(Over)
    }

    fn report(
        &mut self,
        system: &System<'_, '_>,
        property: Property,
        message: &str,
        failed: Option<u32>,
        object: Option<u64>,
        path: Path<'_>,
    ) -> Result<(), Over> {
        if !self.options.properties.contains(&property) {
            let place = failed.and_then(|thread| place(system, thread));
            self.gaps.violated(property, message, place);
            return Ok(());
        }
        let site = failed.and_then(|thread| system.thread(thread)?.site());
        let message = message.to_string();
        if self.seen.insert((property, message.clone(), site)) {
            self.found.push(Found { property, message, failed, path: path(), object });
        }
        if self.options.all { Ok(()) } else { Err(Over) }
    }

    /// The program does something that the engine cannot follow.
    fn unsupported(
        &mut self,
        system: &System<'_, '_>,
        thread: u32,
        message: String,
        help: Option<Help>,
    ) {
        let place = place(system, thread);
        self.gaps.add(Reason { message, place, help });
    }

    /// What is wrong with where a thread stands.
    fn look_at_thread(
        &mut self,
        system: &System<'_, '_>,
        thread: u32,
        path: Path<'_>,
    ) -> Result<(), Over> {
        let Some(local) = system.thread(thread) else {
            return Ok(());
        };
        let not_here = |what: &str| format!("{what}: not supported by this engine");
        match &local.at {
            At::Failed { property, message } => {
                self.report(system, *property, message, Some(thread), None, path)?;
            }
            At::Fault(fault) => match fault.violates() {
                Some(property) if self.options.properties.contains(&property) => {
                    self.report(system, property, &fault.message(), Some(thread), None, path)?;
                }
                _ => {
                    let what = fault.message();
                    self.unsupported(system, thread, not_here(&what), Fault::help_with(&what));
                }
            },
            At::Cut => {
                let what = "a loop, or recursion, that does not end".to_string();
                self.unsupported(system, thread, what, None);
            }
            _ => match system.readiness(thread) {
                Readiness::Failed { property, wrong } => {
                    self.report(system, property, wrong.message(), Some(thread), None, path)?;
                }
                Readiness::Unsupported(what) => {
                    self.unsupported(system, thread, not_here(what), None);
                }
                Readiness::Blocked(Waits::Buffer)
                    if matches!(&local.at, At::Store { marks, .. } if !marks.is_locked())
                        && system.buffer(thread).len() >= system.setup().options.buffer =>
                {
                    let most = system.setup().options.buffer;
                    let what = format!("more than {most} stores of a thread that wait");
                    self.unsupported(system, thread, not_here(&what), None);
                }
                _ => {}
            },
        }
        Ok(())
    }

    fn final_state(&mut self, system: &System<'_, '_>, path: Path<'_>) -> Result<(), Over> {
        let threads = 0..system.thread_count();
        let there = threads.filter(|thread| system.thread(*thread).is_some());
        let open: Vec<u32> = there.filter(|thread| !system.has_ended(*thread)).collect();
        let has_failed = open.iter().any(|thread| has_failed(system, *thread));
        if !open.is_empty() && !has_failed && !is_over(system) {
            match self.is_ended(system, &open) {
                true => self.executions += 1,
                false => self.blocked += 1,
            }
            return self.endless_wait(system, &open, path);
        }
        self.executions += 1;
        if let Some(question) = &self.options.question
            && !has_failed
            && is_satisfied(question, system)
        {
            self.report(system, Property::Assert, &question.text, None, None, path)?;
        }
        let leaked = system.living().find(|(_, object)| object.kind == AllocKind::Heap);
        let leaked = leaked.map(|(_, object)| object.address).filter(|_| !has_failed);
        match leaked {
            Some(address) => {
                let message = "an object is never freed";
                self.report(system, Property::Leak, message, None, Some(address), path)
            }
            None => Ok(()),
        }
    }

    /// Whether a thread has ended the program. If none has, which assumptions hold up threads.
    fn is_ended(&mut self, system: &System<'_, '_>, open: &[u32]) -> bool {
        let code = &system.setup().code;
        let locals = open.iter().filter_map(|thread| system.thread(*thread));
        let stopped = locals.filter(|local| matches!(local.at, At::Stopped));
        if stopped.clone().any(|local| local.site().is_some_and(|at| code.ends_program(at))) {
            return true;
        }
        if self.executions == 0 {
            stopped.for_each(|local| self.ended.held_up(code.own_place(local.thread.stack())));
        }
        false
    }

    /// Threads that wait when nothing can happen any more wait for ever.
    fn endless_wait(
        &mut self,
        system: &System<'_, '_>,
        open: &[u32],
        path: Path<'_>,
    ) -> Result<(), Over> {
        // What is issued there is performed later: where a thread stands says little of what it waits for.
        if let Some(thread) = open.first().filter(|_| is_published(system)) {
            let message =
                "threads that wait for ever under this model: not supported by this engine";
            self.unsupported(system, *thread, message.to_string(), None);
            return Ok(());
        }
        let (mut spins, mut never_ends) = (false, false);
        // What is in a buffer takes no effect before the section is over, and yet might end it.
        let mut buffers = open.iter().map(|thread| system.buffer(*thread));
        if let Some(owner) = system.section().filter(|_| buffers.any(|buffer| !buffer.is_empty())) {
            let message =
                "a thread waits in an atomic section, and stores of others are on their way";
            self.unsupported(system, owner, message.to_string(), None);
            return Ok(());
        }
        for thread in open {
            match (system.thread(*thread).map(|local| &local.at), system.readiness(*thread)) {
                (Some(At::Waiting), _) => {}
                (Some(At::Endless), _) => never_ends = true,
                (_, Readiness::Blocked(Waits::Bytes { spins: true, .. })) => spins = true,
                (_, Readiness::Blocked(_)) => {}
                _ => return Ok(()),
            }
        }
        let (property, message) = match (spins, never_ends) {
            (true, _) => (Property::Liveness, "a loop waits for ever"),
            (false, true) => (Property::Liveness, "a loop never ends"),
            (false, false) => (Property::Deadlock, "threads wait for one another"),
        };
        self.report(system, property, message, None, None, path)
    }
}

/// Where a thread stands.
fn place(system: &System<'_, '_>, thread: u32) -> Option<Location> {
    let code = &system.setup().code;
    let site = system.thread(thread)?.site()?;
    Some(code.program.source.origin(code.span(site)))
}

/// Whether writes are published, to all other threads at once.
fn is_published(system: &System<'_, '_>) -> bool {
    system.setup().options.memory == MemoryKind::Mca
}

/// Whether a store waits to take effect, and another thread has freed its object.
fn stores_too_late(system: &System<'_, '_>) -> bool {
    let buffered = (0..system.thread_count())
        .flat_map(|thread| system.buffer(thread).iter().map(move |entry| (thread, entry)));
    buffered.into_iter().any(|(thread, entry)| match entry {
        Entry::Store { address, .. } => system.freed_by(*address).is_some_and(|by| by != thread),
        _ => false,
    })
}

/// Whether the program is over although threads may wait.
fn is_over(system: &System<'_, '_>) -> bool {
    system.setup().code.program.daemons && system.has_ended(0)
}

fn has_failed(system: &System<'_, '_>, thread: u32) -> bool {
    let at = system.thread(thread).map(|local| &local.at);
    matches!(at, Some(At::Failed { .. } | At::Fault(_)))
        || matches!(system.readiness(thread), Readiness::Failed { .. })
}

impl<'s, 'p> Sight<'s, 'p> for Observer<'_> {
    fn state(
        &mut self,
        system: &System<'s, 'p>,
        is_final: bool,
        troubled: &[u32],
        path: Path<'_>,
    ) -> Result<(), Over> {
        self.look_at_limits(system.thread_count(), system.setup().meter.take())?;
        for thread in troubled {
            self.look_at_thread(system, *thread, path)?;
        }
        if let Some(thread) = (0..system.thread_count()).find(|it| system.is_full(*it)) {
            let what = "so many accesses of a thread that wait: not supported by this engine";
            self.unsupported(system, thread, what.to_string(), None);
        }
        if !is_published(system) && stores_too_late(system) {
            let message = BadAccess::Freed.message();
            self.report(system, Property::Memory, message, None, None, path)?;
        }
        if is_final { self.final_state(system, path) } else { Ok(()) }
    }

    fn trap(&mut self, system: &System<'s, 'p>, path: Path<'_>) -> Result<(), Over> {
        if is_over(system) {
            self.executions += 1;
            return Ok(());
        }
        self.blocked += 1;
        // All states of the rounds were looked at; only for waits it matters that they do not end.
        if !self.options.properties.contains(&Property::Liveness) {
            return Ok(());
        }
        let threads = 0..system.thread_count();
        let mut open = threads.filter(|thread| system.thread(*thread).is_some());
        if let Some(thread) = open.find(|thread| !is_settled(system, *thread)) {
            let message = "threads go round for ever, and change memory on the way: whether one of \
                           them waits is not known";
            self.unsupported(system, thread, message.to_string(), None);
            return Ok(());
        }
        self.report(system, Property::Liveness, "a loop waits for ever", None, None, path)
    }
}
