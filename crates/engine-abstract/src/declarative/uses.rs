//! How threads use memory anywhere in the program, and which of them start which.
//!
//! What may leave a graph depends on that ([`super::collect`]): a write stays as long as a thread might read it, by an access
//! such as it has somewhere, and so it does if the thread is still to be started.

use std::collections::{BTreeMap, BTreeSet};

use parallax_program::Tags;

use crate::control::Control;
use crate::declarative::execution::{Event, Execution, Location, Source};

/// By thread and address: the tags of reads that do not modify, and of the halves of read-modify-writes.
#[derive(Clone, Default)]
pub struct Uses {
    reads: BTreeMap<(u32, u64), Vec<Tags>>,
    modified: BTreeMap<(u32, u64), Vec<(Tags, Tags)>>,
    /// Threads that come to atomic sections.
    entering: BTreeSet<u32>,
    /// By thread: who starts it.
    parents: BTreeMap<u32, u32>,
    /// Whether there is something new since somebody has asked.
    has_grown: bool,
}

/// A thread that may still read something, and what has to happen before it does if it does not run yet: which
/// thread starts which.
pub struct Reader {
    pub thread: u32,
    starts: Vec<(u32, u32)>,
}

impl Reader {
    /// One that runs.
    pub fn running(thread: u32) -> Reader {
        Reader { thread, starts: Vec::new() }
    }

    /// The last one of all threads that have to be there.
    pub fn last(&self) -> u32 {
        let starting = self.starts.iter().map(|(_, child)| *child);
        starting.max().unwrap_or(0).max(self.thread)
    }

    /// Lets the thread start in an execution.
    pub fn start(&self, execution: &mut Execution) {
        for (parent, child) in &self.starts {
            let start = Location::Start(*child);
            let id = execution.push(*parent, Event::write(start, Tags::thread_release()));
            let begin = Event::read(start, Tags::thread_acquire(), Source::Write(id));
            execution.push(*child, begin);
        }
    }
}

impl Uses {
    fn add<T: PartialEq>(all: &mut BTreeMap<(u32, u64), Vec<T>>, at: (u32, u64), tags: T) -> bool {
        let known = all.entry(at).or_default();
        let is_new = !known.contains(&tags);
        if is_new {
            known.push(tags);
        }
        is_new
    }

    pub fn note_read(&mut self, at: (u32, u64), tags: &Tags) {
        self.has_grown |= Self::add(&mut self.reads, at, tags.clone());
    }

    pub fn note_modification(&mut self, at: (u32, u64), (read, write): (&Tags, &Tags)) {
        self.has_grown |= Self::add(&mut self.modified, at, (read.clone(), write.clone()));
    }

    pub fn note_entry(&mut self, thread: u32) {
        self.has_grown |= self.entering.insert(thread);
    }

    /// That is new only with what the thread then does.
    pub fn note_start(&mut self, parent: u32, child: u32) {
        self.parents.insert(child, parent);
    }

    pub fn note_more(&mut self, is_more: bool) {
        self.has_grown |= is_more;
    }

    /// Whether there is something new since this was asked last.
    pub fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }

    pub fn reads(&self, thread: u32, address: u64) -> &[Tags] {
        self.reads.get(&(thread, address)).map_or(&[], |all| all)
    }

    pub fn modified(&self, thread: u32, address: u64) -> &[(Tags, Tags)] {
        self.modified.get(&(thread, address)).map_or(&[], |all| all)
    }

    pub fn enters(&self, thread: u32) -> bool {
        self.entering.contains(&thread)
    }

    pub fn all_reads(&self) -> impl Iterator<Item = (u32, u64, &Tags)> {
        let all = self.reads.iter();
        all.flat_map(|((thread, address), tags)| tags.iter().map(|it| (*thread, *address, it)))
    }

    pub fn all_modified(&self) -> impl Iterator<Item = (u32, u64, &(Tags, Tags))> {
        let all = self.modified.iter();
        all.flat_map(|((thread, address), tags)| tags.iter().map(|it| (*thread, *address, it)))
    }

    pub fn all_entering(&self) -> impl Iterator<Item = u32> {
        self.entering.iter().copied()
    }

    /// Whether all of this is a part of what others say.
    pub fn is_within(&self, other: &Uses) -> bool {
        self.all_reads().all(|(thread, address, it)| other.reads(thread, address).contains(it))
            && self
                .all_modified()
                .all(|(thread, address, it)| other.modified(thread, address).contains(it))
            && self.entering.is_subset(&other.entering)
            && self.parents.iter().all(|(child, parent)| other.parents.get(child) == Some(parent))
    }

    /// All threads that may still read something: those that run, and those that these may start.
    pub fn readers(&self, control: &Control) -> Vec<Reader> {
        let running = control.running();
        let mut all: Vec<Reader> = running.map(Reader::running).collect();
        let mut users: BTreeSet<u32> = self.entering.clone();
        users.extend(self.reads.keys().map(|(thread, _)| *thread));
        users.extend(self.modified.keys().map(|(thread, _)| *thread));
        for thread in users.into_iter().filter(|thread| control.thread(*thread).is_none()) {
            let starts = self.starts(thread, control);
            all.extend(starts.map(|starts| Reader { thread, starts }));
        }
        all
    }

    /// Who has to start whom for a thread to run. None if it never will.
    fn starts(&self, thread: u32, control: &Control) -> Option<Vec<(u32, u32)>> {
        let mut starts = Vec::new();
        let mut child = thread;
        while control.thread(child).is_none() {
            let parent = *self.parents.get(&child)?;
            starts.push((parent, child));
            // Nobody starts itself.
            if starts.len() > self.parents.len() {
                return None;
            }
            child = parent;
        }
        starts.reverse();
        (!control.has_ended(child)).then_some(starts)
    }
}
