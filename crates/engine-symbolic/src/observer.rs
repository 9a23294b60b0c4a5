//! What the search is for: counting executions, and looking for what is wrong with them.

use std::collections::HashSet;

use parallax_machine::Domain;
use parallax_machine::Site;
use parallax_machine::system::Object;
use parallax_program::{AllocKind, BinaryOp, Property};
use parallax_verdict::{Counts, Endings, Gaps, Reason};

use crate::machine::{Halt, Machine, Notice, Touch};
use crate::options::Options;
use crate::oracle::Path;
use crate::races::Pair;
use crate::state::{At, Move, State};
use crate::tracked::Heap;
use crate::value::{Value, Values};

/// Something wrong, as the search found it.
pub struct Found {
    pub property: Property,
    pub message: String,
    /// The thread that stands at it, if one does.
    pub failed: Option<u32>,
    /// The steps that lead there, and the inputs.
    pub schedule: Vec<Move>,
    pub path: Path,
    /// The object that it is about.
    pub object: Option<u64>,
    /// The accesses that it is about, each as a step and the number of the access in it.
    pub accesses: Vec<(u32, u32)>,
}

/// What violations differ in: property, message and places.
type Known = (Property, String, Vec<Option<Site>>);

pub struct Observer<'a> {
    options: &'a Options<'a>,
    pub found: Vec<Found>,
    /// What was found, in all searches and in this one.
    seen: HashSet<Known>,
    fresh: Vec<Known>,
    pub gaps: Gaps,
    /// Where assumptions failed.
    pub ended: Endings,
    pub counts: Counts,
}

