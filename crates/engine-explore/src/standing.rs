//! Threads on their way: what each one stands at, and what it stands at next.
//!
//! A [`Standing`] is a thread in front of its next visible operation. The graph keeps one for
//! each event, so that trying another value never runs a thread from its start: it goes on from
//! the standing with the new value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parallax_machine::{
    Choice, Chosen, Code, Concrete, FENCE_OF_ALL, Fault, Idle, Limits, Live, Meter, Operation,
    PERHAPS_BY_UNDEFINED, RESERVATIONS, Site, Thread, modify,
};
use parallax_memory::Native;
use parallax_program::{
    AllocKind, Bits, BlockId, FunctionId, Inst, InstKind, Program, Property, RmwOp, Tags,
};

use crate::event::{Id, Marks};
use crate::model::Strength;
use crate::retries;
use crate::updates;
use crate::walker::Step;

/// A thread in front of its next operation.
#[derive(Clone)]
pub struct Standing<'p> {
    thread: Arc<Thread<Bits>>,
    pub at: At<'p>,
    /// How many events of the operation have happened.
    pub done: u8,
    /// What its reads have returned so far, in the low bits.
    pub seen: u128,
    /// Whether some of that is what nobody has written.
    pub undefined: bool,
    /// Whether the thread has asked for its number.
    pub has_asked: bool,
    /// Instructions of the long computations that have led here.
    long: u64,
}

/// Where the lock is that all atomic sections share.
pub const SECTIONS: u64 = Program::SECTIONS;

/// A visible operation, or why there is none.
#[derive(Clone)]
pub enum At<'p> {
    /// A spawned thread before its first step.
    Begin,
    Load {
        address: u64,
        bytes: u8,
        marks: Marks,
    },
    Store {
        address: u64,
        bytes: u8,
        value: Bits,
        marks: Marks,
    },
    Rmw {
        address: u64,
        bytes: u8,
        op: RmwOp,
        operand: Bits,
        read: Marks,
        write: Marks,
    },
    Cas(Arc<Cas>),
    Fence {
        marks: Marks,
    },
    Spawn {
        function: FunctionId,
        args: Arc<[Bits]>,
    },
    Join {
        thread: u64,
    },
    Alloc {
        size: u128,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    },
    Free {
        address: u64,
        kind: AllocKind,
    },
    /// Any of `below` values from `first` on.
    Choice {
        first: i128,
        below: u64,
        width: u32,
    },
    HeapSize {
        address: u64,
    },
    /// Before an atomic section, which is a lock that all of them share …
    Enter,
    /// … and at its end.
    Leave,
    /// The last step of every thread.
    End,
    Ended,
    /// At an assumption that does not hold.
    Stopped,
    /// At a wait whose condition does not hold.
    Waiting,
    /// Back in the state of an earlier round of a loop, which began after so many operations.
    Spinning {
        since: u32,
    },
    /// After a compare-and-swap that has failed and said no more than the read before might have.
    Stale,
    /// About to wait for a signal as before, after a wake-up in vain; it began to wait after so many
    /// operations.
    Vain {
        since: u32,
    },
    /// At the limit of what is explored; where the last round of the loop has changed nothing, after
    /// how many operations it began.
    Cut {
        since: Option<u32>,
    },
    Failed {
        property: Property,
        message: &'p str,
    },
    Fault(Box<Fault>),
}

#[derive(Clone)]
pub struct Cas {
    pub address: u64,
    pub bytes: u8,
    pub expected: Bits,
    pub desired: Bits,
    pub read: Marks,
    pub write: Marks,
    pub fail: Marks,
    /// Whether it may fail though it finds what it expects.
    pub is_weak: bool,
}

/// Runs threads from one visible operation to the next.
pub struct Runner<'p> {
    pub code: Code<'p>,
    limits: Limits,
    /// The values that inputs may take.
    nondet: Option<(i128, i128)>,
    /// For each instruction of each block of each function, what its events are marked with.
    marks: Vec<Vec<Vec<[Marks; 3]>>>,
    /// Whether writes may take effect late.
    is_weak: bool,
    /// Threads that have asked for their number in some graph, complete or not, a bit each.
    asked: Vec<AtomicU64>,
    /// The variables that matter at each place, where that is asked.
    live: Option<Live>,
    /// What threads compute between two operations.
    pub meter: Meter,
}

