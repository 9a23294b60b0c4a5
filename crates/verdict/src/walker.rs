//! One thread on its way through the events of an execution.
//!
//! The walker runs the thread and says what is due next; whoever leads it knows which event that
//! is, and in how many parts an access comes. On the way the walker notes what the program says
//! about each event: the reads it depends on, the pairs of read-modify-writes, its tags.

use std::collections::BTreeSet;
use std::rc::Rc;

use parallax_machine::{Code, Domain, Idle, Limits, Operation, Site, Thread, modify};
use parallax_program::{AccessSize, Bits, FunctionId, Open, RmwOp, Tags, VarId};

use crate::derived::{Derived, relate};
use crate::traced::{Traced, Tracing, join};

/// What a thread does next.
pub(crate) enum Due<'p> {
    /// Reads these bytes, at once or in parts.
    Read { address: u64, bytes: u32 },
    /// Writes this value, at once or in parts.
    Write { address: u64, value: Bits },
    /// Succeeds or fails for no reason, see [`Walker::decide`].
    Decision,
    /// What is no access.
    Operation(Operation<'p, Traced>),
}

#[derive(Clone)]
pub(crate) struct Walker<'a, 'p> {
    code: &'a Code<'p>,
    number: u32,
    thread: Thread<Traced>,
    /// Whether dependencies are noted.
    traces: bool,
    /// The access under way.
    access: Option<Access<'p>>,
    reservation: Option<Reservation>,
    /// Accesses and fences so far.
    accesses: u32,
    /// See [`Walker::last_round`].
    last_round: Option<(u32, u32)>,
    /// See [`Walker::passed`].
    passed: Vec<u32>,
    /// Values of variables that are given none, last first.
    undefined: Vec<Bits>,
}

/// Where an access goes.
pub(crate) struct WholeAccess {
    pub(crate) address: u128,
    pub(crate) bytes: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) unlocks: bool,
    /// Whether what is read may be nothing.
    pub(crate) copies: bool,
    /// How much of what decides it nobody has given.
    pub(crate) open: Open,
}

/// An access of which some parts may have happened.
#[derive(Clone)]
struct Access<'p> {
    kind: Kind<'p>,
    address: Traced,
    size: AccessSize,
    reads: Vec<u32>,
    /// What was read so far.
    old: Option<Bits>,
    writes: Vec<u32>,
    /// Bytes written so far.
    written: u32,
    /// What is written, once that is known.
    new: Option<Traced>,
    read_tags: Option<&'p Tags>,
    write_tags: Option<&'p Tags>,
    open: Open,
}

/// What the last load-linked was of, and its reads.
#[derive(Clone)]
struct Reservation {
    address: Bits,
    size: AccessSize,
    reads: Vec<u32>,
}

#[derive(Clone)]
enum Kind<'p> {
    Load,
    LoadLinked,
    Store,
    StoreConditional { value: Traced },
    Rmw { op: RmwOp, operand: Traced },
    Cas { expected: Traced, desired: Traced, fail_tags: &'p Tags, weak: bool },
}

impl<'a, 'p> Walker<'a, 'p> {
    /// Far more than any engine goes.
    const LIMITS: Limits = Limits {
        repeats: u32::MAX - 1,
        steps: 100_000_000,
        depth: 1_000_000,
        spins: true,
        idle: Idle::None,
    };

    pub(crate) fn new(
        code: &'a Code<'p>,
        number: u32,
        function: FunctionId,
        args: Vec<Traced>,
        traces: bool,
    ) -> Self {
        Walker {
            code,
            number,
            thread: Thread::start(code, function, args, &mut Tracing),
            traces,
            access: None,
            reservation: None,
            accesses: 0,
            last_round: None,
            passed: Vec::new(),
            undefined: Vec::new(),
        }
    }

    /// With values for the variables that the thread gives none.
    pub(crate) fn with_undefined(mut self, values: &[Bits]) -> Self {
        self.undefined = values.iter().rev().copied().collect();
        self
    }

