//! Expressions: their value, and what evaluating them does.

use parallax_program::{Expr, VarId};

use super::places::Place;
use super::{Lowered, Lowering, Value};
use crate::c::ast::{BinaryOp, Expr as Tree, ExprKind, LogicalOp};
use crate::c::types::CType;

/// Expressions of the intermediate language are not to become deep: after so many operators a
/// value is put into a variable of its own.
const SPILL_DEPTH: u32 = 32;

impl<'a> Lowering<'a> {
    pub(super) fn value(&mut self, tree: &'a Tree) -> Lowered<Value> {
        let value = self.value_of(tree)?;
        if !tree.depth.is_multiple_of(SPILL_DEPTH) || !value.ty.is_scalar() {
            return Ok(value);
        }
        let saved = self.temp(value.ty.width());
        self.builder.assign(saved, value.expr);
        Ok(Value::new(Expr::Var(saved), value.ty))
    }

    fn value_of(&mut self, tree: &'a Tree) -> Lowered<Value> {
        self.builder.at(tree.span);
        match &tree.kind {
            ExprKind::Number(value, ty) => {
                let expr = Expr::constant(ty.width(), u128::from(*value));
                Ok(Value::new(expr, ty.clone()))
            }
            ExprKind::Name(name) => self.named(tree, name),
            ExprKind::Deref(_) => {
                let place = self.place(tree)?;
                self.builder.at(tree.span);
                Ok(self.read(&place))
            }
            ExprKind::AddressOf(inner) => self.address_of(inner),
            ExprKind::Unary(op, operand) => Ok(self.scalar(operand)?.unary(*op)),
            ExprKind::Binary(op, left, right) => {
                let left = self.scalar(left)?;
                let right = self.scalar(right)?;
                Ok(left.binary(*op, right))
            }
            ExprKind::Logical(op, left, right) => self.logical(*op, left, right),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise)
            }
            ExprKind::Comma(first, second) => {
                self.value(first)?;
                self.value(second)
            }
            ExprKind::Assign(op, place, value) => self.assign(*op, place, value),
            ExprKind::Step { add, prefix, place } => self.step(tree, *add, *prefix, place),
            ExprKind::Cast(ty, operand) => {
                let value = self.value(operand)?;
                if value.ty == CType::Void && *ty != CType::Void {
                    return Err(self.error(operand.span, "this has no value"));
                }
                self.note_conversion(&value.ty, ty);
                Ok(value.convert(ty))
            }
            ExprKind::SizeOf(ty) => {
                let bytes = u128::from(ty.width() / 8);
                Ok(Value::new(Expr::constant(64, bytes), CType::SIZE))
            }
            ExprKind::Call(name, args) => self.call_named(tree, name, args),
        }
    }

    fn named(&mut self, tree: &Tree, name: &str) -> Lowered<Value> {
        if self.variable(name).is_none()
            && let Some((global, ty)) = self.location(name)
        {
            return Ok(Value::new(Expr::Address(*global), ty.clone().pointer()));
        }
        let variable = self.known_variable(name, tree.span)?;
        Ok(Value::variable(&variable))
    }

    fn address_of(&mut self, inner: &'a Tree) -> Lowered<Value> {
        match self.place(inner)? {
            Place::Memory(pointer) => Ok(Value::new(pointer.address, pointer.target.pointer())),
            Place::Local(_) => Err(self
                .error(inner.span, "local variables have no address")
                .with_help("they are registers of the thread, not in memory")),
        }
    }

    pub(super) fn read(&mut self, place: &Place) -> Value {
        match place {
            Place::Local(variable) => Value::variable(variable),
            Place::Memory(pointer) => {
                let tags = self.plain();
                self.load(pointer, tags)
            }
        }
    }

    pub(super) fn write(&mut self, place: &Place, value: Value) -> Value {
        match place {
            Place::Local(variable) => {
                self.set(variable, value);
                Value::variable(variable)
            }
            Place::Memory(pointer) => {
                let value = value.convert(&pointer.target);
                let tags = self.plain();
                self.store(pointer, value.clone(), tags);
                value
            }
        }
    }

    fn assign(
        &mut self,
        op: Option<BinaryOp>,
        target: &'a Tree,
        source: &'a Tree,
    ) -> Lowered<Value> {
        if let (ExprKind::Name(name), None) = (&target.kind, op) {
            let unknown = self.variable(name).is_none() && self.location(name).is_none();
            if unknown && self.frames.len() == 1 {
                return self.assign_undeclared(name, source);
            }
        }
        let place = self.place(target)?;
        let mut value = self.scalar(source)?;
        if let Some(op) = op {
            self.builder.at(target.span);
            value = self.read(&place).binary(op, value);
        }
        self.builder.at(target.span.to(source.span));
        Ok(self.write(&place, value))
    }

    /// A variable that is never declared has room for any value: it is a pointer if its first
    /// value is one, else a number of 64 bits or more.
    fn assign_undeclared(&mut self, name: &str, source: &'a Tree) -> Lowered<Value> {
        let value = self.scalar(source);
        let ty = match &value {
            Ok(value) if value.ty.is_pointer() || value.ty.width() > 64 => value.ty.clone(),
            _ => CType::LONG,
        };
        let variable = self.declare(name, ty);
        Ok(self.write(&Place::Local(variable), value?))
    }

    fn step(&mut self, tree: &Tree, add: bool, prefix: bool, place: &'a Tree) -> Lowered<Value> {
        let place = self.place(place)?;
        self.builder.at(tree.span);
        let mut old = self.read(&place);
        if !prefix {
            let saved = self.temp(old.ty.width());
            self.builder.assign(saved, old.expr);
            old = Value::new(Expr::Var(saved), old.ty);
        }
        let op = if add { BinaryOp::Add } else { BinaryOp::Sub };
        let new = self.write(&place, old.clone().binary(op, Value::int(1)));
        Ok(if prefix { new } else { old })
    }

    /// `&&` and `||` as values. With side effects on the right, the result is computed on
    /// both ways from the left operand too, so that it depends on it either way.
    fn logical(&mut self, op: LogicalOp, left: &'a Tree, right: &'a Tree) -> Lowered<Value> {
        let combine = |left: Expr, right: Expr| match op {
            LogicalOp::And => left & right,
            LogicalOp::Or => left | right,
        };
        let first = self.scalar(left)?.condition();
        if right.is_pure() {
            let second = self.scalar(right)?.condition();
            return Ok(Value::truth(combine(first, second)));
        }
        let (known, result) = (self.temp(1), self.temp(1));
        self.builder.assign(known, first);
        self.builder.assign(result, Expr::Var(known));
        let ask = match op {
            LogicalOp::And => Expr::Var(known),
            LogicalOp::Or => !Expr::Var(known),
        };
        self.either(
            ask,
            |this| {
                let second = this.scalar(right)?.condition();
                this.builder.assign(result, combine(Expr::Var(known), second));
                Ok(())
            },
            |_| Ok(()),
        )?;
        Ok(Value::truth(Expr::Var(result).ne(Expr::constant(1, 0))))
    }

    fn conditional(
        &mut self,
        condition: &'a Tree,
        then: &'a Tree,
        otherwise: &'a Tree,
    ) -> Lowered<Value> {
        let condition = self.scalar(condition)?.condition();
        if then.is_pure() && otherwise.is_pure() {
            let (then, otherwise) = (self.scalar(then)?, self.scalar(otherwise)?);
            let ty = then.ty.joined(&otherwise.ty);
            let (then, otherwise) = (then.convert(&ty).expr, otherwise.convert(&ty).expr);
            return Ok(Value::new(condition.select(then, otherwise), ty));
        }
        let known = self.temp(1);
        self.builder.assign(known, condition);
        // The two values may have types of their own; 128 bits hold either.
        let result = self.temp(128);
        let (mut first, mut second) = (CType::Void, CType::Void);
        self.either(
            Expr::Var(known),
            |this| this.arm(then, known, result).map(|ty| first = ty),
            |this| this.arm(otherwise, known, result).map(|ty| second = ty),
        )?;
        if first.is_scalar() && second.is_scalar() {
            let ty = first.joined(&second);
            let result = Expr::Var(result).resize(128, ty.width());
            return Ok(Value::new(result, ty));
        }
        Ok(Value::void())
    }

    /// One side of a `?:`, its value put into `result`. The value is made to depend on the
    /// condition, as it would if both sides had been computed.
    fn arm(&mut self, tree: &'a Tree, condition: VarId, result: VarId) -> Lowered<CType> {
        let value = self.value(tree)?;
        let ty = value.ty.clone();
        if ty.is_scalar() {
            let value = value.resize(128);
            let value = Expr::Var(condition).select(value.clone(), value);
            self.builder.assign(result, value);
        }
        Ok(ty)
    }

    fn call_named(&mut self, tree: &'a Tree, name: &str, args: &'a [Tree]) -> Lowered<Value> {
        if let Some(function) = self.unit.functions.get(name).copied() {
            let mut values = Vec::new();
            for arg in args {
                values.push(self.scalar(arg)?);
            }
            self.builder.at(tree.span);
            return self.call(function, values, tree.span);
        }
        let library = if self.unit.kernel {
            self.kernel_call(tree, name, args)
        } else {
            self.atomic_call(tree, name, args)
        };
        match library {
            Some(result) => result,
            None => Err(self.error(tree.span, format!("unknown function '{name}'"))),
        }
    }

    /// Checks that a library function gets as many arguments as it takes.
    pub fn arity(&self, tree: &Tree, name: &str, args: &[Tree], wanted: usize) -> Lowered<()> {
        if args.len() == wanted {
            return Ok(());
        }
        let plural = if wanted == 1 { "" } else { "s" };
        let message = format!("'{name}' takes {wanted} argument{plural}, not {}", args.len());
        Err(self.error(tree.span, message))
    }
}
