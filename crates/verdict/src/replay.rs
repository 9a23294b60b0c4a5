//! The independent replayer of litmus tests: an execution is believed only after this has
//! rebuilt it.
//!
//! Each thread is run once more, concretely, by the interpreter; every load is answered with
//! the value that the execution claims, and every event that the thread performs is compared
//! with the claim: kind, address, value, tags, and the dependencies and atomic pairs that lead
//! to it. Then the communication is checked: each read has exactly one source, of the same
//! bytes and the same value, and coherence is a total order for each location, initial write
//! first. Last, the model's `.cat` file says whether it allows the execution.

use std::collections::{BTreeMap, BTreeSet};

use parallax_machine::{Code, Operation};
use parallax_memory::Model;
use parallax_program::{Bits, Program};

use crate::derived::Derived;
use crate::judge::judge;
use crate::retrace::Retraced;
use crate::traced::Tracing;
use crate::walker::{Due, Walker};
use crate::{EventKind, Execution};

/// Checks that an execution is one of the program, and that the model allows it. The error says
/// what is wrong with it.
pub fn replay(program: &Program, execution: &Execution, model: &Model) -> Result<(), String> {
    let code = Code::new(program);
    let mut derived = Derived::default();
    if execution.threads.len() != program.threads.len() {
        return Err("the execution has another number of threads".to_string());
    }
    for thread in 0..program.threads.len() {
        Replay::new(&code, execution, thread as u32).run(&mut derived)?;
    }
    derived.agrees_with(execution, |_| true)?;
    communication(execution)?;
    judge(execution, &derived, model).map(|_| ())
}

/// Walks through the events of a litmus test's execution in a program with fences that might be
/// there.
pub(crate) fn retrace(program: &Program, execution: &Execution) -> Result<Retraced, String> {
    let code = Code::new(program);
    let mut retraced = Retraced { execution: execution.clone(), ..Retraced::default() };
    for thread in 0..program.threads.len() {
        let mut replay = Replay::new(&code, execution, thread as u32);
        replay.is_marked = true;
        let (passed, last) = replay.run(&mut retraced.derived)?;
        retraced.passed.extend(passed);
        retraced.last.extend(last.into_iter().map(|fence| (thread as u32, fence)));
    }
    for (number, tags) in &retraced.derived.tags {
        if let Some(event) = retraced.execution.events.get_mut(*number as usize) {
            event.tags = tags.clone();
        }
    }
    Ok(retraced)
}

/// The fences that might be there before events, and those after the last one.
type Passed = (Vec<(u32, u32)>, Vec<u32>);

/// One thread on its way through the claimed events.
#[derive(Clone)]
struct Replay<'a, 'p> {
    code: &'a Code<'p>,
    execution: &'a Execution,
    number: u32,
    walker: Walker<'a, 'p>,
    /// The events of the thread that are still to come.
    events: std::iter::Peekable<std::vec::IntoIter<u32>>,
    /// Whether the program has marks that the execution does not have.
    is_marked: bool,
    passed: Vec<(u32, u32)>,
}

impl<'a, 'p> Replay<'a, 'p> {
    fn new(code: &'a Code<'p>, execution: &'a Execution, number: u32) -> Self {
        let start = &code.program.threads[number as usize];
        let args = start.args.iter().map(|arg| code.evaluate(arg, &[], &mut Tracing)).collect();
        let own = execution.events.iter().enumerate();
        let own = own.filter(|(_, event)| event.thread == Some(number)).map(|(i, _)| i as u32);
        Replay {
            code,
            execution,
            number,
            walker: Walker::new(code, number, start.function, args, true),
            events: own.collect::<Vec<_>>().into_iter().peekable(),
            is_marked: false,
            passed: Vec::new(),
        }
    }

    fn run(mut self, derived: &mut Derived) -> Result<Passed, String> {
        loop {
            let due = self.walker.due();
            if let Some(event) = self.events.peek().copied() {
                let passed = self.walker.passed();
                self.passed.extend(passed.into_iter().map(|fence| (event, fence)));
            }
            match due {
                Due::Read { address, bytes } => self.read(address, bytes, derived)?,
                Due::Write { address, value } => self.write(address, value, derived)?,
                Due::Decision => {
                    let succeeds = self.next_is_written_here();
                    self.walker.decide(succeeds, derived)?;
                }
                Due::Operation(Operation::Fence { tags }) => {
                    let event = self.next()?;
                    if self.execution.events[event as usize].kind != EventKind::Fence {
                        return Err(format!("event {event} is not the fence that is due"));
                    }
                    self.walker.note(event, tags, &[], derived);
                    self.walker.pass();
                }
                Due::Operation(Operation::Nondet { width: 1 }) => {
                    // Which bit it was shows in the events that follow, or else in their
                    // dependencies.
                    let (mut other, mut found) = (self.clone(), derived.clone());
                    other.walker.answer(Bits::bool(false));
                    if let Ok(passed) = other.run(&mut found) {
                        *derived = found;
                        return Ok(passed);
                    }
                    self.walker.answer(Bits::bool(true));
                }
                Due::Operation(Operation::End) => break,
                Due::Operation(other) => {
                    return Err(format!("thread {} cannot go on: {other:?}", self.number));
                }
            }
        }
        self.finish(derived)
    }

