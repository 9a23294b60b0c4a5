//! Round after round: build the graph, look at what it reaches, track more.

use parallax_memory::Model;
use parallax_program::{Program, Property};
use parallax_solver::Stop;
use parallax_verdict::{
    Conclusion, Counts, Gaps, NONE_ENDS, Reason, Scope, Searched, Verdict, Violation, confirm,
    inputs_tried, no_execution_passes, stopped,
};
use rustc_hash::FxHashSet;

use crate::block::{Blocks, Ending, Halt};
use crate::claim;
use crate::control::Control;
use crate::declarative::Memory;
use crate::graph::Fate;
use crate::invariants;
use crate::options::{Analysis, Options, Order, Pruning, Reduction, Tuning};
use crate::oracle::{Model as Values, Oracle, Unanswered};
use crate::places::PlaceId;
use crate::proof;
use crate::refine::{Finding, Path, Refinement};
use crate::search::{Kept, Round, Search, Taken};
use crate::state::Precision;
use crate::text;

/// After so many rounds there will be no end.
const MOST_ROUNDS: u32 = 400;

/// Decides about the assertions of a program, under sequential consistency.
pub fn verify(program: &Program, model: &Model, options: &Options<'_>) -> Verdict {
    prove(program, model, options).0
}

/// The same, with a proof where the program is safe and one is wanted.
pub fn prove(program: &Program, model: &Model, options: &Options<'_>) -> (Verdict, Option<String>) {
    let Some(mut blocks) = Blocks::new(program, options.nondet) else {
        let mut gaps = Gaps::default();
        gaps.add(Reason {
            message: "the globals of the program are too large for this engine".to_string(),
            place: None,
            help: None,
        });
        let (counts, notes) = (Counts::default(), Vec::new());
        return (conclude(program, options, gaps, Vec::new(), counts, notes), None);
    };
    blocks.is_naive = options.tuning.reduction == Reduction::Naive;
    blocks.properties.clone_from(&options.properties);
    match model.facts().machine.filter(|_| options.tuning.interleaves(model)) {
        Some(memory) => blocks.memory = memory,
        None => {
            let way = (options.tuning.analysis != Analysis::Lazy, options.tuning.judge);
            blocks.graphs = Some(Memory::new(model, way, options.control.clone()));
        }
    }
    Rounds {
        oracle: Oracle::new(options.control.clone()),
        blocks,
        model,
        options,
        precision: Precision::default(),
        passed: FxHashSet::default(),
        pinned: FxHashSet::default(),
        banned: FxHashSet::default(),
        gaps: Gaps::default(),
        counts: Counts::default(),
        rounds: 0,
        made: 0,
        kept: None,
        resumes: false,
        has_refined: false,
        in_rows: 0,
        turned: None,
        splits: false,
        has_ended: false,
        reports: Vec::new(),
        proof: None,
    }
    .run(program)
}

/// How many orders of steps are looked at until all threads have ended, where the values of these globals
/// are tracked and those of no others, and no two orders are known to come to the same. None where a limit ends the
/// count, or something can fail. There is an end to it for programs without loops.
pub fn orders(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
    globals: &[&str],
) -> Option<u64> {
    let mut blocks = Blocks::new(program, options.nondet)?;
    blocks.is_naive = options.tuning.reduction == Reduction::Naive;
    blocks.memory = model.facts().machine?;
    let mut precision = Precision::default();
    for (global, address) in program.globals.iter().zip(blocks.code.addresses().to_vec()) {
        if globals.contains(&global.name.as_str()) {
            let terms = &mut blocks.values.terms;
            precision.values.extend(blocks.places.pieces(terms, address, global.size));
        }
    }
    let mut oracle = Oracle::new(options.control.clone());
    let (passed, pinned) = (FxHashSet::default(), FxHashSet::default());
    let about = (&precision, options.tuning);
    let mut search =
        Search::new(&mut blocks, &mut oracle, about, &options.control, &passed, &pinned);
    search.covers = false;
    let round = search.run();
    matches!(round, Ok(Round::Complete)).then(|| search.graph.count(Fate::Ends) as u64)
}

