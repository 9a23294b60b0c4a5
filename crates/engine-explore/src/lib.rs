//! Stateless exploration of execution graphs: every consistent execution of a program under a
//! memory model, each once.

mod admission;
mod barriers;
mod buffering;
mod cat;
mod claim;
mod clocks;
mod consistency;
mod crew;
mod estimate;
mod event;
mod graph;
mod judge;
mod memory;
mod model;
mod observer;
mod options;
mod psc;
mod quiet;
mod retries;
mod search;
mod skips;
mod standing;
mod symmetry;
mod threads;

use std::collections::BTreeSet;
use std::time::Instant;

use parallax_machine::{Code, Concrete, Idle, Limits};
use parallax_memory::Model;
use parallax_program::{Diagnostic, Diagnostics, Program, Property, Span};
use parallax_verdict::{Counts, Endings, Reason, Scope, Searched, Verdict, confirm, inputs_tried};

use crate::admission::Admission;
use crate::buffering::Seen;
use crate::cat::CatJudge;
use crate::clocks::Synchronisation;
use crate::crew::Crew;
use crate::graph::Graph;
use crate::judge::Judge;
use crate::memory::{Cells, Memory};
use crate::model::Native;
use crate::observer::{Observer, Sees, Shared};
pub use crate::options::{Every, Options, Progress, Reduction, Reductions, Told};
use crate::search::Search;
use crate::skips::{Order, Skips};
use crate::standing::Runner;
use crate::threads::Numbers;

/// How often cells may be split before giving up; each split starts the exploration anew.
const MOST_SPLITS: usize = 10_000;

