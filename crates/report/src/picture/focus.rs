//! The part of a violation's execution that is worth a picture.
//!
//! The life of threads, choices and (where there is much to draw) memory that one thread has for
//! itself are left out, then all but what the violation is about, the values it reads and the
//! last steps of each thread. Arrows go between threads. Memory orders get their short names, and
//! instructions their lines.

use std::collections::{HashMap, HashSet};

use parallax_program::{Location, Property, Tags};
use parallax_verdict::{Edges, Event, EventKind, Execution, Standing, ThreadEnding, Violation};

use super::scene::Scene;
use super::{Caption, dot, svg};
use crate::verify::{Naming, Relevance, own_call, shared_addresses, shown_tags, source};

/// As few events leave room for every arrow.
const FEW_EVENTS: usize = 12;
/// As many events fit into a picture that nobody has to search.
const SOME_EVENTS: usize = 28;
const MANY_EVENTS: usize = 56;
/// Steps of each thread that stay when most have to go.
const LAST_STEPS: usize = 6;

/// Draws the execution of a violation.
pub fn focused_svg(violation: &Violation, caption: Caption<'_>) -> String {
    let focus = Focus::new(violation);
    svg::draw_scene(&focus.scene(), &[&focus.subtitle(caption)], caption.title)
}

/// The same in the DOT language.
pub fn focused_dot(violation: &Violation, caption: Caption<'_>) -> String {
    let focus = Focus::new(violation);
    dot::write_scene(&focus.scene(), &[caption.title, &focus.subtitle(caption)])
}

struct Focus {
    execution: Execution,
    /// Numbers in the reduced execution.
    involved: Vec<u32>,
    /// For threads that did not just end: their column, what has become of them, and the line.
    standings: Vec<(usize, &'static str, String)>,
    /// Events of threads that were left out.
    left_out: usize,
}

impl Focus {
    fn new(violation: &Violation) -> Focus {
        let execution = &violation.execution;
        let relevance = Relevance::new(violation);
        let kept = kept(violation, &relevance);
        // Reads of initial values are a matter of course, unless the story is about them.
        let worth = |(write, read): &&(u32, u32)| {
            let initial = execution.events.get(*write as usize).is_some_and(|w| w.thread.is_none());
            !initial || kept.len() <= FEW_EVENTS || relevance.involved.contains(read)
        };
        let rf: Edges = execution.rf.iter().filter(worth).copied().collect();
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut events = Vec::new();
        let columns = columns(violation, &kept);
        let naming = Naming::of(execution);
        let standings = (0u32..).zip(&execution.standings);
        for (number, event) in (0u32..).zip(&execution.events) {
            if event.thread.is_none() || kept.contains(&number) {
                numbers.insert(number, events.len() as u32);
                events.push(reworded(event, &columns, &naming));
            }
        }
        let renumbered = |edges: &Edges| -> Edges {
            let pair = |(a, b): &(u32, u32)| Some((*numbers.get(a)?, *numbers.get(b)?));
            edges.iter().filter_map(pair).collect()
        };
        let threads = (0u32..).zip(&execution.threads);
        Focus {
            involved: violation.involved.iter().filter_map(|e| numbers.get(e).copied()).collect(),
            standings: standings
                .filter_map(|(thread, standing)| {
                    let action = ending(violation, standing)?;
                    let place = own_call(&standing.stack).map(|call| &call.place);
                    let text = source(&standing.stack, &standing.text);
                    Some((*columns.get(&thread)? as usize, action, numbered(place, &text)))
                })
                .collect(),
            left_out: execution.events.iter().filter(|event| event.thread.is_some()).count()
                - kept.len(),
            execution: Execution {
                threads: threads
                    .filter(|(number, _)| columns.contains_key(number))
                    .map(|(_, name)| name.clone())
                    .collect(),
                events,
                po: renumbered(&execution.po),
                rf: renumbered(&rf),
                co: renumbered(&execution.co),
                addr: renumbered(&execution.addr),
                data: renumbered(&execution.data),
                ctrl: renumbered(&execution.ctrl),
                rmw: renumbered(&execution.rmw),
                ..Execution::default()
            },
        }
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::new(&self.execution);
        scene.between_threads();
        scene.highlight(&self.involved);
        for (column, action, detail) in &self.standings {
            scene.end_with(*column, action, detail);
        }
        scene
    }

