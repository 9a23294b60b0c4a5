//! Whole programs: whether something is wrong with an execution, up to a bound.

use std::collections::BTreeMap;
use std::time::Instant;

use parallax_machine::Code;
use parallax_memory::Model;
use parallax_program::{Diagnostics, Program, Property};
use parallax_solver::{Answer, Literal, Term};
use parallax_verdict::{
    Conclusion, Counts, Gaps, NONE_ENDS, Reason, Scope, Searched, Suspicion, ThreadEnding, Verdict,
    Violation, confirm, inputs_tried, no_execution_passes, no_execution_within, unasked,
};

use crate::checks::{Checks, Suspect, Use, copy_what_is_open, uses};
use crate::claim::claim;
use crate::encoding::{Asking, Encoding, Flags};
use crate::ends::late;
use crate::gharachorloo::admit;
use crate::leaks::leaks;
use crate::meaning::meaningful;
use crate::memory::Memory;
use crate::options::{Asked, Bound, Figures, Framework, Options};
use crate::preparation::{Preparation, Prepared, prepare};
use crate::refusal::{beyond, intrusion, located, open_value, reason, stopped, unsupported};
use crate::sections::Sections;
use crate::unfold::{Free, Stop, Unfolding, WaitKind, Waiting};
use crate::views::{Views, views};
use crate::waiting::{Endless, endless};
use crate::watch::Watch;

/// A verdict, and what it took.
pub struct Verified {
    pub verdict: Verdict,
    pub figures: Figures,
    /// What the solver was asked, in order, if that was to be kept.
    pub asked: Vec<Asked>,
    /// Classes of executions, if they were to be counted and nothing is wrong.
    pub views: Option<Views>,
}

/// Looks for something wrong with the executions of a program that the model allows.
pub fn verify(
    program: &Program,
    model: &Model,
    options: &Options<'_>,
) -> Result<Verified, Diagnostics> {
    admit(options.framework, model).map_err(|error| located(program, error))?;
    let code = Code::new(program);
    let started = Instant::now();
    let mut search = Search {
        code: &code,
        model,
        options,
        properties: supported(model, options),
        watch: Watch::new(&options.control),
        started,
        figures: Figures::default(),
        asked: Vec::new(),
        all: Literal::TRUE,
        counts: Literal::TRUE,
        goes: None,
        found: Vec::new(),
        vacuous: None,
        none_ends: false,
        cuts_counting: false,
        views: None,
    };
    let mut last: Option<Verdict> = None;
    let mut vacuous = None;
    let mut done: Option<Bound> = None;
    for bound in options.bounds() {
        // Where no loop that counts was cut, it was the same.
        let is_same = done.is_some_and(|done| done.rounds == bound.rounds);
        if is_same && !search.cuts_counting {
            continue;
        }
        let was_shallow = done.is_some_and(|done| done.counted < bound.counted);
        done = Some(bound);
        let answer = search.run(bound);
        let verdict = search.verdict(answer);
        let goes_on =
            verdict.conclusion() == Conclusion::Safe && verdict.scope != Some(Scope::Complete);
        // What the first rounds do not show is more than that they are right.
        let has_place = verdict.reason.as_ref().is_some_and(|reason| reason.place.is_some());
        let stopped = verdict.conclusion() == Conclusion::Unknown
            && last.is_some()
            && !(was_shallow && has_place);
        if !stopped {
            last = Some(verdict);
            vacuous = search.vacuous.take();
        }
        if !goes_on {
            break;
        }
    }
    let none = || Err(reason("there is no bound to search to"));
    let mut verdict = last.unwrap_or_else(|| search.verdict(none()));
    if verdict.conclusion() == Conclusion::Safe {
        verdict = match vacuous {
            Some(reason) => verdict.withdrawn(reason),
            None => verdict,
        };
    }
    let verdict = verdict.restricted(inputs_tried(program, options.nondet));
    let verdict = meaningful(verdict, program, model, options)?;
    Ok(Verified { verdict, figures: search.figures, asked: search.asked, views: search.views })
}

