//! What an instruction takes, and the type of what it gives.

use std::collections::HashMap;
use std::rc::Rc;

use super::layout::Layout;
use crate::llvm::{Constant, Function, Name, Operation, Type, Typed, Value};

/// How often, and where, a result is used.
#[derive(Clone, Copy, Debug)]
pub struct Uses {
    count: u32,
    /// The block, if it is one. A phi uses its operands at the end of the blocks they come from.
    block: Option<usize>,
}

impl Uses {
    /// Whether the only use is in this block.
    pub fn once_in(&self, block: usize) -> bool {
        self.count == 1 && self.block == Some(block)
    }
}

pub fn uses(function: &Function) -> HashMap<Name, Uses> {
    let named = function.blocks.iter().enumerate().map(|(number, block)| (&block.name, number));
    let numbers: HashMap<&Name, usize> = named.collect();
    let mut uses: HashMap<Name, Uses> = HashMap::new();
    let mut used = |value: &Value, block: Option<usize>| {
        if let Value::Local(name) = value {
            let known = uses.entry(name.clone()).or_insert(Uses { count: 0, block });
            known.count += 1;
            known.block = known.block.filter(|known| Some(*known) == block);
        }
    };
    for (number, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Phi { incoming, .. } => incoming
                    .iter()
                    .for_each(|(value, from)| used(value, numbers.get(from).copied())),
                operation => visit(operation, &mut |value| used(value, Some(number))),
            }
        }
    }
    uses
}

/// Calls `see` with each operand, and with what constants are made of.
pub fn visit(operation: &Operation, see: &mut dyn FnMut(&Value)) {
    let mut typed =
        |values: &[&Typed]| values.iter().for_each(|typed| visit_value(&typed.value, see));
    match operation {
        Operation::Binary { left, right, .. }
        | Operation::Compare { left, right, .. }
        | Operation::FloatCompare { left, right, .. } => {
            typed(&[left]);
            visit_value(right, see);
        }
        Operation::FNeg(value) | Operation::Freeze(value) | Operation::Cast { value, .. } => {
            typed(&[value]);
        }
        Operation::Select { condition, then, otherwise } => typed(&[condition, then, otherwise]),
        Operation::Phi { incoming, .. } => {
            incoming.iter().for_each(|(value, _)| visit_value(value, see));
        }
        Operation::Gep { base, indices, .. } => {
            typed(&[base]);
            indices.iter().for_each(|index| typed(&[index]));
        }
        Operation::ExtractValue { aggregate, .. } => typed(&[aggregate]),
        Operation::InsertValue { aggregate, element, .. } => typed(&[aggregate, element]),
        Operation::ExtractElement { vector, index } => typed(&[vector, index]),
        Operation::InsertElement { vector, element, index } => typed(&[vector, element, index]),
        Operation::ShuffleVector { left, right, mask } => typed(&[left, right, mask]),
        Operation::Alloca { count, .. } => typed(&count.iter().collect::<Vec<_>>()),
        Operation::Load { address, .. } => visit_value(address, see),
        Operation::Store { value, address, .. } => {
            typed(&[value]);
            visit_value(address, see);
        }
        Operation::Rmw { address, operand, .. } => {
            typed(&[operand]);
            visit_value(address, see);
        }
        Operation::CompareExchange(exchange) => {
            typed(&[&exchange.expected]);
            visit_value(&exchange.address, see);
            visit_value(&exchange.desired, see);
        }
        Operation::Call(call) => {
            visit_value(&call.callee, see);
            call.args.iter().for_each(|arg| visit_value(&arg.value.value, see));
        }
        Operation::Return(value) => typed(&value.iter().collect::<Vec<_>>()),
        Operation::Branch { condition, .. } => visit_value(condition, see),
        Operation::Switch { value, .. } => typed(&[value]),
        Operation::Fence { .. }
        | Operation::Debug { .. }
        | Operation::Jump(_)
        | Operation::Unreachable
        | Operation::Unknown { .. } => {}
    }
}

fn visit_value(value: &Value, see: &mut dyn FnMut(&Value)) {
    see(value);
    let mut typed =
        |values: &[&Typed]| values.iter().for_each(|typed| visit_value(&typed.value, see));
    match value {
        Value::Aggregate(elements) => elements.iter().for_each(|element| typed(&[element])),
        Value::Splat(lane) => typed(&[lane]),
        Value::Constant(constant) => match constant.as_ref() {
            Constant::Gep { base, indices, .. } => {
                typed(&[base]);
                indices.iter().for_each(|index| typed(&[index]));
            }
            Constant::Cast { value, .. } => typed(&[value]),
            Constant::Binary { left, right, .. } | Constant::Compare { left, right, .. } => {
                typed(&[left, right]);
            }
            Constant::Select { condition, then, otherwise } => typed(&[condition, then, otherwise]),
        },
        _ => {}
    }
}

/// The type of an operation's result; void where it has none, or none that is known.
pub fn result_type(operation: &Operation, layout: &Layout<'_>) -> Type {
    let bit_for = |operand: &Type| match layout.resolve(operand) {
        Type::Vector(count, _) => Type::Vector(*count, Rc::new(Type::Int(1))),
        _ => Type::Int(1),
    };
    match operation {
        Operation::Binary { left, .. } => left.ty.clone(),
        Operation::FNeg(value) | Operation::Freeze(value) => value.ty.clone(),
        Operation::Compare { left, .. } | Operation::FloatCompare { left, .. } => bit_for(&left.ty),
        Operation::Cast { to, .. } => to.clone(),
        Operation::Select { then, .. } => then.ty.clone(),
        Operation::Phi { ty, .. } | Operation::Load { ty, .. } => ty.clone(),
        Operation::Gep { .. } | Operation::Alloca { .. } => Type::Pointer,
        Operation::ExtractValue { aggregate, indices } => {
            layout.part(&aggregate.ty, indices).map_or(Type::Void, |(ty, _)| ty)
        }
        Operation::InsertValue { aggregate, .. } => aggregate.ty.clone(),
        Operation::ExtractElement { vector, .. } => match layout.resolve(&vector.ty) {
            Type::Vector(_, element) => element.as_ref().clone(),
            _ => Type::Void,
        },
        Operation::InsertElement { vector, .. } => vector.ty.clone(),
        Operation::ShuffleVector { left, mask, .. } => {
            match (layout.resolve(&left.ty), layout.resolve(&mask.ty)) {
                (Type::Vector(_, element), Type::Vector(count, _)) => {
                    Type::Vector(*count, element.clone())
                }
                _ => Type::Void,
            }
        }
        Operation::Rmw { operand, .. } => operand.ty.clone(),
        Operation::CompareExchange(exchange) => Type::Struct {
            packed: false,
            fields: [exchange.expected.ty.clone(), Type::Int(1)].into(),
        },
        Operation::Call(call) => call.result.clone(),
        _ => Type::Void,
    }
}
