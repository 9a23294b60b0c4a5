//! The search through one skeleton: sources for the reads, then orders for the writes.
//!
//! Each read in turn takes its value from each write that coherence leaves visible to it.
//! Values travel along those choices at once, so that a branch condition that fails, an address
//! that differs or an order of writes that contradicts itself cuts off everything below it.
//! The model is asked as soon as a prefix is worth asking about: its monotone axioms can only
//! get more violated. What order of writes is then still open is enumerated, or, where the
//! count is not asked for, decided by the first order that the model allows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use parallax_machine::Code;
use parallax_memory::Checker;
use parallax_program::{Diagnostic, Program};
use parallax_verdict::Execution;

use crate::coherence::WriteOrder;
use crate::image::Image;
use crate::locations::{Locations, Obstacle};
use crate::path::Path;
use crate::skeleton::{Footprint, Kind, Roles, Skeleton};
use crate::states::{Observer, States};
use crate::term::{ReadVar, TermId, Terms};
use crate::watch::Watch;

/// What stays the same for all skeletons of a test.
pub struct Context {
    pub roles: Roles,
    pub observer: Observer,
    pub image: Image,
    /// The model keeps each location coherent.
    pub coherent: bool,
    /// The model keeps atomic pairs atomic.
    pub atomic: bool,
    /// Every total order of writes counts as an execution of its own.
    pub all_orders: bool,
    pub has_flags: bool,
    pub witnesses: usize,
    /// Relations of the model that witnesses carry.
    pub shown: Vec<String>,
}

/// What the search has found.
#[derive(Default)]
pub struct Findings {
    pub states: States,
    /// Raised in some execution.
    pub flags: BTreeSet<String>,
    pub witnesses: Vec<Execution>,
    /// Bytes that were accessed and have no initial write yet.
    pub uncovered: BTreeSet<Footprint>,
    /// Accesses of different sizes met.
    pub overlap: bool,
    /// Addresses outside all objects that allowed executions access.
    pub wild: BTreeSet<u64>,
    pub too_many_writes: bool,
    /// A mistake in the model that showed on an execution.
    pub failure: Option<Diagnostic>,
}

/// Reads that are tried in that order, each with the writes it may take its value from.
struct Choice {
    read: u32,
    var: ReadVar,
    candidates: Vec<u32>,
    /// Constraints that mention the read.
    constraints: Vec<TermId>,
    /// Ways to choose for this read and all after it.
    combinations: u64,
}

pub struct Search<'s, 'a, 'p, 'm> {
    pub(crate) context: &'s Context,
    pub(crate) skeleton: &'s Skeleton<'a, 'p>,
    pub(crate) paths: &'s [&'a Path<'p>],
    pub(crate) code: &'s Code<'p>,
    pub(crate) program: &'p Program,
    pub(crate) terms: &'s mut Terms,
    pub(crate) checker: &'s mut Checker<'m>,
    pub(crate) findings: &'s mut Findings,
    pub(crate) watch: &'s mut Watch<'m>,
    choices: Vec<Choice>,
    /// For each read, the write it takes its value from.
    pub(crate) sources: Vec<Option<u32>>,
    /// Reads that have a source whose value is not known yet.
    unresolved: Vec<usize>,
    /// Known beforehand where every address is.
    pub(crate) locations: Option<Locations>,
    pub(crate) orders: Vec<WriteOrder>,
}

pub(crate) type Flow = ControlFlow<()>;

impl<'s, 'a, 'p, 'm> Search<'s, 'a, 'p, 'm> {
    /// Below so many combinations, the model is not asked before they are tried.
    const WORTH_ASKING: u64 = 6;

    #[allow(clippy::too_many_arguments)]
    pub fn new(
        context: &'s Context,
        skeleton: &'s Skeleton<'a, 'p>,
        paths: &'s [&'a Path<'p>],
        code: &'s Code<'p>,
        terms: &'s mut Terms,
        checker: &'s mut Checker<'m>,
        findings: &'s mut Findings,
        watch: &'s mut Watch<'m>,
    ) -> Self {
        Search {
            context,
            skeleton,
            paths,
            code,
            program: code.program,
            terms,
            checker,
            findings,
            watch,
            choices: Vec::new(),
            sources: vec![None; skeleton.events.len()],
            unresolved: Vec::new(),
            locations: None,
            orders: Vec::new(),
        }
    }

    /// Looks at every execution of the skeleton. Breaks if stopped from outside.
    pub fn run(mut self) -> Flow {
        self.terms.forget_reads();
        if self.skeleton.addresses_known {
            let footprints: Vec<_> =
                self.skeleton.events.iter().map(|event| event.footprint).collect();
            match Locations::new(self.skeleton, &footprints) {
                Ok(locations) => {
                    self.orders = locations.orders(self.context.coherent);
                    self.locations = Some(locations);
                }
                Err(obstacle) => {
                    self.note(obstacle);
                    return Flow::Continue(());
                }
            }
        }
        if !self.find_choices() {
            return Flow::Continue(());
        }
        if self.locations.is_some() {
            self.fill_checker(None);
        }
        self.choose(0)
    }

