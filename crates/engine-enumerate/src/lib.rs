//! All executions of a litmus test under a memory model.
//!
//! The search goes from the certain to the open: first the paths of each thread, run with the
//! values of reads left symbolic ([`path`]); then, for each choice of paths, the events and all
//! that is fixed about them ([`skeleton`]); then the source of each read, with coherence and
//! the model's monotone axioms pruning every prefix ([`search`]); last the orders of writes
//! that are still open ([`orders`]). What an execution is, and the idea to prune by
//! per-location coherence first, follow Alglave, Maranget and Tautschnig, "Herding cats"
//! (TOPLAS 2014); the slow enumeration of that paper, every source for every read times every
//! order of writes, is what the tests compare with.

mod coherence;
mod dependency;
mod engine;
mod image;
mod locations;
mod orders;
mod path;
mod search;
mod skeleton;
mod states;
mod term;
mod watch;
mod witness;

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod random;
#[cfg(test)]
mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use parallax_control::{Control, Stop};
use parallax_machine::{Code, Limits};
use parallax_memory::{Checker, Model};
use parallax_program::{Diagnostic, Diagnostics, Program, Question, Span};
use parallax_verdict::{Confirmed, Ending, Execution, Outcomes, replay, smallest_access};

pub use crate::engine::Enumerate;
use crate::image::Image;
use crate::path::{Action, Explorer, Failure, Path, Paths};
use crate::search::{Context, Findings, Search};
use crate::skeleton::{Footprint, Skeleton};
use crate::states::Observer;
use crate::term::Terms;
use crate::watch::Watch;

/// How far coherence orders are distinguished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Coherence {
    /// `Total` where a test has few orders, `Needed` where it has many.
    #[default]
    Auto,
    /// Every total order is an execution of its own.
    Total,
    /// Executions that differ only in the order of writes, and end in the same last writes to
    /// the observed locations, count once.
    Needed,
}

#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// How often a loop may be repeated.
    pub bound: u32,
    pub coherence: Coherence,
    /// How many executions that satisfy the proposition to keep as witnesses.
    pub witnesses: usize,
    /// Relations of the model that witnesses carry besides those that the model shows itself.
    pub show: &'a [String],
    /// What was found until the search is stopped is reported.
    pub control: Control<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            bound: 2,
            coherence: Coherence::Auto,
            witnesses: 0,
            show: &[],
            control: Control::default(),
        }
    }
}

/// Lists the final states of all executions that the model allows.
pub fn enumerate(
    program: &Program,
    question: &Question,
    model: &Model,
    options: &Options<'_>,
) -> Result<Outcomes, Diagnostics> {
    let located = |mut error: Diagnostic| {
        let start = || program.source.location(Span::new(0, 0));
        error.location.get_or_insert_with(start);
        vec![error]
    };
    let code = Code::new(program);
    let mut attempt =
        Attempt { code: &code, question, model, options, granule: None, covered: BTreeSet::new() };
    for _ in 0..Attempt::MAX_TRIES {
        match attempt.run().map_err(located)? {
            Progress::Done(outcomes) => return Ok(*outcomes),
            Progress::Cover(more) => attempt.covered.extend(more),
            Progress::Split => {
                attempt.granule = Some(smallest_access(program, model).map_err(located)?)
            }
        }
    }
    Err(located(Diagnostic::new("pointer arithmetic leads to too many different addresses")))
}

/// One try at a test; what it learns about accesses may call for another.
struct Attempt<'a, 'p> {
    code: &'a Code<'p>,
    question: &'a Question,
    model: &'a Model,
    options: &'a Options<'a>,
    /// Accesses are split into parts of so many bytes.
    granule: Option<u32>,
    /// Bytes that need an initial write although no access has them as a constant.
    covered: BTreeSet<Footprint>,
}

enum Progress {
    Done(Box<Outcomes>),
    /// Accesses of different sizes overlap: split them.
    Split,
    /// Bytes that need an initial write.
    Cover(BTreeSet<Footprint>),
}

