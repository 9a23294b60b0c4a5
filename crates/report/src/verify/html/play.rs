//! Memory as it changes from step to step: of each place its stores in coherence order, and from which
//! step on each is there. That is true of every model; under those with store buffers, it is said from
//! which step on a store has left its buffer, too.
//!
//! Buffers are played again, with each store as long in its buffer as it can be: stores leave in the
//! order in which they came (under pso, those to one place), before others that replace them, before
//! another thread reads them and before a fence of their thread (Owens, Sarkar and Sewell, TPHOLs 2009).
//! Where reads then find what they have read, this is what a machine can have done; where they do not,
//! nothing is said of buffers.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use parallax_memory::ProgramOrder;
use parallax_verdict::{EventKind, Execution, Violation};
use serde::Serialize;

use super::super::Under;
use super::super::calls::Meaning;
use super::super::links::Links;
use super::super::story::Story;
use super::super::words::Words;
use super::chart::Chart;

/// The bytes of an access: address and size.
type Cell = (u64, u32);

/// What the script of the page gets to know.
#[derive(Serialize)]
pub struct Play {
    pub last: u32,
    pub cells: Vec<Place>,
    pub reads: Vec<Read>,
    /// Names of the threads, where there are store buffers to show.
    pub buffers: Option<Vec<String>>,
    /// For each step who does what.
    pub steps: Vec<String>,
}

#[derive(Serialize)]
pub struct Place {
    pub name: String,
    pub stores: Vec<Store>,
    /// From which step on it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<u32>,
}

#[derive(Serialize)]
pub struct Store {
    pub value: String,
    pub who: String,
    /// The step that shows it; 0 for none.
    pub step: u32,
    /// From which step on it is there.
    pub from: u32,
    /// From which step on it is in memory, and no longer in a buffer; nothing if it never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lands: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u32>,
}

#[derive(Serialize)]
pub struct Read {
    pub step: u32,
    pub cell: usize,
    pub store: usize,
    /// Whether a newer store was shown before.
    pub old: bool,
}

pub fn play(violation: &Violation, story: &Story, chart: &Chart, under: Under<'_>) -> Play {
    let execution: &Execution = &violation.execution;
    let links = Links::new(execution);
    let words = Words { execution, links: &links };
    let frames = Frames::new(execution, story, chart);
    let kind = match under.order {
        Some(ProgramOrder::StoreBuffer) => Some(false),
        Some(ProgramOrder::StoreBuffers) => Some(true),
        _ => None,
    };
    let landings = kind.and_then(|apart| {
        Buffers::new(execution, &links, &story.order.position, apart).run(&story.order.events)
    });
    let mut cells = cells(&words, chart);
    // For each store how many come before it in coherence order.
    let mut before: HashMap<u32, usize> = HashMap::new();
    for (_, later) in &execution.co {
        *before.entry(*later).or_default() += 1;
    }
    let mut places = Vec::new();
    let mut index: HashMap<u32, (usize, usize)> = HashMap::new();
    for (cell, writes) in &mut cells {
        // Nobody has to know with which number the library begins.
        if writes.iter().any(|write| words.meaning(*write).is_some()) {
            writes.retain(|write| words.event(*write).thread.is_some());
        }
        writes.sort_by_cached_key(|write| {
            (before.get(write).copied(), story.order.position[*write as usize], *write)
        });
        let stores = (0..).zip(&*writes).map(|(number, write)| {
            index.insert(*write, (places.len(), number));
            store(&words, chart, &frames, landings.as_ref(), *write)
        });
        let stores: Vec<Store> = stores.collect();
        let name = writes.first().map_or_else(String::new, |write| words.location(*write));
        places.push(Place { name, stores, freed: freed(execution, &frames, *cell) });
    }
    let rows = story.threads.iter().flat_map(|thread| &thread.rows);
    let shown = rows.filter_map(|row| match row {
        super::super::trace::Row::Step(row) => Some(row),
        _ => None,
    });
    let mut steps = vec![String::new(); chart.last() as usize];
    let mut reads = Vec::new();
    for row in shown {
        if let Some(step) = steps.get_mut((row.step as usize).wrapping_sub(1)) {
            *step = format!("{} {}", words.who(row.event), row.words);
        }
        let source = links.source[row.event as usize];
        if let Some((cell, store)) = source.and_then(|write| index.get(&write)).copied() {
            reads.push(Read { step: row.step, cell, store, old: row.missed.is_some() });
        }
    }
    reads.sort_by_key(|read| read.step);
    let buffers = landings.map(|_| execution.threads.clone());
    Play { last: chart.last(), cells: places, reads, buffers, steps }
}

