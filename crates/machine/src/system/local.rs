//! The part of a state that belongs to one thread alone: its interpreter, the objects that only it
//! uses, and what it stands at.
//!
//! A thread goes from one operation that others may notice to the next in one *passage*. Which
//! passage that is depends on nothing but the thread's own part and on what its operation
//! returned, so passages are remembered: most steps of a search are a look into a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use parallax_program::{AllocKind, Bits, FunctionId, InstKind, Property, RmwOp, VarId};

use super::fingerprint::Digest;
use super::marks::{Marks, MemoryKind};
use super::objects::Object;
use super::pages::Pages;
use super::pool::Depends;
use super::private::initial_page;
use super::record::{Log, What};
use super::setup::Setup;
use crate::{
    Choice, Chosen, Concrete, Fault, Followed, Limits, NESTED_SECTION, NO_SECTION, Operation,
    RESERVATIONS, Site, TOO_LARGE, TOO_MANY_THREADS, Thread, modify,
};

/// An operation that others may notice or that depends on them, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum At<'p> {
    Load {
        address: u64,
        bytes: u8,
        marks: Marks,
    },
    Store {
        address: u64,
        bytes: u8,
        value: u128,
        marks: Marks,
    },
    Rmw {
        address: u64,
        bytes: u8,
        op: RmwOp,
        operand: Bits,
        marks: Marks,
    },
    Cas {
        address: u64,
        bytes: u8,
        expected: u128,
        desired: u128,
        write: Marks,
        fail: Marks,
        /// Whether it may fail though it finds what it expects.
        is_weak: bool,
    },
    /// Waits until the buffer is empty.
    Fence,
    /// Waits until the buffers of all threads are empty.
    FenceOfAll,
    /// The same, for a read-modify-write of an object that only this thread uses.
    Drain,
    Join {
        thread: u64,
    },
    Free {
        address: u64,
        kind: AllocKind,
    },
    HeapSize {
        address: u64,
    },
    /// Any of `below` values from `first` on.
    Choice {
        first: i128,
        below: u64,
        width: u32,
    },
    /// Before an atomic section.
    Enter,
    /// Before an instruction that concerns no other thread: somebody else may go first.
    Local,
    /// The last step.
    End,
    Ended,
    /// At an assumption that does not hold.
    Stopped,
    /// At a wait whose condition does not hold.
    Waiting,
    /// In a loop that does nothing.
    Endless,
    /// At the limit of what is followed.
    Cut,
    /// At a read below the end of the stack, which was forgotten; see [`Setup::keep_stacks`].
    Forgotten,
    Failed {
        property: Property,
        message: &'p str,
    },
    Fault(Fault),
}

/// What an operation returned.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Input {
    Nothing,
    Value(Bits),
    /// Of a compare-and-swap: the old value, and whether it succeeded.
    Pair(Bits, bool),
}

/// What a passage does to what threads share.
#[derive(Clone, Debug)]
pub(crate) enum Out {
    Store {
        address: u64,
        bytes: u8,
        value: u128,
        is_release: bool,
    },
    Barrier,
    /// Where a write is published by a step of its own: a fence; a private access whose address comes from reads that
    /// wait.
    Fence(Marks),
    Addressed(u64),
    Spawn {
        child: u32,
        function: FunctionId,
        args: Arc<[Bits]>,
    },
    Leave,
}

/// A way from one operation to the next.
pub(crate) struct Passage<'p> {
    pub next: Arc<Local<'p>>,
    pub outs: Vec<Out>,
}

impl Passage<'_> {
    pub(crate) fn bytes(&self) -> usize {
        let local = &self.next;
        256 + local.thread.bytes() + local.private.count() * 128 + self.outs.len() * 48
    }
}