/// The properties that can be decided under a model.
fn supported(model: &Model, options: &Options<'_>) -> Vec<Property> {
    let flags_races = model.flags_races() && options.framework == Framework::Cat;
    let decides = |property: &Property| *property != Property::Race || flags_races;
    options.properties.iter().copied().filter(decides).collect()
}

/// Something wrong, and the thread that cannot go on because of it.
struct Found {
    property: Property,
    message: String,
    failed: Option<usize>,
}

struct Search<'a, 'p> {
    code: &'a Code<'p>,
    model: &'a Model,
    options: &'a Options<'a>,
    properties: Vec<Property>,
    watch: Watch<'a>,
    started: Instant,
    figures: Figures,
    asked: Vec<Asked>,
    /// Holds in executions that count: where assumptions hold, as far as that is asked for …
    all: Literal,
    /// … and where the ends of objects are no writes, unless it is about them.
    counts: Literal,
    goes: Option<Literal>,
    found: Vec<Violation>,
    /// Why what holds of all executions holds of none.
    vacuous: Option<Reason>,
    /// Whether no execution comes to its end within the bound, although no assumption is in the way.
    none_ends: bool,
    /// Whether a loop that counts was cut.
    cuts_counting: bool,
    views: Option<Views>,
}

impl Search<'_, '_> {
    /// How far the search went, where it went to its end. The error is why there is no answer.
    fn run(&mut self, bound: Bound) -> Result<Scope, Reason> {
        self.cuts_counting = false;
        self.none_ends = false;
        self.vacuous = None;
        let by_model = self.model.happens_before().is_some();
        let has_races = self.properties.contains(&Property::Race);
        let preparation = Preparation {
            code: self.code,
            model: self.model,
            bound,
            nondet: self.options.nondet,
            integers: self.options.solving.integers,
            has_races,
            sections: Sections::under(self.model, self.options.framework, has_races),
            asks_for_waits: self.properties.contains(&Property::Liveness),
            asks_for_ends: !by_model,
            asks_for_undefined: self.properties.contains(&Property::Memory),
        };
        let prepared = prepare(&preparation, &self.watch)?;
        self.cuts_counting = prepared.unfolding.cuts_counting;
        let bound = bound.of_all();
        let Prepared { unfolding, terms, structure, memory, checked, freed } = prepared;
        let Unfolding {
            values,
            exceeded,
            obstacles,
            undecided,
            failures,
            frees,
            objects,
            waits,
            goes,
            ..
        } = unfolding;
        if let Some(reason) = beyond(self.options, &structure, &terms, self.code) {
            return Err(reason);
        }
        let uses = uses(&structure, &frees, &freed, &objects, by_model);
        let asking = Asking {
            flags: Flags { races: has_races, others: self.properties.contains(&Property::Assert) },
            before: orders(&uses),
            solving: self.options.solving,
            framework: self.options.framework,
        };
        let mut encoding =
            Encoding::new(self.model, structure, values, terms, &asking, &self.watch)?;
        if let Some(event) = encoding.intruder {
            return Err(intrusion(&encoding.structure.events[event], self.code));
        }
        self.all = match self.options.throughout {
            true => !any(&mut encoding, &unfolding.discarded),
            false => Literal::TRUE,
        };
        self.goes = goes.map(|goes| encoding.circuit.literal(goes));
        let stays = self.goes.map_or(Literal::TRUE, |goes| !goes);
        self.counts = encoding.circuit.and(&[self.all, stays]);
        let ordered = self.ordered(&mut encoding, &uses);
        copy_what_is_open(&mut encoding, &memory, &unfolding.copies, &unfolding.open_writes);
        let threads = unfolding.threads.len();
        let (suspects, unasked) = {
            let mut checks = Checks {
                encoding: &mut encoding,
                memory: &memory,
                properties: &self.properties,
                suspects: Vec::new(),
                unasked: Vec::new(),
            };
            checks.assertions(&failures);
            // First: an address that nobody has written is wrong for that reason.
            checks.undefined_reads();
            checks.addresses(&unfolding.checked, &checked);
            checks.frees(&frees, &objects);
            checks.unlocks();
            checks.late_uses(&uses, &ordered);
            checks.flags();
            (checks.suspects, checks.unasked)
        };
        self.look_for(&mut encoding, suspects, &memory, threads)?;
        let (late, unasked_late) = self.late(&mut encoding, &frees, &memory);
        self.with_ends(&mut encoding, |search, encoding| {
            search.look_for(encoding, late, &memory, threads)
        })?;
        let broken: Vec<Stop> = exceeded
            .iter()
            .chain(obstacles.iter().map(|(stop, _)| stop))
            .chain(failures.iter().map(|failure| &failure.stop))
            .cloned()
            .collect();
        let daemons = self.code.program.daemons;
        let endless = endless(&mut encoding, threads, &waits, &broken, daemons);
        for property in [Property::Liveness, Property::Deadlock] {
            if self.properties.contains(&property) && !self.is_enough() {
                self.endless(&mut encoding, property, &endless, &waits, threads)?;
            }
        }
        if self.properties.contains(&Property::Leak) && !self.is_enough() {
            let leaks = leaks(&mut encoding, endless.over, &frees, &objects);
            self.look_for(&mut encoding, leaks, &memory, threads)?;
        }
        if self.is_enough() {
            return Ok(Scope::Bounded(bound));
        }
        self.look_for_unasked(&mut encoding, unasked, &memory, threads)?;
        self.with_ends(&mut encoding, |search, encoding| {
            search.look_for_unasked(encoding, unasked_late, &memory, threads)
        })?;
        self.look_for_open_reads(&mut encoding, &unfolding.open_writes)?;
        let obstacles = [obstacles, undecided].concat();
        let scope = self.scope(&mut encoding, bound, &exceeded, &obstacles)?;
        let goes_on = scope != Scope::Complete && self.options.unroll.is_none();
        if !self.options.throughout {
            let waits = !waits.is_empty();
            // An assertion that fails comes after the assumptions, too.
            let failed = failures.iter().map(|failure| failure.stop.clone());
            let exits: Vec<Stop> = unfolding.ends.iter().cloned().chain(failed).collect();
            let exits = any(&mut encoding, &exits);
            let over = encoding.circuit.or(&[endless.over, exits]);
            // Every way is longer than the bound.
            let is_cut = scope != Scope::Complete && over == Literal::FALSE;
            if is_cut && exceeded.iter().any(|way| self.may_leave(way)) {
                self.vacuous = Some(no_execution_within(bound));
            } else {
                self.none_ends = is_cut;
                self.look_for_an_end(&mut encoding, over, &unfolding.discarded, waits)?;
            }
        }
        if self.options.views && !goes_on {
            let complete = encoding.circuit.and(&[self.counts, endless.over]);
            self.views = Some(views(&mut encoding, complete, &self.watch));
            self.note(&mut encoding);
        }
        Ok(scope)
    }