struct Rounds<'r, 'p> {
    blocks: Blocks<'p>,
    oracle: Oracle<'r>,
    model: &'r Model,
    options: &'r Options<'r>,
    precision: Precision,
    passed: FxHashSet<Ending>,
    pinned: FxHashSet<PlaceId>,
    banned: FxHashSet<PlaceId>,
    gaps: Gaps,
    counts: Counts,
    rounds: u32,
    /// How many states the last round has made.
    made: u64,
    /// What the last round has left, and the step on the way to its failure before which more is to be known.
    kept: Option<(Kept, usize)>,
    /// Whether this round goes on with what the last one has left.
    resumes: bool,
    /// Whether one of the ways to failures of this round has led to something new.
    has_refined: bool,
    /// How often refinement has followed a loop round by round.
    in_rows: u32,
    /// Another order in which states are looked at, for that reason.
    turned: Option<Order>,
    /// Whether states that differ in a predicate are kept apart, as conditions one by one were not enough.
    splits: bool,
    has_ended: bool,
    reports: Vec<String>,
    proof: Option<String>,
}

/// What comes after a round.
enum Next {
    Again,
    Enough,
    Found(Box<Violation>),
}

impl<'r, 'p> Rounds<'r, 'p> {
    fn run(mut self, program: &Program) -> (Verdict, Option<String>) {
        let mut violations = Vec::new();
        loop {
            self.rounds += 1;
            match self.round() {
                Ok(Next::Again) if self.rounds < MOST_ROUNDS => continue,
                Ok(Next::Again) => {
                    self.give_up(format!("no end of refinement after {MOST_ROUNDS} rounds"));
                }
                Ok(Next::Enough) => {}
                Ok(Next::Found(violation)) => violations.push(*violation),
                Err(Halt::Escaped { context }) => {
                    self.blocks.shared.insert(context);
                    self.forget();
                    continue;
                }
                Err(Halt::Unanswered(unanswered)) => self.gaps.add(why(unanswered)),
                Err(Halt::Astray) => self.give_up("a step cannot be repeated".to_string()),
            }
            break;
        }
        let mut notes = std::mem::take(&mut self.reports);
        if let Some(memory) = &self.blocks.graphs {
            notes
                .push(format!("executions as graphs: {} of them judged", memory.consistency.asked));
        }
        notes.push(format!(
            "abstraction: {} rounds, {} predicates, {} values, {} states, {} questions to the solver",
            self.rounds,
            self.precision.predicates.len(),
            self.precision.values.len(),
            self.counts.states,
            self.oracle.solved,
        ));
        if violations.is_empty() && self.gaps.is_empty() && !self.has_ended {
            notes.push(NONE_ENDS.to_string());
        }
        let proof = self.proof.take();
        let verdict = conclude(program, self.options, self.gaps, violations, self.counts, notes);
        let proof = proof.filter(|_| verdict.conclusion() == Conclusion::Safe);
        (verdict, proof)
    }

    fn give_up(&mut self, message: String) {
        self.gaps.add(Reason { message, place: None, help: None });
    }

    /// What formulas say of places means nothing any more.
    fn forget(&mut self) {
        self.precision = Precision::default();
        self.pinned.clear();
        self.banned.clear();
        self.passed.clear();
        self.gaps = Gaps::default();
    }

    fn round(&mut self) -> Result<Next, Halt> {
        let usual = self.options.tuning;
        let domain = if self.splits { usual.domain.apart() } else { usual.domain };
        let tuning = Tuning { order: self.turned.unwrap_or(usual.order), domain, ..usual };
        self.track_all();
        let (round, graph, kept) = {
            let mut search = Search::new(
                &mut self.blocks,
                &mut self.oracle,
                (&self.precision, tuning),
                &self.options.control,
                &self.passed,
                &self.pinned,
            );
            let kept = self.kept.take().filter(|_| self.turned.is_none());
            self.resumes = kept.is_some_and(|(kept, first)| search.resume(kept, first));
            let before = search.graph.made;
            let round = search.run();
            self.counts.states = search.graph.len() as u64;
            self.made = search.graph.made - before;
            match round {
                Ok(Round::Complete) => (round, Some(search.graph), None),
                _ => (round, None, search.keep()),
            }
        };
        if std::mem::take(&mut self.blocks.places.is_cut) {
            self.forget();
            return Ok(Next::Again);
        }
        let graph = graph.unwrap_or_default();
        let learns = |memory: &mut Memory<'_>| memory.has_learned();
        let has_learned = self.blocks.graphs.as_mut().is_some_and(learns);
        match round? {
            // What has left graphs may have mattered.
            _ if has_learned => Ok(Next::Again),
            Round::Complete if !self.blocks.blurs => Ok(self.keep_more_stores()),
            Round::Complete => {
                let has_ended = graph.count(Fate::Ends) > 0 || self.blocks.has_exited;
                let has_blocked = graph.count(Fate::Waits) > 0;
                let held_up = self.blocks.held_up.is_some() || self.blocks.assumes();
                if !has_ended && has_blocked && held_up {
                    let place = self.blocks.held_up.take().flatten();
                    self.gaps.add(no_execution_passes(place));
                }
                self.has_ended = has_ended;
                if tuning.reports_rounds {
                    let lines = invariants::lines(&mut self.blocks, &graph, &self.precision);
                    self.reports.extend(lines);
                }
                // The checker knows no steps of single instructions.
                if tuning.proves && !self.blocks.is_naive {
                    let about = (self.model.name(), &self.options.properties[..]);
                    let proof = proof::text(&self.blocks, &graph, &self.precision, about);
                    self.proof = Some(proof);
                }
                Ok(Next::Enough)
            }
            Round::Many(place) => Ok(self.ban(place)),
            Round::Reached(paths) => self.reached_all(paths, kept),
        }
    }

