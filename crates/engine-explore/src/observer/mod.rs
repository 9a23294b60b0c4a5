//! What the search is for: counting executions, and looking for what is wrong with them.

mod checks;
mod whole;

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use parallax_control::Progress;
use parallax_machine::{Code, Fault, Site};
use parallax_memory::Model;
use parallax_program::{Help, Property, Setting};
use parallax_query::Found;
use parallax_verdict::{Reason, Suspicion, stopped};

use whole::{Sections, sections};

use crate::cat::Look;
use crate::claim::{claim, step_of};
use crate::crew::Segment;
use crate::event::{Id, Kind, Loc};
use crate::findings::{End, Findings, kind};
use crate::graph::Graph;
use crate::memory::{BadAccess, Memory};
use crate::options::Options;
use crate::retries;
use crate::skips::Order;
use crate::standing::{At, Standing};
use crate::symmetry;
use crate::watched::Watched;

pub use checks::INTERRUPTED;

/// What all threads of a search share.
pub struct Shared<'a> {
    pub options: &'a Options<'a>,
    pub start: Instant,
    /// Where stores are not quiet; see [`crate::quiet`].
    pub observable: &'a BTreeSet<u64>,
    /// Places whose uses come in every order; see [`crate::locks`] and [`crate::updates`].
    pub ordered: &'a BTreeSet<u64>,
    /// Why the search has to end though not all is explored.
    limit: OnceLock<Reason>,
    executions: AtomicU64,
    blocked: AtomicU64,
    pub estimate: Option<(f64, f64)>,
    /// How often everybody was asked to hand in what was found so far.
    round: AtomicU32,
}

impl<'a> Shared<'a> {
    pub fn new(
        options: &'a Options<'a>,
        start: Instant,
        observable: &'a BTreeSet<u64>,
        ordered: &'a BTreeSet<u64>,
    ) -> Shared<'a> {
        Shared {
            options,
            start,
            observable,
            ordered,
            limit: OnceLock::new(),
            executions: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            estimate: None,
            round: AtomicU32::new(0),
        }
    }

    pub fn is_over(&self) -> bool {
        self.limit.get().is_some()
    }

    /// Asks everybody to hand in what was found so far.
    pub fn collect(&self) {
        self.round.fetch_add(1, Ordering::Relaxed);
    }

    pub fn limit(&self) -> Option<Reason> {
        self.limit.get().cloned()
    }

    /// The search ends, for somebody else's reason.
    pub fn end(&self, reason: Reason) {
        let _ = self.limit.set(reason);
    }

    /// A thread has panicked.
    pub fn break_off(&self) {
        self.end(Reason {
            message: "internal error while exploring".to_string(),
            place: None,
            help: Some("this is a bug in parallax; please report it with the program".into()),
        });
    }

    pub fn into_limit(self) -> Option<Reason> {
        self.limit.into_inner()
    }
}

/// What is known of orders between accesses.
#[derive(Clone, Copy)]
pub struct Sees {
    /// Whether races are looked for event by event.
    pub races: bool,
    /// Whether the model's own happens-before is followed: in it, the use of an object comes before
    /// its end or not, and what is torn is a race.
    pub happens_before: bool,
    /// Whether a cat file judges executions, so that a step takes the longer the more events there are.
    pub by_file: bool,
}

pub struct Observer<'a, 'p> {
    pub shared: &'a Shared<'a>,
    pub findings: Findings,
    /// What these have seen of threads.
    pub watched: Watched,
    /// What is explored; none in an estimate.
    segment: Option<Segment>,
    /// Whether the search ends here.
    is_over: bool,
    sees: Sees,
    code: &'a Code<'p>,
    /// Whether there are rounds that may be skipped.
    has_rounds: bool,
    /// Says whether an access may come after the end of its object.
    model: Option<&'a Model>,
    /// Steps until the clock is looked at.
    patience: u32,
    /// Executions, and blocked ones, that are in the totals already.
    in_totals: (u64, u64),
    /// Nothing is reported.
    is_silent: bool,
    /// No thread can go on any more.
    is_at_end: bool,
    /// The last round in which something was handed in.
    round: u32,
}