    /// After the last event: what the program says of the events is what they claim.
    fn finish(mut self, derived: &Derived) -> Result<Passed, String> {
        if let Some(event) = self.events.next() {
            return Err(format!("event {event} comes after the end of its thread"));
        }
        let is_own = |number: u32| {
            let event = self.execution.events.get(number as usize);
            event.is_some_and(|event| event.thread == Some(self.number))
        };
        for (number, tags) in derived.tags.iter().filter(|(number, _)| is_own(**number)) {
            let claimed = &self.execution.events[*number as usize].tags;
            if claimed != tags && !self.is_marked {
                return Err(format!("event {number} has the tags {claimed:?}, due are {tags:?}"));
            }
        }
        derived.agrees_with(self.execution, |(_, to)| is_own(*to))?;
        let last = self.walker.passed();
        Ok((self.passed, last))
    }

    fn next(&mut self) -> Result<u32, String> {
        self.events.next().ok_or_else(|| format!("thread {} has more events", self.number))
    }

    /// Whether the next claimed event is a write of the instruction at hand.
    fn next_is_written_here(&mut self) -> bool {
        let Some(event) = self.events.peek() else {
            return false;
        };
        let event = &self.execution.events[*event as usize];
        let site = self.walker.site().map(|site| self.code.span(site));
        let here = site.map(|span| self.code.program.source.location(span));
        matches!(event.kind, EventKind::Write { .. }) && event.place == here
    }

    fn read(&mut self, due: u64, bytes: u32, derived: &mut Derived) -> Result<(), String> {
        let event = self.next()?;
        let EventKind::Read { address, size, value, .. } =
            &self.execution.events[event as usize].kind
        else {
            return Err(format!("event {event} is not the read that is due"));
        };
        if *address != due || *size > bytes || value.width() != size * 8 {
            return Err(format!("event {event} reads another place than is due"));
        }
        self.walker.read(event, *value, derived);
        Ok(())
    }

    fn write(&mut self, due: u64, rest: Bits, derived: &mut Derived) -> Result<(), String> {
        let event = self.next()?;
        let EventKind::Write { address, size, value, .. } =
            &self.execution.events[event as usize].kind
        else {
            return Err(format!("event {event} is not the write that is due"));
        };
        if *address != due || *size == 0 || *size > rest.width() / 8 {
            return Err(format!("event {event} writes another place than is due"));
        }
        let written = self.walker.write(event, *size, derived);
        match *value == written {
            true => Ok(()),
            false => Err(format!("event {event} writes {value}, due is {written}")),
        }
    }
}

/// Sources and orders fit the events.
fn communication(execution: &Execution) -> Result<(), String> {
    let mut sources: BTreeMap<u32, u32> = BTreeMap::new();
    for (write, read) in &execution.rf {
        if sources.insert(*read, *write).is_some() {
            return Err(format!("read {read} has two sources"));
        }
    }
    let mut writes: BTreeMap<(u64, u32), Vec<u32>> = BTreeMap::new();
    for (number, event) in execution.events.iter().enumerate() {
        match &event.kind {
            EventKind::Write { address, size, .. } => {
                writes.entry((*address, *size)).or_default().push(number as u32);
            }
            EventKind::Read { address, size, value, .. } => {
                let source =
                    sources.get(&(number as u32)).ok_or(format!("read {number} has no source"))?;
                match execution.events.get(*source as usize).map(|event| &event.kind) {
                    Some(EventKind::Write { address: a, size: s, value: v, .. })
                        if a == address && s == size && v == value => {}
                    _ => return Err(format!("read {number} does not fit its source {source}")),
                }
            }
            _ => {}
        }
    }
    let co: BTreeSet<(u32, u32)> = execution.co.iter().copied().collect();
    for group in writes.values() {
        for (i, a) in group.iter().enumerate() {
            for b in &group[i + 1..] {
                if co.contains(&(*a, *b)) == co.contains(&(*b, *a)) {
                    return Err(format!("writes {a} and {b} are not in one order"));
                }
                let initial = |w: &u32| execution.events[*w as usize].thread.is_none();
                if initial(a) && !co.contains(&(*a, *b)) || initial(b) && !co.contains(&(*b, *a)) {
                    return Err(format!("the initial write of {a}, {b} is not the first"));
                }
            }
        }
    }
    let transitive = co
        .iter()
        .all(|(a, b)| co.range((*b, 0)..=(*b, u32::MAX)).all(|(_, c)| co.contains(&(*a, *c))));
    if transitive { Ok(()) } else { Err("co is not transitive".to_string()) }
}
