//! Stateless exploration of execution graphs: every consistent execution of a program under a
//! memory model, each once.

mod admission;
mod barriers;
mod buffering;
mod cat;
mod cells;
pub mod checkpoint;
mod claim;
mod clocks;
mod company;
mod consistency;
mod crew;
mod engine;
mod estimate;
mod event;
mod findings;
mod graph;
#[cfg(test)]
mod invariants;
mod judge;
mod known;
mod locks;
mod memory;
mod model;
mod observer;
mod options;
mod pairs;
mod place;
mod preserved;
mod psc;
mod quiet;
mod record;
mod retries;
mod search;
mod skips;
mod standing;
mod symmetry;
mod threads;
mod updates;
mod walker;
mod watched;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use parallax_control::Link;
use parallax_machine::{Code, Concrete, Idle, Limits};
use parallax_memory::{Model, Native};
use parallax_program::{Diagnostic, Diagnostics, Help, Program, Property, Span};
use parallax_query::Found;
pub use parallax_query::{Reduction, Reductions};
use parallax_verdict::{Reason, Scope, Searched, Verdict, confirm, inputs_tried};

use crate::admission::Admission;
use crate::buffering::Seen;
use crate::cat::CatJudge;
use crate::cells::Cells;
pub use crate::checkpoint::Checkpoint;
use crate::checkpoint::Mode;
use crate::clocks::Synchronisation;
use crate::company::Ending;
use crate::crew::{Crew, Part, Progress as Stage, Task, Whole, Work};
pub use crate::engine::{Company, Explore, can_explore, take_part};
pub use crate::estimate::{Estimate, estimate};
use crate::findings::{End, Findings};
use crate::graph::Graph;
use crate::judge::Judge;
use crate::known::Known;
use crate::memory::Memory;
use crate::observer::{INTERRUPTED, Observer, Sees, Shared};
pub use crate::options::Options;
use crate::place::{Place, Witness};
use crate::search::Search;
use crate::skips::Order;
use crate::standing::Runner;

/// How often cells may be split before giving up; each split starts the exploration anew.
const MOST_SPLITS: usize = 10_000;

/// After so many restarts because of places whose order makes a difference, all order is kept.
const MOST_ORDERED: usize = 64;

/// Deeply nested programs make deep recursion; address space costs nothing until it is used.
const STACK_BYTES: usize = 256 << 20;

