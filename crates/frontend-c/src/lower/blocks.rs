//! Blocks and the ways between them. What a phi receives is assigned on the edge.

use std::collections::HashMap;

use parallax_program::{
    BlockId, Expr, Function, FunctionBuilder, Property, Terminator, UnaryOp, VarId,
};

use super::body::Body;
use super::joins::set_joins;
use super::layout::Lowered;
use super::tidy::tidy;
use crate::llvm::{Instruction, Name, Operation, Type, Typed, Value};

/// What clang gives the trap behind a shift (`SanitizerHandler::ShiftOutOfBounds`).
const SHIFT_OUT_OF_BOUNDS: u128 = 20;

impl Body<'_> {
    /// Lowers all blocks. Also gives the objects that should have been in memory.
    pub fn finish(mut self) -> (Function, Vec<Name>) {
        let function = self.function;
        let mut blocks: HashMap<&Name, BlockId> = HashMap::new();
        let mut order = Vec::new();
        for block in &function.blocks {
            let label = match block.name.parse::<u32>() {
                Ok(number) => format!("b{number}"),
                Err(_) => block.name.to_string(),
            };
            let id = self.builder.new_block(&label);
            blocks.insert(&block.name, id);
            order.push(id);
        }
        for (number, block) in function.blocks.iter().enumerate() {
            self.block = number;
            self.builder.enter(order[number]);
            for (index, instruction) in block.instructions.iter().enumerate() {
                let shared = self.unit.shared;
                let span = shared.places.instruction(self.unit.number, function, instruction);
                self.builder.at(span);
                if instruction.operation.is_terminator() {
                    let last_call = block.instructions[..index]
                        .iter()
                        .rev()
                        .find(|before| !matches!(before.operation, Operation::Debug { .. }));
                    self.terminator(&instruction.operation, &blocks, last_call);
                } else {
                    self.instruction(instruction);
                }
            }
            self.builder.terminate(Terminator::Exit);
        }
        let name = &self.function.name;
        let builder = std::mem::replace(&mut self.builder, FunctionBuilder::new(name));
        let mut lowered = builder.finish();
        let misplaced = self.misplaced(&lowered);
        set_joins(&mut lowered);
        tidy(&mut lowered);
        (lowered, misplaced)
    }

    fn terminator(
        &mut self,
        operation: &Operation,
        blocks: &HashMap<&Name, BlockId>,
        before: Option<&Instruction>,
    ) {
        let lowered = match operation {
            Operation::Return(None) => {
                let result = self.signature.result;
                self.leave(result.map(|width| Expr::constant(width, 0)));
                Ok(())
            }
            Operation::Return(Some(value)) => self.return_value(value),
            Operation::Jump(target) => self.jump(target, blocks),
            Operation::Branch { condition, then, otherwise } => {
                self.two_ways(condition, then, otherwise, blocks)
            }
            Operation::Switch { value, default, cases } => {
                self.switch(value, default, cases, blocks)
            }
            Operation::Unreachable if self.never_returns(before) => Ok(()),
            Operation::Unreachable => Err("code that the program says is unreachable".to_string()),
            Operation::Unknown { name, .. } => Err(format!("the instruction '{name}'")),
            _ => Ok(()),
        };
        if let Err(what) = lowered {
            self.unsupported(what);
        }
        self.builder.terminate(Terminator::Exit);
    }

    /// Whether what stands before is a call of a function outside the program, which is known
    /// not to return.
    fn never_returns(&self, before: Option<&Instruction>) -> bool {
        let Some(Operation::Call(call)) = before.map(|instruction| &instruction.operation) else {
            return false;
        };
        match &call.callee {
            Value::Global(name) => {
                let symbol = self.unit.callee(name);
                !matches!(symbol, Some(super::unit::Symbol::Function(_)))
            }
            _ => false,
        }
    }

    fn return_value(&mut self, value: &Typed) -> Lowered<()> {
        let scalars = self.any_operand(&value.ty, &value.value)?;
        self.leave(super::arithmetic::joined(scalars));
        Ok(())
    }

    fn jump(&mut self, target: &Name, blocks: &HashMap<&Name, BlockId>) -> Lowered<()> {
        let id = *blocks.get(target).ok_or_else(|| format!("a jump to '{target}'"))?;
        self.assign_phis(target)?;
        self.builder.terminate(Terminator::Jump(id));
        Ok(())
    }

    fn two_ways(
        &mut self,
        condition: &Value,
        then: &Name,
        otherwise: &Name,
        blocks: &HashMap<&Name, BlockId>,
    ) -> Lowered<()> {
        if then == otherwise {
            return self.jump(then, blocks);
        }
        self.demand(condition);
        let condition = self.scalar(&Type::Int(1), condition)?;
        match (self.is_wrong_shift(then), self.is_wrong_shift(otherwise)) {
            (false, true) => return self.checked_shift(condition, then, blocks),
            (true, false) => {
                let condition = Expr::unary(UnaryOp::Not, condition);
                return self.checked_shift(condition, otherwise, blocks);
            }
            _ => {}
        }
        let mut edges = Edges::default();
        let then = self.edge(then, blocks, &mut edges)?;
        let otherwise = self.edge(otherwise, blocks, &mut edges)?;
        self.builder.terminate(Terminator::Branch { condition, then, otherwise, join: None });
        self.fill(edges)
    }

    /// Whether a block is where clang goes from a signed shift that does not fit.
    fn is_wrong_shift(&self, target: &Name) -> bool {
        let block = self.blocks.get(target).map(|number| &self.function.blocks[*number]);
        let Some(block) = block.filter(|_| self.unit.shared.options.overflow) else {
            return false;
        };
        let is_debug = |inst: &&Instruction| matches!(inst.operation, Operation::Debug { .. });
        let mut operations = block.instructions.iter().filter(|inst| !is_debug(inst));
        let first = operations.next().map(|inst| &inst.operation);
        let Some(Operation::Call(call)) = first else {
            return false;
        };
        let is_trap = matches!(&call.callee, Value::Global(name) if &**name == "llvm.ubsantrap");
        let code = call.args.first().map(|arg| &arg.value.value);
        is_trap
            && code == Some(&Value::Int(SHIFT_OUT_OF_BOUNDS))
            && matches!(operations.next().map(|inst| &inst.operation), Some(Operation::Unreachable))
    }

    /// An assertion in place of the branch: no order of accesses comes from it.
    fn checked_shift(
        &mut self,
        fits: Expr,
        next: &Name,
        blocks: &HashMap<&Name, BlockId>,
    ) -> Lowered<()> {
        self.require(fits, "signed integer overflow in a shift", Property::Overflow);
        self.jump(next, blocks)
    }

    fn switch(
        &mut self,
        value: &Typed,
        default: &Name,
        cases: &[(Value, Name)],
        blocks: &HashMap<&Name, BlockId>,
    ) -> Lowered<()> {
        self.demand(&value.value);
        let width = self.unit.layout.width(&value.ty)?;
        let scalar = self.typed(value)?;
        let scalar = self.in_var(scalar, width);
        let mut edges = Edges::default();
        let default = self.edge(default, blocks, &mut edges)?;
        for (number, (case, target)) in cases.iter().enumerate() {
            let case = self.scalar(&value.ty, case)?;
            let then = self.edge(target, blocks, &mut edges)?;
            let last = number + 1 == cases.len();
            let otherwise = if last { default } else { self.builder.new_block("case") };
            let condition = scalar.clone().eq(case);
            self.builder.terminate(Terminator::Branch { condition, then, otherwise, join: None });
            if !last {
                self.builder.enter(otherwise);
            }
        }
        self.builder.terminate(Terminator::Jump(default));
        self.fill(edges)
    }

    /// The block that an edge to a label leads to: a block in between, if phis wait there.
    fn edge(
        &mut self,
        target: &Name,
        blocks: &HashMap<&Name, BlockId>,
        edges: &mut Edges,
    ) -> Lowered<BlockId> {
        let id = *blocks.get(target).ok_or_else(|| format!("a jump to '{target}'"))?;
        if !self.has_phis(target) {
            return Ok(id);
        }
        if let Some((_, between, _)) = edges.0.iter().find(|(known, ..)| known == target) {
            return Ok(*between);
        }
        let between = self.builder.new_block("edge");
        edges.0.push((target.clone(), between, id));
        Ok(between)
    }

    fn fill(&mut self, edges: Edges) -> Lowered<()> {
        for (target, between, id) in edges.0 {
            self.builder.enter(between);
            if let Err(what) = self.assign_phis(&target) {
                self.unsupported(what);
            }
            self.builder.terminate(Terminator::Jump(id));
        }
        Ok(())
    }

    fn phis(&self, target: &Name) -> Vec<(Name, Type, Value)> {
        let here = &self.function.blocks[self.block].name;
        let block = self.blocks.get(target).map(|number| &self.function.blocks[*number]);
        let instructions = block.map_or(&[][..], |block| block.instructions.as_slice());
        let mut phis = Vec::new();
        for instruction in instructions {
            if let (Some(result), Operation::Phi { ty, incoming }) =
                (&instruction.result, &instruction.operation)
            {
                let value = incoming.iter().find(|(_, from)| from == here);
                let value = value.map_or(Value::Undef, |(value, _)| value.clone());
                phis.push((result.clone(), ty.clone(), value));
            }
        }
        phis
    }

    fn has_phis(&self, target: &Name) -> bool {
        !self.phis(target).is_empty()
    }

    /// Assigns what the phis of a block receive from here, all at once.
    fn assign_phis(&mut self, target: &Name) -> Lowered<()> {
        let mut moves: Vec<(VarId, Expr)> = Vec::new();
        for (result, ty, value) in self.phis(target) {
            let values = self.any_operand(&ty, &value)?;
            let vars = self.vars_of(&result);
            let pairs = vars.into_iter().zip(values);
            moves.extend(pairs.filter(|(var, value)| *value != Expr::Var(*var)));
        }
        let overwritten = moves.iter().enumerate().any(|(index, (_, value))| {
            moves[..index].iter().any(|(earlier, _)| mentions(value, *earlier))
        });
        if overwritten {
            for (var, value) in &mut moves {
                let copy = self.builder.temp(self.builder.width(*var));
                self.builder.assign(copy, std::mem::replace(value, Expr::Var(copy)));
            }
        }
        for (var, value) in moves {
            self.builder.assign(var, value);
        }
        Ok(())
    }
}

/// Targets that phis wait at, with the block in between.
#[derive(Default)]
struct Edges(Vec<(Name, BlockId, BlockId)>);

fn mentions(expr: &Expr, var: VarId) -> bool {
    match expr {
        Expr::Var(found) => *found == var,
        Expr::Const(_) | Expr::Address(_) | Expr::FunctionAddress(_) => false,
        Expr::Unary(_, value)
        | Expr::Extract { value, .. }
        | Expr::ZeroExtend { value, .. }
        | Expr::SignExtend { value, .. } => mentions(value, var),
        Expr::Binary(_, left, right) => mentions(left, var) || mentions(right, var),
        Expr::Concat { high, low } => mentions(high, var) || mentions(low, var),
        Expr::Select { condition, then, otherwise } => {
            mentions(condition, var) || mentions(then, var) || mentions(otherwise, var)
        }
    }
}