    /// Where executions are graphs, loops over flags and locks would make them grow if nothing were
    /// known of their values: all values are tracked that are few.
    fn track_all(&mut self) {
        if self.blocks.graphs.is_some() && self.options.tuning.domain.has_values() {
            let all = (0..self.blocks.places.len() as u32).map(PlaceId);
            let open = all.filter(|place| !self.banned.contains(place));
            self.precision.values.extend(open);
        }
    }

    /// A place has more values than are tracked.
    fn ban(&mut self, place: PlaceId) -> Next {
        if self.pinned.contains(&place) {
            let what = "an address, a size or a thread comes from a place with many values";
            self.give_up(format!("{what}: not supported by this engine"));
            return Next::Enough;
        }
        self.report(|rounds| {
            let name = text::place(&rounds.blocks, place);
            format!("{name} has many values, which are not tracked from now on")
        });
        let mut many = self.precision.compared_with(&self.blocks, place);
        many.retain(|place| !self.pinned.contains(place));
        for place in many.into_iter().chain([place]) {
            self.banned.insert(place);
            self.precision.values.remove(&place);
        }
        // They speak of the values that were tracked.
        self.precision.forget_predicates();
        Next::Again
    }

    /// Says what a round has come to.
    fn report(&mut self, what: impl FnOnce(&Self) -> String) {
        if self.options.tuning.reports_rounds {
            let report = format!(
                "round {}, {} states, {} new: {}",
                self.rounds,
                self.counts.states,
                self.made,
                what(self)
            );
            self.reports.push(report);
        }
    }

    /// What is tracked more than before.
    fn report_precision(&mut self, values: &FxHashSet<PlaceId>, predicates: usize, steps: usize) {
        self.report(|rounds| {
            let new = rounds.precision.values.difference(values);
            let mut new: Vec<PlaceId> = new.copied().collect();
            new.sort_unstable();
            let mut parts = Vec::new();
            if !new.is_empty() {
                let names: Vec<String> =
                    new.iter().map(|place| text::place(&rounds.blocks, *place)).collect();
                parts.push(format!("values of {}", names.join(", ")));
            }
            let new = rounds.precision.predicates.iter().skip(predicates);
            let formulas: Vec<String> =
                new.map(|it| text::formula(&rounds.blocks, it.term)).collect();
            if !formulas.is_empty() {
                parts.push(format!("whether {}", formulas.join("; ")));
            }
            if parts.is_empty() {
                parts.push("what is tracked, in another way".to_string());
            }
            format!("{steps} steps that are not possible; from now on: {}", parts.join("; "))
        });
    }