    /// Whether each use happens before the end of its object.
    fn ordered(&self, encoding: &mut Encoding, uses: &[Use]) -> Vec<Literal> {
        let mut known = encoding.before.clone().into_iter();
        let mut all = Vec::with_capacity(uses.len());
        for late in uses {
            let mut ways = Vec::new();
            for last in &late.lasts {
                let before = known.next().unwrap_or(Literal::FALSE);
                ways.push(encoding.circuit.and(&[encoding.executed[*last], before]));
            }
            all.push(encoding.circuit.or(&ways));
        }
        all
    }

    /// Accesses that come after the ends of their objects, where the model does not say what happens
    /// before what; and the same where nobody asks about them.
    fn late(
        &self,
        encoding: &mut Encoding,
        frees: &[Free],
        memory: &Memory,
    ) -> (Vec<Suspect>, Vec<Suspect>) {
        if self.goes.is_none() {
            return Default::default();
        }
        let late = late(encoding, frees);
        let mut checks = Checks {
            encoding,
            memory,
            properties: &self.properties,
            suspects: Vec::new(),
            unasked: Vec::new(),
        };
        checks.after_ends(&late);
        (checks.suspects, checks.unasked)
    }

    /// Asks about executions in which the ends of objects are writes.
    fn with_ends(
        &mut self,
        encoding: &mut Encoding,
        ask: impl FnOnce(&mut Self, &mut Encoding) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let Some(goes) = self.goes else { return Ok(()) };
        let counts = self.counts;
        self.counts = encoding.circuit.and(&[self.all, goes]);
        let result = ask(self, encoding);
        self.counts = counts;
        result
    }

