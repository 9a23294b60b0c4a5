//! Visible operations: what an instruction asks of the engine.

use parallax_program::{
    AccessSize, AllocKind, BinaryOp, Bits, Expr, FunctionId, Help, InstKind, Open, Property, RmwOp,
    Tags, VarId,
};

#[cfg(doc)]
use crate::Thread;
use crate::{Code, Domain, Truth};

/// A visible operation that a thread stands at, with its operands evaluated. The thread goes
/// on when the engine calls the method named with each.
#[derive(Clone, Debug)]
pub enum Operation<'p, V> {
    /// Goes on with [`Thread::result`]: the value read.
    Load {
        address: V,
        size: AccessSize,
        tags: &'p Tags,
    },
    /// Goes on with [`Thread::done`].
    Store {
        address: V,
        value: V,
        size: AccessSize,
        tags: &'p Tags,
    },
    /// Goes on with [`Thread::result`]: the old value. [`modify`] gives the new one.
    Rmw {
        address: V,
        op: RmwOp,
        operand: V,
        size: AccessSize,
        read_tags: &'p Tags,
        write_tags: &'p Tags,
    },
    /// Goes on with [`Thread::results`]: the old value, and the bit that says success.
    Cas {
        address: V,
        expected: V,
        desired: V,
        size: AccessSize,
        read_tags: &'p Tags,
        write_tags: &'p Tags,
        fail_tags: &'p Tags,
        weak: bool,
    },
    /// Goes on with [`Thread::result`]: the value read.
    LoadLinked {
        address: V,
        size: AccessSize,
        tags: &'p Tags,
    },
    /// Goes on with [`Thread::result`]: the status bit, 0 for success.
    StoreConditional {
        address: V,
        value: V,
        size: AccessSize,
        tags: &'p Tags,
    },
    /// Goes on with [`Thread::done`].
    Fence {
        tags: &'p Tags,
    },
    /// Goes on with [`Thread::result`]: the number of the new thread.
    Spawn {
        function: FunctionId,
        args: Vec<V>,
    },
    /// Goes on with [`Thread::done`], once the other thread has ended.
    Join {
        thread: V,
    },
    /// Goes on with [`Thread::result`]: the number of this thread.
    ThreadId,
    /// The condition is not known to hold. Goes on with [`Thread::done`] where it does.
    Wait {
        condition: V,
    },
    /// Goes on with [`Thread::result`]: the address.
    Alloc {
        size: V,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
    },
    /// Goes on with [`Thread::result`]: the size of the heap object that starts there.
    HeapSize {
        address: V,
    },
    /// Goes on with [`Thread::done`].
    Free {
        address: V,
        kind: AllocKind,
    },
    /// The condition is not known to hold. Goes on with [`Thread::done`] where it does.
    Assume {
        condition: V,
    },
    /// The condition is not known to hold. Goes on with [`Thread::done`] where it does.
    Assert {
        condition: V,
        message: &'p str,
        property: Property,
    },
    /// Goes on with [`Thread::result`]: any value of that width.
    Nondet {
        width: u32,
    },
    /// A variable that is given no value. Goes on with [`Thread::result`]: any value of that width.
    Undefined {
        width: u32,
    },
    /// Goes on with [`Thread::result`]: any value less than that, where there is one.
    Choose {
        below: V,
    },
    /// Both go on with [`Thread::done`].
    AtomicBegin,
    AtomicEnd,
    /// A branch whose condition is undecided. Goes on with [`Thread::branch`].
    Branch {
        condition: V,
    },
    /// The thread is back at the head of a loop as it was a round ago, and has changed nothing
    /// but itself: unless what it reads changes, it goes round for ever. The round began after
    /// so many operations.
    Spin {
        since: u32,
    },
    /// The thread woke up without a signal, did nothing but look, and is about to wait as it did
    /// before, after so many operations; see [`Thread::is_startled`].
    Vain {
        since: u32,
    },
    /// The thread has ended.
    End,
    /// The path was cut off at a limit.
    Cut,
    /// The thread cannot go on.
    Fault(Fault),
}

/// Why a thread cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    /// A call of a function that has no body.
    External(String),
    /// A call through a value that is not known, or is the address of no function.
    BadCallee,
    /// More, or fewer, arguments than the function takes.
    BadArguments,
    /// Something that has no counterpart in the language of programs.
    Unsupported(String),
}

/// Where an engine has to try all values of an input, and there is no end of them.
pub const ANY_INPUT: &str = "an input that may have any value";

/// Where an engine has no moment at which a thread could wait for the others' stores.
pub const FENCE_OF_ALL: &str = "a barrier of all threads";