/// Explores the executions of a program. The error is a model that the engine cannot use.
pub fn explore(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verdict, Diagnostics> {
    let native = Native::named(model.name()).filter(|_| model.is_builtin());
    let admission = match native {
        Some(_) => Admission { watched: None },
        None => admission::admit(model).map_err(|refusal| vec![refusal])?,
    };
    let spins = options.reductions.contains(Reduction::SpinLoops);
    let limits = Limits {
        repeats: options.unroll.unwrap_or(u32::MAX - 1),
        spins: true,
        idle: if spins { Idle::None } else { Idle::All },
        ..Limits::default()
    };
    let mut runner = Runner::new(Code::new(program), limits, options.nondet, native);
    let (mut cells, start) = (Cells::new(), Instant::now());
    let mut has_twins = options.reductions.contains(Reduction::Symmetry);
    let (mut noticed, mut may_skip) = (BTreeSet::new(), spins);
    let mut has_barriers =
        options.reductions.contains(Reduction::Barriers) && barriers::are_in(program);
    for _ in 0..MOST_SPLITS {
        let watched = admission.watched;
        let exploration = Exploration {
            program,
            model,
            native,
            watched,
            runner: &runner,
            options,
            has_twins,
            noticed: &noticed,
            may_skip,
            has_barriers,
            start,
        };
        match exploration.run(cells)? {
            Run::Done(verdict) => return Ok(*verdict),
            Run::Split(finer) => cells = finer,
            Run::Asymmetric => (cells, has_twins) = (Cells::new(), false),
            Run::Crowded => (cells, has_barriers) = (Cells::new(), false),
            Run::Noticed(more) => {
                noticed.extend(more);
                cells = Cells::new();
            }
            Run::Skipped => {
                runner.set_idle(Idle::One);
                (cells, may_skip) = (Cells::new(), false);
            }
        }
        if let Some(every) = options.every {
            every(Told::Anew);
        }
    }
    Err(vec![Diagnostic::new("the program accesses memory in too many different sizes")])
}

/// The expected number of executions, and the standard deviation of that expectation. None where
/// it cannot be told; the error is a model that the engine cannot use.
pub fn estimate(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Option<(f64, f64)>, Diagnostics> {
    let told = std::sync::Mutex::new(None);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let progress = |progress: &Progress| {
        *told.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = progress.estimate;
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let options = Options {
        properties: Vec::new(),
        jobs: 1,
        estimate: true,
        all: true,
        stop: Some(&stop),
        progress: Some(&progress),
        every: None,
        ..*options
    };
    explore(program, model, &options)?;
    Ok(told.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

struct Exploration<'a, 'p> {
    program: &'p Program,
    model: &'a Model,
    native: Option<Native>,
    /// The axiom by which load buffering is watched for.
    watched: Option<usize>,
    runner: &'a Runner<'p>,
    options: &'a Options<'a>,
    /// Whether threads that do the same are kept in order.
    has_twins: bool,
    /// Where stores are not quiet though they put what is there already.
    noticed: &'a BTreeSet<u64>,
    /// Whether rounds that change nothing are left out, all of them.
    may_skip: bool,
    /// Whether the order in which threads arrive at barriers is left out.
    has_barriers: bool,
    start: Instant,
}

enum Run {
    Done(Box<Verdict>),
    /// Cells were split: once more with these.
    Split(Cells),
    /// Threads that do the same can be told apart: once more without using that they cannot.
    Asymmetric,
    /// The order of arrival at a barrier makes a difference: once more with it.
    Crowded,
    /// Stores that were taken for quiet are noticed: once more without quiet stores there.
    Noticed(BTreeSet<u64>),
    /// What rounds do that were left out may matter: once more with one of them for each loop.
    Skipped,
}

impl<'p> Exploration<'_, 'p> {
    fn run(&self, cells: Cells) -> Result<Run, Diagnostics> {
        let shared = Shared::new(self.options, self.start, self.noticed);
        let numbers = Numbers::new(self.program.threads.len());
        let Some(memory) = Memory::new(&self.runner.code, cells) else {
            shared.findings().gaps.add(Reason {
                message: "the globals of the program are too large for this engine".to_string(),
                place: None,
                help: None,
            });
            return Ok(Run::Done(Box::new(self.verdict(
                &shared,
                Counts::default(),
                Endings::default(),
            ))));
        };
        let crew = Crew::new(self.options.jobs.max(1));
        let search = || {
            let judge = match self.native {
                Some(model) => Judge::native(model),
                None => {
                    let judge = CatJudge::new(&self.runner.code, self.model, self.watched);
                    Judge::cat(judge, self.is_like_rc11())
                }
            };
            let code = &self.runner.code;
            let observer = Observer::new(&shared, code, self.sees(), self.order());
            let observer = observer.judging_by(self.model);
            let graph = self.start();
            let memory = memory.clone();
            Search::new(self.runner, memory, graph, judge, &numbers, observer, &crew)
        };
        let work = |is_first: bool| {
            let mut search = search();
            if is_first && self.options.estimate {
                self.estimate(&mut search, &shared);
            }
            if is_first {
                search.begin();
                search.run();
            }
            while !search.memory.is_stale && !shared.is_over() {
                match crew.take() {
                    Some(task) => search.take_over(task),
                    None => break,
                }
            }
            crew.leave();
            let finer = search.memory.is_stale.then(|| std::mem::take(&mut search.memory.cells));
            if finer.is_some() {
                shared.end();
            }
            search.observer.skips.settle(&search.memory);
            let Observer { counts, ended, skips, .. } = search.observer;
            (counts, ended.assumption, skips, finer)
        };
        let results = std::thread::scope(|scope| {
            let others: Vec<_> =
                (1..self.options.jobs).map(|_| scope.spawn(|| work(false))).collect();
            let mut results = vec![work(true)];
            results.extend(others.into_iter().filter_map(|other| other.join().ok()));
            results
        });
        let (mut counts, mut ended) = (Counts::default(), Endings::default());
        let mut skips = Skips::new(self.order());
        for (more, assumption, seen, finer) in results {
            if let Some(cells) = finer {
                return Ok(Run::Split(cells));
            }
            skips.join(&seen);
            counts.executions += more.executions;
            counts.blocked += more.blocked;
            counts.events += more.events;
            assumption.into_iter().for_each(|place| ended.held_up(place));
        }
        (ended.executions, ended.blocked) = (counts.executions, counts.blocked);
        if shared.findings().are_twins_told_apart {
            return Ok(Run::Asymmetric);
        }
        if shared.findings().are_barriers_broken {
            return Ok(Run::Crowded);
        }
        if let Some(again) = self.is_too_short(&shared, &skips) {
            return Ok(again);
        }
        Ok(Run::Done(Box::new(self.verdict(&shared, counts, ended))))
    }

    /// Whether something may be in the rounds that were left out. What was found without them is
    /// found.
    fn is_too_short(&self, shared: &Shared<'_>, skips: &Skips) -> Option<Run> {
        let findings = shared.findings();
        if !findings.gaps.is_empty() || !findings.found.is_empty() && !self.options.all {
            return None;
        }
        let noticed = skips.noticed();
        if !noticed.is_subset(self.noticed) {
            return Some(Run::Noticed(noticed));
        }
        // What comes after an error of memory is open, whoever asks for what.
        let races = self.options.properties.contains(&Property::Race) && skips.may_race();
        (self.may_skip && (races || skips.may_be_freed())).then_some(Run::Skipped)
    }

    /// What is known of happens-before while a graph grows.
    fn order(&self) -> Order {
        match (self.synchronisation(), self.native) {
            (Synchronisation::Ignored, Some(_)) => Order::Prefix,
            (Synchronisation::Ignored, None) => Order::Unknown,
            _ => Order::Clocks,
        }
    }

    /// What the engine sees of orders between accesses.
    fn sees(&self) -> Sees {
        let is_asked = self.options.properties.contains(&Property::Race);
        Sees {
            races: is_asked && self.native.is_some() && self.model.flags_races(),
            happens_before: self.native.is_some_and(Native::is_of_language),
        }
    }

    fn synchronisation(&self) -> Synchronisation {
        match self.native {
            Some(Native::Rc20) => Synchronisation::Standard2020,
            Some(Native::Sc | Native::Ra | Native::Rc11) => Synchronisation::Standard2011,
            Some(Native::Tso | Native::Pso) if self.sees().races => Synchronisation::Standard2011,
            None if self.is_like_rc11() => Synchronisation::Standard2011,
            _ => Synchronisation::Ignored,
        }
    }

    /// Whether the model's file has all of the synchronisation of `rc11`, and acyclic orders that
    /// nothing leaves which comes last in all of them.
    fn is_like_rc11(&self) -> bool {
        self.model.is_builtin() && self.model.name() == "imm"
    }

    fn estimate<'a>(&self, search: &mut Search<'a, 'p>, shared: &Shared<'_>) {
        let silent = search.observer.silent();
        let observer = std::mem::replace(&mut search.observer, silent);
        if let Some(estimate) = estimate::estimate(search) {
            let _ = shared.estimate.set(estimate);
        }
        search.observer = observer;
    }

    /// The graph in which nothing has happened.
    fn start(&self) -> Graph<'p> {
        let mut graph = Graph::new(self.synchronisation());
        graph.has_twins = self.has_twins;
        graph.has_barriers = self.has_barriers;
        let code = &self.runner.code;
        for (number, thread) in self.program.threads.iter().enumerate() {
            let args: Vec<_> =
                thread.args.iter().map(|arg| code.evaluate(arg, &[], &mut Concrete)).collect();
            graph.reserve(number);
            let standing = self.runner.start(number as u32, thread.function, &args);
            graph.threads[number].standings.push(standing);
        }
        for (older, pair) in self.program.threads.windows(2).enumerate() {
            let is_same = pair[0].function == pair[1].function && pair[0].args == pair[1].args;
            if self.has_twins && is_same {
                graph.join_twins(older, older + 1);
            }
        }
        graph
    }

    fn verdict(&self, shared: &Shared<'_>, counts: Counts, ended: Endings) -> Verdict {
        let mut findings = shared.findings();
        let mut gaps = std::mem::take(&mut findings.gaps);
        self.buffering(&findings.buffering).into_iter().for_each(|reason| gaps.add(reason));
        let mut violations = Vec::new();
        for found in std::mem::take(&mut findings.found) {
            match confirm(self.program, self.model, found) {
                Ok(violation) => violations.push(violation),
                Err(refused) => gaps = refused.into(),
            }
        }
        // Models without rules of their own here raise flags.
        let sees = |property: &&Property| **property != Property::Race || self.model.flags_races();
        let properties: Vec<Property> =
            self.options.properties.iter().filter(sees).copied().collect();
        let mut notes = Vec::new();
        if let Some(reason) = gaps.reason().filter(|_| !violations.is_empty() && self.options.all) {
            notes.push(format!("not every execution is counted: {}", reason.message));
        }
        if let Some(bound) = self.options.unroll.filter(|_| findings.is_cut_short)
            && self.options.properties.contains(&Property::Liveness)
        {
            let rounds = format!("loops that go round more than {bound} times were cut");
            notes.push(format!("{rounds}: whether they end was not looked at"));
        }
        if violations.is_empty() {
            gaps.unchecked(&self.options.properties, &properties);
            ended.weigh(&mut gaps, &mut notes);
        }
        let inputs = inputs_tried(self.program, self.options.nondet);
        let (scope, all) = (self.scope(findings.is_cut), self.options.all);
        let searched = Searched { scope, all, gaps, properties, counts, violations, notes };
        searched.conclude().restricted(inputs)
    }

    /// Why there may be executions that the search does not look for.
    fn buffering(&self, seen: &Seen) -> Option<Reason> {
        let sites = seen.suspect()?;
        let code = &self.runner.code;
        let [read, write] = sites.map(|site| site.map(|site| code.span(site)));
        let shown = |span: Option<Span>| span.map(|span| self.program.source.location(span));
        let line = shown(write).map_or(String::new(), |at| format!(" in line {}", at.line));
        Some(Reason {
            message: format!(
                "under '{}' this read may take effect after the write{line}, and another thread \
                 see the write before (load buffering): such executions are not explored",
                self.model.name()
            ),
            place: shown(read),
            help: Some(
                "make the read an acquire, the write a release, or try --engine bounded"
                    .to_string(),
            ),
        })
    }

    fn scope(&self, is_cut: bool) -> Scope {
        match self.options.unroll {
            Some(bound) if is_cut => Scope::Bounded(bound),
            _ => Scope::Complete,
        }
    }
}
