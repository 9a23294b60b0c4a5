//! The paths of one thread: every way through its code, with the reads left open.
//!
//! Forks are undecided branches, the two ends of a compare-and-swap, success or failure of a
//! store-conditional, and nondeterministic bits. Each path carries the constraints on its reads
//! under which it is taken.

use std::rc::Rc;

use parallax_machine::{Code, Domain, Fault, Limits, Operation, Site, Thread, modify};
use parallax_program::{
    AccessSize, BinaryOp, Bits, Diagnostic, Help, Setting, Tags, ThreadStart, VarId,
};

use crate::dependency::Dependencies;
use crate::term::{ReadVar, TermId, Terms, Value};
use crate::watch::Watch;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Read { var: ReadVar, value: TermId },
    Write { value: TermId },
    Fence,
}

/// An event of a path. Event numbers in dependencies and pairings count along the path.
#[derive(Clone, Debug)]
pub struct PathEvent<'p> {
    pub action: Action,
    /// Meaningless for fences.
    pub address: TermId,
    /// Bytes; 0 for fences.
    pub bytes: u32,
    pub tags: &'p Tags,
    pub site: Site,
    /// Parts of one access (see [`Explorer::granule`]) share its number.
    pub access: u32,
    pub addr: Dependencies,
    pub data: Dependencies,
    pub ctrl: Dependencies,
    /// The same through picks: see [`Domain::picked`].
    pub pick_addr: Dependencies,
    pub pick_data: Dependencies,
    pub pick_ctrl: Dependencies,
    /// For the write of an atomic pair: the read, and how the two are paired.
    pub pair: Option<(u32, Pairing)>,
}

/// How the read and the write of an atomic pair belong together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairing {
    /// Load-linked and store-conditional.
    Exclusive,
    /// One instruction.
    Single,
}

/// A one-bit term that must be 1 for a path to be taken.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub term: TermId,
    pub reads: Rc<[ReadVar]>,
}

#[derive(Clone, Debug)]
pub struct Path<'p> {
    pub events: Vec<PathEvent<'p>>,
    pub constraints: Vec<Constraint>,
    /// The final values of the variables asked for.
    pub finals: Vec<TermId>,
}

/// All paths of a thread.
#[derive(Debug, Default)]
pub struct Paths<'p> {
    pub complete: Vec<Path<'p>>,
    /// Whether some path was cut at the loop bound.
    pub cut: bool,
    /// About how much memory the complete paths take.
    pub bytes: usize,
}

/// Explores the paths of one thread.
pub struct Explorer<'a, 'p, 'w> {
    pub code: &'a Code<'p>,
    pub terms: &'a mut Terms,
    pub limits: Limits,
    /// Where accesses of different sizes meet, each access becomes several events of this many
    /// bytes.
    pub granule: Option<u32>,
    pub thread: u32,
    pub threads: u32,
    /// Variables whose final values are asked for.
    pub asked: &'a [VarId],
    /// Bytes that paths may take.
    pub memory: usize,
    pub watch: &'a mut Watch<'w>,
}

/// A path on its way.
#[derive(Clone)]
struct Walk<'p> {
    thread: Thread<Value>,
    path: Path<'p>,
    reads: u32,
    accesses: u32,
    reservation: Option<Reservation>,
}

impl Walk<'_> {
    fn bytes(&self) -> usize {
        size_of_val(self) + self.thread.bytes() + self.path.bytes()
    }
}

/// Walks that wait for their turn.
#[derive(Default)]
struct Open<'p> {
    walks: Vec<Walk<'p>>,
    bytes: usize,
}

impl<'p> Open<'p> {
    fn push(&mut self, walk: Walk<'p>) {
        self.bytes += walk.bytes();
        self.walks.push(walk);
    }

    fn pop(&mut self) -> Option<Walk<'p>> {
        let walk = self.walks.pop()?;
        self.bytes -= walk.bytes();
        Some(walk)
    }
}

impl Path<'_> {
    fn bytes(&self) -> usize {
        let constraint = |c: &Constraint| size_of_val(c) + size_of_val(&*c.reads);
        size_of_val(self)
            + size_of_val(self.events.as_slice())
            + size_of_val(self.finals.as_slice())
            + self.constraints.iter().map(constraint).sum::<usize>()
    }
}

#[derive(Clone)]
struct Reservation {
    address: TermId,
    size: AccessSize,
    /// The load-linked's events.
    reads: Vec<u32>,
}

/// Why a thread's paths could not be listed.
pub enum Failure {
    Stopped,
    Unsupported(Diagnostic),
}