    fn subtitle(&self, caption: Caption<'_>) -> String {
        match (caption.subtitle, self.left_out) {
            (subtitle, 0) => subtitle.to_string(),
            ("", left_out) => format!("{left_out} steps are not drawn"),
            (subtitle, left_out) => format!("{subtitle}; {left_out} steps are not drawn"),
        }
    }
}

/// The column of each thread that has something to show.
fn columns(violation: &Violation, kept: &HashSet<u32>) -> HashMap<u32, u32> {
    let execution = &violation.execution;
    let threads = 0..execution.threads.len() as u32;
    let stands = |thread: u32| {
        let standing = execution.standings.get(thread as usize);
        standing.is_some_and(|standing| ending(violation, standing).is_some())
    };
    let shows = |thread: &u32| {
        let mut events = (0u32..).zip(&execution.events);
        stands(*thread)
            || events.any(|(number, event)| event.thread == Some(*thread) && kept.contains(&number))
    };
    threads.filter(shows).zip(0..).collect()
}

/// The events of threads that stay.
fn kept(violation: &Violation, relevance: &Relevance) -> HashSet<u32> {
    let execution = &violation.execution;
    let Relevance { involved, idle } = relevance;
    let mut about = involved.clone();
    about.retain(|event| execution.events[*event as usize].kind.life().is_none());
    let events = || (0u32..).zip(&execution.events).filter(|(_, event)| event.thread.is_some());
    let visible = |number: u32, event: &Event| {
        let worth = event.kind.is_visible() && !idle[number as usize];
        event.kind.life().is_none() && worth || about.contains(&number)
    };
    let all: HashSet<u32> = events().filter(|(n, e)| visible(*n, e)).map(|(n, _)| n).collect();
    if all.len() <= SOME_EVENTS {
        return all;
    }
    let shared = shared_addresses(execution);
    let is_shared = |number: u32| {
        let kind = &execution.events[number as usize].kind;
        *kind == EventKind::Fence || kind.footprint().is_some_and(|(at, _)| shared.contains(&at))
    };
    let shared: HashSet<u32> =
        all.iter().copied().filter(|n| about.contains(n) || is_shared(*n)).collect();
    if shared.len() <= MANY_EVENTS {
        return shared;
    }
    let mut kept = about;
    for thread in 0..execution.threads.len() as u32 {
        let own = events().filter(|(n, e)| e.thread == Some(thread) && shared.contains(n));
        let own: Vec<u32> = own.map(|(number, _)| number).collect();
        kept.extend(own.iter().rev().take(LAST_STEPS));
    }
    let sources = execution.rf.iter().filter(|(_, read)| kept.contains(read));
    let sources: Vec<u32> = sources.map(|(write, _)| *write).collect();
    let of_thread = |number: &u32| execution.events[*number as usize].thread.is_some();
    kept.extend(sources.into_iter().filter(of_thread));
    kept
}

/// The event in its column, with short tags and the number of its line.
fn reworded(event: &Event, columns: &HashMap<u32, u32>, naming: &Naming) -> Event {
    let names: Vec<String> = shown_tags(&event.tags).map(str::to_lowercase).collect();
    Event {
        thread: event.thread.and_then(|thread| columns.get(&thread).copied()),
        kind: renamed(&event.kind, naming),
        tags: Tags::new(names.iter().map(String::as_str)),
        text: numbered(event.place.as_ref(), &event.text),
        ..event.clone()
    }
}

/// The same with short names of objects.
fn renamed(kind: &EventKind, naming: &Naming) -> EventKind {
    let mut kind = kind.clone();
    match &mut kind {
        EventKind::Read { location, shown, .. } | EventKind::Write { location, shown, .. } => {
            *location = naming.object(location);
            *shown = naming.object(shown);
        }
        EventKind::Alloc { name, .. } | EventKind::Free { name, .. } => {
            *name = naming.object(name);
        }
        _ => {}
    }
    kind
}

/// `14: return n->value;`
fn numbered(place: Option<&Location>, text: &str) -> String {
    match place {
        Some(place) if !text.is_empty() => format!("{}: {text}", place.line),
        _ => text.to_string(),
    }
}

/// None for threads that just ended, or were not run any further. That one waits is news only
/// where the violation is about that.
fn ending(violation: &Violation, standing: &Standing) -> Option<&'static str> {
    let stuck = matches!(violation.property, Property::Deadlock | Property::Liveness);
    match standing.ending {
        ThreadEnding::Waiting if stuck => Some("waits for ever"),
        ThreadEnding::Spinning { .. } if stuck => Some("repeats for ever"),
        ThreadEnding::Failed => Some("fails here"),
        _ => None,
    }
}
