//! Executions that are graphs, as lines of a proof.

use std::fmt::Write;

use parallax_program::Tags;

use crate::declarative::Memory;
use crate::declarative::execution::{
    Event, Execution, Growth, Id, Kind, Line, Location, Source, Wait,
};

/// Which memory is a part of executions, and how threads use it.
pub fn uses(memory: &Memory<'_>) -> String {
    let mut text = String::new();
    for address in memory.tracked.iter().flatten() {
        let _ = writeln!(text, "track {address:#x}");
    }
    for (thread, address, of) in memory.uses.all_reads() {
        let _ = writeln!(text, "use {thread} {address:#x} read {}", tags(of));
    }
    for (thread, address, (read, write)) in memory.uses.all_modified() {
        let _ = writeln!(text, "use {thread} {address:#x} modify {} {}", tags(read), tags(write));
    }
    for thread in memory.uses.all_entering() {
        let _ = writeln!(text, "enters {thread}");
    }
    text
}

fn tags(of: &Tags) -> String {
    of.iter().fold(String::from("("), |text, tag| text + " " + tag.as_str()) + " )"
}

pub fn execution(of: &Execution) -> String {
    let mut text = format!(" graph {} turn {}\n", of.threads.len(), of.turn);
    for (number, own) in of.threads.iter().enumerate() {
        if *own != Line::default() {
            line(&mut text, number, own);
        }
    }
    text
}

fn line(text: &mut String, thread: usize, of: &Line) {
    for event in &of.events {
        let _ = writeln!(text, " event {thread} {}", shown(event));
    }
    let _ = match of.wait {
        Wait::Nothing => Ok(()),
        Wait::Open(address) => writeln!(text, " waits {thread} open {address:#x}"),
        Wait::Served(id) => writeln!(text, " waits {thread} served {}", place(id)),
    };
    for other in &of.joined {
        let _ = writeln!(text, " joined {thread} {other}");
    }
    for it in &of.forgotten {
        let which = if it.is_open { "open" } else { "forgotten" };
        let _ = write!(text, " before {thread} {:#x} {which}", it.address);
        for (kind, is_half) in &it.kinds {
            let half = if *is_half { " half" } else { "" };
            let _ = write!(text, " kind {}{half}", tags(kind));
        }
        for (word, who) in [("reader", &it.readers), ("modifier", &it.modifiers)] {
            for thread in who {
                let _ = write!(text, " {word} {thread}");
            }
        }
        text.push('\n');
    }
    if of.is_inside {
        let _ = writeln!(text, " inside {thread}");
    }
}

fn place(id: Id) -> String {
    format!("{} {}", id.thread, id.index)
}

fn shown(event: &Event) -> String {
    let kind = match event.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Fence => "fence",
    };
    let mut text = format!("{kind} {}", tags(&event.tags));
    let _ = match event.location {
        None => Ok(()),
        Some(Location::Memory(address)) => write!(text, " memory {address:#x}"),
        Some(Location::Start(thread)) => write!(text, " start {thread}"),
        Some(Location::End(thread)) => write!(text, " end {thread}"),
    };
    let _ = match event.source {
        None => Ok(()),
        Some(Source::Initial) => write!(text, " from initial"),
        Some(Source::Write(id)) => write!(text, " from {}", place(id)),
    };
    for (is_so, word) in [(event.is_half, " half"), (event.is_inside, " inside")] {
        text += if is_so { word } else { "" };
    }
    text
}

/// What leaves an execution after a step.
pub fn leaving(before: &Execution, growth: &Growth) -> String {
    let mut text = String::new();
    for (thread, kept) in growth.kept.iter().enumerate() {
        let own = before.threads.get(thread).map_or(0, |line| line.events.len());
        let new = growth.events.iter().filter(|(it, _)| *it as usize == thread).count();
        for index in (0..(own + new) as u32).filter(|index| !kept.contains(index)) {
            let id = Id { thread: thread as u32, index };
            let lost = growth.lost.iter().find(|(lost, _)| *lost == id);
            let _ = match lost {
                None => write!(text, " gone {}", place(id)),
                Some((_, true)) => write!(text, " gone {} open", place(id)),
                Some((_, false)) => write!(text, " gone {} forgotten", place(id)),
            };
        }
    }
    text
}
