//! Modules as data.

use std::collections::HashMap;
use std::rc::Rc;

use super::metadata::{Metadata, MetadataId, Node};

pub type Name = Rc<str>;

#[derive(Default, Debug)]
pub struct Module {
    pub source_name: String,
    pub data_layout: String,
    pub types: HashMap<Name, Type>,
    pub globals: Vec<Global>,
    pub aliases: Vec<Alias>,
    pub functions: Vec<Function>,
    pub metadata: HashMap<MetadataId, Node>,
    /// Whether clang has said which types are accessed, even if no such access is left.
    pub has_types: bool,
    /// Whether rustc has made it.
    pub is_rust: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    Void,
    Int(u32),
    Float,
    Double,
    /// `x86_fp80`, `half` … : known by name only.
    Other(Name),
    Pointer,
    Array(u64, Rc<Type>),
    Vector(u64, Rc<Type>),
    Struct {
        packed: bool,
        fields: Rc<[Type]>,
    },
    Named(Name),
    Function {
        result: Rc<Type>,
        params: Rc<[Type]>,
        variadic: bool,
    },
    Label,
    Metadata,
}

/// An object of static storage.
#[derive(Debug)]
pub struct Global {
    pub name: Name,
    pub ty: Type,
    /// None for a declaration.
    pub init: Option<Value>,
    pub constant: bool,
    pub thread_local: bool,
    /// Visible in its own module alone.
    pub internal: bool,
    /// May be replaced by another definition.
    pub weak: bool,
    pub align: Option<u32>,
    pub debug: Option<MetadataId>,
}

#[derive(Debug)]
pub struct Alias {
    pub name: Name,
    pub target: Value,
    pub internal: bool,
}

#[derive(Debug)]
pub struct Function {
    pub name: Name,
    pub result: Type,
    pub params: Vec<Param>,
    pub internal: bool,
    pub weak: bool,
    /// Empty for a declaration.
    pub blocks: Vec<Block>,
    pub debug: Option<MetadataId>,
    /// First byte of its definition in the text.
    pub start: u32,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Name,
    pub ty: Type,
    /// The type that `byval` or `sret` says it points to.
    pub pointee: Option<Type>,
}

#[derive(Debug)]
pub struct Block {
    pub name: Name,
    pub instructions: Vec<Instruction>,
}

#[derive(Debug)]
pub struct Instruction {
    pub result: Option<Name>,
    pub operation: Operation,
    pub debug: Option<MetadataId>,
    /// Whether clang says which type is accessed, `!tbaa`.
    pub typed: bool,
    /// Whether it says no more than that a variable is declared.
    pub declares: bool,
    /// Whether a read finds what somebody has written, `!noundef`.
    pub noundef: bool,
    /// The layout of what a copy copies, `!tbaa.struct`.
    pub copy_layout: Option<MetadataId>,
    /// What the address of an access is a multiple of.
    pub align: Option<u32>,
    /// First byte in the text.
    pub start: u32,
}

/// A value and its type.
#[derive(Clone, PartialEq, Debug)]
pub struct Typed {
    pub ty: Type,
    pub value: Value,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Local(Name),
    Global(Name),
    /// Modulo 2^128.
    Int(u128),
    /// The bit pattern of a double; floats are written as the double of the same value.
    Float(u64),
    Null,
    /// `zeroinitializer`
    Zero,
    Undef,
    Poison,
    Bytes(Rc<[u8]>),
    /// Elements of an array, fields of a structure, lanes of a vector.
    Aggregate(Rc<[Typed]>),
    /// Every lane the same.
    Splat(Box<Typed>),
    Constant(Box<Constant>),
    Assembly {
        text: Rc<str>,
        constraints: Rc<str>,
    },
    /// An operand that is metadata; values inside of it are kept.
    Metadata(Option<MetadataId>, Option<Box<Typed>>),
    /// Something known by name only.
    Other(Name),
}

/// Constant expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum Constant {
    Gep { element: Type, base: Typed, indices: Vec<Typed> },
    Cast { op: CastOp, value: Typed, to: Type },
    Binary { op: BinaryOp, left: Typed, right: Typed },
    Compare { predicate: Predicate, left: Typed, right: Typed },
    Select { condition: Typed, then: Typed, otherwise: Typed },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FRem,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastOp {
    Trunc,
    ZExt,
    SExt,
    FPTrunc,
    FPExt,
    FPToUI,
    FPToSI,
    UIToFP,
    SIToFP,
    PtrToInt,
    IntToPtr,
    BitCast,
}

/// Of integers and pointers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Predicate {
    Eq,
    Ne,
    Ugt,
    Uge,
    Ult,
    Ule,
    Sgt,
    Sge,
    Slt,
    Sle,
}