impl<'p> Attempt<'_, 'p> {
    /// With at most so many orders of writes, all are counted by default.
    const FEW_ORDERS: u64 = 5_000;
    /// Each try but the last learns of more addresses.
    const MAX_TRIES: usize = 64;
    /// Bytes that the paths of all threads may take.
    const PATH_MEMORY: usize = 256 << 20;
    /// Relations are dense matrices over the events of an execution.
    const MAX_EVENTS: usize = 4_000;

    fn run(&self) -> Result<Progress, Diagnostic> {
        let image = Image::new(self.code);
        let observer = Observer::new(self.question, self.code, &image);
        let mut terms = Terms::default();
        let mut watch = Watch::new(&self.options.control);
        let threads = match self.paths(&observer, &mut terms, &mut watch) {
            Ok(threads) => threads,
            Err(Failure::Unsupported(error)) => return Err(error),
            Err(Failure::Stopped) => {
                return self.done(&observer, Findings::default(), false, true, false);
            }
        };
        let footprints = self.footprints(&threads, &image, &terms);
        if self.granule.is_none() && overlapping(&footprints) {
            return Ok(Progress::Split);
        }
        self.check_events(&threads, footprints.len())?;
        let all_orders = self.counts_all_orders(&threads, &terms);
        let context = Context {
            roles: skeleton::roles(self.model),
            observer,
            image,
            coherent: self.model.implies_coherence(),
            // Without coherence, a pair may be written before what it reads.
            atomic: self.model.implies_coherence() && self.model.implies_atomicity(),
            all_orders,
            has_flags: self.model.axioms().iter().any(|axiom| axiom.is_flag()),
            witnesses: self.options.witnesses,
            shown: self.shown()?,
        };
        let mut findings = Findings::default();
        let mut checker = Checker::new(self.model);
        let mut stopped = false;
        for_each_combination(&threads, |paths| {
            if watch.look().is_break() {
                stopped = true;
                return ControlFlow::Break(());
            }
            let skeleton = Skeleton::new(paths, &footprints, &context.image, &mut terms);
            let search = Search::new(
                &context,
                &skeleton,
                paths,
                self.code,
                &mut terms,
                &mut checker,
                &mut findings,
                &mut watch,
            );
            let flow = search.run();
            stopped = flow.is_break();
            if findings.overlap { ControlFlow::Break(()) } else { flow }
        });
        if findings.overlap {
            return match self.granule {
                None => Ok(Progress::Split),
                Some(_) => Err(self.misaligned()),
            };
        }
        if let Some(failure) = findings.failure {
            return Err(failure);
        }
        if findings.too_many_writes {
            return Err(Diagnostic::new(
                "more than 128 writes to one location; enumeration of executions is not made for that",
            ));
        }
        let uncovered: BTreeSet<_> =
            findings.uncovered.difference(&self.covered).copied().collect();
        if !uncovered.is_empty() && !stopped {
            return Ok(Progress::Cover(uncovered));
        }
        let cut = threads.iter().any(|paths| paths.cut);
        self.done(&context.observer, findings, cut, stopped, all_orders)
    }

    fn done(
        &self,
        observer: &Observer,
        findings: Findings,
        cut: bool,
        stopped: bool,
        counts_are_total: bool,
    ) -> Result<Progress, Diagnostic> {
        let ending = match (stopped, cut) {
            (true, _) if findings.states.is_full() => Ending::Stopped {
                reason: format!("there are more than {} final states", findings.states.len()),
            },
            (true, _) => Ending::Stopped { reason: self.stop_reason() },
            (false, true) => Ending::Bounded,
            (false, false) => Ending::Complete,
        };
        let (positive, negative) = (findings.states.positive, findings.states.negative);
        let mut flags: Vec<String> = Vec::new();
        for flag in self.model.axioms().iter().map(|axiom| axiom.flag()) {
            if findings.flags.contains(&flag) && !flags.contains(&flag) {
                flags.push(flag);
            }
        }
        let wild = findings.wild.iter().next();
        flags.extend(wild.map(|address| format!("access to invalid address {address:#x}")));
        let confirmed = findings.witnesses.into_iter().map(|witness| self.confirmed(witness));
        let witnesses = confirmed.collect::<Result<_, Diagnostic>>()?;
        Ok(Progress::Done(Box::new(Outcomes {
            quantifier: self.question.quantifier,
            states: findings.states.into_sorted(observer),
            positive,
            negative,
            counts_are_total,
            flags,
            ending,
            witnesses,
        })))
    }

    /// What the search says of an execution is a claim as everybody else's.
    fn confirmed(&self, witness: Execution) -> Result<Confirmed<Execution>, Diagnostic> {
        replay(self.code.program, self.question, witness, self.model).map_err(|reason| {
            let message = format!("internal error: an execution does not replay: {reason}");
            let help = "this is a bug in parallax; please report it with the test";
            Diagnostic::new(message).with_help(help)
        })
    }

    /// The relations that witnesses carry.
    fn shown(&self) -> Result<Vec<String>, Diagnostic> {
        let mut shown = self.model.shown().to_vec();
        for name in self.options.show {
            if !self.model.relations().any(|relation| relation == name) {
                let all: Vec<&str> = self.model.relations().collect();
                let message = format!("model '{}' has no relation '{name}'", self.model.name());
                return Err(
                    Diagnostic::new(message).with_help(format!("it has {}", all.join(", ")))
                );
            }
            if !shown.contains(name) {
                shown.push(name.clone());
            }
        }
        Ok(shown)
    }

    fn stop_reason(&self) -> String {
        match self.options.control.reason() {
            Some(Stop::Deadline) => "out of time".to_string(),
            Some(Stop::MemoryLimit) => "out of memory".to_string(),
            Some(Stop::Cancelled) | None => "interrupted".to_string(),
        }
    }

    fn paths(
        &self,
        observer: &Observer,
        terms: &mut Terms,
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Paths<'p>>, Failure> {
        let starts = &self.code.program.threads;
        let mut memory = Self::PATH_MEMORY;
        let explore = |(thread, start): (usize, _)| {
            let mut explorer = Explorer {
                code: self.code,
                terms: &mut *terms,
                limits: Limits { repeats: self.options.bound, ..Limits::default() },
                granule: self.granule,
                thread: thread as u32,
                threads: starts.len() as u32,
                asked: &observer.variables(thread as u32),
                memory,
                watch: &mut *watch,
            };
            let paths = explorer.explore(start)?;
            memory = memory.saturating_sub(paths.bytes);
            Ok(paths)
        };
        starts.iter().enumerate().map(explore).collect()
    }

    /// The bytes that need an initial write: all that are accessed, as far as that is known,
    /// and, where a pointer may lead anywhere, the start of every object.
    fn footprints(
        &self,
        threads: &[Paths<'p>],
        image: &Image,
        terms: &Terms,
    ) -> BTreeSet<Footprint> {
        let paths = threads.iter().flat_map(|paths| &paths.complete);
        let mut footprints = self.covered.clone();
        let mut open_sizes = BTreeSet::new();
        for event in paths.flat_map(|path| &path.events).filter(|event| event.bytes > 0) {
            match terms.as_constant(event.address).map(|bits| u64::try_from(bits.unsigned())) {
                Some(Ok(address)) => {
                    footprints.insert(Footprint { address, bytes: event.bytes });
                }
                _ => {
                    open_sizes.insert(event.bytes);
                }
            }
        }
        for bytes in open_sizes {
            for address in image.addresses() {
                let whole = Footprint { address, bytes };
                if !footprints.iter().any(|other| other.overlaps(whole)) {
                    footprints.insert(whole);
                }
            }
        }
        footprints
    }

    /// Executions of too many events are refused.
    fn check_events(&self, threads: &[Paths<'p>], initials: usize) -> Result<(), Diagnostic> {
        let longest = |paths: &Paths<'p>| {
            let lengths = paths.complete.iter().map(|path| path.events.len());
            lengths.max().unwrap_or(0)
        };
        let events = initials + threads.iter().map(longest).sum::<usize>();
        if events <= Self::MAX_EVENTS {
            return Ok(());
        }
        let most = Self::MAX_EVENTS;
        Err(Diagnostic::new(format!(
            "executions have up to {events} events; enumeration of executions is made for {most} at most"
        )))
    }

    /// Whether executions that differ only in the order of writes are distinguished.
    fn counts_all_orders(&self, threads: &[Paths<'p>], terms: &Terms) -> bool {
        match self.options.coherence {
            _ if self.model.observes_coherence_fully() => true,
            Coherence::Total => true,
            Coherence::Needed => false,
            Coherence::Auto => orders_of(threads, terms) <= Self::FEW_ORDERS,
        }
    }

    fn misaligned(&self) -> Diagnostic {
        Diagnostic::new("misaligned accesses overlap; this is not supported")
    }
}

fn overlapping(footprints: &BTreeSet<Footprint>) -> bool {
    // Sorted by address, then by size: any overlap shows between neighbours.
    footprints.iter().zip(footprints.iter().skip(1)).any(|(a, b)| a.overlaps(*b))
}

/// An upper bound on the number of orders of writes.
fn orders_of(threads: &[Paths<'_>], terms: &Terms) -> u64 {
    let mut writes: BTreeMap<Option<u128>, u64> = BTreeMap::new();
    for paths in threads {
        let mut most: BTreeMap<Option<u128>, u64> = BTreeMap::new();
        for path in &paths.complete {
            let mut here: BTreeMap<Option<u128>, u64> = BTreeMap::new();
            for event in &path.events {
                if matches!(event.action, Action::Write { .. }) {
                    let address = terms.as_constant(event.address).map(|bits| bits.unsigned());
                    *here.entry(address).or_default() += 1;
                }
            }
            for (address, count) in here {
                let most = most.entry(address).or_default();
                *most = (*most).max(count);
            }
        }
        for (address, count) in most {
            *writes.entry(address).or_default() += count;
        }
    }
    let factorial = |n: u64| (1..=n).fold(1u64, u64::saturating_mul);
    writes.values().map(|n| factorial(*n)).fold(1, u64::saturating_mul)
}

/// Calls `visit` with each choice of one path for each thread.
fn for_each_combination<'a, 'p>(
    threads: &'a [Paths<'p>],
    mut visit: impl FnMut(&[&'a Path<'p>]) -> ControlFlow<()>,
) {
    if threads.iter().any(|paths| paths.complete.is_empty()) {
        return;
    }
    let mut choice = vec![0usize; threads.len()];
    loop {
        let paths: Vec<&Path<'p>> =
            threads.iter().zip(&choice).map(|(paths, at)| &paths.complete[*at]).collect();
        if visit(&paths).is_break() {
            return;
        }
        let Some(last) =
            (0..threads.len()).rev().find(|t| choice[*t] + 1 < threads[*t].complete.len())
        else {
            return;
        };
        choice[last] += 1;
        choice[last + 1..].fill(0);
    }
}