impl<'a> Observer<'a> {
    pub fn new(options: &'a Options<'a>) -> Observer<'a> {
        Observer {
            options,
            found: Vec::new(),
            seen: HashSet::new(),
            fresh: Vec::new(),
            gaps: Gaps::default(),
            ended: Endings::default(),
            counts: Counts::default(),
        }
    }

    /// For a search after another, whose violations are known.
    pub fn after(options: &'a Options<'a>, before: Observer<'a>) -> Observer<'a> {
        Observer { seen: before.seen, ..Observer::new(options) }
    }

    /// What was found is not known any more.
    pub fn forget(&mut self) {
        self.found.clear();
        for known in std::mem::take(&mut self.fresh) {
            self.seen.remove(&known);
        }
    }

    /// What the machine has noticed after these steps.
    pub fn take(&mut self, notices: Vec<Notice>, schedule: &[Move]) -> Result<(), Halt> {
        for notice in notices {
            match notice {
                Notice::Gap(reason) => self.gaps.add(reason),
                Notice::Failure { thread, property, message, site, place, path } => {
                    if !self.options.wants(property) {
                        self.gaps.violated(property, &message, place);
                        continue;
                    }
                    let found = Found {
                        property,
                        message,
                        failed: Some(thread),
                        schedule: schedule.to_vec(),
                        path,
                        object: None,
                        accesses: Vec::new(),
                    };
                    self.report(found, vec![site])?;
                }
            }
        }
        Ok(())
    }

    fn report(&mut self, found: Found, sites: Vec<Option<Site>>) -> Result<(), Halt> {
        let known = (found.property, found.message.clone(), sites);
        if self.seen.insert(known.clone()) {
            self.fresh.push(known);
            self.found.push(found);
        }
        if self.options.all { Ok(()) } else { Err(Halt::Enough) }
    }

    /// Two accesses race for the inputs of the path.
    pub fn race(&mut self, pair: Pair, schedule: Vec<Move>, path: Path) -> Result<(), Halt> {
        let Pair { earlier, later } = pair;
        let accesses = vec![(later.step, later.number), (earlier.step, earlier.number)];
        let found = Found {
            property: Property::Race,
            message: "data race".to_string(),
            failed: None,
            schedule,
            path,
            object: None,
            accesses,
        };
        let mut sites = vec![later.touch.site, earlier.touch.site];
        sites.sort_unstable_by_key(|site| {
            site.map(|site| (site.function.0, site.block.0, site.index))
        });
        self.report(found, sites)
    }

    /// Nothing can happen any more; `spins` if a thread would go round a loop at its next step.
    pub fn final_state(
        &mut self,
        machine: &Machine<'_, '_>,
        state: &State<'_>,
        schedule: &[Move],
        spins: bool,
    ) -> Result<(), Halt> {
        let open: Vec<u32> = state.started().filter(|thread| !state.has_ended(*thread)).collect();
        let is = |thread: &u32, test: fn(&At<'_>) -> bool| {
            state.thread(*thread).is_some_and(|local| test(&local.at))
        };
        let has_failed =
            open.iter().any(|it| is(it, |at| matches!(at, At::Failed { .. } | At::Lost)));
        let is_over = machine.code.program.daemons && state.has_ended(0);
        if !open.is_empty() && !has_failed && !is_over {
            let is_ended = self.is_ended(machine, state, &open);
            match is_ended {
                true => self.counts.executions += 1,
                false => self.counts.blocked += 1,
            }
            let is_stopped = |thread: &u32| is(thread, |at| *at == At::Stopped);
            if self.options.spares_tracked && (is_ended || !open.iter().any(is_stopped)) {
                self.look_for_lost(machine, state);
            }
            return self.endless_wait(state, &open, schedule, spins);
        }
        self.counts.executions += 1;
        match self.leaked(machine, state).filter(|_| !has_failed) {
            Some(address) => {
                let message = "an object is never freed";
                self.state(Property::Leak, message, state, schedule, Some(address))
            }
            None => Ok(()),
        }
    }

    /// An object that leaks at the end of a run, by its address.
    fn leaked(&self, machine: &Machine<'_, '_>, state: &State<'_>) -> Option<u64> {
        if !self.options.wants(Property::Leak) {
            return None;
        }
        if self.options.spares_tracked {
            let bytes = u64::from(machine.code.program.pointer_width.div_ceil(8));
            return Heap::of(state, bytes).untracked().next().map(|object| object.address);
        }
        let mut objects = state.threads.iter().flatten().flat_map(|local| local.objects.iter());
        let is_left =
            |object: &&Object| object.kind == AllocKind::Heap && !state.is_freed(object.address);
        objects.find(is_left).map(|object| object.address)
    }

    /// What is left where a run ends early, or waits for ever, may still be known to somebody, by a
    /// variable. Nobody finds again what is lost, so that it is enough to look at the ends of runs in
    /// which all others have gone on.
    fn look_for_lost(&mut self, machine: &Machine<'_, '_>, state: &State<'_>) {
        if self.leaked(machine, state).is_some() {
            let message = "an object that is left where the program ends early may be lost";
            self.gaps.add(Reason { message: message.to_string(), place: None, help: None });
        }
    }

    /// Whether a thread has ended the program. If none has, which assumptions hold up threads.
    fn is_ended(&mut self, machine: &Machine<'_, '_>, state: &State<'_>, open: &[u32]) -> bool {
        let locals = open.iter().filter_map(|thread| state.thread(*thread));
        let stopped = locals.filter(|local| local.at == At::Stopped);
        let code = &machine.code;
        let ends = |site: Site| code.ends_program(site);
        if stopped.clone().any(|local| local.thread.site().is_some_and(ends)) {
            return true;
        }
        if self.counts.executions == 0 {
            stopped.for_each(|local| self.ended.held_up(code.own_place(local.thread.stack())));
        }
        false
    }

    /// Threads that wait when nothing can happen any more wait for ever.
    fn endless_wait(
        &mut self,
        state: &State<'_>,
        open: &[u32],
        schedule: &[Move],
        mut spins: bool,
    ) -> Result<(), Halt> {
        let mut never_ends = false;
        // What is in a buffer takes no effect before the section is over, and yet might end it.
        if state.section.is_some() && open.iter().any(|thread| !state.is_drained(*thread)) {
            let message =
                "a thread waits in an atomic section, and stores of others are on their way";
            self.gaps.add(Reason { message: message.to_string(), place: None, help: None });
            return Ok(());
        }
        for thread in open {
            match state.thread(*thread).map(|local| &local.at) {
                Some(At::Endless) => never_ends = true,
                Some(At::Spinning { .. }) => spins = true,
                Some(At::Waiting | At::Join { .. } | At::Enter) => {}
                Some(At::Access(_) | At::Free { .. } | At::HeapSize { .. }) => {}
                _ => return Ok(()),
            }
        }
        let (property, message) = match (spins, never_ends) {
            (true, _) => (Property::Liveness, "a loop waits for ever"),
            (false, true) => (Property::Liveness, "a loop never ends"),
            (false, false) => (Property::Deadlock, "threads wait for one another"),
        };
        self.state(property, message, state, schedule, None)
    }

    /// Something is wrong with a whole state.
    fn state(
        &mut self,
        property: Property,
        message: &str,
        state: &State<'_>,
        schedule: &[Move],
        object: Option<u64>,
    ) -> Result<(), Halt> {
        if !self.options.wants(property) {
            self.gaps.violated(property, message, None);
            return Ok(());
        }
        let found = Found {
            property,
            message: message.to_string(),
            failed: None,
            schedule: schedule.to_vec(),
            path: state.path.clone(),
            object,
            accesses: Vec::new(),
        };
        self.report(found, Vec::new())
    }
}

/// That two accesses have bytes in common.
pub fn overlaps(values: &mut Values, one: &Touch, other: &Touch) -> Value {
    let end = |values: &mut Values, touch: &Touch| {
        let width = values.width(touch.address);
        let bytes = parallax_program::Bits::new(width, u128::from(touch.bytes));
        values.binary(BinaryOp::Add, &touch.address, &Value::Known(bytes))
    };
    let (first, second) = (end(values, one), end(values, other));
    let before = values.binary(BinaryOp::Ult, &one.address, &second);
    let after = values.binary(BinaryOp::Ult, &other.address, &first);
    values.binary(BinaryOp::And, &before, &after)
}