impl<'p> Explorer<'_, 'p, '_> {
    /// More events in one thread are refused: relations are dense matrices over events.
    pub const MAX_EVENTS: usize = 2_000;
    pub fn explore(&mut self, start: &ThreadStart) -> Result<Paths<'p>, Failure> {
        let args = start.args.iter().map(|arg| self.code.evaluate(arg, &[], self.terms)).collect();
        let thread = Thread::start(self.code, start.function, args, self.terms);
        let path = Path { events: Vec::new(), constraints: Vec::new(), finals: Vec::new() };
        let mut open = Open::default();
        open.push(Walk { thread, path, reads: 0, accesses: 0, reservation: None });
        let mut paths = Paths::default();
        while let Some(walk) = open.pop() {
            self.walk(walk, &mut open, &mut paths)?;
        }
        // The stack yields the branch not taken first.
        paths.complete.reverse();
        if self.terms.too_deep() {
            return Err(self.too_many("nested operations on one value", 10_000));
        }
        Ok(paths)
    }

    /// Follows one path to its end; the other side of each fork goes to `open`.
    fn walk(
        &mut self,
        mut walk: Walk<'p>,
        open: &mut Open<'p>,
        paths: &mut Paths<'p>,
    ) -> Result<(), Failure> {
        loop {
            if self.watch.poll().is_break() {
                return Err(Failure::Stopped);
            }
            if open.bytes + paths.bytes > self.memory {
                return Err(self.too_much_memory());
            }
            let operation = walk.thread.run(self.code, &self.limits, self.terms);
            match operation {
                Operation::Load { address, size, tags } => {
                    let (value, _) = self.read(&mut walk, address, size, tags)?;
                    walk.thread.result(self.code, value);
                }
                Operation::Store { address, value, size, tags } => {
                    self.write(&mut walk, address, value, size, tags, None)?;
                    walk.thread.done();
                }
                Operation::Rmw { address, op, operand, size, read_tags, write_tags } => {
                    let (old, reads) = self.read(&mut walk, address, size, read_tags)?;
                    let new = modify(op, &old, &operand, self.terms);
                    let pair = Some((reads.as_slice(), Pairing::Single));
                    self.write(&mut walk, address, new, size, write_tags, pair)?;
                    walk.thread.result(self.code, old);
                }
                Operation::Cas { .. } => {
                    let Some(next) = self.compare_and_swap(walk, operation, open)? else {
                        return Ok(());
                    };
                    walk = next;
                }
                Operation::LoadLinked { address, size, tags } => {
                    let (value, reads) = self.read(&mut walk, address, size, tags)?;
                    walk.reservation = Some(Reservation { address: address.term, size, reads });
                    walk.thread.result(self.code, value);
                }
                Operation::StoreConditional { address, value, size, tags } => {
                    let reservation = walk.reservation.take();
                    let mut failed = walk.clone();
                    let one = Domain::constant(self.terms, Bits::bool(true));
                    failed.thread.choose(self.code, one, None);
                    open.push(failed);
                    let Some(reservation) = reservation.filter(|r| r.size == size) else {
                        return Ok(());
                    };
                    let same =
                        self.terms.binary_term(BinaryOp::Eq, address.term, reservation.address);
                    if !tags.contains(Tags::ANY_ADDRESS) && !self.require(&mut walk, same) {
                        return Ok(());
                    }
                    let pair = Some((reservation.reads.as_slice(), Pairing::Exclusive));
                    let first = walk.path.events.len() as u32;
                    self.write(&mut walk, address, value, size, tags, pair)?;
                    let mut zero = Domain::constant(self.terms, Bits::bool(false));
                    if tags.contains(Tags::STATUS_DEPENDS) {
                        for event in first..walk.path.events.len() as u32 {
                            let write = self.terms.dependencies.single(event);
                            let sets = &mut self.terms.dependencies;
                            zero.dependencies = sets.union(zero.dependencies, write);
                        }
                    }
                    walk.thread.choose(self.code, zero, None);
                }
                Operation::Fence { tags } => {
                    self.event(&mut walk, Action::Fence, None, 0, tags)?;
                    walk.accesses += 1;
                    walk.thread.done();
                }
                Operation::Branch { condition } => {
                    let negated =
                        self.terms.unary_term(parallax_program::UnaryOp::Not, condition.term);
                    let mut other = walk.clone();
                    if self.require(&mut other, negated) {
                        match other.thread.branch(self.code, &self.limits, false, self.terms) {
                            true => open.push(other),
                            false => paths.cut = true,
                        }
                    }
                    if !self.require(&mut walk, condition.term) {
                        return Ok(());
                    }
                    if !walk.thread.branch(self.code, &self.limits, true, self.terms) {
                        paths.cut = true;
                        return Ok(());
                    }
                }
                Operation::Nondet { width: 1 } => {
                    let mut other = walk.clone();
                    let zero = Domain::constant(self.terms, Bits::bool(false));
                    other.thread.choose(self.code, zero, None);
                    open.push(other);
                    let one = Domain::constant(self.terms, Bits::bool(true));
                    walk.thread.choose(self.code, one, None);
                }
                Operation::Assume { condition } | Operation::Wait { condition } => {
                    if !self.require(&mut walk, condition.term) {
                        return Ok(());
                    }
                    walk.thread.done();
                }
                Operation::End => {
                    let finals = self.asked.iter().map(|var| match walk.thread.variable(*var) {
                        Some(value) => value.term,
                        None => self.terms.constant(Bits::zero(1)),
                    });
                    walk.path.finals = finals.collect();
                    paths.bytes += walk.path.bytes();
                    paths.complete.push(walk.path);
                    return Ok(());
                }
                Operation::Cut => {
                    paths.cut = true;
                    return Ok(());
                }
                other => return Err(self.unsupported(&walk, &other)),
            }
        }
    }

    /// Adds a constraint. False if it can never hold.
    fn require(&mut self, walk: &mut Walk<'p>, condition: TermId) -> bool {
        match self.terms.as_constant(condition) {
            Some(bit) => !bit.is_zero(),
            None => {
                let reads = self.terms.reads_in(condition).into();
                walk.path.constraints.push(Constraint { term: condition, reads });
                true
            }
        }
    }

    /// Goes on with the successful end, if there is one; the failing one goes to `open`.
    fn compare_and_swap(
        &mut self,
        mut walk: Walk<'p>,
        operation: Operation<'p, Value>,
        open: &mut Open<'p>,
    ) -> Result<Option<Walk<'p>>, Failure> {
        let Operation::Cas {
            address,
            expected,
            desired,
            size,
            read_tags,
            write_tags,
            fail_tags,
            weak,
        } = operation
        else {
            return Ok(Some(walk));
        };
        let mut failed = walk.clone();
        let (old, _) = self.read(&mut failed, address, size, fail_tags)?;
        let same = self.terms.binary(BinaryOp::Eq, &old, &expected);
        let different = self.terms.unary_term(parallax_program::UnaryOp::Not, same.term);
        if weak || self.require(&mut failed, different) {
            let term = self.terms.constant(Bits::bool(false));
            let ok = Value { term, ..same };
            failed.thread.choose(self.code, old, Some(ok));
            open.push(failed);
        }
        let (old, reads) = self.read(&mut walk, address, size, read_tags)?;
        if !self.require(&mut walk, same.term) {
            return Ok(None);
        }
        let pair = Some((reads.as_slice(), Pairing::Single));
        let desired = self.terms.picked(desired, &same);
        self.write(&mut walk, address, desired, size, write_tags, pair)?;
        let term = self.terms.constant(Bits::bool(true));
        let ok = Value { term, ..same };
        walk.thread.choose(self.code, old, Some(ok));
        Ok(Some(walk))
    }

    /// Bytes of each event of an access.
    fn part(&self, size: AccessSize) -> u32 {
        self.granule.map_or(size.bytes(), |granule| granule.min(size.bytes()))
    }

    fn offset(&mut self, address: Value, bytes: u32) -> Value {
        let width = self.terms.width(address.term);
        let offset = Domain::constant(self.terms, Bits::new(width, u128::from(bytes)));
        self.terms.binary(BinaryOp::Add, &address, &offset)
    }

    /// The value read, and the events that read it, lowest address first.
    fn read(
        &mut self,
        walk: &mut Walk<'p>,
        address: Value,
        size: AccessSize,
        tags: &'p Tags,
    ) -> Result<(Value, Vec<u32>), Failure> {
        let part = self.part(size);
        let mut whole: Option<Value> = None;
        let mut events = Vec::new();
        for at in (0..size.bytes()).step_by(part as usize) {
            let address = self.offset(address, at);
            let var = ReadVar(walk.reads * self.threads + self.thread);
            walk.reads += 1;
            let term = self.terms.read(var, part * 8);
            let action = Action::Read { var, value: term };
            let event = self.event(walk, action, Some(address), part, tags)?;
            events.push(event);
            let value = Value {
                term,
                dependencies: self.terms.dependencies.single(event),
                picks: Dependencies::NONE,
            };
            whole = Some(match whole {
                Some(low) => self.terms.concat(&value, &low),
                None => value,
            });
        }
        walk.accesses += 1;
        let nothing = Domain::constant(self.terms, Bits::zero(size.bits()));
        Ok((whole.unwrap_or(nothing), events))
    }

    fn write(
        &mut self,
        walk: &mut Walk<'p>,
        address: Value,
        value: Value,
        size: AccessSize,
        tags: &'p Tags,
        pair: Option<(&[u32], Pairing)>,
    ) -> Result<(), Failure> {
        let part = self.part(size);
        for (index, at) in (0..size.bytes()).step_by(part as usize).enumerate() {
            let address = self.offset(address, at);
            let part_value = self.terms.extract(&value, at * 8, part * 8);
            let action = Action::Write { value: part_value.term };
            let event = self.event(walk, action, Some(address), part, tags)?;
            let event = &mut walk.path.events[event as usize];
            event.data = value.dependencies;
            event.pick_data = value.picks;
            event.pair = pair.and_then(|(reads, how)| Some((*reads.get(index)?, how)));
        }
        walk.accesses += 1;
        Ok(())
    }

    fn event(
        &mut self,
        walk: &mut Walk<'p>,
        action: Action,
        address: Option<Value>,
        bytes: u32,
        tags: &'p Tags,
    ) -> Result<u32, Failure> {
        let number = walk.path.events.len();
        if number >= Self::MAX_EVENTS {
            return Err(self.too_many("events in one thread", Self::MAX_EVENTS));
        }
        let mut ctrl = Dependencies::NONE;
        let mut pick_ctrl = Dependencies::NONE;
        for condition in walk.thread.control() {
            ctrl = self.terms.dependencies.union(ctrl, condition.dependencies);
            pick_ctrl = self.terms.dependencies.union(pick_ctrl, condition.picks);
        }
        let Some(site) = walk.thread.site() else {
            return Err(Failure::Stopped);
        };
        let address = address.unwrap_or_else(|| Domain::constant(self.terms, Bits::zero(1)));
        walk.path.events.push(PathEvent {
            action,
            address: address.term,
            bytes,
            tags,
            site,
            access: walk.accesses,
            addr: address.dependencies,
            data: Dependencies::NONE,
            ctrl,
            pick_addr: address.picks,
            pick_data: Dependencies::NONE,
            pick_ctrl,
            pair: None,
        });
        Ok(number as u32)
    }

    fn too_many(&self, what: &str, limit: usize) -> Failure {
        let thread = &self.code.program.threads[self.thread as usize].name;
        Failure::Unsupported(Diagnostic::new(format!(
            "{thread} needs more than {limit} {what}; enumeration of executions is not made for that"
        )))
    }

    fn too_much_memory(&self) -> Failure {
        let thread = &self.code.program.threads[self.thread as usize].name;
        let message = format!("{thread} has too many paths: they do not fit into memory");
        let help = Help::from("fewer branches make fewer paths").and(Help::Lower(Setting::Bound));
        Failure::Unsupported(Diagnostic::new(message).with_help(help))
    }

    fn unsupported(&self, walk: &Walk<'p>, operation: &Operation<'p, Value>) -> Failure {
        let what = match operation {
            Operation::Fault(Fault::External(name)) => format!("call of unknown function '{name}'"),
            Operation::Fault(Fault::BadCallee) => "call through an unknown address".to_string(),
            Operation::Fault(Fault::BadArguments) => "call with wrong arguments".to_string(),
            Operation::Spawn { .. } | Operation::Join { .. } => "starting threads".to_string(),
            Operation::Fault(Fault::Unsupported(what)) => what.clone(),
            Operation::ThreadId => "numbers of threads".to_string(),
            Operation::Choose { .. } => "choices".to_string(),
            Operation::Alloc { .. } | Operation::Free { .. } | Operation::HeapSize { .. } => {
                "allocation".to_string()
            }
            Operation::Assert { .. } => "assertions".to_string(),
            Operation::Nondet { .. } => "nondeterministic values of several bits".to_string(),
            _ => "atomic sections".to_string(),
        };
        let message = format!("{what}: not supported by the enumeration of executions");
        let span = walk.thread.site().map(|site| self.code.span(site));
        let source = &self.code.program.source;
        Failure::Unsupported(match span {
            Some(span) => source.error(span, message),
            None => Diagnostic::new(message),
        })
    }
}