fn store(
    words: &Words<'_>,
    chart: &Chart,
    frames: &Frames,
    landings: Option<&HashMap<u32, u32>>,
    write: u32,
) -> Store {
    let from = frames.of(write);
    Store {
        value: value(words, write),
        who: words.who(write).to_string(),
        step: chart.step(write).unwrap_or(0),
        from,
        lands: match landings {
            None => Some(from),
            Some(landings) => landings.get(&write).map(|position| frames.at(*position).max(from)),
        },
        thread: words.event(write).thread,
    }
}

/// What a store leaves there; of a lock, who holds it.
fn value(words: &Words<'_>, write: u32) -> String {
    match words.meaning(write) {
        Some(Meaning::Said(said)) if said.starts_with("unlocks ") => "free".to_string(),
        Some(Meaning::Said(said)) if said.starts_with("locks ") => {
            format!("locked by {}", words.who(write))
        }
        Some(_) => "free".to_string(),
        None => words.value(write),
    }
}

/// The places that steps on the page access, with all stores there. What the library keeps in its
/// objects is left out, but locks.
fn cells(words: &Words<'_>, chart: &Chart) -> BTreeMap<Cell, Vec<u32>> {
    let mut cells: BTreeMap<Cell, Vec<u32>> = BTreeMap::new();
    let mut kept: HashSet<Cell> = HashSet::new();
    for (number, event) in (0u32..).zip(&words.execution.events) {
        let Some(cell) = event.kind.footprint().filter(|_| event.kind.life().is_none()) else {
            continue;
        };
        let meaning = words.meaning(number);
        let is_own = match &meaning {
            None => true,
            Some(Meaning::Said(said)) => is_lock(said),
            Some(Meaning::Part) => false,
        };
        if chart.step(number).is_some() && is_own {
            kept.insert(cell);
        }
        let is_there = match &meaning {
            None => true,
            Some(Meaning::Said(said)) => is_lock(said) || said.starts_with("initialises "),
            Some(Meaning::Part) => false,
        };
        if matches!(event.kind, EventKind::Write { .. }) && is_there {
            cells.entry(cell).or_default().push(number);
        }
    }
    cells.retain(|cell, _| kept.contains(cell));
    cells
}

fn is_lock(said: &str) -> bool {
    said.starts_with("locks ") || said.starts_with("unlocks ")
}

/// When the object that holds a place goes away.
fn freed(execution: &Execution, frames: &Frames, (address, _): Cell) -> Option<u32> {
    let sizes = execution.events.iter().filter_map(|event| match event.kind {
        EventKind::Alloc { address: start, size, .. } => Some((start, size)),
        _ => None,
    });
    let sizes: HashMap<u64, u64> = sizes.collect();
    let frees = (0u32..).zip(&execution.events).filter(|(_, event)| match event.kind {
        EventKind::Free { address: start, .. } => {
            let size = sizes.get(&start).copied().unwrap_or(1);
            address.checked_sub(start).is_some_and(|offset| offset < size.max(1))
        }
        _ => false,
    });
    frees.map(|(number, _)| frames.of(number)).max()
}

/// The step after which something has happened: events that are not shown happen with the next one
/// that is.
struct Frames {
    position: Vec<u32>,
    /// For each step, from 1, the position of its last event.
    ends: Vec<u32>,
}

impl Frames {
    fn new(execution: &Execution, story: &Story, chart: &Chart) -> Frames {
        let position = story.order.position.clone();
        let mut ends = vec![0; chart.last() as usize];
        for number in 0..execution.events.len() as u32 {
            let Some(step) = chart.step(number) else { continue };
            if let Some(end) = ends.get_mut(step as usize - 1) {
                *end = position[number as usize].max(*end);
            }
        }
        Frames { position, ends }
    }

    fn of(&self, event: u32) -> u32 {
        self.at(self.position[event as usize])
    }

