//! One translation unit among those that make up a program, and what they share.

use std::cell::RefCell;
use std::collections::HashMap;

use parallax_program::{BinaryOp, Expr, FunctionId, Global, GlobalId};

use super::layout::{Layout, Lowered};
use super::places::Places;
use crate::Options;
use crate::llvm::{self, Module, Name, Type, Value};
use crate::thread_locals::ThreadLocal;

/// What a name stands for in a unit.
#[derive(Clone, Debug)]
pub enum Symbol {
    Function(FunctionId),
    Object(GlobalId),
    /// One object of that size for each thread, side by side.
    ThreadLocal(ThreadLocal),
    Alias(Value),
    /// Declared, and defined nowhere.
    UndefinedFunction,
    /// An object whose content is not known, and why.
    UnknownObject(GlobalId, String),
}

/// The widths of a function's parameters, aggregates taken apart, and of its result, which is
/// put together with its first part lowest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub params: Vec<u32>,
    pub result: Option<u32>,
}

/// What all units share.
pub struct Shared<'o> {
    pub options: &'o Options,
    pub places: Places,
    pub pointer_width: u32,
    /// By function number, for those that units define.
    pub signatures: Vec<Lowered<Signature>>,
    /// Functions without a body whose address is taken, in the order of their numbers, which
    /// follow on those of `signatures`.
    pub wrappers: RefCell<Vec<(Name, Lowered<Signature>)>>,
}

pub struct Unit<'s> {
    pub number: usize,
    pub module: &'s Module,
    pub layout: Layout<'s>,
    /// Its objects by name.
    pub objects: HashMap<&'s Name, &'s llvm::Global>,
    pub symbols: &'s HashMap<Name, Symbol>,
    /// Whether clang has said which types accesses are to, so that one without is none of the
    /// source's: an argument on its way to a register, or the storage of a bit-field.
    pub has_types: bool,
    /// The objects of the program, once they are known.
    pub globals: &'s [Global],
    pub shared: &'s Shared<'s>,
}

impl Unit<'_> {
    /// Aliases of aliases are followed so far.
    const MAX_ALIASES: u32 = 16;

    pub fn pointer(&self, value: u128) -> Expr {
        Expr::constant(self.shared.pointer_width, value)
    }

    /// The address of a name, outside of functions.
    pub fn address(&self, name: &Name) -> Lowered<Expr> {
        match self.symbols.get(name) {
            Some(Symbol::Function(id)) => Ok(Expr::FunctionAddress(*id)),
            Some(Symbol::Object(id) | Symbol::UnknownObject(id, _)) => Ok(Expr::Address(*id)),
            Some(Symbol::ThreadLocal(..)) => {
                Err(format!("the address of the thread-local '{name}' as a constant"))
            }
            Some(Symbol::Alias(target)) => {
                let resolved = self.resolve_alias(target)?;
                let scalars = self.constant(&Type::Pointer, &resolved, &mut |name| match self
                    .symbols
                    .get(name)
                {
                    Some(Symbol::Alias(_)) => Err("an alias of an alias".to_string()),
                    _ => self.address(name),
                })?;
                scalars.into_iter().next().ok_or_else(|| format!("the alias '{name}'"))
            }
            Some(Symbol::UndefinedFunction) => Ok(Expr::FunctionAddress(self.wrapper(name))),
            None => Err(format!("'{name}', which is not declared")),
        }
    }

    /// What an alias of a plain name stands for in the end.
    fn resolve_alias(&self, target: &Value) -> Lowered<Value> {
        let mut target = target;
        for _ in 0..Self::MAX_ALIASES {
            match target {
                Value::Global(name) => match self.symbols.get(name) {
                    Some(Symbol::Alias(next)) => target = next,
                    _ => return Ok(target.clone()),
                },
                _ => return Ok(target.clone()),
            }
        }
        Err("an alias of itself".to_string())
    }

    /// What a called name stands for, aliases resolved.
    pub fn callee(&self, name: &Name) -> Option<Symbol> {
        match self.symbols.get(name)? {
            Symbol::Alias(target) => match self.resolve_alias(target).ok()? {
                Value::Global(name) => self.symbols.get(&name).cloned(),
                _ => None,
            },
            symbol => Some(symbol.clone()),
        }
    }

    /// A function that does nothing but call one without a body, for its address.
    fn wrapper(&self, name: &Name) -> FunctionId {
        let mut wrappers = self.shared.wrappers.borrow_mut();
        let known = wrappers.iter().position(|(known, _)| known == name);
        let index = known.unwrap_or_else(|| {
            let declared = self.module.functions.iter().find(|function| function.name == *name);
            let signature = match declared {
                Some(function) => {
                    let params: Vec<&Type> = function.params.iter().map(|p| &p.ty).collect();
                    self.signature(&params, &function.result)
                }
                None => Err(format!("'{name}', which is not declared")),
            };
            wrappers.push((name.clone(), signature));
            wrappers.len() - 1
        });
        FunctionId((self.shared.signatures.len() + index) as u32)
    }

    /// What a constant object holds at an address: one of its scalars, or a part that is zero.
    pub fn constant_content(&self, address: &Expr, bytes: u32) -> Option<Expr> {
        let (id, offset) = match address {
            Expr::Address(id) => (id, 0),
            Expr::Binary(BinaryOp::Add, base, offset) => match (base.as_ref(), offset.as_ref()) {
                (Expr::Address(id), Expr::Const(offset)) => (id, offset.unsigned() as u64),
                _ => return None,
            },
            _ => return None,
        };
        let global = self.globals.get(id.0 as usize).filter(|global| global.constant)?;
        let end = offset.checked_add(u64::from(bytes)).filter(|end| *end <= global.size)?;
        let touched = global
            .init
            .iter()
            .find(|cell| cell.offset < end && offset < cell.offset + u64::from(cell.width / 8));
        match touched {
            None => Some(Expr::constant(8 * bytes, 0)),
            Some(cell) if cell.offset == offset && cell.width == 8 * bytes => {
                Some(cell.value.clone())
            }
            Some(_) => None,
        }
    }

    pub fn signature(&self, params: &[&Type], result: &Type) -> Lowered<Signature> {
        signature(&self.layout, params, result)
    }
}

pub fn signature(layout: &Layout<'_>, params: &[&Type], result: &Type) -> Lowered<Signature> {
    let mut widths = Vec::new();
    for param in params {
        widths.extend(layout.scalars(param)?.iter().map(|scalar| scalar.width));
    }
    let result = match result {
        Type::Void => None,
        ty => {
            let total: u32 = layout.scalars(ty)?.iter().map(|scalar| scalar.width).sum();
            match total {
                0 => None,
                1..=128 => Some(total),
                _ => return Err(format!("a result of {total} bits")),
            }
        }
    };
    Ok(Signature { params: widths, result })
}