/// Explores the executions of a program. The error is a model that the engine cannot use.
pub fn explore(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verdict, Diagnostics> {
    let verdict = explore_all(program, model, options);
    options.link.into_iter().for_each(Link::end);
    verdict
}

/// Explores what the process that leads gives to this one, until there is no more. Says who was lost, if
/// somebody was.
pub fn serve(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Option<String>, Diagnostics> {
    let Some(link) = options.link else {
        return Ok(None);
    };
    let native = model.facts().native;
    let watched = match native {
        Some(_) => None,
        None => admission::admit(model).map_err(|refusal| vec![refusal])?.watched,
    };
    let spins = options.reductions.contains(Reduction::SpinLoops);
    let mut ending = company::wait(link, || options.control.reason().is_some());
    loop {
        let (mode, known) = match ending {
            Ending::Next(mode, known) => (mode, known),
            Ending::Ended => return Ok(None),
            Ending::Lost(who) => return Ok(Some(who)),
        };
        let mut runner = runner(program, options, native);
        if spins && !mode.may_skip {
            runner.set_idle(Idle::One);
        }
        let exploration = Exploration {
            program,
            model,
            native,
            watched,
            runner: &runner,
            options,
            has_twins: mode.has_twins,
            observable: &mode.observable,
            may_skip: mode.may_skip,
            has_barriers: mode.has_barriers,
            may_unorder: mode.may_unorder,
            ordered: &mode.ordered,
            start: Instant::now(),
        };
        ending = exploration.follow(link, *known);
    }
}

/// What runs the threads of a program.
fn runner<'p>(program: &'p Program, options: &Options<'_>, native: Option<Native>) -> Runner<'p> {
    let spins = options.reductions.contains(Reduction::SpinLoops);
    let limits = Limits {
        repeats: options.unroll.unwrap_or(u32::MAX - 1),
        spins: true,
        idle: if spins { Idle::None } else { Idle::All },
        ..Limits::default()
    };
    Runner::new(Code::new(program), limits, options.nondet, native)
}

fn explore_all(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verdict, Diagnostics> {
    let native = model.facts().native;
    let admission = match native {
        Some(_) => Admission { watched: None },
        None => admission::admit(model).map_err(|refusal| vec![refusal])?,
    };
    let spins = options.reductions.contains(Reduction::SpinLoops);
    let mut runner = runner(program, options, native);
    let (mut cells, start) = (Cells::default(), Instant::now());
    let mut has_twins = options.reductions.contains(Reduction::Symmetry);
    let (mut observable, mut may_skip) = (BTreeSet::new(), spins);
    let mut has_barriers =
        options.reductions.contains(Reduction::Barriers) && barriers::are_in(program);
    // Who gets every bad execution gets no graph that the replayer refuses.
    let mut may_unorder = native.is_some() && options.every.is_none();
    let mut ordered = BTreeSet::new();
    let mut saved = None;
    if let Some(text) = options.checkpoint.and_then(|checkpoint| checkpoint.from.as_ref()) {
        let from = checkpoint::read(text, program.threads.len()).map_err(|error| vec![error])?;
        let Mode { may_skip: may, .. } = from.mode;
        (has_twins, has_barriers) = (from.mode.has_twins, from.mode.has_barriers);
        observable.clone_from(&from.mode.observable);
        may_unorder = from.mode.may_unorder;
        ordered.clone_from(&from.mode.ordered);
        if may_skip && !may {
            runner.set_idle(Idle::One);
        }
        may_skip = may;
        saved = Some(from);
    }
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
            observable: &observable,
            may_skip,
            has_barriers,
            may_unorder,
            ordered: &ordered,
            start,
        };
        let run = match saved.take() {
            Some(saved) => exploration.run(saved.known.clone(), Some(saved.progress())),
            None => exploration.run(Known::new(cells, program.threads.len()), None),
        };
        match run.map_err(|error| vec![error])? {
            Run::Done(verdict) => return Ok(*verdict),
            Run::Split(finer) => cells = finer,
            Run::Asymmetric => (cells, has_twins) = (Cells::default(), false),
            Run::BarrierOrder => (cells, has_barriers) = (Cells::default(), false),
            Run::OrderMatters(more) => {
                may_unorder = !more.is_empty() && ordered.len() < MOST_ORDERED;
                ordered.extend(more);
                cells = Cells::default();
            }
            Run::Observable(more) => {
                observable.extend(more);
                cells = Cells::default();
            }
            Run::Skipped => {
                runner.set_idle(Idle::One);
                (cells, may_skip) = (Cells::default(), false);
            }
        }
        if let Some(every) = options.every {
            every(Found::Restart);
        }
    }
    Err(vec![Diagnostic::new("the program accesses memory in too many different sizes")])
}

/// What is said of a checkpoint that leads nowhere.
fn unfit() -> Reason {
    Reason {
        message: "the checkpoint does not fit the program".to_string(),
        place: None,
        help: Some("begin again without it".into()),
    }
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
    /// Where stores are not quiet though they put what is there already: others can observe them.
    observable: &'a BTreeSet<u64>,
    /// Whether rounds that change nothing are left out, all of them.
    may_skip: bool,
    /// Whether the order in which threads arrive at barriers is left out.
    has_barriers: bool,
    /// Whether critical sections that change nothing, and read-modify-writes of whose results nobody
    /// makes use, may be left unordered, but at these places.
    may_unorder: bool,
    ordered: &'a BTreeSet<u64>,
    start: Instant,
}

enum Run {
    Done(Box<Verdict>),
    /// Cells were split: once more with these.
    Split(Cells),
    /// Symmetric threads can be distinguished: once more without that reduction.
    Asymmetric,
    /// The order of arrival at a barrier makes a difference: once more with it.
    BarrierOrder,
    /// The order in which these places are used makes a difference: once more with it. With none, it
    /// is not known where.
    OrderMatters(BTreeSet<u64>),
    /// Stores that were taken for quiet can be observed: once more without quiet stores there.
    Observable(BTreeSet<u64>),
    /// What rounds do that were left out may matter: once more with one of them for each loop.
    Skipped,
}

impl<'p> Exploration<'_, 'p> {
    /// Searches, from what is known of the program, and perhaps from where a search has come to.
    fn run(&self, mut known: Known, mut stage: Option<Stage>) -> Result<Run, Diagnostic> {
        loop {
            let Some(memory) = Memory::new(&self.runner.code, known) else {
                let mut findings = Findings::new(self.order());
                let message = "the globals of the program are too large for this engine";
                let message = message.to_string();
                findings.gaps.add(Reason { message, place: None, help: None });
                return Ok(Run::Done(Box::new(self.verdict(findings))));
            };
            let (whole, limit) = self.search(&memory, stage.take())?;
            if !whole.has_conflict {
                return Ok(self.concluded(&memory, whole, limit));
            }
            known = whole.known;
        }
    }

    /// What follows from what was found, up to a limit if one was reached.
    fn concluded(&self, memory: &Memory, whole: Whole, limit: Option<Reason>) -> Run {
        let Whole { mut findings, known, .. } = whole;
        let is_void = findings.end.is_some_and(|end| end != End::Found);
        if !is_void && !findings.recall(|at| self.look_up(memory, at)) {
            findings.gaps.add(Reason {
                message: "internal error: what was found is not where it was found".to_string(),
                place: None,
                help: Some("this is a bug in parallax; please report it with the program".into()),
            });
        }
        if let Some(reason) = limit {
            if is_void {
                findings = Findings::new(self.order());
            }
            findings.gaps.add(reason);
            return Run::Done(Box::new(self.verdict(findings)));
        }
        match findings.end {
            Some(End::Split) => Run::Split(known.into_cells()),
            Some(End::Asymmetric) => Run::Asymmetric,
            Some(End::BarrierOrder) => Run::BarrierOrder,
            Some(End::OrderMatters) => Run::OrderMatters(findings.ordered),
            Some(End::Found) => self.judged(findings),
            None => {
                let again = self.is_too_short(&findings);
                again.unwrap_or_else(|| self.judged(findings))
            }
        }
    }

    /// The verdict on all that was found; or once more, if some of it comes of there being more graphs
    /// than executions.
    fn judged(&self, findings: Findings) -> Run {
        let has_unordered = findings.has_unordered;
        let verdict = self.verdict(findings);
        let is_whole = verdict.scope.is_some() || verdict.reason.is_none() && !self.options.all;
        match has_unordered && !is_whole {
            true => Run::OrderMatters(BTreeSet::new()),
            false => Run::Done(Box::new(verdict)),
        }
    }

    /// Searches with all threads, from what is known of the program. What they find, and the limit
    /// that has ended the search, if one has. The error is that it cannot be written down.
    fn search(
        &self,
        memory: &Memory,
        stage: Option<Stage>,
    ) -> Result<(Whole, Option<Reason>), Diagnostic> {
        let mut stage = stage.unwrap_or_else(|| self.nothing(memory));
        let asked = std::mem::take(&mut stage.asked);
        let crew = Crew::new(stage);
        let mut shared = Shared::new(self.options, self.start, self.observable, self.ordered);
        if self.options.estimate {
            shared.estimate = self.estimate(self.searcher(memory, &shared, &crew));
        }
        self.runner.forget_asked();
        self.runner.has_had_asked(&asked);
        self.keep(memory, &crew)?;
        // Who gets every bad execution gets them in the order of one thread.
        let jobs = if self.options.every.is_some() { 1 } else { self.options.control.jobs.get() };
        let link = self.options.link;
        link.into_iter().for_each(|link| company::begin(link, self.mode(), &memory.known));
        thread::scope(|scope| {
            for _ in 1..jobs {
                let worker = thread::Builder::new().stack_size(STACK_BYTES);
                // Where there is no room for another thread, the others do its work.
                let _ = worker.spawn_scoped(scope, || self.work(memory, &shared, &crew));
            }
            if let Some(link) = link {
                scope.spawn(|| company::lead(link, &crew, &shared, self.runner));
            }
            let (end, ended) = channel();
            if self.options.checkpoint.is_some_and(|checkpoint| checkpoint.keep.is_some()) {
                scope.spawn(|| self.keep_at_times(memory, &shared, &crew, ended));
            }
            self.work(memory, &shared, &crew);
            drop(end);
        });
        let kept = self.keep(memory, &crew);
        let limit = shared.into_limit();
        // Who has come to the end needs nothing that is kept.
        if limit.is_some() {
            kept?;
        }
        Ok((crew.into_whole(), limit))
    }

    /// Explores what the process that leads gives to this one, until the search is over.
    fn follow(&self, link: &dyn Link, known: Known) -> Ending {
        let Some(memory) = Memory::new(&self.runner.code, known) else {
            // So it is with the one that leads.
            return company::wait(link, || self.options.control.reason().is_some());
        };
        let crew = Crew::part(self.nothing(&memory).whole);
        let shared = Shared::new(self.options, self.start, self.observable, self.ordered);
        thread::scope(|scope| {
            for _ in 0..self.options.control.jobs.get() {
                let worker = thread::Builder::new().stack_size(STACK_BYTES);
                let _ = worker.spawn_scoped(scope, || self.work(&memory, &shared, &crew));
            }
            company::follow(link, &crew, &shared, self.runner)
        })
    }

    /// Where a search begins.
    fn nothing(&self, memory: &Memory) -> Stage {
        let findings = Findings::new(self.order());
        let whole = Whole { findings, known: memory.known.clone(), has_conflict: false };
        let row = vec![(Place::ROOT, Part::Left(Vec::new()))];
        Stage { whole, row, asked: Vec::new() }
    }

    /// Writes down how far the search has come, if somebody wants to keep that.
    fn keep(&self, memory: &Memory, crew: &Crew<'p>) -> Result<(), Diagnostic> {
        let Some(keep) = self.options.checkpoint.and_then(|it| it.keep.as_ref()) else {
            return Ok(());
        };
        let text = crew.with_progress(|whole, row| {
            let asked = self.runner.asked();
            let write = || checkpoint::write(&self.mode(), &memory.known, asked, whole, row);
            (!whole.has_conflict).then(write)
        });
        text.map_or(Ok(()), |text| keep(&text))
    }

    fn keep_at_times(
        &self,
        memory: &Memory,
        shared: &Shared<'_>,
        crew: &Crew<'p>,
        ended: Receiver<()>,
    ) {
        /// In which everybody comes by a place where something can be handed in.
        const MOMENT: Duration = Duration::from_millis(20);
        let every = self.options.checkpoint.map_or(Duration::MAX, |it| it.every);
        while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            shared.collect();
            let is_over = ended.recv_timeout(MOMENT.min(every)) != Err(RecvTimeoutError::Timeout);
            // A disk that is full now may have room next time; at the end it is an error.
            let _ = self.keep(memory, crew);
            if is_over {
                return;
            }
        }
    }

    fn mode(&self) -> Mode {
        Mode {
            has_twins: self.has_twins,
            observable: self.observable.clone(),
            may_skip: self.may_skip,
            has_barriers: self.has_barriers,
            may_unorder: self.may_unorder,
            ordered: self.ordered.clone(),
        }
    }

    /// What one thread does: what is left, and what others give away. After a panic there is no
    /// answer, and nobody waits for one.
    fn work(&self, memory: &Memory, shared: &Shared<'_>, crew: &Crew<'p>) {
        let worked = catch_unwind(AssertUnwindSafe(|| {
            let mut search = self.searcher(memory, shared, crew);
            while !shared.is_over()
                && let Some(Task { segment, work }) = crew.take()
            {
                let explored = match work {
                    Work::Begun(begun) => Some(search.take_over(segment, *begun)),
                    Work::Left(left) => {
                        search.take_up(segment, &left, (self.start(), memory.clone()))
                    }
                };
                // On the way it may have become another segment.
                match (explored, search.observer.segment()) {
                    (Some(explored), Some(segment)) => crew.finish(segment, explored),
                    _ => shared.end(unfit()),
                }
            }
        }));
        if worked.is_err() {
            shared.break_off();
        }
        if shared.is_over() {
            crew.stop();
        }
    }

    /// What is found at a place of the search.
    fn look_up(&self, memory: &Memory, at: &Witness) -> Option<Findings> {
        let control = self.options.control.finishing();
        let properties = self.options.properties.clone();
        let options = Options {
            control,
            properties,
            every: None,
            checkpoint: None,
            link: None,
            ..*self.options
        };
        let shared = Shared::new(&options, self.start, self.observable, self.ordered);
        let crew = Crew::new(self.nothing(memory));
        // What panics is not found.
        let look =
            || self.searcher(memory, &shared, &crew).look_up(at, self.start(), memory.clone());
        catch_unwind(AssertUnwindSafe(look)).ok().flatten()
    }

    /// A search that has not begun.
    fn searcher<'s>(
        &'s self,
        memory: &Memory,
        shared: &'s Shared<'s>,
        crew: &'s Crew<'p>,
    ) -> Search<'s, 'p> {
        let code = &self.runner.code;
        let judge = match self.native {
            Some(model) => Judge::native(model),
            None => {
                let judge = CatJudge::new(code, self.model, self.watched);
                Judge::cat(judge, self.model.facts().refines)
            }
        };
        let observer = Observer::new(shared, code, self.sees(), self.order());
        let observer = observer.judging_by(self.model);
        Search::new(self.runner, memory.clone(), self.start(), judge, observer, crew)
    }

    /// Whether something may be in the executions that were left out. What was found without them
    /// is found.
    fn is_too_short(&self, findings: &Findings) -> Option<Run> {
        if findings.has_found() && !self.options.all {
            return None;
        }
        if findings.twins.iter().any(|twin| self.runner.has_asked(*twin)) {
            return Some(Run::Asymmetric);
        }
        if findings.has_gap() {
            return None;
        }
        let skips = &findings.skips;
        let observable = skips.observable();
        if !observable.is_subset(self.observable) {
            return Some(Run::Observable(observable));
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
            by_file: self.native.is_none(),
        }
    }

    fn synchronisation(&self) -> Synchronisation {
        match self.native.or(self.model.facts().refines) {
            Some(Native::Rc20) => Synchronisation::Standard2020,
            Some(Native::Imm) => Synchronisation::Imm,
            Some(Native::Sc | Native::Ra | Native::Rc11) => Synchronisation::Standard2011,
            Some(Native::Tso | Native::Pso) if self.sees().races => Synchronisation::Standard2011,
            _ => Synchronisation::Ignored,
        }
    }

    fn estimate(&self, mut search: Search<'_, 'p>) -> Option<(f64, f64)> {
        search.observer = search.observer.silent();
        // Should it panic, the search will do so as well, and report it.
        catch_unwind(AssertUnwindSafe(|| estimate::sampled(&mut search))).ok().flatten()
    }

    /// The graph in which nothing has happened.
    fn start(&self) -> Graph<'p> {
        let mut graph = Graph::new(self.synchronisation(), self.program.slots());
        graph.has_twins = self.has_twins;
        graph.has_barriers = self.has_barriers;
        let reductions = self.options.reductions;
        graph.has_locks = self.may_unorder && reductions.contains(Reduction::Locks);
        graph.has_updates = self.may_unorder && reductions.contains(Reduction::Updates);
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

    fn verdict(&self, mut findings: Findings) -> Verdict {
        let (counts, ended) = (findings.counts, findings.endings());
        let mut gaps = std::mem::take(&mut findings.gaps);
        self.buffering(&findings.buffering).into_iter().for_each(|reason| gaps.add(reason));
        let mut violations = Vec::new();
        for found in findings.take_found() {
            match confirm(self.program, self.model, found, &self.options.control) {
                Ok(violation) => violations.push(violation),
                // The machine keeps together what the search takes apart.
                Err(_) if findings.has_loose_parts => gaps.add(Reason {
                    message: format!("{INTERRUPTED}: not supported by this engine"),
                    place: None,
                    help: None,
                }),
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
                Help::from("make the read an acquire, or the write a release")
                    .and(Help::TryEngines(vec!["bounded"])),
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
