//! From syntax trees to functions of the intermediate language.
//!
//! Local variables become variables of the thread, so data and address dependencies follow
//! from the expressions they are used in; nothing is simplified away (`r1 ^ r1` still depends
//! on `r1`). Calls of the test's own functions are expanded in place.
//!
//! As with herd7, a thread has one set of variables whatever the blocks they are declared in,
//! and may use variables that it never declares: they are made by their first use.

mod conditions;
mod expressions;
pub mod joins;
mod memory;
mod places;
mod statements;
mod values;

use std::collections::HashMap;

use parallax_program::{
    AccessSize, BlockId, Diagnostic, Expr, Function, FunctionBuilder, GlobalId, InstKind,
    SourceFile, Span, VarId,
};

use super::ast::{Expr as Tree, FunctionDef};
use super::types::CType;
use crate::globals::Globals;

pub use memory::CompareAndSwap;
pub use places::Pointer;
pub use values::Value;

pub type Lowered<T> = Result<T, Diagnostic>;

/// Functions expanded inside one another.
const MAX_FRAMES: usize = 32;

/// Calls expanded in one thread.
const MAX_CALLS: u32 = 1000;

/// What all threads of a test share.
pub struct Unit<'a> {
    pub source: &'a SourceFile,
    /// Functions that are no threads, by name.
    pub functions: HashMap<&'a str, &'a FunctionDef>,
    pub globals: &'a Globals,
    /// Kernel dialect, or C11.
    pub kernel: bool,
    /// The size of every location, where they all have the same. herd7's C does not know
    /// sizes: tests cast pointers freely and mean the whole location, and so do we where
    /// there is no doubt what that is.
    pub cell: Option<AccessSize>,
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Variable {
    pub var: VarId,
    pub ty: CType,
}

/// A function being expanded.
struct Frame<'a> {
    name: &'a str,
    /// The how manieth expanded call of the thread this is, to distinguish its variables; 0
    /// for the thread itself.
    call: u32,
    variables: HashMap<String, Variable>,
    /// Where `return` goes, and where it puts the value; none for the thread itself.
    back: Option<(BlockId, Option<Variable>)>,
    loops: Vec<Loop>,
    labels: HashMap<String, Label>,
}

struct Loop {
    next: BlockId,
    exit: BlockId,
}

struct Label {
    block: BlockId,
    placed: bool,
    span: Span,
}

/// The thread under construction.
pub struct Lowering<'a> {
    unit: &'a Unit<'a>,
    builder: FunctionBuilder,
    /// Parameters of the thread: locations, and the type that they have for it.
    locations: HashMap<&'a str, (GlobalId, CType)>,
    frames: Vec<Frame<'a>>,
    /// How many calls have been expanded.
    calls: u32,
    confused: bool,
    errors: &'a mut Vec<Diagnostic>,
}

/// A finished thread, and the variables that its text names.
pub struct LoweredThread {
    pub function: Function,
    pub variables: HashMap<String, Variable>,
    /// Whether the types of pointers do not say how much memory is meant, see
    /// [`Lowering::note_conversion`].
    pub confused: bool,
}

