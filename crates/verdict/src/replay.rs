//! The independent replayer of litmus tests: an execution is believed only after this has
//! rebuilt it.
//!
//! Each thread is run once more, concretely, by the interpreter; every load is answered with
//! the value that the execution claims, and every event that the thread performs is compared
//! with the claim: kind, address, value, tags, place in the source, and the dependencies and atomic
//! pairs that lead to it. Then the communication is checked: initial writes put what the program
//! says, each read has exactly one source, of the same bytes and the same value, and coherence is a
//! total order for each location, initial write first. The final state is found anew, and is one
//! that the question asks for. Last, the model's `.cat` file says whether it allows the execution.

use std::collections::{BTreeMap, BTreeSet};

use parallax_control::Control;
use parallax_machine::{Code, Operation};
use parallax_memory::Model;
use parallax_program::{Bits, Location, Place, Program, Question};

use crate::derived::Derived;
use crate::finals::{Finals, Variables, variables};
use crate::judge::judge;
use crate::rebuild::objects::Objects;
use crate::rebuild::witness::program_order;
use crate::retrace::Retraced;
use crate::traced::Tracing;
use crate::walker::{Due, Walker};
use crate::{Confirmed, EventKind, Execution};

/// An execution is confirmed if it is one of the program, if it ends in a state that the question
/// asks for, and if the model allows it. The error says what is wrong with it.
pub fn replay(
    program: &Program,
    question: &Question,
    execution: Execution,
    model: &Model,
) -> Result<Confirmed<Execution>, String> {
    replay_threads(program, Some(question), execution, model)
}

/// The same of an execution of which it is known that it ends as is asked: it was changed in nothing
/// but its fences and tags.
pub(crate) fn replay_unasked(
    program: &Program,
    execution: Execution,
    model: &Model,
) -> Result<Confirmed<Execution>, String> {
    replay_threads(program, None, execution, model)
}

fn replay_threads(
    program: &Program,
    question: Option<&Question>,
    execution: Execution,
    model: &Model,
) -> Result<Confirmed<Execution>, String> {
    let code = Code::new(program);
    let mut derived = Derived::default();
    if execution.threads.len() != program.threads.len() {
        return Err("the execution has another number of threads".to_string());
    }
    let mut variables = Variables::new();
    for thread in 0..program.threads.len() {
        let replay = Replay { question, ..Replay::new(&code, &execution, thread as u32) };
        variables.extend(replay.run(&mut derived)?.variables);
    }
    derived.agrees_with(&execution, |_| true)?;
    if !execution.po.iter().copied().eq(program_order(&execution.events, &derived)) {
        return Err("program order is another one".to_string());
    }
    communication(&code, &execution)?;
    if let Some(question) = question {
        Finals { code: &code, execution: &execution, variables: &variables }.check(question)?;
    }
    judge(&execution, &derived, model, &Control::default())?;
    Ok(Confirmed::new(execution))
}

/// Walks through the events of a litmus test's execution in a program with fences that might be
/// there.
pub(crate) fn retrace(program: &Program, execution: &Execution) -> Result<Retraced, String> {
    let code = Code::new(program);
    let mut retraced = Retraced { execution: execution.clone(), ..Retraced::default() };
    for thread in 0..program.threads.len() {
        let mut replay = Replay::new(&code, execution, thread as u32);
        replay.is_marked = true;
        let Walked { passed, last, .. } = replay.run(&mut retraced.derived)?;
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

/// What is known of a thread that has ended.
struct Walked {
    /// The fences that might be there before events …
    passed: Vec<(u32, u32)>,
    /// … and those after the last one.
    last: Vec<u32>,
    /// Those that the question looks at.
    variables: Vec<((u32, u32), Bits)>,
}

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
    question: Option<&'a Question>,
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
            question: None,
            passed: Vec::new(),
        }
    }

    fn run(mut self, derived: &mut Derived) -> Result<Walked, String> {
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
                    // dependencies, or in what variables hold in the end.
                    let (mut other, mut found) = (self.clone(), derived.clone());
                    other.walker.answer(Bits::bool(false));
                    if let Ok(walked) = other.run(&mut found) {
                        *derived = found;
                        return Ok(walked);
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
    fn finish(mut self, derived: &Derived) -> Result<Walked, String> {
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
        let asked = self.question.map(|question| variables(question, self.number));
        let variables = self.walker.variables(&asked.unwrap_or_default());
        self.check_variables(&variables)?;
        Ok(Walked { passed: self.passed, last, variables })
    }

    /// What the thread ends with is what the final state shows.
    fn check_variables(&self, found: &[((u32, u32), Bits)]) -> Result<(), String> {
        let shown = self.question.map(Question::shown).unwrap_or_default();
        for (observable, claimed) in shown.iter().zip(&self.execution.final_state) {
            let Place::Variable { thread, var, width } = observable.place else { continue };
            let value = found.iter().find(|(variable, _)| *variable == (thread, var.0));
            if let Some((_, value)) = value
                && value.extract(0, width).unsigned() != claimed.bits.unsigned()
            {
                let name = &claimed.name;
                return Err(format!("{name} is {value} in the end, not {}", claimed.bits));
            }
        }
        Ok(())
    }

    /// The next claimed event, which must be of the instruction that the thread stands at.
    fn next(&mut self) -> Result<u32, String> {
        let event = self.events.next();
        let event = event.ok_or_else(|| format!("thread {} has more events", self.number))?;
        match self.execution.events[event as usize].place == self.here() {
            true => Ok(event),
            false => Err(format!("event {event} is of another instruction than is due")),
        }
    }

    fn here(&self) -> Option<Location> {
        let span = self.walker.site().map(|site| self.code.span(site))?;
        Some(self.code.program.source.location(span))
    }

    /// Whether the next claimed event is a write of the instruction at hand.
    fn next_is_written_here(&mut self) -> bool {
        let Some(event) = self.events.peek() else {
            return false;
        };
        let event = &self.execution.events[*event as usize];
        matches!(event.kind, EventKind::Write { .. }) && event.place == self.here()
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
fn communication(code: &Code<'_>, execution: &Execution) -> Result<(), String> {
    let objects = Objects::new(code, &[]);
    let mut sources: BTreeMap<u32, u32> = BTreeMap::new();
    for (write, read) in &execution.rf {
        if sources.insert(*read, *write).is_some() {
            return Err(format!("read {read} has two sources"));
        }
    }
    let mut writes: BTreeMap<(u64, u32), Vec<u32>> = BTreeMap::new();
    for (number, event) in execution.events.iter().enumerate() {
        match &event.kind {
            EventKind::Write { address, size, value, .. } => {
                if event.thread.is_none() && *value != objects.initial(*address, *size) {
                    return Err(format!("event {number} is not what was there from the start"));
                }
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