    fn fill_checker(&mut self, footprints: Option<&[Option<Footprint>]>) {
        self.skeleton.fill(&self.context.roles, self.terms, footprints, self.checker);
    }

    /// Remembers why an execution could not be looked at.
    fn note(&mut self, obstacle: Obstacle) {
        match obstacle {
            Obstacle::Overlap => self.findings.overlap = true,
            Obstacle::TooManyWrites => self.findings.too_many_writes = true,
            Obstacle::Uncovered(footprint) => {
                self.findings.uncovered.insert(footprint);
            }
        }
    }

    /// Lists the candidates of each read, fewest first. False if some read has none.
    fn find_choices(&mut self) -> bool {
        for read in &self.skeleton.reads {
            let event = &self.skeleton.events[*read as usize];
            let Kind::Read { var, .. } = event.kind else {
                continue;
            };
            let constraints = self.skeleton.constraints.iter();
            let constraints = constraints.filter(|constraint| constraint.reads.contains(&var));
            let constraints: Vec<TermId> = constraints.map(|constraint| constraint.term).collect();
            let mut candidates = Vec::new();
            for write in &self.skeleton.writes {
                if self.may_match(*read, *write) && self.value_fits(var, *write, &constraints) {
                    candidates.push(*write);
                }
            }
            if candidates.is_empty() {
                return false;
            }
            self.choices.push(Choice {
                read: *read,
                var,
                candidates,
                constraints,
                combinations: 1,
            });
        }
        let unknown =
            |choice: &Choice| self.skeleton.events[choice.read as usize].footprint.is_none();
        self.choices.sort_by_key(|choice| (unknown(choice), choice.candidates.len()));
        let mut combinations = 1u64;
        for choice in self.choices.iter_mut().rev() {
            combinations = combinations.saturating_mul(choice.candidates.len() as u64);
            choice.combinations = combinations;
        }
        true
    }