    /// Numbers of the fences that might be there, and that the thread has walked past since the
    /// last time somebody asked.
    pub(crate) fn passed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.passed)
    }

    /// The instruction that the thread stands at.
    pub(crate) fn site(&self) -> Option<Site> {
        self.thread.site()
    }

    /// What variables of the function that the thread started in hold, by thread and number.
    pub(crate) fn variables(&self, asked: &[VarId]) -> Vec<((u32, u32), Bits)> {
        let value = |var: &VarId| {
            let value = self.thread.variable(*var)?;
            Some(((self.number, var.0), value.bits))
        };
        asked.iter().filter_map(value).collect()
    }

    /// Those that it stands at in each of its calls, innermost last.
    pub(crate) fn stack(&self) -> impl Iterator<Item = Site> {
        self.thread.stack()
    }

    /// Runs the thread up to what it does next.
    pub(crate) fn due(&mut self) -> Due<'p> {
        loop {
            if let Some(access) = &self.access {
                return access.due();
            }
            match self.thread.run(self.code, &Self::LIMITS, &mut Tracing) {
                Operation::ThreadId => self.answer(Bits::new(32, u128::from(self.number))),
                Operation::Undefined { width } => {
                    let value = self.undefined.pop().filter(|value| value.width() == width);
                    self.answer(value.unwrap_or(Bits::undefined(width)));
                }
                Operation::Spin { since } if since < self.thread.operations() => {
                    self.last_round = Some((since, self.thread.operations()));
                }
                Operation::Vain { .. } => {}
                Operation::Fence { tags } if tags.is_mark() => {
                    self.passed.extend(tags.candidate());
                    self.thread.done();
                }
                operation => match Access::of(&operation) {
                    Some(access) => self.access = Some(access),
                    None => return Due::Operation(operation),
                },
            }
        }
    }

    /// The last round of a loop that only waits: how many operations the thread had done before
    /// it, and after it.
    pub(crate) fn last_round(&self) -> Option<(u32, u32)> {
        self.last_round
    }

    /// How many operations the thread has done.
    pub(crate) fn operations(&self) -> u32 {
        self.thread.operations()
    }

    /// The whole access that is due.
    pub(crate) fn access(&self) -> Option<WholeAccess> {
        let access = self.access.as_ref()?;
        Some(WholeAccess {
            address: access.address.bits.unsigned(),
            bytes: access.size.bytes(),
            reads: !matches!(access.kind, Kind::Store | Kind::StoreConditional { .. }),
            writes: !matches!(access.kind, Kind::Load | Kind::LoadLinked),
            open: access.open,
            copies: access.read_tags.is_some_and(|tags| tags.contains("COPY")),
            unlocks: access.write_tags.is_some_and(|tags| tags.contains("UNLOCK")),
        })
    }

    /// Whether the thread is in the middle of an access.
    pub(crate) fn is_in_access(&self) -> bool {
        let begun = |access: &Access<'_>| !access.reads.is_empty() || access.written > 0;
        self.access.as_ref().is_some_and(begun)
    }

    /// Whether the thread is at a compare-and-swap that may fail for no reason.
    pub(crate) fn is_at_weak_cas(&self) -> bool {
        let kind = self.access.as_ref().map(|access| &access.kind);
        matches!(kind, Some(Kind::Cas { weak: true, .. }))
    }

    /// Whether a compare-and-swap has read what it expected and may yet fail.
    pub(crate) fn awaits_decision(&self) -> bool {
        self.is_at_weak_cas()
            && self.access.as_ref().is_some_and(|access| access.has_read() && access.new.is_none())
    }

    /// Whether the read that is due finds nothing where nobody has written, whatever is there.
    pub(crate) fn asks_whether_written(&self) -> bool {
        let tags = self.access.as_ref().and_then(|access| access.read_tags);
        tags.is_some_and(|tags| tags.contains("FRESH"))
    }

    /// The event is the read that is due, or the next part of it.
    pub(crate) fn read(&mut self, event: u32, value: Bits, derived: &mut Derived) {
        self.note_control(event, derived);
        let asks_whether_written = self.asks_whether_written();
        let Some(access) = &mut self.access else {
            return;
        };
        relate(&mut derived.addr, &access.address.reads, event);
        relate(&mut derived.pick_addr, &access.address.picks, event);
        let value =
            if asks_whether_written { Bits::new(value.width(), value.unsigned()) } else { value };
        derived.tags.insert(event, access.read_tags.cloned().unwrap_or_default());
        access.old = Some(access.old.map_or(value, |low| value.concat(low)));
        access.reads.push(event);
        if access.has_read() {
            self.accesses += 1;
            self.go_on_from_read(derived);
        }
    }

    fn go_on_from_read(&mut self, derived: &mut Derived) {
        let Some(access) = &mut self.access else {
            return;
        };
        let old = access.old_value(self.traces);
        match &access.kind {
            Kind::Rmw { op, operand } => {
                access.new = Some(modify(*op, &old, operand, &mut Tracing));
            }
            Kind::Cas { expected, weak, .. } => {
                let same = old.bits == expected.bits;
                if !(same && *weak) {
                    self.settle(same, derived);
                }
            }
            Kind::LoadLinked => {
                let reads = std::mem::take(&mut access.reads);
                let (address, size) = (access.address.bits, access.size);
                self.reservation = Some(Reservation { address, size, reads });
                self.finish(Some(old), None);
            }
            _ => self.finish(Some(old), None),
        }
    }

    /// Says whether what is due a decision succeeds.
    pub(crate) fn decide(&mut self, succeeds: bool, derived: &mut Derived) -> Result<(), String> {
        let Some(access) = &mut self.access else {
            return Ok(());
        };
        let Kind::StoreConditional { value } = &access.kind else {
            self.settle(succeeds, derived);
            return Ok(());
        };
        let value = value.clone();
        let reservation = self.reservation.take();
        if succeeds {
            let reserved = reservation.ok_or("a store-conditional without load-linked")?;
            let anywhere = access.write_tags.is_some_and(|tags| tags.contains(Tags::ANY_ADDRESS));
            let is_same = reserved.size == access.size
                && (anywhere || reserved.address == access.address.bits);
            if !is_same {
                return Err("a store-conditional of another place than its load-linked".to_string());
            }
            access.reads = reserved.reads;
            access.new = Some(value);
        } else {
            self.finish(Some(Traced::plain(Bits::bool(true))), None);
        }
        Ok(())
    }

    /// A compare-and-swap succeeds or fails.
    fn settle(&mut self, succeeds: bool, derived: &mut Derived) {
        let Some(access) = &mut self.access else {
            return;
        };
        let Kind::Cas { expected, desired, fail_tags, .. } = &access.kind else {
            return;
        };
        let old = access.old_value(self.traces);
        let ok = join(Bits::bool(succeeds), &[&old, expected]);
        if succeeds {
            access.new = Some(Tracing.picked(desired.clone(), &ok));
        } else {
            let failed = |read: &u32| (*read, (*fail_tags).clone());
            derived.tags.extend(access.reads.iter().map(failed));
            self.access = None;
            self.thread.leaves_no_trace();
            self.thread.results(self.code, old, Some(ok));
        }
    }

    /// The event is the write that is due, or the next part of it. The result is what it writes.
    pub(crate) fn write(&mut self, event: u32, bytes: u32, derived: &mut Derived) -> Bits {
        self.note_control(event, derived);
        let nothing = Bits::zero(bytes * 8);
        let Some(access) = &mut self.access else {
            return nothing;
        };
        let Some(new) = &access.new else {
            return nothing;
        };
        let value = new.bits.extract(access.written * 8, bytes * 8);
        relate(&mut derived.addr, &access.address.reads, event);
        relate(&mut derived.pick_addr, &access.address.picks, event);
        relate(&mut derived.data, &new.reads, event);
        relate(&mut derived.pick_data, &new.picks, event);
        if let Some(read) = access.reads.get(access.writes.len()) {
            derived.rmw.insert((*read, event));
            if matches!(access.kind, Kind::Rmw { .. } | Kind::Cas { .. }) {
                derived.amo.insert((*read, event));
            }
        }
        derived.tags.insert(event, access.write_tags.cloned().unwrap_or_default());
        access.writes.push(event);
        access.written += bytes;
        if access.written >= access.size.bytes() {
            self.accesses += 1;
            self.go_on_from_write();
        }
        value
    }

    fn go_on_from_write(&mut self) {
        let Some(access) = &self.access else {
            return;
        };
        let old = access.old_value(self.traces);
        // Whether the stores of a round that is repeated change something is looked at where that
        // matters.
        let is_pair = matches!(access.kind, Kind::Rmw { .. } | Kind::Cas { .. });
        if !is_pair || access.new.as_ref().is_some_and(|new| new.bits == old.bits) {
            self.thread.leaves_no_trace();
        }
        match &access.kind {
            Kind::Cas { expected, .. } => {
                let ok = join(Bits::bool(true), &[&old, expected]);
                self.finish(Some(old), Some(ok));
            }
            Kind::StoreConditional { .. } => {
                let mut status = Traced::plain(Bits::bool(false));
                let depends = |tags: &Tags| tags.contains(Tags::STATUS_DEPENDS);
                if self.traces && access.write_tags.is_some_and(depends) {
                    status.reads = Rc::new(access.writes.iter().copied().collect());
                }
                self.finish(Some(status), None);
            }
            Kind::Rmw { .. } => self.finish(Some(old), None),
            _ => self.finish(None, None),
        }
    }

    fn finish(&mut self, first: Option<Traced>, second: Option<Traced>) {
        self.access = None;
        match first {
            Some(first) => self.thread.results(self.code, first, second),
            None => self.thread.done(),
        }
    }

    /// The event is a fence, or a step in the life of a thread: something that memory models see
    /// and that is no access of the program. What it carries depends on `from`.
    pub(crate) fn note(&mut self, event: u32, tags: &Tags, from: &[Traced], derived: &mut Derived) {
        self.note_control(event, derived);
        for value in from {
            relate(&mut derived.data, &value.reads, event);
            relate(&mut derived.pick_data, &value.picks, event);
        }
        derived.tags.insert(event, tags.clone());
        self.accesses += 1;
    }

    /// The event is the end of an object, which is due. Models see it only where somebody asks
    /// whether an access may come after it.
    pub(crate) fn note_end(&mut self, event: u32, derived: &mut Derived) {
        if let Operation::Free { address, .. } =
            self.thread.run(self.code, &Self::LIMITS, &mut Tracing)
        {
            relate(&mut derived.addr, &address.reads, event);
            relate(&mut derived.pick_addr, &address.picks, event);
        }
        self.note(event, &Tags::none(), &[], derived);
    }

    fn note_control(&self, event: u32, derived: &mut Derived) {
        derived.access.insert(event, self.accesses);
        if self.traces {
            for condition in self.thread.control() {
                relate(&mut derived.ctrl, &condition.reads, event);
                relate(&mut derived.pick_ctrl, &condition.picks, event);
            }
        }
    }

    /// Goes on after an operation that is no access, with its result.
    pub(crate) fn answer(&mut self, value: Bits) {
        self.thread.result(self.code, Traced::plain(value));
    }

    /// Goes on after an operation that is no access and has no result.
    pub(crate) fn pass(&mut self) {
        self.thread.done();
    }
}