impl Fault {
    pub fn any_input() -> Fault {
        Fault::Unsupported(ANY_INPUT.to_string())
    }

    /// What may help with something that an engine does not support.
    pub fn help_with(what: &str) -> Option<Help> {
        match what {
            ANY_INPUT => Some(Help::give_input_range()),
            FENCE_OF_ALL => Some(Help::TryEngines(vec!["states"])),
            _ => None,
        }
    }
}

impl<'p, V: Clone> Operation<'p, V> {
    /// The visible operation of an instruction of `function`, given the values of its
    /// variables; None where it has no effect.
    pub(crate) fn of<D: Domain<Value = V>>(
        code: &Code<'p>,
        function: FunctionId,
        vars: &[V],
        inst: &'p InstKind,
        domain: &mut D,
    ) -> Option<Operation<'p, V>> {
        let mut eval = |expr: &Expr| code.evaluate(expr, vars, domain);
        Some(match inst {
            InstKind::Assign { .. } | InstKind::Call { .. } => return None,
            InstKind::Load { address, size, tags, .. } => {
                Operation::Load { address: eval(address), size: *size, tags }
            }
            InstKind::Store { address, value, size, tags } => {
                Operation::Store { address: eval(address), value: eval(value), size: *size, tags }
            }
            InstKind::Rmw { address, op, operand, size, read_tags, write_tags, .. } => {
                Operation::Rmw {
                    address: eval(address),
                    op: *op,
                    operand: eval(operand),
                    size: *size,
                    read_tags,
                    write_tags,
                }
            }
            InstKind::Cas {
                address,
                expected,
                desired,
                size,
                read_tags,
                write_tags,
                fail_tags,
                weak,
                ..
            } => Operation::Cas {
                address: eval(address),
                expected: eval(expected),
                desired: eval(desired),
                size: *size,
                read_tags,
                write_tags,
                fail_tags,
                weak: *weak,
            },
            InstKind::LoadLinked { address, size, tags, .. } => {
                Operation::LoadLinked { address: eval(address), size: *size, tags }
            }
            InstKind::StoreConditional { address, value, size, tags, .. } => {
                Operation::StoreConditional {
                    address: eval(address),
                    value: eval(value),
                    size: *size,
                    tags,
                }
            }
            InstKind::Fence { tags } => Operation::Fence { tags },
            InstKind::Spawn { callee, args, .. } => {
                let function = match code.resolve(callee, args.len(), vars, domain) {
                    Ok(function) => function,
                    Err(fault) => return Some(Operation::Fault(fault)),
                };
                let args = args.iter().map(|arg| code.evaluate(arg, vars, domain)).collect();
                Operation::Spawn { function, args }
            }
            InstKind::Join { thread } => Operation::Join { thread: eval(thread) },
            InstKind::ThreadId { .. } => Operation::ThreadId,
            InstKind::Wait { condition } => {
                let condition = eval(condition);
                if domain.truth(&condition) == Truth::True {
                    return None;
                }
                Operation::Wait { condition }
            }
            InstKind::Alloc { size, align, kind, zeroed, .. } => {
                Operation::Alloc { size: eval(size), align: *align, kind: *kind, zeroed: *zeroed }
            }
            InstKind::HeapSize { address, .. } => Operation::HeapSize { address: eval(address) },
            InstKind::Free { address, kind } => {
                Operation::Free { address: eval(address), kind: *kind }
            }
            InstKind::Choose { below, .. } => Operation::Choose { below: eval(below) },
            InstKind::Unsupported { what } => Operation::Fault(Fault::Unsupported(what.clone())),
            InstKind::Assume { condition } => {
                let condition = eval(condition);
                if domain.truth(&condition) == Truth::True {
                    return None;
                }
                Operation::Assume { condition }
            }
            InstKind::Assert { condition, message, property } => {
                let condition = eval(condition);
                if domain.truth(&condition) == Truth::True {
                    return None;
                }
                Operation::Assert { condition, message, property: *property }
            }
            InstKind::Nondet { dst } => {
                let width = code.program.function(function).vars[dst.0 as usize].width;
                Operation::Nondet { width }
            }
            InstKind::AtomicBegin => Operation::AtomicBegin,
            InstKind::AtomicEnd => Operation::AtomicEnd,
        })
    }
}