    fn at(&self, position: u32) -> u32 {
        match position {
            0 => 0,
            _ => match self.ends.partition_point(|end| *end < position) {
                past if past == self.ends.len() => self.ends.len() as u32,
                step => step as u32 + 1,
            },
        }
    }
}

struct Buffers<'a> {
    execution: &'a Execution,
    links: &'a Links,
    position: &'a [u32],
    /// Whether there is a buffer for each place.
    apart: bool,
    /// For each write the one that it replaces.
    replaces: HashMap<u32, u32>,
    parts_of_updates: HashSet<u32>,
    waiting: Vec<VecDeque<u32>>,
    memory: HashMap<Cell, u32>,
    /// Positions at which stores leave.
    landed: HashMap<u32, u32>,
    now: u32,
}

impl<'a> Buffers<'a> {
    fn new(
        execution: &'a Execution,
        links: &'a Links,
        position: &'a [u32],
        apart: bool,
    ) -> Buffers<'a> {
        let replaced = (0u32..).zip(&links.replaced_by);
        let replaces = replaced.filter_map(|(write, later)| Some(((*later)?, write))).collect();
        let updates = execution.rmw.iter().flat_map(|(read, write)| [*read, *write]);
        Buffers {
            execution,
            links,
            position,
            apart,
            replaces,
            parts_of_updates: updates.collect(),
            waiting: vec![VecDeque::new(); execution.threads.len()],
            memory: HashMap::new(),
            landed: HashMap::new(),
            now: 0,
        }
    }

    /// When each store has left its buffer. None where no machine does this in this order.
    fn run(mut self, order: &[u32]) -> Option<HashMap<u32, u32>> {
        self.check_cells()?;
        let initial = (0u32..).zip(&self.execution.events);
        for (number, _) in initial.filter(|(_, event)| event.thread.is_none()) {
            self.land(number);
        }
        for event in order.iter().copied() {
            self.now = self.position[event as usize];
            self.step(event)?;
        }
        Some(self.landed)
    }

    /// Accesses that overlap in part are beyond this.
    fn check_cells(&self) -> Option<()> {
        let cells = self.execution.events.iter().filter_map(|event| event.kind.footprint());
        let mut cells: Vec<Cell> = cells.collect();
        cells.sort_unstable();
        cells.dedup();
        let apart = |pair: &[Cell]| pair[0].0 + u64::from(pair[0].1) <= pair[1].0;
        cells.windows(2).all(apart).then_some(())
    }

    fn step(&mut self, event: u32) -> Option<()> {
        let at = self.execution.events.get(event as usize)?;
        let thread = at.thread? as usize;
        let has = |tags: &[&str]| tags.iter().any(|tag| at.tags.contains(tag));
        let is_write = matches!(at.kind, EventKind::Write { .. });
        let empties = at.kind.life().is_some()
            || at.kind == EventKind::Fence && has(&["MFENCE", "SC"])
            || self.parts_of_updates.contains(&event)
            || has(&["X"])
            || is_write && has(&["SC"]);
        if empties {
            self.empty(thread)?;
        }
        match &at.kind {
            EventKind::Write { .. } => {
                self.waiting.get_mut(thread)?.push_back(event);
                if empties {
                    self.empty(thread)?;
                }
            }
            EventKind::Read { .. } => self.read(event, thread)?,
            _ => {}
        }
        Some(())
    }

    fn empty(&mut self, thread: usize) -> Option<()> {
        while let Some(write) = self.waiting.get(thread)?.front().copied() {
            self.leave(write, &mut HashSet::new())?;
        }
        Some(())
    }

    fn read(&mut self, event: u32, thread: usize) -> Option<()> {
        let Some(source) = self.links.source[event as usize] else { return Some(()) };
        let cell = self.cell(event)?;
        let own = self.waiting.get(thread)?.iter().rev();
        let own = { own }.copied().find(|write| self.cell(*write) == Some(cell));
        if let Some(newest) = own {
            return (newest == source).then_some(());
        }
        self.leave(source, &mut HashSet::new())?;
        (self.memory.get(&cell) == Some(&source)).then_some(())
    }

    /// A store goes to memory, and all that has to be there before.
    fn leave(&mut self, write: u32, under_way: &mut HashSet<u32>) -> Option<()> {
        let mut open = vec![write];
        while let Some(write) = open.last().copied() {
            if self.landed.contains_key(&write) {
                open.pop();
                continue;
            }
            let thread = self.execution.events.get(write as usize)?.thread? as usize;
            let cell = self.cell(write)?;
            let buffer = self.waiting.get(thread)?;
            let place = buffer.iter().position(|waiting| *waiting == write)?;
            let mut earlier = buffer.iter().take(place);
            let first = earlier.find(|other| !self.apart || self.cell(**other) == Some(cell));
            let replaced = self.replaces.get(&write).filter(|old| !self.landed.contains_key(old));
            match first.or(replaced).copied() {
                Some(before) if under_way.insert(before) => open.push(before),
                Some(_) => return None,
                None => {
                    self.waiting.get_mut(thread)?.remove(place);
                    self.land(write);
                    open.pop();
                }
            }
        }
        Some(())
    }

    fn land(&mut self, write: u32) {
        self.landed.insert(write, self.now);
        if let Some(cell) = self.cell(write) {
            self.memory.insert(cell, write);
        }
    }

    fn cell(&self, event: u32) -> Option<Cell> {
        self.execution.events.get(event as usize)?.kind.footprint()
    }
}

