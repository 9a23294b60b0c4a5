//! The independent replayer: an execution is believed only after this has rebuilt it.
//!
//! Each thread is run once more, concretely, by the interpreter; every load is answered with
//! the value that the execution claims, and every event that the thread performs is compared
//! with the claim: kind, address, value, tags, and the dependencies and atomic pairs that lead
//! to it. Then the communication is checked: each read has exactly one source, of the same
//! bytes and the same value, and coherence is a total order for each location, initial write
//! first. Last, the model's `.cat` file says whether it allows the execution.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use parallax_machine::{Code, Domain, Limits, Operation, Thread, modify};
use parallax_memory::Model;
use parallax_program::{AccessSize, Bits, Program, Tags};

use crate::judge::judge;
use crate::traced::{Traced, Tracing, join};
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
    judge(execution, &derived, model)
}

/// What the program says about the events of an execution.
#[derive(Clone, Default)]
pub(crate) struct Derived {
    pub(crate) addr: BTreeSet<(u32, u32)>,
    pub(crate) data: BTreeSet<(u32, u32)>,
    pub(crate) ctrl: BTreeSet<(u32, u32)>,
    /// Follow from the events and the dependencies, so that no execution claims them.
    pub(crate) pick_addr: BTreeSet<(u32, u32)>,
    pub(crate) pick_data: BTreeSet<(u32, u32)>,
    pub(crate) pick_ctrl: BTreeSet<(u32, u32)>,
    pub(crate) rmw: BTreeSet<(u32, u32)>,
    /// The pairs of single instructions.
    pub(crate) amo: BTreeSet<(u32, u32)>,
    /// For each event of a thread, the number of the access or fence that it is a part of.
    pub(crate) access: BTreeMap<u32, u32>,
}

impl Derived {
    /// Whether the execution claims just these pairs, among those that concern us.
    fn agrees_with(
        &self,
        execution: &Execution,
        concerns: impl Fn(&(u32, u32)) -> bool,
    ) -> Result<(), String> {
        let relations = [
            ("addr", &execution.addr, &self.addr),
            ("data", &execution.data, &self.data),
            ("ctrl", &execution.ctrl, &self.ctrl),
            ("rmw", &execution.rmw, &self.rmw),
        ];
        for (name, claimed, derived) in relations {
            let claimed: BTreeSet<_> = claimed.iter().filter(|pair| concerns(pair)).collect();
            let derived: BTreeSet<_> = derived.iter().filter(|pair| concerns(pair)).collect();
            if claimed != derived {
                return Err(format!("{name} differs: claimed {claimed:?}, found {derived:?}"));
            }
        }
        Ok(())
    }
}