impl<'p> Runner<'p> {
    pub fn new(
        code: Code<'p>,
        limits: Limits,
        nondet: Option<(i128, i128)>,
        native: Option<Native>,
    ) -> Runner<'p> {
        let strength = native.map_or(Strength::AsWritten, Strength::of);
        let is_weak = native != Some(Native::Sc);
        let of = |kind: &InstKind| marks_of(kind, strength);
        let unused = updates::unused(code.program);
        let marks = code.program.functions.iter().enumerate().map(|(function, body)| {
            let block = |(number, block): (usize, &parallax_program::Block)| {
                let mut marks: Vec<_> = block.insts.iter().map(|inst| of(&inst.kind)).collect();
                let (function, number) = (FunctionId(function as u32), BlockId(number as u32));
                for (index, marks) in marks.iter_mut().enumerate() {
                    let site = Site { function, block: number, index: index as u32 };
                    if unused.contains(&site) {
                        *marks = marks.map(|marks| marks.with(Marks::UPDATES));
                    }
                }
                let waits = |inst: &Inst| matches!(inst.kind, InstKind::Wait { .. });
                let until = block.insts.iter().rposition(waits).unwrap_or(0);
                marks[..until].iter_mut().for_each(|marks| *marks = awaited(*marks));
                marks
            };
            body.blocks.iter().enumerate().map(block).collect()
        });
        let marks = marks.collect();
        let asked = (0..Id::MAX_THREADS.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let live = retries::may_be_stale(&code, &limits).then(|| Live::of(code.program));
        Runner { code, limits, nondet, marks, is_weak, asked, live, meter: Meter::default() }
    }

    /// How many rounds that change nothing a thread goes before it waits.
    pub fn set_idle(&mut self, idle: Idle) {
        self.limits.idle = idle;
    }

    /// Whether loops that only wait go on until they are cut.
    fn repeats_waits(&self) -> bool {
        self.limits.idle == Idle::All
    }