    fn may_match(&self, read: u32, write: u32) -> bool {
        let (r, w) = (&self.skeleton.events[read as usize], &self.skeleton.events[write as usize]);
        if let Some(locations) = &self.locations {
            return locations.of(read) == locations.of(write)
                && (!self.context.coherent || locations.may_read(read, write));
        }
        let bytes = |source: Option<&crate::path::PathEvent<'p>>, at: Option<Footprint>| {
            source.map(|event| event.bytes).or(at.map(|at| at.bytes))
        };
        match (r.footprint, w.footprint) {
            (Some(a), Some(b)) => a == b,
            _ => bytes(r.source, r.footprint) == bytes(w.source, w.footprint),
        }
    }

    /// False if the write's value is known and contradicts a constraint on the read alone.
    fn value_fits(&mut self, var: ReadVar, write: u32, constraints: &[TermId]) -> bool {
        let Kind::Write { value } = self.skeleton.events[write as usize].kind else {
            return false;
        };
        let Some(bits) = self.terms.as_constant(value) else {
            return true;
        };
        if constraints.is_empty() {
            return true;
        }
        self.terms.assign(var, Some(bits));
        let fits = constraints
            .iter()
            .all(|constraint| self.terms.evaluate(*constraint).is_none_or(|bit| !bit.is_zero()));
        self.terms.assign(var, None);
        fits
    }

    /// Gives a source to the reads from `depth` on.
    fn choose(&mut self, depth: usize) -> Flow {
        self.watch.poll()?;
        let Some(choice) = self.choices.get(depth) else {
            return self.sources_chosen();
        };
        let read = choice.read;
        for at in 0..self.choices[depth].candidates.len() {
            let write = self.choices[depth].candidates[at];
            let unresolved = self.unresolved.clone();
            let location = self.locations.as_ref().and_then(|locations| locations.of(read));
            let order = location.map(|location| self.orders[location].clone());
            let mut resolved = Vec::new();
            self.sources[read as usize] = Some(write);
            if self.resolve(depth, &mut resolved)
                && self.addresses_agree()
                && self.keep_order(read, write, location)
                && self.worth_following(depth + 1)
            {
                self.choose(depth + 1)?;
            }
            self.sources[read as usize] = None;
            for var in resolved {
                self.terms.assign(var, None);
            }
            self.unresolved = unresolved;
            if let (Some(location), Some(order)) = (location, order) {
                self.orders[location] = order;
            }
        }
        Flow::Continue(())
    }

    /// Lets values travel to the reads; false if a constraint fails.
    fn resolve(&mut self, depth: usize, resolved: &mut Vec<ReadVar>) -> bool {
        self.unresolved.push(depth);
        loop {
            let before = resolved.len();
            let mut waiting = std::mem::take(&mut self.unresolved);
            let mut consistent = true;
            waiting.retain(|at| {
                let Choice { read, var, .. } = self.choices[*at];
                let source = self.sources[read as usize].map(|w| &self.skeleton.events[w as usize]);
                let Some(Kind::Write { value }) = source.map(|event| event.kind) else {
                    return true;
                };
                let Some(bits) = self.terms.evaluate(value) else {
                    return true;
                };
                self.terms.assign(var, Some(bits));
                resolved.push(var);
                let constraints = &self.choices[*at].constraints;
                consistent &= constraints.iter().all(|constraint| {
                    self.terms.evaluate(*constraint).is_none_or(|bit| !bit.is_zero())
                });
                false
            });
            self.unresolved = waiting;
            if !consistent {
                return false;
            }
            if resolved.len() == before || self.unresolved.is_empty() {
                return true;
            }
        }
    }

    /// The address of an access, as far as it is known at present.
    pub(crate) fn footprint(&mut self, event: u32) -> Option<Footprint> {
        let event = &self.skeleton.events[event as usize];
        if event.footprint.is_some() {
            return event.footprint;
        }
        let source = event.source.filter(|source| source.bytes > 0)?;
        let address = self.terms.evaluate(source.address)?;
        let address = u64::try_from(address.unsigned()).ok()?;
        Some(Footprint { address, bytes: source.bytes })
    }

    /// Where addresses depend on reads: no read has a source elsewhere, and every address that
    /// is known has an initial value.
    fn addresses_agree(&mut self) -> bool {
        if self.locations.is_some() {
            return true;
        }
        for at in 0..self.choices.len() {
            let read = self.choices[at].read;
            let Some(write) = self.sources[read as usize] else {
                continue;
            };
            if let (Some(a), Some(b)) = (self.footprint(read), self.footprint(write))
                && a != b
            {
                return false;
            }
        }
        let events = self.skeleton.initials as u32..self.skeleton.events.len() as u32;
        for event in events {
            if let Some(footprint) = self.footprint(event)
                && !self.skeleton.is_initialised(footprint)
            {
                self.note(Obstacle::Uncovered(footprint));
                return false;
            }
        }
        true
    }

    /// Adds what the read's source forces on the order of writes; false on a contradiction.
    fn keep_order(&mut self, read: u32, write: u32, location: Option<usize>) -> bool {
        let (Some(locations), Some(location)) = (&self.locations, location) else {
            return true;
        };
        let order = &mut self.orders[location];
        (!self.context.coherent || locations.force(read, write, &self.sources, order))
            && (!self.context.atomic
                || locations.force_atomicity(location, &self.sources, self.skeleton, order))
    }

    /// Asks the model about the prefix, where enough hangs on it.
    fn worth_following(&mut self, depth: usize) -> bool {
        let below = self.choices.get(depth).map_or(1, |choice| choice.combinations);
        if below < Self::WORTH_ASKING || self.locations.is_none() {
            return true;
        }
        self.give_sources();
        self.give_orders();
        self.checker.may_be_allowed()
    }

    fn give_sources(&mut self) {
        let rf = self.checker.rf_mut();
        rf.clear();
        for read in &self.skeleton.reads {
            if let Some(write) = self.sources[*read as usize] {
                rf.add(write as usize, *read as usize);
            }
        }
        self.checker.rf_changed();
    }

    pub(crate) fn give_orders(&mut self) {
        let co = self.checker.co_mut();
        co.clear();
        if let Some(locations) = &self.locations {
            locations.settled(&self.orders, |earlier, later| co.add(earlier, later));
        }
        self.checker.co_changed();
    }

    /// All reads have a source: now the orders of writes.
    fn sources_chosen(&mut self) -> Flow {
        if !self.unresolved.is_empty() {
            // Values that only justify themselves: out of thin air, no value is computed.
            return Flow::Continue(());
        }
        if self.locations.is_some() {
            self.give_sources();
            return self.orders_of_writes();
        }
        let footprints: Vec<_> =
            (0..self.skeleton.events.len()).map(|i| self.footprint(i as u32)).collect();
        let locations = match Locations::new(self.skeleton, &footprints) {
            Ok(locations) => locations,
            Err(obstacle) => {
                self.note(obstacle);
                return Flow::Continue(());
            }
        };
        self.orders = locations.orders(self.context.coherent);
        self.locations = Some(locations);
        let consistent = (0..self.choices.len()).all(|at| {
            let read = self.choices[at].read;
            let location = self.locations.as_ref().and_then(|locations| locations.of(read));
            let source = self.sources[read as usize];
            source.is_none_or(|write| self.keep_order(read, write, location))
        });
        let mut flow = Flow::Continue(());
        if consistent {
            self.fill_checker(Some(&footprints));
            self.give_sources();
            flow = self.orders_of_writes();
        }
        self.locations = None;
        flow
    }
}