impl<'a> Lowering<'a> {
    pub fn new(
        unit: &'a Unit<'a>,
        thread: &'a FunctionDef,
        locations: HashMap<&'a str, (GlobalId, CType)>,
        errors: &'a mut Vec<Diagnostic>,
    ) -> Lowering<'a> {
        Lowering {
            unit,
            builder: FunctionBuilder::new(&thread.name),
            locations,
            frames: vec![Frame::new(&thread.name, 0, None)],
            calls: 0,
            confused: false,
            errors,
        }
    }

    /// A variable that has a value before the thread starts.
    pub fn initialise(&mut self, name: &str, ty: CType, value: Option<Expr>, span: Span) {
        self.builder.at(span);
        let variable = self.declare(name, ty);
        if let Some(value) = value {
            self.builder.assign(variable.var, value);
        }
    }

    pub fn thread(mut self, thread: &'a FunctionDef) -> LoweredThread {
        self.statements(&thread.body);
        self.check_labels();
        let confused = self.confused;
        let variables = self.frames.pop().map(|frame| frame.variables);
        let mut function = self.builder.finish();
        joins::place(&mut function);
        LoweredThread { function, variables: variables.unwrap_or_default(), confused }
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        if self.frames.is_empty() {
            self.frames.push(Frame::new("", 0, None));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The variable of that name; one that exists already stays as it is.
    fn declare(&mut self, name: &str, ty: CType) -> Variable {
        if let Some(known) = self.variable(name) {
            return known.clone();
        }
        let full_name = match self.frame().call {
            0 => name.to_string(),
            call => format!("{name}.{call}"),
        };
        let var = self.builder.var(&full_name, ty.width().max(1));
        let variable = Variable { var, ty };
        let name = name.to_string();
        self.frame().variables.insert(name, variable.clone());
        variable
    }

    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.frames.last()?.variables.get(name)
    }

    /// The location that a parameter of the thread names. Only the thread's own text sees it.
    fn location(&self, name: &str) -> Option<&(GlobalId, CType)> {
        let own = self.frames.len() == 1;
        self.locations.get(name).filter(|_| own)
    }

    pub fn error(&self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.unit.source.error(span, message)
    }

    /// What is emitted next comes from this part of the text.
    pub fn at(&mut self, tree: &Tree) {
        self.builder.at(tree.span);
    }

    /// Assigns to a local variable.
    pub fn set(&mut self, variable: &Variable, value: Value) {
        self.note_conversion(&value.ty, &variable.ty);
        let value = value.convert(&variable.ty);
        self.builder.assign(variable.var, value.expr);
    }

    /// Notes that a pointer changes its type to that of another size. What it points to then
    /// has another size than the pointer says, as tests written for herd7 do not mind.
    pub fn note_conversion(&mut self, from: &CType, to: &CType) {
        if let (CType::Pointer(from), CType::Pointer(to)) = (from, to)
            && from.is_scalar()
            && to.is_scalar()
        {
            self.confused |= from.width() != to.width();
        }
    }

    /// Notes that a number is used as a pointer: what it points to is anyone's guess, unless
    /// all locations are alike.
    fn note_number_as_pointer(&mut self) {
        self.confused |= self.unit.cell.is_none();
    }

    pub fn emit(&mut self, kind: InstKind) {
        self.builder.emit(kind);
    }

    pub fn temp(&mut self, width: u32) -> VarId {
        self.builder.temp(width)
    }

    fn check_labels(&mut self) {
        let labels = std::mem::take(&mut self.frame().labels);
        let mut missing: Vec<_> = labels.into_iter().filter(|(_, l)| !l.placed).collect();
        missing.sort_by_key(|(_, label)| label.span);
        for (name, label) in missing {
            let error =
                self.error(label.span, format!("label '{name}' is nowhere in the function"));
            self.errors.push(error);
        }
    }

    /// Expands a call of one of the test's own functions.
    fn call(&mut self, function: &'a FunctionDef, args: Vec<Value>, span: Span) -> Lowered<Value> {
        if self.frames.iter().any(|frame| frame.name == function.name) {
            let message = format!("'{}' calls itself, which is not supported", function.name);
            return Err(self.error(span, message));
        }
        if self.frames.len() > MAX_FRAMES || self.calls >= MAX_CALLS {
            return Err(self.error(span, "too many calls"));
        }
        if args.len() != function.params.len() {
            let (wanted, given) = (function.params.len(), args.len());
            let message = format!("'{}' takes {wanted} arguments, not {given}", function.name);
            return Err(self.error(span, message));
        }
        self.calls += 1;
        let result = function.result.clone().filter(|ty| *ty != CType::Void);
        let result = result.map(|ty| Variable { var: self.builder.temp(ty.width().max(1)), ty });
        let back = self.builder.new_block("back");
        let frame = Frame::new(&function.name, self.calls, Some((back, result.clone())));
        self.frames.push(frame);
        for (param, value) in function.params.iter().zip(args) {
            let variable = self.declare(&param.name, param.ty.clone());
            self.set(&variable, value);
        }
        self.statements(&function.body);
        self.check_labels();
        self.frames.pop();
        self.builder.enter(back);
        self.builder.at(span);
        Ok(result.map_or(Value::void(), |result| Value::variable(&result)))
    }
}

impl<'a> Frame<'a> {
    fn new(name: &'a str, call: u32, back: Option<(BlockId, Option<Variable>)>) -> Frame<'a> {
        Frame {
            name,
            call,
            variables: HashMap::new(),
            back,
            loops: Vec::new(),
            labels: HashMap::new(),
        }
    }
}