#[cfg(test)]
mod tests {
    use parallax_program::{Bits, Tags};
    use parallax_verdict::Event;

    use super::*;

    fn event(thread: Option<u32>, kind: EventKind) -> Event {
        Event { thread, kind, tags: Tags::default(), place: None, text: String::new() }
    }

    fn access(writes: bool, address: u64) -> EventKind {
        let (location, shown, value) = (String::new(), String::new(), Bits::zero(32));
        match writes {
            true => EventKind::Write { location, address, size: 4, value, shown },
            false => EventKind::Read { location, address, size: 4, value, shown },
        }
    }

    /// Two threads, each of a list of accesses: whether it writes, and where.
    fn execution(threads: [&[(bool, u64)]; 2]) -> Execution {
        let mut events = vec![event(None, access(true, 8)), event(None, access(true, 16))];
        for (thread, own) in (0u32..).zip(threads) {
            events.extend(own.iter().map(|(w, at)| event(Some(thread), access(*w, *at))));
        }
        let threads = vec!["one".to_string(), "two".to_string()];
        Execution { threads, events, ..Execution::default() }
    }

    fn landings(execution: &Execution, apart: bool, order: &[u32]) -> Option<HashMap<u32, u32>> {
        let mut position = vec![0; execution.events.len()];
        for (place, event) in (1u32..).zip(order) {
            position[*event as usize] = place;
        }
        Buffers::new(execution, &Links::new(execution), &position, apart).run(order)
    }

    #[test]
    fn stores_stay_in_their_buffers_while_others_read_what_is_older() {
        let mut sb = execution([&[(true, 8), (false, 16)], &[(true, 16), (false, 8)]]);
        sb.rf = vec![(1, 3), (0, 5)];
        sb.co = vec![(0, 2), (1, 4)];
        let landed = landings(&sb, false, &[2, 4, 3, 5]).expect("a machine does this");
        assert!(!landed.contains_key(&2) && !landed.contains_key(&4));
        // With a fence in the first thread, its store is there before it reads.
        sb.events[3].tags = Tags::new(["X"]);
        assert_eq!(landings(&sb, false, &[2, 4, 3, 5]), None);
    }

    #[test]
    fn one_buffer_keeps_the_order_of_stores() {
        // The message is not there although the flag is: pso alone allows that.
        let mut mp = execution([&[(true, 8), (true, 16)], &[(false, 16), (false, 8)]]);
        mp.rf = vec![(3, 4), (0, 5)];
        mp.co = vec![(0, 2), (1, 3)];
        assert_eq!(landings(&mp, false, &[2, 3, 4, 5]), None);
        let landed = landings(&mp, true, &[2, 3, 4, 5]).expect("a machine does this");
        assert_eq!(landed.get(&3), Some(&3));
        assert!(!landed.contains_key(&2));
    }

    #[test]
    fn what_a_thread_has_written_it_reads_from_its_buffer() {
        let mut own = execution([&[(true, 8), (false, 8)], &[(false, 8)]]);
        own.rf = vec![(2, 3), (0, 4)];
        own.co = vec![(0, 2)];
        let landed = landings(&own, false, &[2, 3, 4]).expect("a machine does this");
        assert!(!landed.contains_key(&2));
    }
}