    fn ask(&mut self, encoding: &mut Encoding, assumption: Literal) -> Answer {
        if assumption == Literal::FALSE {
            return Answer::Unsatisfiable;
        }
        let answer = encoding.ask(&[self.counts, assumption], &self.watch);
        self.note(encoding);
        answer
    }

    fn note(&mut self, encoding: &mut Encoding) {
        self.figures = encoding.figures(self.started);
        self.asked.extend(encoding.circuit.take_asked());
    }

    /// Whether an execution passes all assumptions and comes to its end. If none does, and it is for an
    /// assumption, there was nothing to check.
    fn look_for_an_end(
        &mut self,
        encoding: &mut Encoding,
        over: Literal,
        discarded: &[Stop],
        waits: bool,
    ) -> Result<(), Reason> {
        // Where no execution is stuck, those that wait go on.
        let checked = |property| self.properties.contains(&property);
        let stuck = waits && !(checked(Property::Deadlock) && checked(Property::Liveness));
        if discarded.is_empty() && !stuck {
            return Ok(());
        }
        match self.ask(encoding, over) {
            Answer::Satisfiable => return Ok(()),
            Answer::Stopped(_) if discarded.is_empty() => return Ok(()),
            Answer::Stopped(stop) => return Err(stopped(stop)),
            Answer::Unsatisfiable => {}
        }
        let ways: Vec<&Stop> = discarded.iter().collect();
        let reached = encoding.reached(&ways, self.counts, &self.watch).map_err(stopped)?;
        self.note(encoding);
        match reached.and_then(|way| discarded.get(way)) {
            Some(way) => {
                let source = &self.code.program.source;
                let place = way.site.map(|site| source.origin(self.code.span(site)));
                self.vacuous = Some(no_execution_passes(place));
            }
            None => self.none_ends = true,
        }
        Ok(())
    }

    /// Whether a loop that was cut off there has an end.
    fn may_leave(&self, way: &Stop) -> bool {
        way.site.is_none_or(|site| self.code.may_return(site))
    }

    /// Whether nothing else is looked for.
    fn is_enough(&self) -> bool {
        !self.found.is_empty() && !self.options.all
    }

    /// Finds out which suspicions are true.
    fn look_for(
        &mut self,
        encoding: &mut Encoding,
        mut suspects: Vec<Suspect>,
        memory: &Memory,
        threads: usize,
    ) -> Result<(), Reason> {
        while !self.is_enough() {
            let all: Vec<Literal> = suspects.iter().map(|suspect| suspect.when).collect();
            let some = encoding.circuit.or(&all);
            match self.ask(encoding, some) {
                Answer::Unsatisfiable => break,
                Answer::Stopped(stop) => return Err(stopped(stop)),
                Answer::Satisfiable => {}
            }
            let holds = |suspect: &Suspect| encoding.circuit.holds(suspect.when);
            let Some(suspect) = suspects.iter().position(holds) else { break };
            let suspect = suspects.remove(suspect);
            let (found, ending) = shown(&suspect, encoding, memory);
            self.report(encoding, found, &suspect.involved, threads, &ending)?;
        }
        Ok(())
    }

    /// Whether an execution does what nobody asked about, and hides what comes after it.
    fn look_for_unasked(
        &mut self,
        encoding: &mut Encoding,
        suspects: Vec<Suspect>,
        memory: &Memory,
        threads: usize,
    ) -> Result<(), Reason> {
        let all: Vec<Literal> = suspects.iter().map(|suspect| suspect.when).collect();
        let some = encoding.circuit.or(&all);
        match self.ask(encoding, some) {
            Answer::Unsatisfiable => return Ok(()),
            Answer::Stopped(stop) => return Err(stopped(stop)),
            Answer::Satisfiable => {}
        }
        let holds = |suspect: &&Suspect| encoding.circuit.holds(suspect.when);
        let Some(suspect) = suspects.iter().find(holds) else { return Ok(()) };
        let (found, ending) = shown(suspect, encoding, memory);
        let Violation { property, message, place, .. } =
            self.confirmed(encoding, found, &suspect.involved, threads, &ending)?;
        Err(unasked(property, &message, place))
    }

