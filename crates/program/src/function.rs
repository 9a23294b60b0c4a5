//! Functions: control-flow graphs of instructions.

use std::sync::Arc;

use crate::{Expr, FunctionId, Property, Shape, Span, Tags};

/// A variable of a function; thread-private, never in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VarId(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BlockId(pub u32);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Var {
    pub name: String,
    pub width: u32,
}

/// Variables other than the parameters start as zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub name: String,
    /// The first of `vars`, by number, are the parameters.
    pub params: u32,
    pub vars: Vec<Var>,
    /// Width of the returned value, if there is one.
    pub result: Option<u32>,
    /// Whether the first variables after the parameters are the thread's
    /// [registers](crate::Program::registers): what the function leaves there, its caller finds.
    pub registers: bool,
    /// What its address is, if that is not for the program to say.
    pub address: Option<u64>,
    /// The first block is the entry.
    pub blocks: Vec<Block>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    pub label: String,
    pub insts: Vec<Inst>,
    pub terminator: Terminator,
    pub terminator_span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    pub kind: InstKind,
    pub span: Span,
}

/// Bytes that one access touches: 1, 2, 4, 8 or 16. Memory is little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct AccessSize(u8);

impl AccessSize {
    pub fn from_bytes(bytes: u32) -> Option<AccessSize> {
        matches!(bytes, 1 | 2 | 4 | 8 | 16).then_some(AccessSize(bytes as u8))
    }

    pub const BYTE: AccessSize = AccessSize(1);
    pub const HALF: AccessSize = AccessSize(2);
    pub const WORD: AccessSize = AccessSize(4);
    pub const DOUBLE: AccessSize = AccessSize(8);
    pub const QUAD: AccessSize = AccessSize(16);

    pub fn bytes(self) -> u32 {
        self.0 as u32
    }

    pub fn bits(self) -> u32 {
        self.0 as u32 * 8
    }
}

/// What an atomic read-modify-write stores, as a function of the old value and the operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RmwOp {
    Swap,
    Add,
    Sub,
    And,
    /// `old & !operand`
    AndNot,
    Nand,
    Or,
    Xor,
    SMin,
    SMax,
    UMin,
    UMax,
    /// `operand - old`
    ReverseSub,
}

/// Where an object that a program makes lives: until it is freed, or as long as its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AllocKind {
    Heap,
    Stack,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    Direct(FunctionId),
    /// A function address computed at run time.
    Indirect(Expr),
    /// A function without a body; reaching the call makes the result unknown.
    External(String),
}

impl Callee {
    /// What is said of a function that is called and that nobody defines.
    pub const WITHOUT_BODY: &'static str = "which has no body";
}

/// One instruction. `Assign` and `Call` are internal to the thread; every other instruction
/// performs one visible operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InstKind {
    Assign {
        dst: VarId,
        value: Expr,
    },
    /// `dst` is as wide as the access.
    Load {
        dst: VarId,
        address: Expr,
        size: AccessSize,
        tags: Tags,
    },
    /// `value` is as wide as the access.
    Store {
        address: Expr,
        value: Expr,
        size: AccessSize,
        tags: Tags,
    },
    /// Atomic read-modify-write: a read event tagged `read_tags`, then a write event tagged
    /// `write_tags`, nothing in between. `dst` receives the old value.
    Rmw {
        dst: Option<VarId>,
        address: Expr,
        op: RmwOp,
        operand: Expr,
        size: AccessSize,
        read_tags: Tags,
        write_tags: Tags,
    },
    /// Compare and swap. Where the old value equals `expected`: a read and a write event as
    /// with `Rmw`, and `ok` is 1. Where not: one read event tagged `fail_tags`, and `ok` is 0.
    /// A `weak` one may also fail where the values are equal.
    Cas {
        dst: Option<VarId>,
        ok: Option<VarId>,
        address: Expr,
        expected: Expr,
        desired: Expr,
        size: AccessSize,
        read_tags: Tags,
        write_tags: Tags,
        fail_tags: Tags,
        weak: bool,
    },
    /// A load that opens the thread's reservation on the address.
    LoadLinked {
        dst: VarId,
        address: Expr,
        size: AccessSize,
        tags: Tags,
    },
    /// Stores if the thread's reservation is still good, and closes it. `status` (one bit)
    /// is 0 on success and 1 on failure, which may be spurious. The write of a successful one
    /// is atomic with the read of the load-linked that opened the reservation.
    StoreConditional {
        status: VarId,
        address: Expr,
        value: Expr,
        size: AccessSize,
        tags: Tags,
    },
    Fence {
        tags: Tags,
    },
    /// Starts a thread; `dst` (32 bits) receives its number.
    Spawn {
        dst: Option<VarId>,
        callee: Callee,
        args: Vec<Expr>,
    },
    /// Waits until the thread of that number has ended.
    Join {
        thread: Expr,
    },
    /// The number of the running thread (32 bits).
    ThreadId {
        dst: VarId,
    },
    /// Goes on only where the one-bit condition is 1. A thread that stands at a false one waits,
    /// and for ever, unless the reads that the condition comes from see other writes. Meant
    /// to follow the read it tests at once: `old, ok = cas…` and `wait ok` take a lock.
    Wait {
        condition: Expr,
    },
    /// `size` fresh bytes, of undefined content unless `zeroed`; `dst` receives their address.
    Alloc {
        dst: VarId,
        size: Expr,
        align: u32,
        kind: AllocKind,
        zeroed: bool,
        /// How people call the object and its parts, if that is known.
        shape: Option<Arc<Shape>>,
    },
    /// How many bytes the heap object has that starts at the address. That there is none is
    /// the same error as freeing it.
    HeapSize {
        dst: VarId,
        address: Expr,
    },
    /// Ends the life of an object, given its first address; 0 is left alone.
    Free {
        address: Expr,
        kind: AllocKind,
    },
    /// Executions in which the one-bit condition is 0 are not of interest from here on.
    Assume {
        condition: Expr,
    },
    /// Executions in which the one-bit condition is 0 are wrong.
    Assert {
        condition: Expr,
        message: String,
        /// What is violated where the condition is 0.
        property: Property,
    },
    /// Any value.
    Nondet {
        dst: VarId,
    },
    /// Any value less than `below`, unsigned, which is as wide as `dst`. Where that is 0 the
    /// execution is not of interest.
    Choose {
        dst: VarId,
        below: Expr,
    },
    /// Something that has no counterpart in this language; reaching it makes the result unknown.
    Unsupported {
        what: String,
    },
    /// Up to the matching `AtomicEnd` no other thread takes a step.
    AtomicBegin,
    AtomicEnd,
    Call {
        dst: Option<VarId>,
        callee: Callee,
        args: Vec<Expr>,
    },
}

