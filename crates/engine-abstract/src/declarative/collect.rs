//! Events that no longer matter leave the graph, so that loops over shared memory have finitely many
//! graphs, and come to an end.
//!
//! Why that is sound: of a model that allows all parts of what it allows
//! ([`parallax_memory::Model::not_monotone`]), a graph with fewer events has all continuations of the graph
//! with all of them, and maybe more. What must not be lost is a write that somebody may still read. A
//! write leaves only if no thread that has not ended could read it now, by a read or a read-modify-write such as
//! the thread has there anywhere, nor one that is still to be started, if it were now: what is forbidden to the next read of a thread is forbidden to all
//! that follow, as the graph in which it reads the write later includes the one in which it does so
//! now, but for events in between. Which accesses a thread has to an address is learned as it comes to them
//! ([`super::uses`]). A search in which something was learned is made again: all that was left out in the last
//! one was so for all accesses that there are in it.
//!
//! Why little is lost: an event leaves only if right after that no thread can read or modify what it
//! could not before. That looks one step ahead and no further, and so the last events of each
//! thread always stay. Where the graph of a failure, with all that has left it, is one that the model
//! forbids, more of them do ([`super::Memory::widen`]).
//!
//! What a thread writes again and again while others do not look stays readable to them for ever. Of such
//! writes the newest stay events; older ones are *forgotten*: what is kept is that there are some, all
//! before the last of the thread, which stays an event, who could read or modify one of them when
//! they were forgotten, and what they may have written. A read of one of them is an event of which it is not
//! known what it reads, the least that can be said. Whether a thread may read one of them is asked of
//! the model, with a write that is in no thread and comes before that last one. Why that loses
//! nothing: the execution in which the thread reads a forgotten write has that write, before
//! the same one, and more: its place in its thread. Axioms that do not ask who did something
//! ([`parallax_memory::Model::sees_threads`]) hold without that as well. A failure that needs such a
//! read is none until it is found without.

use parallax_program::Program;
use rustc_hash::FxHashSet;

use crate::control::Control;
use crate::declarative::Memory;
use crate::declarative::execution::{
    Event, Execution, Forgotten, Id, Kind, Location, Source, Wait,
};
use crate::declarative::leaving::Collected;
use crate::declarative::uses::Reader;
use crate::declarative::walk::bare;

/// What a thread could do next: read what a write has written to an address, or modify it.
type Prospect = (u32, u64, Option<Id>, bool);

