//! What is checked where executions are graphs, beside steps and coverings.
//!
//! A proof covers an execution if at each node that it comes to, somebody's step in it is looked at, the graph of that node
//! being the part of the execution that was taken so far, without some events. Why there is always such a step, and why that
//! is enough: `docs/src/proofs.md`. What has to be true for it is here.
//!
//! 1. *What leaves.* No thread that runs, or may still be started, could read a write that is gone when it leaves, by any
//!    access that it has to that place in the proof: then none can ever, as the model allows all parts of what it allows. Writes that
//!    are forgotten have everybody among their readers who could read one of them; who is among these no more could
//!    not when it was left out. Reads and fences leave as they please.
//! 2. *Uses.* Every access that a thread comes to is one that the proof says it has.
//! 3. *Turns.* Where not everybody is looked at, there is somebody who reads, and may wait for a write that
//!    never comes, or who goes on in all states; and on each cycle everybody's turn comes who does not wait.
//!
//! Whether the model allows a graph is found out by trying all orders of writes, each judged by the model's text.

use parallax_memory::Model;
use parallax_program::{Program, Tags};

use crate::control::Control;
use crate::declarative::Memory;
use crate::declarative::execution::{
    Event, Execution, Forgotten, Growth, Id, Kind, Location, Source,
};
use crate::declarative::leaving::Leaving;
use crate::declarative::uses::Reader;
use crate::declarative::walk::bare;

/// An execution with all that a step has added.
pub fn grown(before: &Execution, growth: &Growth) -> Execution {
    let mut whole = before.clone();
    for (thread, event) in &growth.events {
        whole.push(*thread, event.clone());
    }
    whole
}

/// Checks what leaves an execution after a step. The error says what must not.
pub fn leave(
    memory: &mut Memory<'_>,
    model: &Model,
    execution: &Execution,
    control: &Control,
    leaving: &Leaving,
) -> Result<(), String> {
    let readers = memory.uses.readers(control);
    let forgets = leaving.forgotten.iter().any(|all| !all.is_empty()) || !leaving.lost.is_empty();
    if forgets && (model.sees_threads() || !model.implies_coherence()) {
        return Err("the model lets nothing be forgotten".to_string());
    }
    for id in &leaving.gone {
        let Some(event) = execution.event(*id) else {
            return Err("what is gone was never there".to_string());
        };
        if half(execution, *id).is_some_and(|other| !leaving.gone.contains(&other)) {
            return Err("half of an operation is gone".to_string());
        }
        if event.kind != Kind::Write {
            continue;
        }
        let Some(address) = event.memory() else { continue };
        let forgotten = leaving.lost.iter().find(|(lost, _)| lost == id);
        let known =
            forgotten.map(|(_, is_open)| entry(&leaving.forgotten, (id.thread, address), *is_open));
        let known = match known {
            Some(None) => return Err("nothing is said of a write that is forgotten".to_string()),
            Some(Some(known)) if !known.kinds.contains(&(event.tags.clone(), event.is_half)) => {
                return Err("a write is forgotten as another one".to_string());
            }
            known => known.flatten(),
        };
        for reader in &readers {
            for modifies in [false, true] {
                let is_said = known.is_some_and(|known| {
                    let who = if modifies { &known.modifiers } else { &known.readers };
                    reader.thread != id.thread && who.contains(&reader.thread)
                });
                let now = bare(execution);
                let source = Source::Write(*id);
                if !is_said && may_read(memory, now, reader, address, source, modifies) {
                    return Err(format!(
                        "thread {} may read a write of thread {} that is gone",
                        reader.thread, id.thread
                    ));
                }
            }
        }
    }
    for (writer, line) in execution.threads.iter().enumerate() {
        for before in &line.forgotten {
            still_forgotten(memory, execution, (writer as u32, before), &readers, leaving)?;
        }
    }
    Ok(())
}

/// The other half of the same read-modify-write.
fn half(execution: &Execution, id: Id) -> Option<Id> {
    let event = execution.event(id).filter(|event| event.is_half)?;
    let other = match event.kind {
        Kind::Read => Id { index: id.index + 1, ..id },
        _ => Id { index: id.index.checked_sub(1)?, ..id },
    };
    let is_it = |it: &&Event| it.is_half && it.kind != event.kind;
    execution.event(other).filter(is_it).map(|_| other)
}

fn entry(
    of: &[Vec<Forgotten>],
    (thread, address): (u32, u64),
    is_open: bool,
) -> Option<&Forgotten> {
    let own = of.get(thread as usize)?;
    own.iter().find(|it| (it.address, it.is_open) == (address, is_open))
}

