//! How the events of an execution hang together: what comes next in a thread, where a read got
//! its value, which write replaces which. Only immediate steps, so that long executions stay
//! cheap to look at.

use std::collections::HashMap;

use parallax_program::Location;
use parallax_verdict::Execution;

pub struct Links {
    /// The next event of the same thread.
    pub next: Vec<Option<u32>>,
    /// The event before it in the same thread.
    pub previous: Vec<Option<u32>>,
    /// For a read, the write that its value comes from.
    pub source: Vec<Option<u32>>,
    /// For a write, its readers.
    pub readers: Vec<Vec<u32>>,
    /// For a write, the one that replaces it.
    pub replaced_by: Vec<Option<u32>>,
    /// For the read of a read-modify-write, its write.
    pub update: Vec<Option<u32>>,
    pub naming: Naming,
}

/// What it takes to distinguish the files of an execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Naming {
    /// Nothing: there is one at most, of that name.
    OneFile(Option<String>),
    /// Their names.
    Names,
    /// Their names and folders.
    Paths,
}

impl Links {
    pub fn new(execution: &Execution) -> Links {
        let count = execution.events.len();
        let mut links = Links {
            next: vec![None; count],
            previous: vec![None; count],
            source: vec![None; count],
            readers: vec![Vec::new(); count],
            replaced_by: replacements(execution),
            update: vec![None; count],
            naming: Naming::of(execution),
        };
        let mut last: HashMap<u32, usize> = HashMap::new();
        for (number, event) in execution.events.iter().enumerate() {
            let before = event.thread.and_then(|thread| last.insert(thread, number));
            if let Some(before) = before {
                links.next[before] = Some(number as u32);
                links.previous[number] = Some(before as u32);
            }
        }
        for (write, read) in &execution.rf {
            if let Some(source) = links.source.get_mut(*read as usize) {
                *source = Some(*write);
            }
            if let Some(readers) = links.readers.get_mut(*write as usize) {
                readers.push(*read);
            }
        }
        for (read, write) in &execution.rmw {
            if let Some(update) = links.update.get_mut(*read as usize) {
                *update = Some(*write);
            }
        }
        links
    }

    /// The first write that a read has missed: the one that replaces what it read.
    pub fn missed(&self, read: u32) -> Option<u32> {
        self.replaced_by[self.source[read as usize]? as usize]
    }
}

/// For each write, of those after it in coherence the one with the fewest before it.
fn replacements(execution: &Execution) -> Vec<Option<u32>> {
    let count = execution.events.len();
    let mut earlier = vec![0u32; count];
    for (_, later) in &execution.co {
        if let Some(earlier) = earlier.get_mut(*later as usize) {
            *earlier += 1;
        }
    }
    let mut replaced_by: Vec<Option<u32>> = vec![None; count];
    for (write, later) in &execution.co {
        let Some(best) = replaced_by.get_mut(*write as usize) else { continue };
        let rank = |write: u32| (earlier.get(write as usize).copied(), write);
        if best.is_none_or(|known| rank(*later) < rank(known)) {
            *best = Some(*later);
        }
    }
    replaced_by
}

impl Naming {
    pub fn of(execution: &Execution) -> Naming {
        let of_events = execution.events.iter().filter_map(|event| event.place.as_ref());
        let calls = execution.stacks.iter().chain(execution.standings.iter().map(|s| &s.stack));
        let of_calls = calls.flatten().map(|call| &call.place);
        let mut paths: HashMap<&str, &str> = HashMap::new();
        let mut distinct = true;
        for place in of_events.chain(of_calls).filter(|place| !is_library(place)) {
            let path = place.file.as_ref();
            distinct &= *paths.entry(file_name(place)).or_insert(path) == path;
        }
        match (distinct, paths.len()) {
            (true, 0 | 1) => Naming::OneFile(paths.keys().next().map(|name| name.to_string())),
            (true, _) => Naming::Names,
            (false, _) => Naming::Paths,
        }
    }

    /// The name of an object, or of what points to one, without a file that goes without saying:
    /// `node@12` for `node@queue.c:12`.
    pub fn object(&self, name: &str) -> String {
        match self {
            Naming::OneFile(Some(file)) => name.replace(&format!("@{file}:"), "@"),
            _ => name.to_string(),
        }
    }
}

/// Files of the library have no names that files of programs have.
pub fn is_library(place: &Location) -> bool {
    place.file.starts_with("<library>")
}

/// The file without its folder.
pub fn file_name(place: &Location) -> &str {
    place.file.rsplit(['/', '\\']).next().unwrap_or(&place.file)
}