/// What judging so many events by a cat file costs, in steps.
fn cost(events: usize) -> u32 {
    u32::try_from(events * events / 1024).unwrap_or(u32::MAX)
}

/// What an event costs among so many others, in steps: it is compared with those of its place.
fn share(events: usize) -> u32 {
    u32::try_from(events / 64).unwrap_or(u32::MAX)
}

impl<'a, 'p> Observer<'a, 'p> {
    /// Steps between two looks at the clock. Tests want many.
    const PATIENCE: u32 = if cfg!(test) { 16 } else { 1024 };
    /// What so many steps cost, in nominal nanoseconds.
    const WORK: u64 = 300_000;

    pub fn new(
        shared: &'a Shared<'a>,
        code: &'a Code<'p>,
        sees: Sees,
        order: Order,
    ) -> Observer<'a, 'p> {
        Observer {
            shared,
            findings: Findings::new(order),
            watched: Watched::default(),
            segment: None,
            is_over: false,
            sees,
            code,
            has_rounds: code.has_rounds(),
            model: None,
            patience: 1,
            in_totals: (0, 0),
            is_silent: false,
            is_at_end: false,
            round: shared.round.load(Ordering::Relaxed),
        }
    }

    pub fn judging_by(self, model: &'a Model) -> Observer<'a, 'p> {
        Observer { model: Some(model), ..self }
    }

    /// One that has nothing to count.
    pub fn silent(&self) -> Observer<'a, 'p> {
        let order = self.findings.skips.order();
        let other = Observer::new(self.shared, self.code, self.sees, order);
        Observer { is_silent: true, ..other }
    }

    /// Accounts for what threads have computed, after which it is time to look at the clock.
    pub fn account(&mut self, computed: u64) {
        if computed > 0 {
            self.shared.options.control.spend(computed);
            self.patience = 1;
        }
    }

    pub fn is_over(&mut self) -> bool {
        self.patience -= 1;
        if self.patience == 0 {
            self.patience = Self::PATIENCE;
            self.look_at_limits();
        }
        self.is_over || self.segment.as_ref().is_some_and(Segment::is_cancelled)
    }

    pub fn begin(&mut self, segment: Segment) {
        self.segment = Some(segment);
        self.is_over = false;
    }

    /// Whether it is time to hand in what was found; true once for each time.
    pub fn is_due(&mut self) -> bool {
        let round = self.shared.round.load(Ordering::Relaxed);
        std::mem::replace(&mut self.round, round) != round
    }

    pub fn segment(&self) -> Option<&Segment> {
        self.segment.as_ref()
    }

    /// What was found in the segment that ends here.
    pub fn finish(&mut self) -> Findings {
        self.update_totals();
        self.in_totals = (0, 0);
        self.watched.clear();
        let order = self.findings.skips.order();
        std::mem::replace(&mut self.findings, Findings::new(order))
    }

    /// What is found here ends the search.
    pub fn end_by(&mut self, end: End) {
        self.findings.end_by(end);
        self.is_over = true;
    }

    /// Somebody may notice in which order these places are used.
    pub fn keep_order(&mut self, places: impl IntoIterator<Item = u64>) {
        self.findings.ordered.extend(places);
        self.end_by(End::OrderMatters);
    }

    /// Adds what is new to the totals.
    fn update_totals(&mut self) -> (u64, u64) {
        let more = |total: &AtomicU64, now: u64, before: &mut u64| {
            let new = now - std::mem::replace(before, now);
            total.fetch_add(new, Ordering::Relaxed) + new
        };
        let (shared, counts) = (self.shared, &self.findings.counts);
        let executions = more(&shared.executions, counts.executions, &mut self.in_totals.0);
        (executions, more(&shared.blocked, counts.blocked, &mut self.in_totals.1))
    }