    /// A value that nobody has given is in memory, and is read. Whether it decides anything is not known
    /// here.
    fn look_for_open_reads(
        &mut self,
        encoding: &mut Encoding,
        open: &[(u32, Term)],
    ) -> Result<(), Reason> {
        if open.is_empty() || !self.properties.contains(&Property::Memory) {
            return Ok(());
        }
        let open: BTreeMap<usize, Term> =
            open.iter().map(|(write, bits)| (*write as usize, *bits)).collect();
        let mut all: Vec<(usize, Literal)> = Vec::new();
        for read in 0..encoding.structure.initials {
            if encoding.structure.events[read].tags.tags.contains("COPY") {
                continue;
            }
            for (write, takes) in &encoding.communication.sources[read] {
                if let Some(bits) = open.get(write) {
                    let bits = encoding.circuit.bits(*bits);
                    let is_open = encoding.circuit.or(&bits);
                    all.push((read, encoding.circuit.and(&[*takes, is_open])));
                }
            }
        }
        let some: Vec<Literal> = all.iter().map(|(_, when)| *when).collect();
        let some = encoding.circuit.or(&some);
        match self.ask(encoding, some) {
            Answer::Unsatisfiable => return Ok(()),
            Answer::Stopped(stop) => return Err(stopped(stop)),
            Answer::Satisfiable => {}
        }
        let holds = |(_, when): &&(usize, Literal)| encoding.circuit.holds(*when);
        let read = all.iter().find(holds).map(|(read, _)| &encoding.structure.events[*read]);
        Err(open_value(read.and_then(|read| read.site), self.code))
    }

    fn endless(
        &mut self,
        encoding: &mut Encoding,
        property: Property,
        endless: &Endless,
        waits: &[Waiting],
        threads: usize,
    ) -> Result<(), Reason> {
        match self.ask(encoding, endless.of(property)) {
            Answer::Unsatisfiable => return Ok(()),
            Answer::Stopped(stop) => return Err(stopped(stop)),
            Answer::Satisfiable => {}
        }
        let is_stuck = |number: &usize| encoding.circuit.holds(endless.waits[*number]);
        let stuck: Vec<usize> = (0..waits.len()).filter(is_stuck).collect();
        let involved: Vec<usize> = stuck
            .iter()
            .filter(|number| waits[**number].kind != WaitKind::Join)
            .flat_map(|number| waits[*number].reads.iter().map(|(_, read)| *read as usize))
            .filter(|read| encoding.circuit.holds(encoding.executed[*read]))
            .collect();
        let ending = |thread: usize| {
            let own = stuck.iter().map(|number| &waits[*number]);
            let mut own = own.filter(|wait| wait.stop.thread as usize == thread);
            let happens = |event: &u32| encoding.circuit.holds(encoding.executed[*event as usize]);
            match own.next() {
                Some(wait) if wait.kind == WaitKind::Spin => {
                    let reads = wait.reads.iter().map(|(_, read)| read);
                    match reads.chain(&wait.writes).any(happens) {
                        true => ThreadEnding::Spinning { from: 0 },
                        false => ThreadEnding::Stopped,
                    }
                }
                Some(_) => ThreadEnding::Waiting,
                None => ThreadEnding::Stopped,
            }
        };
        let message = match property {
            Property::Deadlock => "threads wait for one another",
            _ if involved.is_empty() => "a loop never ends",
            _ => "a loop waits for ever",
        };
        let found = Found { property, message: message.to_string(), failed: None };
        self.report(encoding, found, &involved, threads, &ending)
    }

    /// Notes a violation, if the replayer confirms it.
    fn report(
        &mut self,
        encoding: &Encoding,
        found: Found,
        involved: &[usize],
        threads: usize,
        ending: &dyn Fn(usize) -> ThreadEnding,
    ) -> Result<(), Reason> {
        let violation = self.confirmed(encoding, found, involved, threads, ending)?;
        let same = |known: &Violation| {
            (known.property, &known.place, &known.message)
                == (violation.property, &violation.place, &violation.message)
        };
        if !self.found.iter().any(same) {
            self.found.push(violation);
        }
        Ok(())
    }