/// One thread on its way through the claimed events.
#[derive(Clone)]
struct Replay<'a, 'p> {
    code: &'a Code<'p>,
    execution: &'a Execution,
    number: u32,
    thread: Thread<Traced>,
    /// The events of the thread that are still to come.
    events: std::iter::Peekable<std::vec::IntoIter<u32>>,
    /// Reads of the last load-linked.
    reservation: Option<Vec<u32>>,
    /// Accesses and fences so far.
    accesses: u32,
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
            thread: Thread::start(code, start.function, args, &mut Tracing),
            events: own.collect::<Vec<_>>().into_iter().peekable(),
            reservation: None,
            accesses: 0,
        }
    }

    fn run(mut self, derived: &mut Derived) -> Result<(), String> {
        let limits = Limits { repeats: u32::MAX - 1, ..Limits::default() };
        loop {
            match self.thread.run(self.code, &limits, &mut Tracing) {
                Operation::Load { address, size, tags } => {
                    let (value, _) = self.read(&address, size, tags, derived)?;
                    self.thread.result(self.code, value);
                }
                Operation::LoadLinked { address, size, tags } => {
                    let (value, reads) = self.read(&address, size, tags, derived)?;
                    self.reservation = Some(reads);
                    self.thread.result(self.code, value);
                }
                Operation::Store { address, value, size, tags } => {
                    self.write(&address, &value, size, tags, None, derived)?;
                    self.thread.done();
                }
                Operation::Rmw { address, op, operand, size, read_tags, write_tags } => {
                    let (old, reads) = self.read(&address, size, read_tags, derived)?;
                    let new = modify(op, &old, &operand, &mut Tracing);
                    let writes =
                        self.write(&address, &new, size, write_tags, Some(&reads), derived)?;
                    derived.amo.extend(reads.into_iter().zip(writes));
                    self.thread.result(self.code, old);
                }
                Operation::Cas {
                    address,
                    expected,
                    desired,
                    size,
                    read_tags,
                    write_tags,
                    fail_tags,
                    weak,
                } => {
                    let old = self.claimed_value(size)?;
                    let same = old == expected.bits;
                    let succeeds = same && !(weak && self.write_does_not_follow(size));
                    let tags = if succeeds { read_tags } else { fail_tags };
                    let (old, reads) = self.read(&address, size, tags, derived)?;
                    let ok = join(Bits::bool(succeeds), &[&old, &expected]);
                    if succeeds {
                        let desired = Tracing.picked(desired, &ok);
                        let pair = Some(reads.as_slice());
                        let writes =
                            self.write(&address, &desired, size, write_tags, pair, derived)?;
                        derived.amo.extend(reads.into_iter().zip(writes));
                    }
                    self.thread.results(self.code, old, Some(ok));
                }
                Operation::StoreConditional { address, value, size, tags } => {
                    let reads = self.reservation.take();
                    let succeeds = self.next_is_written_here();
                    let mut status = Traced::plain(Bits::bool(!succeeds));
                    if succeeds {
                        let reads = reads.ok_or("a store-conditional without load-linked")?;
                        let writes =
                            self.write(&address, &value, size, tags, Some(&reads), derived)?;
                        if tags.contains(Tags::STATUS_DEPENDS) {
                            status.reads = Rc::new(writes.into_iter().collect());
                        }
                    }
                    self.thread.result(self.code, status);
                }
                Operation::Fence { tags } => {
                    let event = self.next()?;
                    let claimed = &self.execution.events[event as usize];
                    if claimed.kind != EventKind::Fence || claimed.tags != *tags {
                        return Err(format!("event {event} is not the fence that is due"));
                    }
                    self.control(event, derived);
                    self.accesses += 1;
                    self.thread.done();
                }
                Operation::Assume { condition } if !condition.bits.is_zero() => self.thread.done(),
                Operation::Nondet { width: 1 } => {
                    let (mut other, mut found) = (self.clone(), derived.clone());
                    other.answer(false);
                    if other.run(&mut found).is_ok() {
                        *derived = found;
                        return Ok(());
                    }
                    self.answer(true);
                }
                Operation::End => break,
                other => return Err(format!("thread {} cannot go on: {other:?}", self.number)),
            }
        }
        if let Some(event) = self.events.next() {
            return Err(format!("event {event} comes after the end of its thread"));
        }
        derived.agrees_with(self.execution, |(_, to)| {
            let event = self.execution.events.get(*to as usize);
            event.is_some_and(|event| event.thread == Some(self.number))
        })
    }

    /// Chooses a nondeterministic bit. Which one was chosen shows in the events that follow, or
    /// else in their dependencies.
    fn answer(&mut self, bit: bool) {
        let bit = Traced::plain(Bits::bool(bit));
        self.thread.result(self.code, bit);
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
        let site = self.thread.site().map(|site| self.code.span(site));
        let here = site.map(|span| self.code.program.source.location(span));
        matches!(event.kind, EventKind::Write { .. }) && event.place == here
    }

    /// Whether a compare-and-swap of that size is not followed by its write.
    fn write_does_not_follow(&mut self, size: AccessSize) -> bool {
        let mut ahead = self.events.clone();
        let mut bytes = 0;
        while bytes < size.bytes() {
            match ahead.next().map(|event| &self.execution.events[event as usize].kind) {
                Some(EventKind::Read { size, .. }) => bytes += size,
                _ => return true,
            }
        }
        std::mem::swap(&mut self.events, &mut ahead);
        let written = self.next_is_written_here();
        std::mem::swap(&mut self.events, &mut ahead);
        !written
    }

    /// The value that the next read, in one part or several, is claimed to return.
    fn claimed_value(&self, size: AccessSize) -> Result<Bits, String> {
        let mut whole: Option<Bits> = None;
        for event in self.events.clone() {
            let EventKind::Read { value, .. } = &self.execution.events[event as usize].kind else {
                break;
            };
            let joined = whole.map_or(*value, |low| value.concat(low));
            if joined.width() == size.bits() {
                return Ok(joined);
            }
            whole = Some(joined);
        }
        Err(format!("thread {} does not read what is due", self.number))
    }

    fn read(
        &mut self,
        address: &Traced,
        size: AccessSize,
        tags: &Tags,
        derived: &mut Derived,
    ) -> Result<(Traced, Vec<u32>), String> {
        let bits = self.claimed_value(size)?;
        let mut reads = Vec::new();
        let mut at = 0;
        while at < size.bytes() {
            let event = self.next()?;
            let claimed = &self.execution.events[event as usize];
            let EventKind::Read { address: place, size: part, .. } = &claimed.kind else {
                return Err(format!("event {event} is not the read that is due"));
            };
            let due = address.bits.unsigned() as u64;
            if *place != due.wrapping_add(u64::from(at)) || claimed.tags != *tags {
                return Err(format!("event {event} reads another place than is due"));
            }
            relate(&mut derived.addr, &address.reads, event);
            relate(&mut derived.pick_addr, &address.picks, event);
            self.control(event, derived);
            reads.push(event);
            at += part.max(&1);
        }
        self.accesses += 1;
        Ok((
            Traced {
                bits,
                reads: reads.iter().copied().collect::<BTreeSet<_>>().into(),
                picks: Rc::default(),
            },
            reads,
        ))
    }

    fn write(
        &mut self,
        address: &Traced,
        value: &Traced,
        size: AccessSize,
        tags: &Tags,
        pair: Option<&[u32]>,
        derived: &mut Derived,
    ) -> Result<Vec<u32>, String> {
        let mut at = 0;
        let mut writes = Vec::new();
        while at < size.bytes() {
            let event = self.next()?;
            let claimed = &self.execution.events[event as usize];
            let EventKind::Write { address: place, size: part, value: written, .. } = &claimed.kind
            else {
                return Err(format!("event {event} is not the write that is due"));
            };
            let due = address.bits.unsigned() as u64;
            if *place != due.wrapping_add(u64::from(at)) || claimed.tags != *tags {
                return Err(format!("event {event} writes another place than is due"));
            }
            let expected = value.bits.extract(at * 8, part * 8);
            if *written != expected {
                return Err(format!("event {event} writes {written}, due is {expected}"));
            }
            relate(&mut derived.addr, &address.reads, event);
            relate(&mut derived.pick_addr, &address.picks, event);
            relate(&mut derived.data, &value.reads, event);
            relate(&mut derived.pick_data, &value.picks, event);
            if let Some(read) = pair.and_then(|reads| reads.get(writes.len())) {
                derived.rmw.insert((*read, event));
            }
            self.control(event, derived);
            at += part.max(&1);
            writes.push(event);
        }
        self.accesses += 1;
        Ok(writes)
    }

    fn control(&self, event: u32, derived: &mut Derived) {
        derived.access.insert(event, self.accesses);
        for condition in self.thread.control() {
            relate(&mut derived.ctrl, &condition.reads, event);
            relate(&mut derived.pick_ctrl, &condition.picks, event);
        }
    }
}

fn relate(relation: &mut BTreeSet<(u32, u32)>, from: &BTreeSet<u32>, to: u32) {
    relation.extend(from.iter().map(|read| (*read, to)));
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