impl Memory<'_> {
    pub(super) fn collect(&mut self, execution: &Execution, control: &Control) -> Collected {
        let mut all = Collected::all(execution);
        let Some(window) = self.window else { return all };
        let running = self.uses.readers(control);
        self.prune(execution, &running, &mut all.forgotten);
        let mut now: Option<FxHashSet<Prospect>> = None;
        for thread in 0..execution.threads.len() {
            let mut at = 0;
            while let Some(unit) = unit(execution, thread as u32, &all.kept[thread], at) {
                let own = &all.kept[thread];
                let is_recent = at + unit > own.len().saturating_sub(window as usize);
                if is_recent && !running.is_empty() {
                    break;
                }
                let gone: Vec<u32> = own[at..at + unit].to_vec();
                if is_used(execution, &all, thread as u32, &gone) {
                    at += unit;
                    continue;
                }

                let before = now.take().or_else(|| self.prospects(execution, &all, &running));
                let Some(before) = before else { return all };
                let is_open = before.iter().any(|(_, _, write, _)| {
                    write.is_some_and(|id| id.thread == thread as u32 && gone.contains(&id.index))
                });
                let removed: Vec<u32> = all.kept[thread].drain(at..at + unit).collect();
                if is_open || self.prospects(execution, &all, &running).as_ref() != Some(&before) {
                    all.kept[thread].splice(at..at, removed);
                    at += unit;
                }
                now = Some(before);
            }
        }
        if self.forgets {
            self.forget(execution, &running, window as usize, &mut all);
        }
        all
    }

    /// Who may still read forgotten writes.
    fn prune(&mut self, execution: &Execution, running: &[Reader], all: &mut [Vec<Forgotten>]) {
        for (writer, forgotten) in all.iter_mut().enumerate() {
            for it in forgotten.iter_mut() {
                let mut may = |thread: &u32, modifies: bool| {
                    let reader = running.iter().find(|reader| reader.thread == *thread);
                    reader.is_some_and(|reader| {
                        self.may_forgotten(execution, reader, writer as u32, it, modifies)
                    })
                };
                let readers = it.readers.iter().filter(|thread| may(thread, false));
                let readers: Vec<u32> = readers.copied().collect();
                let modifiers = it.modifiers.iter().filter(|thread| may(thread, true));
                (it.modifiers, it.readers) = (modifiers.copied().collect(), readers);
            }
            forgotten.retain(|it| !it.readers.is_empty() || !it.modifiers.is_empty());
        }
    }

    /// Forgets old writes of threads that write one address many times: all but the newest, or as many of
    /// the newer ones of these as can be left out so that nobody can do more than before with what stays.
    /// (The first that takes a lock has to stay, as long as somebody could take it again otherwise.)
    fn forget(
        &mut self,
        execution: &Execution,
        running: &[Reader],
        window: usize,
        all: &mut Collected,
    ) {
        let most = window.saturating_sub(1).max(1);
        for thread in 0..execution.threads.len() as u32 {
            for address in execution.addresses() {
                let writes = writes_of(execution, all, thread, address);
                let old = &writes[..writes.len().saturating_sub(most)];
                if old.is_empty() {
                    continue;
                }
                let Some(before) = self.prospects(execution, all, running) else { return };
                let fewer = (0..old.len()).find_map(|first| {
                    let fewer = without(execution, all, thread, address, &old[first..], &before)?;
                    let after = self.prospects(execution, &fewer, running)?;
                    let is_other = |(_, place, write, _): &&Prospect| {
                        let is_gone = |id: Id| {
                            id.thread == thread
                                && *place == address
                                && (id.index > u32::MAX - 2 || old[first..].contains(&id.index))
                        };
                        !write.is_some_and(is_gone)
                    };
                    let same = before.iter().filter(is_other).all(|it| after.contains(it))
                        && after.iter().filter(is_other).all(|it| before.contains(it));
                    same.then_some(fewer)
                });
                if let Some(fewer) = fewer {
                    *all = fewer;
                }
            }
        }
    }

    /// All that threads could do next, by the events that are kept. None if a limit is reached.
    fn prospects(
        &mut self,
        execution: &Execution,
        all: &Collected,
        running: &[Reader],
    ) -> Option<FxHashSet<Prospect>> {
        let kept = &all.kept;
        let small = execution.keep(kept);
        let mut found = FxHashSet::default();
        for (writer, forgotten) in all.forgotten.iter().enumerate() {
            for it in forgotten {
                let index = u32::MAX - u32::from(it.is_open);
                let vague = Some(Id { thread: writer as u32, index });
                for (threads, modifies) in [(&it.readers, false), (&it.modifiers, true)] {
                    for reader in running.iter().filter(|it| threads.contains(&it.thread)) {
                        if self.may_forgotten(&small, reader, writer as u32, it, modifies) {
                            found.insert((reader.thread, it.address, vague, modifies));
                        }
                    }
                }
            }
        }
        for address in execution.addresses() {
            let location = Location::Memory(address);
            let writes: Vec<Id> = small.writes(location).collect();
            let sources = writes.iter().map(|id| Source::Write(*id));
            if self.is_over() {
                return None;
            }
            for source in sources.chain([Source::Initial]) {
                let original = match source {
                    Source::Initial => None,
                    Source::Write(id) => {
                        let index = kept[id.thread as usize][id.index as usize];
                        Some(Id { index, ..id })
                    }
                };
                for reader in running {
                    for modifies in [false, true] {
                        if self.may(&small, reader, location, source, modifies) {
                            found.insert((reader.thread, address, original, modifies));
                        }
                    }
                }
            }
        }
        Some(found)
    }

    /// Whether a thread may read a write next, or modify it.
    fn may(
        &mut self,
        execution: &Execution,
        reader: &Reader,
        location: Location,
        source: Source,
        modifies: bool,
    ) -> bool {
        let mut now = bare(execution);
        reader.start(&mut now);
        self.may_read(now, reader.thread, location, source, modifies)
    }

    /// Whether a thread may read, or modify, a forgotten write of another one.
    pub fn may_forgotten(
        &mut self,
        execution: &Execution,
        reader: &Reader,
        writer: u32,
        forgotten: &Forgotten,
        modifies: bool,
    ) -> bool {
        let location = Location::Memory(forgotten.address);
        let last = execution.writes(location).filter(|id| id.thread == writer).last();
        forgotten.kinds.iter().any(|(tags, is_half)| {
            let mut now = bare(execution);
            reader.start(&mut now);
            let nobody = (now.threads.len() as u32).max(reader.last() + 1);
            let mut write = Event::write(location, tags.clone());
            write.is_half = *is_half;
            let id = now.push(nobody, write);
            now.ordered.extend(last.map(|last| (id, last)));
            self.may_read(now, reader.thread, location, Source::Write(id), modifies)
        })
    }

    fn may_read(
        &mut self,
        now: Execution,
        thread: u32,
        location: Location,
        source: Source,
        modifies: bool,
    ) -> bool {
        if location == Location::Memory(Program::SECTIONS) {
            return modifies && self.uses.enters(thread) && self.may_enter(now, thread, source);
        }
        let Location::Memory(address) = location else { return false };
        if modifies {
            let known = self.uses.modified(thread, address).to_vec();
            return known.iter().any(|(read, write)| {
                let mut next = now.clone();
                next.push(thread, Event::read(location, read.clone(), source).half());
                next.push(thread, Event::write(location, write.clone()).half());
                self.consistency.allows(&next)
            });
        }
        let known = self.uses.reads(thread, address).to_vec();
        known.iter().any(|tags| {
            let mut next = now.clone();
            next.push(thread, Event::read(location, tags.clone(), source));
            self.consistency.allows(&next)
        })
    }
}

