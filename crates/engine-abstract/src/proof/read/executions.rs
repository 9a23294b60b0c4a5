//! Executions that are graphs, from the lines of a proof.

use std::sync::Arc;

use parallax_program::Tags;

use super::{Line, MOST_THREADS, Reader, Result};
use crate::declarative::execution::{
    Event, Execution, Forgotten, Id, Kind, Line as Row, Location, Source, Wait,
};

/// Events of one thread, and threads, at most.
const MOST_EVENTS: usize = 1 << 10;

/// Which event of a graph.
pub(super) fn id(line: &mut Line<'_>) -> Result<Id> {
    let thread = line.thread()?;
    Ok(Id { thread, index: line.below(MOST_EVENTS, "event")? as u32 })
}

fn tags(line: &mut Line<'_>) -> Result<Tags> {
    line.keyword("(")?;
    let mut words = Vec::new();
    while !line.accept(")") {
        words.push(line.word()?);
    }
    Ok(Tags::new(words))
}

impl<'t> Reader<'_, 't, '_> {
    /// Which memory is a part of executions, or how a thread uses it.
    pub(super) fn memory(&mut self, keyword: &str, line: &mut Line<'t>) -> Result<()> {
        let Some(memory) = &mut self.blocks.graphs else {
            return line.wrong("executions are no graphs in this proof");
        };
        match keyword {
            "track" => drop(memory.track(line.address()?)),
            "enters" => memory.uses.note_entry(line.thread()?),
            _ => {
                let at = (line.thread()?, line.address()?);
                if line.accept("read") {
                    memory.uses.note_read(at, &tags(line)?);
                } else {
                    line.keyword("modify")?;
                    let (read, write) = (tags(line)?, tags(line)?);
                    memory.uses.note_modification(at, (&read, &write));
                }
            }
        }
        Ok(())
    }

    /// A line about the execution of the last node.
    pub(super) fn graph(&mut self, keyword: &str, line: &mut Line<'t>) -> Result<()> {
        let has_graphs = self.blocks.graphs.is_some();
        let Some(node) = self.proof.nodes.last_mut().filter(|_| has_graphs) else {
            return line.wrong("there is no node yet, or executions are no graphs");
        };
        if keyword == "graph" {
            let count = line.below(MOST_THREADS as usize + 1, "thread")?;
            line.keyword("turn")?;
            let turn = line.thread()?;
            if std::mem::replace(&mut self.has_graph, true) {
                return line.wrong("the node has an execution already");
            }
            let threads = vec![Row::default(); count];
            let execution = Execution { threads, turn, ordered: Vec::new() };
            node.control.execution = Some(Arc::new(execution));
            return Ok(());
        }
        let thread = line.thread()? as usize;
        let execution = node.control.execution.as_mut().map(Arc::make_mut);
        let Some(own) = execution.and_then(|it| it.threads.get_mut(thread)) else {
            return line.wrong("there is no such thread in the execution");
        };
        match keyword {
            "event" if own.events.len() < MOST_EVENTS => own.events.push(event(line)?),
            "waits" if line.accept("open") => own.wait = Wait::Open(line.address()?),
            "waits" => {
                line.keyword("served")?;
                own.wait = Wait::Served(id(line)?);
            }
            "joined" => own.joined.push(line.thread()?),
            "before" => own.forgotten.push(forgotten(line)?),
            "inside" => own.is_inside = true,
            _ => return line.wrong("there are too many events"),
        }
        Ok(())
    }
}

fn event(line: &mut Line<'_>) -> Result<Event> {
    let kind = match line.word()? {
        "read" => Kind::Read,
        "write" => Kind::Write,
        "fence" => Kind::Fence,
        _ => return line.wrong("expected 'read', 'write' or 'fence'"),
    };
    let tags = tags(line)?;
    let location = match () {
        () if line.accept("memory") => Some(Location::Memory(line.address()?)),
        () if line.accept("start") => Some(Location::Start(line.thread()?)),
        () if line.accept("end") => Some(Location::End(line.thread()?)),
        () => None,
    };
    let source = match line.accept("from") {
        true if line.accept("initial") => Some(Source::Initial),
        true => Some(Source::Write(id(line)?)),
        false => None,
    };
    let (is_half, is_inside) = (line.accept("half"), line.accept("inside"));
    Ok(Event { kind, location, tags, source, is_half, is_inside })
}

fn forgotten(line: &mut Line<'_>) -> Result<Forgotten> {
    let address = line.address()?;
    let is_open = line.accept("open");
    if !is_open {
        line.keyword("forgotten")?;
    }
    let mut kinds = Vec::new();
    while line.accept("kind") {
        let tags = tags(line)?;
        kinds.push((tags, line.accept("half")));
    }
    let (mut readers, mut modifiers) = (Vec::new(), Vec::new());
    while line.accept("reader") {
        readers.push(line.thread()?);
    }
    while line.accept("modifier") {
        modifiers.push(line.thread()?);
    }
    Ok(Forgotten { address, is_open, kinds, readers, modifiers })
}