impl<V> Operation<'_, V> {
    /// The values that decide what happens next. To store one decides nothing.
    pub fn deciding(&self) -> [Option<&V>; 3] {
        match self {
            Operation::Load { address, .. }
            | Operation::Store { address, .. }
            | Operation::LoadLinked { address, .. }
            | Operation::StoreConditional { address, .. }
            | Operation::HeapSize { address }
            | Operation::Free { address, .. } => [Some(address), None, None],
            Operation::Rmw { address, operand, .. } => [Some(address), Some(operand), None],
            Operation::Cas { address, expected, desired, .. } => {
                [Some(address), Some(expected), Some(desired)]
            }
            Operation::Join { thread: value }
            | Operation::Alloc { size: value, .. }
            | Operation::Choose { below: value }
            | Operation::Wait { condition: value }
            | Operation::Assume { condition: value }
            | Operation::Assert { condition: value, .. }
            | Operation::Branch { condition: value } => [Some(value), None, None],
            _ => [None; 3],
        }
    }

    /// How much of the values that decide what happens next nobody has given; `open` says so of one
    /// of them.
    pub fn open_by(&self, open: impl Fn(&V) -> Open) -> Open {
        let deciding = self.deciding().into_iter().flatten();
        deciding.map(open).max().unwrap_or(Open::Nothing)
    }
}

impl Operation<'_, Bits> {
    /// Whether what happens next is decided by a value that nobody has given.
    pub fn is_undefined(&self) -> bool {
        self.open() != Open::Nothing
    }

    /// How much of the values that decide what happens next nobody has given.
    pub fn open(&self) -> Open {
        self.open_by(|value| value.open())
    }
}

/// What is said of a thread that goes on as a value has it which nobody has given.
pub const DECIDED_BY_UNDEFINED: &str = "a decision by a value that nobody has written";

/// The same of a value of which a part may be such a one.
pub const PERHAPS_BY_UNDEFINED: &str = "a decision by a value that nobody has written in full";

impl Operation<'_, Bits> {
    /// What is said of the operation, if values decide it that nobody has given.
    pub fn decided_by(&self) -> Option<&'static str> {
        match self.open() {
            Open::Nothing => None,
            Open::Part => Some(PERHAPS_BY_UNDEFINED),
            Open::All => Some(DECIDED_BY_UNDEFINED),
        }
    }
}

/// The variables that an operation's results go to.
pub(crate) fn destinations(inst: &InstKind) -> (Option<VarId>, Option<VarId>) {
    match inst {
        InstKind::Load { dst, .. }
        | InstKind::LoadLinked { dst, .. }
        | InstKind::StoreConditional { status: dst, .. }
        | InstKind::ThreadId { dst }
        | InstKind::HeapSize { dst, .. }
        | InstKind::Choose { dst, .. }
        | InstKind::Alloc { dst, .. }
        | InstKind::Nondet { dst }
        | InstKind::Assign { dst, .. } => (Some(*dst), None),
        InstKind::Rmw { dst, .. } | InstKind::Spawn { dst, .. } => (*dst, None),
        InstKind::Cas { dst, ok, .. } => (*dst, *ok),
        _ => (None, None),
    }
}

/// What an atomic read-modify-write stores.
pub fn modify<D: Domain>(
    op: RmwOp,
    old: &D::Value,
    operand: &D::Value,
    domain: &mut D,
) -> D::Value {
    use parallax_program::UnaryOp::Not;
    let mut pick = |less: BinaryOp, first_if_less: bool| {
        let condition = domain.binary(less, old, operand);
        let (then, otherwise) = if first_if_less { (old, operand) } else { (operand, old) };
        domain.select(&condition, then, otherwise)
    };
    match op {
        RmwOp::Swap => operand.clone(),
        RmwOp::Add => domain.binary(BinaryOp::Add, old, operand),
        RmwOp::Sub => domain.binary(BinaryOp::Sub, old, operand),
        RmwOp::And => domain.binary(BinaryOp::And, old, operand),
        RmwOp::Or => domain.binary(BinaryOp::Or, old, operand),
        RmwOp::Xor => domain.binary(BinaryOp::Xor, old, operand),
        RmwOp::AndNot => {
            let mask = domain.unary(Not, operand);
            domain.binary(BinaryOp::And, old, &mask)
        }
        RmwOp::Nand => {
            let both = domain.binary(BinaryOp::And, old, operand);
            domain.unary(Not, &both)
        }
        RmwOp::ReverseSub => domain.binary(BinaryOp::Sub, operand, old),
        RmwOp::SMin => pick(BinaryOp::Slt, true),
        RmwOp::SMax => pick(BinaryOp::Slt, false),
        RmwOp::UMin => pick(BinaryOp::Ult, true),
        RmwOp::UMax => pick(BinaryOp::Ult, false),
    }
}