/// Of floating-point numbers: what holds where, of less, equal, greater and unordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FloatPredicate {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
    pub unordered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordering {
    /// `unordered` and `monotonic`
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
    SequentiallyConsistent,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RmwOp {
    Xchg,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Max,
    Min,
    UMax,
    UMin,
    FAdd,
    FSub,
    FMax,
    FMin,
    UIncWrap,
    UDecWrap,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub struct Argument {
    pub value: Typed,
    /// The callee gets a copy of an object of this type.
    pub by_value: Option<Type>,
    /// The callee may rely on it not being undefined.
    pub defined: bool,
}

#[derive(Debug)]
pub struct Call {
    pub callee: Value,
    pub result: Type,
    /// Of a variadic function: how many arguments are fixed.
    pub fixed: Option<usize>,
    pub args: Vec<Argument>,
}

#[derive(Debug)]
pub enum Operation {
    Binary {
        op: BinaryOp,
        no_signed_wrap: bool,
        left: Typed,
        right: Value,
    },
    FNeg(Typed),
    Compare {
        predicate: Predicate,
        left: Typed,
        right: Value,
    },
    FloatCompare {
        predicate: FloatPredicate,
        left: Typed,
        right: Value,
    },
    Cast {
        op: CastOp,
        value: Typed,
        to: Type,
    },
    Select {
        condition: Typed,
        then: Typed,
        otherwise: Typed,
    },
    Freeze(Typed),
    Phi {
        ty: Type,
        incoming: Vec<(Value, Name)>,
    },
    Gep {
        element: Type,
        base: Typed,
        indices: Vec<Typed>,
    },
    ExtractValue {
        aggregate: Typed,
        indices: Vec<u64>,
    },
    InsertValue {
        aggregate: Typed,
        element: Typed,
        indices: Vec<u64>,
    },
    ExtractElement {
        vector: Typed,
        index: Typed,
    },
    InsertElement {
        vector: Typed,
        element: Typed,
        index: Typed,
    },
    ShuffleVector {
        left: Typed,
        right: Typed,
        mask: Typed,
    },
    Alloca {
        ty: Type,
        count: Option<Typed>,
        align: Option<u32>,
    },
    Load {
        ty: Type,
        address: Value,
        volatile: bool,
        order: Option<Ordering>,
    },
    Store {
        value: Typed,
        address: Value,
        volatile: bool,
        order: Option<Ordering>,
    },
    Rmw {
        op: RmwOp,
        address: Value,
        operand: Typed,
        order: Ordering,
    },
    CompareExchange(Box<CompareExchange>),
    Fence {
        order: Ordering,
        single_thread: bool,
    },
    Call(Box<Call>),
    /// `#dbg_value` and `#dbg_declare`: the variable that holds, or lies at, a value.
    Debug {
        value: Option<Typed>,
        variable: Option<MetadataId>,
        declares: bool,
    },
    Return(Option<Typed>),
    Jump(Name),
    Branch {
        condition: Value,
        then: Name,
        otherwise: Name,
    },
    Switch {
        value: Typed,
        default: Name,
        cases: Vec<(Value, Name)>,
    },
    Unreachable,
    /// Not known; the type is that of its result, where it is known to have one.
    Unknown {
        name: Name,
        terminator: bool,
    },
}

#[derive(Debug)]
pub struct CompareExchange {
    pub weak: bool,
    pub address: Value,
    pub expected: Typed,
    pub desired: Value,
    pub success: Ordering,
    pub failure: Ordering,
}

impl Operation {
    pub fn is_terminator(&self) -> bool {
        matches!(
            self,
            Operation::Return(_)
                | Operation::Jump(_)
                | Operation::Branch { .. }
                | Operation::Switch { .. }
                | Operation::Unreachable
                | Operation::Unknown { terminator: true, .. }
        )
    }

    /// The blocks that it leads to.
    pub fn targets(&self) -> Vec<&Name> {
        match self {
            Operation::Jump(target) => vec![target],
            Operation::Branch { then, otherwise, .. } => vec![then, otherwise],
            Operation::Switch { default, cases, .. } => {
                cases.iter().map(|(_, target)| target).chain([default]).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Module {
    pub fn node(&self, id: MetadataId) -> Option<&Node> {
        self.metadata.get(&id)
    }

    /// The node that a field or an operand refers to.
    pub fn target<'a>(&'a self, metadata: Option<&'a Metadata>) -> Option<&'a Node> {
        match metadata? {
            Metadata::Id(id) => self.node(*id),
            Metadata::Node(node) => Some(node),
            _ => None,
        }
    }
}
