//! One function on its way: its variables, and the values of LLVM's names.
//!
//! A value of LLVM is a list of scalars here. A name whose value is used once, in the block that
//! computes it, is put into the expression that uses it; other names become variables. Both are
//! right because names are assigned once, and what they are computed from is assigned anew only
//! where the name is too.

use std::collections::{HashMap, HashSet};

use parallax_program::{
    AllocKind, BinaryOp, Bits, Callee, Expr, FunctionBuilder, InstKind, Property, Terminator, VarId,
};

use super::THREADS;
use super::alignment::Alignments;
use super::layout::{Lowered, Scalar};
use super::lifetimes::Scoped;
use super::registers::Registers;
use super::shapes;
use super::unit::{Signature, Symbol, Unit};
use super::uses::{Uses, result_type, uses, visit};
use crate::llvm::{Function, Instruction, MetadataId, Name, Operation, Type, Typed, Value};
use crate::thread_locals::ThreadLocal;

pub struct Body<'u> {
    pub unit: &'u Unit<'u>,
    pub function: &'u Function,
    pub builder: FunctionBuilder,
    pub signature: Signature,
    /// The block that is being lowered.
    pub block: usize,
    /// Blocks by name.
    pub blocks: HashMap<&'u Name, usize>,
    /// Instructions by their results.
    pub definitions: HashMap<Name, &'u Instruction>,
    /// The source variable that lies at an address …
    pub declared: HashMap<Name, MetadataId>,
    /// … and the first that holds a value.
    pub holders: HashMap<Name, MetadataId>,
    /// Structures that the function steps through from a pointer to a field.
    pub stepped: HashMap<Name, Type>,
    /// Addresses of the objects that end with the function.
    pub stack: Vec<VarId>,
    /// Objects in variables, by their address, which is never given a value.
    pub registers: HashMap<VarId, Registers>,
    /// How addresses are aligned.
    pub alignments: Alignments,
    /// Objects that have to be in memory.
    pub in_memory: &'u HashSet<Name>,
    uses: HashMap<Name, Uses>,
    scalars: HashMap<Name, Vec<Scalar>>,
    pub vars: HashMap<Name, Vec<VarId>>,
    inlined: HashMap<Name, Vec<Expr>>,
    /// Names of values that are not defined whatever the execution.
    undefined: HashSet<Name>,
    /// Names of the values that variables have before they are given one.
    unwritten: HashSet<Name>,
    /// Objects whose lives begin and end in the middle of the function, and what they are.
    pub scoped: HashMap<Name, Scoped>,
    /// The number of the running thread, in functions that need it.
    thread: Option<VarId>,
    names: HashSet<String>,
}

impl<'u> Body<'u> {
    /// Expressions grow no higher than this by putting one into another.
    const MAX_HEIGHT: u32 = 24;

