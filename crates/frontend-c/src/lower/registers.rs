//! Local objects that live in variables instead of memory.
//!
//! LLVM's pass leaves a local structure in memory where it is copied as a whole. If a function
//! uses the address of an object for nothing but accesses to its scalars, nobody else can see
//! the object, and each scalar may as well be a variable. Which objects these are is found out by
//! trying: a function is lowered with all candidates in variables, and once more without those
//! whose address was needed after all.

use std::collections::HashSet;

use parallax_program::{BinaryOp, Callee, Expr, Function, InstKind, Terminator, VarId};

use super::body::Body;
use super::layout::Lowered;
use super::memory::{Piece, pieces};
use crate::llvm::{Name, Operation, Type, Value};
use crate::undefined;

/// The variables of an object.
pub struct Registers {
    /// The name of its address.
    pub object: Name,
    parts: Vec<(Piece, VarId)>,
}

impl Body<'_> {
    /// Objects of more scalars stay in memory.
    const MOST_REGISTERS: usize = 32;

    /// Puts an object into variables, if that may be.
    pub fn keep_in_registers(&mut self, object: &Name, ty: &Type) -> Lowered<bool> {
        if self.block != 0 || self.in_memory.contains(object) || self.is_kept(object) {
            return Ok(false);
        }
        let scalars = self.unit.layout.scalars(ty)?;
        if scalars.is_empty() || scalars.len() > Self::MOST_REGISTERS {
            return Ok(false);
        }
        let mut parts = Vec::new();
        for piece in scalars.iter().flat_map(|scalar| pieces(scalar.offset, scalar.bytes())) {
            parts.push((piece, self.builder.temp(piece.bytes * 8)));
        }
        let address = self.object_var(object);
        self.registers.insert(address, Registers { object: object.clone(), parts });
        Ok(true)
    }

    /// Whether an object is marked to stay in memory.
    pub fn is_kept(&self, object: &Name) -> bool {
        self.has_mark(object, undefined::PREFIX)
    }

    /// Whether the address of an object is in something that lives longer.
    pub fn is_outlived(&self, object: &Name) -> bool {
        self.has_mark(object, undefined::OUTLIVED)
    }

    fn has_mark(&self, object: &Name, mark: &str) -> bool {
        let instructions = self.function.blocks.iter().flat_map(|block| &block.instructions);
        instructions.into_iter().any(|instruction| match &instruction.operation {
            Operation::Call(call) => {
                let is_object =
                    |value: &Value| matches!(value, Value::Local(name) if name == object);
                matches!(&call.callee, Value::Global(name) if name.starts_with(mark))
                    && call.args.iter().any(|arg| is_object(&arg.value.value))
            }
            _ => false,
        })
    }

    /// Whether an address is one of an object in variables.
    pub fn is_register(&self, address: &Expr) -> bool {
        base(address).is_some_and(|(base, _)| self.registers.contains_key(&base))
    }

    /// The variable that stands for so many bytes at an address.
    pub fn register(&self, address: &Expr, bytes: u32) -> Option<VarId> {
        let (base, offset) = base(address)?;
        let registers = self.registers.get(&base)?;
        let wanted = Piece { offset, bytes };
        registers.parts.iter().find(|(piece, _)| *piece == wanted).map(|(_, var)| *var)
    }

    /// Objects in variables whose address the function uses all the same.
    pub fn misplaced(&self, lowered: &Function) -> Vec<Name> {
        let used = used_variables(lowered);
        let misplaced = self.registers.iter().filter(|(address, _)| used.contains(address));
        misplaced.map(|(_, registers)| registers.object.clone()).collect()
    }
}

/// The variable that an address is at a constant distance from.
fn base(address: &Expr) -> Option<(VarId, u64)> {
    match address {
        Expr::Var(base) => Some((*base, 0)),
        Expr::Binary(BinaryOp::Add, base, offset) => match (base.as_ref(), offset.as_ref()) {
            (Expr::Var(base), Expr::Const(offset)) => Some((*base, offset.unsigned() as u64)),
            _ => None,
        },
        _ => None,
    }
}

/// Variables that occur in expressions of a function.
fn used_variables(function: &Function) -> HashSet<VarId> {
    let mut used = HashSet::new();
    let mut see = |expr: &Expr| collect(expr, &mut used);
    for block in &function.blocks {
        for inst in &block.insts {
            expressions(&inst.kind).into_iter().for_each(&mut see);
        }
        match &block.terminator {
            Terminator::Branch { condition, .. } => see(condition),
            Terminator::Return(Some(value)) => see(value),
            _ => {}
        }
    }
    used
}

/// The expressions of the instructions that lowering makes.
fn expressions(kind: &InstKind) -> Vec<&Expr> {
    match kind {
        InstKind::Assign { value, .. } => vec![value],
        InstKind::Load { address, .. } | InstKind::Free { address, .. } => vec![address],
        InstKind::Store { address, value, .. } => vec![address, value],
        InstKind::Rmw { address, operand, .. } => vec![address, operand],
        InstKind::Cas { address, expected, desired, .. } => vec![address, expected, desired],
        InstKind::Alloc { size, .. } => vec![size],
        InstKind::Assert { condition, .. } => vec![condition],
        InstKind::Call { callee, args, .. } => {
            let target = match callee {
                Callee::Indirect(target) => Some(target),
                _ => None,
            };
            args.iter().chain(target).collect()
        }
        _ => Vec::new(),
    }
}

fn collect(expr: &Expr, used: &mut HashSet<VarId>) {
    match expr {
        Expr::Var(var) => drop(used.insert(*var)),
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => {}
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => collect(value, used),
        Expr::Binary(_, left, right) | Expr::Concat { high: left, low: right } => {
            collect(left, used);
            collect(right, used);
        }
        Expr::Select { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| collect(part, used));
        }
    }
}
