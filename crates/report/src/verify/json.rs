//! A verdict as one JSON object, with all that is known about each violation.

use std::collections::BTreeMap;

use parallax_program::{Help, Location};
use parallax_verdict::{
    Call, Event, EventKind, Execution, Life, Standing, ThreadEnding, Verdict, Violation,
};
use serde::Serialize;

use super::story::Story;
use super::trace::Detail;
use super::{Under, VerifyRun};
use crate::json::{scope, to_line};

/// Of the form of the object. Fields may be added without a new one.
const VERSION: u32 = 1;

/// One line without its end.
pub fn verdict_json(run: &VerifyRun<'_>, verdict: &Verdict) -> String {
    let (scope, bound) = scope(verdict.scope);
    let reason = verdict.reason.as_ref();
    let answer = Answer {
        version: VERSION,
        verdict: verdict.conclusion().name(),
        scope,
        bound,
        reason: reason.map(|reason| reason.message.as_str()),
        reason_place: reason.and_then(|reason| reason.place.as_ref()).map(Place::of),
        help: reason.and_then(|reason| reason.help.as_ref()).map(Help::to_string),
        input: run.input,
        model: run.under.model,
        engine: run.engine,
        properties: verdict.properties.iter().map(|property| property.name()).collect(),
        executions: verdict.counts.executions,
        blocked: verdict.counts.blocked,
        redundant: verdict.counts.redundant,
        states: verdict.counts.states,
        events: verdict.counts.events,
        time_s: run.time.as_secs_f64(),
        peak_rss_kib: run.peak_rss_kib,
        variables: run.solver.map(|work| work.variables),
        clauses: run.solver.map(|work| work.clauses),
        encode_s: run.solver.map(|work| work.encoding.as_secs_f64()),
        solve_s: run.solver.map(|work| work.solving.as_secs_f64()),
        violations: verdict.violations.iter().map(|v| Found::of(v, run.under)).collect(),
        candidate: run.candidate.map(|v| Found::of(v, run.under)),
        notes: &verdict.notes,
    };
    to_line(&answer)
}

#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    verdict: &'static str,
    scope: Option<&'static str>,
    bound: Option<u32>,
    reason: Option<&'a str>,
    reason_place: Option<Place<'a>>,
    help: Option<String>,
    input: &'a str,
    model: &'a str,
    engine: &'a str,
    properties: Vec<&'static str>,
    executions: u64,
    blocked: u64,
    redundant: u64,
    states: u64,
    events: u64,
    time_s: f64,
    peak_rss_kib: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    variables: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clauses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encode_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solve_s: Option<f64>,
    violations: Vec<Found<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate: Option<Found<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Place<'a> {
    fn of(place: &'a Location) -> Place<'a> {
        Place { file: &place.file, line: place.line, column: place.column }
    }
}

#[derive(Serialize)]
struct Found<'a> {
    property: &'static str,
    message: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    /// Positions in `execution.events`.
    involved: &'a [u32],
    /// Whether the schedule explains every value: one step after the other.
    interleaving: bool,
    explanation: Vec<String>,
    execution: Run<'a>,
}

impl<'a> Found<'a> {
    fn of(violation: &'a Violation, under: Under<'_>) -> Found<'a> {
        let story = Story::new(violation, under, Detail::Short);
        let place = violation.place.as_ref();
        let findings = story.finding.iter().map(|finding| finding.text.clone());
        let why = story.why.iter().flat_map(|why| &why.sentences);
        let why = why.map(|sentence| match &sentence.missing {
            Some(missing) => format!("{} ({missing})", sentence.text),
            None => sentence.text.clone(),
        });
        Found {
            property: violation.property.name(),
            message: &violation.message,
            file: place.map(|place| place.file.as_ref()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            involved: &violation.involved,
            interleaving: story.order.interleaving,
            explanation: findings.chain(why).collect(),
            execution: Run::of(&violation.execution, story.order.events.clone()),
        }
    }
}

#[derive(Serialize)]
struct Run<'a> {
    threads: Vec<Thread<'a>>,
    events: Vec<Step<'a>>,
    /// Pairs of a write and a read.
    rf: &'a [(u32, u32)],
    /// For each location its writes, in order.
    co: Vec<Vec<u32>>,
    /// Pairs of a read and the write that follows it at once.
    rmw: &'a [(u32, u32)],
    schedule: Vec<u32>,
}

#[derive(Serialize)]
struct Thread<'a> {
    name: &'a str,
    /// None for litmus tests, whose threads run to their end.
    ending: Option<&'static str>,
    stack: Vec<Frame<'a>>,
}

#[derive(Serialize)]
struct Frame<'a> {
    function: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize)]
struct Step<'a> {
    /// None for initial writes.
    thread: Option<u32>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// For steps in the life of a thread, which one.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_thread: Option<u32>,
    tags: Vec<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    text: &'a str,
    stack: Vec<Frame<'a>>,
}