    pub fn new(
        unit: &'u Unit<'u>,
        function: &'u Function,
        name: &str,
        of: Signature,
        in_memory: &'u HashSet<Name>,
    ) -> Body<'u> {
        let mut builder = FunctionBuilder::new(name);
        if let Some(width) = of.result {
            builder.set_result(width);
        }
        let mut body = Body {
            unit,
            function,
            builder,
            signature: of,
            block: 0,
            blocks: function.blocks.iter().zip(0..).map(|(block, at)| (&block.name, at)).collect(),
            definitions: HashMap::new(),
            declared: HashMap::new(),
            holders: HashMap::new(),
            stepped: HashMap::new(),
            stack: Vec::new(),
            registers: HashMap::new(),
            alignments: Alignments::default(),
            in_memory,
            uses: uses(function),
            scalars: HashMap::new(),
            vars: HashMap::new(),
            inlined: HashMap::new(),
            undefined: HashSet::new(),
            unwritten: HashSet::new(),
            scoped: HashMap::new(),
            thread: None,
            names: HashSet::new(),
        };
        body.builder.at(unit.shared.places.function(unit.number, function));
        body.declare_params();
        body.scan();
        body.read_thread_number();
        body
    }

    fn declare_params(&mut self) {
        for param in &self.function.params {
            let scalars = self.unit.layout.scalars(&param.ty).unwrap_or_default();
            let vars = (0..scalars.len()).map(|part| {
                let number = param.name.parse::<u32>().is_ok();
                let stem =
                    if number { format!("arg{}", param.name) } else { param.name.to_string() };
                let stem = if scalars.len() > 1 { format!("{stem}.{part}") } else { stem };
                let name = unique(&mut self.names, &stem);
                self.builder.param(&name, scalars[part].width)
            });
            let vars = vars.collect();
            self.vars.insert(param.name.clone(), vars);
            self.scalars.insert(param.name.clone(), scalars);
        }
    }

    /// Types of results, and what debug records say.
    fn scan(&mut self) {
        for instruction in self.function.blocks.iter().flat_map(|block| &block.instructions) {
            if let Some(result) = &instruction.result {
                let ty = result_type(&instruction.operation, &self.unit.layout);
                let scalars = self.unit.layout.scalars(&ty).unwrap_or_default();
                self.scalars.insert(result.clone(), scalars);
                self.definitions.insert(result.clone(), instruction);
            }
            if let Operation::Gep { element, base, .. } = &instruction.operation
                && let Value::Local(name) = &base.value
                && matches!(self.unit.layout.resolve(element), Type::Struct { .. })
            {
                self.stepped.entry(name.clone()).or_insert_with(|| element.clone());
            }
            if let Operation::Debug { value: Some(typed), variable: Some(variable), declares } =
                &instruction.operation
                && let Value::Local(name) = &typed.value
            {
                let known = if *declares { &mut self.declared } else { &mut self.holders };
                known.entry(name.clone()).or_insert(*variable);
            }
        }
    }

    fn read_thread_number(&mut self) {
        let mut needed = false;
        for instruction in self.function.blocks.iter().flat_map(|block| &block.instructions) {
            visit(&instruction.operation, &mut |value| {
                if let Value::Global(name) = value {
                    let symbol = self.unit.symbols.get(name);
                    needed |= matches!(symbol, Some(Symbol::ThreadLocal(..)));
                }
            });
        }
        if needed {
            let dst = self.builder.temp(32);
            self.builder.emit(InstKind::ThreadId { dst });
            self.refuse_late_threads(dst);
            self.thread = Some(dst);
        }
    }

    /// Only so many threads have a place of their own in thread-local objects.
    fn refuse_late_threads(&mut self, thread: VarId) {
        let few = self.builder.new_block("in.time");
        let condition =
            Expr::binary(BinaryOp::Ult, Expr::Var(thread), Expr::constant(32, THREADS.into()));
        self.builder.branch(condition, few);
        let what = format!("thread-local variables of more than {THREADS} threads");
        self.builder.emit(InstKind::Unsupported { what });
        self.builder.terminate(Terminator::Exit);
        self.builder.enter(few);
    }

    pub fn pointer_width(&self) -> u32 {
        self.unit.shared.pointer_width
    }

    /// The scalars of a name's value, as they lie in memory.
    pub fn scalars_of(&self, name: &Name) -> &[Scalar] {
        self.scalars.get(name).map_or(&[], Vec::as_slice)
    }

    /// The variables that hold a name's value.
    pub fn vars_of(&mut self, name: &Name) -> Vec<VarId> {
        if let Some(vars) = self.vars.get(name) {
            return vars.clone();
        }
        let scalars = self.scalars.get(name).cloned().unwrap_or_default();
        let vars: Vec<VarId> = scalars
            .iter()
            .enumerate()
            .map(|(part, scalar)| match name.parse::<u32>() {
                Ok(_) => self.builder.temp(scalar.width),
                Err(_) => {
                    let stem = match scalars.len() {
                        1 => name.to_string(),
                        _ => format!("{name}.{part}"),
                    };
                    self.named_var(&stem, scalar.width)
                }
            })
            .collect();
        self.vars.insert(name.clone(), vars.clone());
        vars
    }

    /// The variable that an object's address goes to: called as the source calls the object.
    pub fn object_var(&mut self, name: &Name) -> VarId {
        let module = self.unit.module;
        let called = self.declared.get(name).and_then(|id| shapes::variable_name(module, *id));
        let var = match called {
            Some(called) => self.named_var(called, self.pointer_width()),
            None => self.builder.temp(self.pointer_width()),
        };
        self.vars.insert(name.clone(), vec![var]);
        var
    }

    fn named_var(&mut self, stem: &str, width: u32) -> VarId {
        let name = unique(&mut self.names, stem);
        self.builder.var(&name, width)
    }

    /// Gives a name its value.
    pub fn define(&mut self, name: &Name, values: Vec<Expr>) {
        let Some(uses) = self.uses.get(name).copied() else {
            return;
        };
        let fresh = !self.vars.contains_key(name);
        let low = values.iter().all(|value| height(value) < Self::MAX_HEIGHT);
        let fixed = values.iter().all(|value| is_fixed(value) || self.is_register(value));
        if fresh && (fixed || (low && uses.once_in(self.block))) {
            self.inlined.insert(name.clone(), values);
            return;
        }
        for (var, value) in self.vars_of(name).into_iter().zip(values) {
            self.note_aligned_value(var, &value);
            self.builder.assign(var, value);
        }
    }

    /// Gives a name zeros, after something that cannot be expressed.
    pub fn define_zero(&mut self, name: &Name) {
        let zeros = self.scalars_of(name).iter().map(|scalar| Expr::constant(scalar.width, 0));
        let zeros = zeros.collect();
        self.define(name, zeros);
    }

    /// The scalars of an operand, which are any where they are undefined. Where they are computed with
    /// they are what lies between the fields of a structure: variables have marks, see
    /// [`undefined`](crate::undefined).
    pub fn any_operand(&mut self, ty: &Type, value: &Value) -> Lowered<Vec<Expr>> {
        // Nobody decides by such a value in Rust.
        let is_open = matches!(value, Value::Undef | Value::Poison);
        if is_open && !self.unit.module.is_rust {
            let scalars = self.unit.layout.scalars(ty)?;
            let vars = scalars.iter().map(|scalar| self.builder.temp(scalar.width));
            let vars: Vec<VarId> = vars.collect();
            vars.iter().for_each(|var| self.give_undefined(*var));
            return Ok(vars.into_iter().map(Expr::Var).collect());
        }
        self.operand(ty, value)
    }

    /// The scalars of an operand.
    pub fn operand(&mut self, ty: &Type, value: &Value) -> Lowered<Vec<Expr>> {
        if let Value::Local(name) = value {
            if let Some(values) = self.inlined.get(name) {
                return Ok(values.clone());
            }
            if !self.scalars.contains_key(name) {
                return Err(format!("the value '%{name}', which is nowhere defined"));
            }
            return Ok(self.vars_of(name).into_iter().map(Expr::Var).collect());
        }
        let unit = self.unit;
        let thread = self.thread;
        let builder = &mut self.builder;
        unit.constant(ty, value, &mut |name| match unit.symbols.get(name) {
            Some(Symbol::ThreadLocal(ThreadLocal { global, stride, .. })) => {
                let width = unit.shared.pointer_width;
                let thread = Expr::Var(thread.ok_or("a thread-local object")?).resize(32, width);
                Ok(Expr::Address(*global) + thread * Expr::constant(width, u128::from(*stride)))
            }
            Some(Symbol::UnknownObject(id, what)) => {
                builder.emit(InstKind::Unsupported { what: what.clone() });
                Ok(Expr::Address(*id))
            }
            _ => unit.address(name),
        })
    }

    /// An operand that is one scalar.
    pub fn scalar(&mut self, ty: &Type, value: &Value) -> Lowered<Expr> {
        let mut scalars = self.operand(ty, value)?;
        match (scalars.pop(), scalars.is_empty()) {
            (Some(scalar), true) => Ok(scalar),
            _ => Err("a value of several parts as one".to_string()),
        }
    }

    pub fn typed(&mut self, typed: &Typed) -> Lowered<Expr> {
        self.scalar(&typed.ty, &typed.value)
    }

    /// An address to use: one that is not defined is an error of the program.
    pub fn address(&mut self, value: &Value) -> Lowered<Expr> {
        self.demand(value);
        self.scalar(&Type::Pointer, value)
    }

    /// A value in a variable, so that it may be used many times.
    pub fn in_var(&mut self, value: Expr, width: u32) -> Expr {
        if is_fixed(&value) || self.is_register(&value) {
            return value;
        }
        let var = self.builder.temp(width);
        self.note_aligned_value(var, &value);
        self.builder.assign(var, value);
        Expr::Var(var)
    }

    /// How wide a variable or a comparison is.
    pub fn plain_width(&self, expr: &Expr) -> Option<u32> {
        match expr {
            Expr::Var(var) => Some(self.builder.width(*var)),
            Expr::Const(bits) => Some(bits.width()),
            Expr::Binary(op, ..) if op.is_comparison() => Some(1),
            _ => None,
        }
    }

    /// Whether anybody uses the value of a name.
    pub fn is_used(&self, name: &Name) -> bool {
        self.uses.contains_key(name)
    }

    pub fn is_undefined(&self, value: &Value) -> bool {
        match value {
            Value::Undef | Value::Poison => true,
            Value::Local(name) => self.undefined.contains(name),
            _ => false,
        }
    }

    pub fn mark_undefined(&mut self, name: &Name) {
        self.undefined.insert(name.clone());
    }

    /// The value that a variable has before it is given one. Most are only put where the variable is,
    /// which says nothing.
    pub fn leave_undefined(&mut self, name: &Name) {
        self.mark_undefined(name);
        self.unwritten.insert(name.clone());
        if !self.is_only_stored(name) {
            for var in self.vars_of(name) {
                self.give_undefined(var);
            }
        }
    }

    /// A variable has any value from here on.
    pub fn give_undefined(&mut self, var: VarId) {
        let width = self.builder.width(var);
        self.builder.assign(var, Expr::Const(Bits::undefined(width)));
    }

    /// Whether a value is that of a variable before it is given one.
    pub fn is_unwritten(&self, value: &Value) -> bool {
        matches!(value, Value::Local(name) if self.unwritten.contains(name))
    }

    /// Whether a value stands for nothing but a variable that is declared.
    fn is_only_stored(&self, name: &Name) -> bool {
        let is = |value: &Value| matches!(value, Value::Local(local) if local == name);
        let instructions = self.function.blocks.iter().flat_map(|block| &block.instructions);
        let mut is_used = false;
        for instruction in instructions {
            match &instruction.operation {
                Operation::Store { value, address, .. } if is(&value.value) => {
                    is_used |= is(address) || !instruction.declares;
                }
                Operation::ExtractValue { .. } | Operation::Debug { .. } => {}
                operation => visit(operation, &mut |value| is_used |= is(value)),
            }
        }
        !is_used
    }

    /// What must have a value: where it never has one, the program is wrong.
    pub fn demand(&mut self, value: &Value) {
        let is_any = self.unit.shared.options.any_values && matches!(value, Value::Local(_));
        if self.is_undefined(value) && !is_any {
            self.fail("uninitialised value used", Property::Memory);
        }
    }

    pub fn fail(&mut self, message: &str, property: Property) {
        self.require(Expr::constant(1, 0), message, property);
    }

    pub fn require(&mut self, condition: Expr, message: &str, property: Property) {
        let message = message.to_string();
        self.builder.emit(InstKind::Assert { condition, message, property });
    }

    pub fn unsupported(&mut self, what: String) {
        self.builder.emit(InstKind::Unsupported { what });
    }

    /// Calls a function that no unit defines.
    pub fn call_external(&mut self, name: &str, dst: Option<VarId>, args: Vec<Expr>) {
        let callee = Callee::External(name.to_string());
        self.builder.emit(InstKind::Call { dst, callee, args });
    }

    /// Ends the life of the function's objects, and returns.
    pub fn leave(&mut self, value: Option<Expr>) {
        let value = match value {
            Some(value) if !self.stack.is_empty() => {
                let width = self.signature.result.unwrap_or(1);
                Some(self.in_var(value, width))
            }
            value => value,
        };
        self.end_objects();
        self.builder.terminate(Terminator::Return(value));
    }

    /// Ends the life of the function's objects.
    pub fn end_objects(&mut self) {
        for object in self.stack.clone().into_iter().rev() {
            let address = Expr::Var(object);
            self.builder.emit(InstKind::Free { address, kind: AllocKind::Stack });
        }
    }
}

/// Constants, addresses and single variables, which cost nothing to use again.
fn is_fixed(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => true,
        Expr::Binary(_, left, right) => {
            matches!(**left, Expr::Address(_)) && matches!(**right, Expr::Const(_))
        }
        _ => false,
    }
}

fn height(expr: &Expr) -> u32 {
    1 + match expr {
        Expr::Const(_) | Expr::Var(_) | Expr::Address(_) | Expr::FunctionAddress(_) => 0,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => height(value),
        Expr::Binary(_, left, right) => height(left).max(height(right)),
        Expr::Concat { high, low } => height(high).max(height(low)),
        Expr::Select { condition, then, otherwise } => {
            height(condition).max(height(then)).max(height(otherwise))
        }
    }
}

fn unique(names: &mut HashSet<String>, stem: &str) -> String {
    let mut name = stem.to_string();
    let mut number = 1;
    while !names.insert(name.clone()) {
        number += 1;
        name = format!("{stem}.{number}");
    }
    name
}
