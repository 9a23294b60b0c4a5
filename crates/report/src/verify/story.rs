//! All that is said about a violation, worked out once for every form of output.

use std::collections::{HashMap, HashSet};

use parallax_program::{Location, Property};
use parallax_verdict::{Call, EventKind, Standing, ThreadEnding, Violation};

use super::Under;
use super::housekeeping::housekeeping;
use super::links::Links;
use super::order::Order;
use super::past::causal_past;
use super::trace::{Detail, ThreadTrace, Tracer};
use super::unordered::{Reasons, reasons};
use super::why::{Why, why};
use super::words::{Words, own_call, source};

pub struct Story {
    pub order: Order,
    pub why: Option<Why>,
    pub threads: Vec<ThreadTrace>,
    pub finding: Vec<Finding>,
    /// Whether fences or memory orders could forbid it.
    pub is_repairable: bool,
}

/// One thing that the violation is about, with the calls that led to it.
pub struct Finding {
    pub text: String,
    pub calls: Vec<String>,
}

impl Story {
    pub fn new(violation: &Violation, under: Under<'_>, detail: Detail) -> Story {
        let execution = &violation.execution;
        let links = Links::new(execution);
        let order = Order::new(execution, &links);
        let why = if order.interleaving { None } else { why(execution, &links, under) };
        let relevance = Relevance::of(violation, &links, why.as_ref());
        let tracer = Tracer {
            execution,
            links: &links,
            order: &order,
            stuck: is_stuck(violation),
            relevance: &relevance,
        };
        let threads = tracer.threads(detail);
        let words = Words { execution, links: &links };
        let position = &order.position;
        let describer = Describer { violation, words, relevance: &relevance, position };
        let finding = describer.findings();
        let is_repairable = why.is_some() || !describer.reasons().gaps.is_empty();
        Story { order, why, threads, finding, is_repairable }
    }
}

/// Which events matter.
pub struct Relevance {
    /// What the violation is about, and what says why it is possible.
    pub involved: HashSet<u32>,
    /// For each event whether a reader can do without it.
    pub idle: Vec<bool>,
}

impl Relevance {
    pub fn new(violation: &Violation) -> Relevance {
        let execution = &violation.execution;
        let links = Links::new(execution);
        let weak = !Order::new(execution, &links).interleaving;
        let why = if weak { why(execution, &links, Under::default()) } else { None };
        Relevance::of(violation, &links, why.as_ref())
    }

    fn of(violation: &Violation, links: &Links, why: Option<&Why>) -> Relevance {
        let mut idle = housekeeping(&violation.execution);
        let named = violation.involved.iter().copied();
        let named = named.filter(|event| idle.get(*event as usize) == Some(&false));
        let mut about: Vec<u32> = named.collect();
        about.extend(why.iter().flat_map(|why| &why.events));
        let past = causal_past(violation, links, &about);
        for (idle, past) in idle.iter_mut().zip(past) {
            *idle |= !past;
        }
        Relevance { involved: about.into_iter().collect(), idle }
    }
}

fn is_stuck(violation: &Violation) -> bool {
    matches!(violation.property, Property::Deadlock | Property::Liveness)
}

/// `assertion 'x == 1' fails at queue.c:41:5`
pub fn headline(violation: &Violation) -> String {
    let message = &violation.message;
    let place = at(violation.place.as_ref());
    match violation.property {
        Property::Assert if !message.starts_with("assertion") => {
            format!("assertion fails: {message}{place}")
        }
        Property::Race if !message.contains(" on ") => {
            format!("{message}{}{place}", racing_location(violation))
        }
        _ => format!("{message}{place}"),
    }
}

/// ` on count`, or nothing.
fn racing_location(violation: &Violation) -> String {
    let first = violation.involved.first();
    let event = first.and_then(|event| violation.execution.events.get(*event as usize));
    match event.map(|event| &event.kind) {
        Some(EventKind::Read { location, .. } | EventKind::Write { location, .. }) => {
            format!(" on {location}")
        }
        _ => String::new(),
    }
}

struct Describer<'a> {
    violation: &'a Violation,
    words: Words<'a>,
    relevance: &'a Relevance,
    position: &'a [u32],
}