/// Who could read writes that were forgotten before still can, or could not any more before this step's events leave.
fn still_forgotten(
    memory: &mut Memory<'_>,
    execution: &Execution,
    (writer, before): (u32, &Forgotten),
    readers: &[Reader],
    leaving: &Leaving,
) -> Result<(), String> {
    let now = entry(&leaving.forgotten, (writer, before.address), before.is_open);
    // What is known of others says nothing of these.
    let now = now.filter(|now| before.kinds.iter().all(|kind| now.kinds.contains(kind)));
    let nobody: &[u32] = &[];
    let after = |modifies: bool| match (now, modifies) {
        (Some(now), false) => &now.readers[..],
        (Some(now), true) => &now.modifiers[..],
        (None, _) => nobody,
    };
    for (who, modifies) in [(&before.readers, false), (&before.modifiers, true)] {
        let gone = readers.iter().filter(|reader| {
            who.contains(&reader.thread) && !after(modifies).contains(&reader.thread)
        });
        for reader in gone {
            if may_read_forgotten(memory, execution, reader, (writer, before), modifies) {
                return Err(format!(
                    "thread {} may still read a forgotten write of thread {writer}",
                    reader.thread
                ));
            }
        }
    }
    Ok(())
}

/// Whether a thread may read one of some forgotten writes: one that is in no thread, and comes before the last one of its
/// thread that is there.
fn may_read_forgotten(
    memory: &mut Memory<'_>,
    execution: &Execution,
    reader: &Reader,
    (writer, forgotten): (u32, &Forgotten),
    modifies: bool,
) -> bool {
    let location = Location::Memory(forgotten.address);
    let last = execution.writes(location).filter(|id| id.thread == writer).last();
    forgotten.kinds.iter().any(|(tags, is_half)| {
        let mut now = bare(execution);
        // Behind all threads, those that are still to be started included.
        let nobody = (now.threads.len() as u32).max(reader.last() + 1);
        let mut write = Event::write(location, tags.clone());
        write.is_half = *is_half;
        let id = now.push(nobody, write);
        now.ordered.extend(last.map(|last| (id, last)));
        may_read(memory, now, reader, forgotten.address, Source::Write(id), modifies)
    })
}

/// Whether a thread may read a write next, or modify it, by some access that it has to the place.
fn may_read(
    memory: &mut Memory<'_>,
    mut now: Execution,
    reader: &Reader,
    address: u64,
    source: Source,
    modifies: bool,
) -> bool {
    reader.start(&mut now);
    let thread = reader.thread;
    if address == Program::SECTIONS {
        return modifies && memory.uses.enters(thread) && memory.may_enter(now, thread, source);
    }
    let location = Location::Memory(address);
    let halves: Vec<(Tags, Option<Tags>)> = match modifies {
        true => {
            let all = memory.uses.modified(thread, address).iter();
            all.map(|(read, write)| (read.clone(), Some(write.clone()))).collect()
        }
        false => {
            memory.uses.reads(thread, address).iter().map(|tags| (tags.clone(), None)).collect()
        }
    };
    halves.into_iter().any(|(read, write)| {
        let mut next = now.clone();
        let mut read = Event::read(location, read, source);
        read.is_half = write.is_some();
        next.push(thread, read);
        if let Some(write) = write {
            next.push(thread, Event::write(location, write).half());
        }
        memory.consistency.allows(&next)
    })
}

/// Who may go on at each node, and who is looked at there.
pub struct Turns {
    put_off: Vec<Vec<u32>>,
    leads: Vec<Vec<usize>>,
}

impl Turns {
    pub fn new(nodes: usize) -> Turns {
        Turns { put_off: vec![Vec::new(); nodes], leads: vec![Vec::new(); nodes] }
    }

    /// One node leads to another, or is covered by it.
    pub fn lead(&mut self, from: usize, to: usize) {
        self.leads[from].push(to);
    }

    /// Threads that could go on at a node and are not looked at there.
    pub fn put_off(&mut self, node: usize, threads: impl Iterator<Item = u32>) {
        self.put_off[node].extend(threads);
    }

    /// How many nodes put threads off; the error says who never has a turn.
    pub fn check(&self) -> Result<usize, String> {
        let mut all: Vec<u32> = self.put_off.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        for thread in all {
            if self.has_cycle_without(thread) {
                return Err(format!("thread {thread} is put off all around a cycle"));
            }
        }
        Ok(self.put_off.iter().filter(|threads| !threads.is_empty()).count())
    }