    fn refinement(&mut self) -> Refinement<'_, 'r, 'p> {
        Refinement {
            blocks: &mut self.blocks,
            oracle: &mut self.oracle,
            precision: &mut self.precision,
            domain: self.options.tuning.domain,
            way: self.options.tuning.refinement,
            parts: self.options.tuning.parts,
            scope: self.options.tuning.scope,
            pinned: &mut self.pinned,
            banned: &self.banned,
            first: usize::MAX,
        }
    }

    /// All ways on which failures were reached are looked at before the next round.
    fn reached_all(&mut self, paths: Vec<Vec<Taken>>, kept: Option<Kept>) -> Result<Next, Halt> {
        let mut first = usize::MAX;
        self.has_refined = false;
        for path in paths {
            let path = Path::new(&mut self.blocks, path);
            match self.reached(&path, &mut first)? {
                Next::Again => {}
                next => return Ok(next),
            }
        }
        let is_lazy = self.options.tuning.pruning == Pruning::Lazy;
        self.kept = kept.filter(|_| is_lazy).map(|kept| (kept, first));
        Ok(Next::Again)
    }

    /// What a way to a failure comes to. `first` is the first step before which more has to be known.
    fn reached(&mut self, path: &Path, first: &mut usize) -> Result<Next, Halt> {
        let (values, predicates) = (self.precision.values.clone(), self.precision.predicates.len());
        let mut refinement = self.refinement();
        let finding = refinement.refine(path)?;
        let needed_at = std::mem::replace(first, 0).min(refinement.first);
        match finding {
            Finding::Refined => {
                self.has_refined = true;
                let is_in_row = self.look_for_rows(path, predicates);
                *first = if is_in_row { 0 } else { needed_at };
                self.report_precision(&values, predicates, path.edges.len());
                Ok(Next::Again)
            }
            // What it shows is tracked since the last round, or because of another way of this one.
            Finding::Nothing if self.resumes || self.has_refined => {
                self.report(|_| "the graph is built anew".to_string());
                Ok(Next::Again)
            }
            Finding::Possible(_) | Finding::Nothing if path.is_loose() => {
                Ok(self.track_memory(path))
            }
            Finding::Possible(_) if !self.is_whole(path) => Ok(self.widen(path)),
            Finding::Possible(model) => Ok(self.possible(path, &model)),
            Finding::Nothing if self.is_needed(path) => {
                let what = "a size, a pointer or a thread that may be any of many";
                self.give_up(format!("{what}: not supported by this engine"));
                self.passed.extend(path.edges.last().map(|edge| edge.ending.clone()));
                Ok(Next::Again)
            }
            Finding::Nothing if self.may_widen() => Ok(self.widen(path)),
            Finding::Nothing if self.tries_harder(path)? => {
                self.report_precision(&values, predicates, path.edges.len());
                Ok(Next::Again)
            }
            Finding::Nothing => {
                let what = "refinement makes no progress: nothing is left to track";
                let about = path.edges.last().map(|edge| match &edge.ending {
                    Ending::Fails { message, .. } => format!("'{message}'"),
                    Ending::Lost { message, .. } => format!("'{message}'"),
                    _ => "a step".to_string(),
                });
                let about = about.unwrap_or_default();
                self.give_up(format!("{what} {about} cannot be reached"));
                Ok(Next::Enough)
            }
        }
    }

    /// Where refinement follows a loop round by round, it tracks more of what is copied where, and then
    /// states are looked at in another order for a while, so that other failures come first. False where it does not.
    fn look_for_rows(&mut self, path: &Path, new: usize) -> bool {
        const WHILE: u32 = 12;
        let mut refinement = self.refinement();
        if !refinement.is_in_rows(new) {
            return false;
        }
        if !refinement.learn_copies(path) {
            self.in_rows += 1;
            let is_turned = (self.in_rows / WHILE).is_multiple_of(2) && self.in_rows > 1;
            self.turned = is_turned.then_some(Order::BreadthFirst);
        }
        true
    }

    /// Whether the model allows what happens on a path, with all events that have left its graphs.
    fn is_whole(&mut self, path: &Path) -> bool {
        let Some(memory) = &mut self.blocks.graphs else { return true };
        let whole = path.whole().execution;
        !whole.is_vague() && memory.consistency.allows(&whole)
    }

    /// The path says nothing while memory that it depends on is no part of the execution.
    fn track_memory(&mut self, path: &Path) -> Next {
        let needed = path.needed_memory(&mut self.blocks);
        let Some(memory) = &mut self.blocks.graphs else { return Next::Again };
        let new: Vec<PlaceId> = needed
            .into_iter()
            .filter_map(|(address, place)| memory.track(address).then_some(place))
            .collect();
        if new.is_empty() {
            self.give_up("memory that is no part of executions".to_string());
            return Next::Enough;
        }
        let steps = path.edges.len();
        self.report(|rounds| {
            let names: Vec<String> =
                new.iter().map(|place| text::place(&rounds.blocks, *place)).collect();
            let names = names.join(", ");
            format!(
                "{steps} steps that depend on what is in memory; from now on: accesses to {names}"
            )
        });
        Next::Again
    }

    fn may_widen(&self) -> bool {
        self.blocks.graphs.as_ref().is_some_and(|memory| memory.window.is_some())
    }

    /// It does not, so that more is remembered.
    fn widen(&mut self, path: &Path) -> Next {
        let is_wider = self.blocks.graphs.as_mut().is_some_and(|memory| memory.widen());
        if is_wider {
            let steps = path.edges.len();
            self.report(|_| format!("{steps} steps that the model forbids; more is remembered"));
            return Next::Again;
        }
        self.give_up("the model forbids what no more memory rules out".to_string());
        Next::Enough
    }

    /// What is left where the usual refinement has found nothing new. False where that is nothing.
    fn tries_harder(&mut self, path: &Path) -> Result<bool, Halt> {
        let mut refinement = self.refinement();
        if refinement.domain.has_predicates() && refinement.learn_copies(path)
            || refinement.learn_all(path)?
        {
            return Ok(true);
        }
        if self.blocks.blurs && path.edges.iter().any(|edge| edge.is_blurred) {
            self.blocks.blurs = false;
            return Ok(true);
        }
        // Which conditions hold together may matter.
        if !self.splits && self.options.tuning.domain.apart() != self.options.tuning.domain {
            self.splits = true;
            self.report(|_| "states that differ in a condition are kept apart".to_string());
            return Ok(true);
        }
        // The same states in another order: something else may be reached first.
        let is_turned = self.blocks.graphs.is_some()
            || self.turned.is_some()
            || self.options.tuning.order == Order::BreadthFirst;
        if !is_turned {
            self.turned = Some(Order::BreadthFirst);
        }
        Ok(!is_turned)
    }

    fn is_needed(&self, path: &Path) -> bool {
        path.edges.last().is_some_and(|edge| matches!(edge.ending, Ending::Needs(_)))
    }

    /// The path can be taken.
    fn possible(&mut self, path: &Path, values: &Values) -> Next {
        let Some(last) = path.edges.last().cloned() else { return Next::Enough };
        if path.edges.iter().any(|edge| edge.is_blurred) {
            self.report(|rounds| {
                let most = rounds.blocks.most_stores;
                format!(
                    "looked for with {most} stores of a thread that others do not see, and no more"
                )
            });
            self.blocks.blurs = false;
            return Next::Again;
        }
        let before = path.edges.len().checked_sub(2).map(|at| path.edges[at].control.clone());
        let control: Control = before.unwrap_or_else(|| self.blocks.start().0);
        let place = self.blocks.location(&control, last.thread);
        match &last.ending {
            Ending::Fails { property, message, .. } if self.wants(*property) => {
                let found = claim::suspicion(&mut self.blocks, &mut self.oracle, path, values);
                let limits = &self.options.control;
                let found = found.map_err(|problem| {
                    let problem = limits.reason().map_or(problem, |stop| stopped(stop).message);
                    let seems = format!("what seems to violate '{property}' ({message})");
                    let message = format!("{seems} could not be repeated: {problem}");
                    Reason { message, place, help: None }
                });
                let confirmed =
                    found.and_then(|it| confirm(self.blocks.code.program, self.model, it, limits));
                match confirmed {
                    Ok(violation) => return Next::Found(Box::new(violation)),
                    Err(reason) => self.gaps.add(reason),
                }
            }
            Ending::Fails { property, message, .. } => {
                self.gaps.violated(*property, message, place);
            }
            Ending::Lost { message, .. } => {
                let message = format!("{message}: not supported by this engine");
                self.gaps.add(Reason { message, place, help: None });
            }
            Ending::Needs(_) | Ending::Goes => {
                self.give_up("an address that cannot be followed".to_string());
            }
        }
        self.passed.insert(last.ending.clone());
        Next::Again
    }

    /// What was found is due to stores that were not kept apart.
    fn keep_more_stores(&mut self) -> Next {
        self.blocks.blurs = true;
        let most = self.blocks.most_stores;
        if !self.blocks.keep_more_stores() {
            self.give_up(format!("more than {most} stores of a thread that others do not see"));
            return Next::Enough;
        }
        self.report(|rounds| {
            let most = rounds.blocks.most_stores;
            format!("stores of a thread that others do not see are kept apart up to {most}")
        });
        Next::Again
    }

    fn wants(&self, property: Property) -> bool {
        self.options.properties.contains(&property)
    }
}

fn why(Unanswered(stop): Unanswered) -> Reason {
    match stop {
        Stop::Outside(stop) => stopped(stop),
        Stop::Incomplete => Reason {
            message: "the solver does not decide what a path allows".to_string(),
            place: None,
            help: None,
        },
    }
}

fn conclude(
    program: &Program,
    options: &Options<'_>,
    mut gaps: Gaps,
    violations: Vec<Violation>,
    counts: Counts,
    notes: Vec<String>,
) -> Verdict {
    let sees = |property: &&Property| matches!(property, Property::Assert | Property::Overflow);
    let properties: Vec<Property> = options.properties.iter().filter(sees).copied().collect();
    if violations.is_empty() {
        gaps.unchecked(&options.properties, &properties);
    }
    let scope = Scope::Complete;
    let searched = Searched { scope, all: false, gaps, properties, counts, violations, notes };
    searched.conclude().restricted(inputs_tried(program, options.nondet))
}