impl Describer<'_> {
    fn findings(&self) -> Vec<Finding> {
        match self.violation.property {
            _ if is_stuck(self.violation) => {
                self.circle().into_iter().chain(self.stuck_threads()).collect()
            }
            Property::Race => {
                let text = "nothing orders these accesses, and not all of them are atomic:";
                let unordered = Finding { text: text.to_string(), calls: Vec::new() };
                let findings = std::iter::once(unordered).chain(self.involved(true));
                findings.chain(self.missing()).collect()
            }
            _ => {
                let failed = self.standings(|ending| ending == ThreadEnding::Failed);
                let failed = failed.into_iter().map(|(_, standing, name)| Finding {
                    text: format!("{name} fails{}", at(standing.place())),
                    calls: self.calls(standing.stack.iter().rev().skip(1)),
                });
                // A failure without calls to show is in the headline already.
                let failed = failed.filter(|finding| !finding.calls.is_empty());
                let accesses = self.violation.property == Property::Memory;
                failed.chain(self.involved(accesses)).chain(self.missing()).collect()
            }
        }
    }

    /// Whether it is about an object that may be gone when it is accessed.
    fn is_late(&self) -> bool {
        let kind = |event: &u32| self.violation.execution.events.get(*event as usize);
        let mut involved = self.violation.involved.iter().filter_map(kind);
        self.violation.property == Property::Memory
            && involved.any(|event| matches!(event.kind, EventKind::Free { .. }))
    }

    /// Why nothing orders the two events that the violation names, where it is about their order.
    fn reasons(&self) -> Reasons {
        let [one, other] = self.violation.involved[..] else { return Reasons::default() };
        let is_there = |event: u32| (event as usize) < self.violation.execution.events.len();
        if !(self.violation.property == Property::Race || self.is_late())
            || !(is_there(one) && is_there(other))
        {
            return Reasons::default();
        }
        let position = |event: u32| self.position[event as usize];
        let (first, second) =
            if position(one) < position(other) { (one, other) } else { (other, one) };
        reasons(&self.words, first, second)
    }

    fn missing(&self) -> impl Iterator<Item = Finding> {
        let Reasons { gaps, locks } = self.reasons();
        gaps.into_iter().chain(locks).map(|text| Finding { text, calls: Vec::new() })
    }

    /// What happened at the events that the violation names.
    fn involved(&self, accesses: bool) -> Vec<Finding> {
        let execution = &self.violation.execution;
        let events = self.violation.involved.iter().copied();
        let events = events.filter(|event| (*event as usize) < execution.events.len());
        let worth = events.filter(|event| {
            let kind = &execution.events[*event as usize].kind;
            accesses || matches!(kind, EventKind::Alloc { .. } | EventKind::Free { .. })
        });
        let mut worth: Vec<u32> =
            worth.flat_map(|event| self.allocation(event).into_iter().chain([event])).collect();
        let mut seen = HashSet::new();
        worth.retain(|event| seen.insert(*event));
        worth
            .into_iter()
            .map(|event| Finding {
                text: format!(
                    "{} {}{}{}",
                    self.words.who(event),
                    self.words.act(event),
                    self.kind_of_access(event),
                    at(self.words.event(event).place.as_ref()),
                ),
                calls: self.calls(self.words.stack(event).into_iter().skip(1)),
            })
            .collect()
    }

    /// Where the object that an event of a memory error accesses or frees came from.
    fn allocation(&self, event: u32) -> Option<u32> {
        if self.violation.property == Property::Race {
            return None;
        }
        let touched = match self.words.event(event).kind {
            EventKind::Free { address, .. } => address,
            ref kind => kind.footprint()?.0,
        };
        let events = (0u32..).zip(&self.violation.execution.events);
        let mut holding = events.filter(|(_, event)| match event.kind {
            EventKind::Alloc { address, size, .. } => {
                touched.checked_sub(address).is_some_and(|offset| offset < size.max(1))
            }
            _ => false,
        });
        // Where an address was used again, it is not known which object is meant.
        let first = holding.next().map(|(number, _)| number);
        first.filter(|_| holding.next().is_none())
    }

    /// `called from push at line 30`
    fn calls<'c>(&self, calls: impl Iterator<Item = &'c Call>) -> Vec<String> {
        calls
            .map(|call| {
                let line = self.words.line_in_words(&call.place);
                format!("called from {} at {line}", call.function)
            })
            .collect()
    }

    fn kind_of_access(&self, event: u32) -> String {
        let event_kind = &self.words.event(event).kind;
        if event_kind.footprint().is_none() {
            return String::new();
        }
        let order = self.words.memory_order(event);
        format!(" ({})", order.unwrap_or_else(|| "not atomic".to_string()))
    }

    /// Who waits where, and for what.
    fn stuck_threads(&self) -> Vec<Finding> {
        let stuck = self.standings(|ending| {
            matches!(ending, ThreadEnding::Waiting | ThreadEnding::Spinning { .. })
        });
        stuck
            .into_iter()
            .map(|(thread, standing, name)| {
                let (waits, waiting) = match standing.ending {
                    ThreadEnding::Spinning { .. } => ("repeats a loop", ", waiting"),
                    _ => ("waits", ""),
                };
                let awaited = self.awaited(thread, standing).map(|(what, _)| what);
                let for_what = match self.stuck_reads(thread) {
                    _ if awaited.is_some() => {
                        format!(" for {}", awaited.unwrap_or_default())
                    }
                    reads if !reads.is_empty() => {
                        format!("{waiting} for {}", reads.join("; and for "))
                    }
                    _ if !standing.text.is_empty() => {
                        format!(": {}", source(&standing.stack, &standing.text))
                    }
                    _ => String::new(),
                };
                let last = || {
                    let events = &self.violation.execution.events;
                    let last = events.iter().rfind(|event| event.thread == Some(thread));
                    last.and_then(|event| event.place.as_ref())
                };
                let own = own_call(&standing.stack).map(|call| &call.place);
                let place = at(own.or_else(last));
                Finding {
                    text: format!("{name} {waits}{place}{for_what}"),
                    calls: self.calls(standing.stack.iter().rev().skip(1)),
                }
            })
            .collect()
    }

    /// What a thread waits for, and the thread that would have to do something about it.
    fn awaited(&self, thread: u32, standing: &Standing) -> Option<(String, Option<u32>)> {
        if standing.ending != ThreadEnding::Waiting {
            return None;
        }
        if let Some(other) = standing.awaits {
            return Some((format!("{} to end", self.words.thread_name(other)), Some(other)));
        }
        let events = &self.violation.execution.events;
        let last = events.iter().rposition(|event| event.thread == Some(thread))?;
        self.words.awaited(last as u32)
    }

    /// Who waits for whom, where that comes back to where it began.
    fn circle(&self) -> Option<Finding> {
        let standings = (0u32..).zip(&self.violation.execution.standings);
        let waits: HashMap<u32, u32> = standings
            .filter_map(|(thread, standing)| Some((thread, self.awaited(thread, standing)?.1?)))
            .collect();
        let threads = 0..self.violation.execution.threads.len() as u32;
        let circle = { threads }.find_map(|start| circle_from(start, &waits))?;
        let names: Vec<&str> =
            circle.iter().map(|thread| self.words.thread_name(*thread)).collect();
        let text = match names.as_slice() {
            [one] => format!("{one} waits for itself"),
            [first, rest @ ..] => {
                let rest = rest.join(", which waits for ");
                format!("{first} waits for {rest}, which waits for {first}")
            }
            [] => return None,
        };
        Some(Finding { text, calls: Vec::new() })
    }

    /// What the reads that a thread is stuck at have found: `m: it is 1 since main's store at
    /// line 3`.
    fn stuck_reads(&self, thread: u32) -> Vec<String> {
        let events = &self.violation.execution.events;
        let named = self.violation.involved.iter().copied();
        let own = named.filter(|event| {
            self.relevance.involved.contains(event)
                && events[*event as usize].thread == Some(thread)
                && matches!(events[*event as usize].kind, EventKind::Read { .. })
                && events[*event as usize].kind.life().is_none()
        });
        let mut seen = HashSet::new();
        let own = own.filter(|event| seen.insert(self.words.access(*event)));
        own.map(|event| {
            let since = self.words.since(event);
            format!("{}: it is {}{since}", self.words.location(event), self.words.value(event))
        })
        .collect()
    }

    fn standings(&self, wanted: impl Fn(ThreadEnding) -> bool) -> Vec<(u32, &Standing, &str)> {
        let standings = (0u32..).zip(&self.violation.execution.standings);
        standings
            .filter(|(_, standing)| wanted(standing.ending))
            .map(|(thread, standing)| (thread, standing, self.words.thread_name(thread)))
            .collect()
    }
}

/// The threads that wait for one another in a circle from this one on.
fn circle_from(start: u32, waits: &HashMap<u32, u32>) -> Option<Vec<u32>> {
    let mut circle = vec![start];
    loop {
        let next = *waits.get(circle.last()?)?;
        if next == start {
            return Some(circle);
        }
        if circle.contains(&next) {
            return None;
        }
        circle.push(next);
    }
}

fn at(place: Option<&Location>) -> String {
    place.map_or_else(String::new, |place| format!(" at {place}"))
}
