//! The one intermediate language of Parallax.
//!
//! Every front end (litmus tests, C through LLVM, x86-64 machine code, operation structures)
//! produces a [`Program`]; every engine reads one and nothing else. The language is small on
//! purpose: bit-vector expressions without side effects, and instructions of which each one
//! either computes on a thread's own variables or performs exactly one *visible* operation
//! (memory access, fence, thread or lock operation …) that an engine gets to decide about.
//!
//! Meaning is given once, by the interpreter in `parallax-machine`.

mod bits;
mod build;
mod check;
mod diagnostic;
mod expr;
mod function;
mod help;
mod order;
mod outcome;
pub mod parsing;
mod program;
mod property;
mod shape;
mod slots;
mod tags;
mod text;
mod visible;

pub use bits::{Bits, Open};
pub use build::FunctionBuilder;
pub use diagnostic::{Diagnostic, Diagnostics, Location, SourceFile, Span};
pub use expr::{BinaryOp, Expr, UnaryOp};
pub use function::{
    AccessSize, AllocKind, Block, BlockId, Callee, Function, Inst, InstKind, RmwOp, Terminator,
    Var, VarId,
};
pub use help::{Help, Plain, Setting, Voice};
pub use order::Order;
pub use outcome::{Observable, Operand, Place, Prop, Quantifier, Question};
pub use program::{Cell, FunctionId, Global, GlobalId, Program, ThreadStart};
pub use property::Property;
pub use shape::{Field, Shape};
pub use slots::Slots;
pub use tags::{Tag, Tags};
pub use text::parse_program;
pub use visible::{is_obeyed, visible, visible_line};