    fn look_at_limits(&mut self) {
        let control = &self.shared.options.control;
        if let Some(stop) = control.reason() {
            // Whoever is first names the limit.
            let _ = self.shared.limit.set(stopped(stop));
        }
        self.is_over |= self.shared.is_over();
        if control.progress.is_some() {
            let (executions, blocked) = self.update_totals();
            control.report(|| Progress {
                executions,
                blocked,
                states: None,
                elapsed: self.shared.start.elapsed(),
                estimate: self.shared.estimate,
            });
        }
        control.spend(Self::WORK);
    }

    fn wants(&self, property: Property) -> bool {
        self.shared.options.properties.contains(&property)
    }

    fn place(&self, site: Option<Site>) -> Option<parallax_program::Location> {
        site.map(|site| self.code.program.source.origin(self.code.span(site)))
    }

    /// The same before a step that takes long, because a model's file judges so many events: the
    /// clock is looked at more often.
    pub fn is_over_before(&mut self, events: usize) -> bool {
        let times = u32::try_from((events / 16).pow(2)).unwrap_or(u32::MAX);
        self.patience = self.patience.min(Self::PATIENCE / times.saturating_add(1) + 1);
        self.is_over()
    }

    /// An execution has more events than the model's file can judge in time.
    pub fn too_long(&mut self, most: usize) {
        if !self.is_silent {
            let message =
                format!("an execution has more than {most} events, too many for this model");
            let help =
                "models with rules in the engine have no such limit, see the page on exploration";
            let help = Some(help.into());
            self.findings.gaps.add(Reason { message, place: None, help });
        }
    }

    /// The program does something that the engine cannot follow.
    pub fn unsupported(&mut self, what: &str, site: Option<Site>) {
        if self.is_silent {
            return;
        }
        let place = self.place(site);
        let message = format!("{what}: not supported by this engine");
        self.findings.gaps.add(Reason { message, place, help: Fault::help_with(what) });
    }

    fn report(
        &mut self,
        graph: &Graph<'p>,
        memory: &Memory,
        property: Property,
        message: String,
        failed: Option<usize>,
        involved: Vec<Id>,
    ) {
        if self.is_silent {
            return;
        }
        let is_apart = |id: &Id| {
            let event = graph.event(*id);
            event.loc == Loc::NONE || checks::is_apart(graph, memory, *id, event)
        };
        if graph.has_sections && !graph.order.iter().all(is_apart) {
            return;
        }
        if graph.has_sections {
            let sections = sections(graph);
            // What has failed there is looked at once more when all others are through.
            if sections == Sections::SeenEarly && failed.is_some() && !self.is_at_end {
                return;
            }
            if sections != Sections::Whole {
                let site = graph.order.last().and_then(|id| graph.standing(*id).site());
                return self.unsupported(checks::INTRUDER, site);
            }
        }
        let site = match (failed, involved.first()) {
            (Some(thread), _) => graph.now(thread).and_then(Standing::site),
            (None, Some(id)) => graph.standing(*id).site(),
            (None, None) => None,
        };
        if !self.wants(property) {
            let place = self.place(site);
            return self.findings.gaps.violated(property, &message, place);
        }
        let suspicion = |message: String| Suspicion {
            property,
            message,
            failed,
            claim: claim(graph, memory, failed, is_about_waiting(property)),
            involved: involved.iter().map(|id| step_of(graph, *id)).collect(),
        };
        let options = self.shared.options;
        let goes_on = match options.every {
            Some(every) => every(Found::Suspect(suspicion(message.clone()))),
            None => options.all,
        };
        let is_loose = |id: &Id| {
            let event = graph.event(*id);
            event.loc != Loc::NONE && checks::is_between_parts(graph, *id, event)
        };
        self.findings.has_loose_parts |= graph.order.iter().any(is_loose);
        let kind = kind(property, &message, site);
        self.findings.add(kind, || suspicion(message));
        if !goes_on {
            self.end_by(End::Found);
        }
    }