impl<'a> Run<'a> {
    fn of(execution: &'a Execution, schedule: Vec<u32>) -> Run<'a> {
        let standings = &execution.standings;
        let threads = execution.threads.iter().enumerate();
        let events = execution.events.iter().enumerate();
        Run {
            threads: threads.map(|(at, name)| thread(name, standings.get(at))).collect(),
            events: events
                .map(|(at, event)| step(event, execution.stacks.get(at).map_or(&[], |s| s)))
                .collect(),
            rf: &execution.rf,
            co: coherence(execution),
            rmw: &execution.rmw,
            schedule,
        }
    }
}

fn thread<'a>(name: &'a str, standing: Option<&'a Standing>) -> Thread<'a> {
    Thread {
        name,
        ending: standing.map(|standing| match standing.ending {
            ThreadEnding::Ended => "ended",
            ThreadEnding::Waiting => "waiting",
            ThreadEnding::Spinning { .. } => "spinning",
            ThreadEnding::Stopped => "stopped",
            ThreadEnding::Failed => "failed",
        }),
        stack: frames(standing.map_or(&[], |standing| &standing.stack)),
    }
}

fn frames(stack: &[Call]) -> Vec<Frame<'_>> {
    let frames = stack.iter();
    frames.map(|call| Frame { function: &call.function, place: Place::of(&call.place) }).collect()
}

fn step<'a>(event: &'a Event, stack: &'a [Call]) -> Step<'a> {
    let place = event.place.as_ref();
    let (mut location, mut value, mut address, mut size) = (None, None, None, None);
    match &event.kind {
        EventKind::Read { location: name, address: at, size: bytes, shown, .. }
        | EventKind::Write { location: name, address: at, size: bytes, shown, .. } => {
            location = Some(name.as_str());
            value = Some(shown.clone());
            (address, size) = (Some(*at), Some(u64::from(*bytes)));
        }
        EventKind::Alloc { address: at, size: bytes, name } => {
            (location, address, size) = (Some(name.as_str()), Some(*at), Some(*bytes));
        }
        EventKind::Free { address: at, name } => {
            (location, address) = (Some(name.as_str()), Some(*at));
        }
        EventKind::Choice { value: chosen } => value = Some(chosen.to_signed().to_string()),
        EventKind::Fence | EventKind::AtomicBegin | EventKind::AtomicEnd => {}
    }
    let life = event.kind.life();
    Step {
        thread: event.thread,
        kind: kind(&event.kind, event.thread.is_none(), life),
        location: location.filter(|_| life.is_none()),
        value: value.filter(|_| life.is_none()),
        address: address.filter(|_| life.is_none()),
        size: size.filter(|_| life.is_none()),
        of_thread: life.map(|life| match life {
            Life::Start(thread) | Life::Begin(thread) | Life::End(thread) | Life::Join(thread) => {
                thread
            }
        }),
        tags: event.tags.iter().map(|tag| tag.as_str()).collect(),
        file: place.map(|place| place.file.as_ref()),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
        text: &event.text,
        stack: frames(stack),
    }
}

fn kind(kind: &EventKind, initial: bool, life: Option<Life>) -> &'static str {
    match (life, kind) {
        (Some(Life::Start(_)), _) => "start",
        (Some(Life::Begin(_)), _) => "begin",
        (Some(Life::End(_)), _) => "end",
        (Some(Life::Join(_)), _) => "join",
        (None, EventKind::Read { .. }) => "read",
        (None, EventKind::Write { .. }) if initial => "initial",
        (None, EventKind::Write { .. }) => "write",
        (None, EventKind::Fence) => "fence",
        (None, EventKind::Alloc { .. }) => "alloc",
        (None, EventKind::Free { .. }) => "free",
        (None, EventKind::Choice { .. }) => "choice",
        (None, EventKind::AtomicBegin) => "atomic-begin",
        (None, EventKind::AtomicEnd) => "atomic-end",
    }
}

/// The writes of each location in coherence order, where there is more than one.
fn coherence(execution: &Execution) -> Vec<Vec<u32>> {
    let mut earlier: BTreeMap<u32, usize> = BTreeMap::new();
    for (first, later) in &execution.co {
        earlier.entry(*first).or_default();
        *earlier.entry(*later).or_default() += 1;
    }
    let place = |write: u32| execution.events.get(write as usize)?.kind.footprint();
    let mut writes: Vec<_> =
        earlier.into_iter().map(|(write, before)| (place(write), before, write)).collect();
    writes.sort_unstable();
    let chains = writes.chunk_by(|(one, _, _), (other, _, _)| one == other);
    chains.map(|chain| chain.iter().map(|(_, _, write)| *write).collect()).collect()
}