/// One thread's own part of a state.
#[derive(Clone)]
pub struct Local<'p> {
    pub thread: Thread<Bits>,
    pub at: At<'p>,
    pub(super) number: u32,
    pub(super) private: Pages,
    pub(super) objects: Arc<Vec<Object>>,
    pub(super) objects_fingerprint: u128,
    children: u32,
    /// Locks whose last write by this thread took them.
    pub(super) held: Vec<u64>,
    pub(crate) in_section: bool,
    /// Whether the buffer was found empty for the operation that comes next.
    pub(super) is_drained: bool,
    /// Whether a look at something may leave the thread where it is.
    pub(crate) may_wait: bool,
    /// The reads that wait, of those that the operation comes from.
    depends: Depends,
    /// The same of bytes of objects that only this thread uses.
    pub(super) private_reads: Arc<BTreeMap<u64, u64>>,
    pub(crate) fingerprint: u128,
}

impl<'p> Local<'p> {
    /// Accesses that a thread makes alone before it lets others look.
    const PATIENCE: u32 = 1 << 16;
    /// The same of instructions, though it may be more before a single access.
    const MOST_INSTRUCTIONS: u64 = 1 << 21;

    /// A thread at its first operation.
    pub(crate) fn start(
        setup: &Setup<'p>,
        number: u32,
        function: FunctionId,
        args: &[Bits],
        log: &mut Log,
    ) -> Passage<'p> {
        let thread = Thread::start(&setup.code, function, args.to_vec(), &mut Concrete);
        let local = Local {
            thread,
            at: At::Local,
            number,
            private: Pages::default(),
            objects: Arc::default(),
            objects_fingerprint: 0,
            children: 0,
            held: Vec::new(),
            in_section: false,
            is_drained: false,
            may_wait: false,
            depends: Depends::default(),
            private_reads: Arc::default(),
            fingerprint: 0,
        };
        local.go_on(setup, log)
    }

    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    pub fn site(&self) -> Option<Site> {
        self.thread.site()
    }

    /// What some bytes of an object hold that only this thread uses.
    pub fn private_bytes(&self, address: u64, bytes: u32) -> u128 {
        self.private.read(address, bytes, |page| initial_page(&self.objects, page)).value
    }

    /// Past the operation that the thread stands at.
    pub(crate) fn pass(
        self: &Arc<Self>,
        setup: &Setup<'p>,
        input: Input,
        log: &mut Log,
    ) -> Arc<Passage<'p>> {
        if log.is_on() || !setup.options.merges {
            return Arc::new(self.passage(setup, input, log));
        }
        let mut key = Digest::new(3);
        key.add_wide(self.fingerprint);
        match input {
            Input::Nothing => {}
            Input::Value(value) => {
                key.add_wide(value.unsigned());
                key.add(u64::from(value.is_undefined()));
                key.add(value.from());
            }
            Input::Pair(value, ok) => {
                key.add_wide(value.unsigned());
                key.add(u64::from(ok));
                key.add(value.from());
            }
        }
        setup.remember(key.finish(), || self.passage(setup, input, log))
    }

    fn passage(&self, setup: &Setup<'p>, input: Input, log: &mut Log) -> Passage<'p> {
        let mut local = self.clone();
        local.note_locks(&input);
        match (&self.at, input) {
            (At::Enter, _) => local.in_section = true,
            (At::Drain, _) => {
                local.is_drained = true;
                return match setup.options.stops {
                    true => local.compute(setup, log),
                    false => local.go_on(setup, log),
                };
            }
            (At::Local, _) if setup.options.stops => return local.compute(setup, log),
            (At::Local, _) => return local.go_on(setup, log),
            _ => {}
        }
        match input {
            Input::Nothing => local.thread.done(),
            Input::Value(value) => local.thread.result(&setup.code, value),
            Input::Pair(value, ok) => {
                let from = value.from() | local.depends.expected;
                let ok = Bits::bool(ok).coming_from(from);
                local.thread.results(&setup.code, value, Some(ok));
            }
        }
        local.go_on(setup, log)
    }

    /// The thread has ended: nothing of it matters any more, but its objects and what is asked
    /// for.
    pub(crate) fn ended(&self, setup: &Setup<'p>) -> Local<'p> {
        let mut local = Local {
            at: At::Ended,
            private: Pages::default(),
            held: Vec::new(),
            may_wait: false,
            ..self.clone()
        };
        let mut digest = Digest::new(4);
        digest.add(u64::from(self.number));
        digest.add_wide(self.objects_fingerprint);
        local.add_observed(setup, &mut digest);
        local.fingerprint = digest.finish();
        local
    }

    /// What is written and wins over what was known of locks.
    fn note_locks(&mut self, input: &Input) {
        let (address, marks) = match (&self.at, input) {
            (At::Store { address, marks, .. } | At::Rmw { address, marks, .. }, _) => {
                (*address, *marks)
            }
            (At::Cas { address, write, .. }, Input::Pair(_, true)) => (*address, *write),
            _ => return,
        };
        self.note_write(address, marks);
    }

    pub(super) fn note_write(&mut self, address: u64, marks: Marks) {
        self.held.retain(|held| *held != address);
        if marks.takes_lock() {
            self.held.push(address);
            self.held.sort_unstable();
        }
    }

    fn add_observed(&self, setup: &Setup<'p>, digest: &mut Digest) {
        for (thread, var) in &setup.options.observed {
            if *thread == self.number
                && let Some(value) = self.thread.variable(*var)
            {
                digest.add_wide(value.unsigned());
            }
        }
    }

    /// The value of a variable of the function that the thread started in.
    pub fn variable(&self, var: VarId) -> Option<Bits> {
        self.thread.variable(var).copied()
    }

    /// Runs on to the next operation that is not the thread's alone.
    fn go_on(mut self, setup: &Setup<'p>, log: &mut Log) -> Passage<'p> {
        let mut outs = Vec::new();
        self.at = At::Local;
        if setup.options.stops {
            self.look(setup, &mut outs, log);
            return self.arrive(setup, outs);
        }
        let mut instructions = 0;
        for passed in 0.. {
            let (operation, taken) = self.run(setup, &setup.limits);
            instructions += taken;
            let is_long = passed >= Self::PATIENCE || instructions >= Self::MOST_INSTRUCTIONS;
            if is_long && self.is_comparable(setup) && !matches!(operation, Operation::Cut) {
                break;
            }
            if let Some(at) = self.serve(setup, operation, &mut outs, log) {
                self.at = at;
                break;
            }
        }
        setup.meter.add(instructions);
        self.arrive(setup, outs)
    }

    /// Goes on to the next operation, and how many instructions that takes. Where accesses are performed later than
    /// they are issued, values know which reads they come from.
    pub(super) fn run(&mut self, setup: &Setup<'p>, limits: &Limits) -> (Operation<'p, Bits>, u64) {
        match setup.options.memory {
            MemoryKind::Mca => self.thread.run_counting(&setup.code, limits, &mut Followed),
            _ => self.thread.run_counting(&setup.code, limits, &mut Concrete),
        }
    }

    /// Whether it is known which variables matter where the thread stands, so that its state can be
    /// compared with others: see [`Live`](crate::Live).
    fn is_comparable(&self, setup: &Setup<'p>) -> bool {
        let Some(Site { function, block, index }) = self.site() else {
            return false;
        };
        let block = &setup.code.program.function(function).blocks[block.0 as usize];
        let inst = block.insts.get(index as usize);
        inst.is_some_and(|it| !matches!(it.kind, InstKind::Assign { .. } | InstKind::Call { .. }))
    }

    /// The thread stands at its next operation.
    pub(super) fn arrive(mut self, setup: &Setup<'p>, outs: Vec<Out>) -> Passage<'p> {
        self.forget_stack(setup);
        self.may_wait = self.can_wait(setup);
        self.fingerprint = self.digest(setup);
        Passage { next: Arc::new(self), outs }
    }

    /// These reads were performed.
    pub(super) fn performed(&self, setup: &Setup<'p>, reads: u64) -> Local<'p> {
        let mut local = self.clone();
        if local.at == At::Ended {
            return local;
        }
        local.thread.performed(reads);
        local.depends = local.depends.without(reads);
        let private = Arc::make_mut(&mut local.private_reads);
        private.values_mut().for_each(|from| *from &= !reads);
        private.retain(|_, from| *from != 0);
        local.fingerprint = local.digest(setup);
        local
    }

    /// What the next operation depends on, of what waits.
    pub(super) fn depends(&self) -> Depends {
        let control = self.thread.control().fold(0, |all, condition| all | condition.from());
        Depends { control, ..self.depends }
    }

    fn digest(&self, setup: &Setup<'p>) -> u128 {
        let mut digest = Digest::new(5);
        // One that has not looked yet at what it stands at is no round of a loop behind one that has.
        let is_local = u64::from(self.at == At::Local);
        digest.add(u64::from(self.number) << 2 | is_local << 1 | u64::from(self.in_section));
        digest.add(u64::from(self.children));
        digest.add_wide(self.objects_fingerprint);
        digest.add_wide(self.private.fingerprint);
        self.held.iter().for_each(|held| digest.add(*held));
        self.thread.add_to(&setup.code, &setup.live, &mut |word| digest.add_wide(word));
        if setup.options.memory == MemoryKind::Mca {
            self.thread.add_reads_to(&setup.code, &setup.live, &mut |word| digest.add(word));
            for (address, from) in &*self.private_reads {
                digest.add(*address);
                digest.add(*from);
            }
        }
        self.add_observed(setup, &mut digest);
        digest.finish()
    }

    /// Whether the thread is in a loop, or about to wait.
    fn can_wait(&self, setup: &Setup<'p>) -> bool {
        let Some(Site { function, block, index }) = self.site() else {
            return false;
        };
        let body = &setup.code.program.function(function).blocks[block.0 as usize];
        let rest = body.insts.get(index as usize + 1..).unwrap_or_default();
        rest.iter().any(|inst| matches!(inst.kind, InstKind::Wait { .. }))
            || self.thread.stack().any(|site| setup.code.can_repeat(site))
    }

    /// Does what is the thread's own business; for anything else, what the thread stands at.
    pub(super) fn serve(
        &mut self,
        setup: &Setup<'p>,
        operation: Operation<'p, Bits>,
        outs: &mut Vec<Out>,
        log: &mut Log,
    ) -> Option<At<'p>> {
        let code = &setup.code;
        let [first, second, third] = setup.marks(self.thread.site());
        let place = |address: Bits| address.unsigned() as u64;
        let unsupported = |what: &str| Some(At::Fault(Fault::Unsupported(what.to_string())));
        if let Some(what) = operation.decided_by() {
            return unsupported(what);
        }
        self.depends = Depends::of(&operation);
        if setup.options.memory == MemoryKind::Mca
            && let Some(what) = beyond_publishing(&operation, first)
        {
            return unsupported(what);
        }
        match operation {
            Operation::Store { value, .. } if value.is_undefined() => {
                unsupported("a store of a value that nobody has written")
            }
            Operation::ThreadId => {
                self.thread.result(code, Bits::new(32, u128::from(self.number)));
                None
            }
            Operation::Load { address, size, .. } | Operation::LoadLinked { address, size, .. } => {
                let (address, bytes, marks) = (place(address), size.bytes() as u8, first);
                self.load(setup, At::Load { address, bytes, marks }, outs, log)
            }
            Operation::Store { address, value, size, .. } => {
                let (address, bytes) = (place(address), size.bytes() as u8);
                let at = At::Store { address, bytes, value: value.unsigned(), marks: first };
                self.store(setup, at, outs, log)
            }
            Operation::Rmw { address, op, operand, size, .. } => {
                let (address, bytes) = (place(address), size.bytes() as u8);
                let operand = operand.coming_from(0);
                self.modify(setup, At::Rmw { address, bytes, op, operand, marks: second }, log)
            }
            Operation::Cas { address, expected, desired, size, weak, .. } => {
                let at = At::Cas {
                    address: place(address),
                    bytes: size.bytes() as u8,
                    expected: expected.unsigned(),
                    desired: desired.unsigned(),
                    write: second,
                    fail: third,
                    is_weak: weak,
                };
                self.modify(setup, at, log)
            }
            Operation::Fence { .. } => self.fence(setup, first, outs, log),
            Operation::Spawn { function, args } => {
                let Some(child) = setup.child(self.number, self.children) else {
                    return unsupported(TOO_MANY_THREADS);
                };
                self.children += 1;
                outs.push(Out::Spawn { child, function, args: args.into() });
                log.add(self.number, What::Spawn { child });
                self.thread.result(code, Bits::new(32, u128::from(child)));
                None
            }
            Operation::Join { thread } => Some(At::Join { thread: place(thread) }),
            Operation::Alloc { size, align, kind, zeroed } => {
                match self.alloc(setup, size.unsigned(), align, kind, zeroed, log) {
                    true => None,
                    false => unsupported(TOO_LARGE),
                }
            }
            Operation::HeapSize { address } => self.heap_size(setup, place(address)),
            Operation::Free { address, kind } => self.free(place(address), kind, log),
            Operation::Choose { below } => match Chosen::below(below) {
                Chosen::Nothing => Some(At::Stopped),
                Chosen::Only(value) => {
                    self.thread.result(code, value);
                    None
                }
                Chosen::AnyOf(choice) => Some(choice_of(choice)),
            },
            Operation::Nondet { width } => {
                let choice = Choice::of_input(width, setup.options.nondet);
                Some(choice.map_or_else(|| At::Fault(Fault::any_input()), choice_of))
            }
            Operation::AtomicBegin if self.in_section => unsupported(NESTED_SECTION),
            Operation::AtomicBegin => Some(At::Enter),
            Operation::AtomicEnd if !self.in_section => unsupported(NO_SECTION),
            Operation::AtomicEnd => {
                self.in_section = false;
                outs.push(Out::Leave);
                log.add(self.number, What::AtomicEnd);
                self.thread.done();
                None
            }
            Operation::Assume { .. } => Some(At::Stopped),
            Operation::Wait { .. } => Some(At::Waiting),
            Operation::Assert { message, property, .. } => Some(At::Failed { property, message }),
            // With the first thread the program may be over.
            Operation::End
                if self.in_section && !(self.number == 0 && setup.code.program.daemons) =>
            {
                unsupported("a thread that ends in an atomic section")
            }
            Operation::End => Some(At::End),
            Operation::Fault(Fault::BadCallee) => {
                Some(At::Failed { property: Property::Memory, message: Fault::BAD_CALLEE })
            }
            Operation::Fault(fault) => Some(At::Fault(fault)),
            Operation::StoreConditional { .. } => unsupported(RESERVATIONS),
            Operation::Cut => Some(self.cut(setup)),
            Operation::Spin { .. }
            | Operation::Vain { .. }
            | Operation::Branch { .. }
            | Operation::Undefined { .. } => Some(At::Cut),
        }
    }

    /// A thread that goes on for very long without any operation: for ever, if it only goes round.
    fn cut(&self, setup: &Setup<'p>) -> At<'p> {
        let mut thread = self.thread.clone();
        let limits = Limits { spins: true, ..setup.limits };
        match thread.run(&setup.code, &limits, &mut Concrete) {
            Operation::Spin { since } if since == thread.operations() => At::Endless,
            _ => At::Cut,
        }
    }
}

impl At<'_> {
    /// What a read-modify-write stores, given the old value, if it does.
    pub fn written(&self, old: Bits) -> Option<u128> {
        match self {
            At::Rmw { op, operand, .. } => {
                Some(modify(*op, &old, operand, &mut Concrete).unsigned())
            }
            At::Cas { expected, desired, .. } => (old.unsigned() == *expected).then_some(*desired),
            _ => None,
        }
    }

    /// Address and bytes of an access, and whether it may write.
    pub fn access(&self) -> Option<(u64, u8, bool)> {
        Some(match self {
            At::Load { address, bytes, .. } => (*address, *bytes, false),
            At::Store { address, bytes, .. }
            | At::Rmw { address, bytes, .. }
            | At::Cas { address, bytes, .. } => (*address, *bytes, true),
            _ => return None,
        })
    }
}

/// What the machine that publishes writes by steps of their own does not follow.
fn beyond_publishing(operation: &Operation<'_, Bits>, marks: Marks) -> Option<&'static str> {
    match operation {
        Operation::AtomicBegin => Some("an atomic section on this machine"),
        Operation::LoadLinked { .. } => Some(RESERVATIONS),
        Operation::Fence { .. } if marks.is_fence_of_all() => Some(crate::FENCE_OF_ALL),
        _ => None,
    }
}

fn choice_of<'p>(choice: Choice) -> At<'p> {
    let Choice { first, below, width } = choice;
    At::Choice { first, below, width }
}