/// The writes of a thread to an address that are kept.
fn writes_of(execution: &Execution, all: &Collected, thread: u32, address: u64) -> Vec<u32> {
    let is_write = |index: &&u32| {
        let event = execution.event(Id { thread, index: **index });
        let location = Some(Location::Memory(address));
        event.is_some_and(|it| it.kind == Kind::Write && it.location == location)
    };
    all.kept[thread as usize].iter().filter(is_write).copied().collect()
}

/// What is kept if some writes of a thread to an address are forgotten, with the reads of the same
/// operations; none if others need them. By `before` it is known who could read and modify them.
fn without(
    execution: &Execution,
    all: &Collected,
    thread: u32,
    address: u64,
    writes: &[u32],
    before: &FxHashSet<Prospect>,
) -> Option<Collected> {
    let own = &all.kept[thread as usize];
    let mut gone: Vec<u32> = Vec::new();
    for index in writes {
        let at = own.binary_search(index).ok()?;
        let read = at.checked_sub(1).filter(|it| unit(execution, thread, own, *it) == Some(2));
        gone.extend(read.map(|at| own[at]));
        gone.push(*index);
    }
    if is_used(execution, all, thread, &gone) {
        return None;
    }
    let mut fewer = Collected {
        kept: all.kept.clone(),
        lost: all.lost.clone(),
        forgotten: all.forgotten.clone(),
    };
    fewer.kept[thread as usize].retain(|index| !gone.contains(index));
    for index in writes {
        let id = Id { thread, index: *index };
        let event = execution.event(id)?;
        let who = |modifies: bool| {
            let may = before.iter().filter(|(_, place, write, way)| {
                (*place, *write, *way) == (address, Some(id), modifies)
            });
            let mut all: Vec<u32> =
                may.map(|(other, ..)| *other).filter(|other| *other != thread).collect();
            all.sort_unstable();
            all
        };
        let (readers, modifiers) = (who(false), who(true));
        let is_open = !modifiers.is_empty();
        let kinds = vec![(event.tags.clone(), event.is_half)];
        let more = Forgotten { address, is_open, kinds, readers, modifiers };
        fewer.lost.push((id, address, is_open));
        let known = &mut fewer.forgotten[thread as usize];
        match known.iter_mut().find(|it| it.address == address && it.is_open == is_open) {
            Some(known) => known.join(more),
            None => known.push(more),
        }
        known.sort_by_key(|it| (it.address, it.is_open));
    }
    Some(fewer)
}

/// How many events go together at a place: the halves of a read-modify-write do. None at the end.
fn unit(execution: &Execution, thread: u32, kept: &[u32], at: usize) -> Option<usize> {
    let event = |at: usize| execution.event(Id { thread, index: *kept.get(at)? });
    let first = event(at)?;
    let is_pair = first.is_half
        && first.kind == Kind::Read
        && event(at + 1).is_some_and(|next| next.is_half && next.kind == Kind::Write);
    Some(if is_pair { 2 } else { 1 })
}

/// Whether some of these events must stay, as others are made from them.
fn is_used(execution: &Execution, all: &Collected, thread: u32, gone: &[u32]) -> bool {
    let kept = &all.kept;
    let is_gone = |id: Id| id.thread == thread && gone.contains(&id.index);
    let is_end = |index: &u32| {
        let event = execution.event(Id { thread, index: *index });
        event.is_some_and(|it| {
            it.kind == Kind::Write && matches!(it.location, Some(Location::End(_)))
        })
    };
    // The last one, before which the forgotten writes are.
    let is_last = |index: &u32| {
        let event = execution.event(Id { thread, index: *index });
        let location = event.filter(|it| it.kind == Kind::Write).and_then(|it| it.location);
        let Some(Location::Memory(address)) = location else { return false };
        all.forgotten[thread as usize].iter().any(|it| it.address == address)
            && writes_of(execution, all, thread, address).last() == Some(index)
    };
    let waits = |wait: Wait| matches!(wait, Wait::Served(id) if is_gone(id));
    let mut reads = kept.iter().enumerate().flat_map(|(reader, indices)| {
        indices.iter().map(move |index| Id { thread: reader as u32, index: *index })
    });
    let is_read = |id: Id| {
        let source = execution.event(id).and_then(|event| event.source);
        !is_gone(id) && matches!(source, Some(Source::Write(write)) if is_gone(write))
    };
    gone.iter().any(is_end)
        || gone.iter().any(is_last)
        || execution.threads.iter().any(|line| waits(line.wait))
        || reads.any(is_read)
}

impl Forgotten {
    fn join(&mut self, more: Forgotten) {
        for kind in more.kinds {
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind);
            }
        }
        let pairs = [(&mut self.readers, more.readers), (&mut self.modifiers, more.modifiers)];
        for (all, more) in pairs {
            all.extend(more);
            all.sort_unstable();
            all.dedup();
        }
    }
}