    /// Whether there is a cycle of nodes all of which put a thread off.
    fn has_cycle_without(&self, thread: u32) -> bool {
        let is_in = |node: usize| self.put_off[node].contains(&thread);
        let nodes: Vec<usize> = (0..self.leads.len()).filter(|node| is_in(*node)).collect();
        let mut into = vec![0_usize; self.leads.len()];
        for node in &nodes {
            self.leads[*node].iter().for_each(|to| into[*to] += 1);
        }
        let mut open: Vec<usize> = nodes.iter().copied().filter(|node| into[*node] == 0).collect();
        let mut left = nodes.len();
        while let Some(node) = open.pop() {
            left -= 1;
            for to in &self.leads[node] {
                into[*to] -= 1;
                if into[*to] == 0 && is_in(*to) {
                    open.push(*to);
                }
            }
        }
        left > 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parallax_control::Control as Limits;

    use super::*;
    use crate::control::{At, Local};

    const X: u64 = 0x1000;

    /// Two threads that run, and what is known of a third: the second one may read X, and start the third, which reads it.
    fn control() -> Control {
        let local = Local {
            stack: Vec::new(),
            at: At::Operation,
            children: 0,
            held: Vec::new(),
            stores: Default::default(),
        };
        Control { threads: vec![Some(Arc::new(local)); 2], ..Control::default() }
    }

    fn writes(tags: &[&[&str]]) -> Execution {
        let mut execution = Execution::default();
        execution.line(1);
        for tags in tags {
            execution.push(0, Event::write(Location::Memory(X), Tags::new(tags.iter().copied())));
        }
        execution
    }

    fn first() -> Id {
        Id { thread: 0, index: 0 }
    }

    /// What is wrong if the first write of two leaves; `seen` says how often the second thread has read the last one.
    fn without_first(reader: u32, seen: usize, leaving: &Leaving) -> Option<String> {
        let model = Model::builtin("rc11").expect("a model").expect("a right model");
        let mut memory = Memory::told(&model, Limits::default());
        memory.uses.note_start(1, 2);
        memory.uses.note_read((reader, X), &Tags::new(["A", "RLX"]));
        let mut execution = writes(&[&["A", "RLX"], &["A", "REL"]]);
        for _ in 0..seen {
            let last = Source::Write(Id { index: 1, ..first() });
            execution.push(1, Event::read(Location::Memory(X), Tags::new(["A", "RLX"]), last));
        }
        leave(&mut memory, &model, &execution, &control(), leaving).err()
    }

    fn gone(lost: &[(Id, bool)], forgotten: Vec<Vec<Forgotten>>) -> Leaving {
        Leaving { gone: [first()].into_iter().collect(), lost: lost.to_vec(), forgotten }
    }

    #[test]
    fn a_write_leaves_if_nobody_can_read_it() {
        for reader in [1, 2] {
            let why = without_first(reader, 0, &gone(&[], vec![]));
            assert_eq!(
                why,
                Some(format!("thread {reader} may read a write of thread 0 that is gone"))
            );
            // The second thread has seen what came after it, and starts the third.
            assert_eq!(without_first(reader, 1, &gone(&[], vec![])), None);
        }
        // Nobody reads it, or only who starts no more.
        assert_eq!(without_first(0, 0, &gone(&[], vec![])), None);
        assert_eq!(without_first(3, 0, &gone(&[], vec![])), None);
    }

    #[test]
    fn who_may_read_what_is_forgotten_is_known() {
        let known = |readers: &[u32], tag: &str| Forgotten {
            address: X,
            is_open: false,
            kinds: vec![(Tags::new(["A", tag]), false)],
            readers: readers.to_vec(),
            modifiers: Vec::new(),
        };
        let lost = [(first(), false)];
        let of = |known: Forgotten| gone(&lost, vec![vec![known]]);
        assert_eq!(without_first(1, 0, &of(known(&[1], "RLX"))), None);
        assert_eq!(without_first(2, 0, &of(known(&[1, 2], "RLX"))), None);
        assert!(
            without_first(1, 0, &of(known(&[2], "RLX"))).is_some_and(|it| it.contains("may read"))
        );
        assert!(
            without_first(2, 0, &of(known(&[1], "RLX"))).is_some_and(|it| it.contains("may read"))
        );
        assert!(
            without_first(1, 0, &of(known(&[1], "REL")))
                .is_some_and(|it| it.contains("as another"))
        );
        assert!(
            without_first(1, 0, &gone(&lost, vec![]))
                .is_some_and(|it| it.contains("nothing is said"))
        );
    }

    #[test]
    fn halves_leave_together() {
        let model = Model::builtin("rc11").expect("a model").expect("a right model");
        let mut memory = Memory::told(&model, Limits::default());
        let mut execution = Execution::default();
        let location = Location::Memory(X);
        execution.push(0, Event::read(location, Tags::new(["A", "RLX"]), Source::Initial).half());
        execution.push(0, Event::write(location, Tags::new(["A", "RLX"])).half());
        let mut leaving = gone(&[], vec![]);
        let mut leave = |leaving: &Leaving| {
            super::leave(&mut memory, &model, &execution, &control(), leaving).err()
        };
        assert_eq!(leave(&leaving), Some("half of an operation is gone".to_string()));
        leaving.gone.insert(Id { index: 1, ..first() });
        assert_eq!(leave(&leaving), None);
        leaving.gone.insert(Id { index: 2, ..first() });
        assert_eq!(leave(&leaving), Some("what is gone was never there".to_string()));
    }

    /// A cycle of two nodes, at the first of which a thread is put off.
    fn cycle(second: &[u32]) -> Turns {
        let mut turns = Turns::new(3);
        turns.put_off(0, [1].into_iter());
        turns.put_off(1, second.iter().copied());
        for (from, to) in [(0, 1), (1, 0), (1, 2)] {
            turns.lead(from, to);
        }
        turns
    }

    #[test]
    fn everybody_has_a_turn_on_each_cycle() {
        assert_eq!(cycle(&[]).check(), Ok(1));
        assert_eq!(cycle(&[2]).check(), Ok(2));
        assert!(cycle(&[1, 2]).check().is_err());
    }
}
