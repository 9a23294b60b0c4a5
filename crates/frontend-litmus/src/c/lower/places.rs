//! What can be assigned to: local variables, and memory behind a pointer.

use parallax_program::{Expr, Span};

use super::{Lowered, Lowering, Value, Variable};
use crate::c::ast::{Expr as Tree, ExprKind};
use crate::c::types::CType;

#[derive(Clone, Debug)]
pub enum Place {
    Local(Variable),
    Memory(Pointer),
}

/// An address and the type of what is there.
#[derive(Clone, Debug)]
pub struct Pointer {
    pub address: Expr,
    pub target: CType,
}

impl<'a> Lowering<'a> {
    pub(super) fn place(&mut self, tree: &'a Tree) -> Lowered<Place> {
        match &tree.kind {
            ExprKind::Name(name) => {
                if self.location(name).is_some() {
                    let message =
                        format!("'{name}' is the address of a shared variable, which is '*{name}'");
                    return Err(self.error(tree.span, message));
                }
                self.known_variable(name, tree.span).map(Place::Local)
            }
            ExprKind::Deref(pointer) => Ok(Place::Memory(self.pointer(pointer)?)),
            _ => Err(self.error(tree.span, "this is neither a variable nor in memory")),
        }
    }

    /// The variable of that name. A thread may read variables that it never declares, nor even
    /// assigns to: they hold zero.
    pub(super) fn known_variable(&mut self, name: &str, span: Span) -> Lowered<Variable> {
        if let Some(variable) = self.variable(name) {
            return Ok(variable.clone());
        }
        let error = self.error(span, format!("unknown variable '{name}'"));
        if self.unit.globals.lookup(name).is_some() {
            let help = format!("make '{name}' a parameter to use it here");
            return Err(error.with_help(help));
        }
        if self.frames.len() > 1 {
            return Err(error);
        }
        Ok(self.declare(name, CType::LONG))
    }

    /// The value of an expression as a pointer. Numbers are taken for addresses, as herd7 does.
    pub fn pointer(&mut self, tree: &'a Tree) -> Lowered<Pointer> {
        let value = self.scalar(tree)?;
        let target = match &value.ty {
            CType::Pointer(target) if **target == CType::Void => {
                return Err(self.error(tree.span, "a 'void *' points to nothing known"));
            }
            CType::Pointer(target) => (**target).clone(),
            _ => {
                self.note_number_as_pointer();
                CType::INT
            }
        };
        let address = value.resize(CType::POINTER_WIDTH);
        Ok(Pointer { address, target })
    }

    /// The memory that an argument such as the `*x` of `READ_ONCE(*x)` stands for.
    pub fn shared(&mut self, tree: &'a Tree) -> Lowered<Pointer> {
        match &tree.kind {
            ExprKind::Deref(pointer) => self.pointer(pointer),
            _ => Err(self
                .error(tree.span, "expected a place in memory, such as '*x'")
                .with_help("local variables are not in memory")),
        }
    }

    /// Evaluates an expression that must have a value.
    pub fn scalar(&mut self, tree: &'a Tree) -> Lowered<Value> {
        let value = self.value(tree)?;
        if value.ty.is_scalar() {
            return Ok(value);
        }
        Err(self.error(tree.span, "this has no value"))
    }
}