impl InstKind {
    /// The tags of the read of an access, of its write, and of a read that modifies nothing; those of a fence
    /// three times. None of what has no such events.
    pub fn tags_of_events(&self) -> Option<[&Tags; 3]> {
        match self {
            InstKind::Fence { tags }
            | InstKind::Load { tags, .. }
            | InstKind::Store { tags, .. }
            | InstKind::LoadLinked { tags, .. }
            | InstKind::StoreConditional { tags, .. } => Some([tags; 3]),
            InstKind::Rmw { read_tags, write_tags, .. } => Some([read_tags, write_tags, read_tags]),
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } => {
                Some([read_tags, write_tags, fail_tags])
            }
            _ => None,
        }
    }

    /// The tags that the instruction gives to its events; of a fence, an access, and the two or three
    /// kinds of events that a read-modify-write has.
    pub fn for_each_tags(&mut self, visit: &mut impl FnMut(&mut Tags)) {
        match self {
            InstKind::Fence { tags }
            | InstKind::Load { tags, .. }
            | InstKind::Store { tags, .. }
            | InstKind::LoadLinked { tags, .. }
            | InstKind::StoreConditional { tags, .. } => visit(tags),
            InstKind::Rmw { read_tags, write_tags, .. } => {
                visit(read_tags);
                visit(write_tags);
            }
            InstKind::Cas { read_tags, write_tags, fail_tags, .. } => {
                visit(read_tags);
                visit(write_tags);
                visit(fail_tags);
            }
            _ => {}
        }
    }

    /// The expressions that the instruction computes with.
    pub fn for_each_expr<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        use InstKind::*;
        let callee = |callee: &'a Callee, visit: &mut dyn FnMut(&'a Expr)| {
            if let Callee::Indirect(target) = callee {
                visit(target);
            }
        };
        match self {
            Assign { value, .. } => visit(value),
            Load { address, .. } | LoadLinked { address, .. } => visit(address),
            Store { address, value, .. } | StoreConditional { address, value, .. } => {
                visit(address);
                visit(value);
            }
            Rmw { address, operand, .. } => {
                visit(address);
                visit(operand);
            }
            Cas { address, expected, desired, .. } => {
                visit(address);
                visit(expected);
                visit(desired);
            }
            Spawn { callee: to, args, .. } | Call { callee: to, args, .. } => {
                callee(to, visit);
                args.iter().for_each(visit);
            }
            Join { thread } => visit(thread),
            Wait { condition } | Assume { condition } | Assert { condition, .. } => {
                visit(condition);
            }
            Alloc { size, .. } => visit(size),
            HeapSize { address, .. } | Free { address, .. } => visit(address),
            Choose { below, .. } => visit(below),
            Fence { .. }
            | ThreadId { .. }
            | Nondet { .. }
            | Unsupported { .. }
            | AtomicBegin
            | AtomicEnd => {}
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Terminator {
    Jump(BlockId),
    /// Goes to `then` where the one-bit condition is 1.
    ///
    /// What follows depends on the condition by control: for machine code without end
    /// (`join` is none), for structured languages until `join` is reached.
    Branch {
        condition: Expr,
        then: BlockId,
        otherwise: BlockId,
        join: Option<BlockId>,
    },
    /// Ends the function; the thread ends with its first function.
    Return(Option<Expr>),
    /// Ends the thread.
    Exit,
}
