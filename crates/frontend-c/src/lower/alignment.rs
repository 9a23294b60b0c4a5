//! Alignment (C17, 6.3.2.3): an access whose address is not a multiple of what LLVM's `align` says is
//! an error of the program. Members of packed structures say 1. Where the address is seen to be
//! aligned, nothing is checked: in objects, at steps that are multiples, and in what `malloc` gave.

use std::collections::HashMap;

use parallax_program::{BinaryOp, Expr, Property, VarId};

use super::body::Body;
use super::layout::Lowered;
use crate::llvm::{Instruction, Operation, Type, Value};

/// More than any access asks for.
const MOST: u64 = 1 << 12;

/// What is known of variables that hold addresses.
#[derive(Default)]
pub struct Alignments {
    known: HashMap<VarId, u64>,
    /// What was checked, in the block where that was.
    checked: HashMap<VarId, (usize, u64)>,
}

impl Body<'_> {
    pub fn note_alignment(&mut self, var: VarId, align: u64) {
        self.alignments.known.insert(var, align);
    }

    /// Remembers how a value that goes to a variable is aligned.
    pub fn note_aligned_value(&mut self, var: VarId, value: &Expr) {
        let align = self.alignment(value);
        if align > 1 {
            self.note_alignment(var, align);
        }
    }

    pub fn check_alignment(&mut self, instruction: &Instruction) -> Lowered<()> {
        let address: &Value = match &instruction.operation {
            Operation::Load { address, .. }
            | Operation::Store { address, .. }
            | Operation::Rmw { address, .. } => address,
            Operation::CompareExchange(exchange) => &exchange.address,
            _ => return Ok(()),
        };
        let align = u64::from(instruction.align.unwrap_or(1));
        let address = self.scalar(&Type::Pointer, address)?;
        if align < 2 || self.is_register(&address) || self.alignment(&address) >= align {
            return Ok(());
        }
        if let Some(var) = base(&address, align) {
            self.alignments.checked.insert(var, (self.block, align));
        }
        let width = self.pointer_width();
        let constant = |value: u64| Expr::constant(width, u128::from(value));
        let aligned = (address & constant(align - 1)).eq(constant(0));
        self.require(aligned, "an access that is not aligned", Property::Memory);
        Ok(())
    }

    /// A power of two that a value is seen to be a multiple of.
    fn alignment(&self, value: &Expr) -> u64 {
        match value {
            Expr::Const(bits) => match bits.unsigned() {
                0 => MOST,
                number => 1 << number.trailing_zeros().min(MOST.trailing_zeros()),
            },
            Expr::Address(global) => {
                let global = self.unit.globals.get(global.0 as usize);
                global.map_or(1, |global| u64::from(global.align)).min(MOST)
            }
            Expr::Var(var) => {
                let known = self.alignments.known.get(var).copied().unwrap_or(1);
                let checked = self.alignments.checked.get(var);
                let here = checked.filter(|(block, _)| *block == self.block);
                known.max(here.map_or(1, |(_, align)| *align))
            }
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, left, right) => {
                self.alignment(left).min(self.alignment(right))
            }
            Expr::Binary(BinaryOp::Mul, left, right) => {
                (self.alignment(left) * self.alignment(right)).min(MOST)
            }
            Expr::ZeroExtend { value, .. } | Expr::SignExtend { value, .. } => {
                self.alignment(value)
            }
            Expr::Select { then, otherwise, .. } => {
                self.alignment(then).min(self.alignment(otherwise))
            }
            _ => 1,
        }
    }
}

/// The variable that an address is a fixed step from, if it is aligned like the address.
fn base(address: &Expr, align: u64) -> Option<VarId> {
    match address {
        Expr::Var(var) => Some(*var),
        Expr::Binary(BinaryOp::Add, left, right) => match (&**left, &**right) {
            (Expr::Var(var), Expr::Const(step)) => {
                step.unsigned().is_multiple_of(u128::from(align)).then_some(*var)
            }
            _ => None,
        },
        _ => None,
    }
}