    /// A thread before its first step.
    pub fn begin(&self, function: FunctionId, args: &[Bits]) -> Standing<'p> {
        let thread = Thread::start(&self.code, function, args.to_vec(), &mut Concrete);
        Standing::new(thread, At::Begin, false)
    }

    /// A thread that nobody spawned, at its first operation.
    pub fn start(&self, number: u32, function: FunctionId, args: &[Bits]) -> Standing<'p> {
        let begin = self.begin(function, args);
        self.go(number, &begin, Step::Enter)
    }

    /// Past what a thread stands at.
    pub fn go(&self, number: u32, from: &Standing<'p>, step: Step) -> Standing<'p> {
        let mut thread = Thread::clone(&from.thread);
        let is_quiet = match step {
            Step::Enter | Step::Begin | Step::Pass | Step::With(_) | Step::Load(_) => false,
            Step::Quietly | Step::Unnoticed => true,
            Step::Rmw(old) => from.written(old) == Some(old),
            Step::Cas(old, ok) => !ok || from.written(old) == Some(old),
        };
        if is_quiet {
            thread.leaves_no_trace();
        }
        match (step, &from.at) {
            (Step::Enter | Step::Begin, _) => {}
            (Step::Unnoticed, At::Cas(cas)) => {
                thread.choose(&self.code, cas.expected, Some(Bits::bool(true)));
            }
            (Step::Pass | Step::Quietly | Step::Unnoticed, _) => thread.done(),
            // What is not atomic is not a choice: where there are several writes to choose from there
            // is a race.
            (Step::Load(value), At::Load { marks, .. }) if marks.is_non_atomic() => {
                thread.result(&self.code, value);
            }
            (Step::With(value), _) => thread.result(&self.code, value),
            (Step::Load(value) | Step::Rmw(value), _) => thread.choose(&self.code, value, None),
            (Step::Cas(old, ok), _) => thread.choose(&self.code, old, Some(Bits::bool(ok))),
        }
        self.stand(number, thread, from.has_asked)
    }

    /// Accounts for a step that was remembered, and not taken.
    pub fn has_gone(&self, number: u32, to: &Standing<'p>) {
        if to.long > 0 {
            self.meter.add(to.long);
        }
        if to.has_asked {
            self.asks(number);
        }
    }

    /// Notes that a thread has asked for its number.
    fn asks(&self, number: u32) {
        if let Some(word) = self.asked.get(number as usize / 64) {
            word.fetch_or(1 << (number % 64), Ordering::Relaxed);
        }
    }

    /// After the last step.
    pub fn ended(&self, from: &Standing<'p>) -> Standing<'p> {
        from.at(At::Ended, 0)
    }

    /// Whether the thread may find that it has to wait right after the read it stands at: the
    /// read is in a loop, or its block goes on with a wait.
    pub fn may_wait(&self, standing: &Standing<'p>) -> bool {
        if matches!(standing.at, At::Enter) {
            return standing.done == 0;
        }
        let is_read = matches!(standing.at, At::Load { .. } | At::Cas(_) | At::Rmw { .. })
            && standing.done == 0;
        let site = standing.site().filter(|_| is_read);
        site.is_some_and(|site| {
            let block = &self.code.program.function(site.function).blocks[site.block.0 as usize];
            let rest = block.insts.get(site.index as usize + 1..).unwrap_or_default();
            self.code.can_repeat(site) && !self.repeats_waits()
                || rest.iter().any(|inst| matches!(inst.kind, InstKind::Wait { .. }))
        })
    }

    /// Whether compare-and-swaps that come to nothing are looked for.
    pub fn follows_attempts(&self) -> bool {
        self.live.is_some()
    }

    /// Whether two threads stand at the same place, with the same values in all that matters there.
    pub fn stand_alike(&self, one: &Standing<'p>, other: &Standing<'p>) -> bool {
        let live = self.live.as_ref();
        live.is_some_and(|live| one.thread.stands_like(&other.thread, live, &Concrete))
    }

    /// After a compare-and-swap that comes to nothing.
    pub fn stale(&self, from: &Standing<'p>) -> Standing<'p> {
        from.at(At::Stale, 0)
    }

    /// Waiting to enter an atomic section.
    pub fn shut_out(&self, from: &Standing<'p>) -> Standing<'p> {
        from.at(At::Waiting, 0)
    }

    /// Still at the same operation, after one more of its events.
    pub fn within(&self, from: &Standing<'p>, seen: u128, undefined: bool) -> Standing<'p> {
        Standing { seen, undefined, ..from.at(from.at.clone(), from.done + 1) }
    }

    /// At an operation that would be decided by what nobody has written.
    pub fn undecided(&self, from: &Standing<'p>) -> Standing<'p> {
        from.at(decided_by(PERHAPS_BY_UNDEFINED), 0)
    }

    /// Whether a thread has asked for its number in some graph.
    pub fn has_asked(&self, number: usize) -> bool {
        let word = self.asked.get(number / 64).map_or(0, |word| word.load(Ordering::Relaxed));
        word >> (number % 64) & 1 != 0
    }

    /// Threads that have asked for their number, a bit each.
    pub fn asked(&self) -> Vec<u64> {
        self.asked.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Adds those that have asked before.
    pub fn has_had_asked(&self, asked: &[u64]) {
        for (word, asked) in self.asked.iter().zip(asked) {
            word.fetch_or(*asked, Ordering::Relaxed);
        }
    }

    /// Forgets who has asked for its number.
    pub fn forget_asked(&self) {
        self.asked.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    fn stand(&self, number: u32, mut thread: Thread<Bits>, has_asked: bool) -> Standing<'p> {
        let (mut has_asked, mut long) = (has_asked, 0);
        loop {
            let (operation, taken) = thread.run_counting(&self.code, &self.limits, &mut Concrete);
            if Meter::is_long(taken) {
                self.meter.add(taken);
                long += taken;
            }
            if let Operation::ThreadId = operation {
                has_asked = true;
                self.asks(number);
                thread.result(&self.code, Bits::new(32, u128::from(number)));
                continue;
            }
            if let Operation::Choose { below } = &operation
                && !below.is_undefined()
                && let Chosen::Only(value) = Chosen::below(*below)
            {
                thread.result(&self.code, value);
                continue;
            }
            let at = self.at(&thread, operation);
            return Standing { long, ..Standing::new(thread, at, has_asked) };
        }
    }

    fn at(&self, thread: &Thread<Bits>, operation: Operation<'p, Bits>) -> At<'p> {
        let [first, second, third] = thread.site().map_or([Marks::default(); 3], |site| {
            let Site { function, block, index } = site;
            let block = &self.marks[function.0 as usize][block.0 as usize];
            block.get(index as usize).copied().unwrap_or_default()
        });
        let place = |address: Bits| address.unsigned() as u64;
        if let Some(what) = operation.decided_by() {
            return decided_by(what);
        }
        match operation {
            Operation::Load { address, size, .. } | Operation::LoadLinked { address, size, .. } => {
                At::Load { address: place(address), bytes: size.bytes() as u8, marks: first }
            }
            Operation::Store { address, value, size, .. } => At::Store {
                address: place(address),
                bytes: size.bytes() as u8,
                value,
                marks: first,
            },
            Operation::Rmw { address, op, operand, size, .. } => At::Rmw {
                address: place(address),
                bytes: size.bytes() as u8,
                op,
                operand,
                read: first,
                write: second,
            },
            Operation::Cas { address, expected, desired, size, weak, .. } => {
                At::Cas(Arc::new(Cas {
                    address: place(address),
                    bytes: size.bytes() as u8,
                    expected,
                    desired,
                    read: first,
                    write: second,
                    fail: third,
                    is_weak: weak,
                }))
            }
            Operation::Fence { tags } if tags.contains(Tags::MEMBARRIER) && self.is_weak => {
                At::Fault(Box::new(Fault::Unsupported(FENCE_OF_ALL.into())))
            }
            Operation::Fence { .. } => At::Fence { marks: first },
            Operation::Spawn { function, args } => At::Spawn { function, args: args.into() },
            Operation::Join { thread } => At::Join { thread: place(thread) },
            Operation::Alloc { size, align, kind, zeroed } => {
                At::Alloc { size: size.unsigned(), align, kind, zeroed }
            }
            Operation::Free { address, kind } => At::Free { address: place(address), kind },
            Operation::Choose { below } => match Chosen::below(below) {
                Chosen::AnyOf(choice) => choice_of(choice),
                Chosen::Nothing | Chosen::Only(_) => At::Stopped,
            },
            Operation::Nondet { width } => match Choice::of_input(width, self.nondet) {
                Some(choice) => choice_of(choice),
                None => At::Fault(Box::new(Fault::any_input())),
            },
            Operation::HeapSize { address } => At::HeapSize { address: place(address) },
            Operation::AtomicBegin => At::Enter,
            Operation::AtomicEnd => At::Leave,
            Operation::Assume { .. } => At::Stopped,
            Operation::Wait { .. } => At::Waiting,
            Operation::Spin { since } if self.repeats_waits() => At::Cut { since: Some(since) },
            Operation::Spin { since } => At::Spinning { since },
            Operation::Vain { since } => At::Vain { since },
            Operation::Assert { message, property, .. } => At::Failed { property, message },
            Operation::End => At::End,
            Operation::Fault(fault) => At::Fault(Box::new(fault)),
            Operation::StoreConditional { .. } => {
                At::Fault(Box::new(Fault::Unsupported(RESERVATIONS.into())))
            }
            Operation::Cut
            | Operation::Branch { .. }
            | Operation::ThreadId
            | Operation::Undefined { .. } => At::Cut { since: None },
        }
    }
}

/// What the events of an instruction are marked with: in order, for a compare-and-swap the read
/// and write of success and the read of failure.
fn marks_of(kind: &InstKind, strength: Strength) -> [Marks; 3] {
    let none = Marks::default();
    let rmw = Marks::RMW.with(Marks::LOCKED);
    let of = |tags| strength.adjust(Marks::of(tags));
    match kind {
        InstKind::Load { tags, .. } | InstKind::LoadLinked { tags, .. } => [of(tags), none, none],
        InstKind::Store { tags, .. } => {
            let marks = of(tags);
            [marks.with(Marks::LOCKED.when(marks.is_seq_cst())), none, none]
        }
        InstKind::Fence { tags } => [of(tags), none, none],
        InstKind::Rmw { read_tags, write_tags, .. } => {
            [of(read_tags).with(rmw), of(write_tags).with(rmw), none]
        }
        InstKind::Cas { read_tags, write_tags, fail_tags, .. } => {
            [of(read_tags).with(rmw), of(write_tags).with(rmw), of(fail_tags)]
        }
        _ => [none; 3],
    }
}

/// The same, for an instruction before a wait: where it takes a lock, it does so in the end.
fn awaited(marks: [Marks; 3]) -> [Marks; 3] {
    let takes = marks[1].is_lock() && marks[1].is_rmw();
    marks.map(|marks| marks.with(Marks::AWAITED.when(takes)))
}

impl At<'_> {
    /// Address and bytes of an access, and whether it may write.
    pub fn access(&self) -> Option<(u64, u8, bool)> {
        Some(match self {
            At::Load { address, bytes, .. } => (*address, *bytes, false),
            At::Store { address, bytes, .. } | At::Rmw { address, bytes, .. } => {
                (*address, *bytes, true)
            }
            At::Cas(cas) => (cas.address, cas.bytes, true),
            At::Enter | At::Leave => (SECTIONS, 4, true),
            _ => return None,
        })
    }
}

fn choice_of<'p>(choice: Choice) -> At<'p> {
    let Choice { first, below, width } = choice;
    At::Choice { first, below, width }
}

fn decided_by<'p>(what: &str) -> At<'p> {
    At::Fault(Box::new(Fault::Unsupported(what.to_string())))
}

impl<'p> Standing<'p> {
    fn new(thread: Thread<Bits>, at: At<'p>, has_asked: bool) -> Standing<'p> {
        let thread = Arc::new(thread);
        Standing { thread, at, done: 0, seen: 0, undefined: false, has_asked, long: 0 }
    }

    pub fn thread(&self) -> &Arc<Thread<Bits>> {
        &self.thread
    }

    /// The same thread at something else.
    fn at(&self, at: At<'p>, done: u8) -> Standing<'p> {
        let (thread, has_asked) = (self.thread.clone(), self.has_asked);
        Standing { thread, at, done, seen: 0, undefined: false, has_asked, long: 0 }
    }

    /// Where in the program the thread stands.
    pub fn site(&self) -> Option<Site> {
        self.thread.site()
    }

    /// The calls that it stands in, innermost last.
    pub fn stack(&self) -> impl Iterator<Item = Site> {
        self.thread.stack()
    }

    /// How many operations the thread has gone past.
    pub fn operations(&self) -> u32 {
        self.thread.operations()
    }

    /// Whether the thread has a next step to take, if nothing outside of it is in the way.
    pub fn is_ready(&self) -> bool {
        !matches!(
            self.at,
            At::Ended
                | At::Stopped
                | At::Waiting
                | At::Spinning { .. }
                | At::Stale
                | At::Vain { .. }
                | At::Cut { .. }
                | At::Failed { .. }
                | At::Fault(_)
        )
    }

    /// Whether the thread waits, and its last operation is all that decides for how long.
    pub fn is_stuck_after_one(&self) -> bool {
        match self.at {
            At::Waiting | At::Stale => true,
            At::Spinning { since } => self.operations() == since + 1,
            _ => false,
        }
    }

    /// Whether it has read what it is about to modify.
    pub fn is_halfway(&self) -> bool {
        self.done > 0
    }

    /// The value that a read-modify-write stores, if it does.
    pub fn written(&self, old: Bits) -> Option<Bits> {
        match &self.at {
            At::Rmw { op, operand, .. } => Some(modify(*op, &old, operand, &mut Concrete)),
            At::Cas(cas) => (old == cas.expected).then_some(cas.desired),
            At::Enter => old.is_zero().then(|| Bits::new(32, 1)),
            _ => None,
        }
    }
}