    /// The execution of the solver's last model, with what is wrong, as the replayer sees it.
    fn confirmed(
        &self,
        encoding: &Encoding,
        found: Found,
        involved: &[usize],
        threads: usize,
        ending: &dyn Fn(usize) -> ThreadEnding,
    ) -> Result<Violation, Reason> {
        let Found { property, message, failed } = found;
        let Some(claimed) = claim(encoding, threads, ending) else {
            let what = format!("'{property}' seems to be violated ({message}), for no reason");
            let help = "this is an error of the engine: please report it";
            return Err(Reason { help: Some(help.into()), ..reason(what) });
        };
        let involved = involved.iter().filter_map(|event| claimed.steps.get(event).copied());
        let involved = involved.collect();
        let suspicion = Suspicion { property, message, failed, claim: claimed.claim, involved };
        confirm(self.code.program, self.model, suspicion, &self.options.control)
    }

    /// Nothing else is wrong: how far that goes.
    fn scope(
        &mut self,
        encoding: &mut Encoding,
        bound: u32,
        exceeded: &[Stop],
        obstacles: &[(Stop, String)],
    ) -> Result<Scope, Reason> {
        let ways: Vec<&Stop> = obstacles.iter().map(|(stop, _)| stop).collect();
        let reached = encoding.reached(&ways, self.counts, &self.watch);
        self.note(encoding);
        if let Some(reached) = reached.map_err(stopped)? {
            let (stop, what) = &obstacles[reached];
            return Err(unsupported(stop, what, self.code));
        }
        let ways: Vec<&Stop> = exceeded.iter().collect();
        let scope = match encoding.reached(&ways, self.counts, &self.watch) {
            Ok(None) => Scope::Complete,
            _ => Scope::Bounded(bound),
        };
        self.note(encoding);
        Ok(scope)
    }

    /// With what is wrong, if something is; the answer says how far the search went.
    fn verdict(&mut self, answer: Result<Scope, Reason>) -> Verdict {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(self.none_ends.then(|| NONE_ENDS.to_string()));
        let left: Vec<&str> = self
            .options
            .properties
            .iter()
            .filter(|property| !self.properties.contains(property))
            .map(|property| property.name())
            .collect();
        if !left.is_empty() {
            let (left, model) = (left.join(", "), self.model.name());
            notes.push(format!("not checked by this engine under '{model}': {left}"));
        }
        let (scope, mut gaps) = match answer {
            Ok(scope) => (scope, Gaps::default()),
            Err(reason) => (Scope::Bounded(0), reason.into()),
        };
        gaps.unchecked(&self.options.properties, &self.properties);
        let searched = Searched {
            scope,
            all: self.options.all,
            gaps,
            properties: self.properties.clone(),
            counts: Counts { events: self.figures.events, ..Counts::default() },
            violations: std::mem::take(&mut self.found),
            notes,
        };
        searched.conclude()
    }
}

/// What is wrong in the solver's last model, and how threads end there.
fn shown(
    suspect: &Suspect,
    encoding: &Encoding,
    memory: &Memory,
) -> (Found, impl Fn(usize) -> ThreadEnding + use<>) {
    let message = suspect.what.message(&encoding.circuit, memory);
    let failed = suspect.thread.map(|thread| thread as usize);
    let ending = move |thread: usize| match failed == Some(thread) {
        true => ThreadEnding::Failed,
        false => ThreadEnding::Stopped,
    };
    (Found { property: suspect.property, message, failed }, ending)
}

/// Whether some of these ways is taken.
fn any(encoding: &mut Encoding, stops: &[Stop]) -> Literal {
    let guards: Vec<Literal> =
        stops.iter().map(|stop| encoding.circuit.literal(stop.guard)).collect();
    encoding.circuit.or(&guards)
}

/// What to ask the model about uses of objects and their ends.
fn orders(uses: &[Use]) -> Vec<(usize, usize)> {
    let pairs = uses.iter().flat_map(|late| late.lasts.iter().map(|last| (late.access, *last)));
    pairs.collect()
}
