//! Executions of whole programs, written down by hand.
//!
//! A line is an event: `8: writes x=1 [RLX] ; x = 1;`, where 8 is the line in the source.

use parallax_program::{Bits, Location, Program, Property, Tags};
use parallax_verdict::{
    Call, Confirmed, Counts, Event, EventKind, Execution, Gaps, Scope, Searched, Standing,
    ThreadEnding, Verdict, Violation,
};

pub fn place(line: u32) -> Location {
    Location { file: "mp.c".into(), line, column: 5 }
}

/// Threads by name and lines, and what they stand at in the end.
pub fn execution(initial: &[&str], threads: &[(&str, &[&str], Standing)]) -> Execution {
    let mut execution = Execution {
        threads: threads.iter().map(|(name, _, _)| name.to_string()).collect(),
        standings: threads.iter().map(|(_, _, standing)| standing.clone()).collect(),
        ..Execution::default()
    };
    let mut places = Vec::new();
    for text in initial {
        let kind = kind("writes", text, &mut places);
        let (tags, text) = (Tags::none(), String::new());
        execution.events.push(Event { thread: None, kind, tags, place: None, text });
        execution.stacks.push(Vec::new());
    }
    for (thread, (name, lines, _)) in (0u32..).zip(threads) {
        let first = execution.events.len() as u32;
        for line in *lines {
            let number = execution.events.len() as u32;
            execution.po.extend((first..number).map(|before| (before, number)));
            execution.events.push(event(thread, line, &mut places));
            let function = name.split('#').next().unwrap_or(name).to_string();
            let at = execution.events[number as usize].place.clone();
            let call = at.map(|place| Call { function, place });
            execution.stacks.push(call.into_iter().collect());
        }
    }
    execution
}

fn event(thread: u32, line: &str, places: &mut Vec<String>) -> Event {
    let (head, text) = line.split_once(" ; ").unwrap_or((line, ""));
    let (line, act) = head.split_once(": ").expect("a line number");
    let (act, tags) = act.split_once(" [").unwrap_or((act, "NA]"));
    let (verb, what) = act.split_once(' ').unwrap_or((act, ""));
    let tags = tags.trim_end_matches(']').split(',');
    Event {
        thread: Some(thread),
        kind: kind(verb, what, places),
        tags: Tags::new(tags.flat_map(|tag| if tag == "NA" { vec![tag] } else { vec!["A", tag] })),
        place: Some(place(line.parse().expect("a number"))),
        text: text.to_string(),
    }
}

fn kind(verb: &str, what: &str, places: &mut Vec<String>) -> EventKind {
    let cell = |offset: u64| {
        let thread: u32 = what.parse().expect("a thread");
        (what.to_string(), Program::thread_address(thread) + offset, "1".to_string())
    };
    let (location, address, shown) = match verb {
        "starts" | "begins" => cell(0),
        "ends" | "joins" => cell(8),
        "passes" => return EventKind::Fence,
        "allocates" => return EventKind::Alloc { address: 0x9000, size: 16, name: what.into() },
        "frees" => return EventKind::Free { address: 0x9000, name: what.into() },
        _ => {
            let (name, value) = what.split_once('=').expect("a value");
            let number = places.iter().position(|known| known == name).unwrap_or_else(|| {
                places.push(name.to_string());
                places.len() - 1
            });
            (name.to_string(), 0x5000_0000 + 8 * number as u64, value.to_string())
        }
    };
    let (size, value) = (4, Bits::signed(32, shown.parse().unwrap_or(0)));
    match verb {
        "writes" | "starts" | "ends" => EventKind::Write { location, address, size, value, shown },
        _ => EventKind::Read { location, address, size, value, shown },
    }
}

pub fn standing(ending: ThreadEnding, line: u32, text: &str) -> Standing {
    let function = "worker".to_string();
    let stack = vec![Call { function, place: place(line) }];
    Standing { ending, stack, text: text.to_string(), awaits: None }
}

pub fn ended() -> Standing {
    Standing { ending: ThreadEnding::Ended, stack: Vec::new(), text: String::new(), awaits: None }
}

pub fn stopped() -> Standing {
    Standing { ending: ThreadEnding::Stopped, ..ended() }
}

pub fn verdict(violations: Vec<Violation>) -> Verdict {
    let searched = Searched {
        scope: Scope::Complete,
        all: true,
        gaps: Gaps::default(),
        properties: vec![Property::Assert, Property::Race],
        counts: Counts { executions: 3, blocked: 1, redundant: 0, states: 0, events: 40 },
        violations,
        notes: Vec::new(),
    };
    searched.conclude()
}

pub fn violation(
    property: Property,
    message: &str,
    line: u32,
    execution: Execution,
    involved: &[u32],
) -> Violation {
    Violation {
        property,
        message: message.to_string(),
        place: Some(place(line)),
        execution: Confirmed::by_hand(execution),
        involved: involved.to_vec(),
    }
}