    /// An event was added, and its thread has gone on.
    pub fn added(&mut self, graph: &Graph<'p>, memory: &Memory, id: Id) {
        if self.is_silent {
            return;
        }
        self.findings.counts.events += 1;
        let cost = if self.sees.by_file { cost } else { share };
        self.patience = self.patience.saturating_sub(cost(graph.order.len())).max(1);
        let event = graph.event(id);
        if self.has_rounds {
            self.findings.skips.note(graph, id, event);
        }
        if graph.has_locks {
            self.look_at_locks(graph, memory, id, event);
        }
        if graph.has_updates {
            self.look_at_updates(graph, memory, id, event);
        }
        if event.loc != Loc::NONE {
            self.look_for_races(graph, memory, id, event);
            self.look_at_initial(graph, memory, id, event);
            self.look_at_unlock(graph, memory, id, event);
            self.look_at_sections(graph, memory, id, event);
            self.look_at_parts(graph, id, event);
        }
        if event.kind == Kind::Free {
            self.look_at_users(graph, memory, id, event);
        }
        self.stands(graph, memory, id.thread());
    }

    /// A thread has gone on.
    pub fn stands(&mut self, graph: &Graph<'p>, memory: &Memory, thread: usize) {
        match graph.now(thread).map(|now| &now.at) {
            Some(At::Failed { property, message }) => {
                let message = (*message).to_string();
                self.report(graph, memory, *property, message, Some(thread), vec![]);
            }
            Some(At::Fault(fault)) => self.fault(graph, memory, thread, fault),
            Some(At::Cut { .. }) => self.cut(graph, thread),
            Some(At::Spinning { since } | At::Vain { since }) => {
                self.findings.skips.skip(graph, thread, *since);
            }
            _ => {}
        }
    }

    fn cut(&mut self, graph: &Graph<'p>, thread: usize) {
        if let Some(bound) = self.shared.options.unroll {
            let waits =
                matches!(graph.now(thread).map(|now| &now.at), Some(At::Cut { since: Some(_) }));
            self.findings.is_cut = true;
            self.findings.is_cut_short |= !waits;
            let site = graph.now(thread).and_then(Standing::site);
            if !waits && site.is_none_or(|site| self.code.may_return(site)) {
                self.findings.cut = Some(bound);
            }
            return;
        }
        let site = graph.now(thread).and_then(Standing::site);
        let reason = Reason {
            message: "a loop, or recursion, that does not end".to_string(),
            place: self.place(site),
            help: Some(Help::with(Setting::Unroll, "N", "explores up to N rounds of each loop")),
        };
        self.findings.gaps.add(reason);
    }

    fn fault(&mut self, graph: &Graph<'p>, memory: &Memory, thread: usize, fault: &Fault) {
        let site = graph.now(thread).and_then(Standing::site);
        match fault.violates() {
            Some(property) if *fault == Fault::BadCallee || self.wants(property) => {
                self.report(graph, memory, property, fault.message(), Some(thread), vec![]);
            }
            _ => self.unsupported(&fault.message(), site),
        }
    }

    /// The model's file finds something wrong.
    pub fn flag(&mut self, graph: &Graph<'p>, memory: &Memory, flag: &str, involved: Vec<Id>) {
        let (property, message) = match flag.contains("race") {
            true => (Property::Race, "data race".to_string()),
            false => (Property::Assert, format!("the model flags '{flag}'")),
        };
        self.report(graph, memory, property, message, None, involved);
    }

    /// What the model's file lets us see in a complete graph.
    pub fn inspect(&mut self, graph: &Graph<'p>, memory: &Memory, look: Look) {
        if self.is_silent {
            return;
        }
        self.findings.buffering.add(look.seen);
        for (user, end) in look.late {
            self.late_user(graph, memory, user, end);
        }
    }