impl<'p> Access<'p> {
    /// The access that an operation is, if it is one.
    fn of(operation: &Operation<'p, Traced>) -> Option<Self> {
        let access = |kind, address: &Traced, size: &AccessSize, read_tags, write_tags| Access {
            kind,
            address: address.clone(),
            size: *size,
            reads: Vec::new(),
            old: None,
            writes: Vec::new(),
            written: 0,
            new: None,
            read_tags,
            write_tags,
            open: operation.open_by(|value| value.bits.open()),
        };
        Some(match operation {
            Operation::Load { address, size, tags } => {
                access(Kind::Load, address, size, Some(*tags), None)
            }
            Operation::LoadLinked { address, size, tags } => {
                access(Kind::LoadLinked, address, size, Some(*tags), None)
            }
            Operation::Store { address, value, size, tags } => {
                let store = access(Kind::Store, address, size, None, Some(*tags));
                Access { new: Some(value.clone()), ..store }
            }
            Operation::StoreConditional { address, value, size, tags } => {
                let kind = Kind::StoreConditional { value: value.clone() };
                access(kind, address, size, None, Some(*tags))
            }
            Operation::Rmw { address, op, operand, size, read_tags, write_tags } => {
                let kind = Kind::Rmw { op: *op, operand: operand.clone() };
                access(kind, address, size, Some(*read_tags), Some(*write_tags))
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
                let (expected, desired) = (expected.clone(), desired.clone());
                let kind = Kind::Cas { expected, desired, fail_tags, weak: *weak };
                access(kind, address, size, Some(*read_tags), Some(*write_tags))
            }
            _ => return None,
        })
    }

    fn due(&self) -> Due<'p> {
        let start = self.address.bits.unsigned() as u64;
        if !self.has_read() {
            let done = self.old.map_or(0, |old| old.width() / 8);
            let address = start.wrapping_add(u64::from(done));
            return Due::Read { address, bytes: self.size.bytes() - done };
        }
        let Some(new) = &self.new else {
            return Due::Decision;
        };
        let address = start.wrapping_add(u64::from(self.written));
        let rest = self.size.bytes() - self.written;
        Due::Write { address, value: new.bits.extract(self.written * 8, rest * 8) }
    }

    /// Whether nothing is left to read.
    fn has_read(&self) -> bool {
        match self.kind {
            Kind::Store | Kind::StoreConditional { .. } => true,
            _ => self.old.is_some_and(|old| old.width() >= self.size.bits()),
        }
    }

    /// What was read, as a value that comes from the reads.
    fn old_value(&self, traces: bool) -> Traced {
        let reads = self.reads.iter().copied().filter(|_| traces);
        Traced {
            bits: self.old.unwrap_or(Bits::zero(self.size.bits())),
            reads: Rc::new(reads.collect::<BTreeSet<_>>()),
            picks: Rc::default(),
        }
    }
}
