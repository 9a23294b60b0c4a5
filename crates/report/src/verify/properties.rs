//! Whatever happened can be described: random executions, with relations that no model allows.

use std::time::Duration;

use parallax_memory::ProgramOrder;
use parallax_program::{Bits, Property, Tags};
use parallax_verdict::{
    Confirmed, Counts, Event, EventKind, Execution, Gaps, Scope, Searched, Standing, ThreadEnding,
    Verdict, Violation,
};
use proptest::prelude::*;

use super::cycle::{Edge, Step, shortest_cycle};
use super::links::Links;
use super::order::Order;
use super::{
    Detail, Page, TextStyle, Under, VerifyRun, verdict_html, verdict_json, verdict_sarif,
    verdict_text,
};
use crate::picture::properties::executions;
use crate::picture::{Caption, focused_dot, focused_svg};

fn standing(number: usize) -> Standing {
    let endings = [
        ThreadEnding::Ended,
        ThreadEnding::Waiting,
        ThreadEnding::Spinning { from: 0 },
        ThreadEnding::Stopped,
        ThreadEnding::Failed,
    ];
    Standing {
        ending: endings[number % 5],
        stack: Vec::new(),
        text: "f(x);".to_string(),
        awaits: None,
    }
}

fn verdicts() -> impl Strategy<Value = Verdict> {
    let involved = prop::collection::vec(0u32..40, 0..4);
    (executions(), involved, 0..Property::ALL.len()).prop_map(|(mut execution, involved, at)| {
        execution.standings = (0..execution.threads.len()).map(|n| standing(n + at)).collect();
        let (message, place) = ("no & <b>".to_string(), None);
        let property = Property::ALL[at];
        let execution = Confirmed::by_hand(execution);
        let searched = Searched {
            scope: Scope::Complete,
            all: false,
            gaps: Gaps::default(),
            properties: vec![property],
            counts: Counts::default(),
            violations: vec![Violation { property, message, place, execution, involved }],
            notes: Vec::new(),
        };
        searched.conclude()
    })
}

/// An access: whether it writes, and to which of two places.
type Access = (bool, u8);

/// Executions that make sense: each read has one source, coherence is total for each place.
fn sane_executions() -> impl Strategy<Value = Execution> {
    let threads = prop::collection::vec(prop::collection::vec((any::<bool>(), 0u8..2), 1..4), 2..4);
    (threads, prop::collection::vec(any::<u32>(), 16)).prop_map(|(threads, choices)| {
        let mut execution = Execution {
            threads: (0..threads.len()).map(|n| format!("t#{n}")).collect(),
            events: vec![access(None, (true, 0)), access(None, (true, 1))],
            ..Execution::default()
        };
        for (thread, accesses) in (0u32..).zip(&threads) {
            let events = accesses.iter().map(|one| access(Some(thread), *one));
            execution.events.extend(events);
        }
        for place in [0, 8] {
            communicate(&mut execution, place, &choices);
        }
        execution
    })
}

/// Picks a source for each read of a place, and an order of its writes.
fn communicate(execution: &mut Execution, place: u64, choices: &[u32]) {
    let choice = |event: u32| choices[event as usize % choices.len()];
    let (mut writes, mut reads) = (Vec::new(), Vec::new());
    for (number, event) in (0u32..).zip(&execution.events) {
        match event.kind {
            EventKind::Write { address, .. } if address == place => writes.push(number),
            EventKind::Read { address, .. } if address == place => reads.push(number),
            _ => {}
        }
    }
    // The initial write stays first.
    writes[1..].sort_by_key(|write| choice(*write));
    for (number, write) in writes.iter().enumerate() {
        execution.co.extend(writes[..number].iter().map(|before| (*before, *write)));
    }
    let source = |read: u32| writes[choice(read + 5) as usize % writes.len()];
    execution.rf.extend(reads.into_iter().map(|read| (source(read), read)));
}

fn access(thread: Option<u32>, (writes, place): Access) -> Event {
    let (location, shown) = (["x", "y"][usize::from(place)].to_string(), String::new());
    let (address, size, value) = (8 * u64::from(place), 4, Bits::zero(32));
    let kind = if writes {
        EventKind::Write { location, address, size, value, shown }
    } else {
        EventKind::Read { location, address, size, value, shown }
    };
    Event { thread, kind, tags: Tags::none(), place: None, text: String::new() }
}

/// Whether a step of a cycle is one of the execution.
fn is_step(execution: &Execution, edge: &Edge) -> bool {
    let pair = (edge.from, edge.to);
    let thread = |event: u32| execution.events[event as usize].thread;
    match edge.step {
        Step::Po => edge.from < edge.to && thread(edge.from) == thread(edge.to),
        Step::Rf => execution.rf.contains(&pair),
        Step::Co => execution.co.contains(&pair),
        Step::Fr => execution.fr().contains(&pair),
    }
}

/// Whether every read finds the last write before it.
fn explains(execution: &Execution, order: &Order) -> bool {
    let at = |event: u32| order.position[event as usize];
    execution.rf.iter().all(|(write, read)| {
        let later = execution.co.iter().filter(|(before, _)| before == write);
        at(*write) < at(*read) && later.map(|(_, after)| *after).all(|after| at(after) > at(*read))
    })
}

/// Every event of a thread, once.
fn is_complete(execution: &Execution, order: &Order) -> bool {
    let mut events = order.events.clone();
    events.sort_unstable();
    let expected = (0u32..).zip(&execution.events).filter(|(_, event)| event.thread.is_some());
    events.into_iter().eq(expected.map(|(number, _)| number))
}

proptest! {
    #[test]
    fn every_form_is_written(verdict in verdicts()) {
        let (time, peak_rss_kib) = (Duration::ZERO, 0);
        let (input, engine) = ("a.c", "explore");
        let under = Under { model: "rc11", order: Some(ProgramOrder::MemoryOrders) };
        let run = VerifyRun { input, under, engine, engine_summary: "", counts_executions: true, all: true, time, peak_rss_kib, solver: None, candidate: None };
        for detail in [Detail::Short, Detail::Full] {
            let style = TextStyle { colour: false, width: 80, detail };
            prop_assert!(verdict_text(&run, &verdict, style).starts_with("unsafe: "));
        }
        for text in [verdict_json(&run, &verdict), verdict_sarif(&run, &verdict)] {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{}", text);
        }
        prop_assert!(verdict_html(&run, &verdict, &Page::default()).contains("no &amp; &lt;b&gt;"));
        let caption = Caption { title: "t", subtitle: "" };
        for violation in &verdict.violations {
            prop_assert!(focused_svg(violation, caption).ends_with("</svg>\n"));
            prop_assert!(focused_dot(violation, caption).starts_with("digraph"));
        }
    }

    #[test]
    fn interleavings_are_those_without_a_cycle(execution in sane_executions()) {
        let links = Links::new(&execution);
        let order = Order::new(&execution, &links);
        match shortest_cycle(&execution, &links) {
            None => prop_assert!(order.interleaving && explains(&execution, &order)),
            Some(cycle) => {
                prop_assert!(!order.interleaving);
                prop_assert!(cycle.iter().all(|edge| is_step(&execution, edge)), "{:?}", cycle);
                let next = cycle.iter().cycle().skip(1);
                prop_assert!(cycle.iter().zip(next).all(|(a, b)| a.to == b.from), "{:?}", cycle);
            }
        }
    }

    #[test]
    fn orders_have_every_event_once(execution in executions()) {
        let order = Order::new(&execution, &Links::new(&execution));
        prop_assert!(is_complete(&execution, &order));
    }
}