    /// An access that may come after the end of its object.
    pub fn late_user(&mut self, graph: &Graph<'p>, memory: &Memory, user: Id, end: Id) {
        let message = BadAccess::Freed.message().to_string();
        self.report(graph, memory, Property::Memory, message, None, vec![user, end]);
    }

    /// Whether a thread has ended the program. If none has, which assumptions hold up threads.
    fn is_ended(&mut self, graph: &Graph<'p>) -> bool {
        let all = (0..graph.threads.len()).filter_map(|number| graph.now(number));
        let stopped = all.filter(|now| matches!(now.at, At::Stopped));
        let ends = |now: &Standing<'p>| now.site().is_some_and(|at| self.code.ends_program(at));
        if stopped.clone().any(ends) {
            return true;
        }
        if self.findings.counts.executions == 0 {
            stopped.for_each(|now| self.findings.held_up(self.code.own_place(now.stack())));
        }
        false
    }

    /// Looks once more at threads that failed while a section was not over that they know of.
    fn report_late(&mut self, graph: &Graph<'p>, memory: &Memory) {
        self.is_at_end = true;
        for number in 0..graph.threads.len() {
            if let Some(At::Failed { .. } | At::Fault(_)) = graph.now(number).map(|now| &now.at) {
                self.stands(graph, memory, number);
            }
        }
        self.is_at_end = false;
    }

    /// No thread can go on.
    pub fn complete(&mut self, graph: &Graph<'p>, memory: &Memory) {
        if graph.has_sections {
            self.report_late(graph, memory);
        }
        if graph.has_twins {
            self.findings.twins.extend(symmetry::twins(graph));
        }
        let (mut is_blocked, mut has_failed) = (false, false);
        for number in 0..graph.threads.len() {
            match graph.now(number).map(|now| &now.at) {
                None | Some(At::Ended) => {}
                Some(At::Failed { .. } | At::Fault(_)) => has_failed = true,
                Some(
                    At::Stopped
                    | At::Waiting
                    | At::Spinning { .. }
                    | At::Stale
                    | At::Vain { .. }
                    | At::Cut { .. },
                ) => {
                    is_blocked = true;
                }
                Some(at) => match memory.wrong_with(graph, at) {
                    Some(wrong) => {
                        has_failed = true;
                        let message = wrong.message().to_string();
                        let end = freed_by(graph, at);
                        let involved = end.into_iter().collect();
                        let property = Property::Memory;
                        self.report(graph, memory, property, message, Some(number), involved);
                    }
                    None => is_blocked = true,
                },
            }
        }
        if (0..graph.threads.len()).any(|number| retries::has_failed(graph, number)) {
            return;
        }
        let ended = |number| matches!(graph.now(number).map(|now| &now.at), None | Some(At::Ended));
        let is_over = self.code.program.daemons && !graph.threads.is_empty() && ended(0);
        if is_blocked && !has_failed && !is_over {
            match self.is_ended(graph) {
                true => self.findings.counts.executions += 1,
                false => self.findings.counts.blocked += 1,
            }
            self.look_for_endless_waits(graph, memory);
        } else {
            self.findings.counts.executions += 1;
            #[cfg(test)]
            crate::symmetry::tests::record(graph);
            if !has_failed {
                self.look_for_leaks(graph, memory);
            }
        }
    }
}

/// Whether a violation is that threads wait.
fn is_about_waiting(property: Property) -> bool {
    matches!(property, Property::Deadlock | Property::Liveness)
}

/// The step that freed what is accessed.
fn freed_by(graph: &Graph<'_>, at: &At<'_>) -> Option<Id> {
    let address = match at {
        At::Free { address, .. } | At::HeapSize { address } => *address,
        at => at.access()?.0,
    };
    let (owner, index) = graph.find_object(address)?;
    graph.threads[owner].objects[index].freed
}
