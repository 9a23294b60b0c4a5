//! Whether somebody may keep the address of an object: it is stored somewhere, returned, or handed to
//! a function that does so. An address that is only used for accesses, here and in what is called, is
//! kept by nobody. In doubt it is.

use std::collections::HashSet;

use super::unit::{Symbol, Unit};
use super::uses::visit;
use crate::llvm::{Call, Function, Instruction, Name, Operation, Type, Value};
use crate::undefined;

/// Functions of the library that keep an argument, or put it where the program sees it. What is initialised
/// in each round of a loop is another object each time.
const KEEPERS: [&str; 19] = [
    "cnd_init",
    "mtx_init",
    "pthread_barrier_init",
    "pthread_cond_init",
    "pthread_mutex_init",
    "pthread_rwlock_init",
    "pthread_spin_init",
    "sem_init",
    "pthread_create",
    "pthread_setspecific",
    "strtok",
    "strtok_r",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "thrd_create",
    "tss_set",
    "pthread_exit",
];

/// Whether the address that a name of a function stands for may be kept.
pub fn may_be_kept(unit: &Unit<'_>, function: &Function, name: &Name) -> bool {
    Search { unit, seen: HashSet::new() }.keeps(function, name)
}

struct Search<'u> {
    unit: &'u Unit<'u>,
    /// Parameters of functions that were looked at, or are being looked at.
    seen: HashSet<(Name, usize)>,
}

impl Search<'_> {
    fn keeps(&mut self, function: &Function, name: &Name) -> bool {
        let mut inside = HashSet::from([name.clone()]);
        loop {
            let known = inside.len();
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                if self.is_kept_by(instruction, &inside) {
                    return true;
                }
                if let Some(result) = &instruction.result
                    && hands_on(&instruction.operation)
                    && uses_any(&instruction.operation, &inside)
                {
                    inside.insert(result.clone());
                }
            }
            if inside.len() == known {
                return false;
            }
        }
    }

    /// Whether an instruction puts one of the addresses where it lasts.
    fn is_kept_by(&mut self, instruction: &Instruction, inside: &HashSet<Name>) -> bool {
        let is = |value: &Value| is_one_of(value, inside);
        match &instruction.operation {
            Operation::Store { value, .. } => is(&value.value),
            Operation::Rmw { operand, .. } => is(&operand.value),
            Operation::CompareExchange(exchange) => is(&exchange.desired),
            Operation::Return(Some(value)) => is(&value.value),
            Operation::InsertValue { element, .. } | Operation::InsertElement { element, .. } => {
                is(&element.value)
            }
            Operation::Call(call) => self.is_kept_by_call(call, inside),
            Operation::Unknown { .. } => true,
            _ => false,
        }
    }

    fn is_kept_by_call(&mut self, call: &Call, inside: &HashSet<Name>) -> bool {
        let handed = |(position, arg): (usize, &crate::llvm::Argument)| {
            let is_handed = arg.by_value.is_none() && is_one_of(&arg.value.value, inside);
            is_handed.then_some(position)
        };
        let handed: Vec<usize> = call.args.iter().enumerate().filter_map(handed).collect();
        if handed.is_empty() {
            return false;
        }
        let Value::Global(name) = &call.callee else {
            return !matches!(call.callee, Value::Assembly { .. });
        };
        if name.starts_with("llvm.") || name.starts_with(undefined::PREFIX) {
            return false;
        }
        match self.unit.callee(name) {
            Some(Symbol::UndefinedFunction) => {
                KEEPERS.contains(&name.as_ref()) || name.starts_with("__VERIFIER_thread_create")
            }
            _ => handed.into_iter().any(|position| self.keeps_parameter(name, position)),
        }
    }

    /// Whether a function of this file keeps what it is handed. Others are in other files.
    fn keeps_parameter(&mut self, name: &Name, position: usize) -> bool {
        let functions = &self.unit.module.functions;
        let function = functions.iter().find(|function| function.name == *name);
        let Some(function) = function.filter(|f| !f.blocks.is_empty() && !f.weak) else {
            return true;
        };
        let Some(param) = function.params.get(position) else {
            return true;
        };
        self.seen.insert((name.clone(), position)) && self.keeps(function, &param.name)
    }
}

/// Whether the result of an operation is an address where an operand is one. A function of the library
/// may give back what it was handed.
fn hands_on(operation: &Operation) -> bool {
    match operation {
        Operation::Call(call) => call.result == Type::Pointer,
        Operation::Load { .. }
        | Operation::Compare { .. }
        | Operation::FloatCompare { .. }
        | Operation::Rmw { .. }
        | Operation::CompareExchange(_) => false,
        _ => true,
    }
}

fn uses_any(operation: &Operation, inside: &HashSet<Name>) -> bool {
    let mut found = false;
    visit(operation, &mut |value| found |= is_one_of(value, inside));
    found
}

fn is_one_of(value: &Value, inside: &HashSet<Name>) -> bool {
    matches!(value, Value::Local(name) if inside.contains(name))
}
